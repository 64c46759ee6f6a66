"""The table of leaves is sorted, filtered and taken away whole."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from sureleaf.formatting import percent_below
from sureleaf.report.html.page import why_flagged
from tests.browser.conftest import Show
from tests.report.page_documents import document


def shown(page: Any) -> list[int]:
    rows = page.locator("#leaf-table tbody tr:visible")
    return [int(row) for row in rows.evaluate_all("all => all.map(one => one.dataset.leaf)")]


def test_leaves_are_sorted_filtered_and_downloaded(show: Show) -> None:
    made = document(n_leaves=40, labels=["=1+1", '-x, "y"', "@sum"])
    labels = [one["label"] for one in made["data"]["classes"]]
    leaves = [node for node in made["tree"]["nodes"] if not node["children"]]
    page = show(made)
    assert shown(page) == [leaf["id"] for leaf in leaves]

    def sorted_by(key: Any, down: bool = False) -> list[int]:
        return [leaf["id"] for leaf in sorted(leaves, key=key, reverse=down)]

    by_rows = page.locator('#leaf-table th[data-key="rows"]')
    by_rows.get_by_role("button").press("Enter")
    assert by_rows.get_attribute("aria-sort") == "ascending"
    assert shown(page) == sorted_by(lambda leaf: leaf["n"])
    by_rows.click()
    assert by_rows.get_attribute("aria-sort") == "descending"
    assert shown(page) == sorted_by(lambda leaf: (leaf["n"], -leaf["id"]), down=True)
    assert not page.locator('#leaf-table th[data-key="confidence"]').is_visible()
    page.check("#leaf-more")
    page.locator('#leaf-table th[data-key="confidence"]').click()
    assert shown(page) == sorted_by(lambda leaf: leaf["confidence"])

    page.check("#leaf-flagged")
    page.select_option("#leaf-class", "1")
    page.fill("#leaf-filter", "AGE")
    kept = [
        leaf
        for leaf in sorted(leaves, key=lambda leaf: leaf["confidence"])
        if leaf["flagged"] and leaf["prediction"] == 1 and "age" in leaf["rule"]
    ]
    assert shown(page) == [leaf["id"] for leaf in kept]
    assert page.locator("#leaf-found").inner_text() == f"{len(kept)} of {len(leaves)} leaves"

    page.fill("#leaf-filter", "")
    page.uncheck("#leaf-flagged")
    page.select_option("#leaf-class", "")
    with page.expect_download() as waiting:
        page.click("#leaf-csv")
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [int(line["leaf"]) for line in lines] == shown(page)
    by_id = {leaf["id"]: leaf for leaf in leaves}
    for line in lines:
        leaf = by_id[int(line["leaf"])]
        assert line["rule"] == leaf["rule"]
        assert float(line["confidence"]) == leaf["confidence"]
        assert line["rows_needed"] == (
            "" if leaf["rows_needed"] is None else str(leaf["rows_needed"])
        )
        assert line["predicts"] == "'" + labels[leaf["prediction"]]  # no formula for a spreadsheet
        assert float(line["rows of " + labels[0]]) == leaf["counts"][0]

    page.locator("#leaf-table td:first-child a").first.click()
    assert page.locator("#node-panel").get_attribute("data-node") == str(shown(page)[0])


WANTED: dict[str, dict[str, float | None]] = {
    "confidence": {"confidence": 0.95, "utility": None},
    "both": {"confidence": 0.95, "utility": 0.999},
    "neither": {"confidence": None, "utility": None},
}


@pytest.mark.parametrize(
    ("n_leaves", "wanted"),
    [(12, WANTED["confidence"]), (200, WANTED["both"]), (12, WANTED["neither"])],
    ids=list(WANTED),
)
def test_a_flagged_leaf_says_what_it_lacks(show, n_leaves, wanted) -> None:
    made = document(n_leaves=n_leaves)
    made["tree"]["wanted"] |= wanted
    leaves = [node for node in made["tree"]["nodes"] if not node["children"] and node["n"] > 0]
    weak, sure = sorted(leaves, key=lambda leaf: leaf["confidence"])[:: len(leaves) - 1]
    sure["flagged"] = False
    confidence, utility = (
        percent_below(weak[name], level)
        for name, level in (("confidence", 0.95), ("utility", 0.999))
    )
    why = {
        "confidence": f"confidence {confidence} is below the wanted 95 %",
        "neither": "another class is more frequent",
        "both": f"confidence {confidence} is below the wanted 95 % and utility "
        f"{utility} is below the wanted 99.9 %",
    }[next(name for name, levels in WANTED.items() if levels == wanted)].replace(" %", "\u00a0%")
    assert why_flagged(weak, made["tree"]["wanted"], at_costs=False) == why
    page = show(made)
    for leaf in (weak, sure):
        line = page.locator(f'#leaf-table tr[data-leaf="{leaf["id"]}"]')
        told = line.locator(".rule").inner_text()
        assert (why[1:] in told) == leaf["flagged"]
        line.locator("td:first-child a").click()
        panel = page.locator("#node-panel")
        assert panel.locator(".why").count() == leaf["flagged"]
        if leaf["flagged"]:
            assert panel.locator(".why").inner_text() == f"{why[0].upper()}{why[1:]}."
            assert why in line.locator(".flag").get_attribute("title")
        for name in ("counts", "utility"):
            assert made["tree"]["terms"][name] in panel.text_content()


def test_a_leaf_shows_one_percentage_and_the_others_on_demand(show: Show) -> None:
    made = document(n_leaves=6)
    leaf = next(node for node in made["tree"]["nodes"] if not node["children"] and node["n"])
    leaf["rows_needed"] = None
    page = show(made)
    line = page.locator(f'#leaf-table tr[data-leaf="{leaf["id"]}"]')
    assert line.locator(".needed").inner_text() == "not known"  # and not never

    def percentages() -> list[str]:
        cells = line.locator("td:not(.rule):visible").all_inner_texts()
        return [text for text in cells if "%" in text]

    utility = f"{100 * leaf['utility']:.1f}\u00a0%"
    assert percentages() == [utility]
    page.check("#leaf-more")
    assert len(percentages()) == 3
    box = page.locator(f'#tree-view [data-node="{leaf["id"]}"]').text_content()
    assert box.count("%") == 1
    line.locator("td:first-child a").click()
    facts = page.locator("#node-panel > dl").inner_text()
    assert facts.count("%") == 1
    assert utility in facts
    page.locator("#node-panel summary").click()
    assert page.locator("#node-panel").inner_text().count("%") > 4


def test_at_costs_the_drawing_tells_sure_decisions_from_shares_and_colours_by_what_it_shows(show):
    made = document(n_leaves=6)
    made["tree"]["at_costs"] = True
    leaves = [node for node in made["tree"]["nodes"] if not node["children"]]
    leaves[0] |= {"confidence": 1.0, "probability": 0.3}
    leaves[1] |= {"confidence": 0.6, "probability": 0.9}
    page = show(made)
    page.click("#tree-expand")
    strengths = []
    for leaf in leaves[:2]:
        node = page.locator(f'#tree-view [data-node="{leaf["id"]}"]')
        text = node.text_content().replace("\u00a0", " ")
        assert f"{100 * leaf['confidence']:.0f} % sure" in text
        strengths.append(float(node.locator(".strip").first.get_attribute("opacity")))
    assert strengths[0] > strengths[1]
    root = page.locator('#tree-view [data-node="0"]').text_content()
    assert "sure" not in root
    line = page.locator(f'#leaf-table tr[data-leaf="{leaves[1]["id"]}"]')
    assert line.locator(".level").inner_text() == "60.0\u00a0%"
    assert page.get_by_role("button", name="Sort by decides").count() == 1


def test_a_phone_shows_the_main_numbers_without_scrolling_sideways(show: Show) -> None:
    page = show(document(n_leaves=12), viewport={"width": 390, "height": 800})
    for name in ("Measures", "Leaves", "Table of models", "Columns", "Confusion matrix"):
        place = page.get_by_role("region", name=name, exact=True)
        assert place.evaluate("one => one.scrollWidth <= one.clientWidth"), name
    assert page.locator(".measures td:last-child").first.is_visible()
    for cell in (".level", ".needed"):
        assert page.locator(f"#leaf-table td{cell}").first.is_visible()
    page.check("#leaf-flagged")
    assert page.locator("#leaf-table tbody tr:not(.flagged):visible").count() == 0
