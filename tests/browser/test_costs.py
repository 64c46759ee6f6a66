"""What the page decides at a cost is what Python decides."""

import random
from typing import Any

import pytest

from tests.browser.conftest import Show
from tests.naive.decisions import best_threshold, cheapest_classes, confusion_at, cost_a_row
from tests.report.page_documents import document


def matrix(page: Any) -> list[list[float]]:
    found: list[list[float]] = page.locator("#confusion-decided tbody").evaluate(
        "body => [...body.rows].map(line => "
        "[...line.querySelectorAll('.cell')].map(cell => Number(cell.dataset.value)))"
    )
    return found


def number(page: Any, selector: str) -> float:
    return float(page.locator(selector).get_attribute("data-value"))


def set_cost(page: Any, cost: list[list[float]]) -> None:
    """Type the costs that are not there yet."""
    for actual, line in enumerate(cost):
        for predicted, paid in enumerate(line):
            cell = f'#cost-table input[data-actual="{actual}"][data-predicted="{predicted}"]'
            if float(page.input_value(cell)) != paid:
                page.fill(cell, str(paid))


@pytest.mark.parametrize("positive", [0, 1])
def test_the_slider_and_the_costs_give_the_numbers_of_python(show: Show, positive: int) -> None:
    made = document(n_leaves=4)
    made["quality"]["positive"] = positive
    scores = made["quality"]["scores"]
    page = show(made)
    lines = [([0, 1], [1, 0]), ([0, 5], [1, 0]), ([0, 1], [20, 0]), ([-1, 3], [2.5, 0])]
    for cost in [*map(list, lines), [[0, 0], [0, 0]]]:
        set_cost(page, cost)
        best = best_threshold(scores, positive, cost)
        assert number(page, "#threshold-least") == best
        counts = confusion_at(scores, positive, best)
        assert matrix(page) == counts
        assert number(page, "#cost-now") == pytest.approx(cost_a_row(counts, cost), abs=1e-12)
    cost = [[0, 1], [1, 0]]
    page.click("#cost-reset")
    assert number(page, "#threshold-least") == best_threshold(scores, positive, cost)

    offered = [0.0, *scores["score"], 1.0001]
    for place in (0, 1, len(offered) // 2, len(offered) - 1):
        page.locator("#threshold").fill(str(place))
        shown = page.input_value("#threshold-value")
        assert shown == "" if offered[place] > 1 else float(shown) == offered[place]
        assert matrix(page) == confusion_at(scores, positive, offered[place])
    page.locator("#threshold").press("ArrowLeft")
    assert matrix(page) == confusion_at(scores, positive, offered[-2])
    page.fill("#threshold-value", "0.4242")
    counts = confusion_at(scores, positive, 0.4242)
    assert matrix(page) == counts
    assert number(page, "#cost-now") == pytest.approx(cost_a_row(counts, cost), abs=1e-12)
    page.click("#threshold-best")
    assert float(page.input_value("#threshold-value")) == best_threshold(scores, positive, cost)


def note(page: Any, what: str) -> str | None:
    found = page.locator(f'#decision-notes [data-note="{what}"]')
    return found.inner_text() if found.count() else None


def test_what_is_no_cost_is_marked_and_the_last_result_is_called_so(show: Show) -> None:
    page = show(document(n_leaves=4))
    cell, problem = page.locator("#cost-table input").nth(1), page.locator("#cost-problem")
    assert not problem.is_visible()
    cell.fill("3")
    before = matrix(page)
    assert note(page, "moved") == "The threshold is set to the cheapest one for these costs."
    cell.fill("")
    assert cell.get_attribute("aria-invalid") == "true"
    assert problem.inner_text().startswith("Enter a number.")
    assert "last valid costs" in problem.inner_text()
    assert matrix(page) == before
    cell.fill("3")
    assert cell.get_attribute("aria-invalid") == "false"
    assert not problem.is_visible()


def test_a_threshold_beyond_its_range_is_marked_and_taken_back(show: Show) -> None:
    page = show(document(n_leaves=4))
    box = page.locator("#threshold-value")
    box.fill("0.4")
    before = matrix(page)
    assert note(page, "moved") is None
    for wrong in ("1.5", "-0.1", ""):
        box.fill(wrong)
        assert box.get_attribute("aria-invalid") == "true"
        assert page.locator("#threshold-problem").is_visible()
        assert matrix(page) == before
    box.blur()
    assert float(box.input_value()) == 0.4
    assert box.get_attribute("aria-invalid") == "false"
    assert not page.locator("#threshold-problem").is_visible()


def test_calling_all_rows_alike_is_said(show: Show) -> None:
    page = show(document(n_leaves=4))
    page.fill("#threshold-value", "0")
    assert note(page, "alike") == "Every row is predicted no."
    page.fill("#threshold-value", "0.5")
    assert note(page, "alike") is None
    set_cost(page, [[0, 0], [50, 0]])
    assert note(page, "alike") == "Every row is predicted yes."
    cost_line = page.locator("#cost-line").inner_text()
    assert "lowest when no row is predicted no, where it is 0." in cost_line
    assert page.get_attribute("#threshold-value", "placeholder") == "never"


@pytest.mark.parametrize("tree_says", ["as here", "the other", "some of each"])
def test_rows_at_half_that_the_tree_names_otherwise_are_explained(show, tree_says) -> None:
    made = document(n_leaves=4)
    quality = made["quality"]
    scores = quality["scores"]
    scores["score"][len(scores["score"]) // 2] = 0.5
    scores["score"].sort()
    here, above = (confusion_at(scores, 0, at) for at in (0.5, 0.5001))
    between = [
        [(a + b) / 2 for a, b in zip(*lines, strict=True)]
        for lines in zip(here, above, strict=True)
    ]
    quality["confusion"] = {"as here": here, "the other": above, "some of each": between}[tree_says]
    page = show(made)
    page.fill("#threshold-value", "0.5")
    told = note(page, "ties")
    if tree_says == "as here":
        assert told is None
        return
    assert told.startswith("Rows with a probability of exactly 50\u00a0% count as no here.")
    assert ("predicts yes," in told) == (tree_says == "the other")
    assert ("no for some of them and yes for others" in told) == (tree_says == "some of each")
    page.fill("#threshold-value", "0.4")
    assert note(page, "ties") is None


@pytest.mark.parametrize("n_classes", [3, 26])
def test_more_classes_are_decided_by_least_expected_cost(show: Show, n_classes: int) -> None:
    made = document(n_leaves=4, labels=[f"class {i}" for i in range(n_classes)])
    rows, cost = made["quality"]["scores"]["rows"], made["quality"]["cost"]
    made["quality"]["confusion"] = cheapest_classes(rows, cost)
    assert note(show(made), "ties") is None
    made["quality"]["confusion"][0][0] += 1  # the tree decides a tie in another way
    page = show(made)
    assert str(note(page, "ties")).startswith("Of classes that tie, the first one counts here.")
    assert matrix(page) == cheapest_classes(rows, cost)
    draw = random.Random(1)
    cost = [list(line) for line in cost]
    for _ in range(4):
        line = cost[draw.randrange(n_classes)]
        line[draw.randrange(n_classes)] = draw.randint(-2, 30)
    set_cost(page, cost)
    counts = cheapest_classes(rows, cost)
    assert matrix(page) == counts
    assert note(page, "ties") is None
    assert number(page, "#cost-now") == pytest.approx(cost_a_row(counts, cost), abs=1e-12)
