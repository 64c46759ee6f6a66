"""A report's document to a page of HTML, and to a fragment for notebooks."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from sureleaf.errors import InvalidArgumentError
from sureleaf.report.page import assets, scales, wording
from sureleaf.report.page.embedding import embedded_json, what_scripts_read

__all__ = ["SCHEMA", "check_schema", "draw", "fragment", "render_page"]

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
        script=assets.script(),
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
            style=assets.style(),
            echarts_version=assets.echarts_version(),
            echarts_notice=assets.echarts_notice(),
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
        loader=PackageLoader("sureleaf.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for module in (wording, scales):
        environment.filters |= {name: getattr(module, name) for name in module.__all__}
    return environment
