"""Verdicts at the rows that a comparison asks for: are they reached in 80 %?

A first table is compared, a second one of its `rows_needed` is drawn, and its verdict is counted.
The plan is made for the true difference. Hold-outs compare two given models, folds two learners.
"""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.quality.promises.folds import differences, true_error
from benchmarks.quality.promises.record import LEVEL, Promise, power
from sureleaf.comparison import mcnemar, paired_t
from sureleaf.comparison.verdict import PLANNED_POWER, DifferenceTest, rows_until, verdict_of

Draw = Callable[[np.random.Generator, int], DifferenceTest]


def hold_out(discordance: float, difference: float) -> Draw:
    """Two models on the same test rows, of which a share is correct for one of them only."""
    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]

    def draw(rng: np.random.Generator, n: int) -> DifferenceTest:
        first, second, _ = rng.multinomial(n, shares).tolist()
        return mcnemar(first, second, n)

    return draw


def ten_folds(distances: tuple[float, float], repeats: int) -> Draw:
    """Two learners on the same folds, on columns whose class means have these distances."""

    def draw(rng: np.random.Generator, n: int) -> DifferenceTest:
        gaps, _ = differences(rng, 1, n, 10, repeats, distances)
        return paired_t(-gaps[0], corrected=1 / 9)

    return draw


def share_reached(
    draw: Draw, runs: int, n: int, margin: float, difference: float
) -> tuple[float, int]:
    """Return how often the planned verdict is reached, and the median of the rows needed."""
    rng = np.random.default_rng([31, n])
    wanted = "better" if difference > margin else "equivalent"

    rows, reached = [], 0
    for _ in range(runs):
        needed = rows_until(draw(rng, n), n, margin=margin, detect=difference)
        assert needed is not None
        rows.append(needed)
        test = draw(rng, needed)
        verdict = verdict_of(test.low, test.high, test.p_value, level=LEVEL, margin=margin)
        reached += verdict == wanted
    return reached / runs, round(float(np.median(rows)))


def verdicts(runs: int, designs: tuple[str, ...] = ("hold-out", "folds")) -> Iterator[Promise]:
    """Power of verdicts without a margin, outside a margin and inside it."""
    settings: list[tuple[str, Draw, int, float, float, int]] = []
    if "hold-out" in designs:
        for n, discordance, difference, margin in (
            (200, 0.2, 0.05, 0.0),
            (1000, 0.1, 0.02, 0.0),
            (200, 0.2, 0.08, 0.03),
            (1000, 0.1, 0.04, 0.02),
            (200, 0.2, 0.0, 0.05),
            (1000, 0.2, 0.0, 0.03),
            (1000, 0.1, 0.01, 0.03),
        ):
            draw = hold_out(discordance, difference)
            settings.append(("hold-out", draw, n, margin, difference, 4 * runs))
    if "folds" in designs:
        for repeats in (1, 3):
            for distances, margin in (
                ((1.3, 1.0), 0.0),
                ((1.6, 1.0), 0.04),
                ((1.0, 1.0), 0.06),
            ):
                difference = true_error(180, distances[1]) - true_error(180, distances[0])
                name = "10 folds" + (f" x {repeats}" if repeats > 1 else "")
                draw = ten_folds(distances, repeats)
                settings.append((name, draw, 200, margin, difference, runs))
    for name, draw, n, margin, difference, count in settings:
        share, rows = share_reached(draw, count, n, margin, difference)
        what = "margin 0" if margin == 0 else f"margin {margin:g}"
        yield power(
            "verdict at the rows needed: power",
            f"{name}, planned from n = {n}, {what}, true difference {difference:.3f}, "
            f"{rows} rows needed",
            PLANNED_POWER,
            share,
            count,
        )
