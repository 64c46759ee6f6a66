"""Light and dark, paper, and text that would like to be markup."""

import re
from typing import Any

import pytest

from sureleaf.report.html import render_page
from tests.browser.conftest import Show
from tests.report.page_documents import HOSTILE, document, hostile_document


def brightness(page: Any) -> float:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


def test_dark_mode_follows_the_system_and_the_button(show: Show) -> None:
    page = show(document(n_leaves=3), color_scheme="dark")
    assert brightness(page) < 40
    page.click("#theme")
    assert brightness(page) > 220
    page.click("#theme")
    assert brightness(page) < 40


def test_paper_is_light_whole_and_without_controls(show: Show) -> None:
    made = document(n_leaves=30)
    for row in made["models"]["rows"]:
        row["description"] = "scikit-learn's LogisticRegression"
        if row["comparison"]:
            row["comparison"]["words"] = "better, but perhaps by less than 1 percentage point"
    page = show(made, color_scheme="dark")
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")
    assert brightness(page) < 40  # and afterwards it is dark again
    page.emulate_media(media="print")
    assert brightness(page) > 220
    controls = ("#theme", "#tree-search", "#leaf-csv", "#threshold", "#paper-copy")
    for hidden in ("nav.contents", *controls):
        assert not page.locator(hidden).is_visible()
    for visible in ("#tree-view svg", "#chart-roc svg", "#chart-curve svg", "#leaf-table"):
        assert page.locator(visible).first.is_visible()
    for start in page.locator("section > h2 + p").all():  # no heading alone at the end of a page
        assert start.evaluate("one => getComputedStyle(one).breakAfter") == "avoid"
    for table in (".measures", ".errors", ".matrix"):
        style = page.locator(table).first.evaluate("one => getComputedStyle(one).breakInside")
        assert style == "avoid", table
    middle = page.locator(".models tbody tr").nth(1)  # tall rows may be divided between pages
    assert middle.evaluate("one => getComputedStyle(one).breakAfter") == "auto"
    rows = page.locator("#leaf-table tbody tr")
    for row, side in ((rows.first, "breakAfter"), (rows.last, "breakBefore")):
        assert row.evaluate(f"one => getComputedStyle(one).{side}") == "avoid"
    for table in ("#leaf-table", ".classes"):  # a short table does not hold on to its neighbours
        rows = page.locator(f"{table} tbody tr")
        for row, side in ((rows.first, "breakBefore"), (rows.last, "breakAfter")):
            assert row.evaluate(f"one => getComputedStyle(one).{side}") == "auto", table
    cut = page.locator("#leaves .scroll").evaluate("one => one.scrollHeight - one.clientHeight")
    assert cut == 0
    page.set_viewport_size({"width": 688, "height": 971})  # A4 without its margins
    assert page.evaluate("document.documentElement.scrollWidth") == 688  # or all would be smaller


def test_the_first_screen_is_one_printed_page_with_its_heading(show: Show) -> None:
    made = document(n_leaves=12)
    page = show(made)
    page.set_content(render_page(made, one_page=True))
    page.emulate_media(media="print")
    for size in ("A4", "Letter"):
        printed = page.pdf(format=size, prefer_css_page_size=True)
        assert len(re.findall(rb"/Type */Page\b", printed)) == 1, size


@pytest.mark.parametrize("tone", ["warn", "bad"])
def test_the_number_of_a_useless_tree_is_not_green(show: Show, tone: str) -> None:
    made = document(n_leaves=3)

    def colour() -> str:
        found = show(made).locator(".scale-dot")
        return str(found.evaluate("one => getComputedStyle(one).backgroundColor"))

    good = colour()
    made["answer"]["tone"] = tone
    assert colour() != good


def test_the_headline_is_one_line_on_a_desk(show: Show) -> None:
    made = document(n_leaves=3)
    made["answer"]["headline"] = (
        "At 71.9 %, this tree may be no better than always predicting “tested_negative”."
    )
    made["answer"]["emphasis"] = "71.9 %"
    height = "getBoundingClientRect().height"
    lines = f"one => one.{height} / parseFloat(getComputedStyle(one).lineHeight)"
    assert show(made).locator("h1").evaluate(lines) < 1.5


def test_long_names_of_classes_hide_nothing_on_a_phone_and_cover_nothing_on_paper(show) -> None:
    labels = ("tested_for_it_negative", "tested_for_it_positive")
    page = show(document(n_leaves=3, labels=labels), viewport={"width": 390, "height": 844})
    for table in (".classes", ".matrix", ".by-class"):
        for box in page.locator(f".scroll:has(> {table})").all():
            assert box.evaluate("one => one.scrollWidth - one.clientWidth") <= 1, table
    page.set_viewport_size({"width": 688, "height": 971})  # A4 without its margins
    page.emulate_media(media="print")
    for side in page.locator(".decision-side").all():
        place = side.bounding_box()
        assert place["x"] + place["width"] <= 689
        table = side.locator("table").first.bounding_box()
        assert table["width"] <= place["width"] + 1


def test_text_from_the_data_does_nothing(show: Show) -> None:
    made = hostile_document()
    page = show(made, reduced_motion="no-preference")
    page.click("#tree-expand")
    page.locator("#tree-view .leaf").first.click()
    page.locator("#row-path summary").click()
    page.locator("#row-form select").nth(1).select_option("other")
    for chart in ("#chart-roc", "#chart-calibration", "#chart-curve"):
        box = page.locator(chart).bounding_box()
        page.locator(chart).hover(position={"x": box["width"] / 2, "y": box["height"] / 2})
    assert page.evaluate("window.broken") is None
    assert page.locator("img, b, main script").count() == 0
    assert page.locator("script").count() == 3
    assert page.locator("h1").inner_text().endswith("{a|x}")
    assert page.locator("#tree-legend li").first.text_content() == HOSTILE
    assert HOSTILE.replace("\u2028", r"\u2028") in page.title()  # no line break is hidden


def study() -> dict[str, Any]:
    """A study of four learners, as `study_document` returns it."""
    names = ["tree", "c45", "bag", "forest"]
    one = {"value": 0.768, "low": 0.669, "high": 0.866, "method": "t"}
    verdicts = {"better": 0, "equivalent": 1, "undecided": 2, "worse": 3}
    pair = {"first": "tree", "second": "c45", "verdicts": verdicts, "p_value": 0.04}
    ranking = {
        "names": names,
        "average_ranks": [1.0, 2.0, 3.0, 4.0],
        "n_datasets": 4,
        "p_value": 0.00002,
        "critical_difference": 2.3,
        "groups": [["tree", "c45"]],
    }
    rows = [{"data": "hepatitis", "estimates": [one] * 4}]
    parts = [
        {"measure": "accuracy", "rows": rows, "undefined": [], "ranking": ranking, "pairs": [pair]}
    ]
    return {
        "schema": "sureleaf-study/1",
        "name": "small trees",
        "provenance": {"sureleaf": "0.1.0", "date": "2026-01-01"},
        "design": {"design": "KFold"},
        "margin": 0.01,
        "level": 0.95,
        "status": {"done": 16, "total": 16, "failed": 0},
        "data": ["hepatitis"],
        "learners": names,
        "measures": parts,
        "costs": [{"data": "a", "learner": "tree", "seconds": 0.1, "model_bytes": 9.0}],
        "failures": [],
        "answer": "The tree is best.",
    }


def test_a_study_has_all_its_columns_on_a_phone_and_they_scroll_in_their_box(show: Show) -> None:
    page = show(study(), viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for label, n_columns in (("Table of estimates", 5), ("Table of pairs", 6)):
        box = page.locator(f'.scroll[aria-label="{label}"]')
        cells = box.locator("tbody tr").first.locator("th, td")
        assert cells.count() == n_columns
        for cell in cells.all():
            cell.scroll_into_view_if_needed()
            assert cell.is_visible()
            place = cell.bounding_box()
            assert 0 <= place["x"] < place["x"] + place["width"] <= 391
    assert "All learners equal: p < 0.001." in page.locator("#accuracy").inner_text()
