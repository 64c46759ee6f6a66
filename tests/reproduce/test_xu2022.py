"""The examples of the notes agree, except two misprints."""

from pathlib import Path

import pytest

from sureleaf import measures
from sureleaf.reproduce import CellVerdict, draw_figures, reproduce
from sureleaf.reproduce.xu2022 import SCORES

DOCUMENT = reproduce("xu2022")


def test_two_misprints_and_nothing_else() -> None:
    off = {
        (c.row, c.column, c.printed, round(c.defined.value, 3))
        for part in DOCUMENT.parts
        for c in part.cells
        if c.verdict is not CellVerdict.AGREES
    }
    assert off == {("(10)", "N", 4, 6), ("text", "share of distinct rows", 0.623, 0.632)}


def test_the_margins_of_table_1() -> None:
    values = [c.defined.value for c in DOCUMENT.part("table 1").cells]
    assert values == [10, 10, 10, 10, 8, 11, 11, 10]


def test_the_share_of_distinct_rows_tends_to_its_limit() -> None:
    n = 10_000
    drawn = DOCUMENT.part("distinct rows").cells[0].defined.value
    assert abs(1 - (1 - 1 / n) ** n - drawn) < 1 / n


def test_five_figures_are_drawn(tmp_path: Path) -> None:
    names = {path.name for path in draw_figures("xu2022", tmp_path)}
    assert names == {f"xu2022-figure-{n}.{kind}" for n in range(1, 6) for kind in ("svg", "png")}


def test_the_scores_of_the_figures_are_separable_partly_and_not_at_all() -> None:
    areas = [measures.auc(rows.truth, rows.scores) for rows in SCORES]
    assert areas == [1, pytest.approx(areas[1]), 0.5]
    assert 0.5 < areas[1] < 1
    assert SCORES[0].rates(0.5) == (0, 1)  # (26)
    assert SCORES[1].rates(0.5) == pytest.approx((0.25, 0.75))
