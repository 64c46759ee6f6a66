"""The naive C4.5 gives the trees that J48 prints, and its probabilities for every row."""

import csv

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from tests.naive.c45 import Node, Rules, fit, predict_proba, table
from tests.naive.pessimistic import prune
from tests.naive.splits import c45_cut, entropy, gain, gini
from tests.reference.compare import first_difference, first_difference_from_print, hits_between
from tests.reference.j48 import (
    DATA_SETS,
    FIXTURES,
    Named,
    PrintedTree,
    load_printed,
    load_random_trees,
    load_table,
    parse,
    random_named,
)
from tests.shared_files import needs_shared

RANDOM = load_random_trees()
PRUNING = {"pruned": "pessimistic", "unpruned": None, "unpruned-laplace": None}
LARGE = {"adult", "covtype", "satimage"}


def assert_is_printed(tree: Node, printed: PrintedTree, named: Named) -> None:
    assert first_difference_from_print(tree, printed, named) is None
    assert (len(tree.leaves), tree.n_nodes) == (printed.n_leaves, printed.n_nodes)
    fewest, most = hits_between(predict_proba(tree, named.data), named.data.labels)
    assert fewest <= printed.training_hits <= most


def assert_has_probabilities(tree: Node, named: Named, kind: str, expected: np.ndarray) -> None:
    ours = predict_proba(tree, named.data, laplace="laplace" in kind)
    # half a unit of the third decimal, and the last bit of the number itself
    np.testing.assert_allclose(ours, expected, rtol=0, atol=0.0005 + 1e-12)


def rules_of(stored: dict, kind: str) -> Rules:
    return Rules(
        pruning=PRUNING[kind],
        confidence_factor=stored["confidence_factor"],
        min_samples_leaf=stored["min_samples_leaf"],
    )


@pytest.mark.parametrize("kind", ["pruned", "unpruned"])
@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_the_naive_tree_of_random_tables_is_that_of_j48(number, kind):
    named = random_named(RANDOM[number])
    tree = fit(named.data, rules_of(RANDOM[number], kind))
    assert_is_printed(tree, parse(RANDOM[number]["trees"][kind], named.columns), named)


@pytest.mark.parametrize("kind", ["pruned", "unpruned-laplace"])
def test_the_naive_probabilities_of_random_tables_are_those_of_j48(kind):
    stored = [case for case in RANDOM if "probabilities" in case]
    assert len(stored) == 12
    for case in stored:
        expected = np.array([row.split(",") for row in case["probabilities"][kind]], float)
        named = random_named(case)
        assert_has_probabilities(fit(named.data, rules_of(case, kind)), named, kind, expected)


@needs_shared
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LARGE)) for n in DATA_SETS]
)
def test_the_naive_tree_of_real_tables_is_that_of_j48(name):
    named = load_table(name)
    tree = fit(named.data, Rules(pruning=None))
    assert_is_printed(tree, load_printed(name, "unpruned", named.columns), named)
    rows = np.arange(len(named.data.labels))
    tree = prune(tree, named.data, rows, named.data.weights, 0.25)
    assert_is_printed(tree, load_printed(name, "pruned", named.columns), named)


@needs_shared
@pytest.mark.parametrize("file", sorted(path.name for path in FIXTURES.glob("*.csv")))
def test_the_naive_probabilities_of_real_tables_are_those_of_j48(file):
    name, kind = file.removesuffix(".probabilities.csv").rsplit(".", 1)
    header, *rows = csv.reader((FIXTURES / file).read_text().splitlines())
    named = load_table(name)
    assert tuple(header) == named.labels
    tree = fit(named.data, Rules(pruning=PRUNING[kind]))
    assert_has_probabilities(tree, named, kind, np.array(rows, float))


def random_rows(random, n_rows: int):
    """Return columns, categories and labels, with missing values and ties."""
    columns = [
        np.round(random.normal(size=n_rows), 1),
        random.integers(0, 5, n_rows).astype(float),
        random.integers(0, 4, n_rows),
        random.integers(0, 3, n_rows),
    ]
    columns[0][random.random(n_rows) < 0.2] = np.nan
    columns[3][random.random(n_rows) < 0.2] = -1
    return columns, [0, 0, 4, 3], random.integers(0, 3, n_rows)


@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("criterion", ["gain_ratio", "entropy", "gini"])
def test_a_row_of_weight_k_equals_k_rows_and_weight_0_is_ignored(criterion, split):
    random = np.random.default_rng(3)
    rules = Rules(criterion=criterion, categorical_split=split, min_samples_leaf=3)
    for _ in range(5):
        columns, categories, labels = random_rows(random, 60)
        weights = random.integers(0, 4, 60)
        weighted = fit(table(columns, categories, labels, 3, weights), rules)
        repeated = [np.repeat(column, weights) for column in columns]
        plain = fit(table(repeated, categories, np.repeat(labels, weights), 3), rules)
        assert first_difference(weighted, plain) is None


@pytest.mark.parametrize("least", [1, 5])
@pytest.mark.parametrize(("criterion", "impurity"), [("entropy", entropy), ("gini", gini)])
def test_the_first_split_is_as_pure_as_scikit_learns(criterion, impurity, least):
    random = np.random.default_rng(4)
    rules = Rules(criterion, max_depth=1, min_samples_leaf=least, collapse=False, pruning=None)
    for _ in range(10):
        X, y = np.round(random.normal(size=(50, 3)), 1), random.integers(0, 3, 50)
        ours = fit(table(list(X.T), [0] * 3, y, 3), rules)
        peer = DecisionTreeClassifier(
            criterion=criterion, max_depth=1, min_samples_leaf=least, random_state=0
        ).fit(X, y)
        leaves = peer.apply(X)
        theirs = np.array([np.bincount(y[leaves == leaf], minlength=3) for leaf in set(leaves)])
        sides = np.array([child.class_counts for child in ours.children])
        expected = gain(theirs.astype(float), 50, impurity)
        assert gain(sides, 50, impurity) == pytest.approx(expected, rel=1e-9)


def test_gini_and_entropy_split_every_impure_node_that_has_a_legal_cut():
    exclusive_or = [[0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0]]  # no single cut gains anything
    for criterion in ("gini", "entropy"):
        rules = Rules(criterion=criterion, min_samples_leaf=1, pruning=None)
        tree = fit(table(exclusive_or, [0, 0], [0, 1, 1, 0], 2), rules)
        assert [leaf.errors for leaf in tree.leaves] == [0, 0, 0, 0]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_the_best_grouping_for_two_classes_is_a_cut_of_the_categories_sorted_by_share(criterion):
    random = np.random.default_rng(5)
    impurity = {"gini": gini, "entropy": entropy}[criterion]
    rules = Rules(
        criterion, "subset", max_depth=1, min_samples_leaf=1, collapse=False, pruning=None
    )
    for _ in range(10):
        codes, labels = random.integers(0, 7, 80), random.integers(0, 2, 80)
        tree = fit(table([codes], [7], labels, 2), rules)
        counts = np.array([np.bincount(labels[codes == c], minlength=2) for c in range(7)], float)
        counts = counts[np.argsort(counts[:, 1] / counts.sum(1))]
        cuts = [np.array([counts[:i].sum(0), counts[i:].sum(0)]) for i in range(1, 7)]
        sides = np.array([child.class_counts for child in tree.children])
        best = max(gain(cut, 80, impurity) for cut in cuts)
        assert gain(sides, 80, impurity) == pytest.approx(best, rel=1e-9)


def test_thresholds_between_extreme_numbers_are_below_the_upper_one():
    for low, high in [(1.0, np.nextafter(1.0, 2)), (1e308, 1.7e308), (-np.inf, np.inf)]:
        rules = Rules("gini", min_samples_leaf=1, pruning=None)
        tree = fit(table([[low, high]], [0], [0, 1], 2), rules)
        assert low <= tree.split.threshold < high


def test_an_empty_leaf_predicts_like_its_parent():
    """Probabilities printed by J48 (Weka 3.6.14) for a row that falls into an empty leaf."""
    rows = [(0, 0, 0)] * 7 + [(0, 1, 1)] * 4 + [(1, 2, 2)] * 6 + [(1, 0, 2)] * 3 + [(1, 1, 2)] * 3
    a, b, labels = zip(*rows, strict=True)
    tree = fit(table([a, b], [2, 3], labels, 3))
    unseen = table([[0, -1, 0], [2, 2, -1]], [2, 3], [0, 0, 0], 3)
    plain = [[0.636, 0.364, 0], [0.304, 0.174, 0.522], [0.636, 0.364, 0]]
    laplace = [[0.571, 0.357, 0.071], [0.308, 0.206, 0.486], [0.561, 0.323, 0.116]]
    np.testing.assert_allclose(predict_proba(tree, unseen), plain, atol=0.0005)
    np.testing.assert_allclose(predict_proba(tree, unseen, laplace=True), laplace, atol=0.0005)


@pytest.mark.parametrize(
    ("elsewhere", "threshold"),
    [
        ([0.4, 0.4000008], 0.4),
        ([0.4000008, 0.4], 0.4000008),
        ([0.4, 0.4000008, 0.4000016], 0.4000016),
        ([0.4000008, 0.4000016, 0.4], 0.4000008),
        ([0.5000008], 0.5000008),
        ([0.5000012], 0.0),
    ],
)
def test_of_values_within_1e_6_the_first_row_gives_j48s_threshold(elsewhere, threshold):
    """As J48 (Weka 3.6.14) printed them, for a cut between 0 and 1."""
    assert c45_cut((0.0, 1.0), np.array([0.0, 1.0, *elsewhere])) == threshold
