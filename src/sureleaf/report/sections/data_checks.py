"""What may be wrong with the data: identifiers, leaks, duplicates, columns without values."""

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import SureleafError
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation import KFold, evaluate
from sureleaf.report.results import ReportResults
from sureleaf.report.values import percent
from sureleaf.table import Column

__all__ = ["find_cautions", "looks_like_identifier", "row_hashes"]


TINY_CLASS = 10
MANY_MISSING = 0.5
LEAK_ACCURACY = 0.99
LEAK_SAMPLE = 10_000
_NAMED_SO = re.compile(
    r"(^|[^a-zA-Z])(?i:id|uuid|guid|key|nr|no|number|index)$|[a-z](Id|ID|Key|Nr|No|Number)$"
)


def find_cautions(found: ReportResults) -> list[dict[str, Any]]:
    """Return the warnings about the data, the gravest kinds first.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i, 7] for i in range(240)], ["a"] * 120 + ["b"] * 120
    >>> data = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10)).to_dict()["data"]
    >>> [warning["kind"] for warning in data["warnings"]]
    ['identifier', 'leak', 'constant']
    """
    return [
        *_identifiers(found),
        *_leaks(found),
        *_duplicates(found),
        *_without_values(found),
        *_classes(found),
        *_weights(found),
    ]


def _caution(kind: str, column: str | None, text: str) -> dict[str, Any]:
    return {"kind": kind, "column": column, "text": text}


def looks_like_identifier(column: Column, values: NDArray[Any]) -> bool:
    """Say whether a column names rows rather than describing them.

    Text that differs in nine of ten rows; whole numbers that all differ and are consecutive, in
    order, or named like a key.

    Examples
    --------
    >>> looks_like_identifier(Column("row", "numeric"), np.arange(50.0))
    True
    >>> looks_like_identifier(Column("size", "numeric"), np.arange(50.0)[::-1] ** 2 % 41)
    False
    """
    if column.is_coded:
        known = values[values >= 0]
        family = column.category_family
        return family == "text" and len(known) >= 20 and len(np.unique(known)) >= 0.9 * len(known)
    known = values[np.isfinite(values)]
    if column.kind == "date" or len(known) < 20 or not (known == np.rint(known)).all():
        return False
    if len(np.unique(known)) < len(known):
        return False
    steps = np.diff(known)
    consecutive = float(np.ptp(known)) + 1 <= 1.5 * len(known)
    in_order = bool((steps > 0).all() or (steps < 0).all())
    return consecutive or in_order or bool(_NAMED_SO.search(column.name))


def _identifiers(found: ReportResults) -> list[dict[str, Any]]:
    told = []
    used = set(found.tree.tree_.feature.tolist())
    columns = zip(found.table.schema.columns, found.table.columns, strict=True)
    for place, (column, values) in enumerate(columns):
        if looks_like_identifier(column, values):
            name = str(column.name)
            does = (
                "and the tree uses it: its figures cannot be trusted on other rows"
                if place in used
                else "the tree does not use it"
            )
            told.append(
                _caution(
                    "identifier",
                    name,
                    f"{name} is different in (nearly) every row, like a number or name of the row; "
                    f"{does}. Leave it out unless it means something: --drop {name!r}.",
                )
            )
    return told


def _leaks(found: ReportResults) -> list[dict[str, Any]]:
    """Columns that alone predict unseen rows nearly without error."""
    judged = found.judged
    n, k = found.n_rows, len(found.labels)
    baseline = float(np.bincount(judged.truth).max() / n)
    needed = max(LEAK_ACCURACY, 1 - 0.1 * (1 - baseline))
    rows = np.linspace(0, n - 1, min(n, LEAK_SAMPLE)).astype(np.int64)
    rows = np.unique(rows)
    told = []
    for column, values in zip(found.table.schema.columns, found.table.columns, strict=True):
        accuracy = _accuracy_alone(found, column, values, rows, k)
        if accuracy is not None and accuracy >= needed:
            told.append(
                _caution(
                    "leak",
                    str(column.name),
                    f"{column.name} alone is right about {percent(accuracy, 1)} of unseen rows. "
                    "If it is known only after the outcome, or made from it, leave it out: the "
                    "figures of this report would then be too good.",
                )
            )
    return told


def _accuracy_alone(
    found: ReportResults, column: Column, values: NDArray[Any], rows: NDArray[Any], k: int
) -> float | None:
    judged = found.judged
    own = values[rows].reshape(-1, 1)
    if len(np.unique(own[~np.isnan(own)] if own.dtype.kind == "f" else own)) < 2:
        return None
    truth = judged.truth[rows]
    groups = None if judged.groups is None else judged.groups[rows]
    n_units = len(rows) if groups is None else len(np.unique(groups))
    if n_units < 3 or len(np.unique(truth)) < 2:
        return None
    model = TreeClassifier(
        max_depth=1 if column.kind == "categorical" else math.ceil(math.log2(k)),
        categorical_features=[0] if column.kind == "categorical" else [],
        levels_from="training",
        pruning=None,
        n_jobs=1,
        random_state=0,
    )
    try:
        alone = evaluate(model, own, truth, design=KFold(3), groups=groups, random_state=0)
        return alone.estimate("accuracy", of="model").value
    except SureleafError:
        return None


def row_hashes(columns: list[NDArray[Any]]) -> NDArray[np.uint64]:
    """Return a number for each row, the same for rows that are equal in all columns.

    Examples
    --------
    >>> found = row_hashes([np.array([1.0, 2.0, 1.0]), np.array([0, 0, 0])])
    >>> bool(found[0] == found[2] != found[1])
    True
    """
    mixed = np.zeros(len(columns[0]), dtype=np.uint64)
    for place, values in enumerate(columns):
        _, codes = np.unique(values, return_inverse=True)  # NaNs are one value to it
        one = (codes.astype(np.uint64) + np.uint64(place + 1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (one ^ (one >> np.uint64(29)))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(32)
    return mixed


def _duplicates(found: ReportResults) -> list[dict[str, Any]]:
    columns = list(found.table.columns)
    if not columns or found.judged.groups is not None:
        return []  # in groups, the same values may well come again
    described = row_hashes(columns)
    _, again, counts = np.unique(described, return_inverse=True, return_counts=True)
    both = row_hashes([described, found.judged.truth])
    n_copies = found.n_rows - len(np.unique(both))
    told = []
    if n_copies:
        rows = "1 row repeats" if n_copies == 1 else f"{n_copies:,} rows repeat"
        told.append(
            _caution(
                "duplicates",
                None,
                f"{rows} an earlier one in every column ({percent(n_copies / found.n_rows, 1)} of "
                "the rows). If these are copies of one case and not cases that look alike, "
                "drop them or give --group: else the same case is in training and test.",
            )
        )
    k = len(found.labels)
    pairs, of_pair = np.unique(again.ravel() * k + found.judged.truth, return_counts=True)
    largest = np.zeros(len(counts), dtype=np.int64)
    np.maximum.at(largest, pairs // k, of_pair)
    torn, wrong = int(counts[largest < counts].sum()), int((counts - largest).sum())
    if torn:
        told.append(
            _caution(
                "conflicts",
                None,
                f"{torn:,} rows ({percent(torn / found.n_rows, 1)}) are like others in every "
                f"column and yet not all of one class: whatever the model, {wrong:,} of them will "
                "be wrong.",
            )
        )
    return told


def _without_values(found: ReportResults) -> list[dict[str, Any]]:
    told = []
    for column, values in zip(found.table.schema.columns, found.table.columns, strict=True):
        known = values[values >= 0] if column.is_coded else values[~np.isnan(values)]
        name, missing = str(column.name), 1 - len(known) / max(len(values), 1)
        if len(known) == 0:
            told.append(_caution("constant", name, f"{name} has no values at all."))
        elif len(np.unique(known)) == 1:
            told.append(
                _caution("constant", name, f"{name} has the same value in all rows that have one.")
            )
        elif missing >= MANY_MISSING:
            told.append(
                _caution(
                    "missing",
                    name,
                    f"{name} is missing in {percent(missing)} of the rows; a row without it "
                    "goes down all branches of a question about it.",
                )
            )
    return told


def _classes(found: ReportResults) -> list[dict[str, Any]]:
    counts = np.bincount(found.judged.truth, minlength=len(found.labels))
    return [
        _caution(
            "tiny_class",
            None,
            f"Class {label} has {'1 row' if count == 1 else f'{count} rows'}: too few to learn it "
            "or to say how well it is found.",
        )
        for label, count in zip(found.labels, counts.tolist(), strict=True)
        if count < TINY_CLASS
    ]


def _weights(found: ReportResults) -> list[dict[str, Any]]:
    weights = found.judged.weights
    if weights is None:
        return []
    told = []
    zero = int((weights == 0).sum())
    if zero:
        told.append(_caution("weights", None, f"{zero:,} rows have weight 0 and take no part."))
    effective = float(weights.sum() ** 2 / (weights**2).sum())
    if effective < 0.5 * len(weights):
        told.append(
            _caution(
                "weights",
                None,
                f"The weights differ so much that {len(weights):,} rows tell about as much as "
                f"{effective:,.0f} rows of equal weight.",
            )
        )
    return told
