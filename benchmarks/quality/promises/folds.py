"""Two algorithms by cross-validation: a learner whose true error is known for any row count.

The learner splits one column half-way between the class means. Two of them, on columns of the
same distribution, have equal true errors; on columns of different distance, the true difference
is an integral over training sets. Class sums make hundreds of cross-validations one array.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.special import ndtr

from benchmarks.quality.promises.record import (
    LEVEL,
    Promise,
    coverage,
    false_positives,
    shown,
)
from sureleaf.comparison import paired_t
from sureleaf.comparison.verdict import verdict_of
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.intervals import corrected_resampled

Array = np.ndarray

OVERLAP = "not valid: the splits share training rows, which the test treats as independent"


@cache
def true_error(n_train: int, distance: float) -> float:
    """Error of the learner, mean over training sets of so many rows; 400,000 of them."""
    rng = np.random.default_rng(n_train)
    ones = np.clip(rng.binomial(n_train, 0.5, 400_000), 1, n_train - 1)
    first = rng.normal(0, 1 / np.sqrt(n_train - ones))
    second = rng.normal(distance, 1 / np.sqrt(ones))
    threshold = (first + second) / 2
    error = (ndtr(-threshold) + ndtr(threshold - distance)) / 2
    return float(np.where(second > first, error, 1 - error).mean())


def losses_by_fold(x: Array, y: Array, fold: Array, left_out: list[int]) -> Array:
    """0/1 losses of all rows under the model that did not see the folds left out; runs by rows."""
    seen = np.ones_like(y)
    for number in left_out:
        seen &= fold != number
    means = []
    for label in (y, ~y):
        use = seen & label
        means.append((x * use).sum(axis=1) / np.maximum(use.sum(axis=1), 1))
    threshold = (means[0] + means[1])[:, None] / 2
    right_way = (means[0] > means[1])[:, None]
    return ((x > threshold) == right_way) != y


def cross_validate(x: Array, y: Array, fold: Array, k: int) -> Array:
    """Error of each fold; runs by folds."""
    errors = []
    for number in range(k):
        inside = fold == number
        loss = losses_by_fold(x, y, fold, [number])
        errors.append((loss & inside).sum(axis=1) / inside.sum(axis=1))
    return np.column_stack(errors)


def draw(rng: np.random.Generator, runs: int, n: int, distances: tuple[float, ...]):
    y = rng.random((runs, n)) < 0.5
    return [rng.normal(size=(runs, n)) + distance * y for distance in distances], y


def shuffled_folds(rng: np.random.Generator, runs: int, n: int, k: int) -> Array:
    return rng.permuted(np.tile(np.arange(n) % k, (runs, 1)), axis=1)


def differences(
    rng: np.random.Generator, runs: int, n: int, k: int, repeats: int, distances: tuple[float, ...]
) -> tuple[Array, Array]:
    """Differences in error of two learners, and errors of the first: runs by repeats * folds."""
    (first, second), y = draw(rng, runs, n, distances)
    gaps, errors = [], []
    for _ in range(repeats):
        fold = shuffled_folds(rng, runs, n, k)
        one, other = (cross_validate(x, y, fold, k) for x in (first, second))
        gaps.append(one - other)
        errors.append(one)
    return np.hstack(gaps), np.hstack(errors)


def p_values(gaps: Array, ratio: float | None) -> Array:
    def one(row: Array) -> float:
        try:
            return paired_t(row, corrected=ratio).p_value
        except InvalidArgumentError:  # no spread at all, so no verdict
            return 1.0

    return np.array([one(row) for row in gaps])


def algorithms(
    runs: int, sizes: tuple[int, ...] = (50, 200, 1000), largest: int = 5000
) -> Iterator[Promise]:
    rng = np.random.default_rng(21)
    for n in (*sizes, largest):
        count = runs if n <= 1000 else max(4 * runs // 25, 100)
        for k, repeats in ((10, 1), (10, 10)):
            design = f"n = {n}, {k} folds" + (f" x {repeats}" if repeats > 1 else "")
            gaps, errors = differences(rng, count, n, k, repeats, (1.0, 1.0))
            plain = float((p_values(gaps, None) <= 0.05).mean())
            fixed = float((p_values(gaps, 1 / (k - 1)) <= 0.05).mean())
            yield false_positives(
                "paired t over folds, uncorrected: false positives",
                design,
                plain,
                count,
                warning=OVERLAP,
            )
            yield false_positives(
                "corrected resampled t: false positives", design, fixed, count, default=True
            )
            yield _single(errors, n, k, design, count)
    yield from _power(rng, runs)


def _single(errors: Array, n: int, k: int, design: str, count: int) -> Promise:
    truth = true_error(n - n // k, 1.0)
    held = []
    for row in errors:
        found = corrected_resampled(row, test_to_train=1 / (k - 1))
        held.append(found.low <= truth <= found.high)
    return coverage(
        "error of an algorithm, corrected resampled t: coverage",
        design,
        float(np.mean(held)),
        count,
        default=True,
    )


def _power(rng: np.random.Generator, runs: int) -> Iterator[Promise]:
    n, near, far = 1000, 1.0, 1.3
    truth = true_error(900, near) - true_error(900, far)
    powers = {}
    gaps, _ = differences(rng, runs, n, 10, 10, (near, far))
    powers["corrected resampled t, 10 folds x 10"] = (p_values(gaps, 1 / 9) <= 0.05).mean()
    powers["corrected resampled t, 10 folds"] = (p_values(gaps[:, :10], 1 / 9) <= 0.05).mean()
    for what, share in powers.items():
        setting = f"n = {n}, true difference {truth:.3f}"
        yield shown(f"{what}: power", setting, float(share), runs)


def equivalence(runs: int, sizes: tuple[int, ...] = (200, 1000)) -> Iterator[Promise]:
    """Verdicts "equivalent" about two learners whose true difference lies on the margin."""
    rng = np.random.default_rng(24)
    for n in sizes:
        for distances in ((1.0, 1.3), (2.0, 2.2)):
            margin = true_error(n - n // 10, distances[0]) - true_error(n - n // 10, distances[1])
            gaps, _ = differences(rng, runs, n, 10, 10, distances)
            for columns, design in ((10, "10 folds"), (100, "10 folds x 10")):
                tests = [paired_t(row, corrected=1 / 9) for row in gaps[:, :columns]]
                words = [
                    verdict_of(test.low, test.high, test.p_value, level=LEVEL, margin=margin)
                    for test in tests
                ]
                yield false_positives(
                    "verdict: wrongly equivalent at a difference on the margin",
                    f"same folds, n = {n}, margin and difference {margin:.4f}, {design}",
                    words.count("equivalent") / runs,
                    runs,
                    nominal=0.025,
                    default=True,
                )


def trees(runs: int, n: int = 200) -> Iterator[Promise]:
    """The same with trees, which are not stable: two of them on columns of their own."""
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(23)
    gaps = np.empty((runs, 100))
    for run in range(runs):
        y = rng.random(n) < 0.5
        columns = rng.normal(size=(2, n, 2)) + 0.7 * y[:, None]
        folds = shuffled_folds(rng, 10, n, 10)
        for split in range(100):
            test = folds[split // 10] == split % 10
            wrong = [
                DecisionTreeClassifier(random_state=0).fit(x[~test], y[~test]).predict(x[test])
                != y[test]
                for x in columns
            ]
            gaps[run, split] = wrong[0].mean() - wrong[1].mean()
    for count, design in ((10, "10 folds"), (100, "10 folds x 10")):
        for ratio, name in (
            (None, "paired t over folds, uncorrected"),
            (1 / 9, "corrected resampled t"),
        ):
            yield false_positives(
                f"{name}: false positives",
                f"fully grown trees, n = {n}, {design}",
                float((p_values(gaps[:, :count], ratio) <= 0.05).mean()),
                runs,
                warning=OVERLAP if ratio is None else "",
                default=ratio is not None,
            )
