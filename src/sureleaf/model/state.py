"""Parts of a model as named arrays of a `State`, and back; every array is checked."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.files.state_file import Damaged, State
from sureleaf.levels.decisions import CostRule, cost_rule
from sureleaf.model.leaf_counts import LeafCounts
from sureleaf.model.node_levels import NodeLevels
from sureleaf.model.plain_values import estimate_from_plain
from sureleaf.probability import find_estimate
from sureleaf.table import Schema
from sureleaf.tree import Tree

__all__ = [
    "CHOICES",
    "cost_from",
    "counts_arrays",
    "counts_from",
    "fitted_facts",
    "is_within",
    "levels_arrays",
    "levels_from",
    "probabilities_from",
    "tree_arrays",
    "tree_from",
]


CHOICES: Final = {
    "criterion": ("gain_ratio", "entropy", "gini"),
    "unseen": ("mixture", "stop", "error"),
    "weights": ("counts", "importance"),
    "levels_from": ("training", "honest", "cross_fit"),
}
"""What these parts of a model, and parameters of `TreeClassifier`, may be."""

Arrays = dict[str, NDArray[Any]]

_TREE: Final = tuple(
    field.name for field in fields(Tree) if field.name not in ("n_columns", "missing_branch")
)
_LEVELS: Final = ("n", "probability", "confidence", "utility", "successes", "trials")
_KNOWN_LEVELS: Final = ("accuracy", "strength", "ties", "confidence_error")
"""Arrays of levels that not all models have."""
_SUM_TOLERANCE: Final = 1e-6
_LARGEST: Final = 1e140
"""Counts are smaller; sums and squares of numbers up to this one are finite."""


def tree_arrays(tree: Tree, prefix: str = "tree") -> Arrays:
    """Name the arrays of a tree."""
    arrays: Arrays = {f"{prefix}/{name}": getattr(tree, name) for name in _TREE}
    if np.any(tree.missing_branch >= 0):  # without the array, missing values go down all branches
        arrays[f"{prefix}/missing_branch"] = tree.missing_branch
    return arrays


def tree_from(state: State, schema: Schema, n_classes: int, prefix: str = "tree") -> Tree:
    """Restore a tree; its arrays must be a valid tree that fits the columns."""
    feature = state.take(f"{prefix}/feature", "<i4", (None,))
    n_nodes = len(feature)
    children = state.take(f"{prefix}/children", "<i4", (None,))
    missing_branch = f"{prefix}/missing_branch"
    tree = Tree(
        feature=feature,
        threshold=state.take(f"{prefix}/threshold", "<f8", (n_nodes,)),
        child_offset=state.take(f"{prefix}/child_offset", "<i8", (n_nodes + 1,)),
        children=children,
        branch_share=state.take(f"{prefix}/branch_share", "<f8", (len(children),)),
        category_offset=state.take(f"{prefix}/category_offset", "<i8", (n_nodes + 1,)),
        category_branch=state.take(f"{prefix}/category_branch", "<i4", (None,)),
        class_counts=state.take(f"{prefix}/class_counts", "<f8", (n_nodes, n_classes)),
        n_columns=len(schema),
        missing_branch=(
            state.take(missing_branch, "<i4", (n_nodes,))
            if missing_branch in state.arrays
            else np.full(n_nodes, -1, dtype=np.int32)
        ),
    )
    try:
        _ = tree.kernel  # checks every node
    except ValueError as error:
        raise Damaged(f"its arrays are not a tree ({error})") from None
    _check_tests(tree, schema)
    _check_weights(tree)
    return tree


def _check_tests(tree: Tree, schema: Schema) -> None:
    """Check that nodes test thresholds of ordered columns and all categories of the others."""
    n_expected = np.array(
        [len(column.categories) if column.kind == "categorical" else 0 for column in schema] + [0]
    )  # the last one is of feature -1, a leaf
    is_threshold = np.array([column.kind != "categorical" for column in schema] + [False])
    if tree.feature.min() < -1:
        raise Damaged("a node tests a column before the first")
    if np.any(np.diff(tree.category_offset) != n_expected[tree.feature]):
        raise Damaged("a node tests other categories than its column has")
    if np.any(np.isnan(tree.threshold) == is_threshold[tree.feature]):
        raise Damaged("a threshold is not a number, or is where none is tested")
    n_ordered = np.array(
        [len(column.categories) if column.kind == "ordered" else np.nan for column in schema]
        + [np.nan]
    )[tree.feature]
    tests_missing = (tree.threshold == np.inf) & (tree.missing_branch == 1)
    is_between = (tree.threshold >= 0) & (tree.threshold < n_ordered)
    if np.any(~np.isnan(n_ordered) & ~is_between & ~tests_missing):
        raise Damaged("a threshold is not one of the ordered categories")


def _check_weights(tree: Tree) -> None:
    if not is_within(tree.branch_share, 0.0, 1.0):
        raise Damaged("a branch's share is not between 0 and 1")
    inner = np.flatnonzero(~tree.is_leaf)
    if len(inner):
        sums = np.add.reduceat(tree.branch_share, tree.child_offset[inner])
        if not is_within(sums - 1.0, -_SUM_TOLERANCE, _SUM_TOLERANCE):
            raise Damaged("a node's shares do not sum to 1")
    if not is_within(tree.class_counts, 0.0, _LARGEST):
        raise Damaged("a count is not a number of rows")


def is_within(values: NDArray[np.float64], low: float, high: float) -> bool:
    """Whether all values are numbers between the bounds."""
    return bool(np.all((values >= low) & (values <= high)))  # NaN is not


def probabilities_from(
    state: State, tree: Tree, name: str = "probabilities"
) -> NDArray[np.float64]:
    """Restore the class probabilities of the nodes of a tree."""
    probabilities = state.take(name, "<f8", (tree.n_nodes, tree.n_classes))
    sums = probabilities.sum(axis=1)
    if not is_within(probabilities, 0.0, 1.0 + _SUM_TOLERANCE) or not is_within(
        sums - 1.0, -_SUM_TOLERANCE, _SUM_TOLERANCE
    ):
        raise Damaged("the probabilities of a node do not sum to 1")
    return probabilities


def counts_arrays(counts: LeafCounts) -> Arrays:
    """Name the arrays of leaf counts."""
    return {"leaf_counts/counts": counts.counts, "leaf_counts/squares": counts.squares}


def counts_from(state: State, tree: Tree) -> LeafCounts:
    """Restore the leaf counts of a tree."""
    counts = state.take("leaf_counts/counts", "<f8", (tree.n_leaves, tree.n_classes))
    squares = state.take("leaf_counts/squares", "<f8", (tree.n_leaves,))
    for array, largest in ((counts, _LARGEST), (squares, _LARGEST**2)):
        if not is_within(array, 0.0, largest):
            raise Damaged("a leaf's count is not a number of rows")
    return LeafCounts(tree.leaf_ids, counts, squares)


def levels_arrays(levels: NodeLevels) -> Arrays:
    """Name the arrays of levels."""
    arrays: Arrays = {f"levels/{name}": getattr(levels, name) for name in (*_LEVELS, "others")}
    arrays["levels/predicted"] = levels.predicted.astype(np.int32)
    arrays["levels/below"] = levels.below.astype(np.uint8)
    for name in _KNOWN_LEVELS:
        if getattr(levels, name) is not None:
            arrays[f"levels/{name}"] = getattr(levels, name)
    return arrays


def levels_from(
    state: State, tree: Tree, *, from_counts: bool, rule: CostRule | None = None
) -> NodeLevels:
    """Restore the levels of the nodes of a tree."""
    values_of = {name: state.take(f"levels/{name}", "<f8", (tree.n_nodes,)) for name in _LEVELS}
    others = state.take("levels/others", "<f8", (tree.n_nodes, tree.n_classes))
    predicted = state.take("levels/predicted", "<i4", (tree.n_nodes,))
    below = state.take("levels/below", "|u1", (tree.n_nodes,))
    known = {
        name: state.take(f"levels/{name}", "<f8", (tree.n_nodes,))
        for name in _KNOWN_LEVELS
        if f"levels/{name}" in state.arrays
    }
    limits = {"probability": 1.0, "confidence": 1.0, "utility": 1.0}
    for name, values in (*values_of.items(), ("others", others), *known.items()):
        high = limits.get(name, _LARGEST) + _SUM_TOLERANCE
        if not is_within(values, 0.0, high):
            raise Damaged(f"a node's {name} is out of range")
    if predicted.min() < 0 or predicted.max() >= tree.n_classes or below.max() > 1:
        raise Damaged("a node predicts a class that does not exist")
    rest = others.copy()
    rest[np.arange(len(rest)), predicted] = 0.0
    sums = rest.sum(axis=1)
    if tree.n_classes > 1 and not is_within(sums - 1.0, -_SUM_TOLERANCE, _SUM_TOLERANCE):
        raise Damaged("the shares of a node's other classes do not sum to 1")
    if np.any(values_of["successes"] > values_of["trials"]):
        raise Damaged("a node has more successes than trials")
    return NodeLevels(
        predicted.astype(np.intp),
        values_of["n"],
        values_of["probability"],
        values_of["confidence"],
        values_of["utility"],
        others,
        values_of["successes"],
        values_of["trials"],
        from_counts,
        below.astype(bool),
        rule,
        accuracy=known.get("accuracy"),
        strength=known.get("strength"),
        ties=known.get("ties"),
        confidence_error=known.get("confidence_error"),
    )


def cost_from(written: Any, classes: NDArray[Any]) -> NDArray[np.float64] | None:
    """Restore a cost matrix; files without costs have none."""
    if written is None:
        return None
    try:
        return cost_rule(written, classes).cost
    except InvalidArgumentError as error:
        raise Damaged(f"its costs cannot be used ({error})") from None


def fitted_facts(header: dict[str, Any], names: Sequence[str] = tuple(CHOICES)) -> dict[str, Any]:
    """Return how a model was fitted: the choices of these names, its costs and leaf estimate."""
    written = header.get("fitted")
    if not isinstance(written, dict):
        raise Damaged("it does not say how it was fitted")
    facts = {name: written.get(name) for name in (*names, "cost")}
    for name in names:
        if facts[name] not in CHOICES[name]:
            raise Damaged(f"its {name} is not one of {', '.join(CHOICES[name])}")
    estimate = estimate_from_plain(written.get("leaf_estimate"))
    try:
        facts["leaf_estimate"] = find_estimate(estimate)
    except InvalidArgumentError as error:
        raise Damaged(f"its leaf estimate cannot be used ({error})") from None
    return facts
