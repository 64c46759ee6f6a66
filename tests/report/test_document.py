"""What follows from the types of the document: the list of sections, and its documentation."""

from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import pytest

from sureleaf.report.document import TITLES, ReportDocument, json_schema
from sureleaf.report.document_schema import (
    REPORT_SCHEMA,
    IntervalEstimate,
    field_tables,
    plain_values,
)
from sureleaf.report.html.page import AUDIT_SCRIPTS, SCRIPTS
from sureleaf.report.sections.quality import ClassRates
from tests.report.document_check import check_schema
from tests.report.page_documents import document

DOCS = Path(__file__).parents[2] / "docs" / "report-json.md"


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
def test_documents_made_up_for_the_page_follow_the_schema(labels: tuple[str, ...]) -> None:
    check_schema(document(labels=labels), json_schema())


def test_the_documentation_names_the_schema_and_marks_the_place_of_the_fields() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert f"`{REPORT_SCHEMA}`" in text.splitlines()[0]
    assert text.count("<!-- fields -->") == 1
    assert "| `schema` |" in field_tables(ReportDocument)


def test_every_field_is_described() -> None:
    schema = json_schema()
    for record in (schema, *schema["$defs"].values()):
        assert record["description"]
        for name, one in record["properties"].items():
            assert one["description"], name


def test_every_section_of_the_page_has_a_template_and_its_script() -> None:
    folder = files("sureleaf.report.html")
    for name in TITLES:
        assert folder.joinpath("templates", f"{name}.html.jinja").is_file()
    scripts = {path.name for path in folder.joinpath("script").iterdir()}
    assert scripts == {*SCRIPTS, *AUDIT_SCRIPTS}
    names = {one.name for one in fields(ReportDocument)} - {"schema", "provenance", "model"}
    assert names == set(TITLES) - {"leaves"} | {"paper", "simplicity"}  # on other pages


def test_plain_values_are_what_json_has() -> None:
    estimate = IntervalEstimate(value=0.5, low=None, high=None, level=0.95, method="")
    values = plain_values(ClassRates(1, estimate, None))
    assert values["class"] == 1
    assert values["recall"]["value"] == 0.5
    with pytest.raises(ValueError, match="finite"):
        plain_values([float("nan")])
