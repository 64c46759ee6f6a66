"""What the naive C4.5 does where no table of J48 shows it; the kernel is compared with both."""

import numpy as np
import pytest

from tests.naive.c45 import Rules, fit, predict_proba, table
from tests.naive.splits import c45_cut, entropy, gain, gini


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_best_grouping_for_two_classes_is_a_cut_of_the_categories_sorted_by_share(criterion):
    random = np.random.default_rng(5)
    impurity = {"gini": gini, "entropy": entropy}[criterion]
    rules = Rules(
        criterion, "subset", max_depth=1, min_samples_leaf=1, collapse=False, pruning=None
    )
    for _ in range(10):
        codes, labels = random.integers(0, 7, 80), random.integers(0, 2, 80)
        tree = fit(table([codes], [7], labels, 2), rules)
        counts = np.array([np.bincount(labels[codes == c], minlength=2) for c in range(7)], float)
        counts = counts[np.argsort(counts[:, 1] / counts.sum(1))]
        cuts = [np.array([counts[:i].sum(0), counts[i:].sum(0)]) for i in range(1, 7)]
        sides = np.array([child.class_counts for child in tree.children])
        best = max(gain(cut, 80, impurity) for cut in cuts)
        assert gain(sides, 80, impurity) == pytest.approx(best, rel=1e-9)


def test_an_empty_leaf_predicts_like_its_parent():
    """Probabilities printed by J48 (Weka 3.6.14) for a row that falls into an empty leaf."""
    rows = [(0, 0, 0)] * 7 + [(0, 1, 1)] * 4 + [(1, 2, 2)] * 6 + [(1, 0, 2)] * 3 + [(1, 1, 2)] * 3
    a, b, labels = zip(*rows, strict=True)
    tree = fit(table([a, b], [2, 3], labels, 3))
    unseen = table([[0, -1, 0], [2, 2, -1]], [2, 3], [0, 0, 0], 3)
    plain = [[0.636, 0.364, 0], [0.304, 0.174, 0.522], [0.636, 0.364, 0]]
    laplace = [[0.571, 0.357, 0.071], [0.308, 0.206, 0.486], [0.561, 0.323, 0.116]]
    np.testing.assert_allclose(predict_proba(tree, unseen), plain, atol=0.0005)
    np.testing.assert_allclose(predict_proba(tree, unseen, laplace=True), laplace, atol=0.0005)


@pytest.mark.parametrize(
    ("elsewhere", "threshold"),
    [
        ([0.4, 0.4000008], 0.4),
        ([0.4000008, 0.4], 0.4000008),
        ([0.4, 0.4000008, 0.4000016], 0.4000016),
        ([0.4000008, 0.4000016, 0.4], 0.4000008),
        ([0.5000008], 0.5000008),
        ([0.5000012], 0.0),
    ],
)
def test_of_values_within_1e_6_the_first_row_gives_j48s_threshold(elsewhere, threshold):
    """As J48 (Weka 3.6.14) printed them, for a cut between 0 and 1."""
    assert c45_cut((0.0, 1.0), np.array([0.0, 1.0, *elsewhere])) == threshold
