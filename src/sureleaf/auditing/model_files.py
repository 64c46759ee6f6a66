"""Fitted models in files of this and other libraries.

A pickle can run code when it is loaded, so pickles are loaded only on request.
"""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.estimators import load

__all__ = ["load_model"]

_PICKLES = (".joblib", ".pkl", ".pickle")
_NEED = "to read this file"

_TRUSTED = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
)
"""Types of tree models that are harmless, although skops does not trust them by default."""


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
        Load a pickle. It runs any code that its author put into it, with your permissions.
    trust : sequence of str
        Additional types that a skops file may contain.

    Returns
    -------
    object
        The model. LightGBM's and XGBoost's own files give a Booster, which has no class labels.

    Raises
    ------
    InvalidArgumentError
        If the file is an untrusted pickle, contains untrusted types, or has another format.
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
        raise InvalidArgumentError(
            f"model must be the path of a file; got {str(path)!r}, where there is no file."
        )
    suffix = file.suffix.lower()
    if suffix == ".sureleaf":
        return load(file)
    if suffix == ".skops":
        return _load_skops(file, trust)
    if suffix in _PICKLES:
        return _load_pickle(file, trust_pickle)
    if suffix in (".txt", ".lgb"):
        lightgbm = optional_library("lightgbm", needed=_NEED)
        return _read(file, lambda: lightgbm.Booster(model_file=str(file)))
    if suffix in (".json", ".ubj"):
        xgboost = optional_library("xgboost", needed=_NEED)
        return _read(file, lambda: xgboost.Booster(model_file=str(file)))
    raise InvalidArgumentError(
        "model must be a .sureleaf, .skops, .joblib, .pkl, .txt (LightGBM) or .json (XGBoost) "
        f"file; got {file.name!r}. Save the model in one of these formats."
    )


def _load_pickle(file: Path, is_trusted: bool) -> Any:
    if not is_trusted:
        raise InvalidArgumentError(
            f"{file.name} is a pickle, and loading a pickle runs any code that its author put "
            "into it, with your permissions. If you trust its author, pass --trust-pickle (in "
            "Python trust_pickle=True); otherwise ask for the model in skops format."
        )
    import joblib

    return _read(file, lambda: joblib.load(file))


def _load_skops(file: Path, trust: Sequence[str]) -> Any:
    skops = optional_library("skops.io", needed=_NEED)
    types = _read(file, lambda: skops.get_untrusted_types(file=file))
    unknown = sorted(set(types) - set(_TRUSTED) - set(trust))
    if unknown:
        raise InvalidArgumentError(
            f"{file.name} contains types that are not known to be harmless: {', '.join(unknown)}. "
            "If you trust all of them, pass "
            f"{' '.join(f'--trust {name}' for name in unknown)} (in Python trust=[...])."
        )
    return _read(file, lambda: skops.load(file, trusted=list(types)))


def _read(file: Path, load_file: Callable[[], Any]) -> Any:
    try:
        return load_file()
    except Exception as error:  # any error of another library's reader
        message = " ".join(str(error).split())[:300] or type(error).__name__
        raise InvalidArgumentError(
            f"{file.name} could not be read as a model: {message}. Check that the file is "
            "complete, and that the libraries that saved it have about the same version here."
        ) from error
