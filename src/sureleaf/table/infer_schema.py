"""A table read for a fit: its schema learnt, its columns encoded."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table.categories import declared_categories, learn_categories, match_categories
from sureleaf.table.dates import temporal_numbers, temporal_of
from sureleaf.table.encoded_table import EncodedTable, Recoding
from sureleaf.table.encoding import encode_opened, float_numbers, quoted
from sureleaf.table.frames import RawTable, open_table
from sureleaf.table.schema import UNSEEN, Column, Kind, Schema
from sureleaf.table.values import RawColumn

__all__ = ["read_table"]


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
    """Read a table for a fit: learn its schema and encode it by that.

    Text, bools and category types (pandas category, polars Categorical and Enum, Arrow
    dictionary) are categorical; pandas and Arrow categories that declare an order are ordered;
    dates, timestamps, durations and times are dates; numbers (infinities too) and wholly empty
    columns are numeric. None, NaN, NaT, NA, null and masked are missing; an empty text is a
    value.

    Parameters
    ----------
    X : table
        NumPy, pandas, polars, Arrow, anything with an Arrow C stream, or a list of rows. Of an
        EncodedTable, the categories that its rows have.
    categorical_features : "auto", array-like, mapping or Schema
        Which columns are categorical: by type, or the names, the places or a mask of them, as in
        scikit-learn's HistGradientBoostingClassifier. Given as a list, numbers in it become
        categories, bools not in it become numbers, and text not in it is an error. A mapping or
        a Schema is what `overrides` may be, and the other columns go by type.
    overrides : Schema or mapping, optional
        What is known better: column name or place -> kind, or the categories of an ordered
        column from first to last; or a whole Schema, which must then fit the table.
    estimator : str
        Who is being fitted, for messages.

    Returns
    -------
    EncodedTable
        With the schema learnt.

    Raises
    ------
    InvalidArgumentError, InvalidTypeError
        If the table is empty, or a column cannot be what it is to be.

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
    raw = open_table(X)
    _check_shape(raw, estimator)
    argument = "overrides"
    if isinstance(categorical_features, Schema | Mapping):
        argument, overrides, categorical_features = (
            "categorical_features", categorical_features, "auto",
        )  # fmt: skip
    if isinstance(overrides, Schema):
        return _by_given(raw, overrides, estimator)
    listed = _listed_places(categorical_features, raw)
    chosen = _overridden(overrides or {}, raw, argument)
    learnt = []
    for place in range(len(raw.names)):
        column = raw.column(place)
        choice = chosen.get(place) or _kind(column, None if listed is None else place in listed)
        learnt.append(_learn_column(column, choice))
    schema = Schema(tuple(column for column, _ in learnt), raw.named)
    return EncodedTable(schema, tuple(array for _, array in learnt), raw.n_rows)


def _is_auto(categorical_features: Any) -> bool:
    return isinstance(categorical_features, str) and categorical_features == "auto"


def _check_shape(raw: RawTable, estimator: str) -> None:
    """Say it in scikit-learn's words, which its own checks look for."""
    shape = f"(shape=({raw.n_rows}, {len(raw.names)}))"
    if raw.n_rows == 0:
        raise InvalidArgumentError(
            f"Found array with 0 sample(s) {shape} while a minimum of 1 is required by {estimator}."
        )
    if not raw.names:
        raise InvalidArgumentError(
            f"Found array with 0 feature(s) {shape} while a minimum of 1 is required."
        )


def _by_given(raw: RawTable, schema: Schema, estimator: str) -> EncodedTable:
    table = encode_opened(raw, schema, estimator)
    for name, count in table.unseen_counts.items():
        raise InvalidArgumentError(
            f"column {name!r} must hold categories of the schema given; got {count} values that "
            "are none. Add them to the schema, or make them missing."
        )
    return table


def _listed_places(categorical_features: Any, raw: RawTable) -> set[int] | None:
    """Places of the columns listed as categorical; None to go by type."""
    if isinstance(categorical_features, str):
        if categorical_features == "auto":
            return None
        raise InvalidArgumentError(
            "categorical_features must be 'auto' or a list of names, places or a mask; got "
            f"{categorical_features!r}. Did you mean [{categorical_features!r}]?"
        )
    if categorical_features is not None and not isinstance(categorical_features, Iterable):
        raise InvalidTypeError(
            "categorical_features must be 'auto', a list of names, places or a mask, or a mapping "
            f"of columns to kinds; got {categorical_features!r}. Did you mean "
            f"[{categorical_features!r}]?"
        )
    wanted = [] if categorical_features is None else list(categorical_features)
    if wanted and all(isinstance(entry, bool | np.bool_) for entry in wanted):
        if len(wanted) != len(raw.names):
            raise InvalidArgumentError(
                f"categorical_features as a mask must have one bool a column, {len(raw.names)}; "
                f"got {len(wanted)}."
            )
        return set(np.flatnonzero(wanted).tolist())
    return {_place(entry, raw, "categorical_features") for entry in wanted}


def _overridden(overrides: Mapping[Any, Any], raw: RawTable, argument: str) -> dict[int, Choice]:
    chosen: dict[int, Choice] = {}
    for key, choice in overrides.items():
        place = _place(key, raw, argument)
        if isinstance(choice, str):
            if choice not in _KINDS:
                raise InvalidArgumentError(
                    f"kind of column {raw.names[place]!r} must be one of {', '.join(_KINDS)}, or "
                    f"a list of categories; got {choice!r}."
                )
            chosen[place] = choice  # type: ignore[assignment]
        elif isinstance(choice, Sequence) and len(choice):
            chosen[place] = tuple(choice)
        else:
            raise InvalidTypeError(
                f"override of column {raw.names[place]!r} must be a kind or a list of "
                f"categories; got {choice!r}."
            )
    return chosen


def _place(entry: Any, raw: RawTable, argument: str) -> int:
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
            f"{argument} must give places from 0 to {len(raw.names) - 1}; got {entry}."
        )
    raise InvalidTypeError(f"{argument} must hold names or places of columns; got {entry!r}.")


def _kind(column: RawColumn, listed: bool | None) -> Kind:
    """Choose by type; ``listed`` is whether a list has the column, None if there is no list."""
    family = column.family
    if listed:
        return "categorical"
    if column.is_category and column.ordered:
        return "ordered"
    if family == "date" and not column.is_category:
        return "date"
    is_categorical = column.is_category or family == "text"
    if listed is None:
        return "categorical" if is_categorical or family == "bool" else "numeric"
    if is_categorical:
        raise InvalidArgumentError(
            f"column {column.name!r} must be in categorical_features, because it holds "
            f"{'categories' if column.is_category else 'text'}; the list leaves it out. Add it, "
            "or use categorical_features='auto'."
        )
    return "numeric"


def _learn_column(column: RawColumn, choice: Choice) -> tuple[Column, NDArray[Any]]:
    if isinstance(choice, tuple):
        return _ordered_by(column, choice)
    if choice == "categorical":
        codes, categories = learn_categories(column)
        return Column(column.name, "categorical", categories), codes
    if choice == "ordered":
        codes, categories = declared_categories(column)
        return Column(column.name, "ordered", categories), codes
    if choice == "date":
        if column.family != "date" or column.is_category:
            raise _cannot_be(column, "date", "pandas.to_datetime")
        temporal = temporal_of(column.values.type)
        return Column(column.name, "date", (), temporal), temporal_numbers(column.values)
    if column.family not in ("number", "bool", "null"):
        raise _cannot_be(column, "numeric", "pandas.to_numeric")
    return Column(column.name, "numeric"), float_numbers(column)


def _ordered_by(
    column: RawColumn, categories: tuple[object, ...]
) -> tuple[Column, NDArray[np.int32]]:
    learnt = Column(column.name, "ordered", categories)
    of_text = learnt.category_family == "text"
    if column.family != "null" and of_text != (column.family in ("text", "date")):
        raise _cannot_be(column, f"ordered by {quoted([str(c) for c in categories])}", "astype")
    codes = match_categories(column, categories)
    unseen = np.flatnonzero(codes == UNSEEN)
    if len(unseen):
        row = int(unseen[0])
        raise InvalidArgumentError(
            f"column {column.name!r} must hold the categories given, {learnt!r}; got "
            f"{column.values[row]!s} in row {row}. Add it, or make it missing."
        )
    return learnt, codes


def _cannot_be(column: RawColumn, kind: str, remedy: str) -> InvalidTypeError:
    return InvalidTypeError(
        f"column {column.name!r} cannot be {kind}; it holds "
        f"{'categories of ' if column.is_category else ''}{column.family} values. Convert it "
        f"first, for example by {remedy}."
    )
