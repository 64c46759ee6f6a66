"""A fitted model as plain values and arrays, and back."""

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import sureleaf
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators.bagged_trees import BaggedTreesClassifier
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.model.bagged_model import HitRates, OutOfBagLevels
from sureleaf.model.leaf_counts import LeafCounts
from sureleaf.model.model_file import Damaged, ModelState
from sureleaf.model.node_levels import NodeLevels
from sureleaf.model.plain_values import (
    classes_from_plain,
    classes_to_plain,
    estimate_from_plain,
    estimate_to_plain,
    from_plain,
    schema_from_plain,
    schema_to_plain,
    to_plain,
)
from sureleaf.table import Schema
from sureleaf.tree import Tree

if TYPE_CHECKING:
    from sureleaf.model.calibration import Calibration

__all__ = [
    "UnknownPart",
    "counts_arrays",
    "counts_from",
    "levels_arrays",
    "levels_from",
    "model_of",
    "probabilities_from",
    "state_of",
    "tree_arrays",
    "tree_from",
]


# Trees, probabilities and levels as arrays of a model's file, and back; all is checked.

Arrays = dict[str, NDArray[Any]]

_TREE: Final = tuple(field.name for field in fields(Tree) if field.name != "n_columns")
_LEVELS: Final = ("n", "probability", "confidence", "utility", "successes", "trials")
_SUM_TOLERANCE: Final = 1e-6


def tree_arrays(tree: Tree, place: str = "tree") -> Arrays:
    """Name the arrays of a tree.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> tree_arrays(model.tree_)["tree/feature"].tolist()
    [0, -1, -1]
    """
    return {f"{place}/{name}": getattr(tree, name) for name in _TREE}


def tree_from(state: ModelState, schema: Schema, n_classes: int, place: str = "tree") -> Tree:
    """Put a tree together again, if its arrays make one that fits the columns.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> tree_from(ModelState({}, tree_arrays(model.tree_)), model.schema_, 2)
    Tree of 3 nodes, 2 leaves, depth 1
    """
    feature = state.take(f"{place}/feature", "<i4", (None,))
    n_nodes = len(feature)
    children = state.take(f"{place}/children", "<i4", (None,))
    tree = Tree(
        feature=feature,
        threshold=state.take(f"{place}/threshold", "<f8", (n_nodes,)),
        child_offset=state.take(f"{place}/child_offset", "<i8", (n_nodes + 1,)),
        children=children,
        branch_share=state.take(f"{place}/branch_share", "<f8", (len(children),)),
        category_offset=state.take(f"{place}/category_offset", "<i8", (n_nodes + 1,)),
        category_branch=state.take(f"{place}/category_branch", "<i4", (None,)),
        class_counts=state.take(f"{place}/class_counts", "<f8", (n_nodes, n_classes)),
        n_columns=len(schema),
    )
    try:
        _ = tree.kernel  # which looks at every node, and keeps the tree
    except ValueError as error:
        raise Damaged(f"its arrays make no tree ({error})") from None
    _check_tests(tree, schema)
    _check_weights(tree)
    return tree


def _check_tests(tree: Tree, schema: Schema) -> None:
    """Nodes test thresholds of columns with an order, and all categories of the others."""
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


def _check_weights(tree: Tree) -> None:
    if not _within(tree.branch_share, 0.0, 1.0):
        raise Damaged("a branch's share is not between 0 and 1")
    inner = np.flatnonzero(~tree.is_leaf)
    if len(inner):
        sums = np.add.reduceat(tree.branch_share, tree.child_offset[inner])
        if not _within(sums - 1.0, -_SUM_TOLERANCE, _SUM_TOLERANCE):
            raise Damaged("a node's shares do not sum to 1")
    if not _within(tree.class_counts, 0.0, np.finfo(float).max):
        raise Damaged("a count is not a number of rows")


def _within(values: NDArray[np.float64], low: float, high: float) -> bool:
    return bool(np.all((values >= low) & (values <= high)))  # NaN is not


def probabilities_from(
    state: ModelState, tree: Tree, name: str = "probabilities"
) -> NDArray[np.float64]:
    """Take the probabilities that the nodes of a tree state.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> state = ModelState({}, {"probabilities": np.full((3, 2), 0.5)})
    >>> probabilities_from(state, model.tree_).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    found = state.take(name, "<f8", (tree.n_nodes, tree.n_classes))
    sums = found.sum(axis=1)
    if not _within(found, 0.0, 1.0 + _SUM_TOLERANCE) or not _within(
        sums - 1.0, -_SUM_TOLERANCE, _SUM_TOLERANCE
    ):
        raise Damaged("the probabilities of a node do not sum to 1")
    return found


def counts_arrays(counts: LeafCounts) -> Arrays:
    """Name the arrays of leaf counts.

    Examples
    --------
    >>> one = LeafCounts(np.array([0]), np.array([[2.0, 1.0]]), np.array([3.0]))
    >>> counts_arrays(one)["leaf_counts/squares"].tolist()
    [3.0]
    """
    return {"leaf_counts/counts": counts.counts, "leaf_counts/squares": counts.squares}


def counts_from(state: ModelState, tree: Tree) -> LeafCounts:
    """Take the counts of a tree's leaves.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> counts_from(ModelState({}, counts_arrays(model.leaf_counts_)), model.tree_)
    LeafCounts of 2 leaves, 4 rows
    """
    counts = state.take("leaf_counts/counts", "<f8", (tree.n_leaves, tree.n_classes))
    squares = state.take("leaf_counts/squares", "<f8", (tree.n_leaves,))
    for array in (counts, squares):
        if not _within(array, 0.0, np.finfo(float).max):
            raise Damaged("a leaf's count is not a number of rows")
    return LeafCounts(tree.leaf_ids, counts, squares)


def levels_arrays(stated: NodeLevels) -> Arrays:
    """Name the arrays of levels.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> levels_arrays(model._levels())["levels/predicted"].tolist()
    [0, 0, 1]
    """
    arrays: Arrays = {f"levels/{name}": getattr(stated, name) for name in (*_LEVELS, "others")}
    arrays["levels/predicted"] = stated.predicted.astype(np.int32)
    arrays["levels/below"] = stated.below.astype(np.uint8)
    return arrays


def levels_from(state: ModelState, tree: Tree, *, from_counts: bool) -> NodeLevels:
    """Take the levels that the nodes of a tree state.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> state = ModelState({}, levels_arrays(model._levels()))
    >>> levels_from(state, model.tree_, from_counts=False).n.tolist()
    [40.0, 20.0, 20.0]
    """
    found = {name: state.take(f"levels/{name}", "<f8", (tree.n_nodes,)) for name in _LEVELS}
    others = state.take("levels/others", "<f8", (tree.n_nodes, tree.n_classes))
    predicted = state.take("levels/predicted", "<i4", (tree.n_nodes,))
    below = state.take("levels/below", "|u1", (tree.n_nodes,))
    limits = {"probability": 1.0, "confidence": 1.0, "utility": 1.0}
    for name, values in (*found.items(), ("others", others)):
        high = limits.get(name, np.finfo(float).max) + _SUM_TOLERANCE
        if not _within(values, 0.0, high):
            raise Damaged(f"a node's {name} is out of range")
    if predicted.min() < 0 or predicted.max() >= tree.n_classes or below.max() > 1:
        raise Damaged("a node predicts a class that is none")
    if np.any(found["successes"] > found["trials"]):
        raise Damaged("a node has more successes than trials")
    return NodeLevels(
        predicted.astype(np.intp),
        found["n"],
        found["probability"],
        found["confidence"],
        found["utility"],
        others,
        found["successes"],
        found["trials"],
        from_counts,
        below.astype(bool),
    )


Model = TreeClassifier | BaggedTreesClassifier

_MODELS: Final = {kind.__name__: kind for kind in (TreeClassifier, BaggedTreesClassifier)}


class UnknownPart(Exception):  # noqa: N818 - said to the user as an InvalidArgumentError
    """What was read has a part that only a newer version can know.

    Examples
    --------
    >>> str(UnknownPart("the parameter 'max_leaves'"))
    "the parameter 'max_leaves'"
    """


def state_of(model: Any) -> ModelState:
    """Gather all that a fitted model is; its levels are computed if they were not yet.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted.

    Returns
    -------
    ModelState
        Without the training rows. Levels are left out where they were never asked for and the
        model no longer holds the rows that they need.

    Raises
    ------
    InvalidTypeError
        If it is another model, or has a parameter that is not plain.

    Examples
    --------
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> state_of(model).header["classes"]
    {'dtype': 'text', 'values': ['no', 'yes']}
    """
    if type(model) not in _MODELS.values():
        raise InvalidTypeError(
            f"model must be a TreeClassifier or a BaggedTreesClassifier; got "
            f"{type(model).__name__}. Others are saved by joblib or skops."
        )
    check_is_fitted(model)
    header = {
        "model": type(model).__name__,
        "made_by": f"sureleaf {sureleaf.__version__}",
        "classes": classes_to_plain(model.classes_),
        "schema": schema_to_plain(model.schema_),
    }
    own = _tree_state(model) if isinstance(model, TreeClassifier) else _bag_state(model)
    return ModelState({**header, **own.header}, own.arrays)


def model_of(state: ModelState) -> Model:
    """Put a model together again; raises Damaged or UnknownPart where that cannot be.

    Examples
    --------
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> model_of(state_of(model)).predict([[0], [9]]).tolist()
    ['no', 'yes']
    """
    name = state.header.get("model")
    if not isinstance(name, str):
        raise Damaged("it does not say what model it is")
    if name not in _MODELS:
        raise UnknownPart(f"the model {name[:80]!r}")
    return _tree_model(state) if name == "TreeClassifier" else _bag_model(state)


# ---- parameters -----------------------------------------------------------------------------


def _tree_parameters(model: TreeClassifier) -> dict[str, Any]:
    model._recipe()  # which checks them: what is saved can be loaded
    return {
        name: estimate_to_plain(value) if name == "leaf_estimate" else to_plain(name, value)
        for name, value in model.get_params(deep=False).items()
    }


def _make_tree(written: Any) -> TreeClassifier:
    parameters = _known(TreeClassifier, written)
    estimate = estimate_from_plain(parameters.pop("leaf_estimate", "auto"))
    plain = {name: from_plain(value) for name, value in parameters.items()}
    model = TreeClassifier(**plain, leaf_estimate=estimate)
    try:
        model._recipe()
    except (InvalidArgumentError, InvalidTypeError) as error:
        raise Damaged(f"a parameter cannot be used ({error})") from None
    return model


def _known(kind: type[BaseEstimator], written: Any) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise Damaged("it has no parameters")
    unknown = set(written) - set(kind._get_param_names())
    if unknown:
        raise UnknownPart(f"the parameter {min(unknown)[:80]!r}")
    return dict(written)


# ---- one tree -------------------------------------------------------------------------------


def _tree_state(model: TreeClassifier) -> ModelState:
    arrays = {
        **tree_arrays(model.tree_),
        "probabilities": model._probabilities,
        **counts_arrays(model.leaf_counts_),
    }
    header: dict[str, Any] = {"parameters": _tree_parameters(model), "levels": None}
    if model._can_state():
        stated = model._levels()
        arrays |= levels_arrays(stated)
        header["levels"] = {"from_counts": bool(stated.from_counts)}
    return ModelState(header, arrays)


def _tree_model(state: ModelState) -> TreeClassifier:
    model = _make_tree(state.header.get("parameters"))
    model.schema_ = schema_from_plain(state.header.get("schema"))
    model.classes_ = classes_from_plain(state.header.get("classes"))
    model.tree_ = tree_from(state, model.schema_, len(model.classes_))
    model.leaf_counts_ = counts_from(state, model.tree_)
    model._probabilities = probabilities_from(state, model.tree_)
    model._rows = model._groups = model._held_out = model._stated = None
    levels = state.header.get("levels")
    if isinstance(levels, dict):
        stated = levels_from(state, model.tree_, from_counts=levels.get("from_counts") is True)
        model._stated = model._probabilities, stated
    model._note_features()
    return model


# ---- bagged trees ---------------------------------------------------------------------------


def _bag_state(model: BaggedTreesClassifier) -> ModelState:
    parameters = {
        name: to_plain(name, value)
        for name, value in model.get_params(deep=False).items()
        if name != "estimator"
    }
    given = model.estimator
    if given is not None and not isinstance(given, TreeClassifier):
        raise InvalidTypeError(
            f"estimator must be a TreeClassifier or None to be saved; got {given!r}."
        )
    header: dict[str, Any] = {
        "parameters": {
            **parameters,
            "estimator": None if given is None else _tree_parameters(given),
        },
        "tree_parameters": _tree_parameters(model._template),
        "seed": int(model._seed),
        "n_trees": len(model.trees_),
        "out_of_bag": None,
        "calibration": None,
    }
    arrays: dict[str, NDArray[Any]] = {}
    for number, (tree, probabilities) in enumerate(
        zip(model.trees_, model._probabilities, strict=True)
    ):
        arrays |= tree_arrays(tree, f"trees/{number}")
        arrays[f"trees/{number}/probabilities"] = probabilities
    if model._can_judge():
        header["out_of_bag"] = to_plain_levels(model.oob_levels_)
        rates = model._hit_rates()
        arrays |= {f"hit_rates/{name}": getattr(rates, name) for name in ("lowest", "hits", "n")}
    if model._calibrator is not None:
        header["calibration"] = model._calibrator.method
        arrays |= {f"calibration/{i}": line for i, line in enumerate(model._calibrator.maps)}
    return ModelState(header, arrays)


def to_plain_levels(levels: OutOfBagLevels) -> dict[str, Any]:
    """Write out-of-bag levels; what is not known (no row was out of a bag) as None.

    Examples
    --------
    >>> to_plain_levels(OutOfBagLevels(0.9, np.nan, 0.7, 0.87, 100.0, 0))["utility"] is None
    True
    """
    return {name: None if value != value else value for name, value in asdict(levels).items()}


def _bag_model(state: ModelState) -> BaggedTreesClassifier:
    header = state.header
    parameters = _known(BaggedTreesClassifier, header.get("parameters"))
    given = parameters.pop("estimator", None)
    model = BaggedTreesClassifier(
        estimator=None if given is None else _make_tree(given),
        **{name: from_plain(value) for name, value in parameters.items()},
    )
    try:
        model._check_parameters()
    except (InvalidArgumentError, InvalidTypeError) as error:
        raise Damaged(f"a parameter cannot be used ({error})") from None
    model._template = _make_tree(header.get("tree_parameters"))
    model._seed = _whole(header.get("seed"))
    model.schema_ = schema_from_plain(header.get("schema"))
    model.classes_ = classes_from_plain(header.get("classes"))
    n_classes = len(model.classes_)
    n_trees = header.get("n_trees")
    if type(n_trees) is not int or f"trees/{n_trees - 1}/feature" not in state.arrays:
        raise Damaged("it has not as many trees as it says")
    places = [f"trees/{number}" for number in range(n_trees)]
    model.trees_ = [tree_from(state, model.schema_, n_classes, place) for place in places]
    model._probabilities = [
        probabilities_from(state, tree, f"{place}/probabilities")
        for tree, place in zip(model.trees_, places, strict=True)
    ]
    model._rows = model._out_of_bag = model._judged = model._calibrator = None
    if header.get("out_of_bag") is not None:
        model._judged = _hit_rates(state), _out_of_bag(header["out_of_bag"])
    if header.get("calibration") is not None:
        model._calibrator = _calibration(state, n_classes)
    model._note_features()
    return model


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**128:
        raise Damaged("its seed is no whole number")
    return value


def _hit_rates(state: ModelState) -> HitRates:
    lowest = state.take("hit_rates/lowest", "<f8", (None,))
    hits, n = (state.take(f"hit_rates/{name}", "<f8", (len(lowest) + 1,)) for name in ("hits", "n"))
    in_order = bool(np.all(np.diff(lowest) > 0)) and not np.isnan(lowest).any()
    if not in_order or not bool(np.all((hits >= 0) & (hits <= n) & (n < np.inf))):
        raise Damaged("its out-of-bag hits are out of range")
    return HitRates(lowest, hits, n)


def _calibration(state: ModelState, n_classes: int) -> "Calibration":
    from sureleaf.model.calibration import Calibration  # loads linear models

    method = state.header["calibration"]
    if method not in ("sigmoid", "isotonic"):
        raise Damaged("its calibration has no method")
    n_maps = {1: 0, 2: 1}.get(n_classes, n_classes)
    shape = (2,) if method == "sigmoid" else (2, None)
    maps = tuple(state.take(f"calibration/{i}", "<f8", shape) for i in range(n_maps))
    for line in maps:
        if not line.size or not np.isfinite(line).all():
            raise Damaged("its calibration is not of numbers")
        if method == "isotonic" and (
            np.any(np.diff(line) < 0) or line[1, 0] < 0.0 or line[1, -1] > 1.0
        ):
            raise Damaged("its calibration is not in order")
    return Calibration(method, maps)


def _out_of_bag(written: Any) -> OutOfBagLevels:
    names = ("agreement", "utility", "low", "high", "n_rows", "n_in_every_bag")
    if not isinstance(written, dict) or set(written) != set(names):
        raise Damaged("its out-of-bag levels are incomplete")
    values = [np.nan if written[name] is None else written[name] for name in names]
    if not all(type(value) in (int, float) for value in values) or values[-1] != values[-1]:
        raise Damaged("its out-of-bag levels are no numbers")
    agreement, utility, low, high, n_rows, n_left = map(float, values)
    return OutOfBagLevels(agreement, utility, low, high, n_rows, int(n_left))
