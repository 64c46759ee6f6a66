"""Weights and limits mean what they mean in other libraries."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier

import sureleaf
from sureleaf import InvalidArgumentError, TreeClassifier
from sureleaf.designs import KFold

pytestmark = pytest.mark.usefixtures("few_rounds")

X, Y = make_classification(600, n_informative=4, flip_y=0.1, random_state=3)
NOT_COUNTS = r"sum of 1 for 600 rows.*cannot be counts.*weights='importance'"


@pytest.mark.filterwarnings("ignore:sample_weight has a sum:UserWarning")
def test_boosted_stumps_are_as_good_as_those_of_scikit_learn():
    stumps = AdaBoostClassifier(TreeClassifier(max_depth=1, pruning=None), random_state=0)
    ours = stumps.fit(X[:400], Y[:400]).score(X[400:], Y[400:])
    theirs = AdaBoostClassifier(random_state=0).fit(X[:400], Y[:400]).score(X[400:], Y[400:])
    assert ours == pytest.approx(theirs, abs=0.03)
    assert all(tree.tree_.n_leaves == 2 for tree in stumps.estimators_)


@pytest.mark.parametrize("tree", [TreeClassifier(random_state=0), TreeClassifier.c45()])
def test_weights_that_sum_to_one_are_importances_and_say_so(tree):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 1.5, len(Y))
    with pytest.warns(UserWarning, match=NOT_COUNTS):
        tree.fit(X, Y, sample_weight=weights / weights.sum())
    expected = sureleaf.TreeClassifier(**{**tree.get_params(), "weights": "importance"})
    expected.fit(X, Y, sample_weight=weights / weights.sum())
    assert tree.tree_.n_leaves > 1
    assert tree.rules() == expected.rules()
    assert tree.model_.weights == "importance"
    np.testing.assert_array_equal(tree.leaf_counts_.n, expected.leaf_counts_.n)


@pytest.mark.parametrize("size", [1e16, 1e60, 1e140])
def test_weights_beyond_whole_numbers_are_importances_and_have_levels(size):
    trees = [TreeClassifier(pruning=None, max_depth=3, random_state=0) for _ in range(2)]
    trees[0].fit(X, Y)
    with pytest.warns(UserWarning, match="cannot be counts.*divide them"):
        trees[1].fit(X, Y, sample_weight=np.full(len(Y), size))
    assert trees[0].rules() == trees[1].rules()
    plain, weighted = (tree.leaves() for tree in trees)
    np.testing.assert_allclose(weighted.confidence, plain.confidence, rtol=1e-6)
    np.testing.assert_allclose(weighted.high, plain.high, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:sample_weight has a sum:UserWarning")
def test_refits_of_an_evaluation_take_such_weights_as_a_fit_does():
    weights = np.random.default_rng(1).uniform(0.5, 1.5, len(Y)) / len(Y) / 3
    tree = TreeClassifier(pruning=None, max_depth=3)
    evaluation = sureleaf.evaluate(
        tree, X, Y, design=KFold(3), sample_weight=weights, random_state=0
    )

    class Own(TreeClassifier):  # a class of the user's own is fitted fold by fold
        pass

    own = Own(pruning=None, max_depth=3)
    expected = sureleaf.evaluate(own, X, Y, design=KFold(3), sample_weight=weights, random_state=0)
    np.testing.assert_allclose(
        evaluation.predictions.probabilities, expected.predictions.probabilities, rtol=1e-12
    )


@pytest.mark.parametrize("weights", [np.full(600, 0.6), np.r_[np.zeros(500), np.ones(100)]])
def test_weights_that_may_be_counts_stay_counts(weights):
    tree = TreeClassifier(pruning=None).fit(X, Y, sample_weight=weights)
    assert tree.model_.weights == "counts"
    assert tree.leaf_counts_.n.sum() == pytest.approx(weights.sum())


def test_a_limit_below_one_is_a_share_of_the_rows():
    shares = TreeClassifier(pruning=None, min_samples_leaf=0.0991).fit(X, Y)
    rows = TreeClassifier(pruning=None, min_samples_leaf=60).fit(X, Y)
    assert shares.rules() == rows.rules()
    assert shares.rules() != TreeClassifier(pruning=None).fit(X, Y).rules()


def test_the_share_of_a_fold_is_one_of_its_own_rows():
    tree = TreeClassifier(pruning=None, min_samples_leaf=0.1)
    refits = tree.prepare_refits(X, Y)
    part = np.arange(300)
    refit = refits.fit(tree, part, n_threads=1)
    expected = TreeClassifier(pruning=None, min_samples_leaf=30).fit(X[part], Y[part])
    np.testing.assert_array_equal(refit.predict_proba(np.arange(600)), expected.predict_proba(X))


@pytest.mark.parametrize("pruning", ["auto", "pessimistic", None])
def test_ccp_alpha_without_its_pruning_is_an_error(pruning):
    tree = TreeClassifier(ccp_alpha=0.01, pruning=pruning)
    with pytest.raises(InvalidArgumentError, match=r"ccp_alpha .* Set pruning='cost_complexity'"):
        tree.fit(X, Y)


def test_fractional_weights_are_parts_of_rows_and_not_rounded():
    """Half a row counts as half a row for the smallest leaf, and heavy rows as several."""
    columns, labels = np.arange(8.0).reshape(-1, 1), np.repeat([0, 1], 4)
    for weight, n_leaves in ((0.5, 2), (0.49, 1)):  # at least 2 rows per leaf
        tree = TreeClassifier.c45().fit(columns, labels, sample_weight=np.full(8, weight))
        assert tree.tree_.n_leaves == n_leaves
    heavy = TreeClassifier.c45().fit([[1], [2], [3]], [0, 0, 1], sample_weight=[5, 5, 5])
    assert heavy.leaf_counts_.counts.tolist() == [[10, 0], [0, 5]]  # J48 grows a single leaf
