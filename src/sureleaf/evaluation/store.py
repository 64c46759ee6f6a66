"""Evaluations as files: `save` and `load`.

An evaluation is one ``.npz`` file (a zip of plain numpy arrays, no pickle):

========================  ==========================================================
``header``                JSON as bytes: ``format`` ("sureleaf evaluation"), ``version`` (1),
                          ``estimator``, ``design``, ``seed``, ``classes``, ``positive``,
                          ``splits`` (repeat, fold, without, n_train, n_test, failure)
``truth``                 class code of every row
``row split prediction``  one entry per prediction: row number, split number, class code
``probabilities``         predictions by classes; missing if there are none
``weights groups cost``   missing if there are none
========================  ==========================================================
"""

import json
import zipfile
import zlib
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.designs import from_dict
from sureleaf.files.atomic_write import atomic_write

if TYPE_CHECKING:
    from sureleaf.evaluation.evaluation import Evaluation

__all__ = ["load", "save"]

FORMAT, VERSION = "sureleaf evaluation", 1

UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    OSError,
    AttributeError,
    NotImplementedError,  # a compression that zipfile does not know
    zipfile.BadZipFile,
    zlib.error,
)


def save(evaluation: "Evaluation", path: str | PathLike[str]) -> None:
    """Write an evaluation; the file appears complete or not at all.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> evaluation = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(evaluation, folder + "/iris.npz")
    ...     load(folder + "/iris.npz")
    Evaluation(GaussianNB() by KFold, 150 rows, 3 classes, 10 splits)
    """
    classes = evaluation.classes.tolist()
    if not all(isinstance(label, (str, int, float, bool)) for label in classes):
        raise InvalidTypeError(
            f"Labels must be text, numbers or booleans to be saved; got {classes}."
        )
    header = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": evaluation.estimator,
        "design": evaluation.design.to_dict(),
        "seed": evaluation.seed,
        "classes": classes,
        "positive": evaluation.positive_code,
        "splits": [
            [s.repeat, s.fold, s.without, s.n_train, s.n_test, s.failure] for s in evaluation.splits
        ],
    }
    arrays: dict[str, Any] = {
        "header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8),
        "truth": evaluation.truth,
        "row": evaluation.row,
        "split": evaluation.split,
        "prediction": evaluation.prediction,
        "probabilities": evaluation.probabilities,
        "weights": evaluation.weights,
        "groups": evaluation.groups,
        "cost": evaluation.cost_matrix,
    }
    with atomic_write(path) as file:
        np.savez_compressed(file, **{k: v for k, v in arrays.items() if v is not None})


def load(path: str | PathLike[str]) -> "Evaluation":
    """Read an evaluation that `save` wrote."""
    from sureleaf.evaluation.evaluation import Evaluation, SplitFacts

    header, arrays = _read(Path(path))
    try:
        _check(header, arrays)
        return Evaluation(
            estimator=header["estimator"],
            design=from_dict(header["design"]),
            seed=header["seed"],
            classes=np.array(header["classes"]),
            positive_code=header["positive"],
            truth=arrays["truth"],
            weights=arrays.get("weights"),
            groups=arrays.get("groups"),
            cost_matrix=arrays.get("cost"),
            splits=tuple(SplitFacts(*facts) for facts in header["splits"]),
            row=arrays["row"],
            split=arrays["split"],
            prediction=arrays["prediction"],
            probabilities=arrays.get("probabilities"),
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise InvalidArgumentError(
            f"{path} is damaged: {problem} cannot be read. Save the evaluation again."
        ) from None


def _check(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Raise an error for arrays that do not fit together."""
    n_classes, n_splits = len(header["classes"]), len(header["splits"])
    n_rows, n_cells = len(arrays["truth"]), len(arrays["row"])
    for name, limit, length in (
        ("truth", n_classes, n_rows),
        ("row", n_rows, n_cells),
        ("split", n_splits, n_cells),
        ("prediction", n_classes, n_cells),
    ):
        codes = arrays[name]
        fits = codes.ndim == 1 and len(codes) == length and codes.dtype.kind in "iu"
        if not fits or (length and not 0 <= codes.min() <= codes.max() < limit):
            raise KeyError(name)
    for name, shape in (
        ("probabilities", (n_cells, n_classes)),
        ("weights", (n_rows,)),
        ("groups", (n_rows,)),
    ):
        if name in arrays and arrays[name].shape != shape:
            raise KeyError(name)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        # opened here, because numpy leaves a file open that is not an archive
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop("header").tobytes())
    except FileNotFoundError:
        raise InvalidArgumentError(f"{path} does not exist.") from None
    except UNREADABLE as problem:
        raise InvalidArgumentError(
            f"{path} is not an evaluation saved by Sureleaf, or is damaged ({problem}). "
            "Save the evaluation again."
        ) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InvalidArgumentError(f"{path} is not an evaluation saved by Sureleaf.")
    if header.get("version") != VERSION:
        raise InvalidArgumentError(
            f"{path} has version {header.get('version')!r} of the format; this Sureleaf reads "
            f"version {VERSION}. Read it with a newer Sureleaf."
        )
    return header, arrays
