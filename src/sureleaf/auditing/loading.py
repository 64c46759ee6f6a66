"""Models from files: what may be read without running what is in them, and what may not."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.estimators import load

__all__ = ["load_model"]

_PICKLES = (".joblib", ".pkl", ".pickle")
_TO_READ = "to read this file"

_TRUSTED = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
)
"""Types that models of trees and their columns are made of; skops leaves them to the reader."""


def load_model(
    path: str | PathLike[str], *, trust_pickle: bool = False, trust: Sequence[str] = ()
) -> Any:
    """Load a fitted model that this or another library has saved.

    Parameters
    ----------
    path : path
        ``.sureleaf``; ``.skops``; ``.joblib``, ``.pkl``, ``.pickle``; LightGBM's text
        (``.txt``, ``.lgb``); XGBoost's ``.json`` or ``.ubj``.
    trust_pickle : bool
        Load a pickle. It runs whatever code its maker has put into it, with your rights.
    trust : sequence of str
        Further types that a skops file may hold.

    Returns
    -------
    object
        The model; of LightGBM's and XGBoost's own files a Booster, which knows no class names.

    Raises
    ------
    InvalidArgumentError
        If the file is a pickle and that is not trusted, holds types that are not trusted, or is
        none of these.
    MissingPackageError
        If the library that saved it is not installed.

    Examples
    --------
    >>> import pathlib, tempfile, joblib
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "tree.joblib"
    >>> _ = joblib.dump(DecisionTreeClassifier().fit([[1], [2]], ["no", "yes"]), path)
    >>> load_model(path, trust_pickle=True).classes_.tolist()
    ['no', 'yes']
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidArgumentError(f"model must be a file; there is none at {str(path)!r}.")
    kind = file.suffix.lower()
    if kind == ".sureleaf":
        return load(file)
    if kind == ".skops":
        return _load_skops(file, trust)
    if kind in _PICKLES:
        return _load_pickle(file, trust_pickle)
    if kind in (".txt", ".lgb"):
        lightgbm = optional_library("lightgbm", needed=_TO_READ)
        return _read(file, lambda: lightgbm.Booster(model_file=str(file)))
    if kind in (".json", ".ubj"):
        xgboost = optional_library("xgboost", needed=_TO_READ)
        return _read(file, lambda: xgboost.Booster(model_file=str(file)))
    raise InvalidArgumentError(
        "model must be a .sureleaf, .skops, .joblib, .pkl, .txt (LightGBM) or .json (XGBoost) "
        f"file; got {file.name!r}. Save the model in one of these forms."
    )


def _load_pickle(file: Path, trusted: bool) -> Any:
    if not trusted:
        raise InvalidArgumentError(
            f"{file.name} is a pickle, and loading a pickle runs whatever code its maker has put "
            "into it, with your rights. If you made it or trust who did, say so (--trust-pickle, "
            "in Python trust_pickle=True); else ask for the model saved with skops."
        )
    import joblib

    return _read(file, lambda: joblib.load(file))


def _load_skops(file: Path, trust: Sequence[str]) -> Any:
    skops = optional_library("skops.io", needed=_TO_READ)
    asked = _read(file, lambda: skops.get_untrusted_types(file=file))
    unknown = sorted(set(asked) - set(_TRUSTED) - set(trust))
    if unknown:
        raise InvalidArgumentError(
            f"{file.name} holds types that are not known to be harmless: {', '.join(unknown)}. "
            "If you know each of them, name them: "
            f"{' '.join(f'--trust {name}' for name in unknown)} (in Python trust=[...])."
        )
    return _read(file, lambda: skops.load(file, trusted=list(asked)))


def _read(file: Path, load: Any) -> Any:
    try:
        return load()
    except Exception as error:  # whatever goes wrong in another library's reader
        told = " ".join(str(error).split())[:300] or type(error).__name__
        raise InvalidArgumentError(
            f"{file.name} could not be read as a model: {told}. Is it whole, and are the libraries "
            "that made it installed in about the same version?"
        ) from error
