"""One view of a fitted tree for all formats that write its tests."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.formatting import visible
from sureleaf.model import TreeModel
from sureleaf.table import Column
from sureleaf.tree import Tree
from sureleaf.tree.rules import check_text_size, leaf_rules


@dataclass(frozen=True)
class NodeTest:
    """The test of an inner node."""

    column_index: int
    # Values up to the threshold take the first branch, larger ones the second; None for categories.
    # Infinity tests whether the value is missing.
    threshold: float | None
    codes: tuple[tuple[int, ...], ...]  # per branch, its categories; empty for thresholds
    children: tuple[int, ...]  # the node of each branch
    shares: tuple[float, ...]  # of a row that takes all branches, the share of each
    missing_branch: int | None  # of a missing value; None if it takes all branches


@dataclass(frozen=True, eq=False)
class TreeView:
    """A fitted tree and its tests."""

    model: TreeModel
    tests: dict[int, NodeTest]  # by inner node; ordered columns are tested by categories

    @property
    def tested_columns(self) -> list[int]:
        """Indices of the columns that are tested, ascending."""
        return sorted({test.column_index for test in self.tests.values()})

    @property
    def needed_columns(self) -> list[int]:
        """Indices of the columns that decide about a row, ascending.

        With ``unseen="error"``, the model looks for unseen categories in all columns.
        """
        if self.model.unseen != "error":
            return self.tested_columns
        coded = (i for i, column in enumerate(self.model.schema) if column.is_coded)
        return sorted({*self.tested_columns, *coded})

    @cached_property
    def rules(self) -> dict[int, str]:
        """The tests on the path to each leaf, in words."""
        return leaf_rules(self.model.tree, self.model.schema)

    def column(self, test: NodeTest) -> Column:
        """Return the column of a test."""
        return self.model.schema.columns[test.column_index]


def single_tree(estimator: Any, form: str) -> TreeClassifier:
    """Check that an estimator is one fitted tree, which an export to `form` needs."""
    if isinstance(estimator, BaggedTreesClassifier):
        raise InvalidTypeError(
            f"model must be one tree for an export to {form}; got a bag of "
            f"{len(estimator.model_.members)} trees. Use 'json' (--to json) or model.save(path) "
            "for the whole bag; in Python, model.estimators_[0] is one of its trees."
        )
    if not isinstance(estimator, TreeClassifier):
        raise InvalidTypeError(
            f"model must be a fitted TreeClassifier for an export to {form}; got "
            f"{type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    return estimator


def view_tree(estimator: Any, form: str, *, is_flat: bool = False) -> TreeView:
    """Return the view of a fitted `TreeClassifier`; `form` is the format for error messages.

    The formats of other libraries are flat: they list nodes one after the other, so that their size
    does not depend on the depth, and they cannot refuse a row.
    """
    model = single_tree(estimator, form).model_
    if not is_flat:
        check_text_size(model.tree)
    columns, feature = model.schema.columns, model.tree.feature
    if is_flat and model.unseen == "error":
        refused = next((column.name for column in columns if column.is_coded), None)
        if refused is not None:
            raise InvalidArgumentError(
                f"model must have no columns of categories, or another unseen than 'error', for an "
                f"export to {form}, which cannot refuse a row; got the column {refused!r}. Fit "
                "again without it, or export to 'python' or 'sql'."
            )
    inner_nodes = np.flatnonzero(~model.tree.is_leaf).tolist()
    tests = {node: _node_test(model.tree, node, columns[feature[node]]) for node in inner_nodes}
    return TreeView(model, tests)


def _node_test(tree: Tree, node: int, column: Column) -> NodeTest:
    children = tuple(tree.branches(node).tolist())
    begin, end = tree.child_offset[node], tree.child_offset[node + 1]
    threshold: float | None = float(tree.threshold[node])
    codes: tuple[tuple[int, ...], ...] = ()
    if column.is_coded:
        branch_of_code = tree.categories(node)
        if column.kind == "ordered":
            branch_of_code = np.arange(len(column.categories)) > tree.threshold[node]
        codes = tuple(
            tuple(np.flatnonzero(branch_of_code == branch).tolist())
            for branch in range(len(children))
        )
        threshold = None
    missing = int(tree.missing_branch[node])
    return NodeTest(
        int(tree.feature[node]),
        threshold,
        codes,
        children,
        tuple(tree.branch_share[begin:end].tolist()),
        missing if missing >= 0 else None,
    )


# ---- class labels and text in other languages ----------------------------------------------------


def plain_labels(classes: NDArray[Any]) -> list[Any]:
    """Return labels as Python's text, numbers, bools, dates and times.

    Times that differ by less than a microsecond become text, because Python has no such times.
    """
    # Python has no nanoseconds: tolist() would return integers.
    if classes.dtype.kind in "mM" and np.datetime_data(classes.dtype)[0] in ("ns", "ps", "fs"):
        rounded = classes.astype(f"{classes.dtype.kind}8[us]")
        if (rounded != classes).any():
            return [str(label) for label in classes]
        classes = rounded
    return list(classes.tolist())


def label_texts(classes: NDArray[Any]) -> list[str]:
    """Return labels as text, dates and times in ISO 8601.

    Examples
    --------
    >>> label_texts(np.array([True, False])), label_texts(np.array([1.0, 2.0]))
    (['True', 'False'], ['1', '2'])
    """
    return [_label_text(label) for label in plain_labels(classes)]


def _label_text(label: Any) -> str:
    if hasattr(label, "isoformat"):
        return str(label.isoformat())
    if isinstance(label, float) and label == round(label) and abs(label) < 2**53:
        return f"{label:.0f}"
    return str(label)


def printable(text: str) -> str:
    """Make line breaks and control characters visible; other spaces and signs become spaces."""
    return "".join(letter if letter.isprintable() else " " for letter in visible(text))
