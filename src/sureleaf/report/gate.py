"""The gate: whether the tree of a new report is better or worse than that of an old one."""

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, Final

from numpy.typing import ArrayLike

from sureleaf.auditing.same_rows import compare_trees
from sureleaf.comparison import Comparison
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation.designs import KFold
from sureleaf.evaluation.measures.named import find_measure
from sureleaf.exports import from_json
from sureleaf.report.document_schema import REPORT_SCHEMA


def read_report(path: str | PathLike[str]) -> dict[str, Any]:
    """Read a file that `sureleaf report --json` wrote.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "other.json"
    >>> _ = path.write_text("{}")
    >>> read_report(path)
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: other.json must be a file that sureleaf report --json
    wrote; got a file with the schema None instead of 'sureleaf-report/1'. Write one with: sureleaf
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
    if schema != REPORT_SCHEMA:
        got = f"a file with the schema {repr(schema)[:80]} instead of {REPORT_SCHEMA!r}"
        if isinstance(schema, str) and schema.startswith("sureleaf-report/"):
            got = f"a report of another version ({schema[:80]}), which does not hold its tree"
        raise _not_a_report(path, got)
    fault = _fault(document)
    if fault is not None:
        raise _not_a_report(path, f"a damaged one: {fault}")
    return dict(document)


def _is_matrix(value: Any) -> bool:
    lines = value if isinstance(value, list) else [None]
    cells = [cell for line in lines for cell in (line if isinstance(line, list) else [None])]
    return all(isinstance(cell, int | float) for cell in cells)


def _are_classes(value: Any) -> bool:
    lines = value if isinstance(value, list) else [None]
    return all(isinstance(line, dict) and isinstance(line.get("value"), str) for line in lines)


_READ: Final[dict[str, tuple[type, ...] | Callable[[Any], bool]]] = {
    "model": (str,),
    "data.target": (str,),
    "data.classes": _are_classes,
    "data.groups": (str, type(None)),
    "data.weights": (str, type(None)),
    "quality.positive": (int,),
    "quality.folds": (int,),
    "quality.repeats": (int,),
    "quality.cost": _is_matrix,
    "quality.cost_given": (bool,),
    "models.measure": (str,),
    "provenance.seed": (int,),
}
"""What the comparison reads of a report: the types that a value there can have, or its check."""


def _fault(document: dict[str, Any]) -> str | None:
    """Return why a report cannot be compared; None if it can."""
    for place, expected in _READ.items():
        value: Any = document
        for name in place.split("."):
            if not isinstance(value, dict) or name not in value:
                return "it does not hold its tree" if place == "model" else f"it has no {place}"
            value = value[name]
        if not (expected(value) if callable(expected) else type(value) in expected):
            return f"{place} cannot be {repr(value)[:80]}"
    return None


def _not_a_report(path: Path, got: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{path.name} must be a file that sureleaf report --json wrote; got {got}. Write one "
        f"with: sureleaf report DATA --target COLUMN --json {path.with_suffix('.json').name}"
    )


def compare_reports(  # noqa: PLR0913 - one question, named options
    old: dict[str, Any],
    new: dict[str, Any],
    X: Any,
    y: ArrayLike,
    *,
    measure: str | None = None,
    margin: float = 0.0,
    level: float = 0.95,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Test whether the tree of a new report is better than that of an old one, on the same rows.

    Parameters
    ----------
    old, new : dict
        Documents, as `Report.to_dict` and `read_report` give them.
    X, y : table and labels
        The rows of the new report, or rows that neither tree has seen. A tree that was grown on
        these rows is judged by trees that are grown like it in the folds of the report.
    measure : str, optional
        As for `sureleaf.compare`. By default "decided_cost" with costs, "auc" if the new report
        compares models by it because classes are rare, otherwise "accuracy".
    margin : float
        Differences up to this size do not count.
    level : float
    cost : array-like, optional
        ``cost[actual][predicted]``, classes sorted; by default that of the reports.
    groups, sample_weight, n_jobs
        As for `sureleaf.evaluate`.

    Returns
    -------
    Comparison
        Of the new tree with the old one: "worse" means worse by more than the margin.

    Raises
    ------
    InvalidArgumentError
        If the two reports are about different targets, or have different costs and none are given,
        or if a tree was grown on some of these rows.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["a"] * 30 + ["b"] * 30
    >>> document = make_report(rows, labels, budget=Budget(3, 1, 3, 2, 10)).to_dict()
    >>> comparison = compare_reports(document, document, rows, labels)
    >>> comparison.difference, comparison.verdict
    (0.0, 'undecided')
    """
    _check_same_target(old, new)
    quality = new["quality"]
    if cost is None:
        cost = _common_cost(old, new, measure)
    if measure is None:
        measure = "auc" if new["models"]["measure"] == "auc" else "accuracy"
        measure = measure if cost is None else "decided_cost"
    first, second = tree_of(new, "new"), tree_of(old, "old")
    if not 0 <= quality["positive"] < len(first.classes_):
        raise InvalidArgumentError(
            "quality.positive of the new report must be the number of a class; got "
            f"{quality['positive']}. Make the report again."
        )
    return compare_trees(
        first,
        second,
        X,
        y,
        measure=measure,
        margin=margin,
        level=level,
        cost=cost,
        positive=first.classes_[quality["positive"]],
        groups=groups,
        sample_weight=sample_weight,
        design=KFold(quality["folds"], repeats=quality["repeats"]),
        seed=new["provenance"]["seed"],
        n_jobs=n_jobs,
    )


def _check_same_target(old: dict[str, Any], new: dict[str, Any]) -> None:
    (target, labels), (other, others) = (
        (one["data"]["target"], [each["value"] for each in one["data"]["classes"]])
        for one in (old, new)
    )
    if (target, labels) != (other, others):
        raise InvalidArgumentError(
            "the two reports must have the same target and classes; got "
            f"{target} ({', '.join(labels[:8])}) and {other} ({', '.join(others[:8])})."
        )


def _common_cost(old: dict[str, Any], new: dict[str, Any], measure: str | None) -> Any:
    """Return the costs of both reports, None if they have none or the measure needs none."""
    if measure is not None and not find_measure(measure).needs_cost:
        return None
    costs = [one["quality"]["cost"] if one["quality"]["cost_given"] else None for one in (old, new)]
    if costs[0] == costs[1]:
        return costs[0]
    got = "different costs"
    if None in costs:
        got = f"costs in the {'new' if costs[0] is None else 'old'} one only"
    raise InvalidArgumentError(
        f"two reports that are compared by cost must have the same costs; got {got}. Give the "
        "costs with --cost, or compare by another measure, such as --measure accuracy."
    )


def tree_of(document: dict[str, Any], which: str) -> TreeClassifier:
    """Return the tree that a report holds."""
    try:
        tree = from_json(document["model"])
    except InvalidArgumentError as problem:
        raise InvalidArgumentError(
            f"the {which} report must hold its tree (model); got one that cannot be read: {problem}"
        ) from None
    classes = [str(label) for label in tree.classes_.tolist()]
    if not isinstance(tree, TreeClassifier) or classes != [
        each["value"] for each in document["data"]["classes"]
    ]:
        raise InvalidArgumentError(
            f"the {which} report must hold a tree of its classes (model); got another model. Make "
            "the report again."
        )
    return tree
