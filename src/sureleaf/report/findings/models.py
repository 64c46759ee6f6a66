"""Section 7: this tree against simpler, larger and other models, over the same folds."""

from typing import Any

from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError
from sureleaf.report.findings.gathering import Gathered, Model
from sureleaf.report.findings.plain import estimate_of, number

__all__ = ["VERDICTS", "models_section", "models_text"]

VERDICTS = {
    "better": "surely right more often than this tree, by more than the margin",
    "worse": "surely right less often than this tree, by more than the margin",
    "equivalent": "surely within the margin of this tree: either may be used",
    "undecided": "these rows cannot tell whether the difference is beyond the margin",
}
"""What a verdict says of the model in its row."""


def models_section(found: Gathered) -> dict[str, Any]:
    """Return the section of the models.

    Examples
    --------
    >>> from sureleaf.report import make_report
    >>> report = make_report([[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30)
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
        "text": models_text(rows, asked.margin),
    }


def _against(own: Model, other: Model, found: Gathered) -> Comparison | None:
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
        "text": _told(found, name),
    }


def _told(found: Comparison, name: str) -> str:
    gap = f"{abs(100 * found.difference):.1f} {'more' if found.difference > 0 else 'fewer'}"
    span = f"({100 * found.low:+.1f} to {100 * found.high:+.1f})"
    start = f"{name[0].upper()}{name[1:]}: right {gap} times in 100 than this tree {span}"
    margin = f"{100 * found.margin:g} in 100"
    if found.verdict in ("better", "worse"):
        return f"{start}; {found.verdict}, surely by more than {margin}."
    if found.verdict == "equivalent":
        return f"{start}; no difference of more than {margin}."
    if found.low > 0 or found.high < 0:
        word = "better" if found.low > 0 else "worse"
        return f"{start}; {word}, but not surely by more than {margin}."
    return f"{start}; these rows do not decide it."


def models_text(rows: list[dict[str, Any]], margin: float) -> str:
    """Say in a sentence each whether a simpler model would do, and whether bagged trees would pay.

    Examples
    --------
    >>> found = {"verdict": "equivalent", "low": -0.005, "high": 0.005, "difference": 0.0}
    >>> print(models_text([{"name": "short tree", "comparison": found}], 0.01))
    Simpler: a tree of three questions at most does as well, within 1 time in 100; prefer it, it is
    easier to explain.
    """
    by_name = {row["name"]: row["comparison"] for row in rows if row["comparison"]}
    within = f"within {100 * margin:g} {'time' if margin == 0.01 else 'times'} in 100"
    told = []
    if short := by_name.get("short tree"):
        told.append(f"Simpler: {_simpler(short, within)}.")
    if bagged := by_name.get("bagged trees"):
        told.append(f"Larger: {_larger(bagged, within)}.")
    return " ".join(told)


def _simpler(found: dict[str, Any], within: str) -> str:
    who = "a tree of three questions at most"
    if found["verdict"] == "equivalent":
        return f"{who} does as well, {within}; prefer it, it is easier to explain"
    if found["low"] > 0:
        return f"{who} is right {_gap(found)}; prefer it"
    if found["high"] < 0:
        return f"{who} is not enough, it is right {_gap(found)}"
    return (
        f"these rows cannot tell {who} from this tree ({_span(found)}); as long as that is so, the "
        "simpler one is easier to defend"
    )


def _larger(found: dict[str, Any], within: str) -> str:
    who = "30 trees that vote (bagged trees)"
    if found["verdict"] == "equivalent":
        return f"{who} are no better, {within}; one tree is enough"
    if found["low"] > 0:
        return (
            f"{who} are right {_gap(found)}; prefer them if being right matters more than "
            "showing the rules"
        )
    if found["high"] < 0:
        return f"{who} are right {_gap(found)}; one tree is enough"
    return f"these rows cannot tell whether {who} are better ({_span(found)})"


def _gap(found: dict[str, Any]) -> str:
    more = "more" if found["difference"] > 0 else "less"
    low, high = sorted(abs(100 * found[end]) for end in ("low", "high"))
    gap = abs(100 * found["difference"])
    return f"{gap:.1f} times in 100 {more} often (from {low:.1f} to {high:.1f})"


def _span(found: dict[str, Any]) -> str:
    return f"difference {100 * found['low']:+.1f} to {100 * found['high']:+.1f} times in 100"
