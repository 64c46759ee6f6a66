import pytest

from sureleaf import InvalidArgumentError
from sureleaf.reproduce import Basis, CellVerdict, Computed, Part, Reproduction, reproduce
from sureleaf.reproduce.cells import by_arithmetic, by_library, check_cell


def verdict(printed: float, *computed: Computed, decimals: int = 4) -> CellVerdict:
    return check_cell("row", "column", printed, decimals, *computed).verdict


def test_a_computed_figure_agrees_when_the_value_rounds_to_it() -> None:
    assert verdict(0.55, by_library(0.5467), decimals=2) is CellVerdict.AGREES
    assert verdict(0.55, by_library(0.5449), decimals=2) is CellVerdict.MISPRINT


def test_a_value_halfway_may_be_rounded_either_way() -> None:
    assert verdict(0.9580, by_library(0.95805)) is CellVerdict.AGREES
    assert verdict(0.9581, by_library(0.95805)) is CellVerdict.AGREES


def test_a_truncated_figure_is_another_computation() -> None:
    cell = check_cell("row", "column", 0.54, 2, by_library(0.5467))
    assert (cell.verdict, cell.note) == (CellVerdict.OTHER, "truncated instead of rounded")


def test_a_value_that_needs_no_rounding_is_not_taken_for_truncated() -> None:
    assert not by_library(0.57).explains_truncated(0.56, 2)
    assert by_library(0.57).explains_truncated(0.57, 2)


def test_the_definition_is_tried_before_the_other_computation() -> None:
    assert verdict(0.9, by_library(0.9), by_library(0.9)) is CellVerdict.AGREES
    assert verdict(0.9, by_library(0.8), by_library(0.9)) is CellVerdict.OTHER
    assert verdict(0.9, by_library(0.8), by_library(0.7)) is CellVerdict.MISPRINT


def test_a_simulated_figure_may_be_four_standard_errors_and_one_unit_off() -> None:
    assert verdict(0.5041, by_library(0.5, 0.001)) is CellVerdict.AGREES
    assert verdict(0.5042, by_library(0.5, 0.001)) is CellVerdict.MISPRINT


def test_exchanged_misprints_say_so() -> None:
    cells = (
        check_cell("n = 5", "mle", 0.0250, 4, by_library(0.0275, 1e-4)),
        check_cell("n = 6", "mle", 0.0274, 4, by_library(0.0250, 1e-4)),
        check_cell("n = 7", "mle", 0.0250, 4, by_library(0.0250, 1e-4)),
        check_cell("n = 8", "mle", 0.9999, 4, by_library(0.0184, 1e-4)),
    )
    noted = Part("table", "", "", "", cells).with_exchanges_noted().cells
    assert [cell.note for cell in noted] == ["fits n = 6, mle", "fits n = 5, mle", "", ""]


def test_an_unknown_document_or_part_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(InvalidArgumentError, match=r"one of zhang2024, xu2022, aw, .*; got 'nope'"):
        reproduce("nope")
    with pytest.raises(InvalidArgumentError, match="table 1 to table 19; got 'table 20'"):
        reproduce("zhang2024").part("table 20")


# ---- figures of this library and arithmetic of the document --------------------------------------


def test_both_groups_are_counted_and_add_up() -> None:
    cells = (
        check_cell("a", "x", 0.5, 1, by_library(0.5)),
        check_cell("b", "x", 0.5, 1, by_library(0.9)),
        check_cell("c", "x", 0.5, 1, by_arithmetic(0.5), by_library(0.9)),
    )
    part = Part("table", "", "", "", cells)
    document = Reproduction("none", "", (part, part))
    assert list(part.counts_of(Basis.LIBRARY).values()) == [1, 0, 1]
    assert list(part.counts_of(Basis.ARITHMETIC).values()) == [1, 0, 0]
    assert list(document.counts_of(Basis.LIBRARY).values()) == [2, 0, 2]
    assert list(document.counts_of(Basis.ARITHMETIC).values()) == [2, 0, 0]


def test_the_json_counts_both_groups_in_the_document_and_in_every_part() -> None:
    record = reproduce("xu2022").to_dict()
    for counted, cells in [
        (record, [cell for part in record["parts"] for cell in part["cells"]]),
        *((part, part["cells"]) for part in record["parts"]),
    ]:
        for basis in ("library", "arithmetic"):
            verdicts = [cell["verdict"] for cell in cells if cell["basis"] == basis]
            assert counted["counts_by_basis"][basis] == {
                str(verdict): verdicts.count(str(verdict)) for verdict in CellVerdict
            }
