"""Sphinx settings of the documentation site; `make docs` builds it into build/docs."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import site_content
from benchmarks import running
from benchmarks.quality.promises import record

import sureleaf
from sureleaf.estimators.parameters import parameter_table
from sureleaf.report import ReportDocument
from sureleaf.report.document_schema import field_tables

project = "Sureleaf"
author = "The Sureleaf developers"
copyright = author  # the name that Sphinx reads
release = sureleaf.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_generated/*.md"]  # parts of pages, included by them
root_doc = "index"

# Every link and every reference to a name of Sureleaf must lead somewhere. Names of other
# libraries are not looked up, because that would need the network.
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(?!sureleaf\.).*")]

myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "colon_fence"]

autosummary_generate = True
suppress_warnings = [
    "ref.footnote",  # a reference list may have more than the text cites
    "ref.python",  # a type in words, such as "table", may also be the name of several attributes
]
autodoc_typehints = "none"  # the docstrings name the types in words
autodoc_member_order = "bysource"
# Methods of scikit-learn and Python are described there.
autodoc_default_options = {
    "members": True,
    "inherited-members": "BaseEstimator,ClassifierMixin,tuple,Exception",
}
napoleon_google_docstring = False
napoleon_use_param = False  # types in words are not links
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"  # as the docstrings use single backquotes
add_module_names = False
toc_object_entries_show_parents = "hide"
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "Sureleaf"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_generated/pages", "llms.txt"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "Sureleaf"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}


def setup(app: Sphinx) -> None:
    """Write what pages include, and leave out what scikit-learn adds to every estimator."""
    site_content.write(Path(app.srcdir))
    app.connect("autodoc-skip-member", skip_member)
    app.connect("source-read", fill_tables)


def fill_tables(app: Sphinx, page: str, source: list[str]) -> None:
    """Write recorded figures, fields of the report and parameters at the marks of a page."""
    text = running.filled(source[0], running.load_runs())
    text = record.filled(text, record.load())
    text = text.replace("<!-- fields -->", field_tables(ReportDocument))
    table = parameter_table(sureleaf.TreeClassifier)
    source[0] = text.replace("<!-- parameters -->", table)


def skip_member(app: Sphinx, what: str, name: str, *_: object) -> bool | None:
    """Leave out the methods that scikit-learn adds for metadata routing and display."""
    if name in ("get_metadata_routing", "set_output") or name.endswith("_request"):
        return True
    return None
