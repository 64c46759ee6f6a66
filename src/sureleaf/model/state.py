"""Parts of a model as named arrays and plain values of a `State`, and back; all are checked."""

import datetime
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite, isinf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf import probability
from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.files.state_file import Damaged, State
from sureleaf.levels.decisions import CostRule, cost_rule
from sureleaf.model.node_levels import NodeLevels
from sureleaf.model.seen_rows import SeenRows
from sureleaf.probability import find_estimate
from sureleaf.table import Schema
from sureleaf.tree import CRITERIA, Tree
from sureleaf.tree.routing import LeafCounts

CHOICES: Final = {
    "criterion": tuple(CRITERIA),
    "unseen": ("mixture", "stop", "error"),
    "weights": ("counts", "importance"),
    "levels_from": ("training", "honest", "cross_fit"),
}
"""What these parts of a model, and parameters of `TreeClassifier`, may be."""

Arrays = dict[str, NDArray[Any]]

_TREE: Final = tuple(
    field.name for field in fields(Tree) if field.name not in ("n_columns", "missing_branch")
)
ALL_LEVELS: Final = ("n", "probability", "confidence", "utility", "successes", "trials")
SOME_LEVELS: Final = ("accuracy", "strength", "ties", "confidence_error")
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
    if tree.feature.min() < -1:
        raise Damaged("a node tests a column before the first")
    # The last one is of feature -1, a leaf.
    kind = np.array([*(column.kind for column in schema), "leaf"])[tree.feature]
    n_categories = np.array([*(len(column.categories) for column in schema), 0])[tree.feature]
    is_categorical = kind == "categorical"
    if np.any(np.diff(tree.category_offset) != np.where(is_categorical, n_categories, 0)):
        raise Damaged("a node tests other categories than its column has")
    if np.any(np.isnan(tree.threshold) != (is_categorical | tree.is_leaf)):
        raise Damaged("a threshold is not a number, or is where none is tested")
    tests_missing = (tree.threshold == np.inf) & (tree.missing_branch == 1)
    is_between = (tree.threshold >= 0) & (tree.threshold < n_categories)
    if np.any((kind == "ordered") & ~is_between & ~tests_missing):
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


def is_within(values: FloatArray, low: float, high: float) -> bool:
    """Whether all values are numbers between the bounds."""
    return bool(np.all((values >= low) & (values <= high)))  # NaN is not


def probabilities_from(state: State, tree: Tree, name: str = "probabilities") -> FloatArray:
    """Restore the class probabilities of the nodes of a tree."""
    probabilities = state.take(name, "<f8", (tree.n_nodes, tree.n_classes))
    sums = probabilities.sum(axis=1)
    if not is_within(probabilities, 0.0, 1.0 + _SUM_TOLERANCE) or not is_within(
        sums - 1.0, -_SUM_TOLERANCE, _SUM_TOLERANCE
    ):
        raise Damaged("the probabilities of a node do not sum to 1")
    return probabilities


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
    arrays: Arrays = {f"levels/{name}": getattr(levels, name) for name in (*ALL_LEVELS, "others")}
    arrays["levels/predicted"] = levels.predicted.astype(np.int32)
    arrays["levels/below"] = levels.below.astype(np.uint8)
    for name in SOME_LEVELS:
        if getattr(levels, name) is not None:
            arrays[f"levels/{name}"] = getattr(levels, name)
    return arrays


def levels_from(
    state: State, tree: Tree, *, source: str, from_counts: bool, rule: CostRule | None = None
) -> NodeLevels:
    """Restore the levels of the nodes of a tree."""
    known = [name for name in SOME_LEVELS if f"levels/{name}" in state.arrays]
    values_of = {
        name: state.take(f"levels/{name}", "<f8", (tree.n_nodes,)) for name in (*ALL_LEVELS, *known)
    }
    others = state.take("levels/others", "<f8", (tree.n_nodes, tree.n_classes))
    predicted = state.take("levels/predicted", "<i4", (tree.n_nodes,))
    below = state.take("levels/below", "|u1", (tree.n_nodes,))
    limits = {"probability": 1.0, "confidence": 1.0, "utility": 1.0}
    for name, values in (*values_of.items(), ("others", others)):
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
    gets_share = source == "training" and tree.n_classes == 2 and rule is None
    return NodeLevels(
        predicted=predicted.astype(np.intp),
        others=others,
        from_counts=from_counts,
        below=below.astype(bool),
        rule=rule,
        n_tree=float(values_of["n"][0]) if gets_share else None,
        **values_of,
    )


def fitted_header(model: Any, **more: str) -> dict[str, Any]:
    """Return the columns and classes of a model, and how it was fitted, as plain values."""
    fitted = {name: getattr(model, name) for name in ("criterion", "unseen", "weights")} | more
    fitted["leaf_estimate"] = estimate_to_plain(model.leaf_estimate)
    if model.cost is not None:
        fitted["cost"] = model.cost.tolist()
    return {
        "classes": classes_to_plain(model.classes),
        "schema": schema_to_plain(model.schema),
        "fitted": fitted,
    }


def fitted_parts(header: dict[str, Any], *more: str) -> dict[str, Any]:
    """Restore the parts of a model that `fitted_header` has written, and its fingerprints."""
    written = header.get("fitted")
    if not isinstance(written, dict):
        raise Damaged("it does not say how it was fitted")
    parts: dict[str, Any] = {
        name: written.get(name) for name in ("criterion", "unseen", "weights", *more)
    }
    for name, value in parts.items():
        if value not in CHOICES[name]:
            raise Damaged(f"its {name} is not one of {', '.join(CHOICES[name])}")
    estimate = estimate_from_plain(written.get("leaf_estimate"))
    try:
        parts["leaf_estimate"] = find_estimate(estimate)
    except InvalidArgumentError as error:
        raise Damaged(f"its leaf estimate cannot be used ({error})") from None
    parts["schema"] = schema_from_plain(header.get("schema"))
    parts["classes"] = classes_from_plain(header.get("classes"))
    cost = written.get("cost")
    try:
        parts["cost"] = None if cost is None else cost_rule(cost, parts["classes"]).cost
    except InvalidArgumentError as error:
        raise Damaged(f"its costs cannot be used ({error})") from None
    parts["seen"] = SeenRows.from_plain(header.get("seen"))
    return parts


# ---- parameters, labels, schemas and leaf estimates as plain values ------------------------------

_ESTIMATES: Final = {
    name: value
    for name, value in vars(probability).items()
    if isinstance(value, type) and is_dataclass(value) and value.__module__ == probability.__name__
}
_INFINITIES: Final = {"inf": float("inf"), "-inf": float("-inf")}
_TEXT: Final = "text"
_TEXT_OBJECTS: Final = "text objects"
_TIMES: Final = "times"
_LARGEST_LABELS: Final = 1 << 26
"""Bytes of NumPy text, in which every label takes as much memory as the longest."""
_INTEGERS: Final = "integers"
"""Whole numbers, of which some do not fit into 64 bits."""
_LABEL_DTYPE: Final = re.compile(r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>][mM]8\[\d*\w{1,2}\]")


def to_plain(name: str, value: Any) -> Any:
    """Turn a parameter into a value that JSON holds exactly.

    An infinite number becomes ``{"float": "inf"}``, a mapping ``{"mapping": [[key, value], ...]}``
    (its keys may be numbers), a Schema ``{"schema": {...}}``.

    Examples
    --------
    >>> to_plain("max_depth", np.int64(3)), to_plain("min_samples_leaf", float("inf"))
    (3, {'float': 'inf'})
    >>> to_plain("categorical_features", {0: ["s", "l"]})
    {'mapping': [[0, ['s', 'l']]]}
    """
    if isinstance(value, Schema):
        return {"schema": schema_to_plain(value)}
    if isinstance(value, Mapping):
        return {"mapping": [to_plain(name, pair) for pair in value.items()]}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_plain(name, entry) for entry in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if isfinite(value):
            return float(value)
        if isinf(value):
            return {"float": repr(float(value))}
    raise InvalidTypeError(
        f"{name} must be text, a number, a bool, None or a list of these to be saved; got "
        f"{value!r}. It is not needed after fit: call levels(), then set_params({name}=...) to a "
        "plain value, and save again; the fitted tree stays as it is."
    )


def from_plain(value: Any) -> Any:
    """Turn a value of `to_plain` back into the parameter."""
    if isinstance(value, list):
        return [from_plain(entry) for entry in value]
    if isinstance(value, dict):
        infinity = _INFINITIES.get(str(value.get("float")))
        if len(value) == 1 and infinity is not None:
            return infinity
        if len(value) == 1 and "schema" in value:
            return schema_from_plain(value["schema"])
        pairs = value.get("mapping") if len(value) == 1 else None
        if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
            raise Damaged("its header has an object where a value was expected")
        return {key: from_plain(entry) for key, entry in pairs}
    return value


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int)


def estimate_to_plain(estimate: Any) -> Any:
    """Turn a leaf estimate into its name, or into the class and parameters of a built-in one."""
    if isinstance(estimate, str):
        return estimate
    kind = type(estimate)
    if _ESTIMATES.get(kind.__name__) is not kind:
        raise InvalidTypeError(
            "leaf_estimate must be a name or an object of sureleaf.probability to be saved; got "
            f"{estimate!r}, whose code a file cannot hold. Save a copy with another estimate: "
            "model.with_leaf_estimate('auto').save(path)."
        )
    parameters = {field.name: getattr(estimate, field.name) for field in fields(estimate)}
    return {
        "estimate": kind.__name__,
        "parameters": {
            name: estimate_to_plain(value) if callable(value) else to_plain(name, value)
            for name, value in parameters.items()
        },
    }


def estimate_from_plain(written: Any) -> Any:
    """Turn a value of `estimate_to_plain` back into the estimate."""
    if isinstance(written, str):
        return written
    if not isinstance(written, dict):
        raise Damaged("its leaf estimate has neither name nor class")
    kind = _ESTIMATES.get(str(written.get("estimate")))
    parameters = written.get("parameters")
    if kind is None or not isinstance(parameters, dict):
        raise Damaged(f"there is no leaf estimate {str(written.get('estimate'))[:80]!r}")
    if any(type(value) is int and abs(value) >= 2**63 for value in parameters.values()):
        raise Damaged("a parameter of its leaf estimate is too large")
    try:
        return kind(
            **{
                name: estimate_from_plain(value)
                if isinstance(value, dict) and "estimate" in value
                else from_plain(value)
                for name, value in parameters.items()
            }
        )
    except (TypeError, InvalidArgumentError) as error:
        raise Damaged(f"its leaf estimate cannot be made ({error})") from None


def classes_to_plain(classes: NDArray[Any]) -> dict[str, Any]:
    """Turn class labels into plain values with their type."""
    kind = classes.dtype.kind
    labels = classes.tolist()
    if kind == "U":
        dtype = _TEXT if classes.nbytes <= _LARGEST_LABELS else _TEXT_OBJECTS
        return {"dtype": dtype, "values": labels}
    if kind == "O" and all(isinstance(label, str) for label in labels):
        return {"dtype": _TEXT_OBJECTS, "values": labels}
    if kind == "O" and all(type(label) is int for label in labels):
        return {"dtype": _INTEGERS, "values": labels}
    if kind == "O" and all(isinstance(label, datetime.time) for label in labels):
        return {"dtype": _TIMES, "values": [label.isoformat() for label in labels]}
    if kind in "mM":
        labels = classes.astype(np.int64).tolist()
    elif not _LABEL_DTYPE.fullmatch(classes.dtype.str):
        raise InvalidTypeError(
            "labels must be text, bools, whole numbers, dates or times to be saved; got "
            f"{classes.dtype}. Fit again with labels of such a type."
        )
    return {"dtype": classes.dtype.str, "values": labels}


def classes_from_plain(written: Any) -> NDArray[Any]:
    """Turn a value of `classes_to_plain` back into class labels."""
    dtype, values = (
        (written.get("dtype"), written.get("values")) if isinstance(written, dict) else (0, 0)
    )
    if not isinstance(dtype, str) or not isinstance(values, list) or not values:
        raise Damaged("it has no classes")
    try:
        classes = _labels(dtype, values)
    except (TypeError, ValueError, OverflowError) as error:
        raise Damaged(f"its classes are not of type {dtype[:40]!r} ({error})") from None
    if len(set(classes.tolist())) < len(classes):
        raise Damaged("it has the same class twice")
    return classes


def _labels(dtype: str, values: list[Any]) -> NDArray[Any]:
    kinds: set[type] = set(map(type, values))
    if dtype in (_TEXT, _TEXT_OBJECTS, _TIMES):
        if kinds != {str}:
            raise TypeError("one is not text")
        if dtype == _TIMES:
            values = [datetime.time.fromisoformat(value) for value in values]
        if dtype == _TEXT and 4 * len(values) * max(map(len, values)) > _LARGEST_LABELS:
            raise ValueError("as text of one length they would need too much memory")
        return np.array(values, dtype=np.str_ if dtype == _TEXT else object)
    if dtype == _INTEGERS:
        if kinds != {int}:
            raise TypeError("one is not a whole number")
        return np.array(values, dtype=object)
    if not _LABEL_DTYPE.fullmatch(dtype):
        raise TypeError("labels never have this type")
    wanted = {"b": bool, "f": float}.get(dtype[1], int)
    if kinds != {wanted}:
        raise TypeError(f"one is not of type {wanted.__name__}")
    labels: NDArray[Any] = np.array(values, dtype="<i8" if dtype[1] in "mM" else dtype)
    return labels.astype(dtype)


def schema_to_plain(schema: Schema) -> dict[str, Any]:
    """Turn a schema into plain values; infinite categories as in `to_plain`."""
    written = schema.to_json()
    for column in written["columns"]:
        column["name"] = str(column["name"])
        if "categories" in column:
            column["categories"] = to_plain("categories", column["categories"])
    return written


def schema_from_plain(written: Any) -> Schema:
    """Turn a value of `schema_to_plain` back into a schema."""
    columns = written.get("columns") if isinstance(written, dict) else None
    if not isinstance(columns, list) or not all(isinstance(c, dict) for c in columns):
        raise Damaged("it has no columns")
    if not all(isinstance(column.get("name"), str) for column in columns):
        raise Damaged("a column has no name")
    try:
        return Schema.from_json(
            {
                "named": written.get("named"),
                "columns": [
                    {**column, "categories": from_plain(column.get("categories", []))}
                    for column in columns
                ],
            }
        )
    except (InvalidArgumentError, TypeError) as error:
        raise Damaged(f"its columns cannot be read ({error})") from None
