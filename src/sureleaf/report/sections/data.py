"""Section 2: rows, columns and classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.report.request import Origin
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.data_checks import find_cautions
from sureleaf.table import Column

__all__ = ["KINDS", "data_section", "kind_of"]


KINDS = {"numeric": "number", "categorical": "category", "ordered": "ordered", "date": "date"}
"""Kinds of columns -> as the document calls them."""

SHOWN_CATEGORIES = 12
N_BINS = 20


def kind_of(column: Column) -> str:
    """Return the kind of a column as the document calls it.

    Examples
    --------
    >>> kind_of(Column("age", "numeric")), kind_of(Column("ill", "categorical", (False, True)))
    ('number', 'bool')
    """
    return "bool" if column.category_family == "bool" else KINDS[column.kind]


def data_section(found: ReportResults, origin: Origin) -> dict[str, Any]:
    """Return the section of the data.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(40)], ["no", "yes"] * 20
    >>> data = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10)).to_dict()["data"]
    >>> data["rows"], data["columns"][0]["name"], data["classes"][0]
    (40, 'x0', {'label': 'no', 'count': 20.0, 'share': 0.5})
    """
    counts = np.bincount(found.judged.truth, found.row_weights, minlength=len(found.labels)).astype(
        float
    )
    importances = found.tree.feature_importances_
    columns = [
        _column(column, values, float(importance))
        for column, values, importance in zip(
            found.table.schema.columns, found.table.columns, importances, strict=True
        )
    ]
    return {
        "source": origin.source,
        "target": origin.target,
        "title": origin.title,
        "rows": found.n_rows,
        "rows_left_out": origin.rows_left_out,
        "groups": origin.group,
        "n_groups": None if found.judged.groups is None else int(found.judged.groups.max()) + 1,
        "weights": origin.weight,
        "columns": columns + [_left_out(name) for name in origin.columns_left_out],
        "classes": [
            {"label": label, "count": float(count), "share": float(count / counts.sum())}
            for label, count in zip(found.labels, counts, strict=True)
        ],
        "warnings": find_cautions(found),
    }


def _left_out(name: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"low": None, "high": None, "categories": [], "bins": None}
    note = "left out as asked"
    return {
        "name": name,
        "kind": "left out",
        "missing": 0,
        "distinct": 0,
        **nothing,
        "importance": None,
        "note": note,
    }


def _column(column: Column, values: NDArray[Any], importance: float) -> dict[str, Any]:
    coded = column.is_coded
    known = values[values >= 0] if coded else values[~np.isnan(values)]
    shown = {
        "name": str(column.name),
        "kind": kind_of(column),
        "missing": len(values) - len(known),
        "distinct": len(np.unique(known)),
    }
    spread = _categories(column, known) if coded else _range(column, known)
    note = "every value is missing" if len(known) == 0 else None
    return shown | spread | {"importance": importance, "note": note}


def _categories(column: Column, known: NDArray[Any]) -> dict[str, Any]:
    counts = np.bincount(known, minlength=len(column.categories))
    order = np.argsort(-counts, kind="stable")[:SHOWN_CATEGORIES]
    ends = np.flatnonzero(counts if column.kind == "ordered" else counts[:0]).tolist()
    return {
        "low": str(column.categories[ends[0]]) if len(ends) else None,
        "high": str(column.categories[ends[-1]]) if len(ends) else None,
        "categories": [
            {"label": str(column.categories[code]), "count": int(counts[code])}
            for code in order
            if counts[code]
        ],
        "bins": None,
    }


def _range(column: Column, known: NDArray[Any]) -> dict[str, Any]:
    if len(known) == 0:
        return {"low": None, "high": None, "categories": [], "bins": None}
    finite = known[np.isfinite(known)]
    bins = None
    if len(finite):
        low, high = float(finite.min()), float(finite.max())
        if high > low and np.isfinite(high - low):
            places = ((finite - low) / (high - low) * N_BINS).astype(np.int64)
            bins = np.bincount(np.minimum(places, N_BINS - 1), minlength=N_BINS).tolist()
        else:
            bins = [len(finite)] + [0] * (N_BINS - 1)
    return {
        "low": column.render(float(known.min())),
        "high": column.render(float(known.max())),
        "categories": [],
        "bins": bins,
    }
