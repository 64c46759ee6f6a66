"""Friedman, Nemenyi, Wilcoxon with Holm, and what the diagram draws."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from sureleaf.comparison import compare_many
from sureleaf.errors import InvalidArgumentError, InvalidTypeError

# Demšar (2006), Table 6: AUC of C4.5 without and with m and cf tuned, and with both, on 14 sets.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
NAMES = ["C4.5", "+m", "+cf", "+m+cf"]


def test_demsars_example() -> None:
    found = compare_many(DEMSAR, names=NAMES, level=0.95)
    ranks = dict(zip(found.names, found.average_ranks, strict=True))
    assert [round(ranks[name], 3) for name in NAMES] == [3.143, 2.0, 2.893, 1.964]
    assert round(found.critical_difference, 2) == 1.25
    # Demšar's 9.28 and 3.69 are without the correction for ties.
    assert found.friedman_chi2 == pytest.approx(stats.friedmanchisquare(*DEMSAR.T).statistic)
    assert found.friedman_f == pytest.approx(
        13 * found.friedman_chi2 / (14 * 3 - found.friedman_chi2)
    )
    assert round(compare_many(DEMSAR, level=0.9).critical_difference, 2) == 1.12


def test_wilcoxon_and_holm_are_scipys_and_statsmodels() -> None:
    found = compare_many(DEMSAR, names=NAMES)
    for pair in found.pairs:
        i, j = NAMES.index(pair.first), NAMES.index(pair.second)
        expected = stats.wilcoxon(DEMSAR[:, i] - DEMSAR[:, j]).pvalue
        assert pair.p_value == pytest.approx(expected)
    raw = [pair.p_value for pair in found.pairs]
    expected = multipletests(raw, method="holm")[1]
    assert [pair.adjusted_p_value for pair in found.pairs] == pytest.approx(list(expected))


def test_groups_are_the_longest_runs_within_the_critical_difference() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(60, 5)) + np.array([4.0, 0.5, 0.4, 0.3, -4.0])
    found = compare_many(scores, names=list("abcde"))
    for group in found.groups:
        ranks = [found.average_ranks[found.names.index(name)] for name in group]
        assert max(ranks) - min(ranks) <= found.critical_difference
    assert found.groups == (("b", "c", "d"),) or set(found.groups[0]) == {"b", "c", "d"}


def test_errors_rank_the_other_way_round() -> None:
    by_score, by_error = (
        compare_many(DEMSAR, names=NAMES),
        compare_many(1 - DEMSAR, names=NAMES, higher_is_better=False),
    )
    assert by_score.names == by_error.names
    assert by_score.p_value == pytest.approx(by_error.p_value)


def test_algorithms_that_always_tie_do_not_differ() -> None:
    found = compare_many(np.ones((5, 3)))
    assert found.p_value == 1.0
    assert all(pair.adjusted_p_value == 1.0 for pair in found.pairs)
    assert found.groups == (("A", "B", "C"),)


def test_one_that_wins_everywhere_is_found() -> None:
    found = compare_many(np.tile([3.0, 2.0, 1.0], (6, 1)))
    assert found.p_value < 0.002
    assert found.names == ("A", "B", "C")
    # F is infinite. Up to 13 equal differences, scipy tries all their signs one by one.
    assert compare_many(np.tile([3.0, 2.0, 1.0], (14, 1))).p_value == 0.0


def test_the_p_value_of_few_data_sets_is_that_of_all_orders() -> None:
    scores = np.array([[3.0, 2.0, 1.0], [3.0, 1.0, 2.0], [2.0, 2.0, 1.0], [1.0, 3.0, 2.0]])
    ranks = stats.rankdata(-scores, axis=1)
    orders = [list(permutations(line)) for line in ranks]
    spread = [np.var(np.sum(chosen, axis=0)) for chosen in product(*orders)]
    exact = np.mean(np.array(spread) >= np.var(ranks.sum(axis=0)) - 1e-9)
    assert compare_many(scores).p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


@pytest.mark.parametrize("bad", [[[1.0, 2.0]], [[1.0], [2.0]], [[1.0, np.nan], [1.0, 2.0]], [1.0]])
def test_scores_that_are_no_table_are_refused(bad: list[float]) -> None:
    with pytest.raises(InvalidArgumentError, match="scores must be a table"):
        compare_many(bad)
    with pytest.raises(InvalidTypeError, match="scores must be a number or an array of numbers"):
        compare_many({"A": bad})  # type: ignore[arg-type]


def test_names_must_tell_the_columns_apart() -> None:
    with pytest.raises(InvalidArgumentError, match="different names"):
        compare_many(np.eye(3), names=["a", "a", "b"])
