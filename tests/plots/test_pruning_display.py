"""The sizes along the cost-complexity path."""

import pytest

from sureleaf import InvalidArgumentError, TreeClassifier, plots
from tests.plots.conftest import FRAME, LABELS
from tests.plots.drawing import assert_texts_do_not_overlap, drawn

TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)


def test_without_rows_it_is_the_curve_that_chose_the_size():
    tree = TreeClassifier(random_state=0).fit(FRAME, LABELS)
    display = drawn(plots.PruningDisplay.from_estimator(tree))
    assert display.value == pytest.approx(1 - tree.size_curve_.error)
    assert display.n_leaves[display.chosen] == tree.get_n_leaves()
    assert f"the tree has {tree.get_n_leaves()} leaves" in display.ax_.texts[0].get_text()
    assert_texts_do_not_overlap(display)


def test_with_rows_every_size_is_the_pruned_tree_scored_on_them():
    tree = TreeClassifier.c45(pruning=None).fit(FRAME[TRAIN], LABELS[TRAIN])
    display = drawn(plots.PruningDisplay.from_estimator(tree, FRAME[TEST], LABELS[TEST]))
    assert (display.n_leaves[0], display.n_leaves[-1]) == (tree.get_n_leaves(), 1)
    for alpha, leaves, value in zip(display.alphas, display.n_leaves, display.value, strict=True):
        pruned = tree.prune("cost_complexity", ccp_alpha=alpha)
        assert pruned.get_n_leaves() == leaves
        assert pruned.score(FRAME[TEST], LABELS[TEST]) == value


def test_with_costs_the_curve_shows_mean_costs():
    tree = TreeClassifier(cost=[[0, 5], [1, 0]], random_state=0).fit(FRAME, LABELS)
    display = plots.PruningDisplay.from_estimator(tree)
    assert display.measure == "mean cost"
    assert display.value == pytest.approx(tree.size_curve_.error)


def test_a_tree_whose_size_was_not_chosen_by_cross_validation_needs_rows(model):
    with pytest.raises(InvalidArgumentError, match="Give rows that did not grow the tree"):
        plots.PruningDisplay.from_estimator(model)
