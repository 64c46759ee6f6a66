"""The comparison of trees finds every kind of difference, and none between equal trees."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.naive.c45 import Node, fit
from tests.reference.compare import first_difference, first_difference_from_print
from tests.reference.j48 import load_random_trees, parse, random_named

STORED = load_random_trees()[1]
NAMED = random_named(STORED)
TREE = fit(NAMED.data)


def flat(tree: Node) -> SimpleNamespace:
    """Return the tree as flat arrays, with parents before their children."""
    nodes, children = [], []

    def number(node: Node) -> int:
        mine = len(nodes)
        nodes.append(node)
        children.append([])
        children[mine] = [number(child) for child in node.children]
        return mine

    number(tree)
    branch_of = [node.split.branch_of if node.split else () for node in nodes]
    shares = [share for node in nodes for share in node.branch_shares]
    return SimpleNamespace(
        feature=np.array([node.split.feature if node.split else -1 for node in nodes], np.int32),
        threshold=np.array([node.split.threshold if node.split else np.nan for node in nodes]),
        child_offset=np.cumsum([0, *map(len, children)]),
        children=np.array([child for of_node in children for child in of_node], np.int32),
        branch_share=np.array(shares),
        category_offset=np.cumsum([0, *map(len, branch_of)]),
        category_branch=np.array([to for codes in branch_of for to in codes], np.int32),
        class_counts=np.array([node.class_counts for node in nodes]),
        missing_branch=np.full(len(nodes), -1, np.int32),
    )


def test_the_tree_has_both_kinds_of_tests():
    tree = flat(TREE)
    assert len(tree.category_branch) > 0
    assert np.isfinite(tree.threshold).any()


def test_equal_trees_have_no_difference():
    assert first_difference(flat(TREE), TREE) is None
    printed = parse(STORED["trees"]["pruned"], NAMED.columns)
    assert first_difference_from_print(flat(TREE), printed, NAMED) is None


@pytest.mark.parametrize(
    ("field", "word"),
    [
        ("feature", "feature"),
        ("threshold", "threshold"),
        ("branch_share", "shares"),
        ("category_branch", "branch_of"),
        ("class_counts", "counts"),
    ],
)
def test_a_change_in_any_array_is_found(field, word):
    tree = flat(TREE)
    getattr(tree, field)[...] += 1
    assert word in first_difference(tree, TREE)


def test_a_changed_threshold_and_a_cut_branch_differ_from_the_printed_tree():
    printed = parse(STORED["trees"]["pruned"], NAMED.columns)
    moved = flat(TREE)
    moved.threshold += 1e-5
    assert "threshold" in first_difference_from_print(moved, printed, NAMED)
    stump = Node(TREE.class_counts)
    assert "line 0" in first_difference_from_print(stump, printed, NAMED)
    assert "feature -1, expected 0" in first_difference(stump, TREE)
