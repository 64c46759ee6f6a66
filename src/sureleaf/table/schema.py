"""The columns of a table: names, kinds and categories."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.table.dates import TEMPORALS, iso_text

Kind = Literal["numeric", "categorical", "ordered", "date"]

MISSING: Final = -1
"""The code of a missing value in a categorical or ordered column."""

UNSEEN: Final = -2
"""The code of a value that is not one of the categories of its column."""

EXACT_DIGITS: Final = 17
"""Significant digits that tell any two numbers of float64 apart."""

_SHOWN_CATEGORIES: Final = 6


def rounded_up(value: float, digits: int) -> float:
    """Round a number up to significant digits, as it is written in decimals."""
    exact = Decimal(repr(float(value)))
    if not exact.is_finite() or exact.is_zero():
        return value
    unit = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(unit, ROUND_CEILING))


@dataclass(frozen=True)
class Column:
    """One column: its name, its kind and its categories.

    Examples
    --------
    >>> size = Column("size", "ordered", ("small", "large"))
    >>> size
    Column('size', ordered: 'small' < 'large')
    >>> size.render(1)
    'large'
    >>> Column("born", "date", temporal="date").render(19782.0)
    '2024-02-29'
    """

    name: str
    kind: Kind  # an ordered column has categories with an order
    # Category ``categories[c]`` has code c. All are text, all bools or all numbers. Sorted for
    # categorical columns, in their declared order for ordered ones, empty for other kinds.
    categories: tuple[object, ...] = ()
    temporal: str | None = None  # for dates, the unit of their numbers: see `sureleaf.table.dates`
    # Whether training rows lack the value, so that rules say where missing values go. Columns that
    # differ in this alone are equal.
    has_missing: bool = field(default=False, compare=False)
    # Significant digits of the thresholds that a tree has found in a column of numbers, in its
    # rules; None writes all of them.
    digits: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._check_kind()
        if self.categories and not self.is_coded:
            raise InvalidArgumentError(
                f"categories of column {self.name!r} must be empty, because it is {self.kind}; "
                f"got {len(self.categories)}. Make its kind 'categorical' or 'ordered'."
            )
        self._check_categories()

    def _check_kind(self) -> None:
        if self.kind not in get_args(Kind):
            raise InvalidArgumentError(
                f"kind of column {self.name!r} must be one of {', '.join(get_args(Kind))}; "
                f"got {self.kind!r}."
            )
        if (self.kind == "date") != (self.temporal in TEMPORALS):
            raise InvalidArgumentError(
                f"temporal of column {self.name!r} must be one of {', '.join(TEMPORALS)} for "
                f"kind 'date' and None for the others; got {self.temporal!r}, kind {self.kind!r}."
            )
        if self.digits is not None and self.digits not in range(1, EXACT_DIGITS + 1):
            raise InvalidArgumentError(
                f"digits of column {self.name!r} must be 1 to {EXACT_DIGITS} or None; got "
                f"{self.digits!r}."
            )

    def _check_categories(self) -> None:
        if not self.categories:
            return
        types = set(map(type, self.categories))
        families = {_family(category_type) for category_type in types}
        if len(families) > 1 or None in families:
            raise InvalidArgumentError(
                f"categories of column {self.name!r} must be all text, all bools or all "
                f"numbers; got {', '.join(sorted(t.__name__ for t in types))}."
            )
        if len(set(self.categories)) < len(self.categories):
            raise InvalidArgumentError(
                f"categories of column {self.name!r} must all be different; got some more than "
                "once. List each category once."
            )

    @property
    def is_coded(self) -> bool:
        """Whether the column is encoded as category codes, not as float64 numbers."""
        return self.kind in ("categorical", "ordered")

    @property
    def category_family(self) -> str | None:
        """``"text"``, ``"bool"`` or ``"number"``; None without categories."""
        return _family(type(self.categories[0])) if self.categories else None

    def cache_codes(self, labels: object, codes: NDArray[np.int32]) -> None:
        """Cache the codes of the labels of a category type, for the next table.

        Data frames that are derived from each other share one immutable object for their labels.
        The cache holds a reference to it, so that no other object can get its identity.
        """
        self.__dict__["_cached_codes"] = labels, codes

    def cached_codes(self, labels: object) -> NDArray[np.int32] | None:
        """Return the codes of these labels if they were cached last, else None."""
        cached, codes = self.__dict__.get("_cached_codes", (None, None))
        return codes if cached is labels else None

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def render(self, value: float) -> str:
        """Write a value, a threshold or a code of the column as text for people.

        The value is a number, the number of a date, or the code of a category. A number is the
        shortest text that is read back as the same number.
        """
        if self.is_coded:
            if value < 0:
                return "missing" if value == MISSING else "unseen"
            return str(self.categories[int(value)])
        if value != value:
            return "missing"
        if self.kind == "date":
            return iso_text(float(value), str(self.temporal))
        return repr(float(value) + 0.0).removesuffix(".0")  # -0.0 is written as 0

    def render_bound(self, value: float) -> str:
        """Write a threshold in a rule, rounded up to the digits that matter."""
        return self.render(value if self.digits is None else rounded_up(value, self.digits))

    def to_json(self) -> dict[str, Any]:
        """Return the column as a dict for `Schema.to_json`."""
        plain: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.is_coded:
            plain["categories"] = list(self.categories)
        if self.temporal:
            plain["temporal"] = self.temporal
        if self.has_missing:
            plain["has_missing"] = True
        if self.digits is not None:
            plain["digits"] = self.digits
        return plain

    def __repr__(self) -> str:
        return f"Column({self.name!r}, {self.describe()})"

    def describe(self) -> str:
        """Return the kind and the first categories, as a schema lists them."""
        description = f"{self.kind} ({self.temporal})" if self.temporal else self.kind
        if not self.is_coded:
            return description
        shown = [repr(category) for category in self.categories[:_SHOWN_CATEGORIES]]
        if len(self.categories) > _SHOWN_CATEGORIES:
            shown.append(f"... {len(self.categories)} in all")
        separator = " < " if self.kind == "ordered" else ", "
        return f"{description}: {separator.join(shown) or 'no categories'}"


@dataclass(frozen=True)
class Schema:
    """The columns of a table: inferred when a model is fitted, checked when it predicts.

    Examples
    --------
    >>> schema = Schema((Column("age", "numeric"), Column("sex", "categorical", ("f", "m"))))
    >>> schema
    Schema of 2 columns
      age  numeric
      sex  categorical: 'f', 'm'
    >>> Schema.from_json(schema.to_json()) == schema
    True
    """

    columns: tuple[Column, ...]  # in the order of the table
    # Whether columns are matched by name. The columns of an array are matched by position and
    # called ``x0``, ``x1``, ... as in scikit-learn.
    named: bool = True

    def __post_init__(self) -> None:
        counts = Counter(column.name for column in self.columns)
        repeated = [name for name, count in counts.items() if count > 1]
        if repeated:
            raise InvalidArgumentError(
                f"column names must all be different; got {', '.join(map(repr, repeated))} "
                "more than once. Rename or drop the duplicates."
            )

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all columns are numeric."""
        return all(column.kind == "numeric" for column in self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(column.name for column in self.columns)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The names of the columns with text categories, which a file must give as text."""
        return tuple(c.name for c in self.columns if c.category_family == "text")

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain dicts, lists, text, bools and numbers.

        These are ``{"named": bool, "columns": [{"name", "kind", "categories"?, "temporal"?,
        "has_missing"?, "digits"?}, ...]}``; ``categories`` (in code order) for categorical and
        ordered columns, ``temporal`` for dates, ``has_missing`` if it is true, ``digits`` if rules
        round thresholds. JSON keeps the types of
        categories: ``true``, ``1`` and ``1.5``.
        """
        return {"named": self.named, "columns": [column.to_json() for column in self.columns]}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Schema":
        """Read the result of `to_json`."""
        try:
            columns = tuple(
                Column(
                    part["name"],
                    part["kind"],
                    tuple(part.get("categories", ())),
                    part.get("temporal"),
                    bool(part.get("has_missing", False)),
                    part.get("digits"),
                )
                for part in plain["columns"]
            )
            return cls(columns, bool(plain["named"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidArgumentError(
                "a schema must be a dict with 'named' and 'columns', each column with 'name' "
                f"and 'kind'; reading it failed with {error!r}. Write it with to_json()."
            ) from error

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "named": self.named}  # without what is cached

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        lines = [f"  {column.name:<{width}}  {column.describe()}" for column in self.columns]
        title = f"Schema of {len(self)} column{'' if len(self) == 1 else 's'}"
        return "\n".join([title + ("" if self.named else ", by position"), *lines])


def _family(category_type: type) -> str | None:
    if issubclass(category_type, str):
        return "text"
    if issubclass(category_type, bool):
        return "bool"
    return "number" if issubclass(category_type, int | float) else None
