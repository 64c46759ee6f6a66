"""What a fitted tree asks at each node, in a form that every export can write down."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.errors import InvalidTypeError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.model import TreeModel
from sureleaf.table import Column, Schema
from sureleaf.tree import Tree
from sureleaf.tree.rules import leaf_rules

__all__ = ["FittedTree", "NodeTest", "fitted_tree"]


@dataclass(frozen=True)
class NodeTest:
    """The test of an inner node.

    Parameters
    ----------
    place : int
        Place of the column that is tested.
    threshold : float or None
        A value up to it takes the first branch, another one the second; None for categories.
    codes : tuple of tuple of int
        For each branch the codes of the categories that take it; without for thresholds.
    children : tuple of int
        Nodes that the branches lead to.
    shares : tuple of float
        The way of a missing or unseen value.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> fitted_tree(model, "SQL").tests[0]
    NodeTest(place=0, threshold=2.0, codes=(), children=(1, 2), shares=(0.5, 0.5))
    """

    place: int
    threshold: float | None
    codes: tuple[tuple[int, ...], ...]
    children: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class FittedTree:
    """A fitted tree with its tests, as exports read it.

    Parameters
    ----------
    model : TreeModel
        The fitted model.
    tests : dict of int to NodeTest
        By inner node. Ordered columns are tested by the categories of each side.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> fitted_tree(model, "SQL").places
    [0]
    """

    model: TreeModel
    tests: dict[int, NodeTest]

    @property
    def tree(self) -> Tree:
        """The tree of the model."""
        return self.model.tree

    @property
    def schema(self) -> Schema:
        """The columns of the model."""
        return self.model.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The classes of the model."""
        return self.model.classes

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """Class probabilities of all nodes."""
        return self.model.probabilities

    @property
    def unseen(self) -> str:
        """What a row does at a test of a category that the node has not seen."""
        return self.model.unseen

    @property
    def places(self) -> list[int]:
        """Places of the columns that are tested, ascending."""
        return sorted({test.place for test in self.tests.values()})

    @cached_property
    def rules(self) -> dict[int, str]:
        """The tests on the way to each leaf, in words."""
        return leaf_rules(self.tree, self.schema)

    def column(self, test: NodeTest) -> Column:
        """Give the column that a test looks at."""
        return self.schema.columns[test.place]

    def path(self, node: int) -> list[tuple[NodeTest, int]]:
        """List the tests on the way to a node, each with the branch taken."""
        way: list[tuple[NodeTest, int]] = []
        while (above := int(self.tree.parent[node])) >= 0:
            test = self.tests[above]
            way.append((test, test.children.index(node)))
            node = above
        return way[::-1]


def fitted_tree(model: Any, form: str) -> FittedTree:
    """Read a fitted model for an export to `form`, if it is a single tree.

    Examples
    --------
    >>> fitted_tree(3, "SQL")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidTypeError: model must be a fitted TreeClassifier for an export to SQL;
    got int.
    """
    if isinstance(model, BaggedTreesClassifier):
        raise InvalidTypeError(
            f"an export to {form} is of one tree, and model is a bag of {len(model.trees_)}. "
            "Use 'json' (--to json) or model.save(path) for the whole bag; in Python, "
            "model.estimators_[0] is one of its trees."
        )
    if not isinstance(model, TreeClassifier):
        raise InvalidTypeError(
            f"model must be a fitted TreeClassifier for an export to {form}; got "
            f"{type(model).__name__}."
        )
    check_is_fitted(model)
    tree, schema = model.tree_, model.schema_
    tests = {
        node: _test(tree, node, schema.columns[tree.feature[node]])
        for node in np.flatnonzero(~tree.is_leaf).tolist()
    }
    return FittedTree(model.model_, tests)


def _test(tree: Tree, node: int, column: Column) -> NodeTest:
    children = tuple(tree.branches(node).tolist())
    begin, end = tree.child_offset[node], tree.child_offset[node + 1]
    shares = tuple(tree.branch_share[begin:end].tolist())
    place = int(tree.feature[node])
    threshold = float(tree.threshold[node])
    if column.kind == "categorical":
        branch_of = tree.categories(node)
        codes = tuple(
            tuple(np.flatnonzero(branch_of == branch).tolist()) for branch in range(len(children))
        )
        return NodeTest(place, None, codes, children, shares)
    if column.kind == "ordered":
        every = range(len(column.categories))
        low = tuple(code for code in every if code <= threshold)
        return NodeTest(place, None, (low, tuple(every[len(low) :])), children, shares)
    return NodeTest(place, threshold, (), children, shares)
