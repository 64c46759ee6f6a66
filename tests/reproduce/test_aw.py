"""Which examples of the slides agree with their own definitions, and which do not."""

from pathlib import Path

import pytest

from sureleaf.reproduce import Basis, CellVerdict, PrintedCell, draw_figures, reproduce
from sureleaf.reproduce.aw import distributed_tree

DOCUMENT = reproduce("aw")


def cell(part: str, column: str, row: str | None = None) -> PrintedCell:
    cells = [c for c in DOCUMENT.part(part).cells if c.column == column and row in (None, c.row)]
    assert len(cells) == 1
    return cells[0]


def test_these_cells_and_no_others_leave_the_definitions() -> None:
    off = {
        (part.name, c.row, c.column, str(c.verdict))
        for part in DOCUMENT.parts
        for c in part.cells
        if c.verdict is not CellVerdict.AGREES
    }
    gain, folds, two = "gain with a missing value", "two algorithms", "two models"
    other, misprint = "other computation", "misprint"
    assert off == {
        (gain, "Refund", "entropy before", other),
        (gain, "Refund", "entropy after", other),
        (gain, "Refund", "gain", misprint),
        ("bootstrap", "bootstrap", "share of rows", misprint),
        (two, "M1, M2", "confidence", other),
        ("table D", "z*", ".20", other),
        ("table D", "df = 18", ".001", misprint),
        ("table D", "z*", ".001", misprint),
        (folds, "all", "mean", other),
        (folds, "all", "s", other),
        (folds, "all", "t at 95 %", other),
        (folds, "all", "low", misprint),
        (folds, "all", "high", misprint),
    }


@pytest.mark.parametrize(
    ("part", "column", "correct"),
    [
        ("gain with a missing value", "gain", 0.1368),
        ("gain with a missing value", "entropy before", 0.7642),
        ("gain with a missing value", "entropy after", 0.6122),
        ("two models", "variance", 0.0043),
        ("two models", "confidence", 0.8733),
        ("two models", "half-width", 0.1283),
        ("two algorithms", "mean", 0.0096),
        ("two algorithms", "s", 0.0587),
        ("two algorithms", "low", -0.0447),
        ("two algorithms", "high", 0.0639),
        ("bootstrap", "share of rows", 0.6321),
    ],
)
def test_correct_values(part: str, column: str, correct: float) -> None:
    assert round(cell(part, column).defined.value, 4) == correct


def test_the_misprints_of_the_t_table_are_misprints_by_mpmath() -> None:
    from mpmath import betainc, erfinv, findroot, mpf, sqrt

    def upper_tail(t: mpf) -> mpf:
        return betainc(mpf(9), mpf("0.5"), 0, 18 / (18 + t * t), regularized=True) / 2

    t = float(findroot(lambda t: upper_tail(t) - mpf("0.001"), mpf("3.6")))
    assert round(t, 3) == 3.610  # printed 3.611
    assert cell("table D", ".001", "df = 18").defined.value == pytest.approx(t)
    z = float(sqrt(2) * erfinv(mpf("0.998")))
    assert round(z, 3) == 3.090  # printed 3.091
    assert cell("table D", ".001", "z*").defined.value == pytest.approx(z)


def test_the_costs_are_those_of_the_slides() -> None:
    assert cell("cost", "cost", "M1").defined.value == 3910
    assert cell("cost", "cost", "M2").defined.value == 4255


def test_the_tree_and_a_learning_curve_are_drawn(tmp_path: Path) -> None:
    drawn = {path.name for path in draw_figures("aw", tmp_path)}
    assert drawn == {
        f"aw-{n}.{kind}" for n in ("tree", "learning-curve") for kind in ("svg", "png")
    }
    assert "Refund = No" in (tmp_path / "aw-tree.svg").read_text(encoding="utf-8")


def test_row_10_is_in_both_branches_of_the_tree() -> None:
    assert "Marital Status = Married: No   81.8 % (3.67 rows: No 3, Yes 0.67)" in (
        distributed_tree().rules()
    )


def test_the_parts_that_only_repeat_the_slides() -> None:
    arithmetic = {
        part.name for part in DOCUMENT.parts if all(c.basis is Basis.ARITHMETIC for c in part.cells)
    }
    repeated = {"row 10 distributed", "new record", "bootstrap", "coin"}
    assert arithmetic == repeated | {"table D", "table D, levels"}
