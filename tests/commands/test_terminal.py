import io
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sureleaf import TreeClassifier, audit, compare, evaluate
from sureleaf.commands.terminal import (
    interval_bar,
    show_audit,
    show_certificate,
    show_comparison,
    show_evaluation,
    show_guaranteed,
    show_leaves,
    show_report,
)
from sureleaf.designs import Bootstrap, KFold
from sureleaf.formatting import NOTHING
from sureleaf.report.audit_report import audit_answer
from tests.report.tables import mixed, quick_report, three_classes


def printed(shown: Any, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(*shown, sep="\n")
    return out.getvalue()


def shown_audit(found: Any, width: int) -> str:
    return printed(show_audit(found, audit_answer(found)), width)


@pytest.fixture(scope="module")
def repeated() -> Any:
    X, y = three_classes()
    return evaluate(TreeClassifier(), X, y, design=KFold(5, repeats=3), random_state=0)


def test_a_narrow_terminal_drops_bars_and_never_cuts_a_value(repeated: Any) -> None:
    summary = repeated.summary()
    wide, narrow = (printed(show_evaluation(repeated, summary), width) for width in (120, 60))
    for name, one in summary.estimates.items():
        line = f"{one.value:.4f}  {one.low:.4f} to {one.high:.4f}"
        for text in (wide, narrow):
            assert next(row for row in text.splitlines() if row.startswith(f" {name} ")).count(line)
    assert "●" in wide
    assert "●" not in narrow
    assert "…" not in narrow


def test_a_confusion_matrix_of_repeats_says_that_every_prediction_counts(repeated: Any) -> None:
    text = printed(show_evaluation(repeated, repeated.summary()), 80)
    assert "450" in text
    assert "Each row was predicted 3 times, and every prediction counts." in text
    once = evaluate(TreeClassifier(), *three_classes(), design=KFold(5), random_state=0)
    assert "every prediction counts" not in printed(show_evaluation(once, once.summary()), 80)


def test_a_confusion_matrix_is_not_wrapped() -> None:
    X, y = three_classes()
    names = np.array([f"a rather long name of class {label}" for label in range(3)])
    judged = evaluate(TreeClassifier(), X, names[np.unique(y, return_inverse=True)[1]], n_jobs=1)
    lines = printed(show_evaluation(judged, judged.summary()), 80).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("actual"))
    assert [line.count("|") for line in lines[start : start + 5]] == [2] * 5
    assert lines[start].split() == ["actual", "|", "1", "2", "3", "|", "sum"]


def test_an_accuracy_that_is_not_that_of_the_matrix_says_why() -> None:
    generator = np.random.default_rng(3)
    X, y = generator.normal(size=(63, 2)), generator.random(63) < 0.3
    judged = evaluate(GaussianNB(), X, y, design=Bootstrap(20), random_state=0)
    confusion = judged.confusion()
    correct = np.trace(confusion.counts) / confusion.total
    text = " ".join(printed(show_evaluation(judged, judged.summary()), 80).split())
    assert f"{100 * correct:.1f} % of the predictions in the matrix are correct." in text
    reason = "a mean over rows, which were not predicted equally often"
    assert f"The accuracy above is {reason}." in text


def test_a_cost_is_that_of_the_predictions_which_may_be_decisions() -> None:
    X, y = mixed()
    cost = [[0, 5], [1, 0]]
    judged = evaluate(TreeClassifier(cost=cost), X, y, cost=cost, random_state=0)
    summary = judged.summary()
    assert summary.estimates["cost"].value == summary.estimates["decided_cost"].value
    text = " ".join(printed(show_evaluation(judged, summary), 80).split())
    assert "cost (of the predictions)" in text
    assert "most probable class" not in text


def test_an_undefined_measure_is_called_undefined() -> None:
    X, y = np.zeros((60, 1)), (np.arange(60) < 20).astype(int)
    judged = evaluate(DummyClassifier(), X, y, random_state=0)
    text = printed(show_evaluation(judged, judged.summary()), 80)
    line = next(line for line in text.splitlines() if line.startswith(" precision"))
    assert line.split() == ["precision", NOTHING, "undefined"]
    assert "precision is undefined: no row is predicted as the positive class" in text


def test_leaves_and_comparisons_fit_60_columns(repeated: Any) -> None:
    X, y = mixed()
    model = TreeClassifier.c45(random_state=0).fit(X, y)
    leaves = model.leaves()
    text = printed(show_leaves(model, leaves, 0.95), 60)
    for line in range(len(leaves)):
        needed = leaves.rows_needed[line]
        told = "?" if np.isnan(needed) else f"{needed:,.0f}"
        shown = f"{leaves.confidence[line]:.2f}     {leaves.utility[line]:.2f}"
        assert any(
            row.endswith(told) and shown in row for row in map(str.rstrip, text.splitlines())
        )
    assert "Too narrow here to show: 95 %" in text
    assert "Too narrow" not in printed(show_leaves(model, leaves, 0.95), 100)
    found = compare(repeated, repeated)
    assert "…" not in printed(show_comparison(found), 60)


@pytest.mark.parametrize("width", [60, 80])
def test_certificates_and_audits_show_every_number_whole(width: int) -> None:
    X, y = three_classes()
    names = np.array(["build wind float", "build wind non-float", "headlamps"])
    y = names[np.unique(y, return_inverse=True)[1]]
    model = TreeClassifier(levels_from="honest", random_state=0).fit(X[:80], y[:80])
    certificate = model.certificate()
    text = printed(show_certificate(certificate), width)
    for low, high in zip(certificate.leaves.low, certificate.leaves.high, strict=True):
        assert f" {low:.3f}-{high:.3f} " in text
    result = audit(model, X[80:], y[80:])
    shown = shown_audit(result, width)
    for low, high in zip(result.table.low, result.table.high, strict=True):
        assert f" {low:.2f}-{high:.2f} " in shown
    assert "build wind" in text
    assert "build wind" in shown
    assert "…" not in text + shown


def _guaranteed(confidence: float, *, cost: Any = None) -> str:
    X, y = mixed()
    model = TreeClassifier(levels_from="honest", cost=cost, random_state=0).fit(X, y)
    leaves = model.leaves(guarantee="simultaneous", confidence=confidence)
    at_costs = cost is not None
    shown = show_guaranteed(leaves, 100, 0.95, confidence, at_costs=at_costs)
    return " ".join(printed(shown, 100).split())


def test_guarantees_at_costs_speak_of_decisions() -> None:
    text = _guaranteed(0.95, cost=[[0, 5], [1, 0]])
    assert "cheapest decision" in text
    assert " decides " in text
    assert "class;" not in text
    assert "its class" not in text
    assert "majority class" in _guaranteed(0.95)


def test_a_leaf_that_is_proven_but_not_certified_has_an_explanation() -> None:
    X, y = mixed()
    model = TreeClassifier(levels_from="honest", random_state=0).fit(X, y)
    leaves = model.leaves(guarantee="simultaneous")
    largest = float((1.0 - leaves.confidence).max())
    assert 0.0 < largest < 0.5
    explained = "A certificate with --alpha"
    assert explained in _guaranteed(1.0 - 1.5 * largest)
    assert explained not in _guaranteed(1.0 - 0.999)
    certificate = printed(show_certificate(model.certificate()), 100)
    assert "A leaf is certified if p is at most 0.025" in certificate


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_answer_of_a_report_is_whole_at_any_width(width: int) -> None:
    report = quick_report(*mixed())
    text = " ".join(printed(show_report(report.document), width).split())
    for sentence in report.sentences:
        assert " ".join(sentence.split()) in text


def test_a_bar_has_the_width_asked_for_and_its_value_inside() -> None:
    bar = interval_bar(-5.0, 0.9, 5.0, scale=(0.0, 1.0), width=20)
    assert len(bar) == 20
    assert bar[0] == "├"
    assert bar[-1] == "┤"
    assert bar.index("●") == 17


def test_an_audit_says_how_stated_probabilities_of_0_or_1_count() -> None:
    _, y = mixed()
    numbers = np.arange(len(y), dtype=float)[:, np.newaxis]
    tree = DecisionTreeClassifier(random_state=0).fit(numbers[::2], y[::2])
    text = " ".join(shown_audit(audit(tree, numbers[1::2], y[1::2]), 80).split())
    assert "rows have a stated probability of 0 or 1, taken as" in text
