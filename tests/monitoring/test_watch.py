"""Watch: alarms at any time, labels late or never, two sites."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sureleaf import InvalidArgumentError, InvalidTypeError, TreeClassifier, Watch
from sureleaf.model.tree_model import Evidence
from sureleaf.monitoring.watch import promise_of, rare_shares
from tests.naive.watch import watch_slowly


def table(seed: int, n: int, n_classes: int = 2, shift: float = 0.0) -> tuple[Any, Any]:
    """Return rows of two numbers; with a shift, the class depends less on the first."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, 2))
    y = np.minimum((x[:, 0] * n_classes).astype(int), n_classes - 1)
    noise = rng.random(n) < np.where(x[:, 1] > 0.5, 0.15 + shift, 0.25)
    return x, np.where(noise, rng.integers(0, n_classes, n), y)


@cache
def fitted(n_classes: int = 2, **options: Any) -> TreeClassifier:
    tree = TreeClassifier(
        levels_from="honest",
        pruning=None,
        max_leaves=2 * n_classes,
        min_samples_leaf=20,
        random_state=0,
        cost=None if "cost" not in options else np.array(options["cost"]),
    )
    return tree.fit(*table(0, 900, n_classes))


def alarms(watch: Watch) -> dict[Any, tuple[int, int]]:
    return {key: (one.row, one.since) for key, one in watch.counts.alarms.items()}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("case", ["unchanged", "shifted", "other rows", "labels missing"])
def test_alarms_are_those_of_capitals_that_are_multiplied_row_by_row(n_classes, case):
    tree = fitted(n_classes)
    X, y = table(5, 500, n_classes, shift=0.0 if case == "unchanged" else 0.8)
    if case == "other rows":
        X = X[order := np.argsort(X[:, 0] + np.random.default_rng(0).random(500))]
        y = y[order]
    labels: list[int | None] = y.tolist()
    if case == "labels missing":
        labels = [None if k % 3 == 0 else one for k, one in enumerate(labels)]
    watch = Watch(tree, 0.2).add(X, labels)
    line = np.searchsorted(tree.model_.tree.leaf_ids, tree.apply(X)).tolist()
    assert alarms(watch) == watch_slowly(watch, line, labels)
    assert bool(alarms(watch)) == (case != "unchanged")


def test_costs_ask_whether_the_decision_is_the_cheapest():
    tree = fitted(3, cost=((0, 1, 4), (2, 0, 1), (6, 1, 0)))
    X, y = table(6, 700, 3, shift=0.85)
    watch = Watch(tree, 0.3).add(X, y)
    line = np.searchsorted(tree.model_.tree.leaf_ids, tree.apply(X)).tolist()
    assert alarms(watch) == watch_slowly(watch, line, y.tolist())
    assert any(question == "wrong" for question, _ in alarms(watch))


@pytest.mark.parametrize("size", [1, 7, 100])
def test_batches_give_what_one_addition_gives(size, monkeypatch):
    X, y = table(7, 300, shift=0.8)
    whole, parts = Watch(fitted()).add(X, y), Watch(fitted())
    monkeypatch.setattr("sureleaf.monitoring.watch.ROWS_AT_ONCE", 30)
    for start in range(0, 300, size):
        parts.add(X[start : start + size], y[start : start + size])
    assert alarms(parts) == alarms(whole)
    assert parts.sentences() == whole.sentences()
    assert parts.leaves().records() == whole.leaves().records()


def test_a_class_that_changes_is_an_alarm_with_about_its_row():
    tree, watch = fitted(), Watch(fitted())
    X, y = table(8, 1200)
    leaf = tree.apply(X)
    chosen = np.bincount(leaf).argmax()
    turned = (leaf == chosen) & (np.arange(1200) >= 600)
    watch.add(X[:600], y[:600])
    assert not watch.alarm
    watch.add(X[600:], np.where(turned, 1 - y, y)[600:])
    table_ = watch.leaves()
    line = table_.leaf.tolist().index(chosen)
    assert table_.verdict[line] == "changed"
    assert 450 <= table_.decision_since[line] <= 750
    assert "No longer right since about row" in table_.sentence[line]
    assert "no longer right" in watch.headline
    others = [k for k in range(len(table_)) if k != line]
    assert np.isnan(table_.decision_since[others]).all()


def test_a_leaf_that_became_less_accurate_is_called_right_by_the_rows_since_then_alone():
    X, y = table(23, 3000)
    leaf = fitted().apply(X)
    rng = np.random.default_rng(0)
    turned = (leaf == np.bincount(leaf).argmax()) & (np.arange(3000) >= 2000)
    watch = Watch(fitted()).add(X, np.where(turned & (rng.random(3000) < 0.48), 1 - y, y))
    found = watch.leaves()
    line = int(np.flatnonzero(np.isfinite(found.accuracy_since))[0])
    assert found.verdict[line] == "unknown"
    assert "Not enough rows since the change" in found.sentence[line]


def test_other_shares_of_rows_are_an_alarm():
    X, y = table(9, 1500)
    kept = X[:, 0] > 0.7 * np.random.default_rng(0).random(1500)
    watch = Watch(fitted()).add(X[kept], y[kept])
    assert np.isfinite(watch.leaves().share_since).any()
    assert "rows reach it since" in " ".join(watch.leaves().sentence)


def test_a_leaf_that_was_wrong_from_the_start_is_no_alarm():
    rng = np.random.default_rng(4)
    X = rng.random((60, 1))
    tree = TreeClassifier(levels_from="honest", pruning=None, max_leaves=2, random_state=1)
    tree.fit(X, rng.random(60) < 0.45)
    Z = rng.random((6000, 1))
    found = Watch(tree).add(Z, tree.predict(Z) ^ (rng.random(6000) < 0.58))
    assert (found.leaves().promised_low < 0.4).all()
    assert found.leaves().verdict.tolist() == ["wrong", "wrong"]
    assert not found.leaves().alarm.any()
    assert "need not be a change" in found.leaves().sentence[0]


def test_few_rows_tell_how_many_are_needed_and_enough_rows_prove_it():
    X, y = table(10, 4000)
    watch = Watch(fitted()).add(X[:20], y[:20])
    found = watch.leaves()
    assert (found.verdict == "unknown").all()
    assert (found.rows_needed > found.n_labelled).all()
    assert "Not enough rows to tell" in found.sentence[0]
    assert (watch.add(X[20:], y[20:]).leaves().verdict == "right").all()


def test_labels_that_come_later_count_in_the_leaf_of_their_row():
    X, y = table(11, 400)
    keys = [f"row {k}" for k in range(400)]
    at_once, later = Watch(fitted()).add(X, y, keys=keys), Watch(fitted())
    later.add(X, [None] * 400, keys=keys)
    assert (later.counts.n_rows, later.counts.n_labelled) == (400, 0)
    assert "400 rows wait for a label." in later.sentences()
    later.label(y[:100], keys=keys[:100])
    later.add(X[100:], y[100:], keys=keys[100:])  # the cells again, with the label
    assert later.counts.n_rows == 400
    assert not later.counts.pending
    same = ("n", "n_labelled", "accuracy", "low", "high", "share")
    for name in same:
        assert getattr(later.leaves(), name).tolist() == getattr(at_once.leaves(), name).tolist()


@pytest.mark.parametrize(
    "column",
    [
        lambda y: pd.Series([*y[:-1], pd.NA], dtype="Int64"),
        lambda y: np.array([*y[:-1], np.nan]),
        lambda y: pa.chunked_array([y[:-1].tolist(), pa.array([None], pa.int64())]),
        lambda y: [*y[:-1], None],
    ],
)
def test_a_missing_value_of_any_library_is_a_label_that_is_not_known(column):
    X, y = table(23, 20)
    assert Watch(fitted()).add(X, column(y)).counts.n_labelled == 19


def test_a_change_is_dated_by_the_rows_and_not_by_their_labels():
    X, y = table(22, 1000)
    leaf = fitted().apply(X)
    turned = (leaf == np.bincount(leaf).argmax()) & (np.arange(1000) >= 500)
    watch = Watch(fitted()).add(X, keys=range(1000))
    watch.label(np.where(turned, 1 - y, y), keys=range(1000))
    since = watch.leaves().decision_since
    assert 350 <= since[np.isfinite(since)].max() <= 650


def test_labels_of_rows_that_never_came_are_refused():
    watch = Watch(fitted()).add(*table(12, 50), keys=range(50))
    with pytest.raises(InvalidArgumentError, match="got 99 too"):
        watch.label([0], keys=[99])


def test_the_same_rows_twice_are_refused_and_nothing_is_counted():
    X, y = table(13, 200)
    watch = Watch(fitted()).add(X, y)
    with pytest.raises(InvalidArgumentError, match="earlier addition"):
        watch.add(X, y)
    with pytest.raises(InvalidArgumentError, match="earlier addition"):
        Watch(fitted()).add(X[:5], y[:5], source="a").add(X[5:9], y[5:9], source="a")
    assert watch.counts.n_rows == 200


def test_rows_of_the_fit_are_refused():
    X, y = table(0, 900)
    with pytest.raises(InvalidArgumentError, match="not seen"):
        Watch(fitted()).add(X, y)


def test_new_categories_and_missing_values_are_counted_by_column():
    rng = np.random.default_rng(0)
    rows = [[float(x), "red" if x > 0.5 else "blue"] for x in rng.random(300)]
    tree = TreeClassifier(levels_from="honest", random_state=0)
    tree.fit(rows, [row[1] for row in rows])
    watch = Watch(tree).add([[0.1, "green"], [None, "red"], [0.7, None]], [None] * 3)
    assert watch.counts.new_categories == {"x1": 1}
    assert watch.counts.new_missing == {"x0": 1, "x1": 1}
    assert any("never seen: x1 (1)" in one for one in watch.sentences())


def test_rows_that_stop_above_the_leaves_are_counted_apart():
    rng = np.random.default_rng(0)
    rows = [["red" if x > 0.5 else "blue"] for x in rng.random(300)]
    tree = TreeClassifier(levels_from="honest", unseen="stop", random_state=0)
    tree.fit(rows, [row[0] for row in rows])
    watch = Watch(tree).add([["green"], ["red"]], ["red", "red"])
    assert watch.counts.rows.counts.tolist()[-1] == 1
    assert watch.counts.n_labelled == 1
    assert "1 row ended above the leaves." in watch.sentences()


def test_two_sites_add_up_to_the_counts_of_both():
    (X, y), (Z, w) = table(14, 300), table(15, 500)
    one, two = Watch(fitted()).add(X, y), Watch(fitted()).add(Z, w)
    both = Watch(fitted()).add(np.vstack([X, Z]), np.concatenate([y, w]))
    total = one + two
    for name in ("n", "n_labelled", "accuracy", "low", "high", "verdict"):
        assert getattr(total.leaves(), name).tolist() == getattr(both.leaves(), name).tolist()
    assert (two + one).leaves().records() == total.leaves().records()
    total.add(*table(16, 200))
    assert total.counts.n_rows == 1000


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (lambda: Watch(fitted(3)).add(*table(17, 60, 3)), "different trees"),
        (lambda: Watch(fitted(), 0.1).add(*table(17, 60)), "different alpha"),
        (lambda: Watch(fitted()).add(*table(14, 300)), "the same rows"),
        (lambda: Watch(fitted()).add(*table(18, 900, shift=0.85)), "an alarm"),
    ],
)
def test_sites_that_cannot_be_one_population_are_refused(other, problem):
    with pytest.raises(InvalidArgumentError, match=problem):
        Watch(fitted()).add(*table(14, 300)) + other()


def test_arguments_that_cannot_be_watched_are_refused():
    with pytest.raises(InvalidTypeError, match="fitted TreeClassifier"):
        Watch("tree")
    with pytest.raises(InvalidArgumentError, match="class_weight"):
        Watch(TreeClassifier(class_weight={0: 1, 1: 5}).fit(*table(0, 100)))
    X, y = table(0, 100)
    with pytest.raises(InvalidArgumentError, match="importance weights"):
        Watch(TreeClassifier(weights="importance").fit(X, y, 1 + X[:, 0]))
    parts = TreeClassifier(missing="fraction", random_state=0)
    Watch(parts.fit(X, y))
    X[::3, 0] = np.nan
    with pytest.raises(InvalidArgumentError, match="missing='branch'"):
        Watch(parts.fit(X, y))
    for alpha in (0, 1, 5):
        with pytest.raises(InvalidArgumentError, match="alpha"):
            Watch(fitted(), alpha)
    watch = Watch(fitted())
    with pytest.raises(InvalidArgumentError, match="got 7 too"):
        watch.add([[0.1, 0.2]], [7])
    with pytest.raises(InvalidArgumentError, match="must have rows"):
        watch.add(np.empty((0, 2)))
    for keys in ([1, 1, 2], [1, 2, None], [1.0, 2.0, np.nan]):
        with pytest.raises(InvalidArgumentError, match="keys must be different"):
            watch.add(*table(1, 3), keys=keys)
    assert watch.counts.n_rows == 0


def test_a_tree_with_training_levels_is_watched_with_a_warning():
    tree = TreeClassifier(levels_from="training", random_state=0).fit(*table(0, 200))
    assert "training rows" in Watch(tree).add(*table(24, 50)).sentences()[1]
    assert "training rows" not in " ".join(Watch(fitted()).sentences())


def shops(seed: int, n: int) -> tuple[Any, Any]:
    """Return rows whose class depends on one of 2,000 shops, most of which a fit meets once."""
    rng = np.random.default_rng(seed)
    shop = rng.integers(0, 2000, n)
    y = rng.random(n) < np.where(np.random.default_rng(5).random(2000)[shop] < 0.5, 0.2, 0.8)
    return pd.DataFrame({"shop": [f"s{k}" for k in shop], "x": rng.random(n)}), y.astype(int)


@pytest.mark.parametrize("options", [{}, {"unseen": "stop"}, {"levels_from": "honest"}])
def test_categories_that_the_fit_has_not_met_are_no_change_of_the_shares(options):
    X, y = shops(0, 1500)
    tree = TreeClassifier(pruning=None, max_leaves=8, random_state=0, **options).fit(X, y)
    watch = Watch(tree).add(*shops(1, 4000))
    assert watch.counts.new_categories["shop"] > 1500
    assert not np.isfinite(watch.leaves().share_since).any()


def test_a_leaf_promises_no_more_than_its_own_rows():
    model = fitted(cost=((0, 1), (9, 0))).model_
    counts, own = model.leaf_counts, model.predicted_classes[model.tree.leaf_ids]
    shares = (counts.counts / counts.n[:, np.newaxis])[np.arange(len(own)), own]
    assert shares.min() < 0.3
    nodes = model.tree.n_nodes
    evidence = Evidence("cross_fit", np.full(nodes, 0.95), np.full(nodes, 100.0))
    promise = promise_of(model.with_evidence(evidence), 0.05)
    assert promise.accuracy == pytest.approx(0.95)
    assert (promise.least < shares).all()
    assert promise.whole == pytest.approx(0.95)
    assert promise.whole_least < counts.n @ shares / counts.n.sum() < 0.95


def test_few_categories_hardly_widen_the_limits_of_a_share():
    X, y = table(25, 900)
    frame = pd.DataFrame({"place": np.where(X[:, 0] > 0.5, "north", "south"), "x": X[:, 1]})
    tree = TreeClassifier(levels_from="training", max_leaves=2, pruning=None).fit(frame, y)
    model = tree.model_
    assert model.schema.columns[int(model.tree.feature[0])].name == "place"
    assert rare_shares(model) == pytest.approx([2 / 900] * 2)


def test_no_alarm_more_often_than_alpha_while_nothing_changes():
    """Thirty trees of 200 rows, 2,000 rows each, looked at after every row, at alpha .2."""
    n_alarms = 0
    for seed in range(30):
        tree = TreeClassifier(
            levels_from="honest", pruning=None, max_leaves=6, min_samples_leaf=5, random_state=seed
        )
        tree.fit(*table(1000 + seed, 200))
        n_alarms += Watch(tree, 0.2).add(*table(2000 + seed, 2000)).alarm
    assert n_alarms / 30 <= 0.2 + 4 * np.sqrt(0.2 * 0.8 / 30)
