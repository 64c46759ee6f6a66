"""Update: the same tree, counts added, and levels that take new rows as honest evidence."""

import ast
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import sureleaf
from sureleaf import InvalidArgumentError, InvalidTypeError, TreeClassifier
from sureleaf.exports import from_json

KINDS: dict[str, dict[str, Any]] = {
    "default": {},
    "unpruned": {"pruning": None, "max_depth": 4},
    "cost": {"cost": [[0, 1], [5, 0]]},
    "importance": {"weights": "importance"},
    "honest": {"levels_from": "honest"},
    "training": {"levels_from": "training"},
    "stop": {"unseen": "stop"},
}


def table(seed: int, n: int, n_classes: int = 2) -> tuple[list[list[Any]], np.ndarray]:
    """Return rows with a number, a category and missing values."""
    rng = np.random.default_rng(seed)
    x, colour = rng.random(n).round(4), rng.integers(0, 3, n)
    score = 3 * x + (colour == 1) + rng.normal(0, 0.7, n)
    y = np.minimum((score * n_classes / 4.0).astype(int), n_classes - 1).clip(0)
    rows = [
        [None if rng.random() < 0.1 else float(a), ["red", "green", "blue"][int(c)]]
        for a, c in zip(x, colour, strict=True)
    ]
    return rows, y


def fitted(seed: int = 0, n: int = 300, n_classes: int = 2, **options: Any) -> TreeClassifier:
    return _fitted(seed, n, n_classes, repr(options))


@cache  # levels are computed once
def _fitted(seed: int, n: int, n_classes: int, options: str) -> TreeClassifier:
    parameters = ast.literal_eval(options)
    return TreeClassifier(random_state=0, **parameters).fit(*table(seed, n, n_classes))


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> tuple[TreeClassifier, TreeClassifier]:
    tree = fitted(**KINDS[request.param])
    return tree, sureleaf.update(tree, *table(1, 200))


def test_counts_of_all_nodes_and_leaves_are_those_of_both_tables(kind):
    tree, updated = kind
    X, y = table(1, 200)
    assert updated.tree_.feature.tolist() == tree.tree_.feature.tolist()
    added = np.zeros((tree.tree_.n_nodes, 2))
    path = tree.decision_path(X).toarray()
    for row, label in enumerate(y.tolist()):
        added[:, label] += path[row]
    np.testing.assert_allclose(updated.tree_.class_counts - tree.tree_.class_counts, added)
    of_leaves = updated.leaf_counts_.counts - tree.leaf_counts_.counts
    np.testing.assert_allclose(of_leaves, added[tree.tree_.leaf_ids])


def test_c45_trees_count_fractions_of_rows_as_they_predict_them() -> None:
    tree = TreeClassifier.c45(random_state=0).fit(*table(0, 300))
    X, y = table(1, 100)
    updated = sureleaf.update(tree, X, y)
    shares = tree.leaf_shares(X).toarray()[:, tree.tree_.leaf_ids]
    assert ((shares > 0) & (shares < 1)).any()
    for code in (0, 1):
        added = updated.leaf_counts_.counts[:, code] - tree.leaf_counts_.counts[:, code]
        np.testing.assert_allclose(added, shares[y == code].sum(axis=0))


def test_an_unseen_category_is_counted_where_the_tree_predicts_it() -> None:
    X, y = table(0, 300)
    for unseen in ("mixture", "stop"):
        tree = TreeClassifier(random_state=0, pruning=None, unseen=unseen, max_depth=3).fit(X, y)
        new = [[0.3, "violet"]] * 4
        with pytest.warns(sureleaf.UnseenCategoryWarning):
            updated = sureleaf.update(tree, new, [0, 1, 1, 1])
        with pytest.warns(sureleaf.UnseenCategoryWarning):
            expected = tree.decision_path(new).toarray().sum(axis=0)
        added = (updated.tree_.class_counts - tree.tree_.class_counts).sum(axis=1)
        np.testing.assert_allclose(added, expected)


def test_levels_are_the_posterior_of_a_beta_distribution() -> None:
    tree = fitted()
    X, y = table(1, 200)
    updated = sureleaf.update(tree, X, y)
    before, after = tree.model_.evidence, updated.model_.evidence
    leaf, predicted = tree.apply(X), updated.model_.predicted_classes
    for node in tree.tree_.leaf_ids.tolist():
        own = before.accuracy[node] * before.strength[node]
        rest = before.strength[node] - own
        if predicted[node] != tree.model_.predicted_classes[node]:
            own, rest = rest, own
        inside = leaf == node
        own += np.count_nonzero(inside & (y == predicted[node]))
        rest += np.count_nonzero(inside & (y != predicted[node]))
        assert after.accuracy[node] == pytest.approx(own / (own + rest))
        line = tree.tree_.leaf_ids.tolist().index(node)
        confidence = float(updated.leaves().confidence[line])
        assert confidence == pytest.approx(float(beta.sf(0.5, own, rest)))


def test_a_leaf_whose_class_the_new_rows_change_is_known_by_both() -> None:
    tree = TreeClassifier(random_state=0).fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    updated = sureleaf.update(tree, [[-i] for i in range(1, 61)], [1] * 55 + [0] * 5)
    assert updated.predict([[-1.0]]).tolist() == [1]
    leaves = updated.leaves()
    before = tree.leaves()
    strength = tree.model_.evidence.strength
    accuracy = tree.model_.evidence.accuracy
    expected = (strength[1] * (1 - accuracy[1]) + 55) / (strength[1] + 60)
    assert leaves.utility[0] == pytest.approx(expected)
    assert before.prediction[0] != leaves.prediction[0]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_two_updates_are_one(n_classes: int) -> None:
    """With more classes, where no leaf changes its class: else shares of the others are counted."""
    tree = fitted(n=600, n_classes=n_classes)
    X, y = table(1, 200, n_classes)
    once = sureleaf.update(tree, X, y)
    twice = sureleaf.update(sureleaf.update(tree, X[:50], y[:50]), X[50:], y[50:])
    np.testing.assert_allclose(once.tree_.class_counts, twice.tree_.class_counts)
    assert (once.model_.predicted_classes == twice.model_.predicted_classes).all()
    same = np.ones(tree.tree_.n_leaves, dtype=bool)
    if n_classes > 2:
        halfway = sureleaf.update(tree, X[:50], y[:50]).model_.predicted_classes
        same = (halfway == once.model_.predicted_classes)[tree.tree_.leaf_ids]
        same &= (tree.model_.predicted_classes == halfway)[tree.tree_.leaf_ids]
        assert same.sum() > 4
    np.testing.assert_allclose(once.leaves().utility[same], twice.leaves().utility[same])
    np.testing.assert_allclose(once.leaves().confidence[same], twice.leaves().confidence[same])


def test_rows_that_the_tree_has_seen_are_refused() -> None:
    X, y = table(0, 300)
    tree = TreeClassifier(random_state=0).fit(X, y)
    new, labels = table(1, 200)
    updated = sureleaf.update(tree, new, labels)
    with pytest.raises(InvalidArgumentError, match="equal to rows of its fit"):
        sureleaf.update(tree, X[:150], y[:150])
    with pytest.raises(InvalidArgumentError, match="exactly the rows of an earlier update"):
        sureleaf.update(updated, new[::-1], labels[::-1])
    with pytest.raises(InvalidArgumentError, match="equal to rows of an earlier update"):
        sureleaf.update(updated, new[:100], labels[:100])
    with pytest.raises(InvalidArgumentError, match="equal to rows of an earlier update"):
        updated.certify(new[:100], labels[:100])
    with pytest.warns(sureleaf.TrainingRowsWarning):
        assert sureleaf.audit(updated, new, labels).newness == "seen"


def test_the_same_small_update_is_recognised_although_all_rows_have_twins() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 2)), rng.integers(0, 2, 400)
    tree = TreeClassifier(random_state=0).fit(X[:200], y[:200])
    updated = sureleaf.update(tree, X[200:], y[200:])
    with pytest.raises(InvalidArgumentError, match="exactly the rows of an earlier update"):
        sureleaf.update(updated, X[200:], y[200:])


def test_frequent_rows_of_a_population_do_not_pass_for_rows_of_the_fit() -> None:
    """Every third row is the same one: it alone would refuse all new rows."""
    refused = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(3000, 2))
        X[rng.random(3000) < 1 / 3] = 0.5
        y = (X[:, 0] > 0.5).astype(int)
        model = TreeClassifier(levels_from="training", max_depth=1).fit(X[:1500], y[:1500])
        rows = model.model_.read_rows(X[1500:], y[1500:])
        (seen, equal_rows), *_ = model.model_.compare_seen(rows)
        refused += not seen.is_chance(equal_rows)
    assert refused == 0


def test_an_updated_tree_survives_a_file_and_json(kind, tmp_path):
    _, updated = kind
    X, y = table(1, 200)
    updated.save(tmp_path / "tree.sureleaf")
    copies = [sureleaf.load(tmp_path / "tree.sureleaf")]
    copies.append(from_json(str(sureleaf.export(updated, "json"))))
    for copy in copies:
        assert isinstance(copy, TreeClassifier)
        assert copy.predict_proba(X).tolist() == updated.predict_proba(X).tolist()
        assert repr(copy.leaves()) == repr(updated.leaves())
        assert repr(copy.levels()) == repr(updated.levels())
        with pytest.raises(InvalidArgumentError, match="earlier update"):
            sureleaf.update(copy, X, y)
        again = sureleaf.update(copy, *table(2, 50))
        assert again.leaf_counts_.n.sum() == pytest.approx(updated.leaf_counts_.n.sum() + 50)


@pytest.mark.parametrize("levels_from", ["cross_fit", "honest"])
def test_rows_of_updates_certify_the_tree(levels_from: str) -> None:
    tree = fitted(levels_from=levels_from)
    updated = sureleaf.update(sureleaf.update(tree, *table(1, 200)), *table(2, 100))
    certificate = updated.certificate()
    n_fit = 300 if levels_from == "cross_fit" else 150
    assert certificate.n_grown == n_fit
    assert certificate.n_certifying == 300 + (300 - n_fit)
    assert not updated.model_.held_out_rows("test").named_before
    later = updated.certify(*table(3, 80)).certificate()
    assert (later.n_grown, later.n_certifying) == (n_fit, 80)
    then = sureleaf.update(updated.certify(*table(3, 80)), *table(4, 90)).certificate()
    assert then.n_certifying == 90


def test_class_weights_of_the_fit_weigh_new_rows() -> None:
    X, y = table(1, 200)
    updated = sureleaf.update(fitted(class_weight={0: 1.0, 1: 3.0}), X, y)
    before = fitted(class_weight={0: 1.0, 1: 3.0}).tree_.class_counts[0]
    added = updated.tree_.class_counts[0] - before
    np.testing.assert_allclose(added, [np.sum(y == 0), 3.0 * np.sum(y == 1)])
    with pytest.raises(InvalidArgumentError, match="class_weight='balanced'"):
        sureleaf.update(fitted(class_weight="balanced"), X, y)


def test_what_cannot_be_updated_is_named() -> None:
    X, y = table(1, 20)
    bag: Any = sureleaf.BaggedTreesClassifier(n_estimators=2, random_state=0).fit(*table(0, 60))
    with pytest.raises(InvalidTypeError, match="BaggedTreesClassifier"):
        sureleaf.update(bag, X, y)
    numbers = [[float(i)] for i in range(60)]
    monotone = TreeClassifier(monotone=[1]).fit(numbers, [0] * 30 + [1] * 30)
    with pytest.raises(InvalidArgumentError, match="monotone"):
        sureleaf.update(monotone, [[70.0]], [1])
    with pytest.raises(InvalidArgumentError, match="classes"):
        sureleaf.update(fitted(), X, ["a"] * 20)
    with pytest.raises(InvalidArgumentError, match="above 0"):
        sureleaf.update(fitted(), X, y, np.zeros(20))


@pytest.mark.slow
def test_stated_utility_predicts_unseen_accuracy_before_and_after_updates() -> None:
    """The mean gap over tables drawn anew, against its own standard error and .7 points."""
    gaps = []
    for seed in range(20):
        tree = fitted(seed=3 * seed, n=400)
        X, y = table(3 * seed + 1, 20_000)
        line = []
        for n in (0, 500, 5000):
            one = tree if n == 0 else sureleaf.update(tree, *table(3 * seed + 2, n))
            line.append(one.levels().utility - float((one.predict(X) == y).mean()))
        gaps.append(line)
    mean, error = np.mean(gaps, axis=0), np.std(gaps, axis=0, ddof=1) / np.sqrt(len(gaps))
    assert (np.abs(mean) <= 0.007 + 3 * error).all()
    spread = np.std(gaps, axis=0)
    assert spread[2] < spread[1] < spread[0]
