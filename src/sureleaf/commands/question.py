"""Input of the commands: a labelled table from a file, and a classifier from its name."""

import ast
import importlib
import operator
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.files import CsvFormat, read_file

__all__ = ["Encoded", "Question", "read_model", "read_question"]


@dataclass(frozen=True, eq=False)
class Question:
    """A table split into columns, labels, groups and weights; rows without a label are left out."""

    X: Any
    y: NDArray[Any]
    groups: NDArray[Any] | None
    weights: NDArray[np.float64] | None
    n_left_out: int


def read_question(
    path: Path,
    target: str,
    *,
    group: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    csv: CsvFormat | None = None,
) -> Question:
    """Read a file, or "-", and split off the column to predict, the groups and the weights.

    Categorical columns are numbers whose values are categories, such as codes. A column that does
    not exist is an error with the name that may be meant.
    """
    table = read_file(path, csv=csv)
    name = "standard input" if str(path) == "-" else Path(path).name
    named = [("target", target), ("group", group), ("weight", weight)]
    chosen = [("drop", drop), ("categorical", categorical)]
    for role, column in [*named, *((role, each) for role, columns in chosen for each in columns)]:
        if column is not None and column not in table.column_names:
            raise InvalidArgumentError(
                f"--{role} must be a column of {name}; got {column!r}."
                f"{suggestion(column, table.column_names)}"
            )
        if column is not None and role != "target" and column == target:
            raise InvalidArgumentError(
                f"--{role} must be another column than the target; got {column!r} for both."
            )
    labelled = np.asarray(table[target].is_valid())
    rows = table.filter(labelled)
    if not len(rows):
        got = f"{len(table):,} rows without one" if len(table) else "only a header"
        raise InvalidArgumentError(f"{name} must have rows with a value in {target!r}; got {got}.")
    taken = list(dict.fromkeys(column for _, column in named if column is not None))
    X = rows.drop_columns(list(dict.fromkeys([*taken, *drop])))
    for column in set(categorical) & set(X.column_names):
        if not str(X[column].type).startswith("dictionary"):
            index = X.column_names.index(column)
            X = X.set_column(index, column, X[column].combine_chunks().dictionary_encode())
    if not X.column_names:
        raise InvalidArgumentError(
            f"{name} must have a column to predict from; got only {', '.join([*taken, *drop])}. "
            "There is nothing to predict from."
        )
    y = _labels(rows[target], "target", target)
    if group is not None and rows[group].null_count:
        raise InvalidArgumentError(
            f"--group must have a value in every row; got {group!r} with "
            f"{rows[group].null_count:,} missing values. Fill them in, or leave these rows out."
        )
    _check_classes(y, target)
    groups = None if group is None else _labels(rows[group], "group", group)
    weights = None if weight is None else _weights(rows[weight], weight)
    return Question(X, y, groups, weights, len(table) - len(rows))


def _labels(column: Any, role: str, name: str) -> NDArray[Any]:
    """Return the labels of a column, or the error for a type that has none."""
    import pyarrow as pa

    try:
        if pa.types.is_nested(column.type):
            raise TypeError(f"values of type {column.type}")
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp(column.type.unit))  # a model has no time zones
        values = column.to_pylist()
        if any(getattr(value, "nanosecond", 0) for value in values):
            raise ValueError("times that differ by less than a microsecond")
        is_large = any(type(value) is int and abs(value) > 2**53 for value in values)
        return np.array(values, dtype=object) if is_large else np.array(values)
    except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
        raise InvalidArgumentError(
            f"--{role} must be a column of labels: text, bools, whole numbers or dates; got "
            f"{name!r} with other values ({str(error)[:200]}). Convert the column."
        ) from error


def _check_classes(y: NDArray[Any], target: str) -> None:
    """Check that the target has classes, before anything is fitted."""
    if y.dtype.kind == "f" and (odd := y[y != np.rint(y)]).size:
        raise InvalidArgumentError(
            f"--target must be a column of classes: text, bools or whole numbers; got {target!r} "
            f"with numbers such as {odd[0]:g}. Divide it into ranges first."
        )
    classes = np.unique(y)
    if y.dtype.kind in "iuf" and len(classes) > max(20, min(len(y) // 10, 1000)):
        raise InvalidArgumentError(
            f"--target must be a column of classes; got {target!r} with {len(classes):,} distinct "
            f"numbers in {len(y):,} rows. Divide it into ranges first; if each number is a class, "
            "write it as text, such as 'class 7'."
        )
    if len(classes) == 1:
        raise InvalidArgumentError(
            f"--target must be a column with at least two classes; got {target!r}, which is "
            f"{classes[0]!s} in every row."
        )
    if len(classes) > max(20, len(y) // 2):
        warnings.warn(
            f"{target!r} has {len(classes):,} distinct values in {len(y):,} rows; is it the column "
            "to predict?",
            UserWarning,
            stacklevel=3,
        )


def _weights(column: Any, name: str) -> NDArray[np.float64]:
    try:
        return np.array(column.to_pylist(), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # dates of other millennia overflow
        raise InvalidArgumentError(
            f"--weight must be a column of numbers; got {name!r}, of type {column.type}."
        ) from None


# A classifier by its name: TreeClassifier(pruning=None), sklearn.naive_bayes.GaussianNB.

_OURS = ("TreeClassifier", "TreeClassifier.c45", "BaggedTreesClassifier")


def read_model(text: str, X: Any) -> Any:
    """Return the classifier that a text names, ready for the columns of X.

    The text is a class of sureleaf by its name, or of another library by its full name, with or
    without parameters. For classifiers of other libraries, each text value becomes a 0/1 column,
    and missing numbers become the mean.

    Examples
    --------
    >>> import pyarrow
    >>> X = pyarrow.table({"wind": [1.0, 2.0]})
    >>> read_model("TreeClassifier(min_samples_leaf=5)", X).min_samples_leaf
    5
    >>> read_model("TreeClassifier.c45", X).criterion
    'gain_ratio'
    >>> read_model("sklearn.naive_bayes.GaussianNB", X)
    GaussianNB()
    """
    name, options = _parse(text)
    module, _, short = ("", "", name) if name in _OURS else name.rpartition(".")
    if not module and short not in _OURS:
        raise InvalidArgumentError(
            f"--model must be {', '.join(_OURS[:-1])} or {_OURS[-1]}, or a classifier of another "
            "library with its module, such as sklearn.ensemble.RandomForestClassifier; "
            f"got {text!r}."
        )
    try:
        learner = operator.attrgetter(short)(importlib.import_module(module or "sureleaf"))
        if module and not (isinstance(learner, type) and hasattr(learner, "fit")):
            raise TypeError("it is not a class with a method fit")  # it is not called, either
        model = learner(**options)
    except (ImportError, AttributeError, TypeError) as problem:
        raise InvalidArgumentError(
            f"--model must name a classifier, such as TreeClassifier(pruning=None) or "
            f"sklearn.naive_bayes.GaussianNB(); got {text!r}: {problem}."
        ) from None
    return model if type(model).__module__.startswith("sureleaf") else _with_numbers(model, X)


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    try:
        node = ast.parse(text.strip(), mode="eval").body
        options: dict[str, Any] = {}
        if isinstance(node, ast.Call):
            if node.args:
                raise ValueError("every parameter needs its name")
            options = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
            node = node.func
        return _dotted(node), options
    except (SyntaxError, ValueError) as problem:
        raise InvalidArgumentError(
            "--model must be a name with parameters, such as TreeClassifier(max_depth=3); "
            f"got {text!r} ({problem})."
        ) from None


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise ValueError("not a name")


def _with_numbers(model: Any, X: Any) -> Any:
    """Encode text columns as 0/1 columns for a classifier that needs numbers."""
    import pyarrow.types as kinds

    def is_number(kind: Any) -> bool:
        return bool(kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind))

    numbers = [i for i, field in enumerate(X.schema) if is_number(field.type)]
    words = [i for i in range(X.num_columns) if i not in numbers]
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words),
        (SimpleImputer(keep_empty_features=True), numbers),
    )
    return Encoded(
        [("rows", FunctionTransformer(_as_objects)), ("columns", columns), ("model", model)]
    )


class Encoded(Pipeline):  # type: ignore[misc]
    """A classifier with its encoding; its repr is that of the classifier alone."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.steps[-1][1])


def _as_objects(table: Any) -> Any:
    """Return an Arrow table as rows of objects; None where a value is missing."""
    rows = np.empty((table.num_rows, table.num_columns), dtype=object)
    for i, column in enumerate(table.columns):
        rows[:, i] = column.to_pylist()
    return rows
