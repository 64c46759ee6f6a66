"""The typed document of a report, and the list of its sections.

To add a section: write ``sections/NAME.py`` (its type and the function that computes it) and
``html/templates/NAME.html.jinja``, perhaps ``html/script/NAME.js``, and add one field below.
Plain values, JSON schema, documentation and the order of the page follow from this list.
"""

import copy
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Annotated, Any

import numpy as np

from sureleaf.exports import to_json
from sureleaf.report.baselines import report_tree
from sureleaf.report.document_schema import REPORT_SCHEMA, ReportSchema, schema_of
from sureleaf.report.request import Origin
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.answer import AnswerSection, answer_section
from sureleaf.report.sections.data import DataSection, data_section
from sureleaf.report.sections.error import ErrorSection, error_section, without_tests
from sureleaf.report.sections.methods import MethodsSection, methods_section
from sureleaf.report.sections.models import (
    ModelsSection,
    SimplicitySection,
    models_section,
    simplicity_section,
)
from sureleaf.report.sections.paper import PaperSection, paper_section
from sureleaf.report.sections.quality import QualitySection, quality_section
from sureleaf.report.sections.tree import TreeSection, embedded_tree, tree_section


@dataclass(frozen=True)
class Page:
    """A section as the page shows it: the template has the same name, and the script if any."""

    name: str
    title: str
    has_script: bool = False


def _section(
    build: Callable[[ReportResults], object] | None,
    *pages: Page,
    embedded: tuple[str, ...] | Callable[[Mapping[str, Any]], dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return what is known of a section: how it is computed, and how the page shows it.

    ``build`` is None where `build_document` computes the section from other ones. ``embedded``
    names what scripts of the page read, or picks it from the section.
    """
    return {"build": build, "pages": pages, "embedded": embedded}


@dataclass(frozen=True)
class Provenance:
    """With what the report was made, and when."""

    sureleaf: Annotated[str, "Version of the package."]
    python: Annotated[str, "Version of the package."]
    numpy: Annotated[str, "Version of the package."]
    scipy: Annotated[str, "Version of the package."]
    scikit_learn: Annotated[str, "Version of the package."]
    date: Annotated[str, "Date and time (ISO 8601, UTC)."]
    data_sha256: Annotated[str | None, "SHA-256 hash of the file."]
    seed: Annotated[int, "The random seed: the same seed gives the same numbers."]
    command: Annotated[str, "The command that makes the report again."]
    seconds: Annotated[float, "How long it took."]


@dataclass(frozen=True)
class ReportDocument:
    """Everything that a report says."""

    schema: Annotated[ReportSchema, "Version of this description."]
    provenance: Annotated[Provenance, "With what the report was made, and when."]
    answer: Annotated[AnswerSection, "The first screen."] = field(
        metadata=_section(None, Page("answer", "Summary"))
    )
    tree: Annotated[TreeSection, "The tree and its leaves."] = field(
        metadata=_section(
            tree_section,
            Page("tree", "The tree", has_script=True),
            Page("leaves", "The leaves", has_script=True),
            embedded=embedded_tree,
        )
    )
    quality: Annotated[QualitySection, "Out-of-fold predictions, and decisions at given costs."] = (
        field(
            metadata=_section(
                quality_section,
                Page("quality", "How good it is", has_script=True),
                embedded=(
                    "positive",
                    "labels",
                    "confusion",
                    "roc",
                    "calibration",
                    "net_benefit",
                    "scores",
                    "cost",
                    "cost_given",
                ),
            )
        )
    )
    models: Annotated[ModelsSection, "The tree compared with other models."] = field(
        metadata=_section(models_section, Page("models", "Other models", has_script=True))
    )
    simplicity: Annotated[SimplicitySection, "Size against accuracy or cost."] = field(
        metadata=_section(None, embedded=("measure", "sizes", "marks"))
    )
    error: Annotated[ErrorSection, "The error on unseen rows, and the learning curve."] = field(
        metadata=_section(
            error_section, Page("error", "More rows", has_script=True), embedded=("curve",)
        )
    )
    data: Annotated[DataSection, "Rows, columns, classes, and warnings about them."] = field(
        metadata=_section(
            data_section, Page("data", "The data"), embedded=("target", "unit", "classes")
        )
    )
    methods: Annotated[MethodsSection, "What each number means and assumes."] = field(
        metadata=_section(methods_section, Page("methods", "Methods"))
    )
    paper: Annotated[PaperSection, "A paragraph on methods and results, to copy into a paper."] = (
        field(metadata=_section(None))
    )
    model: Annotated[
        str,
        "The tree as JSON text, as `sureleaf export --to json` writes it, before costs decide "
        "for its leaves: what the tree of another report is compared with on the same rows. It "
        "holds no rows.",
    ]


_SECTIONS = {one.name: one.metadata for one in fields(ReportDocument) if one.metadata}
PAGES: tuple[Page, ...] = tuple(page for one in _SECTIONS.values() for page in one["pages"])
"""The sections of the page, in their order."""


def build_document(results: ReportResults, provenance: Provenance) -> ReportDocument:
    """Compute every section; the price of simplicity and the answer come last, from the others."""
    sections: dict[str, Any] = {
        name: metadata["build"](results)
        for name, metadata in _SECTIONS.items()
        if metadata["build"] is not None
    }
    if sections["tree"].n_leaves == 1:
        sections["error"] = without_tests(sections["error"], sections["models"])
    sections["simplicity"] = simplicity_section(results, sections["models"])
    read = ("data", "tree", "quality", "error", "models")
    sections["answer"] = answer_section(*(sections[name] for name in read))
    sections["paper"] = paper_section(sections, report_tree(results.request).missing)
    return ReportDocument(
        schema=REPORT_SCHEMA, provenance=provenance, model=_model_text(results), **sections
    )


def _model_text(results: ReportResults) -> str:
    """Return the tree as JSON, with the parameters by which the report evaluates it."""
    tree = copy.copy(results.tree)
    tree.set_params(random_state=report_tree(results.request).random_state, n_jobs=None)
    return to_json(tree)


def embedded_values(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the scripts of the page read from a document of plain values."""
    values = {}
    for name, metadata in _SECTIONS.items():
        pick = metadata["embedded"]
        if callable(pick):
            values[name] = pick(document[name])
        elif pick:
            values[name] = {key: document[name][key] for key in pick}
    return values


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a report's document.

    Examples
    --------
    >>> schema = json_schema()
    >>> schema["title"], schema["properties"]["tree"]["$ref"]
    ('sureleaf-report/1', '#/$defs/TreeSection')
    """
    return schema_of(ReportDocument, REPORT_SCHEMA)


def package_versions(origin: Origin) -> dict[str, Any]:
    """Return versions, the date and the hash of the file."""
    import scipy
    import sklearn

    import sureleaf

    return {
        "sureleaf": sureleaf.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit_learn": sklearn.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "data_sha256": origin.data_sha256,
    }
