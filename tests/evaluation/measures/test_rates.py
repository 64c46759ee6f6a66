"""Rates: against scikit-learn, the notes, the lecture, and where classes are missing."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from sureleaf import measures
from sureleaf.errors import InvalidArgumentError, InvalidTypeError

GENERATOR = np.random.default_rng(11)
TRUTH = GENERATOR.choice(["a", "b", "c"], 200)
PREDICTION = np.where(GENERATOR.random(200) < 0.6, TRUTH, GENERATOR.choice(["a", "b", "c"], 200))
WEIGHTS = GENERATOR.integers(0, 4, 200)

# Xu 2022, Table 1: ten objects of each of four classes
XU = np.array([[7, 2, 0, 1], [1, 8, 1, 0], [0, 0, 10, 0], [0, 1, 0, 9]])

# The lecture's models M1 and M2: rows actual +, -; columns predicted +, -
M1, M2 = np.array([[150, 40], [60, 250]]), np.array([[250, 45], [5, 200]])


def rows_of(table: np.ndarray, labels: list) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat(labels, table.sum(axis=1))
    prediction = np.concatenate([np.repeat(labels, row) for row in table])
    return truth, prediction


ORACLES = {
    "accuracy": metrics.accuracy_score,
    "error": metrics.zero_one_loss,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "kappa": metrics.cohen_kappa_score,
    "matthews": metrics.matthews_corrcoef,
}
ONE_CLASS = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f_measure": metrics.f1_score,
    "specificity": partial(metrics.recall_score, pos_label=False),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("name", ORACLES)
def test_scikit_learn_agrees_on_all_classes(name: str, weights) -> None:
    found = getattr(measures, name)(TRUTH, PREDICTION, sample_weight=weights)
    assert found == pytest.approx(ORACLES[name](TRUTH, PREDICTION, sample_weight=weights))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("positive", ["a", "b", "c"])
@pytest.mark.parametrize("name", ONE_CLASS)
def test_scikit_learn_agrees_on_one_class_against_the_rest(name, positive, weights) -> None:
    found = getattr(measures, name)(TRUTH, PREDICTION, positive=positive, sample_weight=weights)
    expected = ONE_CLASS[name](positive == TRUTH, positive == PREDICTION, sample_weight=weights)
    assert found == pytest.approx(expected)
    if name == "f_measure":
        of_beta = measures.f_measure(TRUTH, PREDICTION, beta=2.0, positive=positive)
        expected = metrics.fbeta_score(positive == TRUTH, positive == PREDICTION, beta=2.0)
        assert of_beta == pytest.approx(expected)


RATES = [*ORACLES, *ONE_CLASS, "false_positive_rate", "false_negative_rate"]


def test_the_confusion_matrix_of_the_notes_has_its_margins() -> None:
    matrix = measures.confusion_matrix(*rows_of(XU, [1, 2, 3, 4]))
    assert matrix.counts.tolist() == XU.tolist()
    assert matrix.actual.tolist() == [10, 10, 10, 10]
    assert matrix.predicted.tolist() == [8, 11, 11, 10]
    assert matrix.total == 40
    assert str(matrix).splitlines()[-1] == "sum    | 8  11  11  10 |  40"


@pytest.mark.parametrize("width", [24, 40, 80])
def test_a_confusion_matrix_keeps_to_its_width_and_shows_every_count(width: int) -> None:
    names = ["build wind float", "build wind non-float", "containers", "headlamps"]
    matrix = measures.confusion_matrix(*rows_of(XU, names))
    text = matrix.to_text(width)
    assert max(map(len, text.splitlines())) <= width
    blocks = [
        [line.split("|")[1].split() for line in block.splitlines()] for block in text.split("\n\n")
    ]
    counts = [[count for block in blocks for count in block[row]] for row in range(1, 5)]
    assert counts == [[str(count) for count in row] for row in XU.tolist()]
    assert matrix.to_text(200) == str(matrix)


def test_the_rates_of_the_lectures_models_are_its_formulas() -> None:
    truth, prediction = rows_of(M1, ["+", "-"])
    a, b, c, d = 150, 40, 60, 250
    assert measures.accuracy(truth, prediction) == pytest.approx(0.8)
    assert measures.accuracy(*rows_of(M2, ["+", "-"])) == pytest.approx(0.9)
    positive = {"positive": "+"}
    assert measures.precision(truth, prediction, **positive) == pytest.approx(a / (a + c))
    assert measures.recall(truth, prediction, **positive) == pytest.approx(a / (a + b))
    assert measures.f_measure(truth, prediction, **positive) == pytest.approx(
        2 * a / (2 * a + b + c)
    )
    assert measures.specificity(truth, prediction, **positive) == pytest.approx(d / (c + d))
    assert measures.weighted_accuracy(
        truth, prediction, weights=[1, 2, 3, 4], **positive
    ) == pytest.approx((a + 4 * d) / (a + 2 * b + 3 * c + 4 * d))


def test_the_trap_of_9990_to_10_is_seen_by_every_rate_but_accuracy() -> None:
    truth, prediction = np.repeat([0, 1], [9990, 10]), np.zeros(10_000, dtype=int)
    assert measures.accuracy(truth, prediction) == pytest.approx(0.999)
    assert measures.recall(truth, prediction) == 0.0
    assert measures.precision(truth, prediction) == 0.0
    assert measures.f_measure(truth, prediction) == 0.0
    assert measures.balanced_accuracy(truth, prediction) == 0.5
    assert measures.kappa(truth, prediction) == 0.0
    assert measures.matthews(truth, prediction) == 0.0
    three = np.repeat([0, 1, 2], [60, 30, 10])
    assert measures.matthews(three, np.zeros(100, dtype=int)) == 0.0  # not 1e-8


@pytest.mark.parametrize("name", RATES)
@pytest.mark.parametrize("prediction", [[0, 0, 0], [1, 1, 1], [0, 1, 0]])
@pytest.mark.parametrize("truth", [[0, 0, 0], [1, 1, 1]])
def test_a_class_that_never_occurs_leaves_every_rate_a_number(name, truth, prediction) -> None:
    assert 0 <= getattr(measures, name)(truth, prediction) <= 1


def test_a_declared_class_that_never_occurs_has_a_row_of_zeros() -> None:
    matrix = measures.confusion_matrix(["a"], ["a"], labels=["a", "z"])
    assert matrix.counts.tolist() == [[1, 0], [0, 0]]


def test_more_than_two_classes_need_the_positive_one_named() -> None:
    with pytest.raises(InvalidArgumentError, match="positive must name one of the classes"):
        measures.precision(TRUTH, PREDICTION)


def test_a_label_outside_the_declared_ones_is_named() -> None:
    with pytest.raises(InvalidArgumentError, match="has the label 'c' in row"):
        measures.confusion_matrix(TRUTH, PREDICTION, labels=["a", "b"])
    with pytest.raises(InvalidArgumentError, match="has the label 7 in row 1"):
        measures.confusion_matrix([0, 7], [0, 0], labels=[0, 1])


@pytest.mark.parametrize(
    ("truth", "prediction", "problem", "message"),
    [
        ([0, 1], [0], InvalidArgumentError, "truth has 2, prediction has 1"),
        ([], [], InvalidArgumentError, "at least one row"),
        (["a", "b"], [0, 1], InvalidTypeError, "same kind of labels"),
        ([0.0, np.nan], [0.0, 1.0], InvalidArgumentError, "missing labels"),
        (["a", None], ["a", "b"], InvalidArgumentError, "first in row 1"),
        ([[0, 1], [1, 0]], [0, 1], InvalidArgumentError, "one label per row"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(truth, prediction, problem, message) -> None:
    with pytest.raises(problem, match=message):
        measures.accuracy(truth, prediction)


@pytest.mark.parametrize("weights", [[1], [-1, 2], [0, 0], [np.nan, 1]])
def test_weights_that_cannot_weigh_are_refused(weights) -> None:
    with pytest.raises(InvalidArgumentError, match="sample_weight must"):
        measures.accuracy([0, 1], [0, 1], sample_weight=weights)


def test_labels_of_any_type_are_coded_alike() -> None:
    expected = measures.kappa([0, 0, 1, 2], [0, 1, 1, 2])
    for labels in (["x", "y", "z"], [-5, 900_000_000, 7], [0.5, 1.5, 2.5]):
        to = np.array(labels)
        assert measures.kappa(to[[0, 0, 1, 2]], to[[0, 1, 1, 2]]) == pytest.approx(expected)
    truth = np.array(["x", "x", "y", "z"], dtype=object)
    assert measures.kappa(truth, ["x", "y", "y", "z"]) == pytest.approx(expected)


def test_a_coefficient_of_minus_one_is_not_below_it() -> None:
    assert measures.matthews([0, 1, 1, 1, 1], [1, 0, 0, 0, 0]) == -1.0


PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=12)


@given(PAIRS)
def test_the_rates_keep_their_identities_whatever_the_rows(pairs) -> None:
    truth, prediction = np.array(pairs).T
    m = {name: getattr(measures, name)(truth, prediction) for name in RATES}
    assert m["error"] == pytest.approx(1 - m["accuracy"])
    if (truth == 0).any():
        assert m["false_positive_rate"] == pytest.approx(1 - m["specificity"])
    if (truth == 1).any():
        assert m["false_negative_rate"] == pytest.approx(1 - m["recall"])
    both = m["precision"] + m["recall"]
    harmonic = 2 * m["precision"] * m["recall"] / both if both else 0.0
    assert m["f_measure"] == pytest.approx(harmonic)
    for name, value in m.items():
        assert -1 <= value <= 1, name
    assert m["kappa"] <= 1
    if len(set(truth)) == 2:
        expected = (m["recall"] + m["specificity"]) / 2
        assert m["balanced_accuracy"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("labels", "positive"), [([0, 1, 1], "1"), (["0", "1", "1"], 1), ([False, True], "True")]
)
def test_a_positive_class_of_another_kind_is_refused(labels, positive) -> None:
    """None of the labels can equal it: every rate would be 0."""
    for rate in (measures.recall, measures.precision):
        with pytest.raises(InvalidTypeError, match="same kind of label"):
            rate(labels, labels, positive=positive)
    for area in (measures.auc, measures.average_precision):
        with pytest.raises(InvalidTypeError, match="same kind of label"):
            area(labels, np.arange(len(labels)), positive=positive)


def test_labels_at_the_ends_of_their_type_are_counted() -> None:
    labels = np.array([-128, 127, 127], dtype=np.int8)
    assert measures.confusion_matrix(labels, labels).counts.tolist() == [[1, 0], [0, 2]]
    large = np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)
    assert measures.confusion_matrix(large, large).counts.tolist() == [[1, 0], [0, 1]]


def test_labels_of_mixed_types_are_refused_in_words() -> None:
    mixed = np.array(["a", 1, "a"], dtype=object)
    with pytest.raises(InvalidTypeError, match="different types"):
        measures.confusion_matrix(mixed, mixed)
