"""Documents as pages of HTML: the report, the audit, and a fragment for notebooks.

A page is drawn from the plain values of its document and from nothing else.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sureleaf import formatting
from sureleaf.errors import InvalidArgumentError
from sureleaf.report.audit_report import MEASURE_WORDS
from sureleaf.report.document import TITLES, embedded_values
from sureleaf.report.document_schema import REPORT_SCHEMA, by_column
from sureleaf.report.html.tree_picture import class_colour, tree_picture
from sureleaf.report.sections.answer import QUESTIONS
from sureleaf.report.sections.decision import implied_threshold

AUDIT_SCHEMA = "sureleaf-audit/1"
MAX_RULES = 150
"""With more leaves, the rules are written by the script: they would be half of the page."""
MAX_LEAVES = 500
"""An audited forest may have hundreds of thousands: those with the most rows are shown."""
TONES = {
    "good": ("✓", "Good"),
    "warn": ("!", "Caution"),
    "bad": ("✕", "Problem"),
    "plain": ("i", "Note"),
}


def render_page(document: Mapping[str, Any], *, one_page: bool = False) -> str:
    """Return the report (``Report.to_dict()``) as one HTML file that needs nothing else.

    `one_page` returns the first screen alone, which prints on one page.
    """
    _check_schema(document, REPORT_SCHEMA, "report")
    return render_template(
        "page.html.jinja",
        document,
        embedded={} if one_page else embedded_values(document),
        scripts=("page.js",) if one_page else SCRIPTS,
        sections=list(TITLES.items())[: 1 if one_page else None],
        max_rules=MAX_RULES,
        one_page=one_page,
        questions=QUESTIONS,
        picture=tree_picture(document),
    )


def fragment(document: Mapping[str, Any]) -> str:
    """Return the first screen of a report as a piece of HTML without scripts, for notebooks."""
    _check_schema(document, REPORT_SCHEMA, "report")
    template = _environment().get_template("fragment.html.jinja")
    return template.render(
        document,
        scope=".sureleaf-answer",
        style=Markup(_read("style/fragment.css") + _read("style/first.css")),
        questions=QUESTIONS,
        picture=tree_picture(document),
    )


def render_audit(document: Mapping[str, Any]) -> str:
    """Return an audit (docs/audit.md) as one HTML file that needs nothing else.

    Of more than 500 leaves, it shows those with the most rows.
    """
    _check_schema(document, AUDIT_SCHEMA, "audit")
    class_index = {label: code for code, label in enumerate(document["classes"])}
    leaves, trees = document["leaves"], document["trees"]
    groups = "bins" if leaves is None or trees is not None else "leaves"
    shown_leaves = None if leaves is None else _with_class(_largest(leaves), class_index)
    shown_bins = _with_class(document["bins"], class_index)
    labels = [one["label"] for one in document["data"]["classes"]]
    shared = (*_SHARED, *(["cost"] if document["measure"] == "cost" else []))
    of_leaf = (*([] if trees is None else ["tree"]), "leaf", *shared)
    embedded = {
        "data": {"classes": [{"label": label} for label in labels]},
        "bins": by_column(shown_bins, ("stated_from", "stated_to", *shared)),
        "leaves": None if shown_leaves is None else by_column(shown_leaves, of_leaf),
        "trees": None if trees is None else by_column(trees, list(trees[0])),
    }
    return render_template(
        "audit.html.jinja",
        document,
        provenance=document["made"],
        embedded=embedded,
        scripts=AUDIT_SCRIPTS,
        sections=_audit_sections(document, groups),
        labels=labels,
        groups=groups,
        n_flagged=sum(one["flagged"] for one in document[groups]),
        shown_leaves=shown_leaves,
        shown_bins=shown_bins,
        measure_words=MEASURE_WORDS,
        at_costs=document["measure"] == "cost",
    )


def render_study(document: Mapping[str, Any], answer: str) -> str:
    """Return a study, whose answer is a sentence, as one HTML file that needs nothing else."""
    measures = [part["measure"] for part in document["measures"]]
    return render_template(
        "study.html.jinja",
        document,
        answer=answer,
        sections=[
            ("answer", "The answer"),
            *((name, formatting.upper_first(measure_name(name))) for name in measures),
            ("costs", "Time and size"),
            ("failures", "Failures"),
        ],
    )


_SHARED = (
    *("class", "n", "counts", "stated", "agrees", "probability", "low", "high"),
    *("confidence", "utility", "rows_needed", "flagged"),
)
_AUDIT_TITLES = {
    "answer": "The answer",
    "measures": "Measures",
    "where": "Where it is wrong",
    "by": "Named columns",
    "data": "The rows",
    "leaves": "The leaves",
    "bins": "Predicted probabilities",
    "trees": "The trees",
    "methods": "Methods",
}


def _audit_sections(document: Mapping[str, Any], groups: str) -> list[tuple[str, str]]:
    middle = ["bins"] if document["leaves"] is None else ["bins", "trees", "leaves"]
    if groups == "leaves":
        middle = ["leaves", "bins"]
    requested = [name for name in ("where", "by") if document[name] is not None]
    names = ("answer", "measures", *requested, "data", *middle, "methods")
    return [(name, _AUDIT_TITLES[name]) for name in names]


def _largest(leaves: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the leaves with the most rows, in their original order."""
    order = sorted(range(len(leaves)), key=lambda index: -float(leaves[index]["n"]))
    return [leaves[index] for index in sorted(order[:MAX_LEAVES])]


def _with_class(
    records: Sequence[dict[str, Any]], class_index: Mapping[Any, int]
) -> list[dict[str, Any]]:
    return [record | {"class": class_index[record["prediction"]]} for record in records]


def render_template(
    template: str,
    document: Mapping[str, Any],
    *,
    embedded: Mapping[str, Any] | None = None,
    scripts: tuple[str, ...] = ("page.js",),
    **more: Any,
) -> str:
    """Fill a template with a document and with what every page has.

    `embedded` is what the scripts read, by default the schema alone.
    """
    read = {"schema": document["schema"]} if embedded is None else embedded
    return (
        _environment()
        .get_template(template)
        .render(
            document,
            style=style(),
            embedded=embedded_json(read),
            script=script(scripts),
            echarts_version=echarts_version(),
            echarts_notice=_read(f"{_ECHARTS}/NOTICE").strip(),
            tones=TONES,
            **more,
        )
    )


def _check_schema(document: Mapping[str, Any], schema: str, what: str) -> None:
    got = document.get("schema")
    if got != schema:
        raise InvalidArgumentError(
            f"the document's schema must be {schema!r}; got {got!r}. Make the {what} again with "
            "this version of Sureleaf."
        )


# What every page carries: styles, scripts, and the library that draws the charts.

STYLES = ("page.css", "first.css", "parts.css", "tree.css", "print.css")
_FILES, _ECHARTS = files("sureleaf.report.html"), "vendor/echarts"
_NAMES = ("page", *TITLES)
SCRIPTS = tuple(f"{one}.js" for one in _NAMES if (_FILES / "script" / f"{one}.js").is_file())
AUDIT_SCRIPTS = ("page.js", "audit.js")


@cache
def style() -> Markup:
    """Return the styles as one text."""
    return Markup("\n".join(_read(f"style/{name}") for name in STYLES))


@cache
def script(names: tuple[str, ...]) -> Markup:
    """Return the scripts of a page, and ECharts if it draws charts, as one text.

    The text cannot end its script tag.
    """
    texts = [_read(f"script/{name}") for name in names]
    if names != ("page.js",):
        texts.insert(0, _read(f"{_ECHARTS}/echarts.common.min.js"))
    return Markup(re.sub(r"</(script)", r"<\\/\1", "\n".join(texts), flags=re.IGNORECASE))


@cache
def echarts_version() -> str:
    """Return the version of ECharts in this package."""
    return _read(f"{_ECHARTS}/VERSION").strip()


def _read(name: str) -> str:
    return _FILES.joinpath(*name.split("/")).read_text(encoding="utf-8")


# A document inside a page, as data that no text in it can turn into markup.

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def embedded_json(document: Mapping[str, Any]) -> Markup:
    r"""Write JSON that can stand between script tags: it holds no ``<``, ``>`` or ``&``.

    In JSON these characters occur only inside text, where ``\u003c`` means the same.

    Raises
    ------
    ValueError
        If a number is not finite: JSON cannot express it.

    Examples
    --------
    >>> print(embedded_json({"label": "</script>"}))
    {"label":"\u003c/script\u003e"}
    """
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return Markup(text)


# Filters of the templates: numbers as text, with spaces that do not break.

_SPACE = "\u00a0"
_MEASURES = {"auc": "AUC", "nce": "log loss (NCE)", "f_measure": "F measure"}


def _without_hidden_letters(value: Any) -> Any:
    """Return text of the data so that it cannot reverse or hide the words around it."""
    is_data = isinstance(value, str) and not isinstance(value, Markup)
    return formatting.visible(value, keep="\n\t") if is_data else value


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sureleaf.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_hidden_letters,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["whole"] = lambda number: float(number).is_integer()
    by_name = (
        *(formatting.amount, formatting.count, formatting.p_equals, formatting.p_value),
        *(formatting.points, formatting.signed_amount, formatting.signed_points),
        *(formatting.upper_first, bar_heights, class_colour, implied_threshold, lead_value),
        *(measure_name, measured, percent, position, whole, why_flagged),
    )
    environment.filters |= {one.__name__: one for one in by_name} | {
        "level_percent": lambda level: formatting.level_percent(level).replace(" ", _SPACE),
        "number": formatting.measure_value,
        "number2": lambda value: f"{round(value, 2) + 0.0:.2f}".replace("-", "\u2212"),
        "prose": lambda text: text.replace(" %", f"{_SPACE}%"),
        "share": formatting.share_value,
        "two_digits": lambda rows: formatting.up_to_two_digits(round(rows)),
    }
    return environment


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share in per cent; the number and its sign stay on one line."""
    return formatting.percent(share, digits).replace(" ", _SPACE)


def lead_value(value: float | None, measure: str, unit: str | None = None) -> str:
    """Write a value of the measure that a page leads with: a cost as it is, others in per cent."""
    return formatting.amount(value, unit) if measure == "cost" else percent(value)


def measured(value: float | None, measure: str, unit: str | None = None) -> str:
    """Write a value in the table of measures: a cost as it is, others with three decimals."""
    return formatting.amount(value, unit) if measure == "cost" else formatting.share_value(value)


def whole(counts: Sequence[float]) -> list[int]:
    """Round counts so that their sum is rounded, too; script/page.js does the same.

    Examples
    --------
    >>> whole([97.4, 2.3, 0.3]), whole([1.5, 1.5])
    ([98, 2, 0], [2, 1])
    """
    rounded = [math.floor(count + 1e-6) for count in counts]
    missing = round(sum(counts)) - sum(rounded)
    order = sorted(range(len(counts)), key=lambda i: rounded[i] - counts[i])
    for index in order[:missing]:
        rounded[index] += 1
    return rounded


def measure_name(name: str) -> str:
    """Write the name of a measure for people."""
    return _MEASURES.get(name, name.replace("_", " "))


def why_flagged(leaf: Mapping[str, Any], wanted: Mapping[str, Any], at_costs: bool = False) -> str:
    """Say why a leaf is flagged; ``script/tree.js`` says the same."""
    if leaf["n"] <= 0:
        return "no rows to evaluate it"
    reasons = [
        f"{name} {formatting.percent_below(leaf[name], wanted[name])} is below the wanted "
        f"{formatting.level_percent(wanted[name])}".replace(" %", f"{_SPACE}%")
        for name in ("confidence", "utility")
        if wanted[name] is not None and leaf[name] is not None and leaf[name] < wanted[name]
    ]
    rival = "another decision is cheaper" if at_costs else "another class is more frequent"
    return " and ".join(reasons) or rival


# Positions in the small drawings between the text.


def position(value: float, low: float = 0.0, high: float = 1.0) -> str:
    """Return how far from the left a value is on a scale, in per cent, and at most at its end."""
    share = (value - low) / (high - low) if high > low else 0.0
    return f"{100 * min(1.0, max(0.0, share)):.3g}"


def bar_heights(counts: Sequence[float], height: float) -> list[str]:
    """Return the heights of the bars of a histogram; what is not zero can be seen."""
    most = max(counts, default=0) or 1
    return [f"{max(height * count / most, 1.0 if count else 0.0):.3g}" for count in counts]
