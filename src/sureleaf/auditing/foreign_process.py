"""The child process of a `ForeignModel`: it loads the file, and predicts rows until it is ended."""

import contextlib
import json
import os
import pickle
import sys
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from sureleaf.auditing.foreign_models import (
    output_arrays,
    pack,
    pack_labels,
    read_message,
    write_message,
)
from sureleaf.auditing.lightgbm_text import check_lightgbm_text
from sureleaf.auditing.model_output import model_output
from sureleaf.errors import InvalidArgumentError, SureleafError, optional_library

__all__ = ["serve"]

_NEED: Final = "to read this file"

_TRUSTED: Final = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.tree._tree.Tree",
    "xgboost.core.Booster",
    "xgboost.sklearn.XGBClassifier",
)
"""Types of tree models that run no code of the file, although skops does not trust them."""


def serve() -> None:
    """Load the model that the arguments name, and answer one message after the other."""
    form, path, n_bytes, *trust = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print is not an answer
    _limit_memory(int(n_bytes))
    model: Any = None

    def load() -> Packed:
        nonlocal model
        model = _LOADERS[form](Path(path), trust)
        header: dict[str, Any] = {"classes": []}
        arrays: dict[str, Any] = {}
        classes = getattr(model, "classes_", None)
        if classes is not None:
            pack_labels(np.asarray(classes), header, arrays)
        return header, arrays

    def predict() -> Packed:
        return output_arrays(model_output(model, X, classes, first_row=first_row))

    write_message(answers, _answer(load))
    while model is not None and (message := read_message(sys.stdin.buffer)) is not None:
        X, classes, first_row = pickle.loads(message)  # of the parent
        write_message(answers, _answer(predict))


Packed = tuple[dict[str, Any], dict[str, Any]]


def _answer(question: Callable[[], Packed]) -> bytes:
    """Return the answer, or the error; any error of another library's reader may happen."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            header, arrays = question()
        return pack(header | {"warnings": [str(one.message) for one in caught]}, arrays)
    except SureleafError as error:
        return pack({"error": str(error), "kind": type(error).__name__, "unreadable": False})
    except Exception as error:
        text = " ".join(str(error).split())[:300] or type(error).__name__
        return pack({"error": text, "kind": "InvalidArgumentError", "unreadable": True})


def _limit_memory(n_bytes: int) -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, most))


def _load_skops(file: Path, trust: Sequence[str]) -> Any:
    skops = optional_library("skops.io", needed=_NEED)
    for text in _texts_in(file):
        if text.startswith("tree\n"):
            check_lightgbm_text(text.encode())
    types = skops.get_untrusted_types(file=file)
    unknown = sorted(set(types) - set(_TRUSTED) - set(trust))
    if unknown:
        raise InvalidArgumentError(
            f"{file.name} contains types that are not known to be harmless: {', '.join(unknown)}. "
            "If you trust all of them, pass "
            f"{' '.join(f'--trust {name}' for name in unknown)} (in Python trust=[...])."
        )
    return skops.load(file, trusted=list(types))


def _texts_in(file: Path) -> Iterator[str]:
    """Yield every text that the objects in a skops file contain, such as models of LightGBM."""
    with zipfile.ZipFile(file) as archive:
        pending = [json.loads(archive.read("schema.json"))]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            content = node.get("content")
            if node.get("__class__") == "str" and isinstance(content, str):
                text = json.loads(content)
                if isinstance(text, str):
                    yield text
            pending += node.values()
        elif isinstance(node, list):
            pending += node


def _load_lightgbm(file: Path, trust: Sequence[str]) -> Any:
    lightgbm = optional_library("lightgbm", needed=_NEED)
    check_lightgbm_text(file.read_bytes())
    return lightgbm.Booster(model_file=str(file))


def _load_xgboost(file: Path, trust: Sequence[str]) -> Any:
    xgboost = optional_library("xgboost", needed=_NEED)
    return xgboost.Booster(model_file=str(file))


_LOADERS: Final[dict[str, Callable[[Path, Sequence[str]], Any]]] = {
    "skops": _load_skops,
    "lightgbm": _load_lightgbm,
    "xgboost": _load_xgboost,
}
