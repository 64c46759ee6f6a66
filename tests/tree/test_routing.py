"""Leaves, shares and paths of rows equal those of a naive routing, row by row."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureleaf import TreeClassifier
from sureleaf.tree import Tree, count_nodes, mixture, route
from tests.long_runs import examples
from tests.tree.encoded import fit, training_rows
from tests.tree.test_kernel_against_oracle import rules, tables


def naive_route(tree: Tree, columns, row: int, *, stop: bool = False) -> tuple[dict, dict]:
    """Return the shares of one row in the nodes on its path, and in those where it ends."""
    passed, ends = {}, {}

    def go(node: int, share: float) -> None:
        passed[node] = passed.get(node, 0.0) + share
        if tree.is_leaf[node]:
            ends[node] = ends.get(node, 0.0) + share
            return
        value = columns[tree.feature[node]][row]
        categories = tree.categories(node)
        if len(categories):
            known = 0 <= value < len(categories) and categories[value] >= 0
            branch = categories[value] if known else None
            unseen = not known and value != -1
        else:
            is_code = columns[tree.feature[node]].dtype == np.int32
            missing = value < 0 if is_code else np.isnan(value)
            branch = None if missing else int(value > tree.threshold[node])
            unseen = is_code and value == -2
        branches = tree.branches(node)
        if branch is not None:
            go(int(branches[branch]), share)
        elif unseen and stop:
            ends[node] = ends.get(node, 0.0) + share
        else:
            shares = tree.branch_share[tree.child_offset[node] : tree.child_offset[node + 1]]
            for child, part in zip(branches, shares, strict=True):
                if part > 0:
                    go(int(child), share * part)

    go(0, 1.0)
    return passed, ends


@given(data=st.data(), split=st.sampled_from(["multiway", "subset"]), stop=st.booleans())
@examples(120)
def test_routes_counts_and_mixtures_equal_those_of_the_naive_routing(data, split, stop):
    drawn, ordered = data.draw(tables(max_rows=30))
    rows = training_rows(drawn, ordered)
    tree = fit(rows, data.draw(rules(categorical_split=split)))
    routes = route(tree, rows.table, stop_at_unseen=stop)
    values = np.random.default_rng(0).random((tree.n_nodes, 2))
    mixed = mixture(tree, rows.table, values, stop_at_unseen=stop, n_threads=2)
    counts = np.zeros_like(tree.class_counts)
    for row in range(len(drawn.labels)):
        _, ends = naive_route(tree, rows.table.columns, row, stop=stop)
        entries = slice(routes.offsets[row], routes.offsets[row + 1])
        assert sorted(routes.nodes[entries]) == sorted(ends)
        for node, share in zip(routes.nodes[entries], routes.shares[entries], strict=True):
            assert share == pytest.approx(ends[int(node)], rel=1e-12)
        expected = sum(share * values[node] for node, share in ends.items())
        np.testing.assert_allclose(mixed[row], expected, rtol=1e-12)
        heaviest = routes.heaviest()[row]
        assert ends[int(heaviest)] == max(ends.values())
        passed, _ = naive_route(tree, rows.table.columns, row)
        for node, share in passed.items():
            counts[node, drawn.labels[row]] += share * drawn.weights[row]
    np.testing.assert_allclose(count_nodes(tree, rows), counts, rtol=1e-9, atol=1e-9)


def table_with_missing_values(n_rows: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(random.normal(size=(n_rows, 3)), columns=["a", "b", "c"])
    y = (frame["a"] + frame["b"] > 0).to_numpy() ^ (random.random(n_rows) < 0.1)
    frame["d"] = random.choice(["u", "v", "w"], n_rows)
    return frame.mask(random.random(frame.shape) < 0.15), y


def test_shares_and_paths_of_a_row_are_consistent():
    X, y = table_with_missing_values()
    model = TreeClassifier.c45(min_samples_leaf=5).fit(X, y)
    tree = model.tree_
    shares, path = model.leaf_shares(X).toarray(), model.decision_path(X).toarray()
    assert shares.shape == path.shape == (len(y), tree.n_nodes)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(path[:, 0], 1.0, rtol=1e-12)
    np.testing.assert_array_equal(shares[:, ~tree.is_leaf], 0.0)
    np.testing.assert_allclose(path[:, tree.leaf_ids], shares[:, tree.leaf_ids])
    for node in np.flatnonzero(~tree.is_leaf):
        np.testing.assert_allclose(path[:, node], path[:, tree.branches(node)].sum(axis=1))
    leaf_of = model.apply(X)
    np.testing.assert_array_equal(leaf_of, shares.argmax(axis=1))
    np.testing.assert_allclose(
        model.predict_proba(X), shares @ model.model_.probabilities, rtol=0, atol=1e-12
    )


def test_a_table_without_rows_is_routed():
    X, y = table_with_missing_values()
    model = TreeClassifier.c45().fit(X, y)
    no_rows = X.iloc[:0]
    n_nodes = model.tree_.n_nodes
    assert model.leaf_shares(no_rows).shape == model.decision_path(no_rows).shape == (0, n_nodes)
    assert model.apply(no_rows).shape == model.predict(no_rows).shape == (0,)
    assert model.predict_proba(no_rows).shape == (0, 2)


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 4095, 4096, 4097])
def test_probabilities_do_not_depend_on_which_rows_are_predicted_together(n_rows):
    random = np.random.default_rng(n_rows)
    X = random.normal(size=(n_rows, 3))
    X[random.random(X.shape) < 0.02] = np.nan
    table, y = table_with_missing_values()
    model = TreeClassifier.c45(n_jobs=2).fit(table[["a", "b", "c"]].to_numpy(), y)
    whole = model.predict_proba(X)
    for part in np.array_split(np.arange(n_rows), min(n_rows, 5)):
        np.testing.assert_array_equal(model.predict_proba(X[part]), whole[part])
    strided = np.asfortranarray(np.hstack([X, X]))[:, ::2][:, [0, 2, 1]]
    np.testing.assert_array_equal(model.predict_proba(strided), whole)


def test_repeated_and_parallel_predictions_are_identical():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"n": rng.normal(size=4000), "t": rng.choice(list("abcde"), 4000)})
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    y = (frame["n"] > 0) ^ (frame["t"] == "b")
    model = TreeClassifier.c45(min_samples_leaf=1, pruning=None, n_jobs=2).fit(frame, y)
    few = model.predict_proba(frame[:3])  # before the tree is packed for many rows
    expected = model.predict_proba(frame)
    np.testing.assert_array_equal(expected[:3], few)
    np.testing.assert_array_equal(model.predict_proba(frame[:3]), few)
    copy = pickle.loads(pickle.dumps(model))
    with ThreadPoolExecutor(4) as pool:
        for probabilities in pool.map(copy.predict_proba, [frame] * 8):
            np.testing.assert_array_equal(probabilities, expected)
