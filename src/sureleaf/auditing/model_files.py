"""Fitted models in files of this and other libraries.

A pickle can run code when it is loaded, so pickles are loaded only on request. LightGBM and XGBoost
crash on some damaged files, so theirs are first loaded and tried in a process of their own, and the
text of LightGBM is checked before.
"""

import contextlib
import signal
import subprocess
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

from sureleaf.arguments import child_process
from sureleaf.auditing.lightgbm_text import check_lightgbm_text
from sureleaf.errors import InvalidArgumentError, optional_library
from sureleaf.estimators import load
from sureleaf.files.state_file import MODEL

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
    if suffix == ".sureleaf" or _is_ours(file):
        return load(file)
    if suffix == ".skops":
        return _load_skops(file, trust)
    if suffix in _PICKLES:
        return _load_pickle(file, trust_pickle)
    if suffix in (".txt", ".lgb"):
        lightgbm = optional_library("lightgbm", needed=_NEED)
        _read(file, lambda: check_lightgbm_text(file.read_bytes()))
        _try_in_a_child("lightgbm", file)
        return _read(file, lambda: lightgbm.Booster(model_file=str(file)))
    if suffix in (".json", ".ubj"):
        xgboost = optional_library("xgboost", needed=_NEED)
        _try_in_a_child("xgboost", file)
        return _read(file, lambda: xgboost.Booster(model_file=str(file)))
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


_SECONDS: Final = 60
_BYTES: Final = 4 << 30
"""What a child may take to load a model: seconds, and bytes of address space."""

_CHILD: Final = """
import sys, numpy as np
# Both libraries import these if they can: 1.5 seconds, and a booster needs neither.
sys.modules.update(dict.fromkeys(("sklearn", "pandas")))
library, path, n_bytes = sys.argv[1], sys.argv[2], int(sys.argv[3])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
except (ImportError, ValueError, OSError):
    pass
def rows(n):
    random = np.random.default_rng(0)
    scale = np.array([0.0, 1.0, 10.0, 1e3, 1e6, 1e30])[random.integers(0, 6, (256, n))]
    table = np.rint(random.normal(size=(256, n)) * scale)
    table[random.random((256, n)) < 0.1] = np.nan
    return table
try:
    if library == "lightgbm":
        import lightgbm
        booster = lightgbm.Booster(model_file=path, params={"num_threads": 1})
    else:
        import xgboost
        booster = xgboost.Booster(model_file=path)
except BaseException as error:
    sys.stderr.write("\\n" + " ".join(str(error).split())[:300])
    sys.exit(3)
try:
    if library == "lightgbm":
        table = rows(booster.num_feature())
        booster.dump_model()
    else:
        table = xgboost.DMatrix(rows(booster.num_features()), feature_names=booster.feature_names)
        booster.get_dump()
    booster.predict(table, pred_leaf=True)
    booster.predict(table)
except Exception:  # these rows do not suit the model; only a crash counts
    pass
"""
"""Loads a model and predicts rows with it; exit code 3 if the library raises an error."""


def _try_in_a_child(library: str, file: Path) -> None:
    """Raise an error if loading a model, or predicting with it, fails or ends the process."""
    n_bytes = _BYTES + 50 * file.stat().st_size
    command, environment = child_process(_CHILD, library, str(file), str(n_bytes))
    # What a library reads beyond its own memory shall not look like a number there by chance.
    environment |= {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore", "MALLOC_PERTURB_": "165"}
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        raise _unreadable(file, f"{library} did not end within {_SECONDS} seconds") from None
    if done.returncode == 0:
        return
    if done.returncode == 3:
        message = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise _unreadable(file, message or f"{library} failed")
    how = f"exit code {done.returncode}"
    if done.returncode < 0:
        with contextlib.suppress(ValueError):
            how = signal.Signals(-done.returncode).name
    raise _unreadable(file, f"{library} crashed on it ({how})")


def _unreadable(file: Path, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{file.name} could not be read as a model: {why}. Check that the file is complete, and "
        "that the libraries that saved it have about the same version here."
    )


def _read(file: Path, load_file: Callable[[], Any]) -> Any:
    try:
        return load_file()
    except Exception as error:  # any error of another library's reader
        raise _unreadable(
            file, " ".join(str(error).split())[:300] or type(error).__name__
        ) from error
