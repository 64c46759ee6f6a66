"""A few hostile inputs of each target, and all seeds that once found something."""

import json
import warnings
from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS
from tests.fuzz.worker import try_seed

FOUND: dict[str, list[int]] = json.loads((Path(__file__).parent / "seeds.json").read_text())

FEW = {"reports": 3, "commands": 4, "boosters": 1, "skops": 1}
"""Targets of which a case takes long."""


@pytest.mark.parametrize("name", TARGETS)
def test_hostile_input_gives_a_result_or_an_error_of_ours(name: str) -> None:
    if name == "excel":
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
    if name == "skops":
        pytest.importorskip("skops", reason="skops is not installed")
    n_cases = FEW.get(name, 15)
    outcomes = []
    for seed in [*range(1_000_000, 1_000_000 + n_cases), *FOUND.get(name, [])]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.append(try_seed(name, seed))
    if name not in {*FEW, "changing"}:  # so damage is why others are refused
        assert set(outcomes) != {"refused"}
