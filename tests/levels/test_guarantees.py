"""Guarantees of cells: exact by enumeration, and equal to the naive versions."""

import numpy as np
import pytest

from sureleaf.levels.decisions import cost_rule
from sureleaf.levels.guarantees import (
    adjusted_p_values,
    conformal_p_values,
    simultaneous_limits,
    venn_limits,
    wrong_class_p_values,
)
from tests.naive.guarantees import (
    conformal_p_value,
    holm_rejects,
    is_cheapest_for_all,
    tail,
    two_cell_outcomes,
)

EDGES = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [7, 0], [0, 7], [6, 1], [3, 4]], dtype=float)


@pytest.mark.parametrize("per", ["leaf", "class", None])
def test_conformal_p_values_are_those_of_rows_written_one_by_one(per):
    rng = np.random.default_rng(1)
    for counts in (EDGES, rng.integers(0, 6, (4, 3)).astype(float), np.zeros((2, 2))):
        found = conformal_p_values(counts, per=per)
        for cell, code in np.ndindex(counts.shape):
            assert found[cell, code] == pytest.approx(conformal_p_value(counts, cell, code, per))
    assert np.array_equal(conformal_p_values(EDGES), conformal_p_values(EDGES, per="leaf"))


def test_conformal_sets_keep_their_coverage_in_every_cell_by_enumeration():
    for n, p, alpha in [(0, 0.3, 0.1), (5, 0.2, 0.2), (12, 0.5, 0.1), (30, 0.07, 0.1)]:
        covered = 0.0
        for (y,), probability in two_cell_outcomes((n,), (p,)):
            kept = conformal_p_values(np.array([[n - y, y]]))[0] > alpha
            covered += probability * (p * kept[1] + (1 - p) * kept[0])
        assert covered >= 1 - alpha - 1e-12, (n, p, alpha)


def test_p_values_are_binomial_tails_at_the_edge_counts():
    n = 9
    for y in (0, 1, n - 1, n):
        counts = np.array([[float(n - y), float(y)]])
        assert wrong_class_p_values(counts, np.array([1]))[0] == pytest.approx(tail(y, n, 0.5))
        rule = cost_rule([[0, 1], [4, 0]])
        assert wrong_class_p_values(counts, np.array([1]), rule)[0] == pytest.approx(
            tail(y, n, 0.2)
        )
    assert wrong_class_p_values(np.zeros((1, 3)), np.array([2])).tolist() == [1.0]
    alone = np.array([[4.0], [1.0], [0.0]])
    assert wrong_class_p_values(alone, np.array([0, 0, 0])).tolist() == [0.0, 0.0, 1.0]


def test_of_several_classes_the_named_one_is_compared_with_the_most_frequent_other_one():
    counts = np.array([[5.0, 2.0, 3.0], [0.0, 8.0, 7.0], [1.0, 0.0, 4.0], [3.0, 3.0, 2.0]])
    named, rival = np.array([0, 1, 2, 1]), np.array([3, 7, 1, 3])
    tails = [
        tail(int(c[k]), int(c[k]) + r, 0.5) for c, k, r in zip(counts, named, rival, strict=True)
    ]
    assert wrong_class_p_values(counts, named).tolist() == pytest.approx(tails)
    found = wrong_class_p_values(counts, named, named_before=False)
    assert found.tolist() == pytest.approx([min(2 * one, 1.0) for one in tails])
    assert found.max() == 1.0


@pytest.mark.parametrize("before", [True, False])
def test_no_cell_names_the_wrong_class_more_often_than_promised_by_enumeration(before):
    """Two cells of two classes: named by the same rows, or named before, one of them wrongly."""
    alpha, sizes = 0.1, (14, 9)
    for shares in [(0.5, 0.5), (0.49, 0.3), (0.45, 0.55), (0.1, 0.499)]:
        wrong = 0.0
        for y, probability in two_cell_outcomes(sizes, shares):
            counts = np.column_stack([np.array(sizes) - y, y])
            named = np.array([1, 1]) if before else counts.argmax(axis=1)
            p_values = wrong_class_p_values(counts, named, named_before=before)
            certified = adjusted_p_values(p_values) <= alpha
            is_wrong = np.where(named == 1, np.array(shares) <= 0.5, np.array(shares) >= 0.5)
            if shares == (0.5, 0.5) and not before:  # a tie: whatever is named is one of the best
                is_wrong = np.array([True, True])
            wrong += probability * bool((certified & is_wrong).any())
        assert wrong <= alpha + 1e-12, shares


def test_hochberg_rejects_all_that_holm_rejects():
    rng = np.random.default_rng(2)
    for _ in range(300):
        p_values = rng.random(6) ** 4
        assert (holm_rejects(p_values, 0.05) <= (adjusted_p_values(p_values) <= 0.05)).all()
    every = np.full(8, 0.04)
    assert (adjusted_p_values(every) == 0.04).all()
    assert (adjusted_p_values(every, independent=False) == 0.32).all()
    assert (adjusted_p_values(5 * every, independent=False) == 1.0).all()


def test_simultaneous_limits_hold_for_all_cells_at_once_by_enumeration():
    sizes, level = (12, 7), 0.9
    for shares in [(0.5, 0.5), (0.03, 0.97), (0.3, 0.8)]:
        covered = 0.0
        for y, probability in two_cell_outcomes(sizes, shares):
            low, high = simultaneous_limits(y, np.array(sizes, dtype=float), level=level)
            covered += probability * bool(((low <= shares) & (shares <= high)).all())
        assert covered >= level, shares


def test_decisions_among_three_classes_at_costs_are_certified_rarely_where_they_are_wrong():
    rule = cost_rule([[0, 1, 2], [2, 0, 1], [5, 1, 0]])
    rng = np.random.default_rng(3)
    probabilities = np.array([0.5, 0.3, 0.2])
    right = int(rule.decide(probabilities[np.newaxis])[0])
    counts = rng.multinomial(40, probabilities, 300).astype(float)
    wrong = (right + 1) % 3
    p_values = wrong_class_p_values(counts, np.full(300, wrong), rule)
    assert (p_values <= 0.05).mean() <= 0.05
    clear = wrong_class_p_values(1000.0 * probabilities[np.newaxis], np.array([right]), rule)
    assert clear[0] < 1e-6


@pytest.mark.parametrize(
    ("cost", "counts", "decided"),
    [
        ([[0, 1, 2], [2, 0, 1], [5, 1, 0]], [20, 16, 6], 1),
        ([[0, 1, 2], [2, 0, 1], [5, 1, 0]], [3, 2, 14], 2),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], [9, 1, 0], 0),
        ([[0, 4, 1], [1, 0, 9], [3, 2, 0]], [25, 2, 3], 0),
        ([[0, 1, 1, 1], [8, 0, 2, 1], [8, 1, 0, 2], [9, 2, 2, 0]], [2, 60, 20, 8], 1),
    ],
)
def test_the_p_value_of_a_decision_is_the_error_from_which_on_it_is_the_cheapest(
    cost, counts, decided
):
    rule = cost_rule(cost)
    found = wrong_class_p_values(np.array([counts], dtype=float), np.array([decided]), rule)[0]
    assert 1e-12 < found < 1
    assert is_cheapest_for_all(counts, decided, cost, found * (1 + 1e-6))
    assert not is_cheapest_for_all(counts, decided, cost, found * (1 - 1e-6))


def test_venn_limits_hold_both_shares_that_the_new_row_can_give():
    low, high = venn_limits(EDGES)
    assert ((high - low) == 1 / (EDGES.sum(axis=1, keepdims=True) + 1)).all()
    assert (low.sum(axis=1) <= 1).all()
    assert (high.sum(axis=1) >= 1).all()
