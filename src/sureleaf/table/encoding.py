"""A table of any library as an EncodedTable: by the schema of its own types, or by a known one."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError, TextColumnWarning, warn_caller
from sureleaf.table.categories import (
    declared_categories,
    infer_categories,
    look_up,
    match_categories,
)
from sureleaf.table.dates import temporal_numbers, temporal_of, to_temporal
from sureleaf.table.encoded_table import ArrayColumns, EncodedTable, MatrixColumns, Recoding
from sureleaf.table.frames import (
    LabelledColumn,
    RawTable,
    array_of_numbers,
    as_float64,
    frame_of_numbers,
    open_table,
)
from sureleaf.table.raw_column import MAX_EXACT, RawColumn
from sureleaf.table.schema import MISSING, UNSEEN, Column, Kind, Schema

# ---- by a known schema, before a prediction ------------------------------------------------------


def _float_numbers(column: RawColumn) -> NDArray[np.float64]:
    """Return the numbers of a column as float64, with NaN for missing.

    This is a view of the caller's memory (read-only perhaps, of any stride) if that holds float64
    without nulls. Integers beyond 2**53 are rounded up, see `as_float64`.
    """
    if column.family == "null":
        return np.full(len(column.values), np.nan)
    if column.is_category:
        label_numbers = np.append(_float_numbers(column.categories), np.nan)
        numbers: NDArray[np.float64] = label_numbers[column.indices]
        return numbers
    values = column.values
    array = values if isinstance(values, np.ndarray) else _arrow_numbers(values)
    if array.dtype != np.float64 or not array.dtype.isnative or not array.flags.aligned:
        return as_float64(array)
    return array


def _arrow_numbers(values: Any) -> NDArray[Any]:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(values.type) or types.is_decimal(values.type):
        values = values.cast(pa.float64())
    array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
    return array


_SHOWN_NAMES: Final = 5
_FAMILY_NAMES: Final = {
    "number": "numbers",
    "bool": "bools",
    "text": "text",
    "date": "dates or times",
    "null": "only missing values",
}


def encode(
    X: Any, schema: Schema, *, estimator: str = "TreeClassifier", for_routing: bool = False
) -> EncodedTable:
    """Encode a table by a schema, as before a prediction.

    Columns are matched by name, in any order, or by position if the schema has no names. Columns
    that are not in the schema are ignored with a warning.

    A value that is not a category of the schema has code -2 and is counted. With `for_routing`, the
    table will only be routed through trees, which read numbers of most dtypes and int8 codes: these
    need not be copied. A missing column, or one of another type than at fit, is an error.

    Examples
    --------
    >>> import pyarrow
    >>> from sureleaf.table import read_table
    >>> schema = read_table(pyarrow.table({"age": [38, 21], "sex": ["f", "m"]})).schema
    >>> table = encode(pyarrow.table({"sex": ["m", "x"], "age": [1, 2]}), schema)
    >>> [column.tolist() for column in table.columns], table.unseen_counts
    ([[1.0, 2.0], [1, -2]], {'sex': 1})
    """
    if schema.is_numeric:  # without a Python object per column, of which there may be thousands
        matrix = array_of_numbers(X)
        if matrix is not None:
            _check_positions(matrix.shape[1], schema, estimator, named=False)
            return EncodedTable(schema, MatrixColumns(matrix), matrix.shape[0])
        matrix = frame_of_numbers(X, schema.names) if schema.named else None
        if matrix is not None:
            return EncodedTable(schema, MatrixColumns(matrix), matrix.shape[0])
    return _encode_opened(open_table(X), schema, estimator, for_routing=for_routing)


def _encode_opened(
    raw: RawTable, schema: Schema, estimator: str, *, for_routing: bool = False
) -> EncodedTable:
    """Encode a table that is already open: a stream can be opened only once."""
    indices: Sequence[int] = range(len(schema))
    if raw.named and schema.named:
        indices = _match_by_name(raw, schema)
    else:
        _check_positions(len(raw.names), schema, estimator, named=raw.named)
    # Trees that test only numbers are routed by a faster loop over columns of one dtype.
    for_routing = for_routing and any(column.is_coded for column in schema.columns)
    arrays = ArrayColumns(
        _encode_column(raw.column(index), column, for_routing)
        for index, column in zip(indices, schema.columns, strict=True)
    )
    unseen_counts = {
        column.name: int(np.count_nonzero(codes == UNSEEN))
        for column, codes in zip(schema.columns, arrays, strict=True)
        if column.is_coded and codes.min(initial=0) <= UNSEEN
    }
    return EncodedTable(schema, arrays, raw.n_rows, unseen_counts)


def quoted(names: Sequence[str]) -> str:
    """Return names for a message: the first ones in quotes, and how many more there are."""
    shown = ", ".join(map(repr, names[:_SHOWN_NAMES]))
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _check_positions(n_columns: int, schema: Schema, estimator: str, *, named: bool) -> None:
    """Check that columns can be matched by position, and warn as scikit-learn does."""
    if n_columns != len(schema):
        raise InvalidArgumentError(
            f"X has {n_columns} features, but {estimator} is expecting {len(schema)} "
            "features as input. Give the columns of the fit, in their order."
        )
    if schema.named:
        warn_caller(
            f"X does not have valid feature names, but {estimator} was fitted with feature names",
            UserWarning,
        )
    elif named:
        warn_caller(
            f"X has feature names, but {estimator} was fitted without feature names", UserWarning
        )


def _match_by_name(raw: RawTable, schema: Schema) -> Sequence[int]:
    index_of = {name: index for index, name in enumerate(raw.names)}
    missing = [name for name in schema.names if name not in index_of]
    if missing:
        raise InvalidArgumentError(
            "The feature names should match those that were passed during fit.\n"
            "Feature names seen at fit time, yet now missing:\n"
            + "".join(f"- {name}\n" for name in missing)
            + f"Add them to X (with missing values if unknown); X has {quoted(raw.names)}."
        )
    known = set(schema.names)
    extra = [name for name in raw.names if name not in known]
    if extra:
        warn_caller(
            f"columns that the fitted table did not have are ignored: {quoted(extra)}", UserWarning
        )
    return [index_of[name] for name in schema.names]


def _encode_column(raw: RawColumn, column: Column, for_routing: bool) -> NDArray[Any]:
    if column.is_coded:
        return _encode_categories(raw, column, for_routing)
    if column.kind == "date":
        return _encode_dates(raw, column)
    if raw.family not in ("number", "bool", "null"):
        return _all_missing_or_error(raw, column, "numbers")
    if for_routing and not raw.is_category and MatrixColumns.can_read(raw.values):
        return raw.values  # type: ignore[no-any-return]
    return _float_numbers(raw)


def _encode_categories(
    raw: RawColumn, column: Column, for_routing: bool
) -> NDArray[np.integer[Any]]:
    code_of = column.cached_codes(raw.labels) if isinstance(raw, LabelledColumn) else None
    if code_of is None and not _has_family(raw, column):
        expected = f"categories of {_FAMILY_NAMES[str(column.category_family)]}"
        return _all_missing_or_error(raw, column, expected)
    if not isinstance(raw, LabelledColumn):
        return match_categories(raw, column.categories)
    if code_of is None:
        code_of = match_categories(raw.categories, column.categories)
        column.cache_codes(raw.labels, code_of)
    if for_routing and raw.codes.dtype == np.int8 and np.all(code_of == np.arange(len(code_of))):
        return raw.codes
    return look_up(code_of, raw.codes)


def _has_family(raw: RawColumn, column: Column) -> bool:
    family = column.category_family
    is_text = raw.family in ("text", "date")
    # Without categories (all values were missing at fit), every value is unseen.
    return raw.family == "null" or family is None or is_text == (family == "text")


def _encode_dates(raw: RawColumn, column: Column) -> NDArray[Any]:
    if raw.family == "null":
        return _float_numbers(raw)
    values = raw.values
    if raw.is_category:
        values = values.dictionary_decode()
    temporal = temporal_of(values.type) if raw.family == "date" else None
    numbers = None
    if temporal is not None:
        numbers = to_temporal(temporal_numbers(values), temporal, str(column.temporal))
    if numbers is None:
        return _all_missing_or_error(raw, column, f"values of the date type {column.temporal!r}")
    return numbers


def _all_missing_or_error(raw: RawColumn, column: Column, expected: str) -> NDArray[Any]:
    """Encode a column of another type if all its values are missing; else raise an error.

    With few rows, such a column is frequent: in pandas, a column of only NaN has a number type.
    """
    values = raw.values.tolist() if isinstance(raw.values, np.ndarray) else raw.values.to_pylist()
    present = [(row, value) for row, value in enumerate(values) if value is not None]
    present = [(row, value) for row, value in present if value == value]
    if not present:
        missing = np.int32(MISSING) if column.is_coded else np.nan
        return np.full(len(values), missing)
    got = _FAMILY_NAMES[raw.family]
    if raw.family == "date":
        arrow_type = raw.values.type.value_type if raw.is_category else raw.values.type
        got = f"the date type {temporal_of(arrow_type)!r}"
    is_text = raw.family == "text"
    row, value = next((cell for cell in present if is_text and not _is_number(cell[1])), present[0])
    example = ", for example by pandas.to_numeric" if column.kind == "numeric" else ""
    if column.kind == "date" and is_text:
        example = ", for example by pandas.to_datetime"
    raise InvalidTypeError(
        f"column {column.name!r} must hold {expected}, as at fit; got {got}, first {value!r} in "
        f"row {row}. Convert the column to the type it had at fit{example}."
    )


def _is_number(text: str) -> bool:
    """Return whether a text is written like a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


# ---- by its own types, before a fit --------------------------------------------------------------

_KINDS: Final = get_args(Kind)

Choice = Kind | tuple[object, ...]
"""A kind, or the categories of an ordered column from first to last."""


def read_table(
    X: Any, *, categorical_features: Any = "auto", estimator: str = "TreeClassifier"
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
    is an error. Or they are a mapping that has, for some columns by name or index, the kind, or the
    categories of an ordered column from first to last; or a whole Schema, which the table must
    match.

    The result for an EncodedTable keeps the categories that occur in its rows.

    Examples
    --------
    >>> rows = [[1, "s", True], [2, "l", None], [None, "m", True]]
    >>> read_table(rows, categorical_features={0: "categorical", 1: ["s", "m", "l"]})
    EncodedTable of 3 rows x 3 columns
      x0  categorical: 1, 2
      x1  ordered: 's' < 'm' < 'l'
      x2  categorical: True
    """
    is_auto = isinstance(categorical_features, str) and categorical_features == "auto"
    if isinstance(X, EncodedTable) and is_auto:
        return Recoding.of(X, np.arange(X.n_rows))(X)
    matrix = array_of_numbers(X) if is_auto else None
    if matrix is not None and matrix.size:
        columns = tuple(Column(f"x{index}", "numeric") for index in range(matrix.shape[1]))
        if type(X) is np.ndarray and X.dtype.kind in "iu" and X.dtype.itemsize == 8:
            for column, values in zip(columns, X.T, strict=True):
                check_told_apart(column.name, large_integers(values))
        return EncodedTable(Schema(columns, False), MatrixColumns(matrix), matrix.shape[0])
    raw = open_table(X)
    _check_shape(raw, estimator)
    if isinstance(categorical_features, Schema):
        return _encode_by_schema(raw, categorical_features, estimator)
    listed, chosen = None, {}
    if isinstance(categorical_features, Mapping):
        chosen = _choices(categorical_features, raw)
    else:
        listed = _listed_indices(categorical_features, raw)
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
    table = _encode_opened(raw, schema, estimator)
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
    return {_column_index(entry, raw) for entry in entries}


def _choices(given: Mapping[Any, Any], raw: RawTable) -> dict[int, Choice]:
    chosen: dict[int, Choice] = {}
    for key, choice in given.items():
        index = _column_index(key, raw)
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


def _column_index(entry: Any, raw: RawTable) -> int:
    if isinstance(entry, str):
        if entry in raw.names:
            return raw.names.index(entry)
        raise InvalidArgumentError(
            f"categorical_features must name columns of X; got {entry!r}. X has "
            f"{quoted(raw.names)}."
        )
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        if 0 <= entry < len(raw.names):
            return int(entry)
        raise InvalidArgumentError(
            f"categorical_features must give indices from 0 to {len(raw.names) - 1}; got {entry}."
        )
    raise InvalidTypeError(
        f"categorical_features must hold names or indices of columns; got {entry!r}."
    )


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
_READINGS: Final[tuple[tuple[str, str, str, Callable[[str], object]], ...]] = (
    ("numbers", "numbers", "pandas.to_numeric(column, errors='coerce')", _is_number),
    (
        "numbers",
        "numbers with commas",
        "if these are decimal commas, pandas.to_numeric(column.str.replace(',', '.'))",
        lambda text: _is_number(text.replace(",", ".")),
    ),
    ("dates", "dates", "pandas.to_datetime(column, errors='coerce')", _DATE.fullmatch),
)
"""What texts may mean, how they are written, how pandas converts them, which texts are so."""


def _warn_of_text(column: Column) -> None:
    """Warn if text categories are numbers or dates, all of many or all but a few words ("?")."""
    n = len(column.categories)
    if column.category_family != "text" or n <= _MANY_NUMBERS:  # few may be meant as categories
        return
    texts = [str(text) for text in column.categories]
    for kind, what, command, is_so in _READINGS:
        words = list(islice((text for text in texts if not is_so(text)), _FEW_WORDS + 1))
        if len(words) > _FEW_WORDS:
            continue
        others = f"; the others are {quoted(words)}" if words else ""
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
    numbers = _float_numbers(column)
    if not column.is_category:
        check_told_apart(column.name, large_integers(column.values))
    return Column(column.name, "numeric"), numbers


def large_integers(values: Any) -> NDArray[Any] | None:
    """Return the distinct integers and decimals of 2**53 and more, ascending, or None.

    Also those of -2**53 and less. These two are exact, but the next number beyond may become one
    of them.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(values, np.ndarray):
        is_decimal = pa.types.is_decimal(values.type)
        if not is_decimal and str(values.type) not in ("int64", "uint64"):
            return None
        ends = pc.min_max(values).as_py()
        if ends["min"] is None or max(-ends["min"], ends["max"]) < MAX_EXACT:
            return None
        if is_decimal:
            distinct = pc.unique(values).drop_null().to_pylist()
            return np.array(sorted(one for one in distinct if abs(one) >= MAX_EXACT), dtype=object)
        values = values.drop_null().to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return None
    if max(-int(values.min()), int(values.max())) < MAX_EXACT:
        return None
    is_large = values >= MAX_EXACT
    if values.dtype.kind == "i":
        is_large |= values <= -MAX_EXACT
    integers: NDArray[Any] = np.unique(values[is_large])
    return integers


def check_told_apart(name: str, integers: NDArray[Any] | None) -> None:
    """Raise if two of these `large_integers` are the same float64: no threshold can part them."""
    if integers is None:
        return
    (same,) = np.nonzero(np.diff(as_float64(integers)) == 0)
    if not len(same):
        return
    low, high = (integers[same[0] + step] for step in (0, 1))
    raise InvalidArgumentError(
        f"column {name!r} must hold numbers that float64 tells apart, as it does integers up to "
        f"2**53; got {low} and {high}, which it does not. Subtract a constant, such as "
        f"{int(integers[0])}, from the column before fit and predict, or make it categorical."
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


# ---- the table as numbers, for classifiers of other libraries ------------------------------------

MAX_INDICATORS = 50
MAX_CELLS = 100_000_000
"""Cells of all indicator columns together: 400 MB."""


def max_categories(table: EncodedTable) -> int:
    """Return how many categories per column get a 0/1 column: the most frequent ones."""
    n_columns = sum(column.kind == "categorical" for column in table.schema.columns)
    fitting = MAX_CELLS // max(1, n_columns * table.n_rows)
    return max(2, min(MAX_INDICATORS, fitting))


def numeric_matrix(table: EncodedTable) -> NDArray[np.float32]:
    """Return numbers as they are (NaN is missing) and 0/1 columns for categories.

    The categories of all rows are known beforehand. A column that is 0 in all training rows gives
    a classifier no information.

    Examples
    --------
    >>> numeric_matrix(read_table([[1.5, "b"], [None, "a"]])).tolist()
    [[1.5, 0.0, 1.0], [nan, 1.0, 0.0]]
    """
    parts: list[NDArray[np.float32]] = []
    most = max_categories(table)
    for column, values in zip(table.schema.columns, table.columns, strict=True):
        if column.kind == "categorical":
            counts = np.bincount(values[values >= 0], minlength=len(column.categories))
            kept = np.sort(np.argsort(-counts, kind="stable")[:most])
            parts.append((values[:, None] == kept[None, :]).astype(np.float32))
        else:
            numbers = values.astype(np.float64)
            if column.is_coded:
                numbers = np.where(values < 0, np.nan, numbers)
            # scikit-learn accepts neither infinities nor numbers beyond float32
            largest = float(np.finfo(np.float32).max)
            parts.append(np.clip(numbers, -largest, largest).astype(np.float32)[:, None])
    return np.hstack(parts) if parts else np.zeros((table.n_rows, 1), dtype=np.float32)
