"""The report as one HTML file, drawn from its document (docs/report-json.md) and nothing else.

==================  ==========================================================
rendering.py        document -> page, document -> fragment for notebooks
audit_rendering.py  an audit's document (docs/audit.md) -> page
embedding.py        the document inside the page, where no text can break out
assets.py           what every page carries: styles, scripts, Apache ECharts
wording.py          numbers as text
scales.py           numbers as places in small drawings
templates/          a section a file; text is escaped unless proven safe
script/             what the page can do, a question a file
style/              how it looks, on screen and on paper
vendor/echarts/     Apache ECharts with its licence and notice
==================  ==========================================================
"""

from sureleaf.report.html.page import SCHEMA, fragment, render_audit, render_page

__all__ = ["SCHEMA", "fragment", "render_audit", "render_page"]
