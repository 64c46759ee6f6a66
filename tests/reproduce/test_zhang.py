"""The printed tables beside their definitions; the counts were obtained without this code."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest

from sureleaf import levels
from sureleaf.reproduce import CellVerdict, Computed, reproduce
from sureleaf.reproduce import zhang as tables
from sureleaf.reproduce.zhang import golf_node_counts, likelihoods, printed_table, split_curves

DOCUMENT = reproduce("zhang2024")
TWO_NODES = [f"table {number}" for number in range(3, 9)]


def counts(*names: str) -> tuple[int, int, int]:
    """Return how many cells agree, come from another computation, are misprints."""
    parts = [DOCUMENT.part(name) for name in names]
    return tuple(sum(part.counts[verdict] for part in parts) for verdict in CellVerdict)


def misprints(name: str) -> set[tuple[str, str]]:
    return {(cell.row, cell.column) for cell in DOCUMENT.part(name).of(CellVerdict.MISPRINT)}


def test_all_nineteen_tables_and_three_examples_are_there() -> None:
    names = [part.name for part in DOCUMENT.parts]
    assert {f"table {number}" for number in range(1, 20)} <= set(names)
    assert {f"example {number}" for number in (1, 2, 3)} <= set(names)
    assert len(names) == len(set(names))


def test_every_printed_figure_is_compared() -> None:
    def figures(number: int) -> int:
        content = printed_table(number)
        if "covariates" in content:
            return sum(map(len, content["covariates"].values()))
        rows = content["nodes"] if "nodes" in content else content["rows"]
        return sum(map(len, rows.values()))

    for number in [*range(1, 10), *range(11, 20)]:
        assert len(DOCUMENT.part(f"table {number}").cells) == figures(number)


def test_five_rows_for_utility_70_holds_only_after_rounding() -> None:
    confidence, utility = DOCUMENT.part("text under table 2").cells
    assert confidence.verdict is CellVerdict.AGREES
    assert (utility.verdict, utility.defined.value) == (CellVerdict.OTHER, 7)


def test_371_of_378_cells_of_tables_3_to_8_are_explained_and_seven_are_misprints() -> None:
    cells = [cell for name in TWO_NODES for cell in DOCUMENT.part(name).cells]
    finite = [cell for cell in cells if cell.row != "n = ∞"]
    assert len(finite) == 378
    explained = [cell for cell in finite if cell.verdict is not CellVerdict.MISPRINT]
    assert len(explained) == 371
    assert {name: misprints(name) for name in TWO_NODES} == {
        "table 3": set(),
        "table 4": {("n = 50", "(.9, .9)"), ("n = 200", "(.7, .7)")},
        "table 5": {("n = 50", "(.6, .8)")},
        "table 6": {("n = 30", "(.8, .8)"), ("n = 40", "(.6, .8)")},
        "table 7": {("n = 100", "(.6, .9)")},
        "table 8": {("n = 10", "(.6, .6)")},
    }


def test_simulated_tables_differ_where_they_are_known_to() -> None:
    assert counts("table 9") == (53, 3, 0)
    assert counts("table 16") == (118, 0, 2)
    assert counts("table 17") == (113, 0, 7)
    assert counts("table 18") == (106, 26, 0)
    assert counts("table 19") == (125, 7, 0)
    assert misprints("table 16") == {("n = 30", "entropic .9"), ("n = 30", "blend .6")}
    assert misprints("table 17") == {
        ("n = 5", "mle .6"),
        ("n = 6", "mle .6"),
        ("n = 9", "entropic .8"),
        ("n = 9", "entropic .9"),
        ("n = 30", "entropic .6"),
        ("n = 30", "entropic .7"),
        ("n = 30", "blend .8"),
    }


def test_without_ties_every_simulated_level_fits() -> None:
    for name in ("table 9", "table 18", "table 19"):
        for cell in DOCUMENT.part(name).cells:
            if cell.other is not None:
                assert cell.other.explains(cell.printed, cell.decimals)


def test_by_9_outlook_beats_windy_and_the_printed_ranking_does_not_hold() -> None:
    overall = {
        (cell.row, cell.column): round(cell.defined.value, 4)
        for cell in DOCUMENT.part("table 15").cells
    }
    for level, expected in (
        ("confidence", [0.7617, 0.7224, 0.8145, 0.7461]),
        ("utility", [0.6646, 0.5908, 0.6828, 0.6231]),
    ):
        columns = ("Outlook", "Temp", "Humidity", "Windy")
        assert [overall[name, level] for name in columns] == expected
    ranks = {(c.row, c.column): c.defined.value for c in DOCUMENT.part("example 3").cells}
    assert ranks["Outlook", "confidence"] < ranks["Windy", "confidence"]
    assert ranks["Outlook", "Gini"] == 1


def test_the_two_wrong_ginis_have_one_sign_wrong() -> None:
    assert misprints("table 15") == {("Outlook", "Gini"), ("Temp", "Gini")}
    for column, figure in (("Outlook", 0.7143), ("Temp", 0.7976)):
        nodes = list(golf_node_counts(column).values())
        assert tables.gini_with_last_squares_added(nodes) == pytest.approx(figure, abs=5e-5)


def test_example_2_prints_7134_for_five_sevenths_and_its_blend_rounded() -> None:
    assert misprints("example 2") == {("mle", "p_max")}
    blend = [cell for cell in DOCUMENT.part("example 2").cells if cell.row == "blend"]
    assert [cell.verdict for cell in blend] == [CellVerdict.OTHER] * 3
    exact = Fraction(5, 7) ** 2 + Fraction(2, 7) * Fraction(2, 3)  # (21) by hand
    assert blend[0].defined.value == pytest.approx(float(exact), abs=1e-12)


# ---- the computations beside slow, obvious ones ------------------------------------------------


@pytest.mark.parametrize(("n", "share", "success"), [(1, 0.5, 0.3), (4, 0.75, 0.6), (7, 0.5, 1.0)])
def test_independent_counts_are_two_sums(n: int, share: float, success: float) -> None:
    def chance(y: int, p: float) -> float:
        return comb(n, y) * p**y * (1 - p) ** (n - y)

    total = sum(
        chance(m, share) * chance(y, success) * (1.0 if 2 * y > m else 0.5)
        for m, y in product(range(1, n + 1), range(n + 1))
        if 2 * y >= m
    )
    found = tables.confidence_from_independent_counts(n, share, success)
    assert found == pytest.approx(total, abs=1e-12)


def test_the_standard_errors_are_those_of_a_simulation_of_10000_samples() -> None:
    # 400 simulated means: their spread has a relative standard error of 1 / sqrt(800) = 3.5 %,
    # hence 4 of them; the error of an error, so normal enough at 400.
    draws = np.random.default_rng(20241017).binomial(20, 0.7, size=(400, 10_000))
    estimates = np.asarray(levels.estimate_p_max(np.arange(21), 20, method="blend"))
    errors = estimates - 0.7
    for values, found in (
        (errors, tables.bias(20, 0.7, "blend", "p_max")),
        (errors**2, tables.squared_error(20, 0.7, "blend")),
    ):
        means = values[draws].mean(axis=1)
        assert found.standard_error == pytest.approx(means.std(ddof=1), rel=4 / np.sqrt(800))
        assert isinstance(found, Computed)


# ---- the figures as numbers ----------------------------------------------------------------------


@pytest.mark.parametrize("level", ["confidence", "utility"])
def test_the_curves_of_figures_1_and_2_are_10_and_11_of_the_printed_splits(level: str) -> None:
    found = split_curves(level)
    one = {"confidence": levels.confidence, "utility": levels.utility}[level]
    np.testing.assert_allclose(found.curves["no split"], one(np.arange(1, 101), 0.7), atol=1e-12)
    for name, shares, p_max in (
        ("split A", [0.9, 0.1], [0.75, 0.75]),
        ("split B", [0.2, 0.8], [0.75, 0.6875]),
    ):
        expected = getattr(levels.tree_levels(np.arange(1, 101), shares, p_max), level)
        np.testing.assert_allclose(found.curves[name], expected, atol=1e-12)


def test_the_likelihoods_are_largest_at_the_estimates() -> None:
    found = likelihoods(100_001)
    assert found.p_max[found.binomial.argmax()] == pytest.approx(found.mle, abs=1e-5)
    assert found.p_max[found.entropic.argmax()] == pytest.approx(found.entropic_mle, abs=1e-5)
    np.testing.assert_allclose(
        found.entropic[::5000], levels.entropic_binomial(7, found.p_max[::5000]).pmf(5), atol=1e-12
    )
