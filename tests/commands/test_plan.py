import numpy as np
import pytest
from rich.console import Console
from scipy.special import ndtri
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from sureleaf import InvalidArgumentError, UnreachableLevelError, levels
from sureleaf.commands.plan import make_plan, plan_study, tables
from sureleaf.levels.p_max_estimates import METHODS


def test_the_lower_end_of_the_range_decides() -> None:
    assert make_plan((0.7, 0.9), confidence=0.95).rows_needed == levels.sample_size(
        0.7, confidence=0.95
    )


def test_the_rows_needed_are_the_fewest() -> None:
    found = make_plan((0.65, 0.65), confidence=0.9, utility=0.6)
    assert found.rows_needed is not None
    n = found.rows_needed
    assert levels.confidence(n, 0.65) >= 0.9
    assert levels.utility(n, 0.65) >= 0.6
    assert levels.confidence(n - 1, 0.65) < 0.9 or levels.utility(n - 1, 0.65) < 0.6


def test_levels_are_those_of_the_formulas_at_both_ends() -> None:
    found = make_plan((0.7, 0.9), rows=20)
    assert [(one.p_max, one.confidence, one.utility) for one in found.levels] == [
        (p, levels.confidence(20, p), levels.utility(20, p)) for p in (0.7, 0.9)
    ]


@pytest.mark.parametrize(
    ("rows", "said"),
    [(8, "needs 17 rows for a confidence of 0.95: 9 more."), (17, ": there are enough.")],
)
def test_the_answer_says_how_many_rows_are_missing(rows: int, said: str) -> None:
    assert make_plan((0.7, 0.7), rows=rows, confidence=0.95).answer().endswith(said)


def test_one_row_is_a_row() -> None:
    assert "needs 1 row for" in make_plan((0.75, 0.75), confidence=0.75).answer()


def test_every_estimate_has_its_rows_for_a_bias() -> None:
    found = make_plan((0.7, 0.9), bias=0.05)
    assert [one.method for one in found.biases] == list(METHODS)
    soonest = min(found.biases, key=lambda one: one.rows)
    assert found.answer().startswith(
        f"From {soonest.rows} rows on, the bias of the {soonest.method} estimate of p_max is at "
        "most 0.05"
    )


def test_an_unreachable_level_is_an_error() -> None:
    with pytest.raises(UnreachableLevelError, match=r"0\.75"):
        make_plan((0.75, 0.9), utility=0.8)


def test_negative_rows_are_an_error() -> None:
    with pytest.raises(InvalidArgumentError, match="got -1"):
        make_plan((0.75, 0.75), rows=-1)


@pytest.mark.parametrize("columns", [60, 100])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:
    console = Console(width=columns, color_system=None)
    with console.capture() as captured:
        for table in tables(make_plan((0.7, 0.9), rows=10**9, confidence=0.99, bias=0.05)):
            console.print(table)
    assert max(map(len, captured.get().splitlines())) <= columns
    assert "1,000,000,000" in captured.get()


def test_a_study_has_enough_rows_for_its_auc_slope_and_smallest_leaf():
    plan = plan_study(
        auc=0.8, prevalence=0.3, auc_width=0.05, slope_width=0.2, leaf_share=0.1, p_max=0.75
    )
    assert plan.rows == max(goal.rows for goal in plan.goals)
    rng = np.random.default_rng(0)
    n_auc, n_slope, n_leaf = (goal.rows for goal in plan.goals)
    # Normal scores with this AUC: the log odds of a calibrated model.
    variance = 2 * ndtri(0.8) ** 2
    start = np.log(0.3 / 0.7)

    def draw(n):
        y = rng.random(n) < 0.3
        odds = start + np.where(y, 1, -1) * variance / 2 + np.sqrt(variance) * rng.normal(size=n)
        return y, odds

    aucs = []
    for _ in range(400):
        y, odds = draw(n_auc)
        aucs.append(roc_auc_score(y, odds))
    assert np.mean(aucs) == pytest.approx(0.8, abs=0.01)
    assert 1.96 * np.std(aucs) == pytest.approx(0.05, rel=0.12)
    slopes = []
    for _ in range(200):
        y, odds = draw(n_slope)
        fitted = LogisticRegression(C=1e9).fit(odds[:, None], y)
        slopes.append(float(fitted.coef_[0, 0]))
    assert 1.96 * np.std(slopes) == pytest.approx(0.2, rel=0.2)
    in_leaf = rng.binomial(n_leaf, 0.1, 4000)
    assert (in_leaf >= levels.sample_size(0.75, confidence=0.95)).mean() > 0.77


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a goal"),
        ({"auc_width": 0}, "auc_width"),
        ({"auc": 0.5, "auc_width": 0.1}, "auc must be"),
        ({"auc": 1, "auc_width": 0.1}, "auc must be below 1"),
        ({"prevalence": 0, "slope_width": 0.1}, "prevalence"),
        ({"leaf_share": 2}, "leaf_share"),
    ],
)
def test_a_study_without_a_goal_or_with_bad_expectations_is_refused(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        plan_study(**options)
