"""The search for segments: its numbers by hand, its false alarms, and what it finds."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from sureleaf.auditing.segments import (
    MAX_SHARE,
    MIN_SHARE,
    Errors,
    _statistics,
    exact_p,
    search,
    segment_family,
)
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.table import read_table
from tests.naive.segments import distance, rows_of


def draw(n, rng):
    return {
        "age": rng.integers(18, 90, n).astype(float),
        "size": rng.normal(size=n),
        "region": rng.choice(["north", "south", "east"], n).astype(object),
    }


def table_of(columns):
    return read_table(pd.DataFrame(columns))


def stated_of(columns):
    return 1 / (1 + np.exp(-columns["size"] - (columns["age"] - 54) / 30))


def calibration(p, y, **more):
    return Errors(p, y.astype(float), p * (1 - p), **more)


def test_every_segment_is_counted_as_by_hand():
    rng = np.random.default_rng(0)
    columns = draw(200, rng)
    columns["size"][::9] = np.nan
    columns["region"][::7] = None
    p = rng.uniform(0.1, 0.9, 200)
    y = rng.random(200) < p
    family = segment_family(table_of(columns), p)
    errors = calibration(p, y)
    seen = set()
    for block, z, _ in _statistics(family, errors, errors.residuals[:, np.newaxis]):
        for i, j in np.argwhere(block.is_chosen)[::11].tolist():
            rule = block.rule(i, j)
            inside = rows_of(rule, columns)
            assert inside == block.rows(i, j).tolist(), rule
            share = sum(inside) / 200
            assert rule == "all rows" or MIN_SHARE <= share <= MAX_SHARE
            assert z[i, j, 0] == pytest.approx(distance(inside, p, y.astype(float))), rule
            seen.add(rule)
    assert len(seen) > 40
    assert any("is missing" in rule for rule in seen)
    assert any(rule.count("size") == 2 for rule in seen)


def test_rules_have_few_digits_and_the_same_rows():
    rng = np.random.default_rng(1)
    family = segment_family(read_table(rng.normal(size=(1000, 1))), np.full(1000, 0.5))
    bounds = [text.split(" ")[-1] for text in family.blocks[1].left.texts]
    assert max(map(len, bounds)) <= 7


@pytest.mark.parametrize("share", [0.5, 0.06])
def test_a_calibrated_model_gets_a_segment_in_at_most_5_percent_of_tables(share):
    n_tables, alarms = 30, 0
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 3])
        columns = draw(300, rng)
        p = stated_of(columns) if share == 0.5 else np.full(300, share)
        family = segment_family(table_of(columns), p)
        result = search(family, calibration(p, rng.random(300) < p), level=0.95, seed=seed)
        alarms += bool(result.found)
    assert alarms <= binom.ppf(1 - 3e-5, n_tables, 0.05)  # four simulation errors


def test_probabilities_that_are_too_extreme_but_right_on_average_are_no_segment():
    alarms = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, 4])
        columns = draw(300, rng)
        side = rng.random(300) < 0.5  # the columns do not tell it
        p = np.where(side, 0.99, 0.01)
        y = rng.random(300) < np.where(side, 0.8, 0.2)
        result = search(
            segment_family(table_of(columns), p), calibration(p, y), level=0.95, seed=seed
        )
        alarms += bool(result.found)
    assert alarms <= binom.ppf(1 - 3e-5, 20, 0.05)


def test_rows_of_a_group_are_not_taken_for_independent_rows():
    alarms = {True: 0, False: 0}
    for seed in range(12):
        rng = np.random.default_rng([seed, 5])
        group = np.repeat(np.arange(40), 10)
        columns = {name: values[group] for name, values in draw(40, rng).items()}
        p = np.full(400, 0.5)
        y = (rng.random(40) < 0.5)[group]  # all rows of a group are alike
        family = segment_family(table_of(columns), p)
        for grouped in (True, False):
            errors = calibration(p, y, groups=group.astype(np.int64) if grouped else None)
            alarms[grouped] += bool(search(family, errors, level=0.95, seed=seed).found)
    assert alarms[False] > 8
    assert alarms[True] <= binom.ppf(1 - 3e-5, 12, 0.05)


def planted(seed, n, offset=None):
    """A segment of two conditions and 10 % of the rows; at the detectable offset by default."""
    rng = np.random.default_rng([seed, 6])
    columns = draw(n, rng)
    p = np.full(n, 0.5)
    family = segment_family(table_of(columns), p)
    if offset is None:
        quiet = search(family, calibration(p, rng.random(n) < p), level=0.95, seed=seed)
        offset = quiet.detectable
    inside = (columns["age"] > 68) & (columns["region"] == "north")
    y = rng.random(n) < np.where(inside, p - offset, p)
    return inside, p, y, search(family, calibration(p, y), level=0.95, seed=seed)


def test_a_segment_at_the_detectable_offset_is_found_with_probability_90_percent():
    found = 0
    for seed in range(12):
        inside, _, _, result = planted(seed, 1000)
        found += any((one.rows & inside).sum() > 0.5 * inside.sum() for one in result.found)
    assert found >= binom.ppf(3e-5, 12, 0.9)


def test_a_planted_segment_is_named_with_its_numbers():
    inside, p, y, result = planted(1, 2000, 0.3)
    first = result.found[0]
    assert {test.split(" ")[0] for test in first.rule.split(" and ")} == {"age", "region"}
    assert (first.rows & inside).sum() > 0.7 * (first.rows | inside).sum()
    assert first.z == pytest.approx(distance(first.rows, p, y.astype(float)))
    assert first.low < np.where(inside, 0.2, 0.5)[first.rows].mean() < first.high < 0.5
    assert first.p_value == pytest.approx(1 / 200 / 0.75)
    assert result.n_segments > 500


def test_the_same_seed_gives_the_same_result_and_row_order_plays_no_part_in_the_distance():
    results = (planted(2, 600, 0.3)[-1] for _ in range(2))
    one, again = ([each.p_value for each in found.found + found.open] for found in results)
    assert one == again


def test_a_model_that_is_off_everywhere_is_off_in_all_rows():
    rng = np.random.default_rng(7)
    columns = draw(800, rng)
    p = stated_of(columns)
    y = rng.random(800) < np.clip(p - 0.15, 0, 1)
    result = search(segment_family(table_of(columns), p), calibration(p, y), level=0.95)
    assert [one.rule for one in result.found] == ["all rows"]


def test_the_p_value_and_the_interval_of_a_rate_agree():
    for n, count, stated in [(20, 3, 0.4), (50, 0, 0.05), (50, 50, 0.9), (33, 20, 0.6)]:
        p = exact_p(count / n, stated, n)
        tails = (binom.cdf(count, n, stated), binom.sf(count - 1, n, stated))
        assert p == pytest.approx(min(1.0, 2 * min(tails)))
        low, high = clopper_pearson(count, n, level=0.95)
        assert (p <= 0.05) == (not low <= stated <= high)


def test_a_column_whose_name_contains_and_has_one_condition():
    table = read_table(pd.DataFrame({"size and weight": np.arange(100.0) % 3}))
    blocks = segment_family(table, np.full(100, 0.5)).blocks
    assert {block.n_conditions for block in blocks[:2]} == {1}
