"""Fitted models in files of this and other libraries.

A pickle can run code when it is loaded, so pickles are loaded only on request. Files of skops,
LightGBM and XGBoost can end the process that loads them, so a child process does
(`foreign_models`).
"""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from sureleaf.auditing.foreign_models import ForeignModel, unreadable
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import load
from sureleaf.files.state_file import MODEL

__all__ = ["load_model"]

_PICKLES: Final = (".joblib", ".pkl", ".pickle")

_FORMS: Final = {
    ".skops": "skops",
    ".txt": "lightgbm",
    ".lgb": "lightgbm",
    ".json": "xgboost",
    ".ubj": "xgboost",
}


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
        The model, for `audit`. Files of skops, LightGBM and XGBoost are loaded by a child process,
        and their model answers nothing but an audit.

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
    if suffix == ".sureleaf" or _is_ours(file):
        return load(file)
    if suffix in _PICKLES:
        return _load_pickle(file, trust_pickle)
    if suffix in _FORMS:
        return ForeignModel(file, _FORMS[suffix], trust)
    raise InvalidArgumentError(
        "model must be a .sureleaf, .skops, .joblib, .pkl, .txt (LightGBM) or .json (XGBoost) "
        f"file; got {file.name!r}. Save the model in one of these formats."
    )


def _is_ours(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(len(MODEL.magic)) == MODEL.magic


def _load_pickle(file: Path, is_trusted: bool) -> Any:
    if not is_trusted:
        raise InvalidArgumentError(
            f"{file.name} is a pickle, and loading a pickle runs any code that its author put "
            "into it, with your permissions. If you trust its author, pass --trust-pickle (in "
            "Python trust_pickle=True); otherwise ask for the model in skops format."
        )
    import joblib

    try:
        return joblib.load(file)
    except Exception as error:  # any error of any library
        text = " ".join(str(error).split())[:300]
        raise unreadable(file, text or type(error).__name__) from error
