import numpy as np
import pytest

from sureleaf.levels import class_confidence, class_utility, confidence, utility
from sureleaf.levels.inverse import p_max_of_utility, winner_of_utility

N, P = (a.ravel() for a in np.meshgrid([1.0, 2, 3, 7.5, 40, 1000], [0.52, 0.6, 0.75, 0.9, 0.999]))


def test_p_max_and_confidence_come_back_from_the_utility():
    p, sure = p_max_of_utility(N, utility(N, P))
    np.testing.assert_allclose(p, P, atol=1e-7)
    np.testing.assert_allclose(sure, confidence(N, P), atol=1e-6)


def test_the_solution_has_the_utility_asked_for():
    useful = np.linspace(0.5, 1, 21)
    for n in (1.0, 2.0, 9.0, 500.0):
        p, _ = p_max_of_utility(np.full(21, n), useful)
        np.testing.assert_allclose(utility(n, p), useful, atol=1e-12)


def test_half_or_less_is_a_coin():
    p, sure = p_max_of_utility(np.full(3, 9.0), np.array([0.0, 0.4, 0.5]))
    assert p.tolist() == [0.5] * 3
    assert sure.tolist() == [0.5] * 3


def test_a_node_without_rows_is_a_coin_with_the_probability_it_was_given():
    p, sure = p_max_of_utility(np.zeros(2), np.array([0.4, 0.8]))
    assert p.tolist() == [0.5, 0.8]
    assert sure.tolist() == [0.5, 0.5]


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
