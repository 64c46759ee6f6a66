"""The kernel grows the oracle's tree of random tables with holes, weights, ties and near-ties."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf import _kernel
from sureleaf.probability import Frequency, Laplace
from sureleaf.tree import Tree, mixture
from tests.long_runs import examples
from tests.naive import c45
from tests.naive.splits import IMPURITIES, Rules, counts_by_category, gain, groupings
from tests.naive.tree import Part, Table, divide, predict_proba
from tests.reference.compare import first_difference
from tests.tree.encoded import fit, training_rows

CRITERIA = _kernel.criterion_names()
STYLES = {
    "continuous": st.floats(-1e6, 1e6),
    "few values": st.integers(0, 4).map(float),
    "decimals": st.integers(-20, 20).map(lambda i: i / 10),
    # neighbours just within and just beyond the gap of 1e-5 and the slack of 1e-6
    "gaps of 1e-5": st.integers(-6, 6).map(lambda i: i // 4 + (i % 4) * 0.9e-5),
    "gaps of 1e-6": st.integers(-9, 9).map(lambda i: i // 6 + (i % 6) * 4e-7),
    "ends": st.sampled_from([-np.inf, -1.7e308, -1e308, 0.0, -0.0, 5e-324, 1e308, np.inf]),
    "constant": st.just(7.0),
}


@st.composite
def columns(draw, labels: list[int]) -> tuple[list[float], int, bool]:
    """The cells of a column, its number of categories (0: numbers), whether they are ordered."""
    kind = draw(st.sampled_from([*STYLES, "categories", "categories", "ordered"]))
    hole = draw(st.sampled_from([0.0, 0.0, 0.1, 0.4, 1.0]))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    is_missing = random.random(len(labels)) < hole
    leans = random.random(len(labels)) < draw(st.sampled_from([0.0, 0.5, 0.9]))
    if kind in ("categories", "ordered"):
        n_categories = draw(st.integers(1, 6))
        codes = random.integers(0, n_categories, len(labels))
        codes = np.where(leans, np.asarray(labels) % n_categories, codes)
        if kind == "ordered":
            return np.where(is_missing, np.nan, codes).tolist(), 0, True
        return np.where(is_missing, -1, codes).tolist(), n_categories, False
    pool = np.array(draw(st.lists(STYLES[kind], min_size=1, max_size=8)))
    values = pool[random.integers(0, len(pool), len(labels))]
    by_label = np.sort(pool)[np.asarray(labels) % len(pool)]
    values = np.where(leans, by_label, values)
    return np.where(is_missing, np.nan, values).tolist(), 0, False


@st.composite
def tables(draw, max_rows: int = 60) -> tuple[Table, frozenset[int]]:
    n_classes = draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_rows = draw(st.integers(1, max_rows))
    labels = random.integers(0, n_classes, n_rows).tolist()
    drawn = [draw(columns(labels)) for _ in range(draw(st.integers(1, 4)))]
    weights = {
        "none": np.ones(n_rows),
        "whole": random.integers(0, 4, n_rows).astype(float),
        "fractional": np.round(random.random(n_rows) * 3, 2),
    }[draw(st.sampled_from(["none", "whole", "fractional"]))]
    weights[0] = 1.0
    cells, categories, ordered = zip(*drawn, strict=True)
    data = c45.table(cells, categories, labels, n_classes, weights)
    return data, frozenset(np.flatnonzero(ordered).tolist())


def rules(**fixed) -> st.SearchStrategy[Rules]:
    chosen = {
        "max_depth": st.sampled_from([None, None, 0, 1, 3]),
        "min_samples_leaf": st.sampled_from([1, 2, 2, 2.5, 5]),
        "collapse": st.booleans(),
        "pruning": st.sampled_from([None, "pessimistic"]),
        "confidence_factor": st.sampled_from([0.05, 0.25, 0.5, 0.75]),
    }
    return st.builds(Rules, **chosen | {name: st.just(value) for name, value in fixed.items()})


def assert_is_the_oracles(data: Table, ordered: frozenset[int], by: Rules) -> None:
    expected = c45.fit(data, by)
    for n_threads in (1, 3):
        tree = fit(training_rows(data, ordered), by, n_threads)
        assert first_difference(tree, expected) is None


def assert_tests_the_oracles_column(tree: Tree, data: Table, by: Rules) -> None:
    """The first test is on the same column; of equally good groupings, each may find another."""
    expected = c45.fit(data, by)
    assert (expected.split is None) == bool(tree.is_leaf[0])
    if expected.split is not None:
        assert tree.feature[0] == expected.split.feature


@pytest.mark.parametrize("missing", ["fraction", "branch"])
@pytest.mark.parametrize("criterion", CRITERIA)
@given(data=st.data())
@examples(250)
def test_the_tree_is_the_oracles(criterion, missing, data):
    drawn, ordered = data.draw(tables())
    by = data.draw(rules(criterion=criterion, missing=missing))
    assert_is_the_oracles(drawn, ordered, by)


@pytest.mark.parametrize("missing", ["fraction", "branch"])
@given(data=st.data())
@examples(100)
def test_larger_tables_with_many_holes_give_the_oracles_tree(missing, data):
    drawn, ordered = data.draw(tables(max_rows=400))
    criterion = data.draw(st.sampled_from(CRITERIA))
    by = data.draw(rules(max_depth=None, missing=missing, criterion=criterion))
    assert first_difference(fit(training_rows(drawn, ordered), by), c45.fit(drawn, by)) is None


def worth(sides: np.ndarray, total: float, by: Rules) -> float:
    return float(gain(sides, total, IMPURITIES[by.criterion]))


def best_grouping(part: Part, feature: int, by: Rules) -> float:
    counts = counts_by_category(part, feature)
    legal = [
        worth(sides, part.total, by)
        for _, sides in groupings(feature, counts)
        if by.min_samples_leaf - sides.sum(1).min() < 1e-6
    ]
    return max(legal)


def assert_groupings_are_best(tree, data: Table, by: Rules) -> None:
    """Every grouping of the tree reaches the best decrease that any legal one of its rows has."""
    pending = [(0, data.whole)]
    while pending:
        node, part = pending.pop()
        if tree.is_leaf[node]:
            continue
        feature = int(tree.feature[node])
        branch_of = tuple(tree.categories(node).tolist())
        split = c45.Split(feature, len(tree.branches(node)), tree.threshold[node], branch_of)
        if branch_of:
            counts = counts_by_category(part, feature)
            present = np.flatnonzero(counts.sum(1) > 0)
            assert branch_of[present[0]] == 0
            assert all((branch_of[c] >= 0) == (c in present) for c in range(len(branch_of)))
            sides = np.array([counts[np.equal(branch_of, side)].sum(0) for side in (0, 1)])
            # gain ratio takes a better grouping only if it is better by 1e-6
            assert worth(sides, part.total, by) == pytest.approx(
                best_grouping(part, feature, by), abs=1e-6, rel=1e-9
            )
        _, parts = divide(split, part)
        pending += zip(tree.branches(node).tolist(), parts, strict=True)


@pytest.mark.parametrize("criterion", CRITERIA)
@given(data=st.data())
@examples(150)
def test_groupings_reach_the_best_decrease_there_is(criterion, data):
    drawn, ordered = data.draw(tables())
    by = data.draw(rules(criterion=criterion, categorical_split="subset", pruning=None))
    tree = fit(training_rows(drawn, ordered), by)
    assert_groupings_are_best(tree, drawn, by)
    assert_tests_the_oracles_column(tree, drawn, by)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("least", [1, 8])
@pytest.mark.parametrize("n_categories", [11, 25, 60, 150])
def test_groupings_of_more_categories_than_can_be_tried_are_beaten_by_no_single_move(
    n_categories, least, criterion
):
    """Nor by the categories in the order of their share of any class, cut in two."""
    random = np.random.default_rng(n_categories)
    by = Rules(criterion, "subset", max_depth=1, min_samples_leaf=least, pruning=None)
    for n_classes in (2, 3, 5, 8):
        shares = random.dirichlet(np.full(n_classes, 0.5), n_categories)
        codes = np.append(np.arange(n_categories), random.integers(0, n_categories, 600))
        labels = np.array([random.choice(n_classes, p=shares[code]) for code in codes])
        drawn = c45.table([codes.tolist()], [n_categories], labels.tolist(), n_classes)
        tree = fit(training_rows(drawn), replace(by, collapse=False))
        counts = counts_by_category(drawn.whole, 0)
        is_left = tree.categories(0) == 0
        reached = worth_of(counts, is_left, by)
        others = [is_left ^ (np.arange(n_categories) == moved) for moved in range(n_categories)]
        for label in range(n_classes):
            order = np.argsort(counts[:, label] / counts.sum(1), kind="stable")
            others += [np.isin(np.arange(n_categories), order[:n]) for n in range(1, len(order))]
        best = max(worth_of(counts, other, by) for other in others)
        assert reached >= best - 1e-9 * len(codes)


def worth_of(counts: np.ndarray, is_left: np.ndarray, by: Rules) -> float:
    sides = np.array([counts[is_left].sum(0), counts[~is_left].sum(0)])
    is_legal = sides.sum(1).min() >= by.min_samples_leaf
    return worth(sides, sides.sum(), by) if is_legal else -np.inf


@given(data=st.data())
@examples(100)
def test_probabilities_are_the_oracles(data):
    drawn, ordered = data.draw(tables())
    by = data.draw(rules())
    rows = training_rows(drawn, ordered)
    tree, expected = fit(rows, by), c45.fit(drawn, by)
    for estimate, laplace in ((Frequency(), False), (Laplace(), True)):
        ours = mixture(tree, rows.table, estimate(tree, tree.class_counts), n_threads=2)
        np.testing.assert_allclose(
            ours, predict_proba(expected, drawn, laplace=laplace), rtol=0, atol=1e-9
        )
