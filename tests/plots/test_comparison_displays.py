"""Differences with intervals, and average ranks."""

import numpy as np
import pytest

import sureleaf
from sureleaf import InvalidArgumentError, plots
from tests.plots.drawing import assert_texts_do_not_overlap, drawn


def test_comparisons_show_difference_interval_and_verdict(evaluations):
    found = sureleaf.compare(evaluations["Bayes"], evaluations["tree"], margin=0.01)
    display = drawn(plots.ComparisonDisplay.from_comparison(found, name="Bayes - tree"))
    ends = [display.difference[0], display.low[0], display.high[0]]
    assert ends == [found.difference, found.low, found.high]
    assert display.verdicts == [found.verdict]
    low, high = display.ax_.get_xlim()
    assert low < min(found.low, -0.01)
    assert high > max(found.high, 0.01)
    other = sureleaf.compare(evaluations["Bayes"], evaluations["tree"], margin=0.05)
    with pytest.raises(InvalidArgumentError, match="one measure, margin and level"):
        plots.ComparisonDisplay.from_comparisons({"one": found, "other": other})


def test_ranks_join_what_does_not_differ():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 4)) + np.array([2.0, 1.8, 0.5, 0.0])
    found = sureleaf.compare_many(scores, names=["a", "b", "c", "d"])
    display = drawn(plots.RanksDisplay.from_comparison(found))
    assert display.names == list(found.names)
    spans = [(display.names[first], display.names[last]) for first, last in display.groups]
    assert spans == [(group[0], group[-1]) for group in found.groups if len(group) > 1]
    for first, last in display.groups:
        assert display.ranks[last] - display.ranks[first] <= found.critical_difference
    assert_texts_do_not_overlap(display)
