"""Joint likelihoods (3) and (4) of the counts of a tree."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import entropic_joint_log_likelihood, joint_log_likelihood

SHARES, P = (0.2, 0.5, 0.3), (0.9, 0.4, 0.5)
Counts = tuple[tuple[int, int], ...]


def all_samples(n: int, *, larger: bool) -> dict[Counts, float]:
    """Probability of each node's (y, n) by listing what each of the n rows may be."""
    found: dict[Counts, float] = defaultdict(float)
    for sample in product(product(range(3), (0, 1)), repeat=n):
        chance = 1.0
        counts = [[0, 0] for _ in SHARES]
        for node, label in sample:
            chance *= SHARES[node] * (P[node] if label else 1 - P[node])
            counts[node][0] += label
            counts[node][1] += 1
        key = tuple((max(y, m - y) if larger else y, m) for y, m in counts)
        found[key] += chance
    return found


@pytest.mark.parametrize("n", [1, 2, 5])
def test_3_is_the_probability_of_the_counts(n: int) -> None:
    for counts, chance in all_samples(n, larger=False).items():
        y, sizes = zip(*counts, strict=True)
        found = joint_log_likelihood(y, sizes, SHARES, P)
        assert np.exp(found) == pytest.approx(chance, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_4_is_the_probability_of_the_larger_counts(n: int) -> None:
    p_max = [max(p, 1 - p) for p in P]
    for counts, chance in all_samples(n, larger=True).items():
        y, sizes = zip(*counts, strict=True)
        found = entropic_joint_log_likelihood(y, sizes, SHARES, p_max)
        assert np.exp(found) == pytest.approx(chance, rel=1e-12)
        smaller = np.subtract(sizes, y)
        assert entropic_joint_log_likelihood(smaller, sizes, SHARES, p_max) == found


def test_what_cannot_happen_has_minus_infinity() -> None:
    assert joint_log_likelihood([1], [2], [1.0], [1.0]) == -np.inf
    assert joint_log_likelihood([1, 1], [1, 1], [1.0, 0.0], [0.5, 0.5]) == -np.inf
    assert entropic_joint_log_likelihood([1], [2], [1.0], [1.0]) == -np.inf
    assert joint_log_likelihood([2], [2], [1.0], [1.0]) == 0.0


@pytest.mark.parametrize("likelihood", [joint_log_likelihood, entropic_joint_log_likelihood])
def test_trees_broadcast_and_bad_ones_are_nan(likelihood) -> None:
    y, n = [[1, 2], [3, 2], [1, 2], [-1, 2]], [[2, 3], [2, 3], [2, 3], [2, 3]]
    shares = [[0.5, 0.5], [0.5, 0.5], [0.5, 0.6], [0.5, 0.5]]
    found = likelihood(y, n, shares, [0.6, 0.7])
    assert np.isnan(found).tolist() == [False, True, True, True]
    one = likelihood(y[0], n[0], shares[0], [0.6, 0.7])
    assert type(one) is float
    assert found[0] == one


@pytest.mark.parametrize("likelihood", [joint_log_likelihood, entropic_joint_log_likelihood])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([3, 0], [2, 2], [0.5, 0.5], [0.6, 0.6]), "y must be at most n"),
        (([-1, 0], [2, 2], [0.5, 0.5], [0.6, 0.6]), "y must be a finite count"),
        (([1, 0], [2, 2], [0.5, 0.6], [0.6, 0.6]), "shares must be 0 or more and add up to 1"),
        (([1, 0], [2, 2], [0.5, 0.5], [0.6, 1.6]), "must be from"),
        (([1, 0, 1], [2, 2], [0.5, 0.5], [0.6, 0.6]), "shapes must broadcast"),
        (([1], [2, 2], [0.5, 0.5], [0.6, 0.6]), "one value a node"),
        ((1, 2, [1.0], 0.6), "one value a node"),
    ],
)
def test_bad_trees_raise_and_are_named(likelihood, arguments, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        likelihood(*arguments)
