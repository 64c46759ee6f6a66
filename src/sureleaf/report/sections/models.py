"""Section 7: this tree against simpler, larger and other models, over the same folds."""

from typing import Any

from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError
from sureleaf.report.baselines import SHORT, Model
from sureleaf.report.results import ReportResults
from sureleaf.report.values import estimate_of, number, span

__all__ = ["VERDICTS", "models_section", "models_text", "verdict_words"]


VERDICTS = {
    "better": "surely right more often than this tree, by more than the margin",
    "worse": "surely right less often than this tree, by more than the margin",
    "equivalent": "surely within the margin of this tree: either may be used",
    "undecided": "these rows cannot tell whether the difference is beyond the margin, though they "
    "may tell that there is one",
}
"""What a verdict says of the model in its row."""


def models_section(found: ReportResults) -> dict[str, Any]:
    """Return the section of the models.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10))
    >>> models = report.to_dict()["models"]
    >>> models["rows"][1]["name"], models["rows"][1]["comparison"]["verdict"]
    ('majority class', 'worse')
    """
    asked, (own, *others) = found.asked, found.models
    rows = [_row(own, None, asked.level)]
    rows += [_row(model, _against(own, model, found), asked.level) for model in others]
    return {
        "measure": "accuracy",
        "margin": asked.margin,
        "reference": own.name,
        "verdicts": VERDICTS,
        "rows": rows,
        "text": models_text(rows, asked.margin, found.tree.tree_.depth),
    }


def _against(own: Model, other: Model, found: ReportResults) -> Comparison | None:
    try:
        return compare(other.judged, own.judged, margin=found.asked.margin, level=found.asked.level)
    except InvalidArgumentError:
        return None  # too few folds in which both worked


def _row(model: Model, found: Comparison | None, level: float) -> dict[str, Any]:
    return {
        "name": model.name,
        "what": model.what,
        "leaves": model.n_leaves,
        "accuracy": estimate_of(model.judged, "accuracy", level=level),
        "nce": estimate_of(model.judged, "nce", level=level),
        "auc": estimate_of(model.judged, "auc", level=level),
        "comparison": None if found is None else _comparison(found, model.name),
    }


def _comparison(found: Comparison, name: str) -> dict[str, Any]:
    return {
        "difference": found.difference,
        "low": found.low,
        "high": found.high,
        "level": found.level,
        "p_value": number(found.p_value),
        "method": found.method,
        "assumes": found.assumption,
        "verdict": found.verdict,
        "rows_needed": found.rows_needed,
        "words": verdict_words(found.verdict, found.low, found.high, found.margin),
        "text": _told(found, name),
    }


def _told(found: Comparison, name: str) -> str:
    gap = f"{abs(100 * found.difference):.1f} {'more' if found.difference > 0 else 'fewer'}"
    ends = span(found.low, found.high)
    words = verdict_words(found.verdict, found.low, found.high, found.margin)
    return (
        f"{name[0].upper()}{name[1:]}: right {gap} times in 100 than this tree ({ends}); {words}."
    )


def verdict_words(verdict: str, low: float, high: float, margin: float) -> str:
    """Say in few words what is known of a difference: whether it is one, and its size.

    Parameters
    ----------
    verdict : str
        About the margin: better, worse, equivalent or undecided.
    low, high : float
        Interval of the difference.
    margin : float

    Examples
    --------
    >>> verdict_words("undecided", 0.007, 0.076, 0.01)
    'better, but perhaps by less than 1 in 100'
    >>> verdict_words("undecided", -0.02, 0.04, 0.01)
    'these rows cannot tell'
    """
    size = f"{100 * margin:.2g} in 100"
    if verdict in ("better", "worse"):
        return f"{verdict}, by more than {size}" if margin > 0 else verdict
    if verdict == "equivalent":
        return f"as good, within {size}"
    if low > 0 or high < 0:
        return f"{'better' if low > 0 else 'worse'}, but perhaps by less than {size}"
    return "these rows cannot tell"


def models_text(rows: list[dict[str, Any]], margin: float, depth: int) -> str:
    """Say in a sentence each whether a simpler model would do, and whether bagged trees would pay.

    Parameters
    ----------
    rows : list of dict
        As the document has them.
    margin : float
    depth : int
        Questions in a row of this tree.

    Examples
    --------
    >>> found = {"verdict": "equivalent", "low": -0.005, "high": 0.005, "difference": 0.0}
    >>> print(models_text([{"name": "short tree", "comparison": found}], 0.01, 7))
    Simpler: a tree of three questions at most does as well, within 1 time in 100; prefer it, it is
    easier to explain.
    """
    by_name = {row["name"]: row["comparison"] for row in rows if row["comparison"]}
    within = f"within {100 * margin:.2g} {'time' if margin == 0.01 else 'times'} in 100"
    told = []
    if depth <= SHORT:
        asks = (
            f"{depth} question{'s' if depth > 1 else ''} in a row at most"
            if depth
            else "no questions"
        )
        told.append(f"Simpler: this tree is simple as it is ({asks}).")
    elif short := by_name.get("short tree"):
        told.append(f"Simpler: {_simpler(short, within, margin)}.")
    if bagged := by_name.get("bagged trees"):
        told.append(f"Larger: {_larger(bagged, within, margin)}.")
    told += [
        f"Besides: {'the ' if name == 'unpruned tree' else ''}{name} is right "
        f"{_gap(found, margin)}."
        for name, found in by_name.items()
        if found["low"] > 0 and name in ("unpruned tree", "scikit-learn's tree")
    ]
    return " ".join(told)


def _simpler(found: dict[str, Any], within: str, margin: float) -> str:
    who = "a tree of three questions at most"
    if found["verdict"] == "equivalent":
        return f"{who} does as well, {within}; prefer it, it is easier to explain"
    if found["low"] > 0:
        return f"{who} is right {_gap(found, margin)}; prefer it"
    if found["high"] < 0:
        return f"{who} is not enough, it is right {_gap(found, margin)}"
    return (
        f"these rows cannot tell {who} from this tree ({_span(found)}); as long as that is so, the "
        "simpler one is easier to defend"
    )


def _larger(found: dict[str, Any], within: str, margin: float) -> str:
    who = "30 trees together (bagged trees)"
    if found["verdict"] == "equivalent":
        return f"{who} are no better, {within}; one tree is enough"
    if found["low"] > 0:
        return (
            f"{who} are right {_gap(found, margin)}; prefer them if being right matters more "
            "than showing the rules"
        )
    if found["high"] < 0:
        return f"{who} are right {_gap(found, margin)}; one tree is enough"
    return f"these rows cannot tell whether {who} are better ({_span(found)})"


def _gap(found: dict[str, Any], margin: float) -> str:
    more = "more" if found["difference"] > 0 else "less"
    low, high = sorted(abs(100 * found[end]) for end in ("low", "high"))
    gap = abs(100 * found["difference"])
    text = f"{gap:.1f} times in 100 {more} often (from {low:.1f} to {high:.1f}"
    if found["verdict"] == "undecided":
        text += f": {verdict_words('undecided', found['low'], found['high'], margin)}"
    return f"{text})"


def _span(found: dict[str, Any]) -> str:
    return f"difference {span(found['low'], found['high'])} times in 100"
