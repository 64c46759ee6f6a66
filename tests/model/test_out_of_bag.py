"""What out-of-bag rows tell: intervals by rows or by the effective number, and calibration."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.model.out_of_bag import AccuracyByProbability, _Given, fit_calibration

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
WEIGHTS = RNG.random(200) ** 3


def bagged(weights: str) -> BaggedTreesClassifier:
    tree = TreeClassifier.c45(weights=weights, criterion="gini", pruning=None, collapse=False)
    return BaggedTreesClassifier(estimator=tree, n_estimators=12, random_state=3)


@pytest.mark.parametrize("kind", ["counts", "importance"])
def test_out_of_bag_intervals_go_by_the_rows_that_weights_stand_for(kind: str) -> None:
    model = bagged(kind).fit(X, Y, sample_weight=WEIGHTS)
    judged = ~np.isnan(model.oob_proba_[:, 0])
    w = WEIGHTS[judged]
    hits = model.classes_[model.oob_proba_[judged].argmax(axis=1)] == Y[judged]
    utility = np.average(hits, weights=w)
    n = w.sum() if kind == "counts" else w.sum() ** 2 / (w**2).sum()
    found = model.oob_levels_
    assert (found.utility, found.n_rows) == pytest.approx((utility, n))
    low, high = clopper_pearson(utility * n / 2, n / 2)  # rows predict one another
    assert 0 < found.low <= low + 1e-12 < utility < high - 1e-12 <= found.high < 1
    groups = model.complete_model().out_of_bag.accuracy
    if kind == "importance":
        assert groups.n.sum() < w.sum() / w.mean() * 0.6
    assert groups.of(np.array([0.5, 1.0]))[1].min() > 0


def test_groups_are_merged_until_accuracy_never_falls_with_probability() -> None:
    probability = np.linspace(0.5, 1.0, 400)
    correct = np.arange(400) % 10 < np.repeat([5, 7, 6, 6, 9, 8, 10, 10], 50)
    groups = AccuracyByProbability.count(probability, correct, np.ones(400))
    assert groups.n.tolist() == [49, 150, 100, 50, 51]
    assert groups.correct.tolist() == [25, 95, 85, 49, 51]
    utility = groups.of(probability)[0]
    assert (np.diff(utility) >= 0).all()
    assert utility[[60, 160, 399]].tolist() == [95 / 150, 95 / 150, 1]


def test_pure_noise_of_two_classes_does_not_state_less_than_a_coin() -> None:
    random = np.random.default_rng(3)
    Z, labels = random.normal(size=(600, 5)), random.integers(0, 2, 600)
    model = BaggedTreesClassifier(random_state=0).fit(Z, labels)
    utility = model.predict_levels(random.normal(size=(500, 5))).utility
    assert utility.min() == 0.5
    at_costs = BaggedTreesClassifier(cost=[[0, 9], [1, 0]], random_state=0).fit(Z, labels)
    assert at_costs.predict_levels(Z).utility.min() < 0.5  # the cheapest is not the most probable


def test_ties_leave_no_group_empty() -> None:
    probability = np.repeat([0.9, 1.0], [140, 60])
    groups = AccuracyByProbability.count(probability, probability > 0.95, np.ones(200))
    assert groups.n.tolist() == [140, 60]


def test_the_interval_is_as_wide_as_the_accuracy_of_few_trees_varies() -> None:
    """On an exclusive or among 30 columns ten trees are right in .65 to .75, by chance."""
    random = np.random.default_rng(0)
    Z = random.normal(size=(6000, 30))
    labels = Z[:, 0] * Z[:, 1] > 0
    for Z_part, wider in ((Z, (4, 12)), (Z[:, :2], (1, 1.8))):
        model = BaggedTreesClassifier(n_estimators=10, random_state=0).fit(Z_part, labels)
        found = model.oob_levels_
        rows = clopper_pearson(found.utility * 6000, 6000)
        assert wider[0] < (found.high - found.low) / (rows.high - rows.low) < wider[1]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_probabilities_are_those_of_scikit_learn(method, n_classes):
    rng = np.random.default_rng(n_classes)
    said = rng.dirichlet(np.ones(n_classes), 300)
    happened = np.array(
        [rng.choice(n_classes, p=line) for line in said**2 / (said**2).sum(1)[:, None]]
    )
    weights = rng.random(300)
    found = fit_calibration(
        said, happened.astype(np.int32), weights, method=method, classes=np.arange(n_classes)
    )
    everything = np.arange(300)
    theirs = CalibratedClassifierCV(
        FrozenEstimator(_Given().fit(said, happened)),
        method=method,
        cv=[(everything, everything)],
        ensemble=False,
    )
    with pytest.warns(UserWarning, match="FrozenEstimator"):
        theirs.fit(said, happened, weights)
    new = np.vstack([rng.dirichlet(np.ones(n_classes), 200), np.eye(n_classes), said])
    np.testing.assert_allclose(found(new), theirs.predict_proba(new), atol=1e-12)
