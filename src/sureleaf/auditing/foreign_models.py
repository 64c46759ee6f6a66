"""Model files of other libraries, loaded and asked in a process of their own.

The compiled code of scikit-learn, LightGBM and XGBoost trusts what it loads: a child index beyond
the tree, or a length that the text does not have, reads foreign memory and may end the process. So
this process never loads such a file. A child loads it and predicts the rows; what comes back are
arrays, which are checked here, or one error.
"""

import contextlib
import io
import json
import os
import pickle
import re
import signal
import struct
import subprocess
import sys
import threading
import warnings
import weakref
import zipfile
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from sureleaf import errors
from sureleaf.arguments import check_probabilities, child_process
from sureleaf.auditing.model_output import ModelOutput, check_table, model_output
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.errors import InvalidArgumentError, SureleafError, optional_library
from sureleaf.estimators import load
from sureleaf.files.state_file import MODEL
from sureleaf.levels.decisions import CostRule

_SECONDS: Final = 60
_BYTES: Final = 4 << 30
"""What a child may take to load a model: seconds, and bytes of address space."""

_ROWS: Final = 10_000
"""Rows that a child predicts at a time, each time within the same seconds."""

_PROGRAM: Final = "from sureleaf.auditing.foreign_models import serve; serve()"


class ForeignModel:
    """A fitted model in a file, which a child process has loaded.

    `form` is "skops", "lightgbm" or "xgboost"; `trust` names types that a skops file may contain.
    `classes_` is empty if the model does not store its classes.
    """

    def __init__(self, file: Path, form: str, trust: Sequence[str] = ()) -> None:
        self._file = file
        n_bytes = _BYTES + 50 * file.stat().st_size
        command, environment = child_process(_PROGRAM, form, str(file), str(n_bytes), *trust)
        # What a library reads beyond its own memory shall not look like a number there by chance.
        environment |= {"OMP_NUM_THREADS": "1", "MALLOC_PERTURB_": "165"}
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        weakref.finalize(self, _end, self._child)
        loaded, arrays = self._answer()
        self.classes_ = _labels(loaded, arrays)

    def output(self, X: Any, classes: ArrayLike | None) -> ModelOutput:
        """Predict rows, in parts; see `model_output`."""
        X = check_table(X)
        rows = X.tocsr() if sp.issparse(X) else X
        parts = [
            self._part(getattr(rows, "iloc", rows)[start : start + _ROWS], classes)
            for start in range(0, max(rows.shape[0], 1), _ROWS)
        ]
        return ModelOutput.join(parts)

    def _part(self, rows: Any, classes: ArrayLike | None) -> ModelOutput:
        labels = None if classes is None else np.asarray(classes).tolist()
        with contextlib.suppress(BrokenPipeError):  # the child has ended: its answer says why
            write_message(self._child.stdin, pickle.dumps((rows, labels)))
        header, arrays = self._answer()
        try:
            output = unpack(header, arrays)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise unreadable(self._file, str(error)) from error
        if len(output.predicted) != rows.shape[0]:
            raise unreadable(self._file, "its predictions are not one per row")
        return output

    def _answer(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Wait for the child's answer; an error there is an error here."""
        is_late, child = threading.Event(), self._child

        def stop() -> None:
            is_late.set()
            child.kill()

        timer = threading.Timer(_SECONDS, stop)
        timer.start()
        try:
            content = read_message(child.stdout)
        finally:
            timer.cancel()
        if content is None:
            raise unreadable(self._file, self._cause_of_death(is_late.is_set()))
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays.pop("header").tobytes())
        for text in header.get("warnings", ()):
            warnings.warn(text, UserWarning, stacklevel=5)
        if "error" in header:
            kind = getattr(errors, header["kind"], InvalidArgumentError)
            if header["unreadable"]:
                raise unreadable(self._file, header["error"])
            raise kind(header["error"])
        return header, arrays

    def _cause_of_death(self, is_late: bool) -> str:
        code = self._child.wait()
        if is_late:
            return f"the library did not end within {_SECONDS} seconds"
        how = f"exit code {code}"
        if code < 0:
            with contextlib.suppress(ValueError):
                how = signal.Signals(-code).name
        return f"the library crashed on it ({how})"


def _end(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout):
        with contextlib.suppress(OSError):
            assert pipe is not None
            pipe.close()
    child.kill()
    child.wait()


def unreadable(file: Path, why: str) -> InvalidArgumentError:
    """Return the error for a file that is not a model which can be read."""
    return InvalidArgumentError(
        f"{file.name} could not be read as a model: {why}. Check that the file is complete, and "
        "that the libraries that saved it have about the same version here."
    )


# Messages: a length, and bytes.

_LENGTH: Final = struct.Struct("<Q")


def write_message(pipe: Any, content: bytes) -> None:
    """Write a message to a pipe."""
    pipe.write(_LENGTH.pack(len(content)))
    pipe.write(content)
    pipe.flush()


def read_message(pipe: Any) -> bytes | None:
    """Read a message from a pipe; None if its other end was closed."""
    start = pipe.read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(start)
    content: bytes = pipe.read(length)
    return content if len(content) == length else None


# The output of a model as arrays, and back.


def pack(header: dict[str, Any], arrays: dict[str, Any] | None = None) -> bytes:
    """Write values of JSON and arrays as bytes, without pickle."""
    content = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(content, allow_pickle=False, header=text, **(arrays or {}))
    return content.getvalue()


def output_arrays(output: ModelOutput) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the output of a model as values of JSON and arrays."""
    header: dict[str, Any] = {"name": output.name, "trees": []}
    arrays: dict[str, Any] = {"predicted": output.predicted, "probabilities": output.probabilities}
    if output.costs is not None:
        arrays["costs"] = output.costs.cost
    pack_labels(output.classes, header, arrays)
    for index, tree in enumerate(output.trees):
        header["trees"].append({"tests": tree.tests, "missing": sorted(tree.missing)})
        names = ("leaf", "probabilities", "n_training", "predicted")
        parts = {name: getattr(tree, name) for name in names}
        parts |= {name: getattr(tree.shares, name) for name in ("data", "indices", "indptr")}
        arrays |= {f"{index}.{name}": one for name, one in parts.items()}
    return header, arrays


def pack_labels(classes: NDArray[Any], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Add labels: as an array if their type is not that of Python objects."""
    if classes.dtype.hasobject:
        header["classes"] = classes.tolist()
    else:
        arrays["classes"] = classes


def _labels(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NDArray[Any]:
    if "classes" in arrays:
        return arrays["classes"]
    labels = np.empty(len(header["classes"]), dtype=object)
    labels[:] = header["classes"]
    return labels


def unpack(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> ModelOutput:
    """Read the output of a model, and check what the audit uses as a length or an index.

    Raises
    ------
    KeyError, IndexError, TypeError, ValueError
        If an array is missing or does not fit the others.
    """
    classes = _labels(header, arrays)
    probabilities = check_probabilities(arrays["probabilities"], len(classes))
    predicted = np.asarray(arrays["predicted"], dtype=np.intp)
    n_rows = len(probabilities)
    is_valid = predicted.shape == (n_rows,) and _are_within(predicted, len(classes))
    trees = []
    for index, told in enumerate(header["trees"]):
        own = {
            name.partition(".")[2]: array
            for name, array in arrays.items()
            if name.startswith(f"{index}.")
        }
        tree = _unpack_tree(own, told, n_rows)
        trees.append(tree)
        n_leaves = len(tree.leaf)
        is_valid &= tree.probabilities.shape == (n_leaves, len(classes))
        is_valid &= tree.n_training.shape == (n_leaves,)
        is_valid &= tree.tests is None or len(tree.tests) == n_leaves
        is_valid &= bool(np.isfinite(tree.probabilities).all())
        is_valid &= tree.predicted.shape == (n_leaves,)
        is_valid &= _are_within(tree.predicted, len(classes))
    if not is_valid:
        raise InvalidArgumentError("it predicts classes that it does not have, or no probabilities")
    costs = CostRule(arrays["costs"]) if "costs" in arrays else None
    return ModelOutput(header["name"], classes, predicted, probabilities, trees, costs)


def _unpack_tree(own: dict[str, NDArray[Any]], told: dict[str, Any], n_rows: int) -> TreeLeaves:
    tests = told["tests"]
    if tests is not None:
        tests = tuple(
            tuple((str(text), None if column is None else int(column)) for text, column in path)
            for path in tests
        )
    shares = sp.csr_array(
        (own["data"], own["indices"], own["indptr"]), shape=(n_rows, len(own["leaf"]))
    )
    shares.check_format(full_check=True)
    return TreeLeaves(
        leaf=own["leaf"],
        probabilities=own["probabilities"],
        shares=shares,
        n_training=own["n_training"],
        predicted=own["predicted"],
        tests=tests,
        missing=frozenset(told["missing"]),
    )


def _are_within(indices: NDArray[np.integer[Any]], stop: int) -> bool:
    return bool(((indices >= 0) & (indices < stop)).all())


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
    with file.open("rb") as stream:
        is_ours = stream.read(len(MODEL.magic)) == MODEL.magic
    if suffix == ".sureleaf" or is_ours:
        return load(file)
    if suffix in _PICKLES:
        return _load_pickle(file, trust_pickle)
    if suffix in _FORMS:
        return ForeignModel(file, _FORMS[suffix], trust)
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

    try:
        return joblib.load(file)
    except Exception as error:  # any error of any library
        text = " ".join(str(error).split())[:300]
        raise unreadable(file, text or type(error).__name__) from error


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
        model = _load(form, Path(path), trust)
        header: dict[str, Any] = {"classes": []}
        arrays: dict[str, Any] = {}
        classes = getattr(model, "classes_", None)
        if classes is not None:
            pack_labels(np.asarray(classes), header, arrays)
        return header, arrays

    def predict() -> Packed:
        return output_arrays(model_output(model, X, classes))

    write_message(answers, _answer(load))
    while model is not None and (message := read_message(sys.stdin.buffer)) is not None:
        X, classes = pickle.loads(message)  # of the parent
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


def _load(form: str, file: Path, trust: Sequence[str]) -> Any:
    """Load a model with the library that wrote it."""
    if form == "lightgbm":
        lightgbm = optional_library("lightgbm", needed=_NEED)
        check_lightgbm_text(file.read_bytes())
        return lightgbm.Booster(model_file=str(file))
    if form == "xgboost":
        xgboost = optional_library("xgboost", needed=_NEED)
        return xgboost.Booster(model_file=str(file))
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


# Whether the text of a LightGBM model is one that LightGBM can read. It trusts its text: it reads
# as many numbers as the text announces, follows the children of a node wherever they lead, and
# expects a colon in each line of parameters. A damaged text makes it read foreign memory, which
# ends the process at once, later, or not at all. So everything that it uses as a length or as an
# index is checked here first.

_CONTROL: Final = re.compile(rb"[\x00-\x09\x0b-\x1f]")
_TREE: Final = re.compile(rb"^Tree=", re.MULTILINE)
_PARAMETER: Final = re.compile(r"\[[^:\[\]]+: .*\]")
_NUMBER: Final = r"[-+.0-9eEinfa]+"
_RANGE: Final = re.compile(rf"none|\[{_NUMBER}:{_NUMBER}\]|-?\d+(:-?\d+)*")

_PER_NODE: Final = (
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "internal_value",
    "internal_weight",
    "internal_count",
)
_PER_LEAF: Final = ("leaf_value", "leaf_weight", "leaf_count", "leaf_const", "num_features")
_NEEDED: Final = _PER_NODE[:6]


def check_lightgbm_text(content: bytes) -> None:
    """Raise a ValueError that says what is wrong, if the text of a model is damaged.

    That is a length, an index or a line that LightGBM does not write. Wrong values of thresholds
    and leaves cannot be noticed.
    """
    if _CONTROL.search(content):
        raise ValueError("it contains control characters")
    end = content.find(b"\nend of trees\n")
    if end < 0:
        raise ValueError("the line 'end of trees' is missing")
    starts = [match.start() for match in _TREE.finditer(content, 0, end)]
    if not starts:
        raise ValueError("it has no trees")
    header = _fields(content[: starts[0]])
    n_features = _check_header(header, np.diff([*starts, end + 1]))
    for number, (start, stop) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        try:
            _check_tree(_fields(content[start:stop]), n_features)
        except ValueError as error:
            raise ValueError(f"tree {number}: {error}") from None
    _check_parameters(content[end:].decode("utf-8", "replace"))


def _fields(block: bytes) -> dict[str, str]:
    """Return what follows each name; two lines of the header are only a word."""
    fields: dict[str, str] = {}
    for line in block.decode("utf-8", "replace").split("\n"):
        name, sign, value = line.partition("=")
        if not sign and name not in ("", "tree", "average_output"):
            raise ValueError(f"{name[:80]!r} is not a line with a name and a value")
        if name and name in fields:
            raise ValueError(f"{name[:80]!r} comes twice")
        fields[name] = value
    return fields


def _check_header(header: dict[str, str], lengths: NDArray[np.int64]) -> int:
    """Check the lines before the trees, and return the number of features."""
    n_classes = _whole(header, "num_class", 1)
    if _whole(header, "num_tree_per_iteration", 1) != n_classes:
        raise ValueError("num_tree_per_iteration differs from num_class")
    stated = re.search(r"num_class:(\S+)", header.get("objective", ""))
    if stated and stated[1] != str(n_classes):
        raise ValueError("the objective has another num_class")
    n_features = _whole(header, "max_feature_idx", 0) + 1
    for name in ("feature_names", "feature_infos"):
        if len(header.get(name, "").split()) != n_features:
            raise ValueError(f"{name} must have {n_features:,} entries")
    for text in header["feature_infos"].split():
        if not _RANGE.fullmatch(text):
            raise ValueError(f"feature_infos must be ranges and categories; got {text[:80]!r}")
    if len(lengths) % n_classes:
        raise ValueError("the number of trees is not a multiple of num_class")
    if "tree_sizes" in header and not np.array_equal(_whole_numbers(header, "tree_sizes"), lengths):
        raise ValueError("tree_sizes does not agree with the trees")
    return n_features


def _check_tree(tree: dict[str, str], n_features: int) -> None:
    n_leaves = _whole(tree, "num_leaves", 1)
    n_nodes = n_leaves - 1
    if len(_numbers(tree, "shrinkage")) != 1:
        raise ValueError("shrinkage must be a number")
    is_linear = tree.get("is_linear", "0") == "1"
    needed = ["leaf_value", *(_NEEDED if n_nodes else ())]
    if is_linear:
        needed += ["leaf_const", "num_features"]
    for names, length in ((_PER_NODE, n_nodes), (_PER_LEAF, n_leaves)):
        for name in names:
            if (tree.get(name) or name in needed) and len(_numbers(tree, name)) != length:
                raise ValueError(f"{name} must have {length:,} entries")
    if n_nodes:
        _check_children(tree, n_leaves)
        _check_range(_whole_numbers(tree, "split_feature"), n_features, "split_feature")
        _check_categories(tree)
    if is_linear:
        _check_linear(tree, n_features)


def _check_children(tree: dict[str, str], n_leaves: int) -> None:
    """Every node but the root, and every leaf, must be the child of one node before it."""
    left, right = (_whole_numbers(tree, name) for name in ("left_child", "right_child"))
    children = np.concatenate([left, right])
    # A leaf k is written as -k - 1, so the children of a whole tree are these numbers, each once.
    expected = np.array([*range(-n_leaves, 0), *range(1, n_leaves - 1)])
    if not np.array_equal(np.sort(children), expected):
        raise ValueError("left_child and right_child are not those of a tree")
    parents = np.tile(np.arange(n_leaves - 1), 2)
    if np.any((children >= 0) & (children <= parents)):
        raise ValueError("left_child and right_child lead in a circle")


def _check_categories(tree: dict[str, str]) -> None:
    """Check the groups of categories, which thresholds of categorical splits refer to."""
    n_groups = _whole(tree, "num_cat", 0)
    types = _whole_numbers(tree, "decision_type")
    _check_range(types, 16, "decision_type")
    is_categorical = types % 2 == 1
    if n_groups:
        bounds = _whole_numbers(tree, "cat_boundaries")
        if len(bounds) != n_groups + 1 or bounds[0] != 0 or np.any(np.diff(bounds) < 0):
            raise ValueError("cat_boundaries must be increasing and fit num_cat")
        if len(_whole_numbers(tree, "cat_threshold")) != bounds[-1]:
            raise ValueError("cat_threshold must have the length that cat_boundaries state")
    elif is_categorical.any():
        raise ValueError("num_cat is 0, and there are categorical splits")
    _check_range(_numbers(tree, "threshold")[is_categorical], n_groups, "threshold")


def _check_linear(tree: dict[str, str], n_features: int) -> None:
    """Check the linear models of the leaves."""
    lengths = _whole_numbers(tree, "num_features")
    _check_range(lengths, n_features + 1, "num_features")
    for name in ("leaf_features", "leaf_coeff"):
        if len(_numbers(tree, name)) != lengths.sum():
            raise ValueError(f"{name} must have the length that num_features states")
    _check_range(_whole_numbers(tree, "leaf_features"), n_features, "leaf_features")


def _check_parameters(text: str) -> None:
    """Each line between 'parameters:' and 'end of parameters' must be ``[name: value]``."""
    _, found, rest = text.partition("\nparameters:\n")
    if not found:
        return
    lines, found, _ = rest.partition("\nend of parameters\n")
    if not found:
        raise ValueError("the line 'end of parameters' is missing")
    for line in lines.split("\n"):
        if line and not _PARAMETER.fullmatch(line):
            raise ValueError(f"{line[:80]!r} is not a line of parameters")


def _whole(fields: dict[str, str], name: str, least: int) -> int:
    text = fields.get(name, "")
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {text[:80]!r}")
    return int(text)


def _whole_numbers(fields: dict[str, str], name: str) -> NDArray[np.int64]:
    return _array(fields, name, re.compile(r"[-0-9 ]*"), np.int64)


def _numbers(fields: dict[str, str], name: str) -> NDArray[np.float64]:
    return _array(fields, name, re.compile(r"[-+.0-9eEinfa ]*"), np.float64)


def _array(fields: dict[str, str], name: str, allowed: re.Pattern[str], kind: type) -> NDArray[Any]:
    text = fields.get(name, "")
    try:
        if allowed.fullmatch(text):
            return np.array(text.split(), dtype=kind)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{name} must be numbers")


def _check_range(values: NDArray[Any], stop: int, name: str) -> None:
    if np.any((values < 0) | (values >= stop)):
        raise ValueError(f"{name} must be from 0 to {stop - 1}")
