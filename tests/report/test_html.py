"""The page as text: whole, offline, escaped, and with the licence of what it carries."""

import json
import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.report.document import embedded_values
from sureleaf.report.html import fragment, render_page
from sureleaf.report.html.page import (
    AUDIT_SCRIPTS,
    SCRIPTS,
    STYLES,
    echarts_version,
)
from tests.report.page_documents import HOSTILE, document, hostile_document


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))


def test_a_page_asks_no_server_for_anything() -> None:
    page = render_page(document())
    for tag, attributes in Tags(page).found:
        assert "src" not in attributes, tag
        assert not (attributes.get("href") or "#").startswith(("http", "//")), tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert "default-src 'none'" in page


def test_a_page_is_near_a_megabyte() -> None:
    assert len(render_page(document()).encode()) < 1_000_000
    assert len(render_page(document(n_leaves=400)).encode()) < 1_300_000


def test_the_numbers_in_the_page_are_those_of_the_document() -> None:
    made = hostile_document()
    found = re.search(
        r'<script type="application/json" id="document">(.*?)</script>', render_page(made)
    )
    assert found is not None
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
    assert left_out == {"depth", "rule"}  # both follow from the branches


@pytest.mark.parametrize("drawn", [render_page, fragment])
def test_text_from_the_data_makes_no_tag(drawn: object) -> None:
    assert callable(drawn)
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
    assert len(shown) < 10_000
    assert {"script", "link", "iframe"}.isdisjoint(tag for tag, _ in Tags(shown).found)


@pytest.mark.parametrize("drawn", [render_page, fragment])
def test_another_schema_is_refused(drawn: object) -> None:
    assert callable(drawn)
    with pytest.raises(InvalidArgumentError, match="schema must be 'sureleaf-report/3'; got None"):
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
    assert {one.name for one in folder.joinpath("script").iterdir()} == set(SCRIPTS) | set(
        AUDIT_SCRIPTS
    )
    assert {one.name for one in folder.joinpath("style").iterdir()} == set(STYLES)
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
