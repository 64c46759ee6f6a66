"""Decisions with least cost by trying everything, as docs/report-json.md defines them."""

from collections.abc import Sequence
from typing import Any

Matrix = Sequence[Sequence[float]]


def confusion_at(scores: dict[str, Any], positive: int, threshold: float) -> list[list[float]]:
    counts = [[0.0, 0.0], [0.0, 0.0]]
    for score, no, yes in zip(scores["score"], scores["negative"], scores["positive"], strict=True):
        predicted = positive if score >= threshold else 1 - positive
        counts[1 - positive][predicted] += no
        counts[positive][predicted] += yes
    return counts


def cost_a_row(confusion: Matrix, cost: Matrix) -> float:
    pairs = [
        (rows, paid)
        for r, c in zip(confusion, cost, strict=True)
        for rows, paid in zip(r, c, strict=True)
    ]
    return sum(rows * paid for rows, paid in pairs) / sum(rows for rows, _ in pairs)


def best_threshold(scores: dict[str, Any], positive: int, cost: Matrix) -> float:
    yes, no = positive, 1 - positive
    alarm, miss = cost[no][yes] - cost[no][no], cost[yes][no] - cost[yes][yes]
    near = alarm / (alarm + miss) if alarm + miss else 0.5
    tried = {
        t: cost_a_row(confusion_at(scores, positive, t), cost)
        for t in [0.0, *scores["score"], 1.0001]
    }
    least = min(tried.values())
    cheapest = [t for t, paid in tried.items() if paid <= least + 1e-12]
    return min(cheapest, key=lambda t: (round(abs(t - near), 12), t))


def cheapest_classes(rows: Sequence[dict[str, Any]], cost: Matrix) -> list[list[float]]:
    classes = range(len(cost))
    counts = [[0.0 for _ in classes] for _ in classes]
    for row in rows:
        expected = [sum(row["probabilities"][a] * cost[a][p] for a in classes) for p in classes]
        least = min(expected)
        chosen = next(p for p in classes if expected[p] <= least + 1e-12)
        counts[row["truth"]][chosen] += row["weight"]
    return counts
