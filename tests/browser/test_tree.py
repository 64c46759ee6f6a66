"""The diagram can be opened, searched, walked by keys, and says what a leaf knows."""

import json
import shlex
from typing import Any

import pytest

from sureleaf import levels
from tests.browser.conftest import Show
from tests.cli.command import sureleaf_here as sureleaf
from tests.report.page_documents import document


def items(page: Any) -> int:
    return int(page.locator("#tree-view [role=treeitem]").count())


def in_view(page: Any) -> int:
    """Count the nodes that can be seen in the panel of the diagram."""
    return int(
        page.evaluate(
            """() => {
              const view = document.getElementById("tree-view").getBoundingClientRect();
              const boxes = [...document.querySelectorAll("#tree-view [data-node] .box")];
              return boxes.map((one) => one.getBoundingClientRect()).filter((box) =>
                box.left < view.right && box.right > view.left
                && box.top < view.bottom && box.bottom > view.top).length;
            }"""
        )
    )


def outside(page: Any, view: str, boxes: str) -> int:
    """Count the boxes that are not wholly inside the panel, or wider than the page."""
    return int(
        page.evaluate(
            """([view, boxes]) => {
              const around = document.querySelector(view).getBoundingClientRect();
              const found = [...document.querySelectorAll(boxes)];
              const all = found.map((one) => one.getBoundingClientRect());
              return all.filter((box) => box.left < around.left || box.right > around.right + 0.5
                || box.right > window.innerWidth || box.top < around.top
                || box.bottom > around.bottom + 0.5).length;
            }""",
            [view, boxes],
        )
    )


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("depth", range(2, 9))
def test_the_tree_opens_fitted_with_all_its_flagged_leaves(show, depth, width) -> None:
    made = document(n_leaves=depth + 1, chain=True)
    assert made["tree"]["depth"] == depth
    flagged = sum(bool(node["flagged"]) for node in made["tree"]["nodes"])
    page = show(made, viewport={"width": width, "height": 860})
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert items(page) == 2 * depth + 1
    assert outside(page, "#tree-view", "#tree-view .node .box, #tree-view .edge-label") == 0
    assert page.locator("#tree-view .warn-box").count() == flagged
    first = ".picture .node .box, .picture .edge-label" if width > 800 else ".outline .end"
    assert outside(page, ".first-tree", first) == 0
    marked = ".picture .warn-box" if width > 800 else ".outline .flag"
    assert page.locator(marked).count() == flagged
    ends = ".picture .node.leaf" if width > 800 else ".outline .end"
    assert page.locator(ends).count() == depth + 1
    assert "the branches with the most rows" not in page.locator("#answer").inner_text()


@pytest.mark.parametrize("width", [1280, 390])
def test_a_large_tree_opens_with_the_levels_that_fit(show: Show, width: int) -> None:
    made = document(n_leaves=60)
    page = show(made, viewport={"width": width, "height": 860})
    assert 3 < items(page) < 119
    assert outside(page, "#tree-view", "#tree-view .node .box, #tree-view .edge-label") == 0
    assert "flagged" in page.locator("#tree-view").text_content()
    assert page.locator(".picture .node.leaf, .picture .node.inner").count() > 10


def test_a_large_tree_opens_step_by_step_and_is_searched(show: Show) -> None:
    made = document(n_leaves=859)
    nodes = made["tree"]["nodes"]
    page = show(made)
    at_first = items(page)
    assert at_first < 100
    page.click("#tree-expand")
    assert items(page) == len(nodes)
    assert in_view(page) >= 20
    page.click("#tree-collapse")
    assert items(page) == at_first

    wanted = next(node for node in reversed(nodes) if not node["children"])
    page.fill("#tree-search", f"leaf {wanted['id']}")
    hit = page.locator(f'#tree-view [data-node="{wanted["id"]}"].found')
    assert hit.count() == 1
    columns = made["tree"]["columns"]
    by_name = sum(
        bool(node["children"]) and columns[node["column"]]["name"] == "joined" for node in nodes
    )
    page.fill("#tree-search", "JOINED")
    assert page.locator("#tree-found").inner_text() == f"{by_name} nodes found"

    page.fill("#tree-search", wanted["edge"].upper())
    by_edge = sum(wanted["edge"] in (node["edge"] or "") for node in nodes)
    assert page.locator("#tree-found").inner_text().split()[0] == str(by_edge)

    page.click("#tree-fit")
    inside = page.evaluate(
        "document.querySelector('#tree-view svg').clientWidth"
        " <= document.querySelector('#tree-view').clientWidth + 1"
    )
    assert inside


def test_a_split_has_the_command_that_compares_it_with_no_split(show: Show) -> None:
    made = document(n_leaves=5)
    nodes = made["tree"]["nodes"]
    page = show(made)
    page.locator('#tree-view [data-node="0"]').click()
    words = shlex.split(page.locator("#node-panel code").inner_text())
    assert words[:2] == ["sureleaf", "plan"]
    done = sureleaf(*words[1:], "--json")
    assert done.returncode == 0, done.stderr
    five = json.loads(done.stdout)["splits"]["levels"][:2]
    counts = [nodes[child]["counts"] for child in nodes[0]["children"]]
    rows = [sum(count) for count in counts]
    p_max = [max(count) / sum(count) for count in counts]
    tree = levels.tree_levels(5, [n / sum(rows) for n in rows], p_max)
    whole = max(nodes[0]["counts"]) / nodes[0]["n"]
    assert [one["utility"] for one in five] == pytest.approx(
        [levels.utility(5, whole), tree.utility], abs=1e-3
    )


def test_a_click_on_a_leaf_tells_all_about_it(show: Show) -> None:
    made = document(n_leaves=5)
    leaf = next(n for n in made["tree"]["nodes"] if n["flagged"] and n["rows_needed"])
    page = show(made)
    page.locator(f'#tree-view [data-node="{leaf["id"]}"]').click()
    page.locator("#node-panel summary").click()
    told = page.locator("#node-panel").inner_text().replace("\u00a0", " ")
    for test in leaf["rule"].split(" and "):
        assert test in told
    for text in (
        f"Leaf {leaf['id']}",
        "flagged",
        f"{100 * leaf['probability']:.1f} %",
        f"{100 * leaf['low']:.1f} to {100 * leaf['high']:.1f} %",
        f"{100 * leaf['confidence']:.1f} %",
        f"{100 * leaf['utility']:.1f} %",
        f"{leaf['rows_needed']:,}",
        f"{leaf['n']:,.0f}",
        leaf["repair"],
        *(f"{count:,.0f}" for count in leaf["counts"]),
    ):
        assert text in told, text
    page.click("#node-panel .close")
    assert not page.locator("#node-panel").is_visible()


def test_keys_walk_through_the_tree(show: Show) -> None:
    made = document(n_leaves=5)
    nodes = made["tree"]["nodes"]
    page = show(made)
    before = items(page)
    page.locator('#tree-view [data-node="0"]').focus()

    def pressed(key: str) -> tuple[int, str | None]:
        page.keyboard.press(key)
        at = page.evaluate("document.activeElement.dataset.node")
        return int(at), page.evaluate("document.activeElement.getAttribute('aria-expanded')")

    assert pressed("ArrowLeft") == (0, "false")
    assert items(page) == 1
    assert pressed("ArrowRight") == (0, "true")
    assert items(page) == before
    first = nodes[0]["children"][0]
    assert pressed("ArrowRight")[0] == first
    assert pressed("ArrowLeft")[0] in (first, 0)
    assert pressed("Home")[0] == 0
    last, expanded = pressed("End")
    assert expanded is None
    assert not nodes[last]["children"]
    assert pressed("Enter")[0] == last
    assert page.locator("#node-panel").get_attribute("data-node") == str(last)
    assert page.locator('#tree-view [tabindex="0"]').count() == 1
