"""The parameters of `TreeClassifier`: what each takes, what it is for C4.5's tree, and who sets it.

The checks of a fit, `TreeClassifier.c45`, the words that a shell completes and the table of
docs/tree.md are made from `PARAMETERS`. The fields of `GrowthRules` and `TreeSettings` take theirs
by the same names.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

import numpy as np

from sureleaf.arguments import check_choice, check_number
from sureleaf.errors import InvalidTypeError, suggestion
from sureleaf.model.state import CHOICES
from sureleaf.probability import ESTIMATES

_AS_USUAL: Final = object()


@dataclass(frozen=True)
class Parameter:
    """What a parameter may be.

    - `who`: who sets it, and when.
    - `choices`: all its values, or if `is_open`, those that have a name.
    - `low`, `high`, `whole`, `open_low`: bounds, if it is a number, as for `check_number`.
    - `may_be_none`: whether a number need not be set.
    - `c45`: its value for the tree of C4.5, if that is not the default.
    """

    who: str
    choices: tuple[object, ...] = ()
    is_open: bool = False
    low: float | None = None
    high: float = np.inf
    whole: bool = False
    open_low: bool = False
    may_be_none: bool = False
    c45: Any = _AS_USUAL

    def check(self, name: str, value: object) -> None:
        """Raise an error if it cannot have this value; what depends on the table is seen later."""
        if self.low is not None:
            if value is not None or not self.may_be_none:
                bounds: Any = {"low": self.low, "high": self.high, "open_low": self.open_low}
                check_number(name, value, whole=self.whole, **bounds)
        elif self.choices and not self.is_open:
            check_choice(name, value, self.choices)


PARAMETERS: Final[dict[str, Parameter]] = {
    "criterion": Parameter(
        "Whoever compares splits, or needs the tree of C4.5 or of scikit-learn.",
        choices=CHOICES["criterion"],
        c45="gain_ratio",
    ),
    "categorical_features": Parameter("Everyone whose categories are written as numbers."),
    "categorical_split": Parameter(
        'C4.5\'s tree; "multiway" where a rule per category is easier to read.',
        choices=("multiway", "subset"),
        c45="multiway",
    ),
    "missing": Parameter(
        'C4.5\'s tree; "fraction" where nothing must be learned from a value that is missing.',
        choices=("branch", "fraction"),
        c45="fraction",
    ),
    "max_depth": Parameter(
        "Who has room for so many tests per rule.", low=0, whole=True, may_be_none=True
    ),
    "max_leaves": Parameter(
        "Who must show the tree on one page.", low=1, whole=True, may_be_none=True
    ),
    "min_samples_leaf": Parameter(
        "Who may not show small groups of people, or knows that the rows come in batches.",
        low=0,
        open_low=True,
        c45=2,
    ),
    "max_features": Parameter(
        "Bags of trees; alone, nobody.", choices=(None, "sqrt", "log2"), is_open=True
    ),
    "monotone": Parameter("Who has to justify that more income never lowers a score."),
    "pruning": Parameter(
        "Who compares ways of pruning; None for a full tree.",
        choices=(None, "auto", "pessimistic", "cost_complexity", "reduced_error", "utility"),
        c45="pessimistic",
    ),
    "margin": Parameter(
        "Who wants the most accurate tree (0) or a smaller one.", low=0, high=1, may_be_none=True
    ),
    "min_confidence": Parameter(
        "Who wants no leaf below a level, at the price of a smaller tree.",
        low=0,
        high=1,
        may_be_none=True,
    ),
    "confidence_factor": Parameter(
        "Who prunes as C4.5, more or less than usual.", low=0, high=0.5, open_low=True
    ),
    "ccp_alpha": Parameter("Who moves settings over from scikit-learn or rpart.", low=0),
    "class_weight": Parameter("Who moves settings over from scikit-learn; costs say more."),
    "cost": Parameter("Everyone whose errors cost different amounts."),
    "collapse": Parameter(
        "C4.5's tree, and who compares it with and without.", choices=(True, False), c45=True
    ),
    "leaf_estimate": Parameter(
        "Who needs plain frequencies, or compares estimates.",
        choices=tuple(ESTIMATES),
        is_open=True,
        c45="frequency",
    ),
    "levels_from": Parameter(
        'Who wants guarantees ("honest") or the levels of the paper ("training").',
        choices=CHOICES["levels_from"],
    ),
    "cv": Parameter("Whose rows come in time order or in groups, which folds must respect."),
    "weights": Parameter(
        "Who has weights of a survey, which are not numbers of rows.", choices=CHOICES["weights"]
    ),
    "unseen": Parameter(
        "Who would rather have an error than a guess for a new category.", choices=CHOICES["unseen"]
    ),
    "n_jobs": Parameter("Who shares a machine."),
    "random_state": Parameter("Who wants to see how much depends on the folds."),
}
"""In the order of the constructor."""

C45: Final[dict[str, Any]] = {
    name: one.c45 for name, one in PARAMETERS.items() if one.c45 is not _AS_USUAL
}
"""Parameters with which the tree is that of C4.5."""


BY_ERRORS: Final = ("pessimistic", "utility")
"""Prunings that count errors, whatever they cost."""


def counts_errors(tree: Any) -> bool:
    """Whether a `TreeClassifier` is collapsed or pruned by its errors, whatever they cost."""
    return bool(tree.collapse) or tree.pruning in BY_ERRORS


OTHER_NAMES: Final = {
    "cp": "ccp_alpha",
    "loss_matrix": "cost",
    "max_leaf_nodes": "max_leaves",
    "maxdepth": "max_depth",
    "min_weight_fraction_leaf": "min_samples_leaf",
    "minbucket": "min_samples_leaf",
    "monotone_constraints": "monotone",
    "monotonic_cst": "monotone",
    "num_leaves": "max_leaves",
    "seed": "random_state",
}
"""Names of scikit-learn, rpart and boosting libraries, and ours for the same thing."""

INSTEAD: Final = {
    "min_impurity_decrease": "ccp_alpha",
    "min_impurity_split": "ccp_alpha",
    "min_samples_split": "min_samples_leaf",
    "minsplit": "min_samples_leaf",
}
"""Parameters of other libraries that are not here, and ours that does their job."""


def hint_for(name: str, known: Iterable[str]) -> str:
    """Say which parameter an unknown name means, as the end of an error.

    Examples
    --------
    >>> hint_for("max_leaf_nodes", ["max_depth", "max_leaves"])
    ' Its name here is max_leaves.'
    """
    known = list(known)
    if name in INSTEAD:
        given = f"{INSTEAD[name]}=..."
        is_own = INSTEAD[name] in known
        return f" Use {given if is_own else f'estimator=TreeClassifier({given})'} instead."
    ours = OTHER_NAMES.get(name, name)
    if ours in known:
        return f" Its name here is {ours}."
    if ours in PARAMETERS and "estimator" in known:
        return f" Its trees have it: estimator=TreeClassifier({ours}=...)."
    if name == "n_estimators":
        return " BaggedTreesClassifier has it."
    return suggestion(name, known)


_Self = TypeVar("_Self")
_P = ParamSpec("_P")


def with_hints(
    init: Callable[Concatenate[_Self, _P], None],
) -> Callable[Concatenate[_Self, _P], None]:
    """Let a constructor that gets an unknown parameter say which one is meant."""
    known = [name for name in signature(init).parameters if name != "self"]

    @wraps(init)
    def checked(self: _Self, /, *args: _P.args, **parameters: _P.kwargs) -> None:
        for name in parameters:
            if name not in known:
                raise InvalidTypeError(
                    f"{type(self).__name__} has no parameter {name}.{hint_for(name, known)}"
                )
        init(self, *args, **parameters)

    return checked


def check_parameters(given: dict[str, Any]) -> None:
    """Raise an error unless every parameter has a value that it can have."""
    for name, parameter in PARAMETERS.items():
        parameter.check(name, given[name])


def written_examples(own_options: tuple[str, ...]) -> list[str]:
    """Return ``PARAMETER=VALUE`` for each value that has a name, to complete what is typed.

    Parameters with an option of their own are left out.
    """
    examples = []
    for name, parameter in PARAMETERS.items():
        if name not in own_options:
            words = [str(choice).lower() for choice in parameter.choices] or [""]
            examples += [f"{name}={word}" for word in words]
    return examples


def parameter_table(constructor: Any) -> str:
    """Return the parameters as a table of a page: default, that of C4.5, who sets it and when."""
    defaults = signature(constructor).parameters
    lines = ["| parameter | default | C4.5 | who sets it, and when |", "|---|---|---|---|"]
    for name, parameter in PARAMETERS.items():
        c45 = "" if parameter.c45 is _AS_USUAL else f"`{parameter.c45!r}`"
        lines.append(f"| `{name}` | `{defaults[name].default!r}` | {c45} | {parameter.who} |")
    return "\n".join(lines)
