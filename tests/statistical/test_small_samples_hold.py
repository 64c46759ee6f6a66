"""Intervals where few rows, rare classes or no signal make promises hard to keep."""

import numpy as np
import pytest
from scipy.special import ndtr

from sureleaf import compare, evaluate
from sureleaf.designs import Bootstrap, Holdout, KFold, LeaveOneOut, RepeatedHoldout
from tests.evaluation.estimators import Nearest

pytestmark = pytest.mark.usefixtures("few_rounds")


def apart(n: int, distance: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two classes in turns, their means so many standard deviations apart."""
    y = np.arange(n) % 2
    return np.random.default_rng(seed).normal(size=(n, 1)) + distance * y[:, None], y


@pytest.mark.parametrize("design", [KFold(10), KFold(2), KFold(5, repeats=3), RepeatedHoldout(10)])
@pytest.mark.parametrize("measure", ["accuracy", "auc"])
def test_a_rate_near_one_lies_in_the_algorithms_interval(design, measure: str) -> None:
    """Without a floor, splits that are all without a miss state 1 to 1: half of the samples."""
    runs, distance = 40, 4.5 if measure == "accuracy" else 3.0
    truth = ndtr(distance / 2) if measure == "accuracy" else ndtr(distance / np.sqrt(2))
    truth -= 0.001  # the means are estimated, which costs a tenth of a point
    holds = 0
    for seed in range(runs):
        found = evaluate(Nearest(), *apart(50, distance, seed), design=design, random_state=seed)
        interval = found.estimate(measure)
        assert interval.low < interval.high
        holds += interval.low <= truth <= interval.high
    assert holds / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


DESIGNS = [Holdout(), KFold(5), LeaveOneOut(), Bootstrap(20)]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.kind)
def test_no_miss_is_no_proof_that_there_are_none(design) -> None:
    found = evaluate(Nearest(), *apart(60, 30.0), design=design, random_state=0)
    n = len(np.unique(found.predictions.row))
    exact = 0.025 ** (1 / n)  # with this accuracy, n of n rows are correct in 2.5 % of samples
    assert found.estimate("accuracy").low == pytest.approx(exact, abs=1e-6)
    assert found.estimate("error").high == pytest.approx(1 - exact, abs=1e-6)
    if design.kind != "leave one out":
        for measure in ("auc", "f_measure", "kappa", "quadratic_loss", "balanced_accuracy"):
            interval = found.estimate(measure)
            assert interval.high - interval.low > 0.05, measure


def test_groups_without_a_miss_count_as_one_row_each() -> None:
    X, y = apart(60, 30.0)
    found = evaluate(Nearest(), X, y, design=KFold(4), groups=np.arange(60) // 6, random_state=0)
    for measure in ("accuracy", "auc"):
        interval = found.estimate(measure)
        assert interval.low == pytest.approx(0.025 ** (1 / 10), abs=1e-6)
        assert "10 groups" in interval.method


def test_folds_without_a_class_say_nothing_of_it() -> None:
    """Four positive rows in ten folds: a perfect classifier has found all of them, not .4."""
    y = (np.arange(40) >= 36).astype(int)
    X = np.random.default_rng(0).normal(size=(40, 1)) + 30.0 * y[:, None]
    found = evaluate(Nearest(), X, y, design=KFold(10), random_state=0)
    for measure in ("recall", "precision", "f_measure", "kappa", "matthews"):
        interval = found.estimate(measure)
        assert interval.value == 1.0, measure
        assert "undefined in 6" in interval.method
    assert found.estimate("specificity").method.startswith("corrected resampled t over 10")
    assert np.isnan(found.split_values("recall")).sum() == 6
    assert compare(found, found, measure="recall").difference == 0
