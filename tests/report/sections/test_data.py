"""What is warned of, and what is not."""

import numpy as np
import pyarrow as pa
import pytest

from sureleaf.report.sections.data import looks_like_identifier
from sureleaf.table import Column
from tests.report.tables import quick_report


def test_every_kind_of_trouble_is_named_with_its_column() -> None:
    rng = np.random.default_rng(0)
    n = 240
    y = np.where(rng.random(n) < 0.5, "yes", "no")
    size = rng.normal(size=n).round(2)
    size[1], y[1] = size[0], y[0]  # a copy
    size[3] = size[2]
    y[2], y[3] = "yes", "no"  # alike, of different classes
    table = {
        "size": size,
        "after": np.where(y == "yes", "paid", "open"),
        "same": ["x"] * n,
        "empty": pa.array([None] * n, pa.float64()),
        "rare": [1.0 + i % 3 if i % 4 == 2 else None for i in range(n)],
    }
    for name in ("after", "rare"):
        table[name] = list(table[name])
        table[name][1], table[name][3] = table[name][0], table[name][2]
    table["after"][2] = table["after"][3]
    told = quick_report(pa.table(table), y).to_dict()["data"]["warnings"]
    conflicts = next(w["text"] for w in told if w["kind"] == "conflicts")
    assert conflicts.endswith("Any model must get at least 1 of them wrong.")
    found: dict[str, list[str | None]] = {}
    for one in told:
        found.setdefault(one["kind"], []).append(one["column"])
    assert found["leak"] == ["after"]
    assert sorted(found["constant"]) == ["empty", "same"]
    assert found["missing"] == ["rare"]
    assert found["duplicates"] == [None]
    assert found["conflicts"] == [None]
    assert "identifier" not in found


def test_an_identifier_that_the_tree_uses_is_told_in_the_answer() -> None:
    y = np.array(["no"] * 40 + ["yes"] * 40)
    table = pa.table({"row": np.arange(80), "name": [f"n{i}" for i in range(80)]})
    document = quick_report(table, y).to_dict()
    found = {
        w["column"]: w["text"] for w in document["data"]["warnings"] if w["kind"] == "identifier"
    }
    assert set(found) == {"row", "name"}
    assert "The tree uses it" in found["row"]
    assert "does not use it" in found["name"]
    assert document["answer"]["sentences"][2]["short"] == "First check row."


def test_copies_of_rows_do_not_hide_an_identifier() -> None:
    numbers = np.concatenate([np.arange(80), np.arange(6)])
    y = np.where(numbers % 3 > 0, "no", "yes")
    table = pa.table({"patient": numbers, "age": numbers % 7})
    warnings = quick_report(table, y).to_dict()["data"]["warnings"]
    found = {w["kind"]: w["column"] for w in warnings}
    assert found["identifier"] == "patient"
    assert "duplicates" in found


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("n", np.arange(50.0), True),
        ("n", np.random.default_rng(0).permutation(50) + 7.0, True),  # consecutive, in any order
        ("n", np.random.default_rng(0).permutation(50) * 1000.0, False),  # a measurement
        ("customer_id", np.random.default_rng(0).permutation(50) * 1000.0, True),
        ("customerId", np.random.default_rng(0).permutation(50) * 1000.0, True),
        ("humid", np.random.default_rng(0).permutation(50) * 1000.0, False),
        ("n", np.arange(50.0) / 3, False),  # no whole numbers
        ("n", np.repeat(np.arange(25.0), 2), False),
        ("n", np.arange(10.0), False),  # too few to tell
    ],
)
def test_identifiers_are_whole_numbers_that_number_rows(
    name: str, values: np.ndarray, expected: bool
) -> None:
    assert looks_like_identifier(Column(name, "numeric"), values) is expected


def test_unequal_weights_are_told_as_rows() -> None:
    rng = np.random.default_rng(0)
    weights = np.where(np.arange(80) < 5, 100.0, 1.0)
    weights[79] = 0
    y = np.where(rng.random(80) < 0.5, "a", "b")
    found = quick_report(rng.normal(size=(80, 1)), y, sample_weight=weights).to_dict()
    texts = [w["text"] for w in found["data"]["warnings"] if w["kind"] == "weights"]
    assert len(texts) == 2
    assert "weight 0" in texts[0]
    assert "as 7 rows" in texts[1]  # (574)² / (5 · 100² + 74) = 6.6
