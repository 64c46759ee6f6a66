"""What the columns of a table are: names, kinds and categories."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.table.dates import TEMPORALS, iso_text

__all__ = ["MISSING", "UNSEEN", "Column", "Kind", "Schema"]

Kind = Literal["numeric", "categorical", "ordered", "date"]

MISSING: Final = -1
"""The code of a missing value in a categorical or ordered column."""

UNSEEN: Final = -2
"""The code of a value that is none of the column's categories."""

_SHOWN_CATEGORIES: Final = 6


@dataclass(frozen=True)
class Column:
    """One column: what it is called, what it holds and how its numbers read.

    Parameters
    ----------
    name : str
        The column's name; ``x0``, ``x1``, ... where the table had none.
    kind : {"numeric", "categorical", "ordered", "date"}
        Ordered columns are categories with a first and a last.
    categories : tuple
        Category ``categories[c]`` has code c; text, bools or numbers. Sorted for categorical
        columns, in their declared order for ordered ones, empty for the other kinds.
    temporal : str, optional
        For dates, what one number means: see `sureleaf.table.dates`.

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
    kind: Kind
    categories: tuple[object, ...] = ()
    temporal: str | None = None

    def __post_init__(self) -> None:
        self._check_kind()
        if self.categories and not self.is_coded:
            raise InvalidArgumentError(
                f"column {self.name!r} is {self.kind} and has no categories; "
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
                f"categories of column {self.name!r} must be different from each other; "
                "leave each out but once."
            )

    @property
    def is_coded(self) -> bool:
        """Whether the column holds category codes (and not float64 numbers)."""
        return self.kind in ("categorical", "ordered")

    @property
    def category_family(self) -> str | None:
        """``"text"``, ``"bool"`` or ``"number"``; None without categories."""
        return _family(type(self.categories[0])) if self.categories else None

    def remember(self, labels: object, codes: NDArray[np.int32]) -> None:
        """Keep the codes that the labels of a category type became, for the next table.

        Frames that are derived from each other share one object for their labels, which does not
        change. The object is kept, too, so that no other can be taken for it.

        Examples
        --------
        >>> size, labels = Column("size", "categorical", ("l", "s")), ["s", "l"]
        >>> size.remember(labels, np.array([1, 0], dtype=np.int32))
        >>> size.recall(labels).tolist(), size.recall(["s", "l"])
        ([1, 0], None)
        """
        self.__dict__["_remembered"] = labels, codes

    def recall(self, labels: object) -> NDArray[np.int32] | None:
        """Give the codes of these labels, if they were the last that were remembered."""
        last, codes = self.__dict__.get("_remembered", (None, None))
        return codes if last is labels else None

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def render(self, value: float) -> str:
        """Write a number of the column (a value, a threshold, a code) as a reader would.

        Parameters
        ----------
        value : float or int
            A number, a date's number or a category's code.

        Returns
        -------
        str
            The shortest text that reads back as the same number; ISO 8601 for dates.

        Examples
        --------
        >>> Column("age", "numeric").render(38.0), Column("age", "numeric").render(2.45)
        ('38', '2.45')
        """
        if self.is_coded:
            if value < 0:
                return "missing" if value == MISSING else "unseen"
            return str(self.categories[int(value)])
        if value != value:
            return "missing"
        if self.kind == "date":
            return iso_text(float(value), str(self.temporal))
        return repr(float(value)).removesuffix(".0")

    def to_json(self) -> dict[str, Any]:
        """Write the column as a dict for `Schema.to_json`."""
        written: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.is_coded:
            written["categories"] = list(self.categories)
        if self.temporal:
            written["temporal"] = self.temporal
        return written

    def __repr__(self) -> str:
        held = f"{self.kind} ({self.temporal})" if self.temporal else self.kind
        if self.is_coded:
            held += f": {self._shown_categories()}"
        return f"Column({self.name!r}, {held})"

    def _shown_categories(self) -> str:
        shown = [repr(category) for category in self.categories[:_SHOWN_CATEGORIES]]
        if len(self.categories) > _SHOWN_CATEGORIES:
            shown.append(f"... {len(self.categories)} in all")
        between = " < " if self.kind == "ordered" else ", "
        return between.join(shown) or "no categories"


@dataclass(frozen=True)
class Schema:
    """The columns of a table in their order: what a fit learns and a prediction checks.

    Parameters
    ----------
    columns : tuple of Column
        In the order of the table.
    named : bool
        Whether columns are found by name; False for a bare array, whose columns are found
        by place and called ``x0``, ``x1``, ... as scikit-learn does.

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

    columns: tuple[Column, ...]
    named: bool = True

    def __post_init__(self) -> None:
        counts = Counter(column.name for column in self.columns)
        again = [name for name, count in counts.items() if count > 1]
        if again:
            raise InvalidArgumentError(
                f"column names must differ from each other; got {', '.join(map(repr, again))} "
                "more than once. Rename or drop the duplicates."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names in their order."""
        return tuple(column.name for column in self.columns)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """Names of the columns whose categories are text: read these as text from a file.

        Examples
        --------
        >>> Schema((Column("zip", "categorical", ("01234", "10115")),)).text_columns
        ('zip',)
        """
        return tuple(c.name for c in self.columns if c.category_family == "text")

    def to_json(self) -> dict[str, Any]:
        """Write the schema as plain dicts, lists, text, bools and numbers.

        Returns
        -------
        dict
            ``{"named": bool, "columns": [{"name", "kind", "categories"?, "temporal"?}, ...]}``;
            ``categories`` (in code order) for categorical and ordered columns, ``temporal``
            for dates. The types of categories survive JSON: ``true``, ``1`` and ``1.5``.

        Examples
        --------
        >>> Schema((Column("sex", "categorical", ("f", "m")),)).to_json()["columns"]
        [{'name': 'sex', 'kind': 'categorical', 'categories': ['f', 'm']}]
        """
        return {"named": self.named, "columns": [column.to_json() for column in self.columns]}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> "Schema":
        """Read what `to_json` wrote.

        Raises
        ------
        InvalidArgumentError
            If a part is not there or cannot be a schema.

        Examples
        --------
        >>> Schema.from_json({"named": False, "columns": [{"name": "x0", "kind": "numeric"}]})
        Schema of 1 column, by place
          x0  numeric
        """
        try:
            columns = tuple(
                Column(
                    part["name"],
                    part["kind"],
                    tuple(part.get("categories", ())),
                    part.get("temporal"),
                )
                for part in written["columns"]
            )
            return cls(columns, bool(written["named"]))
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidArgumentError(
                "a schema must be a dict with 'named' and 'columns', each column with 'name' "
                f"and 'kind'; got one where this failed: {error!r}. Write it with to_json()."
            ) from error

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __repr__(self) -> str:
        width = max((len(column.name) for column in self.columns), default=0)
        start = len("Column(") + 2  # what a column's repr has around its name
        lines = [
            f"  {c.name:<{width}}  {repr(c)[start + len(repr(c.name)) : -1]}" for c in self.columns
        ]
        title = f"Schema of {len(self)} column{'' if len(self) == 1 else 's'}"
        return "\n".join([title + ("" if self.named else ", by place"), *lines])


def _family(category_type: type) -> str | None:
    if issubclass(category_type, str):
        return "text"
    if issubclass(category_type, bool):
        return "bool"
    return "number" if issubclass(category_type, int | float) else None
