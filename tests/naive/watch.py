"""The tests of a watch, row by row: every start of every test has capitals that are multiplied."""

from typing import Any

import numpy as np

from sureleaf.levels.sequential import (
    FIRST_START,
    ODDS_RATIOS,
    STARTS_PER_DOUBLING,
    confidence_sequence,
)


class Bettor:
    """A test of "the mean of these gains is at most 0" that starts anew from time to time."""

    def __init__(self, gains: list[float], alpha: float) -> None:
        self.gains, self.alpha, self.n = gains, alpha, 0
        self.seen: list[int] = []
        self.starts: list[tuple[int, list[list[float]], list[float]]] = []
        self.alarm: tuple[int, int] | None = None
        self._start(0)

    def gains_now(self) -> list[float]:
        return self.gains

    def _start(self, row: int) -> None:
        gains, factors = self.gains_now(), []
        if min(gains) < 0 < max(gains):
            loss, span = -min(gains), max(gains) - min(gains)
            factors = [
                [1 + (r - 1) / (span + loss * (r - 1)) * gain for gain in gains]
                for r in ODDS_RATIOS
            ]
        self.starts.append((row, factors, [1.0] * len(factors)))

    def add(self, outcome: int, row: int) -> None:
        if self.alarm is not None:
            return
        reached = False
        for index, (_, factors, capitals) in enumerate(self.starts):
            for k, one in enumerate(factors):
                capitals[k] *= one[outcome]
            part = 0.5 if index == 0 else 0.5 / (index * (index + 1))
            reached |= bool(factors) and np.mean(capitals) >= 1 / (self.alpha * part)
        if reached:
            means = [np.mean(capitals) if capitals else 0.0 for _, _, capitals in self.starts]
            self.alarm = row, self.starts[int(np.argmax(means))][0]
        self.n += 1
        self.seen.append(outcome)
        times = {int(FIRST_START * 2 ** (k / STARTS_PER_DOUBLING)) for k in range(80)}
        if self.n in times:
            self._start(row)


class ShareBettor(Bettor):
    """A test that outcome 0 is no more (no less) frequent than a limit, or than before."""

    def __init__(self, limit: float, alpha: float, *, rises: bool) -> None:
        self.limit, self.rises = limit, rises
        super().__init__([], alpha)

    def gains_now(self) -> list[float]:
        own, n = self.seen.count(0), self.n
        low, high = confidence_sequence(own, n, self.alpha / 2)
        limit = min(float(high), self.limit) if self.rises else max(float(low), self.limit)
        gains = [1 - limit, -limit]
        return gains if self.rises else [-gain for gain in gains]


def watch_slowly(watch: Any, leaves: list[int], labels: list[int | None]) -> dict[Any, Any]:
    """Return the alarms of a watch for rows in these leaves (by line) with these classes."""
    alpha, promise, n_leaves = watch.alpha, watch.promise, len(watch.decisions)
    n_classes = len(watch.model.classes)
    part, rivals = alpha / 4 / n_leaves, max(n_classes - 1, 1)
    whole = ShareBettor(promise.whole_least, alpha / 8, rises=False)
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
        tests["accuracy", line] = [ShareBettor(promise.least[line], part / 2, rises=False)]
        tests["risen", line] = [
            ShareBettor(promise.most[line, other], part / 4 / rivals, rises=True)
            for other in range(n_classes)
            if other != own and n_classes > 2
        ]
        tests["share", line] = [
            ShareBettor(promise.largest_share[line], part / 4, rises=True),
            ShareBettor(promise.fewest_share[line], part / 4, rises=False),
        ]
    for row, (leaf, code) in enumerate(zip(leaves, labels, strict=True), start=1):
        for line in range(n_leaves):
            for test in tests["share", line]:
                test.add(0 if leaf == line else 1, row)
        if code is None:
            continue
        whole.add(0 if code == watch.decisions[leaf] else 1, row)
        own = int(watch.decisions[leaf])
        for test in tests["wrong", leaf]:
            test.add(code, row)
        for test in tests["accuracy", leaf]:
            test.add(0 if code == own else 1, row)
        others = [k for k in range(n_classes) if k != own]
        for other, test in zip(others, tests["risen", leaf], strict=False):
            test.add(0 if code == other else 1, row)
    tests["accuracy", -1] = [whole]
    return {
        key: min(one.alarm for one in some if one.alarm is not None)
        for key, some in tests.items()
        if any(one.alarm is not None for one in some)
    }
