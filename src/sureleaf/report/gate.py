"""Whether the tree of a new report is better or worse than that of an old one."""

import json
import math
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sureleaf.comparison import Comparison, DifferenceTest, paired_t
from sureleaf.comparison.independent_samples import difference_of_estimates
from sureleaf.comparison.verdict import conclude, sentence
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Estimate, Measure
from sureleaf.evaluation.intervals import corrected_resampled, wilson
from sureleaf.evaluation.measures.named import find_measure

__all__ = ["compare_reports", "read_report"]


SCHEMA = "sureleaf-report/1"
CAUTIOUS = (
    "the two sets of rows are independent; where they share rows the test is cautious and finds "
    "less"
)


def read_report(path: str | PathLike[str]) -> dict[str, Any]:
    """Read what `sureleaf report --json` wrote, and refuse other files.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "other.json"
    >>> _ = path.write_text("{}")
    >>> read_report(path)
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: other.json must be a report that sureleaf report --json
    wrote; got schema None instead of 'sureleaf-report/1'. Write one with: sureleaf report DATA
    --target COLUMN --json other.json
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidArgumentError(f"path must be a file that exists; got {str(path)!r}.")
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as problem:
        kind = f"broken JSON: {problem}" if path.suffix.lower() == ".json" else "no JSON"
        raise _no_report(path, kind) from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != SCHEMA:
        raise _no_report(path, f"schema {schema!r} instead of {SCHEMA!r}")
    return dict(document)


def _no_report(path: Path, got: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{path.name} must be a report that sureleaf report --json wrote; got {got}. Write one "
        f"with: sureleaf report DATA --target COLUMN --json {path.with_suffix('.json').name}"
    )


def compare_reports(
    old: dict[str, Any],
    new: dict[str, Any],
    *,
    measure: str = "accuracy",
    margin: float | None = None,
    level: float = 0.95,
) -> Comparison:
    """Say whether the tree of a new report is better than that of an old one.

    Reports of the same rows by the same folds (the same file order and seed) are compared fold by
    fold with the corrected resampled t. All others are compared by the intervals of both, as if
    their rows were independent; where they share rows, that is cautious.

    Parameters
    ----------
    old, new : dict
        Documents, as `Report.to_dict` and `read_report` give them.
    measure : str
        "accuracy", "balanced_accuracy", "auc", "nce" or "quadratic_loss"; "cost" or
        "decided_cost" of reports with the same costs.
    margin : float, optional
        Differences up to this size count as none; by default the margin of the old report, for
        other measures than accuracy 0.01.
    level : float

    Returns
    -------
    Comparison
        Of the new one with the old one: "worse" is worse by more than the margin.

    Raises
    ------
    InvalidArgumentError
        If the two are about different questions, or lack what the test needs.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["a"] * 30 + ["b"] * 30
    >>> document = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10)).to_dict()
    >>> found = compare_reports(document, document)
    >>> found.difference, found.verdict
    (0.0, 'undecided')
    """
    if margin is None:
        margin = _own_margin(old) if measure == "accuracy" else 0.01
    if not 0 <= margin < math.inf:
        raise InvalidArgumentError(f"margin must be 0 or more; got {margin!r}.")
    _refuse_other_questions(old, new)
    found = find_measure(measure)
    folds, values = [], []
    for document, which in ((new, "new"), (old, "old")):
        own = _folds(document, which)
        folds.append(own)
        values.append(_values(own, measure, which))
    _refuse_other_weights(folds, measure)
    test = _test(folds, values, found, level)
    result = conclude(
        test,
        found,
        question="algorithm",
        values=(float(np.nanmean(values[0])), float(np.nanmean(values[1]))),
        n_rows=int(folds[0]["rows"]),
        margin=margin,
        detect=0.01,
    )
    return replace(result, sentence=sentence(result, "the new tree", "the old tree"))


def _own_margin(document: dict[str, Any]) -> float:
    margin = document.get("models", {}).get("margin")
    return float(margin) if isinstance(margin, int | float) else 0.01


def _refuse_other_questions(old: dict[str, Any], new: dict[str, Any]) -> None:
    try:
        asked = [
            (one["data"]["target"], [c["label"] for c in one["data"]["classes"]])
            for one in (old, new)
        ]
    except (KeyError, TypeError) as problem:
        raise InvalidArgumentError(
            f"a report must have data.target and data.classes; got one without: {problem!r}."
        ) from None
    if asked[0] != asked[1]:
        (target, labels), (other, others) = asked
        raise InvalidArgumentError(
            "the two reports must answer the same question; got "
            f"{target} of {', '.join(labels[:8])} and {other} of {', '.join(others[:8])}."
        )


def _folds(document: dict[str, Any], which: str) -> dict[str, Any]:
    folds = document.get("quality", {}).get("folds")
    needed = ("rows_id", "splits_id", "rows", "test_to_train", "values")
    if not isinstance(folds, dict) or any(key not in folds for key in needed):
        raise InvalidArgumentError(
            f"the {which} report must hold its figures fold by fold (quality.folds); make it "
            "again with this version: sureleaf report DATA --target COLUMN --json FILE"
        )
    return folds


def _values(folds: dict[str, Any], measure: str, which: str) -> Any:
    if measure not in folds["values"]:
        raise InvalidArgumentError(
            f"--measure must be one of {', '.join(folds['values'])} for the {which} report; "
            f"got {measure!r}.{' Make it with --cost.' if find_measure(measure).needs_cost else ''}"
        )
    raw = folds["values"][measure]
    return np.array([math.nan if value is None else value for value in raw], dtype=np.float64)


def _refuse_other_weights(folds: list[dict[str, Any]], measure: str) -> None:
    new, old = folds
    if new["rows_id"] == old["rows_id"] and new.get("weights_id") != old.get("weights_id"):
        raise InvalidArgumentError(
            "the two reports weigh the same rows differently. Give both the same --weight."
        )
    if find_measure(measure).needs_cost and new.get("cost_id") != old.get("cost_id"):
        raise InvalidArgumentError("the two reports have other costs. Give both the same --cost.")


def _test(folds: list[dict[str, Any]], values: list[Any], measure: Measure, level: float) -> Any:
    (new, old), (first, second) = folds, values
    if new["splits_id"] == old["splits_id"] and len(first) == len(second):
        gaps = first - second
        gaps = gaps[np.isfinite(gaps)]
        if len(gaps) >= 2:
            test = paired_t(gaps, corrected=float(new["test_to_train"]), level=level)
            test = replace(test, method=f"{test.method} over {len(gaps)} folds of the same rows")
            return _never_empty(test, int(new["rows"]), measure)
    estimates = [
        _estimate(own, float(one["test_to_train"]), measure, level)
        for own, one in zip(values, folds, strict=True)
    ]
    test = difference_of_estimates(estimates[0], estimates[1], measure.name)
    return replace(test, method="z from both intervals", assumption=CAUTIOUS)


def _estimate(values: Any, ratio: float, measure: Measure, level: float) -> Estimate:
    found = corrected_resampled(values[np.isfinite(values)], test_to_train=ratio, level=level)
    low, high = max(found.low, measure.low), min(found.high, measure.high)
    return Estimate(found.value, low, high, level, "corrected resampled t")


def _never_empty(test: DifferenceTest, n_rows: int, measure: Measure) -> DifferenceTest:
    """Two that never differed may yet differ on a few rows: Wilson's bound of 0 in n."""
    span = measure.high - measure.low
    if test.low != test.high or test.difference != 0 or not math.isfinite(span):
        return test
    bound = wilson(0, n_rows, level=test.level).high * span
    return replace(test, low=-bound, high=bound)
