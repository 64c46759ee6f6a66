"""Results that are columns: array attributes, data frames, a table in print."""

from dataclasses import fields
from typing import Any

import numpy as np

from sureleaf.errors import MissingPackageError

__all__ = ["Columns"]

_SHOWN = 10


class Columns:
    """Base of frozen dataclasses whose fields are arrays of one length.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, eq=False, repr=False)
    ... class Heights(Columns):
    ...     name: np.ndarray
    ...     height: np.ndarray
    >>> Heights(np.array(["Ann", "Bob"]), np.array([1.7, 1.8]))
    name  height
     Ann     1.7
     Bob     1.8
    """

    def to_dict(self) -> dict[str, Any]:
        """Give the columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def to_pandas(self) -> Any:
        """Give a pandas DataFrame, a column a field."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingPackageError(
                "to_pandas() needs pandas, which is not installed: pip install pandas"
            ) from None
        return pd.DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """Give a polars DataFrame, a column a field."""
        try:
            import polars as pl
        except ImportError:
            raise MissingPackageError(
                "to_polars() needs polars, which is not installed: pip install polars"
            ) from None
        return pl.DataFrame(
            {
                name: column.tolist() if column.dtype == object else column
                for name, column in self.to_dict().items()
            }
        )

    def __len__(self) -> int:
        return len(next(iter(self.to_dict().values())))

    def __repr__(self) -> str:
        n_rows = len(self)
        columns = [
            [name, *(_text(value) for value in column[:_SHOWN])]
            for name, column in self.to_dict().items()
        ]
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in zip(*columns, strict=True)
        ]
        more = [f"... {n_rows - _SHOWN:,} more rows"] if n_rows > _SHOWN else []
        return "\n".join(lines + more)


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
