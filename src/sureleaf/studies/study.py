"""What a study is: data sets, learners, a design; and the cells that it consists of.

A cell is one learner on one split of one data set. Its key is a hash of the rows, the split, the
learner with its parameters and the versions that matter, and its random seed comes from the key.
So neither the order of work nor the number of workers nor an interruption can change a result.
"""

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from itertools import product
from os import PathLike
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils._param_validation import InvalidParameterError

from sureleaf.arguments import check_number
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.evaluation.designs import Design, KFold, Split, count_units, from_dict
from sureleaf.evaluation.evaluator import Fitter, check_estimator
from sureleaf.evaluation.labelled_table import LabelledTable, read_labelled_table
from sureleaf.evaluation.measures.named import find_measure


@dataclass(frozen=True, eq=False)
class DataSet:
    """A table with labels: in a file that `sureleaf evaluate` reads, or in memory (X, y, ...).

    A file needs a target; the columns in ``drop`` are left out. The positive class is by default
    the second one.
    """

    name: str
    path: Path | None = None
    target: str | None = None
    drop: tuple[str, ...] = ()
    positive: Any = None
    X: Any = None
    y: Any = None
    groups: Any = None
    sample_weight: Any = None

    @cached_property
    def labelled_rows(self) -> LabelledTable:
        """The rows, checked and coded."""
        if self.path is None:
            return read_labelled_table(
                self.X,
                self.y,
                positive=self.positive,
                groups=self.groups,
                sample_weight=self.sample_weight,
            )
        from sureleaf.commands.question import read_question

        question = read_question(self.path, str(self.target), drop=self.drop)
        return read_labelled_table(question.X, question.y, positive=self.positive)

    @cached_property
    def digest(self) -> str:
        """A hash of the file's bytes, or of the rows in memory."""
        if self.path is None:
            content, table = hashlib.sha256(), self.labelled_rows
            for part in (table.X, table.codes, table.classes, table.weights, table.groups):
                _add(content, part)
            return content.hexdigest()
        if self.path.exists() and not self.path.is_file():
            raise InvalidArgumentError(
                f"data set {self.name!r}: {self.path} must be a file, which can be read again."
            )
        try:
            with self.path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256")
        except (OSError, ValueError) as problem:
            cause = getattr(problem, "strerror", problem)
            raise InvalidArgumentError(
                f"data set {self.name!r}: {self.path} cannot be read: {cause}."
            ) from None
        content.update(json.dumps([self.target, self.drop, self.positive]).encode())
        return content.hexdigest()


def _add(content: Any, part: Any) -> None:
    """Add a part of a table to a hash, the same for the same values in any process."""
    if part is None:
        content.update(b"none")
    elif sparse.issparse(part):
        rows = part.tocsr()
        for array in (np.array(rows.shape), rows.indptr, rows.indices, rows.data):
            _add(content, array)
    elif isinstance(part, np.ndarray):
        content.update(f"{part.dtype.str}{part.shape}".encode())
        if part.dtype.kind == "O":
            content.update(repr([(type(one).__name__, str(one)) for one in part.flat]).encode())
        else:
            content.update(np.ascontiguousarray(part).tobytes())
    else:
        frame = nw.from_native(part, eager_only=True).to_arrow()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, frame.schema.remove_metadata()) as writer:
            writer.write_table(frame.replace_schema_metadata().combine_chunks())
        content.update(sink.getvalue())


@dataclass(frozen=True, eq=False)
class Learner:
    """A classifier under a name: an estimator, or a text as for ``sureleaf evaluate --model``."""

    name: str
    model: Any

    def estimator(self, table: LabelledTable) -> Any:
        """Return the unfitted classifier for the columns of a table."""
        if not isinstance(self.model, str):
            return self.model
        from sureleaf.commands.learners import Encoded, read_model

        is_arrow = isinstance(table.X, pa.Table)
        model = read_model(self.model, table.X if is_arrow else pa.table({}))
        if isinstance(model, Encoded) and not is_arrow:
            raise InvalidTypeError(
                f"a learner of another library must be an object, not a text, for rows in memory; "
                f"got {self.model!r}. Give, for example, GaussianNB()."
            )
        return model

    def identity(self) -> dict[str, Any]:
        """Return what decides about its results: class, parameters, versions."""
        if isinstance(self.model, str):
            from sureleaf.commands.learners import libraries_of

            return {"model": self.model, "versions": _versions(libraries_of(self.model))}
        packages: set[str] = set()
        return {"model": _described(self.model, packages), "versions": _versions(packages)}


def _described(value: Any, packages: set[str]) -> Any:
    """Return a value as plain JSON that is the same in every process."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [_described(one, packages) for one in value]
    if isinstance(value, Mapping):
        return {str(name): _described(one, packages) for name, one in sorted(value.items())}
    if isinstance(value, np.ndarray):
        return value.tolist()
    packages.add(type(value).__module__.partition(".")[0])
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if hasattr(value, "get_params"):
        return {name: _described(value.get_params(deep=False), packages)}
    text = repr(value)
    if " at 0x" in text:
        raise InvalidTypeError(
            f"a parameter of a learner must have a repr that is the same in every run; got {text}. "
            "Give a number, a text, or an object with a repr of its own."
        )
    return {name: text}


def _versions(packages: set[str]) -> dict[str, str]:
    names = {"sureleaf", "numpy", "sklearn", *packages} - {"", "__main__", "builtins"}
    versions = {}
    for name in sorted(names):
        try:
            versions[name] = metadata.version("scikit-learn" if name == "sklearn" else name)
        except metadata.PackageNotFoundError:
            versions[name] = "unknown"
    return versions


@dataclass(frozen=True)
class Limits:
    """What one fit may take; a fit that takes more is a recorded failure."""

    seconds: float = 3600.0
    memory_mb: float | None = None

    def __post_init__(self) -> None:
        check_number("limits.seconds", self.seconds, low=0, open_low=True)
        if self.memory_mb is not None:
            check_number("limits.memory_mb", self.memory_mb, low=0, high=1e9, open_low=True)


@dataclass(frozen=True)
class Cell:
    """One learner on one split of one data set."""

    data: str
    learner: str
    split: int
    key: str

    @property
    def seed(self) -> int:
        """The seed of every random_state that the learner leaves at None."""
        return int(self.key[:15], 16)


@dataclass(frozen=True, eq=False)
class Definition:
    """What decides about the results of a study; all learners get the same splits."""

    data: dict[str, str]  # the digest of each data set
    learners: dict[str, Any]  # the identity of each learner
    design: Design
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the definition as plain JSON."""
        return vars(self) | {"design": self.design.to_dict()}

    def split_seed(self, data: str) -> int:
        """Return the seed of the splits of a data set."""
        return int(_hash([self.seed, self.data[data]])[:15], 16)

    def cells(self, data: str, n_units: int) -> Iterator[Cell]:
        """Yield the cells of a data set of so many rows or groups."""
        for learner, identity in self.learners.items():
            for number in range(self.design.n_splits_of(n_units)):
                made_of = [self.data[data], self.design.to_dict(), self.seed, identity, number]
                yield Cell(data, learner, number, _hash(made_of))


@dataclass(frozen=True, eq=False)
class Study:
    """Learners on data sets, by a design.

    The store knows it by its name. All learners get the same splits, of the design and the seed;
    the first of the measures ranks them in the report. A difference up to the margin has no
    practical meaning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import TreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> study = Study(
    ...     "flowers",
    ...     [DataSet("iris", X=X, y=y)],
    ...     [Learner("tree", TreeClassifier()), Learner("bayes", GaussianNB())],
    ... )
    >>> len(list(study.cells()))
    20
    """

    name: str
    data: Sequence[DataSet]
    learners: Sequence[Learner]
    design: Design = field(default_factory=lambda: KFold(10))
    seed: int = 0
    measures: Sequence[str] = ("accuracy",)
    margin: float = 0.01
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.name or not _is_name(self.name):
            raise InvalidArgumentError(
                f"name must be a text without NUL and half characters; got {self.name!r}."
            )
        for what, parts in (("data", self.data), ("learners", self.learners)):
            names = [part.name for part in parts]
            if not all(map(_is_name, names)):
                raise InvalidArgumentError(
                    f"{what} must have texts as names, without NUL and half characters; got "
                    f"{names}."
                )
            if not names:
                raise InvalidArgumentError(f"{what} must have at least one entry; got none.")
            if len(set(names)) < len(names):
                raise InvalidArgumentError(f"{what} must have different names; got {names}.")
        for learner in self.learners:
            if not isinstance(learner.model, str):
                check_estimator(learner.model)
        for measure in self.measures:
            find_measure(measure)
        if not self.measures:
            raise InvalidArgumentError("measures must name at least one measure; got none.")
        check_number("margin", self.margin, low=0)

    @cached_property
    def definition(self) -> Definition:
        """What decides about the results."""
        data = {one.name: one.digest for one in self.data}
        learners = {one.name: one.identity() for one in self.learners}
        return Definition(data, learners, self.design, self.seed)

    def check(self) -> None:
        """Raise an error with all reasons why learners cannot be fitted to the data sets."""
        if self._problems:
            raise InvalidArgumentError(
                f"the study {self.name!r} cannot run, and was not begun: {' '.join(self._problems)}"
            )

    @cached_property
    def _problems(self) -> tuple[str, ...]:
        reasons = []
        for data, learner in product(self.data, self.learners):
            try:
                table = data.labelled_rows
                _check_parameters(learner.estimator(table), table)
            except (SureleafError, InvalidParameterError) as problem:
                reasons.append(f"learner {learner.name!r}: {problem}")
        return tuple(dict.fromkeys(reasons))

    def splits(self, data: DataSet) -> list[Split]:
        """Return the splits of a data set."""
        table, seed = data.labelled_rows, self.definition.split_seed(data.name)
        return list(self.design.splits(table.codes, groups=table.groups, seed=seed))

    def cells(self) -> Iterator[Cell]:
        """Yield all cells, data set by data set."""
        for data in self.data:
            table = data.labelled_rows
            # The first split tells whether there are enough rows for the design.
            next(self.design.splits(table.codes, groups=table.groups, seed=0))
            yield from self.definition.cells(data.name, count_units(len(table), table.groups))


_TRIED_PER_CLASS = 20


def _check_parameters(model: Any, table: LabelledTable) -> None:
    """Raise the error of parameters with which no fit to a table can succeed.

    Our own classifiers are tried with few rows of each class, which finds parameters that do not
    fit the columns or classes; with all rows before that is believed. What others do with rows is
    an outcome of the study.
    """
    check_estimator(model)
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    library = type(last).__module__.partition(".")[0]
    if library == "sklearn" and hasattr(last, "_validate_params"):
        last._validate_params()  # noqa: SLF001 - the only check that scikit-learn makes without rows
    if library != "sureleaf":
        return
    order = np.argsort(table.codes, kind="stable")
    firsts = np.searchsorted(table.codes[order], np.unique(table.codes))
    few = [part[:_TRIED_PER_CLASS] for part in np.split(order, firsts[1:])]
    fitter = Fitter(model, table, seed=0)
    try:
        fitter.fit(np.sort(np.concatenate(few)))
    except SureleafError:
        fitter.fit(np.arange(len(table)))


def _is_name(name: Any) -> bool:
    """Whether every store can hold a name."""
    return isinstance(name, str) and not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in name)


def _hash(plain: Any) -> str:
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=True)
    return hashlib.sha256(text.encode()).hexdigest()


_EXAMPLE = """for example:
name = "trees"
design = { design = "KFold", n_splits = 10 }
[[data]]
name = "iris"
path = "iris.csv"
target = "class"
[[learners]]
name = "tree"
model = "TreeClassifier(max_leaves=8)\""""


def read_study(path: str | PathLike[str]) -> Study:
    """Read a study from a TOML file; paths of data are relative to the file.

    Examples
    --------
    >>> read_study("nowhere.toml")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: nowhere.toml does not exist.
    """
    file = Path(path)
    if not file.is_file():
        raise InvalidArgumentError(f"{file} does not exist.")
    try:
        plain = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        raise InvalidArgumentError(f"{file.name} is not a TOML file: {problem}.") from None
    known = {"name", "data", "learners", *_ENTRIES}
    if unknown := sorted(set(plain) - known):
        raise InvalidArgumentError(
            f"{file.name}: {unknown[0]!r} is not known; a study has {', '.join(sorted(known))}."
        )
    try:
        data = [_read_data(one, file.parent) for one in plain["data"]]
        learners = [_read_learner(one) for one in plain["learners"]]
    except (KeyError, TypeError) as problem:
        raise InvalidArgumentError(
            f"{file.name}: {problem} is missing or not a table, {_EXAMPLE}"
        ) from None
    entries: dict[str, Any] = {"name": plain.get("name", file.stem)}
    for name, (kinds, expected, read) in _ENTRIES.items():
        if name not in plain:
            continue
        if not isinstance(plain[name], kinds) or isinstance(plain[name], bool):
            raise InvalidArgumentError(
                f"{file.name}: {name} must be {expected}; got {plain[name]!r}."
            )
        entries[name] = read(plain[name])
    return Study(data=data, learners=learners, **entries)


def _read_limits(entry: Mapping[str, Any]) -> Limits:
    try:
        return Limits(**entry)
    except TypeError:
        raise InvalidArgumentError(
            f"limits has seconds and memory_mb; got {', '.join(entry)}."
        ) from None


_ENTRIES: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "seed": (int, "a whole number", int),
    "measures": (list, "a list of names", tuple),
    "margin": (int | float, "a number", float),
    "design": (dict, 'a table such as { design = "KFold", n_splits = 10 }', from_dict),
    "limits": (dict, "a table such as { seconds = 60 }", _read_limits),
}
"""The entries that a file may leave out: their type, what an error calls it, and their reader."""


def _read_data(entry: Mapping[str, Any], folder: Path) -> DataSet:
    path = folder / str(entry["path"])
    drop, positive = entry.get("drop", []), entry.get("positive")
    name = entry.get("name", path.stem)
    if not isinstance(drop, list) or not all(isinstance(column, str) for column in drop):
        raise InvalidArgumentError(f"drop must be a list of columns; got {drop!r}.")
    if positive is not None and not isinstance(positive, str | int | float):
        raise InvalidArgumentError(f"positive must be a text, a number or a bool; got {positive}.")
    return DataSet(name, path, entry["target"], tuple(drop), positive)


def _read_learner(entry: Mapping[str, Any]) -> Learner:
    """Return a learner: a text, or what the options of a tree describe."""
    name, options = entry["name"], {key: entry[key] for key in entry if key != "name"}
    if "tree" not in options and "bagged" not in options:
        return Learner(name, options["model"])
    from sureleaf.commands.learners import read_tree_options

    tree, bagged = options.pop("tree", []), options.pop("bagged", None)
    is_list = isinstance(tree, list) and all(isinstance(text, str) for text in tree)
    if options or not is_list or not isinstance(bagged, int | None):
        raise InvalidArgumentError(
            f"learner {name!r} must have a model, or tree, a list of texts such as "
            f'["c45", "pruning=none"], and bagged, a number of trees; got {dict(entry)}.'
        )
    return Learner(name, read_tree_options(tree, bagged=bagged).make())
