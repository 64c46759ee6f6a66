"""Reliability diagrams, ROC curves, learning curves, differences and ranks."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import sureleaf
from sureleaf import InvalidArgumentError, plots
from tests.plots.conftest import X, Y
from tests.plots.drawing import assert_texts_do_not_overlap, drawn


def test_reliability_has_the_bins_of_the_calibration_curve(evaluations):
    curve = evaluations["Bayes"].calibration(n_bins=8)
    display = drawn(plots.ReliabilityDisplay.from_evaluation(evaluations["Bayes"], n_bins=8))
    assert display.observed.tolist() == curve.observed.tolist()
    assert display.outside.sum() == curve.outside
    rows = evaluations["Bayes"].predictions
    again = plots.ReliabilityDisplay.from_predictions(rows.truth, rows.probabilities, n_bins=8)
    assert again.stated == pytest.approx(curve.stated)


def test_roc_has_the_curves_and_areas_of_the_evaluations(evaluations):
    display = drawn(plots.RocDisplay.from_evaluations(evaluations))
    for name, evaluation in evaluations.items():
        assert display.areas[name].value == evaluation.estimate("auc").value
        assert display.curves[name].area == evaluation.roc().area
    assert [line.get_label() for line in display.ax_.lines][1:] == list(evaluations)
    assert_texts_do_not_overlap(display)
    assert list(plots.RocDisplay.from_evaluation(evaluations["tree"]).curves) == [
        evaluations["tree"].estimator
    ]


def test_roc_of_labels_and_scores_is_that_of_the_evaluation():
    design = sureleaf.designs.Holdout()
    evaluation = sureleaf.evaluate(GaussianNB(), X, Y, design=design, random_state=0)
    rows = evaluation.predictions
    for scores in (rows.probabilities, rows.probabilities[:, 1]):
        display = drawn(plots.RocDisplay.from_predictions(rows.truth, scores, name="Bayes"))
        assert display.areas["Bayes"].low == pytest.approx(evaluation.estimate("auc").low)
        assert display.curves["Bayes"].area == evaluation.roc().area
    assert "Unseen rows" not in display.ax_.texts[0].get_text()
    other = plots.RocDisplay.from_predictions(rows.truth, -scores, positive=0)
    assert other.curves["predictions"].area == pytest.approx(display.curves["Bayes"].area)


def test_roc_wants_one_positive_class(evaluations):
    other = sureleaf.evaluate(GaussianNB(), X, Y, positive=0, random_state=0)
    with pytest.raises(InvalidArgumentError, match="one positive class"):
        plots.RocDisplay.from_evaluations({"one": evaluations["Bayes"], "other": other})


def test_a_learning_curve_has_its_points_and_law():
    schedule = sureleaf.Geometric(30, 2)
    curve = sureleaf.learning_curve(GaussianNB(), X, Y, schedule=schedule, random_state=0)
    display = drawn(plots.LearningCurveDisplay.from_curve(curve))
    assert display.values == pytest.approx(curve.means)
    assert display.law == pytest.approx(curve.predict(display.further)[0])
    assert_texts_do_not_overlap(display)
    short = sureleaf.learning_curve(
        GaussianNB(), X, Y, schedule=sureleaf.Arithmetic(100, 200), random_state=0
    )
    few = drawn(plots.LearningCurveDisplay.from_curve(short))
    assert (len(few.further) > 0) == (len(short.sizes) >= 3)


def test_comparisons_show_difference_interval_and_verdict(evaluations):
    found = sureleaf.compare(evaluations["Bayes"], evaluations["tree"], margin=0.01)
    display = drawn(plots.ComparisonDisplay.from_comparison(found, name="Bayes - tree"))
    ends = [display.difference[0], display.low[0], display.high[0]]
    assert ends == [found.difference, found.low, found.high]
    assert display.verdicts == [found.verdict]
    low, high = display.ax_.get_xlim()
    assert low < min(found.low, -0.01)
    assert high > max(found.high, 0.01)
    other = sureleaf.compare(evaluations["Bayes"], evaluations["tree"], margin=0.05)
    with pytest.raises(InvalidArgumentError, match="one measure, margin and level"):
        plots.ComparisonDisplay.from_comparisons({"one": found, "other": other})


def test_ranks_join_what_does_not_differ():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 4)) + np.array([2.0, 1.8, 0.5, 0.0])
    found = sureleaf.compare_many(scores, names=["a", "b", "c", "d"])
    display = drawn(plots.RanksDisplay.from_comparison(found))
    assert display.names == list(found.names)
    spans = [(display.names[first], display.names[last]) for first, last in display.groups]
    assert spans == [(group[0], group[-1]) for group in found.groups if len(group) > 1]
    for first, last in display.groups:
        assert display.ranks[last] - display.ranks[first] <= found.critical_difference
    assert_texts_do_not_overlap(display)
