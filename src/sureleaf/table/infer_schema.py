"""Reading a table for a fit: infer its schema and encode its columns."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, TextColumnWarning, warn_caller
from sureleaf.table.categories import declared_categories, infer_categories, match_categories
from sureleaf.table.dates import temporal_numbers, temporal_of
from sureleaf.table.encoded_table import ArrayColumns, EncodedTable, MatrixColumns, Recoding
from sureleaf.table.encoding import encode_opened, float_numbers, is_number, quoted
from sureleaf.table.frames import RawTable, array_of_numbers, as_float64, open_table
from sureleaf.table.raw_column import MAX_EXACT, RawColumn
from sureleaf.table.schema import UNSEEN, Column, Kind, Schema

__all__ = ["check_told_apart", "read_table"]


_KINDS: Final = get_args(Kind)

Choice = Kind | tuple[object, ...]
"""A kind, or the categories of an ordered column from first to last."""


def read_table(
    X: Any,
    *,
    categorical_features: Any = "auto",
    overrides: Schema | Mapping[Any, Any] | None = None,
    estimator: str = "TreeClassifier",
) -> EncodedTable:
    """Infer the schema of a table and encode it, as before a fit.

    Text, bools and category types (pandas category, polars Categorical and Enum, Arrow
    dictionary) are categorical; pandas and Arrow categories that declare an order are ordered;
    dates, timestamps, durations and times are dates; numbers (also infinite ones) are numeric. A
    column whose type says nothing, because no row has a value, is categorical without categories:
    every value is unseen. None, NaN, NaT, NA, null and masked values are missing; an empty
    text is a value.

    `categorical_features` are the categorical columns: by type ("auto"), or their names, their
    indices or a mask, as in scikit-learn's HistGradientBoostingClassifier. With a list, listed
    numbers become categories, bools that are not listed become numbers, and text that is not listed
    is an error. `overrides` has, for some columns by name or index, the kind, or the categories of
    an ordered column from first to last; or it is a whole Schema, which the table must match. A
    mapping or a Schema may also be given as `categorical_features`.

    The result for an EncodedTable keeps the categories that occur in its rows.

    Examples
    --------
    >>> rows = [[1, "s", True], [2, "l", None], [None, "m", True]]
    >>> read_table(rows, categorical_features=[0, 1], overrides={1: ["s", "m", "l"]})
    EncodedTable of 3 rows x 3 columns
      x0  categorical: 1, 2
      x1  ordered: 's' < 'm' < 'l'
      x2  numeric
    """
    if isinstance(X, EncodedTable) and overrides is None and _is_auto(categorical_features):
        return Recoding.of(X, np.arange(X.n_rows))(X)
    matrix = array_of_numbers(X) if overrides is None and _is_auto(categorical_features) else None
    if matrix is not None and matrix.size:
        columns = tuple(Column(f"x{index}", "numeric") for index in range(matrix.shape[1]))
        if type(X) is np.ndarray and X.dtype.kind in "iu" and X.dtype.itemsize == 8:
            for column, values in zip(columns, X.T, strict=True):
                check_told_apart(column.name, values)
        return EncodedTable(Schema(columns, False), MatrixColumns(matrix), matrix.shape[0])
    raw = open_table(X)
    _check_shape(raw, estimator)
    argument = "overrides"
    if isinstance(categorical_features, Schema | Mapping):
        argument, overrides, categorical_features = (
            "categorical_features", categorical_features, "auto",
        )  # fmt: skip
    if isinstance(overrides, Schema):
        return _encode_by_schema(raw, overrides, estimator)
    listed = _listed_indices(categorical_features, raw)
    chosen = _read_overrides(overrides or {}, raw, argument)
    inferred, arrays = [], []
    for index in range(len(raw.names)):
        raw_column = raw.column(index)
        is_listed = None if listed is None else index in listed
        choice = chosen.get(index) or _infer_kind(raw_column, is_listed)
        column, array = _infer_column(raw_column, choice)
        if is_listed is None and index not in chosen and not raw_column.is_category:
            _warn_of_text(column)
        inferred.append(column)
        arrays.append(array)
    return EncodedTable(Schema(tuple(inferred), raw.named), ArrayColumns(arrays), raw.n_rows)


def _is_auto(categorical_features: Any) -> bool:
    return isinstance(categorical_features, str) and categorical_features == "auto"


def _check_shape(raw: RawTable, estimator: str) -> None:
    """Raise the errors of scikit-learn for empty tables, which its own checks require."""
    shape = f"(shape=({raw.n_rows}, {len(raw.names)}))"
    if raw.n_rows == 0:
        raise InvalidArgumentError(
            f"Found array with 0 sample(s) {shape} while a minimum of 1 is required by {estimator}."
        )
    if not raw.names:
        raise InvalidArgumentError(
            f"Found array with 0 feature(s) {shape} while a minimum of 1 is required."
        )


def _encode_by_schema(raw: RawTable, schema: Schema, estimator: str) -> EncodedTable:
    table = encode_opened(raw, schema, estimator)
    for name, count in table.unseen_counts.items():
        raise InvalidArgumentError(
            f"column {name!r} must hold categories of the given schema; got {count} other values. "
            "Add them to the schema, or make them missing."
        )
    return table


def _listed_indices(categorical_features: Any, raw: RawTable) -> set[int] | None:
    """Return the indices of the columns listed as categorical; None for "auto"."""
    if isinstance(categorical_features, str):
        if categorical_features == "auto":
            return None
        raise InvalidArgumentError(
            "categorical_features must be 'auto' or a list of names, indices or a mask; got "
            f"{categorical_features!r}. Did you mean [{categorical_features!r}]?"
        )
    if categorical_features is not None and not isinstance(categorical_features, Iterable):
        raise InvalidTypeError(
            "categorical_features must be 'auto', a list of names, indices or a mask, or a mapping "
            f"of columns to kinds; got {categorical_features!r}. Did you mean "
            f"[{categorical_features!r}]?"
        )
    entries = [] if categorical_features is None else list(categorical_features)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != len(raw.names):
            raise InvalidArgumentError(
                f"categorical_features as a mask must have one bool per column, {len(raw.names)}; "
                f"got {len(entries)}."
            )
        return set(np.flatnonzero(entries).tolist())
    return {_column_index(entry, raw, "categorical_features") for entry in entries}


def _read_overrides(
    overrides: Mapping[Any, Any], raw: RawTable, argument: str
) -> dict[int, Choice]:
    chosen: dict[int, Choice] = {}
    for key, choice in overrides.items():
        index = _column_index(key, raw, argument)
        if isinstance(choice, str):
            if choice not in _KINDS:
                raise InvalidArgumentError(
                    f"kind of column {raw.names[index]!r} must be one of {', '.join(_KINDS)}, or "
                    f"a list of categories; got {choice!r}."
                )
            chosen[index] = choice  # type: ignore[assignment]
        elif isinstance(choice, Sequence) and len(choice):
            chosen[index] = tuple(choice)
        else:
            raise InvalidTypeError(
                f"override of column {raw.names[index]!r} must be a kind or a list of "
                f"categories; got {choice!r}."
            )
    return chosen


def _column_index(entry: Any, raw: RawTable, argument: str) -> int:
    if isinstance(entry, str):
        if entry in raw.names:
            return raw.names.index(entry)
        raise InvalidArgumentError(
            f"{argument} must name columns of X; got {entry!r}. X has {quoted(raw.names)}."
        )
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        if 0 <= entry < len(raw.names):
            return int(entry)
        raise InvalidArgumentError(
            f"{argument} must give indices from 0 to {len(raw.names) - 1}; got {entry}."
        )
    raise InvalidTypeError(f"{argument} must hold names or indices of columns; got {entry!r}.")


def _infer_kind(column: RawColumn, is_listed: bool | None) -> Kind:
    """Choose the kind by type; `is_listed` is None if there is no list of categorical columns."""
    family = column.family
    if is_listed:
        return "categorical"
    if column.is_category and column.ordered:
        return "ordered"
    if family == "date" and not column.is_category:
        return "date"
    is_categorical = column.is_category or family == "text"
    if is_listed is None:
        return "categorical" if is_categorical or family in ("bool", "null") else "numeric"
    if is_categorical:
        raise InvalidArgumentError(
            f"column {column.name!r} must be in categorical_features, because it holds "
            f"{'categories' if column.is_category else 'text'}; the list leaves it out. Add it, "
            "or use categorical_features='auto'."
        )
    return "numeric"


_MANY_NUMBERS: Final = 20
_FEW_WORDS: Final = 3


_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?")
_READINGS: Final[tuple[tuple[str, str, Callable[[str], object]], ...]] = (
    ("numbers", "pandas.to_numeric(column, errors='coerce')", is_number),
    (
        "numbers with commas",
        "if these are decimal commas, pandas.to_numeric(column.str.replace(',', '.'))",
        lambda text: is_number(text.replace(",", ".")),
    ),
    ("dates", "pandas.to_datetime(column, errors='coerce')", _DATE.fullmatch),
)
"""What texts may mean, how pandas converts them, and which texts are so."""


def _warn_of_text(column: Column) -> None:
    """Warn if text categories are numbers or dates, all of many or all but a few words ("?")."""
    n = len(column.categories)
    if column.category_family != "text" or n <= _MANY_NUMBERS:  # few may be meant as categories
        return
    texts = [str(text) for text in column.categories]
    for what, command, is_so in _READINGS:
        words = list(islice((text for text in texts if not is_so(text)), _FEW_WORDS + 1))
        if len(words) > _FEW_WORDS:
            continue
        others = f"; the others are {quoted(words)}" if words else ""
        kind = what.split(" ", maxsplit=1)[0]
        text = (
            f"column {column.name!r} holds text and is categorical, but {n - len(words)} of its "
            f"{n} different values are {what}{others}. If it is meant as {kind}, store it as "
            f"{kind}, with empty cells for missing values (in pandas: {command}). If not, name it "
            "as categorical (categorical_features, --categorical)."
        )
        warn_caller(TextColumnWarning(text, column.name))
        return


def _infer_column(column: RawColumn, choice: Choice) -> tuple[Column, NDArray[Any]]:
    if isinstance(choice, tuple):
        return _encode_ordered(column, choice)
    if choice == "categorical":
        codes, categories = infer_categories(column)
        return Column(column.name, "categorical", categories), codes
    if choice == "ordered":
        codes, categories = declared_categories(column)
        return Column(column.name, "ordered", categories), codes
    if choice == "date":
        if column.family != "date" or column.is_category:
            raise _wrong_kind_error(column, "date", "pandas.to_datetime")
        temporal = temporal_of(column.values.type)
        return Column(column.name, "date", (), temporal), temporal_numbers(column.values)
    if column.family not in ("number", "bool", "null"):
        raise _wrong_kind_error(column, "numeric", "pandas.to_numeric")
    numbers = float_numbers(column)
    if not column.is_category:
        check_told_apart(column.name, column.values)
    return Column(column.name, "numeric"), numbers


def check_told_apart(name: str, values: Any) -> None:
    """Raise if different integers are the same float64, because no threshold can part them."""
    if not isinstance(values, np.ndarray):
        if str(values.type) not in ("int64", "uint64"):
            return
        values = values.drop_null().to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return
    if max(-int(values.min()), int(values.max())) <= MAX_EXACT:
        return
    integers = np.unique(values)
    (same,) = np.nonzero(np.diff(as_float64(integers)) == 0)
    if not len(same):
        return
    low, high = (int(integers[same[0] + step]) for step in (0, 1))
    raise InvalidArgumentError(
        f"column {name!r} must hold integers that float64 tells apart, as it does up to 2**53; got "
        f"{low} and {high}, which it does not. Subtract a constant, such as {int(integers[0])}, "
        "from the column before fit and predict, or make it categorical."
    )


def _encode_ordered(
    column: RawColumn, categories: tuple[object, ...]
) -> tuple[Column, NDArray[np.int32]]:
    ordered = Column(column.name, "ordered", categories)
    is_text = ordered.category_family == "text"
    if column.family != "null" and is_text != (column.family in ("text", "date")):
        raise _wrong_kind_error(
            column, f"ordered by {quoted([str(c) for c in categories])}", "astype"
        )
    codes = match_categories(column, categories)
    unseen = np.flatnonzero(codes == UNSEEN)
    if len(unseen):
        row = int(unseen[0])
        raise InvalidArgumentError(
            f"column {column.name!r} must hold the given categories, {ordered!r}; got "
            f"{column.values[row]!s} in row {row}. Add it, or make it missing."
        )
    return ordered, codes


def _wrong_kind_error(column: RawColumn, kind: str, converter: str) -> InvalidTypeError:
    return InvalidTypeError(
        f"column {column.name!r} cannot be {kind}; it holds "
        f"{'categories of ' if column.is_category else ''}{column.family} values. Convert it "
        f"first, for example with {converter}."
    )
