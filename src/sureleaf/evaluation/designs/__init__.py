"""Designs: which rows train and which rows test."""

from collections.abc import Mapping
from typing import Any

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.designs.bootstrap import Bootstrap
from sureleaf.evaluation.designs.folds import KFold, LeaveOneOut, NestedKFold
from sureleaf.evaluation.designs.holdout import Holdout, RepeatedHoldout
from sureleaf.evaluation.designs.split import Design, Split

__all__ = [
    "Bootstrap",
    "Design",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "NestedKFold",
    "RepeatedHoldout",
    "Split",
    "from_dict",
]

_DESIGNS: dict[str, type[Design]] = {
    design.__name__: design
    for design in (Bootstrap, Holdout, KFold, LeaveOneOut, NestedKFold, RepeatedHoldout)
}


def from_dict(plain: Mapping[str, Any]) -> Design:
    """Return the design that ``to_dict`` wrote down.

    Examples
    --------
    >>> from_dict(KFold(5, repeats=2).to_dict()) == KFold(5, repeats=2)
    True
    """
    options = dict(plain)
    name = options.pop("design", None)
    if name not in _DESIGNS:
        raise InvalidArgumentError(
            f"design must be one of {', '.join(sorted(_DESIGNS))}; got {name!r}."
        )
    try:
        design: Design = _DESIGNS[name](**options)
    except TypeError as problem:
        raise InvalidArgumentError(f"{name} cannot be read: {problem}.") from None
    return design
