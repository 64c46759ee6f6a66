import dataclasses

import pytest

from sureleaf import InvalidArgumentError
from sureleaf.reproduce import Computed, Part, Reproduction, Verdict, reproduce
from sureleaf.reproduce.comparison_table import judge


def verdict(printed: float, *computed: Computed, decimals: int = 4) -> Verdict:
    return judge("row", "column", printed, decimals, *computed).verdict


def test_a_computed_figure_agrees_when_the_value_rounds_to_it() -> None:
    assert verdict(0.55, Computed(0.5467), decimals=2) is Verdict.AGREES
    assert verdict(0.55, Computed(0.5449), decimals=2) is Verdict.MISPRINT


def test_a_value_halfway_may_be_rounded_either_way() -> None:
    assert verdict(0.9580, Computed(0.95805)) is Verdict.AGREES
    assert verdict(0.9581, Computed(0.95805)) is Verdict.AGREES


def test_a_figure_that_was_cut_off_is_another_computation() -> None:
    cell = judge("row", "column", 0.54, 2, Computed(0.5467))
    assert (cell.verdict, cell.note) == (Verdict.OTHER, "cut off instead of rounded")


def test_a_value_that_needs_no_rounding_is_not_taken_for_cut_off() -> None:
    assert not Computed(0.57).cut_off_explains(0.56, 2)
    assert Computed(0.57).cut_off_explains(0.57, 2)


def test_the_definition_is_asked_before_the_other_computation() -> None:
    assert verdict(0.9, Computed(0.9), Computed(0.9)) is Verdict.AGREES
    assert verdict(0.9, Computed(0.8), Computed(0.9)) is Verdict.OTHER
    assert verdict(0.9, Computed(0.8), Computed(0.7)) is Verdict.MISPRINT


def test_a_simulated_figure_may_be_four_standard_errors_and_one_unit_off() -> None:
    assert verdict(0.5041, Computed(0.5, 0.001)) is Verdict.AGREES
    assert verdict(0.5042, Computed(0.5, 0.001)) is Verdict.MISPRINT


def test_misprints_that_changed_places_say_so() -> None:
    cells = (
        judge("n = 5", "mle", 0.0250, 4, Computed(0.0275, 1e-4)),
        judge("n = 6", "mle", 0.0274, 4, Computed(0.0250, 1e-4)),
        judge("n = 7", "mle", 0.0250, 4, Computed(0.0250, 1e-4)),
        judge("n = 8", "mle", 0.9999, 4, Computed(0.0184, 1e-4)),
    )
    noted = Part("table", "", "", "", cells).with_exchanges_noted().cells
    assert [cell.note for cell in noted] == ["fits n = 6, mle", "fits n = 5, mle", "", ""]


def test_results_cannot_be_changed() -> None:
    found = reproduce("zhang2024")
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.document = "other"  # type: ignore[misc]


def test_zero_has_no_sign() -> None:
    assert judge("row", "column", -0.0, 4, Computed(-1e-9)).shown(-1e-9) == ".0000"


def test_an_unknown_document_or_part_is_an_error_that_says_what_there_is() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"must be one of zhang2024, xu2022, aw, .*; got 'nope'"
    ):
        reproduce("nope")
    with pytest.raises(InvalidArgumentError, match="has no table 20; its parts go from table 1"):
        reproduce("zhang2024").part("table 20")


def test_a_selection_keeps_the_order_asked_for() -> None:
    found = reproduce("zhang2024").only(["table 19", "table 1"])
    assert [part.name for part in found.parts] == ["table 19", "table 1"]
    assert sum(found.counts.values()) == 132 + 275


def test_the_repr_of_a_reproduction_counts() -> None:
    assert repr(Reproduction("none", "", ())) == (
        "Reproduction('none': 0 parts, 0 agrees, 0 other computation, 0 misprint)"
    )
