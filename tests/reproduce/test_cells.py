import dataclasses

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


def test_results_cannot_be_changed() -> None:
    document = reproduce("zhang2024")
    with pytest.raises(dataclasses.FrozenInstanceError):
        document.document = "other"  # type: ignore[misc]


def test_zero_has_no_sign() -> None:
    assert check_cell("row", "column", -0.0, 4, by_library(-1e-9)).format(-1e-9) == ".0000"


def test_an_unknown_document_or_part_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"must be one of zhang2024, xu2022, aw, .*; got 'nope'"
    ):
        reproduce("nope")
    with pytest.raises(
        InvalidArgumentError, match=r"a part of zhang2024, table 1 to table 19; got 'table 20'"
    ):
        reproduce("zhang2024").part("table 20")


def test_a_selection_keeps_the_requested_order() -> None:
    selection = reproduce("zhang2024").only(["table 19", "table 1"])
    assert [part.name for part in selection.parts] == ["table 19", "table 1"]
    assert sum(selection.counts.values()) == 132 + 275


def test_the_repr_of_a_reproduction_counts() -> None:
    assert repr(Reproduction("none", "", ())) == (
        "Reproduction('none': 0 parts, 0 agrees, 0 other computation, 0 misprint)"
    )


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


@pytest.mark.parametrize(
    ("document", "library", "arithmetic"),
    [
        ("zhang2024", (1105, 434, 17), (25, 3, 2)),
        ("xu2022", (21, 0, 0), (14, 0, 2)),
        ("aw", (11, 3, 2), (479, 4, 4)),
    ],
)
def test_what_exercises_this_library_is_counted_apart(
    document: str, library: tuple[int, ...], arithmetic: tuple[int, ...]
) -> None:
    reproduction = reproduce(document)
    assert tuple(reproduction.counts_of(Basis.LIBRARY).values()) == library
    assert tuple(reproduction.counts_of(Basis.ARITHMETIC).values()) == arithmetic


def test_a_computed_value_has_a_basis() -> None:
    assert by_library(1).basis is Basis.LIBRARY
    assert by_arithmetic(1) == Computed(1.0, Basis.ARITHMETIC)
