"""A fitted model as plain values and arrays, and back."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import sureleaf
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators.bagged_trees import BaggedTreesClassifier
from sureleaf.estimators.model_file import Damaged, ModelState
from sureleaf.estimators.out_of_bag import HitRates, OutOfBagLevels
from sureleaf.estimators.plain_values import (
    classes_from_plain,
    classes_to_plain,
    estimate_from_plain,
    estimate_to_plain,
    from_plain,
    schema_from_plain,
    schema_to_plain,
    to_plain,
)
from sureleaf.estimators.saved_parts import (
    counts_arrays,
    counts_from,
    levels_arrays,
    levels_from,
    probabilities_from,
    tree_arrays,
    tree_from,
)
from sureleaf.estimators.tree_classifier import TreeClassifier

if TYPE_CHECKING:
    from sureleaf.estimators.calibrating import Calibration

__all__ = ["UnknownPart", "model_of", "state_of"]

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
    from sureleaf.estimators.calibrating import Calibration  # loads linear models

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
