"""The page of an audit: tables that sort and filter, a chart, and text that stays text."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from sureleaf import Audit
from sureleaf.report.audit_report import audit_document
from sureleaf.report.request import Origin
from tests.browser.conftest import Show
from tests.report.audited_models import booster_audit, forest_audit, hostile_audit, tree_audit
from tests.report.page_documents import HOSTILE

PAGES = {
    "tree": (tree_audit, ["answer", "measures", "data", "leaves", "bins", "methods"]),
    "forest": (forest_audit, ["answer", "measures", "data", "bins", "trees", "leaves", "methods"]),
    "booster": (booster_audit, ["answer", "measures", "data", "bins", "methods"]),
}


SEGMENT = {
    "rule": "a > 1",
    "n": 22,
    "share": 0.04,
    "stated": 0.4,
    "observed": 0.8,
    "low": 0.38,
    "high": 0.99,
    "elsewhere": 0.3,
    "p_value": 0.0001,
    "rows_needed": None,
}


def drawn(found: Audit) -> dict[str, Any]:
    return audit_document(found, Origin("diagnosis", source="rows.csv"))


def first_cells(page: Any, table: str) -> list[str]:
    cells: list[str] = page.locator(f"#{table} tbody tr:visible td:first-child").evaluate_all(
        "all => all.map(one => one.firstChild.textContent.trim())"
    )
    return cells


@pytest.mark.parametrize("kind", list(PAGES))
def test_every_section_is_there_and_fits_a_desk_and_a_phone(show: Show, kind: str) -> None:
    make, sections = PAGES[kind]
    page = show(drawn(make()))
    assert page.locator("main > section").evaluate_all("all => all.map(one => one.id)") == sections
    for section in sections:
        assert page.locator(f"#{section}-title").is_visible()
    n_bins = page.locator("#bin-table tbody tr").count()
    assert page.locator("#chart-bins svg path").count() > n_bins >= 3
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_leaves_of_a_tree_are_sorted_and_downloaded(show: Show) -> None:
    found = tree_audit()
    leaves = found.leaves
    page = show(drawn(found))
    assert first_cells(page, "leaf-table") == [str(leaf) for leaf in leaves.leaf]
    head = page.locator('#leaf-table th[data-key="confidence"]')
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    by_confidence = leaves.leaf[leaves.confidence.argsort(kind="stable")]
    assert first_cells(page, "leaf-table") == [str(leaf) for leaf in by_confidence]

    with page.expect_download() as waiting:
        page.click("#leaf-csv")
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    lines = {int(line["leaf"]): line for line in csv.DictReader(io.StringIO(text))}
    assert set(lines) == set(leaves.leaf.tolist())
    for at, leaf in enumerate(leaves.leaf.tolist()):
        line = lines[leaf]
        assert line["rule"] == leaves.rule[at]
        assert line["agrees"] == ("yes" if leaves.agrees[at] else "no")
        assert float(line["rows of good"]) == leaves.counts[at, 1]


def test_a_phone_sorts_by_a_menu_because_it_shows_no_heads(show: Show) -> None:
    found = tree_audit()
    leaves = found.leaves
    page = show(drawn(found), viewport={"width": 390, "height": 844})
    menu = page.locator("#leaves .sort-menu select")
    assert not page.locator('#leaf-table th[data-key="confidence"]').is_visible()
    menu.select_option("confidence, ascending")
    order = leaves.confidence.argsort(kind="stable")
    assert first_cells(page, "leaf-table") == [str(leaf) for leaf in leaves.leaf[order]]
    menu.select_option("rows, descending")
    head = page.locator('#leaf-table th[data-key="rows"]')
    assert head.get_attribute("aria-sort") == "descending"


def test_trees_and_bins_of_a_forest_are_sorted(show: Show) -> None:
    found = forest_audit(8)
    page = show(drawn(found))
    page.locator('#member-table th[data-key="utility"]').click()
    order = found.trees.utility.argsort(kind="stable")
    assert first_cells(page, "member-table") == [str(place) for place in order]
    page.select_option("#bin-class", "0")
    n_bins = int((found.bins.prediction == "bad").sum())
    assert page.locator("#bin-table tbody tr:visible").count() == n_bins


def test_text_from_model_and_rows_does_nothing(show: Show) -> None:
    page = show(hostile_audit())
    box = page.locator("#chart-bins").bounding_box()
    for share in (0.5, 0.9, 0.98):
        page.locator("#chart-bins").hover(
            position={"x": share * box["width"], "y": (1 - share) * box["height"]}
        )
    page.fill("#leaf-filter", "img")
    assert page.evaluate("window.broken") is None
    assert page.locator("img, b, main script").count() == 0
    assert page.locator("script").count() == 3
    assert HOSTILE.replace("\u2028", r"\u2028") in page.title()  # no line break is hidden
    with page.expect_download() as waiting:
        page.click("#bin-csv")
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    assert "'=1+1" in text  # no formula for a spreadsheet


def test_on_a_phone_every_number_of_a_leaf_bin_or_segment_is_within_the_screen(show: Show) -> None:
    found = tree_audit()
    column = next(iter(found.audited.table().schema.names))
    document = audit_document(
        found, Origin("diagnosis"), where=found.where(), by=found.by(column, of="accuracy")
    )
    segments = document["where"]
    assert isinstance(segments, dict)
    segments["found"] = segments["found"] or segments["open"] or [SEGMENT]
    page = show(document, viewport={"width": 390, "height": 844})
    for table in ("segment-table", "by-table", "leaf-table", "bin-table"):
        row = page.locator(f"#{table} tbody tr").first
        labels = row.locator("td[data-label]").evaluate_all("all => all.map(a => a.dataset.label)")
        assert {"rows"} < set(labels), table
        if table in ("segment-table", "by-table"):
            assert {"is", "p-value"} < set(labels)
            assert {"says", "elsewhere"} & set(labels)
        for cell in row.locator("td[data-label]").all():
            box = cell.bounding_box()
            assert box["x"] >= 0, table
            assert box["x"] + box["width"] <= 390, table
