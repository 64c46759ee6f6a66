"""The gate: whether the tree of a new report is better or worse than that of an old one."""

import json
import math
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.comparison import Comparison, DifferenceTest, paired_t
from sureleaf.comparison.two_models import difference_of_estimates
from sureleaf.comparison.verdict import conclude, sentence
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Measure
from sureleaf.evaluation.intervals import clopper_pearson, corrected_resampled
from sureleaf.evaluation.measures.named import find_measure
from sureleaf.report.document_schema import READABLE_SCHEMAS, REPORT_SCHEMA, type_fault

__all__ = ["compare_reports", "read_report"]


_MAX_ROWS, _MOST = 10**15, 1e100
CONSERVATIVE = "the two sets of rows are independent; if they share rows, the test is conservative"


def read_report(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file that `sureleaf report --json` wrote, of this or an earlier version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "other.json"
    >>> _ = path.write_text("{}")
    >>> read_report(path)
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: other.json must be a file that sureleaf report --json
    wrote; got a file with the schema None instead of 'sureleaf-report/3'. Write one with: sureleaf
    report DATA --target COLUMN --json other.json
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidArgumentError(f"the report must be an existing file; got {str(path)!r}.")
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise InvalidArgumentError(f"{path.name} cannot be read: {problem.strerror}.") from None
    except (ValueError, RecursionError) as problem:
        is_json = path.suffix.lower() == ".json"
        got = f"broken JSON: {problem}" if is_json else "a file that is not JSON"
        raise _not_a_report(path, got) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema not in READABLE_SCHEMAS:
        got = f"a file with the schema {repr(schema)[:80]} instead of {REPORT_SCHEMA!r}"
        raise _not_a_report(path, got)
    fault = _fault(document)
    if fault is not None:
        raise _not_a_report(path, f"a damaged one: {fault}")
    return dict(document)


def _fault(document: dict[str, Any]) -> str | None:
    """Return what is wrong with a document; of earlier versions, with what the gate reads."""
    from sureleaf.report.document import ReportDocument

    is_current = document["schema"] == REPORT_SCHEMA
    fault = type_fault(ReportDocument, document) if is_current else None
    return fault or type_fault(_Gated, document)


@dataclass(frozen=True)
class _Class:
    label: str


@dataclass(frozen=True)
class _Data:
    target: str
    classes: list[_Class]


@dataclass(frozen=True)
class FoldValues:
    """The measures of a report's tree in every fold, and what they are measured on."""

    rows_id: str
    splits_id: str
    rows: int
    test_to_train: float
    values: dict[str, list[float | None]]
    weights_id: str | None
    cost_id: str | None


@dataclass(frozen=True)
class _Quality:
    folds: FoldValues


@dataclass(frozen=True)
class _Models:
    margin: float | None


@dataclass(frozen=True)
class _Gated:
    """What the gate reads of a report, of any version."""

    data: _Data
    quality: _Quality
    models: _Models


def _not_a_report(path: Path, got: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{path.name} must be a file that sureleaf report --json wrote; got {got}. Write one "
        f"with: sureleaf report DATA --target COLUMN --json {path.with_suffix('.json').name}"
    )


def compare_reports(
    old: dict[str, Any],
    new: dict[str, Any],
    *,
    measure: str | None = None,
    margin: float | None = None,
    level: float = 0.95,
) -> Comparison:
    """Test whether the tree of a new report is better than that of an old one.

    Reports of the same rows with the same folds (the same order of rows and the same seed) are
    compared fold by fold with the corrected resampled t test. All others are compared by their
    intervals, as if the rows were independent; if they share rows, that test is conservative.

    Parameters
    ----------
    old, new : dict
        Documents, as `Report.to_dict` and `read_report` give them.
    measure : str, optional
        "accuracy", "balanced_accuracy", "auc", "nce" or "quadratic_loss"; "cost" or
        "decided_cost" of reports with the same costs. By default what both reports compare models
        by: "decided_cost" if they have costs, "auc" if classes are rare, otherwise "accuracy".
    margin : float, optional
        Differences up to this size do not count; by default the margin of the old report, or
        0.01 for measures other than the one that it compares models by.
    level : float

    Returns
    -------
    Comparison
        Of the new tree with the old one: "worse" means worse by more than the margin.

    Raises
    ------
    InvalidArgumentError
        If the two reports are about different targets, or lack what the test needs, or if no
        measure is given and only one has costs, or both have different ones.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["a"] * 30 + ["b"] * 30
    >>> document = make_report(rows, labels, budget=Budget(3, 1, 3, 2, 10)).to_dict()
    >>> comparison = compare_reports(document, document)
    >>> comparison.difference, comparison.verdict
    (0.0, 'undecided')
    """
    _check_same_target(old, new)
    measure = measure or _common_measure(old, new)
    if margin is None:
        margin = _own_margin(old, measure)
    if not 0 <= margin < math.inf:
        raise InvalidArgumentError(
            f"margin must be 0 or more; got {margin!r}. 0.01 is one percentage point of accuracy."
        )
    compared = find_measure(measure)
    folds, values = [], []
    for document, which in ((new, "new"), (old, "old")):
        own = _folds(document, which)
        folds.append(own)
        values.append(_values(own, measure, which))
    _check_same_weights(folds, measure)
    test = _test(folds, values, compared, level)
    result = conclude(
        test,
        compared,
        question="algorithm",
        values=(float(np.nanmean(values[0])), float(np.nanmean(values[1]))),
        n_rows=folds[0].rows,
        margin=margin,
        detect=None if margin > 0 else 0.01,
    )
    return replace(result, sentence=sentence(result, "the new tree", "the old tree"))


def _common_measure(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return what both reports compare models by; accuracy if they differ, and not in costs."""
    costs = [_folds(document, which).cost_id for document, which in ((old, "old"), (new, "new"))]
    if costs[0] != costs[1]:
        got = "different costs"
        if None in costs:
            got = f"costs in the {'new' if costs[0] is None else 'old'} one only"
        raise InvalidArgumentError(
            f"two reports that are compared by cost must have the same costs; got {got}. Make both "
            "with the same --cost, or compare them by another measure, such as --measure accuracy."
        )
    measures = {document.get("models", {}).get("measure") for document in (old, new)}
    common = measures.pop() if len(measures) == 1 else None
    return {"cost": "decided_cost", "auc": "auc"}.get(str(common), "accuracy")


def _own_margin(document: dict[str, Any], measure: str) -> float:
    models = document.get("models", {})
    own = "cost" if find_measure(measure).needs_cost else measure
    margin = models.get("margin") if models.get("measure", "accuracy") == own else None
    return float(margin) if isinstance(margin, int | float) else 0.01


def _check_same_target(old: dict[str, Any], new: dict[str, Any]) -> None:
    try:
        targets = [
            (one["data"]["target"], [c["label"] for c in one["data"]["classes"]])
            for one in (old, new)
        ]
    except (KeyError, TypeError) as problem:
        raise InvalidArgumentError(
            f"a report must have data.target and data.classes; got one without {problem}. Make it "
            "again: sureleaf report DATA --target COLUMN --json FILE"
        ) from None
    if targets[0] != targets[1]:
        (target, labels), (other, others) = targets
        raise InvalidArgumentError(
            "the two reports must have the same target and classes; got "
            f"{target} ({', '.join(labels[:8])}) and {other} ({', '.join(others[:8])})."
        )


def _folds(document: dict[str, Any], which: str) -> FoldValues:
    folds = document.get("quality", {}).get("folds")
    needed = ("rows_id", "splits_id", "rows", "test_to_train", "values")
    if not isinstance(folds, dict) or any(key not in folds for key in needed):
        raise InvalidArgumentError(
            f"the {which} report must have its measures fold by fold (quality.folds); got a report "
            "without them. Make it again with this version: sureleaf report DATA --target COLUMN "
            "--json FILE"
        )
    if not 1 <= folds["rows"] <= _MAX_ROWS or not 0 < folds["test_to_train"] < math.inf:
        raise InvalidArgumentError(
            f"the {which} report must have numbers of rows in quality.folds; got "
            f"{folds['rows']} rows and {folds['test_to_train']} test rows per training row."
        )
    return FoldValues(
        rows_id=folds["rows_id"],
        splits_id=folds["splits_id"],
        rows=folds["rows"],
        test_to_train=folds["test_to_train"],
        values=folds["values"],
        weights_id=folds.get("weights_id"),
        cost_id=folds.get("cost_id"),
    )


def _values(folds: FoldValues, measure: str, which: str) -> NDArray[np.float64]:
    if measure not in folds.values:
        raise InvalidArgumentError(
            f"--measure must be one of {', '.join(folds.values)} for the {which} report; "
            f"got {measure!r}.{' Make it with --cost.' if find_measure(measure).needs_cost else ''}"
        )
    raw = folds.values[measure]
    values = np.array([math.nan if value is None else value for value in raw], dtype=np.float64)
    known = values[~np.isnan(values)]
    if not len(known) or np.abs(known).max() > _MOST:
        raise InvalidArgumentError(
            f"quality.folds.values.{measure} of the {which} report must have a number per fold; "
            "got none, or numbers that cannot be right. Make the report again."
        )
    return values


def _check_same_weights(folds: list[FoldValues], measure: str) -> None:
    new, old = folds
    if new.rows_id == old.rows_id and new.weights_id != old.weights_id:
        raise InvalidArgumentError(
            "the two reports must weight the same rows equally; got different weights. Make both "
            "with the same --weight."
        )
    if find_measure(measure).needs_cost and new.cost_id != old.cost_id:
        raise InvalidArgumentError(
            "the two reports must have the same costs; got different ones. Make both with the same "
            "--cost."
        )


def _test(
    folds: list[FoldValues], values: list[NDArray[np.float64]], measure: Measure, level: float
) -> DifferenceTest:
    (new, old), (first, second) = folds, values
    if new.splits_id == old.splits_id and len(first) == len(second):
        gaps = first - second
        gaps = gaps[np.isfinite(gaps)]
        if len(gaps) >= 2:
            test = paired_t(gaps, corrected=new.test_to_train, level=level)
            test = replace(test, method=f"{test.method} over {len(gaps)} folds of the same rows")
            return _with_width(test, new.rows, measure)
    estimates = [
        _estimate(own, one.test_to_train, measure, level)
        for own, one in zip(values, folds, strict=True)
    ]
    test = difference_of_estimates(estimates[0], estimates[1], measure.name)
    return replace(test, method="z from both intervals", assumption=CONSERVATIVE)


def _estimate(
    values: NDArray[np.float64], ratio: float, measure: Measure, level: float
) -> Estimate:
    estimate = corrected_resampled(values[np.isfinite(values)], test_to_train=ratio, level=level)
    low, high = max(estimate.low, measure.low), min(estimate.high, measure.high)
    return Estimate(estimate.value, low, high, level, "corrected resampled t")


def _with_width(test: DifferenceTest, n_rows: int, measure: Measure) -> DifferenceTest:
    """Widen an interval of width 0: trees without any difference so far may differ on some rows.

    The bound is that of Clopper and Pearson for 0 of n rows.
    """
    span = measure.high - measure.low
    if test.low != test.high or test.difference != 0 or not math.isfinite(span):
        return test
    bound = clopper_pearson(0, n_rows, level=test.level).high * span
    return replace(test, low=-bound, high=bound)
