"""The tables of docs/estimators.md are what the functions say."""

from pathlib import Path

import numpy as np
import pytest

from sureleaf.levels import exact_bias, exact_mse, sample_size_for_bias

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "estimators.md").read_text("utf-8")
METHODS = ["mle", "entropic", "blend", "posterior"]


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table rows under a heading of the page."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_the_exact_figures_are_exact() -> None:
    p = np.linspace(0.5, 1, 501)
    table = [row for row in rows("Exact figures") if row[0].isdigit()]
    assert [int(row[0]) for row in table] == [5, 10, 20, 50, 100, 200]
    for n, *cells in table:
        for i, method in enumerate(METHODS):
            bias = np.abs(exact_bias(int(n), p, method=method)).max()
            mse = exact_mse(int(n), p, method=method).mean()
            assert cells[2 * i : 2 * i + 2] == [f"{bias:.4f}", f"{1000 * mse:.3f}"]


@pytest.mark.parametrize("method", METHODS)
def test_the_numbers_of_rows_are_those_of_sample_size_for_bias(method: str) -> None:
    table = [row for row in rows("How many rows for a bias of 1 or 2 %?") if "%" in row[1]]
    assert len(table) == 9
    for where, bound, *cells in table:
        p, _, of = where.partition(", ") if "[" not in where else (where, "", "")
        p_range = tuple(float(end) for end in p.strip("[]").split(", "))
        found = sample_size_for_bias(
            p_range, bias=float(bound[0]) / 100, method=method, of=of or "p_max"
        )
        assert int(cells[METHODS.index(method)]) == found
