"""The table of leaves is sorted, filtered and taken away whole."""

import csv
import io
from pathlib import Path
from typing import Any

from tests.browser.conftest import Show
from tests.report.page_documents import document


def shown(page: Any) -> list[int]:
    return [
        int(row)
        for row in page.locator("#leaf-table tbody tr:visible").evaluate_all(
            "all => all.map(one => one.dataset.leaf)"
        )
    ]


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

    page.locator("#leaf-table .leaf-link").first.click()
    assert page.locator("#node-panel").get_attribute("data-node") == str(shown(page)[0])
