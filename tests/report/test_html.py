"""The page as text: whole, offline, escaped, and with the licence of what it carries."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.report.document import embedded_values
from sureleaf.report.html import fragment, render_page
from sureleaf.report.html.page import STYLES, echarts_version
from tests.report.page_documents import HOSTILE, document, hostile_document


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def assert_asks_no_server(page: str) -> None:
    for tag, attributes in Tags(page).found:
        assert "src" not in attributes, tag
        assert not (attributes.get("href") or "#").startswith(("http", "//")), tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert "default-src 'none'" in page


def test_a_page_asks_no_server_for_anything() -> None:
    assert_asks_no_server(render_page(document()))


def test_a_page_is_near_a_megabyte() -> None:
    assert len(render_page(document()).encode()) < 1_000_000
    assert len(render_page(document(n_leaves=400)).encode()) < 1_300_000


def test_the_numbers_in_the_page_are_those_of_the_document() -> None:
    made = hostile_document()
    found = re.search(
        r'<script type="application/json" id="document">(.*?)</script>', render_page(made)
    )
    assert not set("<>&\u2028") & set(found.group(1))
    embedded = json.loads(found.group(1))
    assert embedded == embedded_values(made)
    tree, nodes = embedded["tree"], made["tree"]["nodes"]
    leaves = [node for node in nodes if not node["children"]]
    inner = [node for node in nodes if node["children"]]
    for columns, records in (
        (tree["nodes"], nodes),
        (tree["leaf"], leaves),
        (tree["inner"], inner),
    ):
        for name, values in columns.items():
            assert values == [record[name] for record in records]
    left_out = set(nodes[0]) - set(tree["nodes"]) - set(tree["leaf"]) - set(tree["inner"])
    assert left_out == {"depth", "rule", "missing_arrives"}  # two follow from the branches
    assert tree["missing_arrives"] == [one["id"] for one in nodes if one["missing_arrives"]]


@pytest.mark.parametrize("drawn", [render_page, fragment])
def test_text_from_the_data_makes_no_tag(drawn: Callable) -> None:
    hostile = drawn(hostile_document())
    assert HOSTILE not in hostile
    assert "onerror" in hostile  # it is there, as text
    counts = [
        sum(tag == name for tag, _ in Tags(drawn(made)).found)
        for made in (hostile_document(), document(n_leaves=6, labels=["a", "c", "d"]))
        for name in ("img", "script")
    ]
    assert counts[:2] == counts[2:]


def test_a_fragment_is_small_and_brings_no_script() -> None:
    shown = fragment(document())
    assert len(shown) < 30_000
    assert {"script", "link", "iframe"}.isdisjoint(tag for tag, _ in Tags(shown).found)


@pytest.mark.parametrize("drawn", [render_page, fragment])
def test_another_schema_is_refused(drawn: Callable) -> None:
    with pytest.raises(InvalidArgumentError, match="schema must be 'sureleaf-report/1'; got None"):
        drawn({})


def test_a_number_that_is_none_is_refused_not_drawn() -> None:
    made = document()
    made["quality"]["cost"][0][1] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        render_page(made)


def test_the_package_holds_what_the_page_is_made_of_and_its_licences() -> None:
    folder = files("sureleaf.report.html")
    for name in ("LICENSE", "LICENSE-d3", "NOTICE", "VERSION", "echarts.common.min.js"):
        assert folder.joinpath("vendor", "echarts", name).is_file(), name
    assert {one.name for one in folder.joinpath("style").iterdir()} == {*STYLES, "fragment.css"}
    library = folder.joinpath("vendor", "echarts", "echarts.common.min.js").read_text(
        encoding="utf-8"
    )
    assert f'"{echarts_version()}"' in library
    page = render_page(document())
    assert f"Apache ECharts {echarts_version()}" in page
    assert "Apache License, Version 2.0" in page


def test_text_from_the_data_cannot_reverse_or_hide_the_words_around_it() -> None:
    made = document(n_leaves=3, labels=["a\u202eb", "c\x1b[2Jd", "e\u200bf"])
    page = re.sub(r"<script.*?</script>", "", render_page(made), flags=re.DOTALL)
    assert not set("\u202e\x1b\u200b") & set(page)
    for shown in ("a\\u202eb", "c\\x1b[2Jd", "e\\u200bf"):
        assert shown in page


def test_columns_that_were_left_out_are_not_counted() -> None:
    made = document()
    n_columns = len(made["data"]["columns"])
    left_out = {"name": "id", "kind": "left out", "note": "left out on request"}
    nothing = {"missing": 0, "distinct": 0, "low": None, "high": None, "importance": None}
    made["data"]["columns"].append(left_out | nothing | {"categories": (), "bins": None})
    page = render_page(made)
    assert f"and {n_columns} columns to predict" in page
    assert "</strong>; 1 column was left out." in page
    row = page[page.index('<tr class="left-out">') :]
    assert row[: row.index("</tr>")].count(">\u2013</td>") == 3


@pytest.mark.parametrize(("height", "sign"), [(2.57, "\u2212"), (-2.57, "+")])
def test_the_extrapolation_has_one_sign(height: float, sign: str) -> None:
    made = document()
    made["error"]["curve"]["law"]["height"] = height
    assert f"the fitted curve 0.850 {sign} 2.570 · rows" in render_page(made)


def test_a_tree_without_tests_is_said_to_have_none() -> None:
    made = document()
    made["tree"]["depth"] = 0
    page = render_page(made)
    assert "leaves, no splits. " in page
    assert "at most 0 tests" not in page


def test_at_costs_the_page_names_the_threshold_that_follows_from_them() -> None:
    made = document()
    made["quality"] |= {"cost_given": True, "cost": [[0, 5], [1, 0]], "positive": 0}
    made["quality"]["measures"].append(
        made["quality"]["measures"][0] | {"name": "cost", "value": 0.611}
    )
    page = render_page(made)
    assert "Your costs imply a threshold of 0.167, at which the tree costs 0.611 per row" in page
    made["quality"]["cost_given"] = False
    assert "implied-threshold" not in render_page(made)


def test_measures_between_0_and_1_have_three_decimals() -> None:
    made = document()
    made["quality"]["measures"][0] |= {"low": 1.2e-5, "high": 0.999}
    assert "0.000 to 0.999" in render_page(made)
