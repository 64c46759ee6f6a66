"""Section 7: this tree against simpler, larger and other models, over the same folds."""

from typing import Any

from sureleaf.comparison import Comparison, compare
from sureleaf.errors import InvalidArgumentError
from sureleaf.report.findings.gathering import Gathered, Model
from sureleaf.report.findings.plain import estimate_of, number

__all__ = ["VERDICTS", "models_section"]

VERDICTS = {
    "better": "surely right more often than this tree, by more than the margin",
    "worse": "surely right less often than this tree, by more than the margin",
    "equivalent": "surely within the margin of this tree: either may be used",
    "undecided": "these rows cannot tell which of the two is better",
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
        return compare(
            other.judged, own.judged, margin=found.asked.margin, level=found.asked.level
        )
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
    start = f"{name[0].upper()}{name[1:]}: right"
    gap = f"{abs(100 * found.difference):.1f} {'more' if found.difference > 0 else 'fewer'}"
    span = f"({100 * found.low:+.1f} to {100 * found.high:+.1f})"
    times = f"{start} {gap} times in a hundred than this tree {span}"
    margin = f"{100 * found.margin:g} in a hundred"
    if found.verdict in ("better", "worse"):
        return f"{times}; {found.verdict}, surely by more than {margin}."
    if found.verdict == "equivalent":
        return f"{times}; no difference of more than {margin}."
    if found.low > 0 or found.high < 0:
        word = "better" if found.low > 0 else "worse"
        return f"{times}; {word}, but not surely by more than {margin}."
    return f"{times}; these rows do not decide it."


def models_text(rows: list[dict[str, Any]], margin: float) -> str:
    """Say in a sentence or two which of the models to prefer.

    Examples
    --------
    >>> def row(name, verdict, low, high):
    ...     found = {"verdict": verdict, "low": low, "high": high, "difference": (low + high) / 2}
    ...     return {"name": name, "comparison": found}
    >>> print(models_text([row("short tree", "equivalent", -0.005, 0.005)], 0.01))
    A tree of three questions at most does as well within 1 in a hundred: prefer it, it is easier
    to explain.
    """
    by_name = {row["name"]: row["comparison"] for row in rows if row["comparison"]}
    within = f"within {100 * margin:g} in a hundred"
    told = []
    short, bagged = by_name.get("short tree"), by_name.get("bagged trees")
    if short:
        a_short = "A tree of three questions at most"
        gap = _gap(short)
        told.append(
            {
                "better": f"{a_short} is better ({gap}): prefer it.",
                "equivalent": f"{a_short} does as well {within}: prefer it, it is easier to "
                "explain.",
                "worse": f"{a_short} is too simple ({gap}).",
                "undecided": _open(a_short, short),
            }[short["verdict"]]
        )
    if bagged:
        gap = _gap(bagged)
        told.append(
            {
                "better": f"Bagged trees (30 trees that vote) are better ({gap}): prefer them if "
                "being right matters more than showing the rules.",
                "equivalent": f"Bagged trees (30 trees that vote) are no better {within}: one tree "
                "is enough.",
                "worse": f"Bagged trees (30 trees that vote) are worse ({gap}): one tree is enough.",
                "undecided": _open("Whether", bagged, bagged=True),
            }[bagged["verdict"]]
        )
    return " ".join(told)


def _gap(found: dict[str, Any]) -> str:
    more = "more" if found["difference"] > 0 else "less"
    ends = sorted(abs(100 * found[end]) for end in ("low", "high"))
    return (
        f"right {abs(100 * found['difference']):.1f} times in a hundred {more} often, from "
        f"{ends[0]:.1f} to {ends[1]:.1f}"
    )


def _open(name: str, found: dict[str, Any], *, bagged: bool = False) -> str:
    span = f"between {100 * found['low']:+.1f} and {100 * found['high']:+.1f} times in a hundred"
    who = "Bagged trees (30 trees that vote)" if bagged else name
    verb = "are" if bagged else "is"
    if found["low"] > 0:
        return f"{who} {verb} better, but by how much is open ({span})."
    if found["high"] < 0:
        return f"{who} {verb} worse, but by how much is open ({span})."
    better = "bagged trees (30 trees that vote) are" if bagged else "a tree of three questions at most is"
    return f"Whether {better} better cannot be told from these rows ({span})."
