"""The tests of a watch, row by row: every start of every test has capitals that are multiplied."""

from typing import Any

import numpy as np

from sureleaf.levels.sequential import FIRST_START, ODDS_RATIOS, STARTS_PER_DOUBLING


class Bettor:
    """A test of "the mean of these gains is at most 0" that starts anew from time to time."""

    def __init__(self, gains: list[float], alpha: float) -> None:
        loss, span = -min(gains), max(gains) - min(gains)
        self.factors = [
            [1 + (r - 1) / (span + loss * (r - 1)) * gain for gain in gains] for r in ODDS_RATIOS
        ]
        self.alpha, self.n = alpha, 0
        self.starts: list[tuple[int, list[float]]] = []
        self.alarm: tuple[int, int] | None = None
        self._start(0)

    def _start(self, row: int) -> None:
        self.starts.append((row, [1.0] * len(self.factors)))

    def add(self, outcome: int, row: int) -> None:
        if self.alarm is not None:
            return
        for _, capitals in self.starts:
            for k, factors in enumerate(self.factors):
                capitals[k] *= factors[outcome]
        reached = False
        for index, (_, capitals) in enumerate(self.starts):
            part = 0.5 if index == 0 else 0.5 / (index * (index + 1))
            reached |= np.mean(capitals) >= 1 / (self.alpha * part)
        if reached:
            means = [np.mean(capitals) for _, capitals in self.starts]
            self.alarm = row, self.starts[int(np.argmax(means))][0]
        self.n += 1
        times = {int(FIRST_START * 2 ** (k / STARTS_PER_DOUBLING)) for k in range(80)}
        if self.n in times:
            self._start(row)


def watch_slowly(watch: Any, leaves: list[int], labels: list[int | None]) -> dict[Any, Any]:
    """Return the alarms of a watch for rows in these leaves (by line) with these classes."""
    alpha, promise, n_leaves = watch.alpha, watch.promise, len(watch.decisions)
    n_classes = len(watch.model.classes)
    part, rivals = alpha / 4 / n_leaves, max(n_classes - 1, 1)
    whole = Bettor([promise.whole_least - 1, promise.whole_least], alpha / 8)
    tests: dict[Any, list[Bettor]] = {}
    regret = watch.regret
    for line in range(n_leaves):
        own = int(watch.decisions[line])
        tests["wrong", line] = [
            Bettor(
                [regret[k, own] - regret[k, other] for k in range(n_classes)],
                part if n_classes == 2 else part / 2 / rivals,
            )
            for other in range(n_classes)
            if other != own
        ]
        least = promise.least[line]
        if least > 0:
            gains = [least - 1 if k == own else least for k in range(n_classes)]
            tests["accuracy", line] = [Bettor(gains, part / 2)]
        if n_classes > 2:
            tests["risen", line] = [
                Bettor(
                    [(k == other) - promise.most[line, other] for k in range(n_classes)],
                    part / 4 / rivals,
                )
                for other in range(n_classes)
                if other != own and promise.most[line, other] < 1
            ]
        more, fewer = promise.largest_share[line], promise.fewest_share[line]
        tests["share", line] = [
            *([Bettor([1 - more, -more], part / 4)] if more < 1 else []),
            *([Bettor([fewer - 1, fewer], part / 4)] if fewer > 0 else []),
        ]
    for row, (leaf, code) in enumerate(zip(leaves, labels, strict=True), start=1):
        for line in range(n_leaves):
            for test in tests["share", line]:
                test.add(0 if leaf == line else 1, row)
        if code is None:
            continue
        whole.add(0 if code == watch.decisions[leaf] else 1, row)
        for question in ("wrong", "accuracy", "risen"):
            for test in tests.get((question, leaf), []):
                test.add(code, row)
    tests["accuracy", -1] = [whole]
    return {
        key: min(one.alarm for one in some if one.alarm is not None)
        for key, some in tests.items()
        if any(one.alarm is not None for one in some)
    }
