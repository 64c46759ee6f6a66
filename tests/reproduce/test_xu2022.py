"""The examples of the notes agree, except two misprints."""

from sureleaf.reproduce import Verdict, reproduce

DOCUMENT = reproduce("xu2022")


def test_two_misprints_and_nothing_else() -> None:
    off = {
        (c.row, c.column, c.printed, round(c.defined.value, 3))
        for part in DOCUMENT.parts
        for c in part.cells
        if c.verdict is not Verdict.AGREES
    }
    assert off == {
        ("(10)", "N", 4, 6),
        ("text", "share of distinct rows", 0.623, 0.632),
    }


def test_the_margins_of_table_1() -> None:
    values = [c.defined.value for c in DOCUMENT.part("table 1").cells]
    assert values == [10, 10, 10, 10, 8, 11, 11, 10]


def test_the_share_of_distinct_rows_tends_to_its_limit() -> None:
    n = 10_000
    drawn = DOCUMENT.part("distinct rows").cells[0].defined.value
    assert abs(1 - (1 - 1 / n) ** n - drawn) < 1 / n
