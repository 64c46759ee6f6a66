"""Levels of the rows that share a value of one column."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.leaf_table import RowLevels
from sureleaf.table import Column
from sureleaf.tree import TrainingRows

_RANGES = 4
_FEW_VALUES = 8


@dataclass(frozen=True, eq=False, repr=False)
class SubgroupLevels(ColumnTable):
    """Levels of the rows with each value of a column.

    - `value`: the value, or the range of a column of numbers.
    - `n`: rows.
    - `confidence`: mean confidence of their leaves.
    - `stated`: mean utility of their leaves; with costs, the mean probability that a decision is
      right.
    - `utility`, `low`, `high`: accuracy of unseen predictions of these rows, with the interval of
      Clopper and Pearson.
    """

    value: NDArray[np.object_]
    n: FloatArray
    confidence: FloatArray
    stated: FloatArray
    utility: FloatArray
    low: FloatArray
    high: FloatArray


def subgroups(
    rows: TrainingRows,
    column_index: int,
    correct: NDArray[np.float64],
    row_levels: RowLevels,
    level: float,
    *,
    effective: bool = False,
) -> SubgroupLevels:
    """Average levels and accuracy of rows by the value of a column.

    `correct` is 1 if a row is predicted correctly, 0 if not, NaN for rows to leave out. Intervals
    use the `effective` number of rows if weights are importances.
    """
    table = rows.table
    names, groups = column_groups(table.schema.columns[column_index], table.columns[column_index])
    weights = rows.row_weights
    weights = np.where(np.isnan(correct), 0.0, weights)
    n = np.bincount(groups, weights, len(names)).astype(float)
    present = n > 0

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        total = np.bincount(groups, weights * values, len(names))
        shares: NDArray[np.float64] = total[present] / n[present]
        return shares

    rate = mean(np.where(np.isnan(correct), 0.0, correct))
    known = n[present]
    if effective:
        known = known**2 / np.bincount(groups, weights**2, len(names))[present]
    low, high = (np.asarray(end) for end in clopper_pearson(rate * known, known, level=level))
    value = np.array(names, dtype=object)[present]
    confidence, expected = mean(row_levels.confidence), mean(row_levels.utility)
    return SubgroupLevels(value, n[present], confidence, expected, rate, low, high)


def column_groups(column: Column, values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the values of a column, or ranges of numbers, and the index of each row among them.

    Missing comes last.
    """
    if column.is_coded:
        names = [str(category) for category in column.categories]
        return [*names, "missing"], np.where(values < 0, len(names), values).astype(np.intp)
    known = np.unique(values[~np.isnan(values)])
    if not len(known):
        return ["missing"], np.zeros(len(values), dtype=np.intp)
    if len(known) > _FEW_VALUES:
        cuts = np.nanquantile(values, np.arange(1, _RANGES) / _RANGES, method="lower")
        known = np.unique(np.append(cuts, known[-1]))
        names = [f"<= {column.render(float(bound))}" for bound in known[:-1]]
        names.append(f"> {column.render(float(known[-2]))}" if len(known) > 1 else "all")
    else:
        names = [column.render(float(value)) for value in known]
    groups = np.searchsorted(known, values)
    return [*names, "missing"], np.where(np.isnan(values), len(names), groups).astype(np.intp)
