import pytest
from rich.console import Console

from sureleaf import InvalidArgumentError
from sureleaf.commands.plan import make_plan, plan_tables
from sureleaf.levels.p_max_estimates import METHODS


@pytest.mark.parametrize(
    ("rows", "said"),
    [(8, "needs 17 rows for a confidence of 0.95: 9 more."), (17, ": there are enough.")],
)
def test_the_answer_says_how_many_rows_are_missing(rows: int, said: str) -> None:
    assert make_plan((0.7, 0.7), rows=rows, confidence=0.95).answer().endswith(said)


def test_every_estimate_has_its_rows_for_a_bias() -> None:
    found = make_plan((0.7, 0.9), bias=0.05)
    assert [one.method for one in found.biases] == list(METHODS)
    soonest = min(found.biases, key=lambda one: one.rows)
    assert found.answer().startswith(
        f"From {soonest.rows} rows on, the bias of the {soonest.method} estimate of p_max is at "
        "most 0.05"
    )


def test_negative_rows_are_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="got -1"):
        make_plan((0.75, 0.75), rows=-1)


@pytest.mark.parametrize("columns", [60, 100])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    console = Console(width=columns, color_system=None)
    with console.capture() as captured:
        for table in plan_tables(make_plan((0.7, 0.9), rows=10**9, confidence=0.99, bias=0.05)):
            console.print(table)
    assert max(map(len, captured.get().splitlines())) <= columns
    assert "1,000,000,000" in captured.get()
