"""Every section is there and fits, whatever the tree and the classes."""

from string import ascii_uppercase
from typing import Any

import pytest

from tests.browser.conftest import Show
from tests.report.page_documents import document, estimate

SECTIONS = ["answer", "tree", "leaves", "quality", "models", "error", "data", "methods"]
DOCUMENTS: dict[str, dict[str, Any]] = {
    "2 leaves": {"n_leaves": 2},
    "400 leaves": {"n_leaves": 400},
    "3 classes": {"n_leaves": 9, "labels": ["setosa", "versicolor", "virginica"]},
    "26 classes": {"n_leaves": 40, "labels": list(ascii_uppercase)},
}


@pytest.mark.parametrize("options", DOCUMENTS.values(), ids=list(DOCUMENTS))
def test_every_section_is_there_and_fits_a_desk_and_a_phone(show, options) -> None:
    page = show(document(**options))
    assert page.locator("main > section").evaluate_all("all => all.map(one => one.id)") == SECTIONS
    linked = page.locator("nav.contents a").evaluate_all("all => all.map(one => one.hash)")
    assert linked == [f"#{section}" for section in SECTIONS]
    for section in SECTIONS:
        assert page.locator(f"#{section}-title").is_visible()
        assert page.locator(f"#{section}").get_attribute("aria-labelledby") == f"{section}-title"
    assert page.locator("#tree-view [role=treeitem]").count() >= 3
    charts = page.locator(".chart").count()
    assert page.locator(".chart svg path").count() > charts >= 3
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_verdicts_of_many_words_are_not_cut(show: Show) -> None:
    made = document(n_leaves=3)
    for row in made["models"]["rows"]:
        row["auc"] = estimate(0.912)
        if row["comparison"]:
            row["comparison"]["words"] = "better, but perhaps by less than 1 percentage point"
    page = show(made)
    for width in (1280, 1000, 390):
        page.set_viewport_size({"width": width, "height": 800})
        place = page.get_by_role("region", name="Table of models", exact=True)
        assert place.evaluate("one => one.scrollWidth <= one.clientWidth"), width
        assert "AUC 0.912" in place.inner_text()
    for cell in page.locator(".models tbody td.nowrap:visible").all():  # on a phone
        assert cell.evaluate("one => one.scrollWidth <= one.clientWidth + 1")


OVERLAPS = """chart => {
  const boxes = [...chart.querySelectorAll("svg text")].map((one) => one.getBoundingClientRect());
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1
    && a.top < b.bottom - 4 && b.top < a.bottom - 4;  // a box is higher than its letters
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) => over(a, b))).length;
}"""


def test_names_in_the_chart_of_sizes_do_not_overlap(show: Show) -> None:
    made = document(n_leaves=3)
    one = made["simplicity"]["marks"][0]
    made["simplicity"]["marks"] += [
        {**one, "name": "size chosen with margin 0", "leaves": 4},
        {**one, "name": "C4.5's tree", "leaves": 6},
        {**one, "name": "logistic regression", "leaves": None, "value": 0.818},
        {**one, "name": "random forest", "leaves": None, "value": 0.815},
    ]
    page = show(made)
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_timeout(200)
        assert page.locator("#chart-sizes").evaluate(OVERLAPS) == 0, width
    assert page.locator("#chart-sizes svg text", has_text=one["name"]).count() == 1


def test_classes_of_several_words_fit_a_desk(show: Show) -> None:
    page = show(document(n_leaves=12, labels=[f"a kind of glass {place}" for place in "abcdef"]))
    for name in ("Leaves", "Confusion matrix"):
        place = page.get_by_role("region", name=name, exact=True)
        assert place.evaluate("one => one.scrollWidth <= one.clientWidth"), name


def test_a_single_leaf_and_what_is_null_are_drawn_too(show: Show) -> None:
    made = document(n_leaves=1)
    made["quality"] |= {"roc": None, "calibration": None}
    made["error"] |= {"bootstrap": None, "curve": None}
    for one in (made["answer"]["lead"], *made["simplicity"]["sizes"]):
        one |= {"low": None, "high": None}
    page = show(made)
    assert page.locator("#tree-view [role=treeitem]").count() == 1
    assert page.locator("main > section").count() == len(SECTIONS)


def test_it_reads_without_scripts(show: Show) -> None:
    made = document()
    page = show(made, java_script_enabled=False)
    assert page.locator("h1").inner_text() == made["answer"]["headline"]
    assert page.locator("#leaf-table tbody tr").count() == made["tree"]["n_leaves"]
    page.locator("summary", has_text="The tree as rules").click()
    assert page.locator("pre.rules").inner_text() == made["tree"]["rules"]
    assert not page.locator("#tree-search").is_visible()


def test_the_curve_of_sizes_has_the_numbers_of_the_document(show: Show) -> None:
    made = document()
    page = show(made)
    drawn = page.evaluate(
        "echarts.getInstanceByDom(document.getElementById('chart-sizes')).getOption().series"
        ".flatMap(one => one.data.map(point => point.value || point.coord || point))"
    )
    for one in made["simplicity"]["sizes"]:
        assert [one["leaves"], one["value"]] in drawn
    for one in made["simplicity"]["marks"]:
        assert [one["leaves"] or 1, one["value"]] in drawn
    cells = page.locator(".sizes tbody tr").all_inner_texts
    assert len(cells()) == len(made["simplicity"]["sizes"]) + len(made["simplicity"]["marks"])
