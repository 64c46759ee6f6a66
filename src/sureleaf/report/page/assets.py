"""What every page carries with it: styles, scripts and the library that draws the charts."""

import re
from functools import cache
from importlib.resources import files

from markupsafe import Markup

__all__ = [
    "AUDIT_SCRIPTS",
    "SCRIPTS",
    "STYLES",
    "echarts_notice",
    "echarts_version",
    "script",
    "style",
]

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
    return files("sureleaf.report.page").joinpath(*name.split("/")).read_text(encoding="utf-8")
