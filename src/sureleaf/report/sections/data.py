"""The data: rows, columns, classes, and warnings about them."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.report.document_schema import record_of
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.data_checks import DataWarning, check_data
from sureleaf.table import Column

ColumnKind = Literal["number", "category", "ordered", "date", "bool", "left out"]

_KINDS: dict[str, ColumnKind] = {
    "numeric": "number",
    "categorical": "category",
    "ordered": "ordered",
    "date": "date",
}
_MAX_CATEGORIES = 12
N_BINS = 20


@dataclass(frozen=True)
class CategoryCount:
    """A category and its rows."""

    label: Annotated[str, "The category as text."]
    count: Annotated[int, "Rows with this category."]


@dataclass(frozen=True)
class ColumnSummary:
    """A column of the table."""

    name: Annotated[str, "Name of the column."]
    kind: Annotated[ColumnKind, 'Kind of its values; "left out" if the user dropped it.']
    missing: Annotated[int, "Rows in which the value is missing."] = 0
    distinct: Annotated[int, "Number of distinct values."] = 0
    low: Annotated[
        str | None, "Smallest and largest value as text; null for categories without an order."
    ] = None
    high: Annotated[
        str | None, "Smallest and largest value as text; null for categories without an order."
    ] = None
    categories: Annotated[
        tuple[CategoryCount, ...], "The most frequent categories, at most 12."
    ] = ()
    bins: Annotated[list[int] | None, "Rows in 20 bins of equal width, for numbers and dates."] = (
        None
    )
    importance: Annotated[
        float | None,
        "Share of the tree's total impurity decrease; null for a column that was left out.",
    ] = None
    note: Annotated[str | None, "A remark about the column."] = None


@dataclass(frozen=True)
class ClassCount:
    """A class and its rows."""

    label: Annotated[str, "Its name: the one that the user gave, or the class as text."]
    value: Annotated[str, "The class in the table, as text."]
    count: Annotated[
        float, "Rows of the class. Weights are scaled to a mean of 1, so that counts are rows."
    ]
    share: Annotated[float, "Share of the rows."]


@dataclass(frozen=True)
class DataSection:
    """The table that the report is about."""

    source: Annotated[str | None, "Name of the file."]
    target: Annotated[str, "Name of what is predicted."]
    title: Annotated[str | None, "Title of the report, if the user gave one."]
    unit: Annotated[str | None, "Unit of costs, such as €, if the user gave one."]
    rows: Annotated[int, "Rows with a label."]
    rows_left_out: Annotated[int, "Rows without a label."]
    missing_cells: Annotated[int, "Missing values in the columns that are used."]
    groups: Annotated[str | None, "Names of the columns with groups and weights."]
    n_groups: Annotated[int | None, "Number of groups."]
    weights: Annotated[str | None, "Names of the columns with groups and weights."]
    columns: Annotated[tuple[ColumnSummary, ...], "The columns, also those that were left out."]
    classes: Annotated[tuple[ClassCount, ...], "The classes, sorted."]
    warnings: Annotated[tuple[DataWarning, ...], "What may be wrong with the data."]


def data_section(results: ReportResults) -> DataSection:
    """Summarize the table and check it."""
    origin, evaluation = results.request.origin, results.evaluation
    counts = np.bincount(
        evaluation.truth, results.row_weights, minlength=len(results.labels)
    ).astype(float)
    columns = [
        _column(column, values, float(importance))
        for column, values, importance in zip(
            results.table.schema.columns,
            results.table.columns,
            results.model.feature_importances,
            strict=True,
        )
    ]
    columns += [
        ColumnSummary(name, "left out", note="left out on request")
        for name in origin.columns_left_out
    ]
    return record_of(
        DataSection,
        origin,
        unit=results.request.unit,
        rows=results.n_rows,
        missing_cells=sum(column.missing for column in columns),
        groups=origin.group,
        n_groups=None if evaluation.groups is None else int(evaluation.groups.max()) + 1,
        weights=origin.weight,
        columns=tuple(columns),
        classes=tuple(
            ClassCount(label, str(value), float(count), float(count / counts.sum()))
            for label, value, count in zip(
                results.labels, evaluation.classes.tolist(), counts, strict=True
            )
        ),
        warnings=check_data(results),
    )


def column_kind(column: Column) -> ColumnKind:
    """Return the kind of a column in the words of the document."""
    return "bool" if column.category_family == "bool" else _KINDS[column.kind]


def _column(column: Column, values: NDArray[Any], importance: float) -> ColumnSummary:
    known = values[values >= 0] if column.is_coded else values[~np.isnan(values)]
    distribution = _categories(column, known) if column.is_coded else _range(column, known)
    return ColumnSummary(
        name=str(column.name),
        kind=column_kind(column),
        missing=len(values) - len(known),
        distinct=len(np.unique(known)),
        importance=importance,
        note="every value is missing" if len(known) == 0 else None,
        **distribution,
    )


def _categories(column: Column, known: NDArray[Any]) -> dict[str, Any]:
    counts = np.bincount(known, minlength=len(column.categories))
    order = np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]
    present = np.flatnonzero(counts) if column.kind == "ordered" else np.array([], dtype=int)
    return {
        "low": str(column.categories[present[0]]) if len(present) else None,
        "high": str(column.categories[present[-1]]) if len(present) else None,
        "categories": tuple(
            CategoryCount(str(column.categories[code]), int(counts[code]))
            for code in order
            if counts[code]
        ),
    }


def _range(column: Column, known: NDArray[Any]) -> dict[str, Any]:
    if len(known) == 0:
        return {}
    finite = known[np.isfinite(known)]
    bins = None
    if len(finite):
        low, high = float(finite.min()), float(finite.max())
        if high > low and np.isfinite(high - low):
            index = ((finite - low) / (high - low) * N_BINS).astype(np.int64)
            bins = np.bincount(np.minimum(index, N_BINS - 1), minlength=N_BINS).tolist()
        else:
            bins = [len(finite)] + [0] * (N_BINS - 1)
    return {
        "low": column.render(float(known.min())),
        "high": column.render(float(known.max())),
        "bins": bins,
    }
