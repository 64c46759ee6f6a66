"""The bootstrap family: against its printed formulas, the notes' example and simulation."""

import math

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from sureleaf.designs import Bootstrap
from sureleaf.errors import FailedFitError, InvalidArgumentError
from sureleaf.evaluation.bootstrap_errors import bootstrap_error, no_information_rate
from sureleaf.evaluation.intervals import out_of_bag_mean
from tests.evaluation.estimators import FailsOn, Nearest, WithoutProbabilities
from tests.naive.bootstrap import bootstrap_estimates, standard_error_of_leave_one_out

GENERATOR = np.random.default_rng(21)
Y = GENERATOR.integers(0, 3, 40)
X = GENERATOR.normal(size=(40, 2)) + Y[:, None]


def test_the_estimates_are_those_of_the_printed_formulas() -> None:
    found = bootstrap_error(Nearest(), X, Y, n_bootstraps=25, random_state=2)
    losses, counts = [], []
    for split in Bootstrap(25).splits(Y, seed=2):
        model = Nearest().fit(X[split.train], Y[split.train])
        losses.append((model.predict(X) != Y).astype(float).tolist())
        counts.append(np.bincount(split.train, minlength=40))
    codes = Nearest().fit(X, Y).predict(X)
    pairs = [[float(Y[i] != codes[j]) for j in range(40)] for i in range(40)]
    own = [pairs[i][i] for i in range(40)]
    expected = bootstrap_estimates(losses, counts, own, pairs)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value), name
    assert found.standard_errors["training"] == pytest.approx(np.std(own) / math.sqrt(40))
    assert set(found.standard_errors) == set(expected) - {"no_information", "relative_overfitting"}
    assert all(error > 0 for error in found.standard_errors.values())


def test_the_influences_are_the_printed_ones_less_the_noise_of_the_draws() -> None:
    counts = np.random.default_rng(0).multinomial(12, np.full(12, 1 / 12), size=60)
    losses = np.random.default_rng(1).random((60, 12))
    losses[:, 1::2] *= 20.0
    found = out_of_bag_mean(losses, counts)
    centred = losses - found.value
    raw = standard_error_of_leave_one_out(centred, counts)
    shares = np.where(counts == 0, centred / (counts == 0).sum(axis=0), 0).sum(axis=1) / 12
    noise = 12 * ((shares - shares.mean()) ** 2).sum()
    out = counts == 0
    once = [((losses[out[:, i], i] - found.value) ** 2).mean() for i in range(12)]
    floor = sum(once) / 12**2
    assert raw**2 - noise > floor
    assert found.standard_error == pytest.approx(math.sqrt(raw**2 - noise))


def test_the_notes_example_leaves_out_bootstraps_that_contain_the_row() -> None:
    # b1 = {1, 3, 5, 6}, b2 = {2, 3, 5, 6}, b3 = {3, 3, 5, 6}: row 1 is scored by b2 and b3 only;
    # rows 3, 5 and 6 are in every bootstrap and have no term
    counts = np.array([[1, 0, 1, 0, 1, 1], [0, 1, 1, 0, 1, 1], [0, 0, 2, 0, 1, 1]])
    losses = np.arange(18.0).reshape(3, 6)
    found = out_of_bag_mean(losses, counts)
    own = [losses[1:, 0].mean(), losses[[0, 2], 1].mean(), losses[:, 3].mean()]
    assert found.rows_without_term == 3
    assert found.value == pytest.approx(np.mean(own))


def test_the_no_information_rate_is_the_mean_over_all_pairs() -> None:
    truth, codes = GENERATOR.integers(0, 3, (2, 30))
    weights = GENERATOR.integers(1, 4, 30).astype(float)
    pairs = (truth[:, None] != codes).astype(float)
    assert no_information_rate(truth, codes, 3) == pytest.approx(pairs.mean())
    expected = weights @ pairs @ weights / weights.sum() ** 2
    assert no_information_rate(truth, codes, 3, weights) == pytest.approx(expected)


def test_labels_without_information_give_632_plus_the_no_information_rate() -> None:
    """Efron and Tibshirani's case: 1-nearest neighbour on coin labels, true error .5."""
    from sklearn.neighbors import KNeighborsClassifier

    generator = np.random.default_rng(3)
    plus, plain632 = [], []
    for seed in range(12):
        labels = generator.permutation(np.repeat([0, 1], 20))
        rows = generator.normal(size=(40, 3))
        found = bootstrap_error(
            KNeighborsClassifier(1), rows, labels, n_bootstraps=40, random_state=seed
        )
        assert found.training == 0.0
        plus.append(found.e632_plus)
        plain632.append(found.e632)
    # leave-one-out errors of 40 rows have a standard error near .08; twelve samples: .025
    assert abs(np.mean(plus) - 0.5) < 4 * 0.025
    assert np.mean(plain632) < 0.5 - 4 * 0.025  # .632 is badly low, as they warn


def test_weights_of_rows_weigh_every_estimate() -> None:
    weights = GENERATOR.integers(1, 4, 40).astype(float)
    found = bootstrap_error(Nearest(), X, Y, n_bootstraps=20, sample_weight=weights, random_state=1)
    model = Nearest().fit(X, Y, sample_weight=weights)
    wrong = model.predict(X) != Y
    assert found.training == pytest.approx(np.average(wrong, weights=weights))
    even = bootstrap_error(Nearest(), X, Y, n_bootstraps=20, random_state=1)
    same = bootstrap_error(
        Nearest(), X, Y, n_bootstraps=20, sample_weight=np.full(40, 2.0), random_state=1
    )
    assert same.e632_plus == pytest.approx(even.e632_plus)
    assert same.standard_errors == pytest.approx(even.standard_errors)


def test_a_bootstrap_that_fails_is_recorded_and_left_out() -> None:
    class FailsOnFewClasses(Nearest):
        def fit(self, X, y, sample_weight=None):
            if len(np.unique(y)) < 3:
                raise ValueError("a class is missing")
            return super().fit(X, y)

    labels = np.array([0] * 20 + [1] * 19 + [2])
    found = bootstrap_error(FailsOnFewClasses(), X, labels, n_bootstraps=30, random_state=0)
    assert 0 < len(found.failures) < 30
    assert found.n_bootstraps == 30 - len(found.failures)
    assert "a class is missing" in str(found)


def test_what_cannot_be_estimated_is_refused() -> None:
    with pytest.raises(FailedFitError, match="failed on all rows: RuntimeError: the disk is full"):
        bootstrap_error(FailsOn(X[0, 0]), X, Y, n_bootstraps=3)


def test_decisions_at_costs_are_judged_and_not_the_most_probable_classes() -> None:
    cost = [[0, 5], [1, 0]]
    labels = (Y > 0).astype(int)
    by_decision = bootstrap_error(
        DecisionTreeClassifier(max_depth=2), X, labels, decide_by=cost, n_bootstraps=20,
        random_state=0,
    )  # fmt: skip
    tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, labels)
    decided = (tree.predict_proba(X) @ np.array(cost)).argmin(axis=1)
    assert by_decision.training == pytest.approx(np.mean(decided != labels))
    with pytest.raises(InvalidArgumentError, match="cost must have one row and one column"):
        bootstrap_error(Nearest(), X, Y, decide_by=cost, n_bootstraps=5)
    with pytest.raises(FailedFitError, match="decide_by needs a classifier with predict_proba"):
        bootstrap_error(WithoutProbabilities(), X, labels, decide_by=cost, n_bootstraps=5)


def test_the_monte_carlo_error_of_the_standard_error_is_what_other_samples_show():
    n, n_bootstraps, n_runs = 60, 25, 400
    rng = np.random.default_rng(0)
    squares, stated = [], []
    for _ in range(n_runs):
        counts = rng.multinomial(n, np.full(n, 1 / n), size=n_bootstraps)
        # Models that differ much, and whose errors have nothing to do with their rows.
        share = rng.choice([0.2, 0.8], size=(n_bootstraps, 1))
        losses = (rng.random((n_bootstraps, n)) < share).astype(float)
        found = out_of_bag_mean(losses, counts)
        out = counts == 0
        losses = losses - found.value
        means = np.where(out, losses, 0).sum(axis=0) / out.sum(axis=0)
        q = (np.where(out, losses, 0) / out.sum(axis=0)).sum(axis=1) / n
        influence = (means - means.mean()) * (2 + 1 / (n - 1)) / n
        influence += q @ (counts - counts.mean(axis=0))
        squares.append(influence @ influence - n * ((q - q.mean()) ** 2).sum())
        stated.append(2 * found.standard_error**4 / found.degrees_of_freedom)
    # 400 runs know the spread to 4 %; the formula leaves out terms of order 1 / n_bootstraps.
    assert np.sqrt(np.mean(stated)) == pytest.approx(np.std(squares), rel=0.25)
