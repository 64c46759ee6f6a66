"""A report's document to a page of HTML, and to a fragment for notebooks."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sureleaf.errors import InvalidArgumentError
from sureleaf.report.html import wording

__all__ = [
    "AUDIT_SCRIPTS",
    "SCHEMA",
    "SCRIPTS",
    "STYLES",
    "bar_heights",
    "check_schema",
    "draw",
    "echarts_notice",
    "echarts_version",
    "embedded_json",
    "fragment",
    "packed",
    "place",
    "render_audit",
    "render_page",
    "scale_start",
    "script",
    "style",
    "what_scripts_read",
]


# What every page carries with it: styles, scripts and the library that draws the charts.

STYLES = ("page.css", "parts.css", "tree.css", "print.css")
SCRIPTS = (
    "document.js",
    "charts.js",
    "theme.js",
    "trust.js",
    "tree_layout.js",
    "tree_drawing.js",
    "tree.js",
    "node_panel.js",
    "row_path.js",
    "row_form.js",
    "table.js",
    "leaves.js",
    "decisions.js",
    "costs.js",
    "quality_charts.js",
    "curve_chart.js",
    "printing.js",
)
"""In the order they run: a file uses what stands above it."""
AUDIT_SCRIPTS = (
    "document.js",
    "charts.js",
    "theme.js",
    "table.js",
    "audit_tables.js",
    "audit_chart.js",
    "printing.js",
)

_ECHARTS = "vendor/echarts"


@cache
def style() -> Markup:
    """Return the styles as one text.

    Examples
    --------
    >>> "@media print" in style()
    True
    """
    return Markup("\n".join(_read(f"style/{name}") for name in STYLES))


@cache
def script(names: tuple[str, ...] = SCRIPTS) -> Markup:
    """Return ECharts and a page's own scripts as one text that cannot end its script tag.

    Examples
    --------
    >>> "</script" in script(), len(script(AUDIT_SCRIPTS)) < len(script())
    (False, True)
    """
    texts = [_read(f"{_ECHARTS}/echarts.common.min.js")]
    texts += [_read(f"script/{name}") for name in names]
    return Markup(re.sub(r"</(script)", r"<\\/\1", "\n".join(texts), flags=re.IGNORECASE))


@cache
def echarts_version() -> str:
    """Return the version of the library that comes with the package.

    Examples
    --------
    >>> echarts_version().split(".")[0]
    '6'
    """
    return _read(f"{_ECHARTS}/VERSION").strip()


@cache
def echarts_notice() -> str:
    """Return the notice that Apache ECharts asks to be passed on.

    Examples
    --------
    >>> echarts_notice().splitlines()[0]
    'Apache ECharts'
    """
    return _read(f"{_ECHARTS}/NOTICE").strip()


def _read(name: str) -> str:
    return files("sureleaf.report.html").joinpath(*name.split("/")).read_text(encoding="utf-8")


# A document inside a page, as data that no text of it can turn into markup.

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def embedded_json(document: Mapping[str, Any]) -> Markup:
    r"""Write JSON that can stand between script tags: it holds no ``<``, ``>`` or ``&``.

    These signs occur in JSON only inside text, where ``\u003c`` means the same.

    Raises
    ------
    ValueError
        If a number is not finite: JSON has no word for it.

    Examples
    --------
    >>> print(embedded_json({"label": "</script>"}))
    {"label":"\u003c/script\u003e"}
    """
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return Markup(text)


OF_EVERY_NODE = ("id", "parent", "edge", "counts", "n", "prediction", "probabilities")
OF_A_LEAF = (
    "probability",
    "low",
    "high",
    "confidence",
    "utility",
    "rows_needed",
    "flagged",
    "repair",
)
OF_AN_INNER_NODE = (
    "column",
    "threshold",
    "threshold_text",
    "branch_of_category",
    "children",
    "shares",
)

OF_QUALITY = (
    "positive",
    "labels",
    "confusion",
    "roc",
    "calibration",
    "scores",
    "cost",
    "cost_given",
)


def what_scripts_read(document: Mapping[str, Any]) -> dict[str, Any]:
    """Take from a document what the page computes with; the rest is in its text already.

    Nodes come column by column, with what only leaves or only inner nodes have apart, and without
    rules, which are their branches joined by "and": names and rules would be half of the page of a
    large tree.

    Examples
    --------
    >>> node = dict.fromkeys((*OF_EVERY_NODE, *OF_A_LEAF, *OF_AN_INNER_NODE))
    >>> node |= {"id": 0, "rule": "all rows", "children": [], "n": 4.0, "low": 0.2}
    >>> tree = {"wanted": {}, "unseen": "stop", "columns": [], "example_rows": [], "nodes": [node]}
    >>> quality = dict.fromkeys(OF_QUALITY)
    >>> document = {"data": {"target": "class", "classes": [], "rows": 4}, "tree": tree,
    ...             "quality": quality, "error": {"curve": None}}
    >>> packed = what_scripts_read(document)["tree"]
    >>> packed["nodes"]["n"], packed["leaf"]["low"], packed["inner"]["children"]
    ([4.0], [0.2], [])
    """
    tree, quality = document["tree"], document["quality"]
    nodes = tree["nodes"]
    return {
        "data": _of(document["data"], ("target", "classes")),
        "tree": _of(tree, ("wanted", "unseen", "columns", "example_rows"))
        | {
            "terms": dict(tree.get("terms") or {}),
            "nodes": packed(nodes, OF_EVERY_NODE),
            "leaf": packed([node for node in nodes if not node["children"]], OF_A_LEAF),
            "inner": packed([node for node in nodes if node["children"]], OF_AN_INNER_NODE),
        },
        "quality": _of(quality, OF_QUALITY),
        "error": _of(document["error"], ("curve",)),
    }


def packed(records: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    """Turn records into columns, so that names are written once.

    Examples
    --------
    >>> packed([{"n": 1, "rule": "a"}, {"n": 2, "rule": "b"}], ["n"])
    {'n': [1, 2]}
    """
    return {name: [record[name] for record in records] for name in names}


def _of(section: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: section[name] for name in names}


SCHEMA = "sureleaf-report/1"
SECTIONS = (
    ("answer", "The answer"),
    ("data", "The data"),
    ("tree", "The tree"),
    ("leaves", "The leaves"),
    ("quality", "How good it is"),
    ("error", "Honest error"),
    ("models", "Compared with"),
    ("methods", "Methods"),
)
MOST_RULES = 150
"""Of a larger tree the scripts write the rules of the leaves."""
TONES = {
    "good": ("✓", "Good"),
    "warn": ("!", "Caution"),
    "bad": ("✕", "Problem"),
    "plain": ("i", "Note"),
}


def render_page(document: Mapping[str, Any]) -> str:
    """Return the report as one HTML file that needs nothing else.

    Parameters
    ----------
    document : mapping
        As docs/report-json.md describes it, ``Report.to_dict()``.

    Returns
    -------
    str
        The page: styles, scripts and numbers are in it, and it asks no server for anything.

    Raises
    ------
    InvalidArgumentError
        If the document is of another schema.

    Examples
    --------
    >>> render_page({"schema": "sureleaf-report/9"})
    Traceback (most recent call last):
        ...
    sureleaf.errors.InvalidArgumentError: the document's schema must be 'sureleaf-report/1'; got \
'sureleaf-report/9'. Make the report again with this version of Sureleaf.
    """
    check_schema(document, SCHEMA, "report")
    return draw(
        "page.html.jinja",
        document,
        embedded=embedded_json(what_scripts_read(document)),
        script=script(),
        sections=SECTIONS,
        most_rules=MOST_RULES,
    )


def fragment(document: Mapping[str, Any]) -> str:
    """Return the answer of the report as a piece of HTML, for notebooks.

    Parameters
    ----------
    document : mapping
        As docs/report-json.md describes it; only ``schema``, ``answer`` and ``data`` are read.

    Returns
    -------
    str
        With its styles, which reach nothing outside it, and without scripts.

    Raises
    ------
    InvalidArgumentError
        If the document is of another schema.

    Examples
    --------
    >>> answer = {"headline": "Right 8 times in 10.", "baseline": 0.6, "sentences": [],
    ...           "accuracy": {"value": 0.8, "low": 0.7, "high": 0.9, "level": 0.95, "method": ""}}
    >>> data = {"source": "a.csv", "target": "<b>", "rows": 50,
    ...         "classes": [{"label": "x", "count": 30.0, "share": 0.6}]}
    >>> shown = fragment({"schema": SCHEMA, "answer": answer, "data": data})
    >>> "Right 8 times in 10." in shown, "<b>" in shown
    (True, False)
    """
    check_schema(document, SCHEMA, "report")
    return (
        _environment()
        .get_template("fragment.html.jinja")
        .render(
            answer=document["answer"],
            data=document["data"],
            tones=TONES,
        )
    )


def draw(template: str, document: Mapping[str, Any], **more: Any) -> str:
    """Return a page of a document, with what every page carries.

    Examples
    --------
    >>> draw("frame.html.jinja", {"made": {"sureleaf": "1"}}, what="note", heading="<b>",
    ...      sections=(), embedded="", script="").count("&lt;b&gt;")
    2
    """
    return (
        _environment()
        .get_template(template)
        .render(
            document,
            style=style(),
            echarts_version=echarts_version(),
            echarts_notice=echarts_notice(),
            tones=TONES,
            **more,
        )
    )


def check_schema(document: Mapping[str, Any], schema: str, what: str) -> None:
    """Refuse documents that a page cannot be drawn from.

    Examples
    --------
    >>> check_schema({"schema": SCHEMA}, SCHEMA, "report")
    """
    got = document.get("schema")
    if got != schema:
        raise InvalidArgumentError(
            f"the document's schema must be {schema!r}; got {got!r}. Make the {what} again with "
            "this version of Sureleaf."
        )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("sureleaf.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {name: getattr(wording, name) for name in wording.__all__}
    environment.filters |= {"bar_heights": bar_heights, "place": place, "scale_start": scale_start}
    return environment


# Numbers as places in the small drawings between the text.

_STARTS = (0.99, 0.95, 0.9, 0.8, 0.5)


def place(value: float, low: float = 0.0, high: float = 1.0, width: float = 100.0) -> str:
    """Say how far from the left a value stands on a scale; values beyond it stand at its end.

    Examples
    --------
    >>> place(0.25), place(7.0, 0.0, 5.0, 120.0)
    ('25', '120')
    """
    share = (value - low) / (high - low) if high > low else 0.0
    return f"{width * min(1.0, max(0.0, share)):.5g}"


def bar_heights(counts: Sequence[float], height: float) -> list[str]:
    """Say how high the bars of a histogram are; what is not zero can be seen.

    Examples
    --------
    >>> bar_heights([0, 1, 200], 20.0)
    ['0', '1', '20']
    """
    most = max(counts, default=0) or 1
    return [f"{max(height * count / most, 1.0 if count else 0.0):.3g}" for count in counts]


def scale_start(least: float) -> float:
    """Say where a scale of shares that ends at 1 begins, so that what is near 1 can be told apart.

    Examples
    --------
    >>> scale_start(0.649), scale_start(0.33), scale_start(0.977)
    (0.5, 0.0, 0.95)
    """
    return next((start for start in _STARTS if least >= start), 0.0)


# An audit's document to a page of HTML.

AUDIT_SCHEMA = "sureleaf-audit/1"
MOST_LEAVES = 500
"""A forest may have hundreds of thousands: those with the most rows are drawn."""

_SHARED = (
    "class",
    "n",
    "counts",
    "stated",
    "agrees",
    "probability",
    "low",
    "high",
    "confidence",
    "utility",
    "rows_needed",
    "flagged",
)
_NAMES = {
    "answer": "The answer",
    "data": "The rows",
    "leaves": "The leaves",
    "bins": "What it states",
    "trees": "The trees",
    "methods": "Methods",
}


def render_audit(document: Mapping[str, Any]) -> str:
    """Return an audit as one HTML file that needs nothing else.

    Parameters
    ----------
    document : mapping
        As docs/audit.md describes it.

    Returns
    -------
    str
        The page; of more than 500 leaves, those with the most rows.

    Raises
    ------
    InvalidArgumentError
        If the document is of another schema.

    Examples
    --------
    >>> render_audit({"schema": "sureleaf-report/1"})
    Traceback (most recent call last):
        ...
    sureleaf.errors.InvalidArgumentError: the document's schema must be 'sureleaf-audit/1'; got \
'sureleaf-report/1'. Make the audit again with this version of Sureleaf.
    """
    check_schema(document, AUDIT_SCHEMA, "audit")
    place = {label: code for code, label in enumerate(document["classes"])}
    leaves, trees = document["leaves"], document["trees"]
    judged_by = "bins" if leaves is None or trees is not None else "leaves"
    shown_leaves = None if leaves is None else _placed(_largest(leaves), place)
    shown_bins = _placed(document["bins"], place)
    embedded = {
        "data": {"classes": [{"label": one["label"]} for one in document["data"]["classes"]]},
        "bins": packed(shown_bins, ("stated_from", "stated_to", *_SHARED)),
        "leaves": None,
        "trees": None if trees is None else packed(trees, trees[0].keys()),
    }
    if shown_leaves is not None:
        first = ("leaf",) if trees is None else ("tree", "leaf")
        embedded["leaves"] = packed(shown_leaves, (*first, *_SHARED))
    return draw(
        "audit.html.jinja",
        document,
        embedded=embedded_json(embedded),
        script=script(AUDIT_SCRIPTS),
        sections=_sections(judged_by, leaves is not None),
        labels=[one["label"] for one in document["data"]["classes"]],
        judged_by=judged_by,
        flagged=sum(one["flagged"] for one in document[judged_by]),
        shown_leaves=shown_leaves,
        shown_bins=shown_bins,
    )


def _sections(judged_by: str, has_leaves: bool) -> list[tuple[str, str]]:
    middle = ["bins", "trees", "leaves"] if has_leaves else ["bins"]
    if judged_by == "leaves":
        middle = ["leaves", "bins"]
    return [(id_, _NAMES[id_]) for id_ in ("answer", "data", *middle, "methods")]


def _largest(leaves: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the leaves with the most rows, in the order of all."""
    if len(leaves) <= MOST_LEAVES:
        return list(leaves)
    order = sorted(range(len(leaves)), key=lambda at: -float(leaves[at]["n"]))
    return [leaves[at] for at in sorted(order[:MOST_LEAVES])]


def _placed(records: Sequence[dict[str, Any]], place: Mapping[Any, int]) -> list[dict[str, Any]]:
    return [record | {"class": place[record["prediction"]]} for record in records]
