"""Every design gets the interval that is valid for it, and no other."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import stdtrit
from sklearn import metrics
from sklearn.datasets import load_breast_cancer
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sureleaf import measures
from sureleaf.comparison import compare
from sureleaf.designs import Bootstrap, Holdout, KFold, LeaveOneOut, RepeatedHoldout
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.boundary_variance import row_influences, variance_of_influences
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.evaluation.intervals import corrected_resampled, out_of_bag_mean
from sureleaf.evaluation.measures.named import NAMED, Measure
from sureleaf.evaluation.measures.ranking import delong_interval
from sureleaf.evaluation.valid_intervals import (
    UNSTABLE,
    prevalence_slopes,
    share_between_repeats,
    variance_of_rows,
)
from sureleaf.levels.intervals import clopper_pearson
from tests.evaluation.estimators import Nearest

GENERATOR = np.random.default_rng(12)
Y = GENERATOR.integers(0, 2, 120)
X = GENERATOR.normal(size=(120, 2)) + 0.9 * Y[:, None]
COST = [[0, 1], [4, 0]]


@cache
def judge(design):
    return judge_with(design)


def judge_with(design, **options):
    return evaluate(Nearest(), X, Y, design=design, cost=COST, random_state=5, **options)


@pytest.fixture(scope="module")
def holdout():
    return judge(Holdout())


def test_a_hold_out_rate_is_exact_on_the_rows_it_speaks_of(holdout) -> None:
    found = holdout.predictions
    said, true = found.prediction == 1, found.truth == 1
    for name, hits, n in [
        ("accuracy", (said == true).sum(), 40),
        ("recall", (said & true).sum(), true.sum()),
        ("precision", (said & true).sum(), said.sum()),
    ]:
        given = holdout.estimate(name)
        assert (given.low, given.high) == pytest.approx(clopper_pearson(hits, n))
        assert given.value == pytest.approx(hits / n)
        assert given.method == "Clopper-Pearson, this model"


def test_a_hold_out_auc_is_delongs(holdout) -> None:
    found = holdout.predictions
    expected = delong_interval(found.truth == 1, found.probabilities[:, 1])
    given = holdout.estimate("auc", level=0.95)
    for end in ("value", "low", "high"):
        assert getattr(given, end) == pytest.approx(getattr(expected, end))


@pytest.mark.parametrize("name", sorted(NAMED))
@pytest.mark.parametrize("design", [Holdout(), KFold(4, repeats=2), Bootstrap(20)])
def test_every_measure_has_an_interval_around_its_value_within_its_range(name, design) -> None:
    found = judge(design).estimate(name, level=0.9)
    measure = NAMED[name]
    assert measure.low <= found.low <= found.value <= found.high <= measure.high
    assert found.level == 0.9


@pytest.mark.parametrize("name", sorted(set(NAMED) - {"cost", "decided_cost"}))
def test_named_measures_are_the_public_functions(name: str, holdout) -> None:
    found = holdout.predictions
    function = getattr(measures, name)
    table = NAMED[name].needs_probabilities
    expected = function(found.truth, found.probabilities if table else found.prediction)
    assert holdout.estimate(name).value == pytest.approx(expected)


@pytest.mark.parametrize(("design", "ratio"), [(KFold(6), 1 / 5), (RepeatedHoldout(5), 1 / 2)])
@pytest.mark.parametrize("name", ["accuracy", "auc", "nce"])
def test_splits_are_averaged_with_the_corrected_t(design, ratio, name) -> None:
    judged = judge(design)
    influences = row_influences(judged, NAMED[name])
    expected = corrected_resampled(
        judged.split_values(name),
        test_to_train=ratio,
        least_variance=variance_of_influences(judged, influences),
        one_round=name == "auc" and design.kind == "repeated holdout",
        degrees_of_one_round=name == "auc",
    )
    found, high = judged.estimate(name), min(expected.high, NAMED[name].high)
    assert (found.value, found.low) == pytest.approx((expected.value, max(expected.low, 0)))
    assert found.high == pytest.approx(high)
    assert "corrected resampled t" in found.method


def test_repeats_do_not_shorten_the_interval_of_an_unstable_learner() -> None:
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(200, 3))
    labels = (rows[:, 0] + rng.normal(size=200) > 0).astype(int)
    design = KFold(5, repeats=4)
    tree, bayes = (
        evaluate(model, rows, labels, design=design, random_state=0)
        for model in (DecisionTreeClassifier(random_state=0), GaussianNB())
    )
    assert share_between_repeats(tree, NAMED["accuracy"]) > UNSTABLE
    assert share_between_repeats(bayes, NAMED["quadratic_loss"]) < UNSTABLE
    assert share_between_repeats(tree, NAMED["recall"]) == 0
    once = evaluate(GaussianNB(), rows, labels, design=KFold(5), random_state=0)
    assert share_between_repeats(once, NAMED["accuracy"]) == 0
    for judged, is_unstable in ((tree, True), (bayes, False)):
        slopes = prevalence_slopes(judged, NAMED["quadratic_loss"])
        hidden = variance_of_rows(judged.truth, slopes, judged.weights, judged.groups)
        expected = corrected_resampled(
            judged.split_values("quadratic_loss"),
            test_to_train=1 / 4,
            hidden_variance=hidden,
            one_round=is_unstable,
        )
        assert judged.estimate("quadratic_loss").low == pytest.approx(expected.low)


def test_the_models_of_a_k_fold_are_judged_by_their_pooled_rows() -> None:
    judged = judge(KFold(5))
    hits = (judged.predictions.truth == judged.predictions.prediction).sum()
    found = judged.estimate("accuracy", of="model")
    assert (found.low, found.high) == pytest.approx(clopper_pearson(hits, 120))
    assert found.method == "Clopper-Pearson, the 5 models fitted, on average"


def test_repeats_do_not_pass_for_more_rows() -> None:
    once = judge(KFold(5)).estimate("accuracy", of="model")
    often = judge(KFold(5, repeats=8)).estimate("accuracy", of="model")
    assert often.high - often.low == pytest.approx(once.high - once.low, rel=0.1)


def test_leave_one_out_averages_rows_and_refuses_what_one_row_cannot_have() -> None:
    judged = judge(LeaveOneOut())
    values = judged.split_values("accuracy")
    expected = corrected_resampled(values, test_to_train=1 / 119)
    assert judged.estimate("accuracy").low == pytest.approx(expected.low)
    with pytest.raises(InvalidArgumentError, match="auc is not defined for a test part of one row"):
        judged.estimate("auc")
    assert 0.5 < judged.estimate("auc", of="model").value < 1


def test_a_summary_says_once_which_measures_single_rows_cannot_have() -> None:
    warnings = judge(LeaveOneOut()).summary().warnings
    about = [line for line in warnings if "one row (leave-one-out)" in line]
    assert len(about) == 1
    assert about[0].startswith("balanced_accuracy, precision, recall, f_measure and auc are not")
    assert "of='model'" not in about[0]


def test_the_precision_of_a_model_that_never_predicts_the_positive_class_is_undefined() -> None:
    X, y = np.zeros((60, 1)), (np.arange(60) < 20).astype(int)
    for design in (Holdout(), KFold(5), KFold(5, repeats=2)):
        judged = evaluate(AlarmAt(), X, y, design=design, random_state=0)
        precision = judged.estimate("precision")
        assert np.isnan(precision.value)
        assert (precision.low, precision.high) == (0.0, 1.0)  # nothing is known about it
        assert str(precision) == "undefined: no row is predicted as the positive class"
        assert judged.estimate("recall").value == 0.0
    X[0] = 1.0  # one alarm, in one fold, is enough
    assert evaluate(AlarmAt(), X, y, random_state=0).estimate("precision").value == 1.0


def test_an_undefined_rate_is_not_compared() -> None:
    X, y = np.zeros((60, 1)), (np.arange(60) < 20).astype(int)
    silent, loud = (
        evaluate(AlarmAt(), rows, y, design=KFold(5), random_state=seed)
        for rows, seed in ((X, 0), (X + 1.0, 1))
    )
    with pytest.raises(InvalidArgumentError, match="no finite value and interval"):
        compare(silent, loud, measure="precision", independent=True)


def test_warnings_state_the_accuracy_of_the_summary() -> None:
    """Of bootstrap samples, it is not the share of correct predictions."""
    generator = np.random.default_rng(3)
    X, y = generator.normal(size=(63, 2)), generator.random(63) < 0.3
    summary = evaluate(Nearest(), X, y, design=Bootstrap(20), random_state=0).summary()
    accuracy = summary.estimates["accuracy"].value
    assert f"Accuracy {100 * accuracy:.1f} % is no higher" in summary.warnings[0]


def test_a_bootstrap_is_averaged_row_by_row_with_efrons_standard_error() -> None:
    judged = judge(Bootstrap(50))
    losses, counts = np.zeros((50, 120)), np.zeros((50, 120), dtype=int)
    for b, split in enumerate(Bootstrap(50).splits(Y, seed=5)):
        model = Nearest().fit(X[split.train], Y[split.train])
        losses[b] = model.predict(X) != Y
        counts[b] = np.bincount(split.train, minlength=120)
    expected = out_of_bag_mean(losses, counts)
    found = judged.estimate("error")
    assert found.value == pytest.approx(expected.value)
    rows = expected.value * (1 - expected.value) / expected.standard_error**2
    assert (found.low, found.high) == pytest.approx(
        clopper_pearson(expected.value * min(rows, 120), min(rows, 120))
    )
    loss = judged.estimate("cost")
    assert loss.high - loss.value == pytest.approx(loss.value - loss.low)


@pytest.mark.parametrize(
    "design",
    [Holdout(), RepeatedHoldout(4), KFold(5), KFold(5, repeats=2), LeaveOneOut(), Bootstrap(10)],
)
@pytest.mark.parametrize("grouped", [False, True])
def test_accuracy_and_its_complement_have_one_interval(design: Any, grouped: bool) -> None:
    groups = np.arange(120) // 3 if grouped else None
    judged = evaluate(Nearest(), X, Y, groups=groups, random_state=5, design=design)
    right = judged.estimate("accuracy")
    for measure in ("error", "zero_one_loss"):
        wrong = judged.estimate(measure)
        mirrored = (1 - wrong.value, 1 - wrong.high, 1 - wrong.low)
        assert (right.value, right.low, right.high) == pytest.approx(mirrored)
        assert right.method == wrong.method


def test_weights_are_rows_of_less_certainty() -> None:
    weights = np.where(np.arange(120) % 2, 1.0, 3.0)
    found = judge_with(Holdout(), sample_weight=weights).estimate("accuracy")
    own = weights[judge(Holdout()).predictions.row]
    n = own.sum() ** 2 / (own**2).sum()
    assert (found.low, found.high) == pytest.approx(clopper_pearson(found.value * n, n))
    assert "effective rows" in found.method


@pytest.mark.parametrize(
    ("design", "of", "message"),
    [
        (Holdout(), "algorithm", "One hold-out fits one model"),
        (RepeatedHoldout(3), "model", "cannot estimate one model"),
        (Bootstrap(3), "model", "cannot estimate one model"),
        (KFold(3), "both", "of must be one of 'model', 'algorithm'"),
    ],
)
def test_a_question_the_design_cannot_answer_is_refused(design, of, message) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        judge(design).estimate("accuracy", of=of)


def test_unknown_measures_are_refused(holdout) -> None:
    with pytest.raises(InvalidArgumentError, match="measure must be one of accuracy, auc"):
        holdout.estimate("acuracy")
    with pytest.raises(InvalidArgumentError, match="Did you mean 'f_measure'"):
        holdout.estimate("F1")
    with pytest.raises(InvalidArgumentError, match="expected_calibration_error has no interval"):
        holdout.estimate("expected_calibration_error")
    with pytest.raises(InvalidArgumentError, match="needs a cost matrix"):
        evaluate(Nearest(), X, Y, design=Holdout(), random_state=0).estimate("cost")


def test_decided_costs_are_those_of_the_cheapest_decisions(holdout) -> None:
    found = holdout.predictions
    decided = measures.decide(found.probabilities, COST, [0, 1])
    total = measures.cost(found.truth, decided, cost=COST)
    assert holdout.estimate("decided_cost").value == pytest.approx(total / len(decided))
    assert not NAMED["decided_cost"].greater_is_better


def unequal(design, n: int = 120):
    labels = np.repeat([0, 1], [n - n // 6, n // 6])
    rows = np.random.default_rng(8).normal(size=(n, 2)) + 0.9 * labels[:, None]
    return evaluate(LogisticRegression(), rows, labels, design=design, random_state=0)


@pytest.mark.parametrize("how", ["over", "under"])
def test_repeats_do_not_shorten_the_interval_of_a_loss_of_balanced_classes(how: str) -> None:
    """The model minimises another loss, so that of the table moves with it to first order."""
    judged = unequal(KFold(5, resample=how, repeats=4))
    found, values = judged.estimate("quadratic_loss"), judged.split_values("quadratic_loss")
    half = stdtrit(9, 0.975) * np.sqrt(0.45 * values.var(ddof=1))
    assert found.high - found.value >= half - 1e-12
    other = replace(judged, prediction=1 - judged.prediction, probabilities=None)
    gaps = judged.split_values("accuracy") - other.split_values("accuracy")
    test = compare(replace(judged, probabilities=None), other)
    half = stdtrit(9, 0.975) * np.sqrt(0.45 * gaps.var(ddof=1))
    assert test.high - test.difference == pytest.approx(half)
    assert test.repeats_needed is None


@pytest.mark.parametrize("how", ["over", "under"])
def test_a_bootstrap_of_balanced_classes_counts_the_rows_it_has_drawn(how: str) -> None:
    """Rows that were left out to balance the classes counted as tested, and as wrong."""
    judged = unequal(Bootstrap(25, resample=how))
    found, plain = judged.estimate("accuracy"), unequal(Bootstrap(25)).estimate("accuracy")
    _, means = judged.row_values("accuracy")
    assert found.value == pytest.approx(means.mean())
    assert found.high - found.low < 2 * (plain.high - plain.low)


MACRO_RECALL = Measure(
    "macro recall",
    lambda rows: NAMED["balanced_accuracy"].value(rows),
    of_counts=lambda counts, _: NAMED["balanced_accuracy"].of_counts(counts, 0),
    low=0.0,
    high=1.0,
)


@pytest.mark.parametrize("distance", [0.5, 6.0])
@pytest.mark.parametrize(
    "design",
    [
        KFold(5),
        KFold(5, stratified=False, repeats=2),
        RepeatedHoldout(4, stratified=False),
        KFold(5, resample="under"),
        Bootstrap(10),
    ],
)
def test_a_class_that_is_absent_or_never_predicted_gives_no_certainty(design, distance) -> None:
    """Of three classes, the rarest has four rows: most folds have none of it."""
    labels = np.repeat([0, 1, 2], [40, 20, 4])
    random = np.random.default_rng(2)
    rows = random.normal(size=(64, 3)) + distance * np.eye(3)[labels]
    order = random.permutation(64)
    judged = [
        evaluate(model, rows[order], labels[order], design=design, random_state=0)
        for model in (GaussianNB(var_smoothing=0.1), DummyClassifier())
    ]
    for name in ("balanced_accuracy", "kappa", "matthews", MACRO_RECALL):
        measure = name if isinstance(name, Measure) else NAMED[name]
        for one in judged:
            found = one.estimate(measure)
            assert measure.low <= found.low <= found.value <= found.high <= measure.high
            assert found.high - found.low > 0.02
        test = compare(*judged, measure=measure)
        assert np.isfinite([test.low, test.high, test.p_value]).all()
        assert test.high - test.low > 0.02


ZERO = np.where(np.arange(120) % 10 < 4, 0.0, 1.0)


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("design", [LeaveOneOut(), KFold(40), Bootstrap(10)])
def test_a_split_whose_rows_weigh_nothing_says_nothing(name: str, design) -> None:
    """Leave-one-out tests on rows of weight 0 one by one; they take no part in the mean."""
    judged = judge_with(design, sample_weight=ZERO)
    if design.kind == "leave one out" and NAMED[name].row_values is None:
        with pytest.raises(InvalidArgumentError, match="not defined for a test part of one row"):
            judged.estimate(name)
        return
    found = judged.estimate(name)
    assert np.isfinite([found.value, found.low, found.high]).all()
    if design.kind == "leave one out":
        rows, values = judged.row_values(name)
        assert found.value == pytest.approx(np.average(values, weights=ZERO[rows]))


def test_rows_of_weight_0_cannot_make_a_bootstrap_infinite() -> None:
    losses, counts = np.ones((6, 4)), np.tile([0, 1, 0, 3], (6, 1))
    counts[::2] = [2, 0, 1, 0]
    losses[:, 3] = np.inf
    found = out_of_bag_mean(losses, counts, np.array([1.0, 1.0, 1.0, 0.0]))
    assert (found.value, found.rows_without_term) == (1.0, 0)


ORACLES = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f_measure": metrics.f1_score,
    "kappa": metrics.cohen_kappa_score,
    "matthews": metrics.matthews_corrcoef,
    "balanced_accuracy": metrics.balanced_accuracy_score,
}


def rare(generator: np.random.Generator, n: int, n_positive: int, distance: float):
    y = (np.arange(n) < n_positive).astype(int)
    return generator.normal(size=(n, 1)) + distance * y[:, None], y


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(
    "design",
    [
        KFold(10, stratified=False),
        KFold(5, repeats=3, stratified=False),
        RepeatedHoldout(8, stratified=False),
    ],
)
def test_the_figure_is_that_of_all_predictions_together(name: str, design) -> None:
    X, y = rare(np.random.default_rng(3), 150, 20, 1.5)
    weights = np.random.default_rng(4).uniform(0.5, 2, 150)
    judged = evaluate(Nearest(), X, y, design=design, sample_weight=weights, random_state=0)
    found, oracle = judged.predictions, ORACLES[name]
    mass, split = weights[found.row], found.split

    def of(rows: np.ndarray) -> float:
        return oracle(found.truth[rows], found.prediction[rows], sample_weight=mass[rows])

    whole = of(split >= 0)
    estimate = judged.estimate(name)
    assert estimate.value == pytest.approx(whole)
    numbers = np.unique(split)
    pseudo = [len(numbers) * whole - (len(numbers) - 1) * of(split != i) for i in numbers]
    ratio = judged.test_to_train
    influences = row_influences(judged, NAMED[name])
    spread = corrected_resampled(
        pseudo,
        test_to_train=ratio,
        least_variance=variance_of_influences(judged, influences),
        one_round=True,
    )
    # Wilson's interval of a rate in the range of the measure: from its upper end p, the value is as
    # far away as the half-width, in units of the standard deviation of a rate
    least = NAMED[name].low
    share = (whole - least) / (1 - least)
    half = (spread.high - spread.value) / (1 - least)

    def distance(p: float) -> float:
        return (p - share) ** 2 / (p * (1 - p)) - half**2 / (share * (1 - share))

    high = least + (1 - least) * brentq(distance, share, 1 - 1e-15, xtol=1e-15)
    assert estimate.high >= high - 1e-12
    if name not in ("precision", "recall"):  # these are never shorter than the exact interval
        assert estimate.high == pytest.approx(high, abs=1e-12)


def test_a_rare_class_that_is_never_found_leaves_its_figures_open() -> None:
    X, y = np.zeros((200, 1)), (np.arange(200) < 10).astype(int)
    X[10] = 1.0  # one false alarm, so that figures vary a little
    judged = evaluate(AlarmAt(), X, y, random_state=0)
    for name in ("f_measure", "kappa", "matthews", "balanced_accuracy"):
        interval = judged.estimate(name)
        assert interval.high - interval.value >= 0.27, name  # the exact bound of 0 in 10 is .31
        assert "Clopper-Pearson's for 0 of 10 rows" in interval.method


class AlarmAt(Nearest):
    """Says 1 wherever the column is 1."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_a_comparison_takes_the_difference_of_the_same_figures() -> None:
    X, y = rare(np.random.default_rng(1), 200, 20, 1.5)
    a, b = (evaluate(model, X, y, random_state=0) for model in (Nearest(), GaussianNB()))
    for name in ORACLES:
        found = compare(a, b, measure=name)
        expected = [judged.estimate(name).value for judged in (a, b)]
        assert found.values == pytest.approx(tuple(expected))
        assert found.difference == pytest.approx(expected[0] - expected[1])
        assert found.low < found.difference < found.high


@pytest.mark.parametrize("measure", ["accuracy", "nce", "quadratic_loss"])
@pytest.mark.parametrize("design", [KFold(4, repeats=2), RepeatedHoldout(5)])
def test_a_mean_over_rows_weights_all_rows_alike_in_folds_of_unequal_size(design, measure) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    groups = np.minimum(np.arange(len(y)) // 2, 120)
    judged = evaluate(GaussianNB(), X[:, :4], y, design=design, groups=groups, random_state=0)
    whole = NAMED[measure].value(judged.scored())
    assert judged.estimate(measure).value == pytest.approx(whole)
    assert judged.estimate(measure).value != pytest.approx(judged.split_values(measure).mean())
