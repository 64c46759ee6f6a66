import mpmath
import numpy as np
import pytest
from scipy.special import betainc

from sureleaf.levels.fewest import fewest_rows
from sureleaf.levels.majority import majority_probability


def by_mpmath(counts, named):
    """P(G_c is the largest) as an integral over G_c."""
    shapes = [mpmath.mpf(count) + 0.5 for count in counts]
    own = shapes.pop(named)

    def density(x):
        found = mpmath.exp(-x) * x ** (own - 1) / mpmath.gamma(own)
        for other in shapes:
            found *= mpmath.gammainc(other, 0, x, regularized=True)
        return found

    top = max([own, *shapes])
    return float(mpmath.quad(density, [0, own / 4, own, top, 2 * top, 6 * top + 60]))


@pytest.mark.parametrize("counts", [(5, 2, 0), (0, 0, 0), (1, 0, 0, 0), (9, 8, 8), (3, 9, 4)])
def test_it_is_the_integral_over_the_named_class(counts):
    for named in range(len(counts)):
        found = majority_probability(np.array([counts], float), np.array([named]))
        assert found[0] == pytest.approx(by_mpmath(counts, named), abs=1e-9)


def test_two_classes_are_a_beta_tail_and_classes_of_one_node_add_up():
    counts = np.array([[k, n - k] for n in (0, 1, 7, 400) for k in {0, 1, n // 2, n - 1, n}], float)
    counts = counts[(counts >= 0).all(axis=1)]
    found = majority_probability(counts, np.zeros(len(counts), dtype=np.intp))
    assert found == pytest.approx(1 - betainc(counts[:, 0] + 0.5, counts[:, 1] + 0.5, 0.5))
    many = np.array([[40.0, 38.0, 30.0, 2.0]])
    total = sum(majority_probability(many, np.array([c]))[0] for c in range(4))
    assert total == pytest.approx(1, abs=1e-12)
    assert majority_probability(np.array([[3.0]]), np.array([0])).tolist() == [1.0]


def test_draws_of_the_posterior_agree():
    rng = np.random.default_rng(0)
    counts = np.array([6.0, 4.0, 3.0])
    draws = rng.dirichlet(counts + 0.5, 200_000).argmax(axis=1)
    found = majority_probability(np.tile(counts, (3, 1)), np.arange(3))
    shares = np.bincount(draws, minlength=3) / 200_000
    assert (np.abs(shares - found) < 4 * np.sqrt(found * (1 - found) / 200_000)).all()


def test_a_coin_is_rarely_called_sure():
    """At p = 1/2 a probability of .95 or more turns up in about 5 % of the samples."""
    from scipy.stats import binom

    for n in (20, 51, 200):
        k = np.arange(n + 1.0)
        sure = majority_probability(np.column_stack([k, n - k]), np.zeros(n + 1, dtype=np.intp))
        share = binom.pmf(k, n, 0.5)[sure >= 0.95].sum()
        step = binom.pmf(k, n, 0.5)[sure >= 0.95].max()
        assert abs(share - 0.05) < step


def test_the_fewest_rows_are_found_and_nan_where_there_are_none():
    enough = np.array([1.0, 2, 3, 1000, 2**20, 2**21 + 1, np.inf])
    found = fewest_rows(lambda n, places: n >= enough[places], len(enough))
    assert found[:5].tolist() == enough[:5].tolist()
    assert np.isnan(found[5:]).all()
    assert len(fewest_rows(lambda n, places: n > 0, 0)) == 0
