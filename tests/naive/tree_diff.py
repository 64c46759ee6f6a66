"""Which decisions two trees make differently, row by row."""

from collections import Counter
from typing import Any


def count_changes(old: Any, new: Any, rows: list[Any], labels: list[Any]) -> dict[str, Any]:
    """Return the share of changed decisions, pairs of leaves, and who is right how often."""
    pairs: Counter[tuple[int, int]] = Counter()
    changed: Counter[tuple[int, int]] = Counter()
    right = [0, 0]
    for row, label in zip(rows, labels, strict=True):
        pair = (int(old.apply([row])[0]), int(new.apply([row])[0]))
        decisions = [one.predict([row])[0] for one in (old, new)]
        pairs[pair] += 1
        changed[pair] += decisions[0] != decisions[1]
        for k, decision in enumerate(decisions):
            right[k] += decision == label
    return {
        "share": sum(changed.values()) / len(rows),
        "pairs": pairs,
        "changed": changed,
        "right": right,
    }
