"""Levels of predictions, measured on unseen rows."""

import numpy as np
import pytest
import scipy.stats
from scipy.stats import betabinom
from sklearn.tree import DecisionTreeClassifier

from sureleaf import TreeClassifier, audit
from sureleaf.auditing.unseen_levels import pooled_accuracy, unseen_levels
from sureleaf.levels.decisions import cost_rule
from sureleaf.levels.intervals import majority_probability


def test_pooled_accuracies_add_up_to_the_correct_predictions():
    rng = np.random.default_rng(1)
    for _ in range(30):
        n = rng.integers(0, 30, size=9).astype(float)
        n_correct = np.floor(rng.random(9) * (n + 1)).clip(max=n)
        accuracy = pooled_accuracy(n_correct, n)
        assert accuracy @ n == pytest.approx(n_correct.sum())
        assert ((accuracy >= 0) & (accuracy <= 1)).all()


def test_the_strength_has_the_largest_likelihood():
    n_correct, n = np.array([3.0, 18, 40, 1, 0]), np.array([4.0, 20, 80, 1, 2])

    def likelihood(s):
        mean = sum(h / (m + s) for h, m in zip(n_correct, n, strict=True))
        mean /= sum(m / (m + s) for m in n)
        chances = [
            betabinom.logpmf(h, m, s * mean, s * (1 - mean))
            for h, m in zip(n_correct, n, strict=True)
        ]
        return sum(chances), [(h + s * mean) / (m + s) for h, m in zip(n_correct, n, strict=True)]

    best = max((likelihood(2.0**k) for k in range(-1, 11)), key=lambda found: found[0])
    assert pooled_accuracy(n_correct, n) == pytest.approx(best[1])


@pytest.mark.parametrize("n", [0, 1])
def test_groups_of_no_and_of_one_row(n):
    found = unseen_levels(np.array([[float(n), 0.0]]), np.array([0]))
    assert found.confidence[0] == pytest.approx(0.5 if n == 0 else 0.8183, abs=1e-4)
    assert found.interval(0.95)[0][0] == pytest.approx(0.0 if n == 0 else 0.025)
    assert found.interval(0.95)[1][0] == 1.0
    assert np.isnan(found.probability[0]) == (n == 0)


def test_rows_needed_are_the_smallest_number_that_reaches_the_confidence():
    counts = np.array([[7.0, 5, 0], [30, 10, 10], [1, 0, 0], [4, 4, 0], [2, 5, 1]])
    predicted = np.zeros(5, dtype=np.intp)
    found = unseen_levels(counts, predicted)
    needed = found.rows_needed(0.95, None)
    assert np.isnan(needed[3:]).all()  # another class is as frequent, or more so
    for group in range(3):
        share = counts[group] / counts[group].sum()
        for rows, is_enough in ((needed[group], True), (needed[group] - 1, False)):
            sure = majority_probability((share * rows)[np.newaxis], predicted[:1])
            assert (sure[0] >= 0.95) == is_enough
    reached = found.confidence[:3] >= 0.95
    assert ((needed[:3] <= counts[:3].sum(axis=1)) == reached).all()
    assert np.isnan(found.rows_needed(0.95, 0.999)).all()


# ---- where the truth is known ---------------------------------------------------------------


def probabilities(rows: np.ndarray) -> np.ndarray:
    """P(class 1): a step, a slope, and a corner that is a coin's."""
    steep = 0.15 + 0.6 * (rows[:, 0] > 0.5) + 0.15 * rows[:, 1]
    return np.where((rows[:, 0] < 0.3) & (rows[:, 1] < 0.5), 0.5, steep)


def test_levels_from_unseen_rows_are_correct_where_the_truth_is_known():
    """Over 40 models: utility unbiased, bounds cover, and wrong predictions are rarely trusted."""
    rng = np.random.default_rng(7)
    grid = rng.random((40_000, 2))
    truth = probabilities(grid)
    differences, covered, wrong_and_sure, wrong, sure_and_right = [], [], 0, 0, []
    for _ in range(40):
        seen, unseen = rng.random((300, 2)), rng.random((300, 2))
        labels = [(rng.random(300) < probabilities(rows)).astype(int) for rows in (seen, unseen)]
        model = DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5, random_state=0)
        model.fit(seen, labels[0])
        found = audit(model, unseen, labels[1])
        at = model.apply(grid)
        right = np.where(model.predict(grid) == 1, truth, 1 - truth)
        p = np.array([right[at == leaf].mean() for leaf in found.leaves.leaf])
        share = np.array([np.mean(at == leaf) for leaf in found.leaves.leaf])
        differences.append(found.utility - share @ p)
        held = found.leaves.n > 0
        covered += ((found.leaves.low <= p) & (p <= found.leaves.high))[held].tolist()
        wrong_and_sure += int(((p < 0.5) & (found.leaves.confidence >= 0.95)).sum())
        wrong += int((p < 0.5).sum())
        sure = found.leaves.confidence >= 0.95
        sure_and_right += (p[sure] > 0.5).tolist()
    # Accuracy of 300 rows has a standard deviation of at most 0.029; 40 of them, 0.0046.
    assert abs(np.mean(differences)) < 3 * 0.029 / np.sqrt(40)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / len(covered))
    assert wrong > 20
    assert wrong_and_sure <= 0.05 * wrong + 3 * np.sqrt(0.05 * 0.95 * wrong)
    assert np.mean(sure_and_right) > 0.95


def test_with_costs_confidence_is_about_the_decision():
    rule = cost_rule([[0, 5], [1, 0]])  # the first class is decided from a probability of 1/6 on
    counts = np.array([[40.0, 60.0], [10.0, 90.0], [17.0, 83.0], [0.0, 0.0]])
    levels = unseen_levels(counts, np.array([0, 0, 0, 0]), costs=rule)
    expected = scipy.stats.beta.sf(1 / 6, counts[:, 0] + 0.5, counts[:, 1] + 0.5)
    np.testing.assert_allclose(levels.confidence, expected)
    assert levels.below.tolist() == [False, True, False, False]
    rows = levels.rows_needed(0.95, None)
    assert np.isnan(rows[1])  # the other decision is cheaper
    for n in (rows[0], rows[0] - 1):
        share = scipy.stats.beta.sf(1 / 6, 0.4 * n + 0.5, 0.6 * n + 0.5)
        assert (share >= 0.95) == (n == rows[0])


def test_with_costs_of_three_classes_confidence_is_that_of_the_posterior():
    rule = cost_rule([[0, 1, 2], [3, 0, 1], [8, 2, 0]])
    counts = np.array([[30.0, 20.0, 5.0], [30.0, 3.0, 2.0]])
    decided = rule.decide(counts / counts.sum(axis=1, keepdims=True))
    stated = unseen_levels(counts, decided, costs=rule).confidence
    random = np.random.default_rng(0)
    for row, decision, confidence in zip(counts, decided, stated, strict=True):
        drawn = random.dirichlet(row + 0.5, 20_000)
        assert np.mean(rule.decide(drawn) == decision) == pytest.approx(confidence, abs=0.05)


def test_a_tree_with_costs_is_audited_at_its_costs():
    random = np.random.default_rng(0)
    X = random.normal(size=(1500, 2))
    y = np.where(random.random(1500) < 0.15 + 0.3 * (X[:, 0] > 0), "bad", "good")
    cost = [[0, 5], [1, 0]]
    model = TreeClassifier(cost=cost, max_leaves=2, random_state=0).fit(X[:900], y[:900])
    result = audit(model, X[900:], y[900:])
    leaf = int(np.argmax(result.leaves.counts[:, 0] / result.leaves.n))
    assert result.leaves.prediction[leaf] == "bad"
    assert result.leaves.probability[leaf] < 0.5 < 0.99 < result.leaves.confidence[leaf]
    given = audit(model, X[900:], y[900:], cost=cost)
    assert result.audited.cost_of_model
    assert not given.audited.cost_of_model
    same = result.to_json().replace('"of_model": true', '"of_model": false')
    assert same == given.to_json()
