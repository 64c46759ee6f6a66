"""The default tree has no absolute distances; C4.5's has one, and warns where it matters."""

import warnings

import numpy as np
import pytest

from sureleaf import HiddenCutWarning, TreeClassifier

GRAMS = np.arange(2000.0)[:, np.newaxis]
LABELS = (np.arange(2000) // 500) % 2


def c45_of(X: np.ndarray, y: np.ndarray, **parameters: object) -> TreeClassifier:
    return TreeClassifier.c45(levels_from="training", **parameters).fit(X, y)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("pruning", ["auto", None])
def test_the_default_tree_is_the_same_under_any_increasing_transformation(
    criterion: str, pruning: str | None
) -> None:
    random = np.random.default_rng(0)
    X, unseen = random.normal(size=(600, 4)), random.normal(size=(500, 4))
    X[:, 1], unseen[:, 1] = X[:, 1].round(1), unseen[:, 1].round(1)  # many ties
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.digitize(np.nansum(X[:, :3], axis=1), [-0.5, 0.8])
    parameters = {"criterion": criterion, "pruning": pruning, "random_state": 0}
    model = TreeClassifier(**parameters).fit(X, y)
    assert model.tree_.n_leaves > 3
    for change in (
        np.exp,
        np.arctan,
        np.cbrt,
        lambda x: 1e-9 * x,
        lambda x: 1e9 * np.arctan(x) + 1e3,
    ):
        other = TreeClassifier(**parameters).fit(change(X), y)
        np.testing.assert_array_equal(other.tree_.feature, model.tree_.feature)
        np.testing.assert_array_equal(other.tree_.class_counts, model.tree_.class_counts)
        np.testing.assert_array_equal(
            other.predict_proba(change(unseen)), model.predict_proba(unseen)
        )
        inner = ~np.isnan(model.tree_.threshold) & np.isfinite(model.tree_.threshold)
        np.testing.assert_array_equal(
            other.tree_.threshold[inner], change(model.tree_.threshold[inner])
        )


def test_uniform_columns_without_wide_gaps_are_cut() -> None:
    x = np.random.default_rng(1).random((20_000, 1)) * 1e-2
    y = (x[:, 0] > 4e-3).astype(int)
    model = TreeClassifier(random_state=0, levels_from="training").fit(x, y)
    assert model.tree_.n_leaves == 2
    assert model.score(x, y) == 1.0


@pytest.mark.parametrize("levels_from", ["training", "honest", "cross_fit"])
def test_c45_warns_where_its_distance_hides_a_cut(levels_from: str) -> None:
    model = TreeClassifier.c45(levels_from=levels_from, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", HiddenCutWarning)
        assert model.fit(GRAMS, LABELS).score(GRAMS, LABELS) > 0.99
    with pytest.warns(HiddenCutWarning, match=r"cuts in 'x0': .* (99|100)\.\d% .* not \d\d\.\d%"):
        model.fit(GRAMS * 1e-6, LABELS)


def test_c45_does_not_warn_where_a_cut_nearby_is_as_good() -> None:
    random = np.random.default_rng(2)
    dense = random.random((20_000, 2))
    assert np.diff(np.sort(dense[:, 0])).min() < 1e-5
    y = (random.random(20_000) < np.where(dense[:, 0] > 0.5, 0.8, 0.3)).astype(int)
    rounded = (GRAMS / 10).round(1) + 1e-12 * (np.arange(2000) % 3)[:, np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("error", HiddenCutWarning)
        assert c45_of(dense, y).tree_.n_leaves > 1
        assert c45_of(rounded, LABELS).score(rounded, LABELS) == 1.0
        assert c45_of(dense[:300], y[:300], pruning=None).tree_.n_leaves > 1
        for seed in range(20):  # noise: cuts that the rule hides would not help
            x = 1.0 + 1e-6 * random.integers(0, 60, (160, 2))
            c45_of(x, random.integers(0, 3, 160), pruning=None, random_state=seed)
