"""Reports and audits as single HTML files that work offline.

``page.py`` fills the templates. ``templates/`` has one file per section, ``script/`` at most one
per section, ``style/`` the style sheets, and ``vendor/echarts/`` Apache ECharts with its licence.
"""

from sureleaf.report.html.page import fragment, render_audit, render_page

__all__ = ["fragment", "render_audit", "render_page"]
