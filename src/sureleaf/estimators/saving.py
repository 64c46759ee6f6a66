"""Estimators as states of a file: the fitted model, and the parameters of the estimator."""

from collections.abc import Callable
from os import PathLike
from typing import Any

import sureleaf
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators.bagged_trees import BaggedTreesClassifier
from sureleaf.estimators.base import ModelEstimator
from sureleaf.estimators.tree_classifier import TreeClassifier
from sureleaf.files.state_file import Damaged, State, decoding, newer, read_state
from sureleaf.model.bagged_model import BaggedModel
from sureleaf.model.state import estimate_from_plain, estimate_to_plain, from_plain, to_plain
from sureleaf.model.tree_model import TreeModel

Estimator = TreeClassifier | BaggedTreesClassifier


class UnknownPart(Exception):  # noqa: N818 - users get it as an InvalidArgumentError
    """What was read has a part that only a newer version can know."""


def load(path: str | PathLike[str]) -> Estimator:
    """Load a model that `save` wrote.

    Nothing in the file is executed, and everything in it is checked: it may come from anywhere.

    Parameters
    ----------
    path : str or path
        The model's file.

    Returns
    -------
    TreeClassifier or BaggedTreesClassifier
        Fitted; it predicts and reports its levels as the model did that was saved. It holds no
        training rows, as after `forget_rows`.

    Raises
    ------
    InvalidArgumentError
        If the file does not exist, is damaged, is not a model, or was made by a newer Sureleaf.

    Examples
    --------
    >>> import tempfile
    >>> import sureleaf
    >>> model = sureleaf.TreeClassifier(pruning=None)
    >>> model = model.fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder + "/small.sureleaf")
    ...     print(sureleaf.load(folder + "/small.sureleaf").rules())
    x0 <= 2: no   75.0 % (2 rows: no 2)
    x0 > 2: yes   75.0 % (2 rows: yes 2)
    """
    state = read_state(path)
    try:
        with decoding(path):
            return estimator_from_state(state)
    except UnknownPart as problem:
        raise newer(path, f"this one does not know {problem}") from None


def estimator_state(estimator: Any) -> State:
    """Return a fitted estimator as plain values and arrays; missing levels are computed first.

    Training rows are left out, and levels only if they were never computed and the rows are gone.
    """
    if type(estimator) not in (TreeClassifier, BaggedTreesClassifier):
        raise InvalidTypeError(
            f"model must be a TreeClassifier or a BaggedTreesClassifier; got "
            f"{type(estimator).__name__}. Others are saved by joblib or skops."
        )
    model = estimator.complete_model()
    header: dict[str, Any] = {
        "model": type(estimator).__name__,
        "made_by": f"sureleaf {sureleaf.__version__}",
    }
    if isinstance(estimator, TreeClassifier):
        header["parameters"] = _tree_parameters(estimator)
    else:
        header["parameters"] = _bag_parameters(estimator)
        header["tree_parameters"] = _tree_parameters(estimator.estimator_)
    state: State = model.to_state()
    return State({**header, **state.header}, state.arrays)


def estimator_from_state(state: State) -> Estimator:
    """Restore an estimator; raises Damaged or UnknownPart where that is impossible."""
    name = state.header.get("model")
    if not isinstance(name, str):
        raise Damaged("it does not say what model it is")
    if name == "TreeClassifier":
        tree = _make_tree(state.header.get("parameters"))
        tree.model_ = TreeModel.from_state(state)
        return tree
    if name == "BaggedTreesClassifier":
        template = _make_tree(state.header.get("tree_parameters"))
        bag = _make_bag(state.header.get("parameters"))
        bag.estimator_ = template
        bag.model_ = BaggedModel.from_state(state)
        return bag
    raise UnknownPart(f"the model {name[:80]!r}")


def _tree_parameters(estimator: TreeClassifier) -> dict[str, Any]:
    estimator.settings()  # checks them, so that what is saved can be loaded
    return {
        name: estimate_to_plain(value) if name == "leaf_estimate" else to_plain(name, value)
        for name, value in estimator.get_params(deep=False).items()
    }


def _bag_parameters(estimator: BaggedTreesClassifier) -> dict[str, Any]:
    parameters = estimator.get_params(deep=False)
    given = parameters.pop("estimator")
    if given is not None and not isinstance(given, TreeClassifier):
        raise InvalidTypeError(
            f"estimator must be a TreeClassifier or None to be saved; got {given!r}."
        )
    plain = {name: to_plain(name, value) for name, value in parameters.items()}
    return {**plain, "estimator": None if given is None else _tree_parameters(given)}


def _make_tree(written: Any) -> TreeClassifier:
    parameters = _known_parameters(TreeClassifier, written)
    estimate = estimate_from_plain(parameters.pop("leaf_estimate"))
    plain = {name: from_plain(value) for name, value in parameters.items()}
    estimator = TreeClassifier(**plain, leaf_estimate=estimate)
    _check(estimator.settings)
    return estimator


def _make_bag(written: Any) -> BaggedTreesClassifier:
    parameters = _known_parameters(BaggedTreesClassifier, written)
    given = parameters.pop("estimator")
    estimator = BaggedTreesClassifier(
        estimator=None if given is None else _make_tree(given),
        **{name: from_plain(value) for name, value in parameters.items()},
    )
    _check(estimator.check_parameters)
    return estimator


def _check(parameters: Callable[[], object]) -> None:
    try:
        parameters()
    except (InvalidArgumentError, InvalidTypeError) as error:
        raise Damaged(f"a parameter cannot be used ({error})") from None


def _known_parameters(kind: type[ModelEstimator[Any]], written: Any) -> dict[str, Any]:
    if not isinstance(written, dict):
        raise Damaged("it has no parameters")
    known = set(kind().get_params(deep=False))
    if set(written) - known:
        raise UnknownPart(f"the parameter {min(set(written) - known)[:80]!r}")
    if known - set(written):
        raise Damaged(f"it lacks the parameter {min(known - set(written))!r}")
    return dict(written)
