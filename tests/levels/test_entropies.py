"""Entropies (Definition 1) against their formulas in fifty digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels import entropies

VECTORS = ([1.0], [0.5, 0.5], [0.9, 0.1, 0.0], [0.25, 0.25, 0.25, 0.25], [0.7, 0.2, 0.1])
ALL = {
    "shannon": entropies.shannon,
    "renyi": lambda p: entropies.renyi(p, 0.5),
    "tsallis": lambda p: entropies.tsallis(p, 3),
    "simpson": lambda p: entropies.generalised_simpson(p, 2, 3),
}


@pytest.mark.parametrize("vector", VECTORS)
def test_each_entropy_equals_its_formula(vector: list[float]) -> None:
    with mpmath.workdps(50):
        p = [mpmath.mpf(each) for each in vector if each > 0]
        total = mpmath.fsum(p)
        p = [each / total for each in p]
        shannon = -mpmath.fsum(each * mpmath.log(each) for each in p)
        assert entropies.shannon(vector) == pytest.approx(float(shannon), abs=1e-15)
        for alpha in (0.25, 1 - 1e-9, 1 + 1e-9, 2, 7.5):
            power = mpmath.fsum(each ** mpmath.mpf(alpha) for each in p)
            renyi = float(mpmath.log(power) / (1 - mpmath.mpf(alpha)))
            tsallis = float((1 - power) / (mpmath.mpf(alpha) - 1))
            assert entropies.renyi(vector, alpha) == pytest.approx(renyi, rel=1e-13, abs=1e-15)
            assert entropies.tsallis(vector, alpha) == pytest.approx(tsallis, rel=1e-13, abs=1e-15)
        for u, v in ((1, 0), (1, 1), (2, 3)):
            simpson = float(mpmath.fsum(each**u * (1 - each) ** v for each in p))
            found = entropies.generalised_simpson(vector, u, v)
            assert found == pytest.approx(simpson, rel=1e-13, abs=1e-15)


@given(st.permutations([0.05, 0.1, 0.1, 0.3, 0.45]))
def test_definition_1_labels_do_not_matter(shuffled: list[float]) -> None:
    for entropy in ALL.values():
        assert entropy(shuffled) == pytest.approx(entropy(sorted(shuffled)), rel=1e-14)


@pytest.mark.parametrize("name", ALL)
def test_vectors_run_along_the_last_axis_and_bad_ones_are_nan(name: str) -> None:
    found = ALL[name]([[0.5, 0.5], [0.5, 0.6], [0.9, 0.1]])
    assert np.isnan(found).tolist() == [False, True, False]
    assert type(ALL[name]([0.9, 0.1])) is float
    with pytest.raises(InvalidArgumentError, match="probabilities must be 0 or more and add up"):
        ALL[name]([0.5, 0.6])


@pytest.mark.parametrize("alpha", [0, -1, 1, float("inf"), float("nan")])
def test_an_alpha_without_an_entropy_is_named(alpha: float) -> None:
    for entropy in (entropies.renyi, entropies.tsallis):
        with pytest.raises(InvalidArgumentError, match="alpha must be above 0, finite and not 1"):
            entropy([0.5, 0.5], alpha)


@pytest.mark.parametrize(("u", "v", "name"), [(0, 1, "u"), (1.5, 1, "u"), (1, -1, "v")])
def test_powers_without_an_entropy_are_named(u: float, v: float, name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{name} must be a whole number"):
        entropies.generalised_simpson([0.5, 0.5], u, v)


def test_the_impurities_of_class_counts_are_entropies_of_their_shares() -> None:
    for counts in ([3, 7], [0, 5], [2.5, 1, 4]):
        shares = np.array(counts) / np.sum(counts)
        assert entropies.entropy(counts) == pytest.approx(entropies.shannon(shares) / np.log(2))
        simpson = entropies.generalised_simpson(shares, 1, 1)
        assert entropies.gini(counts) == pytest.approx(simpson, abs=1e-15)
    assert entropies.gini([[3, 7], [1, 1]]).tolist() == pytest.approx([0.42, 0.5])


@pytest.mark.parametrize("counts", [[-1, 2], [np.nan, 1], [0, 0], 3])
def test_impurities_want_counts(counts: object) -> None:
    with pytest.raises(InvalidArgumentError, match="counts must"):
        entropies.gini(counts)
