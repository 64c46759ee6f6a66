"""Confidence and utility among K classes."""

import numpy as np
import pytest

from sureleaf import InvalidArgumentError
from sureleaf.levels import (
    class_confidence,
    class_utility,
    confidence,
    node_confidence,
    utility,
)
from sureleaf.levels.plurality import (
    EXACT_ROWS,
    _of_many_rows,
    p_max_of_utility,
    win_probabilities,
    winner_of_utility,
)
from tests.naive.classes import wins_by_listing, wins_by_recursion

VECTORS = [
    [1.0, 0.0, 0.0],
    [0.5, 0.3, 0.2],
    [0.4, 0.4, 0.2],
    [1 / 3, 1 / 3, 1 / 3],
    [0.9, 0.05, 0.05, 0.0],
    [0.26, 0.25, 0.25, 0.24],
    [0.3, 0.3, 0.2, 0.1, 0.1],
]


def exact(n: int, probabilities: np.ndarray) -> np.ndarray:
    return win_probabilities(np.array([float(n)]), probabilities[np.newaxis])[0]


@pytest.mark.parametrize("probabilities", VECTORS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7, 8, 12])
def test_the_levels_equal_a_list_of_every_outcome(n: int, probabilities: list[float]) -> None:
    wins = wins_by_listing(n, probabilities)
    best = [w for w, p in zip(wins, probabilities, strict=True) if p == max(probabilities)]
    if n:
        assert class_confidence(n, probabilities) == pytest.approx(sum(best) / len(best), abs=1e-13)
    else:
        assert class_confidence(n, probabilities) == pytest.approx(1 / len(probabilities))
    assert class_utility(n, probabilities) == pytest.approx(
        sum(w * p for w, p in zip(wins, probabilities, strict=True)), abs=1e-13
    )


@pytest.mark.parametrize(
    ("n", "probabilities"),
    [
        (60, [0.3, 0.25, 0.25, 0.2]),
        (81, [0.4, 0.35, 0.25]),
        (40, [0.12, *([0.11] * 8)]),
        (45, [1 / 9] * 9),
    ],
)
def test_every_class_wins_as_often_as_the_plain_recursion_says(n, probabilities):
    found = exact(n, np.array(probabilities))
    for winner in (0, len(probabilities) - 1):
        assert found[winner] == pytest.approx(
            wins_by_recursion(n, probabilities, winner), abs=1e-12
        )


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 999, 1000, 5001, 20_000, 10**6, 10**9])
@pytest.mark.parametrize("p", [0.5, 0.5001, 0.51, 0.6, 0.9, 1.0])
def test_two_classes_give_equations_5_and_6(n: int, p: float) -> None:
    assert class_confidence(n, [1 - p, p]) == pytest.approx(confidence(n, p), abs=1e-12)
    assert class_utility(n, [1 - p, p]) == pytest.approx(utility(n, p), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 999, 1000, 5001, 20_000, EXACT_ROWS])
@pytest.mark.parametrize("p", [0.5, 0.5001, 0.51, 0.6, 0.9, 1.0])
def test_a_class_that_never_comes_changes_nothing(n: int, p: float) -> None:
    """Two classes by the general algorithm, against the closed form."""
    assert class_confidence(n, [1 - p, p, 0.0]) == pytest.approx(confidence(n, p), abs=1e-12)


@pytest.mark.parametrize("k", [3, 10, 50])
@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("evenness", [0.1, 0.5])
def test_beyond_the_exact_range_the_error_is_below_one_millionth(k, rows, evenness):
    """The approximation where the exact sum ends: its error falls as n grows."""
    n = EXACT_ROWS // (2 if k == 50 else 1) - rows
    probabilities = np.random.default_rng(k).dirichlet(np.full(k, evenness * n / k))
    found = _of_many_rows(float(n), probabilities)
    assert np.abs(found - exact(n, probabilities)).max() < 1e-6
    assert found @ probabilities == pytest.approx(exact(n, probabilities) @ probabilities, abs=1e-8)


@pytest.mark.parametrize("n", [10**5 + 1, 10**6, 10**7 + 1, 10**9, 10**12])
@pytest.mark.parametrize("z", [0.0, 0.5, 1.0, 2.0, 5.0])
def test_the_approximation_loses_no_more_than_the_ripple_between_odd_and_even_n(n, z):
    """Two classes, where the closed form is known at any n, have the largest ripple."""
    p = 0.5 + z / (2 * np.sqrt(n))
    found = _of_many_rows(float(n), np.array([p, 1 - p, 0.0]))[0]
    assert abs(found - confidence(n, p)) < 0.061 / n + 1e-10


def test_equally_probable_classes_count_their_share_each() -> None:
    assert class_confidence(1001, [0.4, 0.4, 0.2]) == pytest.approx(0.5, abs=1e-12)
    assert class_confidence(np.inf, [0.4, 0.4, 0.2]) == 0.5
    assert class_utility(np.inf, [0.4, 0.4, 0.2]) == pytest.approx(0.4)


def test_shapes_broadcast_over_all_axes_but_the_last() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])
    assert class_confidence(np.array([[1], [5], [9]]), probabilities).shape == (3, 2)
    assert class_utility([], probabilities[:1]).shape == (0,)
    assert isinstance(class_confidence(3, probabilities[0]), float)


@pytest.mark.parametrize(
    ("n", "probabilities", "said"),
    [
        (5, [0.5, 0.3, 0.3], "sum 1.1"),
        (5, [1.2, -0.2], "must be 0 or more and add up to 1"),
        (5, [0.5, np.nan], "nan"),
        (5, 0.5, "must have a last axis"),
        (5, [], "must have a last axis"),
        (-1, [0.5, 0.5], "n must be"),
        ([1, 2, 3], [[0.5, 0.5], [0.6, 0.4]], "must broadcast"),
    ],
)
def test_what_cannot_be_used_is_named(n: object, probabilities: object, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        class_confidence(n, probabilities)  # type: ignore[arg-type]


def test_the_solution_has_the_utility_asked_for_and_half_or_less_or_no_rows_are_a_coin():
    useful = np.linspace(0.5, 1, 21)
    for n in (1.0, 2.0, 9.0, 500.0):
        p, _ = p_max_of_utility(np.full(21, n), useful)
        np.testing.assert_allclose(utility(n, p), useful, atol=1e-12)
    p, sure = p_max_of_utility(np.array([9.0, 9, 9, 0, 0]), np.array([0.0, 0.4, 0.5, 0.4, 0.8]))
    assert p.tolist() == [0.5, 0.5, 0.5, 0.5, 0.8]
    assert sure.tolist() == [0.5] * 5


@pytest.mark.parametrize("vector", [(0.5, 0.3, 0.2), (0.4, 0.35, 0.25), (0.9, 0.05, 0.05)])
@pytest.mark.parametrize("n", [1.0, 4.0, 30.0, 2000.0])
def test_the_winner_comes_back_from_the_utility_of_three_classes(vector, n):
    useful = np.array([class_utility(n, vector)])
    p, sure = winner_of_utility(np.array([n]), useful, np.array([vector[1:]]))
    again = [p[0], *(np.array(vector[1:]) / sum(vector[1:]) * (1 - p[0]))]
    assert class_utility(n, again) == pytest.approx(useful[0], abs=1e-8)
    assert sure[0] == pytest.approx(class_confidence(n, again), abs=1e-8)
    assert p[0] == pytest.approx(vector[0], abs=1e-5)


def test_a_utility_below_a_tie_gets_the_tie():
    p, sure = winner_of_utility(np.array([5.0]), np.array([0.1]), np.array([[3.0, 1.0]]))
    assert p[0] == pytest.approx(0.75 / 1.75)
    assert sure[0] < 0.5


def test_many_nodes_are_solved_each_by_itself():
    n = np.array([3.0, 50.0, 0.0, 7.0])
    useful = np.array([0.7, 0.6, 0.5, 1.0])
    others = np.array([[1.0, 2], [3, 1], [1, 1], [0, 0]])
    p, sure = winner_of_utility(n, useful, others)
    for i in range(4):
        one = winner_of_utility(n[i : i + 1], useful[i : i + 1], others[i : i + 1])
        assert one[0][0] == pytest.approx(p[i], abs=1e-9)
        assert one[1][0] == pytest.approx(sure[i], abs=1e-9)
    assert p[3] == 1


@pytest.mark.parametrize("n_classes", [3, 7, 26, 200])
@pytest.mark.parametrize("n", [1, 10, 100, 1000, 20_000])
def test_a_tolerance_of_1e_6_is_kept(n: int, n_classes: int) -> None:
    """Beside the exact sum: a leaf with a clear lead, a close race, and equal classes."""
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.full(n_classes - 1, 0.5))
    close = rng.multinomial(n, np.full(n_classes, 1 / n_classes)) + 1.0
    vectors = np.array([np.r_[0.5, 0.5 * shares], close / close.sum()])
    rough = win_probabilities(np.full(2, float(n)), vectors, tolerance=1e-6)
    assert np.abs(rough - win_probabilities(np.full(2, float(n)), vectors)).max() < 1e-6


@pytest.mark.parametrize("lead", [0.0, 2e-4, 1e-3])
def test_a_class_that_cannot_win_only_leaves_fewer_rows_to_the_others(lead: float) -> None:
    """Beyond the exact range, the two others are a node that gets a share of the rows, (9)."""
    n, share = 3 * EXACT_ROWS, 0.8
    first = share / 2 + lead
    found = class_confidence(n, [first, share - first, 1 - share])
    assert found == pytest.approx(node_confidence(n, share, first / share), abs=1e-10)


def test_many_nodes_have_the_levels_of_each_alone():
    rng = np.random.default_rng(0)
    kinds = np.array([[0.5, 0.3, 0.2, 0.0], [0.4, 0.4, 0.1, 0.1], [1.0, 0.0, 0.0, 0.0]])
    vectors = rng.permuted(kinds[rng.integers(0, 3, 300)], axis=1)
    n = rng.choice([0.0, 1.0, 7.0, 7.5, 40.0, np.inf, np.nan], 300)
    together = win_probabilities(n, vectors)
    alone = np.concatenate([win_probabilities(n[[i]], vectors[[i]]) for i in range(300)])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-12)
