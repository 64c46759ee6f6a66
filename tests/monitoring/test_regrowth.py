"""Keep or regrow: judged on rows that neither tree has seen, and rarely wrong."""

import json
from typing import Any

import numpy as np
import pytest

import sureleaf
from sureleaf import InvalidArgumentError, InvalidTypeError, TreeClassifier
from sureleaf.monitoring import keep_or_regrow
from sureleaf.monitoring.updates import _join, _joined_table
from sureleaf.table import read_table


def rows(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    X = rng.random((n, 4)).round(4)
    score = 6 * (X[:, 0] - 0.5) + 3 * (X[:, 1] > 0.5) - 1.5
    return X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def fitted(X: Any, y: Any, **options: Any) -> TreeClassifier:
    return TreeClassifier(random_state=0, levels_from="training", **options).fit(X, y)


def test_a_tree_that_is_no_longer_right_is_to_be_grown_anew() -> None:
    rng = np.random.default_rng(0)
    tree = fitted(*rows(rng, 300))
    before = rng.random((100, 4))
    other_column = fitted(before, (before[:, 3] > 0.5).astype(int))
    found = keep_or_regrow(other_column, *rows(rng, 400))
    assert found.verdict == "regrow"
    assert "because the old rows were not given" in str(found)
    assert found.comparison.low > 0.01
    assert json.dumps(found.to_dict(), allow_nan=False)
    same = keep_or_regrow(tree, *rows(rng, 300))
    assert same.verdict != "regrow"


def test_each_row_is_predicted_by_trees_that_have_not_seen_it() -> None:
    """Labels are coin tosses: whoever saw the row would be right more often than half."""
    rng = np.random.default_rng(1)
    X, y = rng.random((400, 1)), rng.integers(0, 2, 400)
    tree = TreeClassifier(
        random_state=0, levels_from="training", pruning=None, min_samples_leaf=1
    ).fit(X[:200], y[:200])
    found = keep_or_regrow(tree, X[200:], y[200:], old_X=X[:200], old_y=y[:200])
    assert all(abs(value - 0.5) < 4 * 0.5 / np.sqrt(200) for value in found.comparison.values)
    assert (found.n_old, found.n_new, found.n_folds) == (200, 200, 10)
    assert "the 200 old rows and the other new rows" in found.design


def test_costs_are_the_measure_of_a_tree_that_decides_by_them() -> None:
    rng = np.random.default_rng(2)
    tree = fitted(*rows(rng, 200), cost=[[0, 1], [4, 0]])
    found = keep_or_regrow(tree, *rows(rng, 200), n_folds=5)
    assert found.comparison.measure == "cost"


def test_tables_of_other_types_are_joined() -> None:
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {"a": [1, 2], "b": ["x", "y"]}
    later = {"a": [2.5, None], "b": ["z", None]}
    makers = (pd.DataFrame, pl.DataFrame, pa.table)
    for old in makers:
        for new in makers:
            joined = _join(old(columns), new(later))
            assert len(joined) == 4
    coded = pa.table({"a": [1, 2], "b": pa.array(["x", "y"]).dictionary_encode()})
    assert _join(coded, pa.table(later))["b"].to_pylist() == ["x", "y", "z", None]
    assert len(_join([[1, 2]], np.array([[3, 4]]))) == 2


def test_columns_keep_their_kinds_when_a_tree_is_grown_anew() -> None:
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(
        {
            "size": ["s", "m", "l", "s"],
            "code": [1, 2, 3, 1],
            "flag": [True, False, True, True],
            "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-01-04"]),
        }
    )
    kinds = {"size": ["s", "m", "l"], "code": "categorical", "flag": "numeric"}
    schema = read_table(table, categorical_features=kinds).schema
    joined, labels, n_old = _joined_table((table[:3], [0, 1, 0]), table, [1, 1, 0, 0], schema)
    assert (joined.schema, labels.tolist(), n_old) == (schema, [1, 1, 0, 0, 0, 1, 0], 4)


def test_what_cannot_be_judged_is_named() -> None:
    rng = np.random.default_rng(4)
    X, y = rows(rng, 200)
    tree = fitted(X, y)
    with pytest.raises(InvalidArgumentError, match="at least 20 rows"):
        keep_or_regrow(tree, *rows(rng, 19))
    with pytest.raises(InvalidArgumentError, match="has not seen"):
        keep_or_regrow(tree, X, y)
    with pytest.raises(InvalidArgumentError, match="got old_X alone"):
        keep_or_regrow(tree, *rows(rng, 40), old_X=X)
    with pytest.raises(InvalidArgumentError, match="got old_y alone"):
        keep_or_regrow(tree, *rows(np.random.default_rng(5), 40), old_y=y)
    Z, t = rows(rng, 60)
    with pytest.raises(InvalidArgumentError, match=r"must not have the new rows.* 60 of the 60"):
        keep_or_regrow(tree, Z, t, old_X=np.vstack([X, Z]), old_y=np.concatenate([y, t]))
    bag: Any = sureleaf.BaggedTreesClassifier(n_estimators=2).fit(X, y)
    with pytest.raises(InvalidTypeError, match="BaggedTreesClassifier"):
        keep_or_regrow(bag, *rows(rng, 40))


@pytest.mark.slow
def test_the_verdict_is_false_in_at_most_5_percent_when_nothing_changed() -> None:
    """False: "regrow" where a new tree is not better by the margin; the margin is 0."""
    false = 0
    n_tables = 60
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X, y = rows(rng, 150)
        Z, t = rows(rng, 200)
        tree = fitted(X, y, pruning="cost_complexity", ccp_alpha=0.01)
        found = keep_or_regrow(tree, Z, t, old_X=X, old_y=y, margin=0.0)
        if found.verdict != "undecided":
            T, u = rows(rng, 20_000)
            anew = fitted(
                np.vstack([X, Z]), np.concatenate([y, t]), pruning="cost_complexity", ccp_alpha=0.01
            )
            kept = sureleaf.update(tree, Z, t)
            gain = (anew.predict(T) == u).mean() - (kept.predict(T) == u).mean()
            false += (gain <= 0) if found.verdict == "regrow" else (gain > 0)
    # Three standard errors of a share of 5 % above it.
    assert false / n_tables <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / n_tables)
