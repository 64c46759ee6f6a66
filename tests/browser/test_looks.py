"""Light and dark, paper, and text that would like to be markup."""

import re
from typing import Any

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
    page = show(document(n_leaves=30), color_scheme="dark")
    assert page.pdf(format="A4", print_background=True).startswith(b"%PDF")
    assert brightness(page) < 40  # and afterwards it is dark again
    page.emulate_media(media="print")
    assert brightness(page) > 220
    for hidden in ("nav.contents", "#theme", "#tree-search", "#leaf-csv", "#threshold"):
        assert not page.locator(hidden).is_visible()
    for visible in ("#tree-view svg", "#chart-roc svg", "#chart-curve svg", "#leaf-table"):
        assert page.locator(visible).first.is_visible()
    for table in (".measures", ".errors", ".models", ".matrix"):
        style = page.locator(table).first.evaluate("one => getComputedStyle(one).breakInside")
        assert style == "avoid", table
    rows = page.locator("#leaf-table tbody tr")
    for row, side in ((rows.first, "breakAfter"), (rows.last, "breakBefore")):
        assert row.evaluate(f"one => getComputedStyle(one).{side}") == "avoid"
    cut = page.locator("#leaves .scroll").evaluate("one => one.scrollHeight - one.clientHeight")
    assert cut == 0


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
