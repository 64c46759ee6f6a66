import numpy as np
import pandas as pd
import pytest

from sureleaf import rank_columns
from sureleaf.errors import InvalidArgumentError

# The golf data of Quinlan (1986), as in Zhang (2024), Example 3, by first letters.
GOLF = pd.DataFrame(
    {
        "outlook": list("ssorrrossrsoor"),  # sunny, overcast, rainy
        "temperature": list("hhhmcccmcmmmhm"),  # hot, mild, cool
        "humidity": list("hhhhnnnhnnnhnh"),  # high, normal
        "windy": list("nynnnyynnnyyny"),
        "play": list("nnyyynynyyyyyn"),
    }
)
X, Y = GOLF.drop(columns="play"), GOLF["play"]

# (9) to (11) with n = 14, the Gini impurities by their definition, and Quinlan's gain ratios.
EXPECTED = {
    "humidity": (0.8145, 0.6828, 0.3673, 0.152),
    "outlook": (0.7617, 0.6646, 0.3429, 0.156),
    "windy": (0.7461, 0.6231, 0.4286, 0.049),
    "temperature": (0.7224, 0.5908, 0.4405, 0.019),
}


def test_the_golf_columns_have_the_levels_and_impurities_of_the_definitions():
    table = rank_columns(X, Y, levels_from="training")
    assert table.column.tolist() == list(EXPECTED)
    found = np.column_stack([table.confidence, table.utility, table.gini, table.gain_ratio])
    expected = np.array(list(EXPECTED.values()))
    np.testing.assert_allclose(found[:, :3], expected[:, :3], atol=5e-5)
    np.testing.assert_allclose(found[:, 3], expected[:, 3], atol=5e-4)


@pytest.mark.parametrize(("by", "sign"), [("utility", -1), ("gini", 1), ("gain_ratio", -1)])
def test_columns_are_sorted_by_what_is_asked_for(by, sign):
    key = sign * getattr(rank_columns(X, Y, by=by), by)
    assert key.round(12).tolist() == sorted(key.round(12))


def test_a_column_that_is_always_missing_comes_last_by_impurity():
    frame = pd.DataFrame({"empty": [None] * 40, "useful": [0, 1] * 20})
    assert rank_columns(frame, [0, 1] * 20, by="gini").column.tolist() == ["useful", "empty"]


def test_cross_fitting_sees_through_a_column_of_names():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    useful = np.where(rng.random(100) < 0.8, y, 1 - y)
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(100)], "useful": useful})
    flattered = rank_columns(frame, y, levels_from="training")
    honest = rank_columns(frame, y)
    assert flattered.column[flattered.gini.argmin()] == "name"
    assert honest.column[0] == "useful"
    assert honest.utility[0] == pytest.approx((useful == y).mean(), abs=0.05)
    assert honest.utility[1] < 0.6


@pytest.mark.parametrize("levels_from", ["training", "cross_fit"])
def test_missing_constant_and_multiclass_columns_have_no_nan_levels(levels_from):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=60), "constant": 1.0, "empty": np.nan})
    frame.loc[:20, "a"] = np.nan
    table = rank_columns(frame, rng.integers(0, 3, 60), levels_from=levels_from)
    assert np.isfinite(table.confidence).all()
    assert np.isfinite(table.utility).all()
    assert np.isfinite(table.gain_ratio).all()
    assert dict(zip(table.column, table.branches, strict=True))["constant"] == 1


def test_missing_values_weigh_the_gain_as_in_c45():
    # The lecture's Refund: one of ten values missing; gain .1368, split info 1.2955.
    refund = ["yes", "no", "no", "yes", "no", "no", "yes", "no", "no", None]
    cheat = ["no", "no", "no", "no", "yes", "no", "no", "yes", "no", "yes"]
    table = rank_columns([[value] for value in refund], cheat, levels_from="training")
    assert table.gain_ratio[0] == pytest.approx(0.1056, abs=5e-5)


def test_unequal_lengths_and_unknown_sources_are_refused():
    with pytest.raises(InvalidArgumentError, match="same number of rows"):
        rank_columns([[1], [2]], [0])
    with pytest.raises(InvalidArgumentError, match="levels_from must be"):
        rank_columns([[1], [2]], [0, 1], levels_from="honest")
    with pytest.raises(ValueError, match="by must be"):
        rank_columns([[1], [2]], [0, 1], by="confidence")
