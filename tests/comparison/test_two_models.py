"""compare: the test follows from the design, and what cannot be compared is refused."""

import html
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, t
from sklearn.base import BaseEstimator, ClassifierMixin

from sureleaf.comparison import compare, compare_rates, mcnemar, paired_t, two_models
from sureleaf.comparison.plain_numbers import auc_difference
from sureleaf.comparison.two_models import difference_of_estimates
from sureleaf.comparison.verdict import deciding_half_width, detecting_half_width
from sureleaf.designs import Bootstrap, Holdout, KFold, LeaveOneOut, RepeatedHoldout
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.boundary_variance import row_influences, variance_of_influences
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.evaluation.intervals import Estimate, corrected_resampled
from sureleaf.evaluation.measures.named import NAMED
from sureleaf.levels.intervals import clopper_pearson


class Midpoint(ClassifierMixin, BaseEstimator):
    """One column, split half-way between the class means; a logistic of the distance."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> "Midpoint":
        self.classes_ = np.unique(y)
        self.cut_ = np.mean([X[y == label, self.column].mean() for label in self.classes_[:2]])
        return self

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(-2 * (X[:, self.column] - self.cut_)))
        return np.column_stack([1 - p, p])

    def predict(self, X: Any) -> Any:
        return self.classes_[(X[:, self.column] > self.cut_).astype(int)]


def table(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.5).astype(int)
    return rng.normal(size=(n, 3)) + y[:, None] * [2.0, 0.5, 2.0], y


X, Y = table()


def judged(column: int, design: Any, **options: Any) -> Evaluation:
    options = {"random_state": 0, **options}
    return evaluate(Midpoint(column), X, Y, design=design, **options)


def pair(design: Any, second: int = 1, **options: Any) -> tuple[Evaluation, Evaluation]:
    return judged(0, design, **options), judged(second, design, **options)


def discordant(a: Evaluation, b: Evaluation, rows: Any = slice(None)) -> tuple[int, int]:
    """Count the rows that one of two models alone predicts correctly."""
    told = [(each.predictions.truth == each.predictions.prediction)[rows] for each in (a, b)]
    return int((told[0] & ~told[1]).sum()), int((told[1] & ~told[0]).sum())


def test_one_hold_out_is_mcnemar_of_its_rows() -> None:
    a, b = pair(Holdout())
    expected, found = mcnemar(*discordant(a, b), len(a.row)), compare(a, b)
    assert (found.difference, found.p_value) == (expected.difference, expected.p_value)
    assert (found.low, found.high) == (expected.low, expected.high)
    exact = binomtest(discordant(a, b)[0], sum(discordant(a, b))).pvalue
    assert compare(a, b, method="mcnemar_exact").p_value == pytest.approx(exact, rel=1e-12)
    assert found.question == "model"
    assert found.verdict == "better"
    assert found.n_rows == 100


def test_recall_is_mcnemar_of_the_rows_of_its_class() -> None:
    a, b = pair(Holdout())
    found = compare(a, b, measure="recall")
    positives = a.predictions.truth == 1
    expected = mcnemar(*discordant(a, b, positives), int(positives.sum()))
    assert (found.low, found.high) == (expected.low, expected.high)


def test_auc_of_two_models_is_delong() -> None:
    a, b = pair(Holdout())
    scores = [x.predictions.probabilities[:, 1] for x in (a, b)]
    expected = auc_difference(a.predictions.truth == 1, *scores)
    found = compare(a, b, measure="auc")
    assert (found.low, found.high, found.method) == (expected.low, expected.high, "DeLong")


@pytest.mark.parametrize(
    ("measure", "start"),
    [
        ("precision", "paired bootstrap"),
        ("f_measure", "paired bootstrap"),
        ("quadratic_loss", "paired t over rows"),
        ("nce", "paired t over rows"),
    ],
)
def test_other_measures_have_a_test_too(measure: str, start: str) -> None:
    a, b = pair(Holdout())
    found = compare(a, b, measure=measure)
    assert found.method.startswith(start)
    assert found.verdict == "better"
    difference = a.estimate(measure).value - b.estimate(measure).value
    assert found.difference == pytest.approx(difference)


@pytest.mark.parametrize("design", [KFold(10), KFold(5, repeats=3), RepeatedHoldout(8)])
def test_splits_are_compared_by_the_corrected_t(design: Any) -> None:
    a, b = pair(design)
    gaps = a.split_values("accuracy") - b.split_values("accuracy")
    first, second = (row_influences(one, NAMED["accuracy"]) for one in (a, b))
    least = variance_of_influences(a, first - second)
    expected = corrected_resampled(gaps, test_to_train=a.test_to_train, least_variance=least)
    found = compare(a, b)
    assert (found.low, found.high, found.p_value) == (expected.low, expected.high, expected.p_value)
    assert found.question == "algorithm"
    assert found.n_rows == 300


@pytest.mark.parametrize("design", [Bootstrap(20), LeaveOneOut()])
def test_every_design_can_be_compared(design: Any) -> None:
    found = compare(*pair(design))
    assert found.verdict == "better"
    assert found.low < found.difference < found.high


def test_the_lecture_test_is_there_with_its_warning() -> None:
    a, b = pair(KFold(10))
    found = compare(a, b, method="paired_t")
    assert found.high - found.low < compare(a, b).high - compare(a, b).low
    assert "share training rows" in found.sentence


@pytest.mark.parametrize("design", [Holdout(), KFold(10)])
@pytest.mark.parametrize("measure", ["accuracy", "auc", "f_measure", "quadratic_loss"])
def test_a_classifier_is_equivalent_to_itself_but_not_on_too_few_rows(design, measure) -> None:
    a = judged(0, design)
    found = compare(a, a, measure=measure, margin=0.3)
    assert (found.difference, found.p_value, found.verdict) == (0.0, 1.0, "equivalent")
    assert found.low < 0 < found.high
    assert compare(a, a, measure=measure, margin=0.001).verdict == "undecided"
    assert compare(a, a, measure=measure).verdict == "undecided"


def test_two_that_never_differed_have_the_exact_bound() -> None:
    a = judged(0, KFold(10))
    assert compare(a, a).high == pytest.approx(clopper_pearson(0, 300).high)


def test_the_margin_decides_between_better_and_equivalent() -> None:
    a, b = pair(KFold(10))
    assert compare(a, b, margin=0.01).verdict == "better"
    assert compare(a, b, margin=0.9).verdict == "equivalent"
    assert compare(a, b, margin=compare(a, b).difference).verdict == "undecided"


def test_undecided_says_how_many_more_rows_would_help() -> None:
    a, b = pair(KFold(10), second=2)
    found = compare(a, b, margin=0.01)
    assert found.verdict == "undecided"
    assert found.rows_needed > 300
    assert f"{found.rows_needed - 300:,} more" in found.sentence
    assert "with a power of 80 %, if the observed difference is the true one" in found.sentence
    power = compare(a, b)
    assert "a true difference of 1 percentage point with a power of 80 %" in power.sentence
    assert compare(a, b, detect=0.02).rows_needed == pytest.approx(power.rows_needed / 4, rel=0.01)


def test_rows_for_costs_are_planned_for_a_difference_that_the_sentence_explains() -> None:
    cost = [[0, 1], [5, 0]]
    a, b = pair(KFold(10), second=2, cost=cost)
    found = compare(a, b, measure="decided_cost")
    assert found.verdict == "undecided"
    assert found.detect == pytest.approx(0.01 * np.where(a.truth == 0, 1.0, 5.0).mean())
    assert "(1 % of what a wrong decision costs on average) with a power" in found.sentence
    equal, plain = pair(KFold(10), second=2, cost=[[0, 1], [1, 0]])
    assert compare(equal, plain, measure="cost").detect == pytest.approx(0.01)
    of_loss = compare(a, b, measure="nce")
    assert of_loss.detect == pytest.approx(0.01 * of_loss.values[1])


def test_repeats_help_until_the_rows_are_the_limit() -> None:
    a, b = pair(KFold(10), second=2)
    found = compare(a, b)
    half_width = (found.high - found.low) / 2
    per_detect = detecting_half_width(1.0, 0.95)
    easier, harder = (compare(a, b, detect=k * half_width / per_detect) for k in (0.9, 0.1))
    assert 1 < easier.repeats_needed < 100
    assert f"or {easier.repeats_needed} repeats" in easier.sentence
    assert harder.repeats_needed is None
    same = compare(a, a)  # never differ: only rows shorten the interval
    assert same.rows_needed is not None
    assert same.repeats_needed is None
    assert "repeats" not in same.sentence
    # repeats do not narrow the interval of a measure that moves with the decision boundary
    assert compare(a, b, measure="recall", detect=0.5).repeats_needed is None


def test_other_rows_are_refused_unless_independent() -> None:
    a = judged(0, Holdout())
    other_x, other_y = table(240, seed=5)
    b = evaluate(Midpoint(1), other_x, other_y, design=Holdout(), random_state=0)
    with pytest.raises(InvalidArgumentError, match=r"different rows.*independent=True"):
        compare(a, b)
    found = compare(a, b, independent=True)
    rates = [x.estimate("accuracy").value for x in (a, b)]
    expected = compare_rates(rates[0], 100, rates[1], len(b.row), pooled=True)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.method.startswith("z, pooled")
    assert found.n_rows == 100 + len(b.row)
    assert compare(a, b, independent=True, method="z").method == "z, unpooled"


@pytest.mark.parametrize("design", [Holdout(), KFold(10)])
@pytest.mark.parametrize("measure", ["auc", "quadratic_loss", "f_measure"])
def test_independent_rows_of_any_measure(design: Any, measure: str) -> None:
    a = judged(0, design)
    b = evaluate(Midpoint(1), *table(240, seed=5), design=design, random_state=0)
    found = compare(a, b, measure=measure, independent=True)
    assert found.method.startswith("z from both intervals")
    assert found.low < found.difference < found.high
    assert found.verdict == "better"


def test_other_splits_of_the_same_rows_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="same design and random_state"):
        compare(judged(0, KFold(10)), judged(1, KFold(5)))
    with pytest.raises(InvalidArgumentError, match="same design and random_state"):
        compare(judged(0, KFold(10)), judged(1, KFold(10), random_state=1))
    with pytest.raises(InvalidArgumentError, match="different rows of the same table"):
        compare(judged(0, Holdout()), judged(1, Holdout(), random_state=1))


@pytest.mark.parametrize(
    ("options", "measure", "name"),
    [
        ({"sample_weight": np.arange(300) % 3 + 1.0}, "accuracy", "different sample_weight"),
        ({"cost": [[0, 1], [5, 0]]}, "cost", "different costs"),
    ],
)
def test_other_weights_or_costs_are_refused(options, measure, name) -> None:
    first = judged(0, Holdout(), cost=[[0, 1], [4, 0]])
    with pytest.raises(InvalidArgumentError, match=name):
        compare(first, judged(1, Holdout(), **options), measure=measure)


def test_weights_and_groups_go_to_the_bootstrap() -> None:
    weighted = pair(Holdout(), sample_weight=np.arange(300) % 3 + 1.0)
    assert compare(*weighted).method == "paired bootstrap"
    with pytest.raises(InvalidArgumentError, match="bootstrap"):
        compare(*weighted, method="mcnemar")
    grouped = pair(Holdout(), groups=np.arange(300) // 3)
    assert compare(*grouped).method == "paired bootstrap of groups"


def test_the_positive_class_must_be_the_same() -> None:
    with pytest.raises(InvalidArgumentError, match="positive"):
        compare(judged(0, Holdout()), judged(1, Holdout(), positive=0))


def test_a_fold_that_failed_for_one_is_left_out_for_both() -> None:
    class FailsWithoutFirstRow(Midpoint):
        def fit(self, X: Any, y: Any) -> "FailsWithoutFirstRow":
            if X[0, 0] != first_value:
                raise ValueError("the first row is in the test part")
            super().fit(X, y)
            return self

    first_value = X[0, 0]
    b = evaluate(FailsWithoutFirstRow(1), X, Y, design=KFold(10), random_state=0)
    assert len(b.worked) == 9
    assert compare(judged(0, KFold(10)), b).method == "corrected resampled t over 9 splits"


def test_infinite_losses_are_refused_with_a_way_out() -> None:
    a, b = pair(Holdout())
    impossible = a.probabilities.copy()
    impossible[0] = np.eye(2)[1 - a.truth[a.row[0]]]
    with pytest.raises(InvalidArgumentError, match="quadratic_loss"):
        compare(replace(a, probabilities=impossible), b, measure="nce")


def test_leave_one_out_has_no_auc_of_one_row() -> None:
    with pytest.raises(InvalidArgumentError, match="one row"):
        compare(*pair(LeaveOneOut()), measure="auc")


@pytest.mark.parametrize(
    "options", [{"margin": -0.1}, {"margin": np.nan}, {"margin": "1%"}, {"detect": 0.0}]
)
def test_bad_questions_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{next(iter(options))} must be a number"):
        compare(*pair(Holdout()), **options)


def test_numbers_are_refused_with_where_to_go() -> None:
    with pytest.raises(InvalidTypeError, match="compare_rates"):
        compare(0.9, 0.8)  # type: ignore[arg-type]


def test_it_prints_as_a_sentence_and_as_html() -> None:
    found = compare(*pair(Holdout()))
    assert str(found).startswith(
        "Midpoint() is better than Midpoint(column=1): accuracy 83.0 % against 61.0 %, 22.0 "
    )
    assert found._repr_html_() == f"<p>{html.escape(found.sentence)}</p>"
    assert repr(found).startswith("Comparison(better: accuracy +0.")


def test_the_same_rows_with_other_columns_are_pairs() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = rng.normal(size=(200, 2)) + y[:, None]
    a, b = (evaluate(Midpoint(), rows, y, random_state=0) for rows in (X, X[:, 1:]))
    assert a.rows_id == b.rows_id
    assert compare(a, b).method == "corrected resampled t over 10 splits"


class Says(ClassifierMixin, BaseEstimator):
    """The class that stands in a column of the row, with a probability of .9."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> "Says":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.where(X[:, [self.column]] == self.classes_, 0.9, 0.1)

    def predict(self, X: Any) -> Any:
        return self.classes_[X[:, self.column].astype(int)]


TRUTH = np.arange(60) % 2
TOLD = np.column_stack([TRUTH, 1 - TRUTH])


@pytest.mark.parametrize("options", [{}, {"groups": np.arange(60) // 3}])
@pytest.mark.parametrize("design", [Holdout(), KFold(10), RepeatedHoldout(5), Bootstrap(10)])
@pytest.mark.parametrize("measure", ["accuracy", "quadratic_loss", "nce", "cost", "f_measure"])
def test_always_right_is_better_than_always_wrong(design, measure: str, options) -> None:
    """Every row, group and split differs alike: no spread, and yet no doubt."""
    options = {"cost": [[0, 1], [1, 0]], "random_state": 0, **options}
    right, wrong = (evaluate(Says(k), TOLD, TRUTH, design=design, **options) for k in (0, 1))
    found = compare(right, wrong, measure=measure)
    assert found.verdict == "better"
    assert found.low < found.high
    assert found.low <= found.difference <= found.high
    assert found.p_value < 0.05
    assert compare(wrong, right, measure=measure).verdict == "worse"


def test_a_difference_that_never_varied_has_the_exact_bound() -> None:
    right, wrong = (
        evaluate(Says(k), TOLD, TRUTH, design=Bootstrap(5), random_state=0) for k in (0, 1)
    )
    found = compare(right, wrong, measure="error")
    # So many rows may differ, by 2 at the most.
    share = clopper_pearson(0, len(np.unique(right.row))).high
    assert (found.low, found.high) == pytest.approx((-1.0, -1.0 + 2 * share))
    assert "never varied" in found.method


@pytest.mark.parametrize("size", [0.02, 0.038, 0.2, 0.3])
def test_the_p_value_of_a_constant_difference_is_the_alpha_whose_interval_ends_at_0(size) -> None:
    truth = np.arange(100) % 2
    told = np.column_stack([1 - truth, truth])
    right = evaluate(Says(), told, truth, design=Holdout(test=0.5), random_state=0)
    steady = paired_t([0.0, 0.0])
    steady = replace(steady, difference=size, low=size, high=size)
    first = two_models._with_width(steady, right, NAMED["accuracy"])
    assert 0 < first.p_value < 1
    at_p = two_models._with_width(
        replace(steady, level=1 - first.p_value), right, NAMED["accuracy"]
    )
    assert at_p.low == pytest.approx(0, abs=1e-9)
    assert (first.low > 0) == (first.p_value < 0.05)


@pytest.mark.parametrize("measure", ["nce", "cost"])
def test_losses_without_a_bound_keep_a_width(measure: str) -> None:
    a = evaluate(Says(), TOLD, TRUTH, design=KFold(5), cost=[[0, 1], [7, 0]], random_state=0)
    alone, both = a.estimate(measure), compare(a, a, measure=measure)
    span = {"nce": np.log(9), "cost": 7.0}[measure]
    bound = clopper_pearson(0, 60).high * span
    assert (alone.low, alone.high) == pytest.approx((alone.value, alone.value + bound))
    assert (both.low, both.high) == pytest.approx((-bound, bound))


def test_the_statistic_of_two_estimates_is_their_difference_in_standard_errors() -> None:
    first, second = Estimate(0.9, 0.87, 0.93, 0.95, "t"), Estimate(0.8, 0.76, 0.84, 0.95, "t")
    test = difference_of_estimates(first, second, "accuracy")
    assert test.standard_error == pytest.approx(0.05 / 1.959964, rel=1e-6)
    assert test.statistic == pytest.approx(2 * 1.959964, rel=1e-6)


def test_an_interval_wider_than_the_normal_one_needs_more_rows_for_a_verdict() -> None:
    test = mcnemar(30, 10, 200)
    wide = replace(test, low=-3.0 * test.standard_error, high=3.0 * test.standard_error)
    # The half-width is q errors, of which the difference lies q + .8416 beyond the margin; fewer
    # errors are allowed if the width is an estimate, as a quantile of Student's t says.
    reach = 1.959964 * test.standard_error
    normal = deciding_half_width(0.06, 0.01, replace(test, low=-reach, high=reach))
    assert normal == pytest.approx(1.959964 * 0.05 / (1.959964 + 0.8416212), rel=1e-6)
    assert deciding_half_width(0.06, 0.01, wide) < 3.0 * 0.05 / (3.0 + 0.8416212)


def test_folds_of_separate_tables_are_about_the_algorithm() -> None:
    b = evaluate(Midpoint(1), *table(240, seed=5), design=KFold(5), random_state=0)
    found = compare(judged(0, KFold(5)), b, independent=True)
    assert (found.question, found.n_rows) == ("algorithm", 540)


def test_a_bound_for_groups_counts_groups() -> None:
    options = {"design": KFold(5), "groups": np.arange(60) // 3, "random_state": 0}
    a, b = (evaluate(Says(), TOLD, TRUTH, **options) for _ in range(2))
    assert compare(a, b).method.endswith("bound of 0 in 20 groups")
    assert "bound of 0 in 20 groups)" in compare(a, b).sentence


def test_without_a_margin_repeats_are_planned_for_the_difference_to_detect() -> None:
    a, b = pair(KFold(10), second=2)
    found = compare(a, b, detect=0.11)

    def half_width(repeats: int) -> float:
        splits = 10 * repeats
        return float(t.ppf(0.975, splits - 1)) * found.over_splits.of_mean(splits) ** 0.5

    needed = found.repeats_needed
    assert half_width(needed) <= detecting_half_width(0.11, 0.95) < half_width(needed - 1)
