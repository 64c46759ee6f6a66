"""Trees, leaves and sizes: first their numbers, then the drawing."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sureleaf import BaggedTreesClassifier, InvalidArgumentError, TreeClassifier, audit, plots
from tests.plots.conftest import FRAME, LABELS
from tests.plots.drawing import assert_texts_do_not_overlap, drawn


def test_a_tree_is_laid_out_with_every_leaf_once_and_parents_between(model):
    display = plots.TreeDisplay.from_estimator(model)
    leaves = model.leaves()
    assert display.node[display.is_end].tolist() == leaves.leaf.tolist()
    assert display.height[display.is_end].tolist() == [-i for i in range(len(leaves))]
    assert display.utility[display.is_end] == pytest.approx(leaves.utility)
    assert display.flagged[display.is_end].tolist() == leaves.flagged.tolist()
    for index in np.flatnonzero(~display.is_end):
        children = display.height[display.parent == index]
        assert display.height[index] == (children.min() + children.max()) / 2
    for index in range(1, len(display.node)):
        assert display.node[display.parent[index]] == model.tree_.parent[display.node[index]]
    assert_texts_do_not_overlap(drawn(display))


def test_a_large_tree_is_cut_and_says_how_many_leaves_are_hidden():
    full = TreeClassifier.c45(
        criterion="gini", pruning=None, min_samples_leaf=1, levels_from="training"
    ).fit(FRAME, LABELS)
    display = plots.TreeDisplay.from_estimator(full)
    ends = int(display.is_end.sum())
    assert ends <= 24 < full.tree_.n_leaves
    whole = np.count_nonzero(full.tree_.is_leaf[display.node[display.is_end]])
    assert whole + display.hidden.sum() == full.tree_.n_leaves
    assert_texts_do_not_overlap(drawn(display))
    assert plots.TreeDisplay.from_estimator(full, max_depth=1).is_end.sum() == 2


def test_a_tree_of_one_leaf_is_drawn():
    single = TreeClassifier.c45(max_depth=0).fit([[1], [2], [3]], ["a", "a", "b"])
    assert drawn(plots.TreeDisplay.from_estimator(single)).test == [""]
    assert drawn(plots.LeavesDisplay.from_estimator(single)).names == ["all rows"]


def test_leaves_are_those_of_the_model(model):
    display, leaves = plots.LeavesDisplay.from_estimator(model, level=0.9), model.leaves(level=0.9)
    for name in ("n", "probability", "low", "high", "confidence", "utility", "flagged"):
        assert getattr(display, name).tolist() == getattr(leaves, name).tolist()
    assert_texts_do_not_overlap(drawn(display))
    lines = [line.get_xdata() for line in display.ax_.lines]
    assert [list(line) for line in lines] == [
        [low, high] for low, high in zip(leaves.low, leaves.high, strict=True)
    ]


def test_leaves_and_bins_of_audits_show_what_was_stated():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FRAME[::2], LABELS[::2])
    found = audit(tree, FRAME[1::2], LABELS[1::2])
    display = drawn(plots.LeavesDisplay.from_audit(found))
    assert display.stated.tolist() == found.leaves.stated.tolist()
    assert_texts_do_not_overlap(display)
    forest = RandomForestClassifier(5, random_state=0).fit(FRAME[::2], LABELS[::2])
    found = audit(forest, FRAME[1::2], LABELS[1::2])
    bins = drawn(plots.LeavesDisplay.from_audit(found))
    assert bins.n.sum() == len(FRAME[1::2])
    assert bins.names[0].startswith("predicted ")
    reliability = drawn(plots.ReliabilityDisplay.from_audit(found))
    assert np.diff(reliability.stated).min() >= 0
    assert reliability.outside.sum() == (~found.bins.agrees).sum()


def test_a_long_rule_keeps_its_last_tests():
    display = plots.LeavesDisplay.from_estimator(
        TreeClassifier.c45().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    )
    display.names[0] = " and ".join(f"column{i} <= {i}" for i in range(12))
    assert display.label(0).startswith("... and column")
    assert display.label(0).endswith("column11 <= 11:  no")


@pytest.mark.parametrize("display", [plots.TreeDisplay, plots.LeavesDisplay])
def test_a_bag_of_trees_is_refused(display):
    bagged = BaggedTreesClassifier(n_estimators=2, random_state=0).fit(FRAME, LABELS)
    with pytest.raises(InvalidArgumentError, match=r"shows a single tree.*got BaggedTrees"):
        display.from_estimator(bagged)
    with pytest.raises(InvalidArgumentError, match="must be a fitted TreeClassifier; got Decision"):
        display.from_estimator(DecisionTreeClassifier())


def test_a_tree_at_costs_states_savings_and_decisions(model):
    costed = TreeClassifier(cost=[[0, 5], [1, 0]], random_state=0).fit(FRAME, LABELS)
    assert "saving per row" in plots.TreeDisplay.from_estimator(costed)._heading()[1]
    assert "accuracy on unseen rows" in plots.TreeDisplay.from_estimator(model)._heading()[1]


def test_a_tree_of_divided_rows_is_drawn_with_their_fractions():
    from sureleaf.reproduce.aw import distributed_tree

    display = drawn(plots.TreeDisplay.from_estimator(distributed_tree()))
    assert_texts_do_not_overlap(display)
    texts = [text.get_text() for text in display.ax_.texts]
    assert any("No   3.67 rows, utility" in text for text in texts)
    assert any("Yes   1 row, utility" in text for text in texts)
    assert display._heading()[1].startswith("Utility and confidence by Zhang (2024)")
    title = plots.LeavesDisplay.from_estimator(distributed_tree()).title
    assert title.endswith("levels by Zhang (2024)")


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
