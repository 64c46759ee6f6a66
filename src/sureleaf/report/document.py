"""The typed document of a report, and the list of its sections.

To add a section: write ``sections/NAME.py`` (its type and the function that computes it) and
``html/templates/NAME.html.jinja``, perhaps ``html/script/NAME.js``, and add one field below.
Plain values, JSON schema, documentation and the order of the page follow from this list.
"""

import copy
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any, get_type_hints

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
from sureleaf.report.sections.quality import READ_BY_SCRIPTS, QualitySection, quality_section
from sureleaf.report.sections.tree import TreeSection, embedded_tree, tree_section


@dataclass(frozen=True)
class Section:
    """How a section is computed, and how the page shows it.

    `build` is None where `build_document` computes it from other ones. The names of the `titles`
    are those of the templates, and of the scripts if there are any. `embedded` names what scripts
    of the page read, or picks it from the section.
    """

    build: Callable[[ReportResults], object] | None = None
    titles: Mapping[str, str] = field(default_factory=dict)
    embedded: tuple[str, ...] | Callable[[Mapping[str, Any]], dict[str, Any]] = ()


Version = Annotated[str, "Version of the package."]


@dataclass(frozen=True)
class Provenance:
    """With what the report was made, and when."""

    sureleaf: Version
    python: Version
    numpy: Version
    scipy: Version
    scikit_learn: Version
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
    answer: Annotated[AnswerSection, "The first screen.", Section(titles={"answer": "Summary"})]
    tree: Annotated[
        TreeSection,
        "The tree and its leaves.",
        Section(tree_section, {"tree": "The tree", "leaves": "The leaves"}, embedded_tree),
    ]
    quality: Annotated[
        QualitySection,
        "Out-of-fold predictions, and decisions at given costs.",
        Section(quality_section, {"quality": "How good it is"}, READ_BY_SCRIPTS),
    ]
    models: Annotated[
        ModelsSection,
        "The tree compared with other models.",
        Section(models_section, {"models": "Other models"}),
    ]
    simplicity: Annotated[
        SimplicitySection,
        "Size against accuracy or cost.",
        Section(embedded=("measure", "sizes", "marks")),
    ]
    error: Annotated[
        ErrorSection,
        "The error on unseen rows, and the learning curve.",
        Section(error_section, {"error": "More rows"}, ("curve",)),
    ]
    data: Annotated[
        DataSection,
        "Rows, columns, classes, and warnings about them.",
        Section(data_section, {"data": "The data"}, ("target", "unit", "classes")),
    ]
    methods: Annotated[
        MethodsSection,
        "What each number means and assumes.",
        Section(methods_section, {"methods": "Methods"}),
    ]
    paper: Annotated[
        PaperSection, "A paragraph on methods and results, to copy into a paper.", Section()
    ]
    model: Annotated[
        str,
        "The tree as JSON text, as `sureleaf export --to json` writes it, before costs decide "
        "for its leaves: what the tree of another report is compared with on the same rows. It "
        "holds no rows.",
    ]


_SECTIONS: dict[str, Section] = {
    name: one.__metadata__[1]
    for name, one in get_type_hints(ReportDocument, include_extras=True).items()
    if len(one.__metadata__) > 1
}
TITLES = {name: title for one in _SECTIONS.values() for name, title in one.titles.items()}
"""The sections of the page by name, in their order."""


def build_document(results: ReportResults, start: float) -> ReportDocument:
    """Compute every section; the price of simplicity and the answer come last, from the others.

    `start` is when the report was requested, by `time.perf_counter`.
    """
    request = results.request
    sections: dict[str, Any] = {
        name: one.build(results) for name, one in _SECTIONS.items() if one.build is not None
    }
    if sections["tree"].n_leaves == 1:
        sections["error"] = without_tests(sections["error"], sections["models"])
    sections["simplicity"] = simplicity_section(results, sections["models"])
    read = ("data", "tree", "quality", "error", "models")
    sections["answer"] = answer_section(*(sections[name] for name in read))
    evaluated = report_tree(request)
    sections["paper"] = paper_section(sections, evaluated.missing)
    # The tree goes with the parameters by which the report evaluates it.
    tree = copy.copy(results.tree).set_params(random_state=evaluated.random_state, n_jobs=None)
    text, made = to_json(tree), package_versions(request.origin)
    made |= {"seed": request.seed, "command": request.command}
    provenance = Provenance(**made, seconds=time.perf_counter() - start)
    return ReportDocument(REPORT_SCHEMA, provenance, model=text, **sections)


def embedded_values(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the scripts of the page read from a document of plain values."""
    values = {}
    for name, section in _SECTIONS.items():
        if callable(section.embedded):
            values[name] = section.embedded(document[name])
        elif section.embedded:
            values[name] = {key: document[name][key] for key in section.embedded}
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
