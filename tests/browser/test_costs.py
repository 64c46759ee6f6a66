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
    for actual, line in enumerate(cost):
        for predicted, paid in enumerate(line):
            page.fill(
                f'#cost-table input[data-actual="{actual}"][data-predicted="{predicted}"]',
                str(paid),
            )


@pytest.mark.parametrize("positive", [0, 1])
def test_the_slider_and_the_costs_give_the_numbers_of_python(show: Show, positive: int) -> None:
    made = document(n_leaves=4)
    made["quality"]["positive"] = positive
    scores = made["quality"]["scores"]
    page = show(made)
    costs = [
        [[0, 1], [1, 0]],
        [[0, 5], [1, 0]],
        [[0, 1], [20, 0]],
        [[-1, 3], [2.5, 0]],
        [[0, 0], [0, 0]],
    ]
    for cost in costs:
        set_cost(page, cost)
        best = best_threshold(scores, positive, cost)
        assert number(page, "#threshold-least") == best
        assert matrix(page) == confusion_at(scores, positive, best)
        assert number(page, "#cost-now") == pytest.approx(
            cost_a_row(confusion_at(scores, positive, best), cost), abs=1e-12
        )
    cost = [[0, 1], [1, 0]]
    page.click("#cost-reset")
    assert number(page, "#threshold-least") == best_threshold(scores, positive, cost)

    offered = [0.0, *scores["score"], 1.0001]
    for place in (0, 1, len(offered) // 2, len(offered) - 1):
        page.locator("#threshold").fill(str(place))
        assert float(page.input_value("#threshold-value")) == offered[place]
        assert matrix(page) == confusion_at(scores, positive, offered[place])
    page.locator("#threshold").press("ArrowLeft")
    assert matrix(page) == confusion_at(scores, positive, offered[-2])
    page.fill("#threshold-value", "0.4242")
    assert matrix(page) == confusion_at(scores, positive, 0.4242)
    assert number(page, "#cost-now") == pytest.approx(
        cost_a_row(confusion_at(scores, positive, 0.4242), cost), abs=1e-12
    )
    page.click("#threshold-best")
    assert float(page.input_value("#threshold-value")) == best_threshold(scores, positive, cost)


@pytest.mark.parametrize("n_classes", [3, 26])
def test_more_classes_are_decided_by_least_expected_cost(show: Show, n_classes: int) -> None:
    made = document(n_leaves=4, labels=[f"class {i}" for i in range(n_classes)])
    rows, cost = made["quality"]["scores"]["rows"], made["quality"]["cost"]
    page = show(made)
    assert matrix(page) == cheapest_classes(rows, cost)
    draw = random.Random(1)
    cost = [list(line) for line in cost]
    for _ in range(4):
        actual, predicted, paid = (
            draw.randrange(n_classes),
            draw.randrange(n_classes),
            draw.randint(-2, 30),
        )
        cost[actual][predicted] = paid
        page.fill(
            f'#cost-table input[data-actual="{actual}"][data-predicted="{predicted}"]', str(paid)
        )
    assert matrix(page) == cheapest_classes(rows, cost)
    assert number(page, "#cost-now") == pytest.approx(
        cost_a_row(cheapest_classes(rows, cost), cost), abs=1e-12
    )
