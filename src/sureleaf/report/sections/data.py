"""The data: rows, columns, classes, and warnings about them."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import SureleafError
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation.designs import KFold
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.formatting import count_of, percent
from sureleaf.report.document_schema import record_of
from sureleaf.report.results import ReportResults
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


EndOfRange = Annotated[
    str | None, "Smallest and largest value as text; null for categories without an order."
]


@dataclass(frozen=True)
class ColumnSummary:
    """A column of the table."""

    name: Annotated[str, "Name of the column."]
    kind: Annotated[ColumnKind, 'Kind of its values; "left out" if the user dropped it.']
    missing: Annotated[int, "Rows in which the value is missing."] = 0
    distinct: Annotated[int, "Number of distinct values."] = 0
    low: EndOfRange = None
    high: EndOfRange = None
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


WarningKind = Literal[
    "identifier", "leak", "duplicates", "conflicts", "constant", "missing", "tiny_class", "weights"
]


@dataclass(frozen=True)
class DataWarning:
    """Something that may be wrong with the data."""

    kind: Annotated[WarningKind, "Which check found it."]
    column: Annotated[str | None, "The column it is about, if it is about one."]
    text: Annotated[str, "What was found and what to do."]


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
    origin, evaluation, counts = results.request.origin, results.evaluation, results.class_counts
    importances = map(float, results.model.feature_importances)
    columns = [_column(*one) for one in zip(*_columns(results), importances, strict=True)]
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


def _columns(results: ReportResults) -> tuple[tuple[Column, ...], list[NDArray[Any]]]:
    """Return the columns and their values: numbers, or codes of categories."""
    return results.table.schema.columns, list(results.table.columns)


def is_missing(column: Column, values: Any) -> Any:
    """Return whether values of a column are missing."""
    return values < 0 if column.is_coded else np.isnan(values)


def _column(column: Column, values: NDArray[Any], importance: float) -> ColumnSummary:
    known = values[~is_missing(column, values)]
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
    shown = np.argsort(-counts, kind="stable")[:_MAX_CATEGORIES]
    every = [CategoryCount(str(c), int(n)) for c, n in zip(column.categories, counts, strict=True)]
    present = [one for one in every if one.count] if column.kind == "ordered" else []
    return {
        "low": present[0].label if present else None,
        "high": present[-1].label if present else None,
        "categories": tuple(every[code] for code in shown if counts[code]),
    }


def _range(column: Column, known: NDArray[Any]) -> dict[str, Any]:
    if len(known) == 0:
        return {}
    finite = known[np.isfinite(known)]
    bins = None
    if len(finite):
        low, high = float(finite.min()), float(finite.max())
        index = np.zeros(len(finite), dtype=np.int64)
        if high > low and np.isfinite(high - low):
            index = ((finite - low) / (high - low) * N_BINS).astype(np.int64)
        bins = np.bincount(np.minimum(index, N_BINS - 1), minlength=N_BINS).tolist()
    return {
        "low": column.render(float(known.min())),
        "high": column.render(float(known.max())),
        "bins": bins,
    }


# ---- warnings: identifiers, leaks, duplicates, columns without values, tiny classes --------------

MIN_CLASS_ROWS = 10
_MANY_MISSING = 0.5
LEAK_ACCURACY = 0.99
LEAK_SAMPLE = 10_000
_NAMED_LIKE_A_KEY = re.compile(
    r"(^|[^a-zA-Z])(?i:id|uuid|guid|key|nr|no|number|index)$|[a-z](Id|ID|Key|Nr|No|Number)$"
)


def check_data(results: ReportResults) -> tuple[DataWarning, ...]:
    """Run all checks, those about the gravest problems first."""
    return (
        *_identifiers(results),
        *_leaks(results),
        *_duplicates(results),
        *_without_values(results),
        *_tiny_classes(results),
        *_weights(results),
    )


def looks_like_identifier(column: Column, values: NDArray[Any]) -> bool:
    """Return whether a column identifies rows rather than describing them.

    That is text with at least nine distinct values per ten rows, or distinct whole numbers that are
    consecutive, sorted, or named like a key.
    """
    if column.is_coded:
        known = values[values >= 0]
        is_text = column.category_family == "text"
        return is_text and len(known) >= 20 and len(np.unique(known)) >= 0.9 * len(known)
    known = values[np.isfinite(values)]
    if column.kind == "date" or len(known) < 20 or not (known == np.rint(known)).all():
        return False
    if len(np.unique(known)) < len(known):
        return False
    steps = np.diff(known)
    consecutive = float(np.ptp(known)) + 1 <= 1.5 * len(known)
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return consecutive or in_order or bool(_NAMED_LIKE_A_KEY.search(column.name))


def _identifiers(results: ReportResults) -> Iterator[DataWarning]:
    used = set(results.model.tree.feature.tolist())
    columns = list(results.table.columns)
    if not columns:
        return
    # A row that was copied has the identifier of the first copy, too.
    first_copies = np.sort(np.unique(row_hashes(columns), return_index=True)[1])
    for index, (column, values) in enumerate(zip(*_columns(results), strict=True)):
        if looks_like_identifier(column, values[first_copies]):
            name = str(column.name)
            use = (
                "The tree uses it, so its accuracy on other rows cannot be trusted."
                if index in used
                else "The tree does not use it."
            )
            text = (
                f"{name} has a different value in (nearly) every row, like a row number, a name or "
                "a date that is written as text. "
                f"{use} If it is only an identifier, leave it out: --drop {name!r}."
            )
            yield DataWarning("identifier", name, text)


def _leaks(results: ReportResults) -> Iterator[DataWarning]:
    """Find columns that alone predict unseen rows almost without error."""
    n, evaluation = results.n_rows, results.evaluation
    baseline = float(np.bincount(evaluation.truth).max() / n)
    needed = max(LEAK_ACCURACY, 1 - 0.1 * (1 - baseline))
    rows = np.unique(np.linspace(0, n - 1, min(n, LEAK_SAMPLE)).astype(np.int64))
    truth = evaluation.truth[rows]
    groups = None if evaluation.groups is None else evaluation.groups[rows]
    if len(rows if groups is None else np.unique(groups)) < 3 or len(np.unique(truth)) < 2:
        return
    for column, values in zip(*_columns(results), strict=True):
        accuracy = _accuracy_alone(column, values[rows], truth, groups, len(results.labels))
        if accuracy >= needed:
            text = (
                f"{column.name} alone predicts {percent(accuracy)} of unseen rows correctly. If it "
                "is known only after the outcome, or derived from it, leave it out: otherwise the "
                "accuracy in this report is too high."
            )
            yield DataWarning("leak", str(column.name), text)


def _accuracy_alone(
    column: Column,
    values: NDArray[Any],
    truth: NDArray[Any],
    groups: NDArray[Any] | None,
    n_classes: int,
) -> float:
    """Return the cross-validated accuracy of a tree of one column; 0 if there is none."""
    if len(np.unique(values[~np.isnan(values)])) < 2:
        return 0.0
    is_unordered = column.kind == "categorical"
    model = TreeClassifier.c45(
        max_depth=1 if is_unordered else math.ceil(math.log2(n_classes)),
        categorical_features=[0] if is_unordered else [],
        levels_from="training",
        pruning=None,
        n_jobs=1,
        random_state=0,
    )
    try:
        X = values.reshape(-1, 1)
        alone = evaluate(model, X, truth, design=KFold(3), groups=groups, random_state=0)
        return alone.estimate("accuracy", of="model").value
    except SureleafError:
        return 0.0


def row_hashes(columns: list[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a number per row; rows that are equal in all columns have the same number."""
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for values in columns:
        if values.dtype.kind == "f":
            # All NaNs are one value, and so are both zeros.
            bits = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64)
            codes = bits.view(np.uint64)
        else:
            codes = values.astype(np.uint64)
        mixed = (mixed ^ codes) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _duplicates(results: ReportResults) -> Iterator[DataWarning]:
    columns, truth = list(results.table.columns), results.evaluation.truth
    if not columns or results.evaluation.groups is not None:
        return  # within a group, equal rows are expected
    hashes = row_hashes(columns)
    _, case, counts = np.unique(hashes, return_inverse=True, return_counts=True)
    n_copies = results.n_rows - len(np.unique(row_hashes([hashes, truth])))
    if n_copies:
        text = (
            f"{count_of(n_copies, 'row')} ({percent(n_copies / results.n_rows)}) "
            f"{'repeats' if n_copies == 1 else 'repeat'} an earlier row in every column. If copies "
            "are the same case, not different cases with equal values, drop them or give --group: "
            "otherwise one case is both in the training and in the test rows."
        )
        yield DataWarning("duplicates", None, text)
    k = len(results.labels)
    pairs, n_of_pair = np.unique(case.ravel() * k + truth, return_counts=True)
    largest = np.zeros(len(counts), dtype=np.int64)
    np.maximum.at(largest, pairs // k, n_of_pair)
    conflicting, wrong = int(counts[largest < counts].sum()), int((counts - largest).sum())
    if conflicting:
        text = (
            f"{conflicting:,} rows ({percent(conflicting / results.n_rows)}) have the same values "
            f"as rows of another class. Any model must get at least {wrong:,} of them wrong."
        )
        yield DataWarning("conflicts", None, text)


def _without_values(results: ReportResults) -> Iterator[DataWarning]:
    where_they_go = (
        "Where the tree tests it, these rows are sent down every branch, in fractions."
        if results.model.tree.has_fractional_rows
        else "Each test of the tree has learned which branch these rows take."
    )
    for column, values in zip(*_columns(results), strict=True):
        known = values[~is_missing(column, values)]
        name, missing = str(column.name), 1 - len(known) / max(len(values), 1)
        if len(known) == 0:
            yield DataWarning("constant", name, f"{name} has no values at all.")
        elif known.min() == known.max():
            text = f"{name} has the same value in all rows that have one."
            yield DataWarning("constant", name, text)
        elif missing >= _MANY_MISSING:
            text = f"{name} is missing in {percent(missing, 0)} of the rows. {where_they_go}"
            yield DataWarning("missing", name, text)


def _tiny_classes(results: ReportResults) -> Iterator[DataWarning]:
    counts = np.bincount(results.evaluation.truth, minlength=len(results.labels)).tolist()
    for label, count in zip(results.labels, counts, strict=True):
        if count < MIN_CLASS_ROWS:
            text = (
                f"Class {label} has only {count_of(count, 'row')}: too few to learn the class, or "
                "to estimate how often it is predicted correctly."
            )
            yield DataWarning("tiny_class", None, text)


def _weights(results: ReportResults) -> Iterator[DataWarning]:
    weights = results.evaluation.weights
    if weights is None:
        return
    zero = int((weights == 0).sum())
    if zero:
        text = f"{count_of(zero, 'row')} with weight 0 {'is' if zero == 1 else 'are'} ignored."
        yield DataWarning("weights", None, text)
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    if effective < 0.5 * len(weights):
        text = (
            f"The weights are very unequal: {len(weights):,} rows carry about as much information "
            f"as {effective:,.0f} rows of equal weight."
        )
        yield DataWarning("weights", None, text)
