"""Evaluations as files, which `Evaluation.save` writes and `Evaluation.load` reads.

An evaluation is a container as a model is (docs/model-file.md): plain values and arrays, no pickle.

========================  ==========================================================
header                    ``format`` ("sureleaf evaluation"), ``version`` (1), ``estimator``,
                          ``design``, ``seed``, ``classes``, ``positive``, ``splits``
                          (repeat, fold, n_train, n_test, failure)
``truth``                 class code of every row
``row split prediction``  one entry per prediction: row number, split number, class code
``probabilities``         predictions by classes; missing if there are none
``weights groups cost``   missing if there are none
========================  ==========================================================
"""

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.designs import from_dict
from sureleaf.files.state_file import EVALUATION, Damaged, State, read_state, write_state

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

FORMAT, VERSION = "sureleaf evaluation", 1

_ARRAYS: Final[dict[str, tuple[str, type]]] = {
    **{name: (name, np.int64) for name in ("truth", "row", "split", "prediction", "groups")},
    **{name: (name, np.float64) for name in ("probabilities", "weights")},
    "cost": ("cost_matrix", np.float64),
}
"""Array in the file -> attribute of the evaluation, and type of its numbers."""

_DAMAGE: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_UNREADABLE: Final = (Damaged, MemoryError, RecursionError, *_DAMAGE)


def save_evaluation(evaluation: "Evaluation", path: str | PathLike[str]) -> None:
    """Write an evaluation; the file appears complete or not at all."""
    classes = evaluation.classes.tolist()
    is_time = evaluation.classes.dtype.kind in "mM"  # whose nanoseconds are integers in Python
    if is_time or not all(isinstance(label, (str, int, float, bool)) for label in classes):
        raise InvalidTypeError(
            "Labels must be text, numbers or booleans to be saved; got "
            f"{', '.join(map(str, evaluation.classes[:5]))}. Convert them to text."
        )
    header = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": evaluation.estimator,
        "design": evaluation.design.to_dict(),
        "seed": evaluation.seed,
        "classes": classes,
        "positive": evaluation.positive_code,
        "splits": [[s.repeat, s.fold, s.n_train, s.n_test, s.failure] for s in evaluation.splits],
    }
    arrays: dict[str, Any] = {
        name: np.asarray(values, kind)
        for name, (attribute, kind) in _ARRAYS.items()
        if (values := getattr(evaluation, attribute)) is not None
    }
    write_state(State(header, arrays), path, EVALUATION)


def load_evaluation(path: str | PathLike[str]) -> "Evaluation":
    """Read an evaluation that `save` wrote."""
    if not Path(path).exists():
        raise InvalidArgumentError(f"{path} does not exist.")
    state = read_state(Path(path), EVALUATION)
    if state.header.get("format") != FORMAT:
        raise InvalidArgumentError(f"{path} is not an evaluation saved by Sureleaf.")
    version = state.header.get("version")
    if version != VERSION:
        raise InvalidArgumentError(
            f"{path} has version {repr(version)[:80]} of the format; this Sureleaf reads version "
            f"{VERSION}. Read it with a newer Sureleaf."
        )
    try:
        return evaluation_of_contents(state.header, state.arrays)
    except _UNREADABLE as problem:
        raise InvalidArgumentError(
            f"{path} is damaged: {str(problem)[:200]} cannot be read. Save the evaluation again."
        ) from None


def evaluation_of_contents(header: dict[str, Any], arrays: dict[str, Any]) -> "Evaluation":
    """Return the evaluation that has these contents, after they are checked."""
    from sureleaf.evaluation.evaluation import Evaluation, SplitFacts

    _check_contents(header, arrays)
    own: dict[str, Any] = {one: arrays.get(name) for name, (one, _) in _ARRAYS.items()}
    return Evaluation(
        estimator=header["estimator"],
        design=from_dict(header["design"]),
        seed=header["seed"],
        classes=_classes(header["classes"]),
        positive_code=header["positive"],
        splits=tuple(SplitFacts(*facts) for facts in header["splits"]),
        **own,
    )


def _classes(labels: list[Any]) -> Any:
    if 4 * len(labels) * max(len(str(label)) for label in labels) > 1 << 26:
        raise KeyError("classes")
    classes = np.array(labels)
    is_exact = not all(type(label) is int for label in labels) or classes.dtype.kind in "iu"
    return classes if is_exact else np.array(labels, dtype=object)


def _check_contents(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise a KeyError that names the first value of an evaluation that does not fit the others."""
    _check_header(header)
    n_classes, n_splits = len(header["classes"]), len(header["splits"])
    n_rows, n_cells = len(arrays["truth"]), len(arrays["row"])
    code_arrays = [
        ("truth", n_classes, n_rows),
        ("row", n_rows, n_cells),
        ("split", n_splits, n_cells),
        ("prediction", n_classes, n_cells),
    ]
    if "groups" in arrays:
        code_arrays.append(("groups", n_rows, n_rows))
    for name, limit, length in code_arrays:
        codes = arrays[name]
        fits = codes.ndim == 1 and len(codes) == length and codes.dtype.kind in "iu"
        if not fits or (length and not 0 <= codes.min() <= codes.max() < limit):
            raise KeyError(name)
    for name, shape, high in (
        ("probabilities", (n_cells, n_classes), 1 + 1e-6),
        ("weights", (n_rows,), _LARGEST),
        ("cost", (n_classes, n_classes), _LARGEST),
    ):
        if name not in arrays:
            continue
        numbers = arrays[name]
        if numbers.shape != shape or numbers.dtype.kind != "f":
            raise KeyError(name)
        # a failed split has NaN in place of probabilities
        low = -_LARGEST if name == "cost" else 0.0
        known = numbers if name != "probabilities" else numbers[~np.isnan(numbers)]
        if not np.all((known >= low) & (known <= high)):
            raise KeyError(name)


_LARGEST: Final = 1e150


def _check_header(header: dict[str, Any]) -> None:
    classes, splits = header["classes"], header["splits"]
    has_labels = isinstance(classes, list) and bool(classes)
    if not has_labels or not all(isinstance(one, str | int | float) for one in classes):
        raise KeyError("classes")
    if len(set(map(str, classes))) < len(classes):
        raise KeyError("classes")
    positive = header["positive"]
    if type(positive) is not int or not 0 <= positive < len(classes):
        raise KeyError("positive")
    if not isinstance(header["estimator"], str) or not isinstance(header["design"], dict):
        raise KeyError("design")
    if header["seed"] is not None and type(header["seed"]) is not int:
        raise KeyError("seed")
    if not isinstance(splits, list) or not all(map(_is_split, splits)):
        raise KeyError("splits")


def _is_split(facts: Any) -> bool:
    if not isinstance(facts, list) or len(facts) != 5:
        return False
    *numbers, failure = facts
    are_counts = all(type(n) is int and 0 <= n < 1 << 53 for n in numbers)
    has_rows = are_counts and numbers[2] > 0
    return has_rows and (failure is None or isinstance(failure, str))
