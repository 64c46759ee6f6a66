"""Is one classifier better than another? The test follows from the design and the question."""

import math
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from sureleaf.arguments import check_level
from sureleaf.comparison.independent_samples import compare_independent
from sureleaf.comparison.paired_models import compare_models
from sureleaf.comparison.paired_resamples import compare_algorithms, hidden_variance, repeats_until
from sureleaf.comparison.verdict import (
    Comparison,
    DifferenceTest,
    conclude,
    sentence,
    width_that_finds,
)
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation import Evaluation
from sureleaf.evaluation.degenerate_intervals import NO_WIDTH, bound_without_spread
from sureleaf.evaluation.estimates import figures_of_splits
from sureleaf.evaluation.measures.named import Measure

__all__ = ["compare"]


def compare(
    a: Evaluation,
    b: Evaluation,
    *,
    measure: str | Measure = "accuracy",
    margin: float = 0.0,
    level: float = 0.95,
    independent: bool = False,
    detect: float | None = None,
    method: str | None = None,
) -> Comparison:
    """Say whether one classifier is better than another, by the test that fits the design.

    One hold-out, the same test rows: which of these two *models* is better (McNemar for rates,
    DeLong for AUC, t or the paired bootstrap for the rest). The same folds, repeats or bootstraps:
    which *algorithm* is better (corrected resampled t). Other rows: refused, unless they are
    independent (z).

    Parameters
    ----------
    a, b : Evaluation
        Of `sureleaf.evaluate`, with the same rows, design and random_state. Rows are known by
        their labels (`Evaluation.rows_id`): the columns may differ.
    measure : str or Measure, default="accuracy"
        What to compare; see `Evaluation.estimate`.
    margin : float, default=0.0
        Differences up to this size count as none: "better" and "worse" then mean by more than
        the margin, and "equivalent" becomes possible.
    level : float, default=0.95
        Level of the interval; a verdict is wrong with a probability of at most 1 - level.
    independent : bool, default=False
        The two were judged on rows that have nothing in common.
    detect : float, optional
        The difference worth finding, for ``rows_needed`` without a margin. By default .01 for
        measures between 0 and 1, else 1 % of the second's value.
    method : str, optional
        Another valid test: "mcnemar_exact" or "bootstrap" for models, "paired_t" (the lecture's,
        which finds too much) or "5x2cv_f" for algorithms, "z" (unpooled) for independent rows.

    Returns
    -------
    Comparison
        ``difference, low, high, p_value, method, verdict, rows_needed``; prints as a sentence.

    Raises
    ------
    InvalidArgumentError
        If no test is valid for the two evaluations; the message says why and what to do.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.dummy import DummyClassifier
    >>> from sureleaf.evaluation import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bayes, most_frequent = (
    ...     evaluate(model, X, y, random_state=0) for model in (GaussianNB(), DummyClassifier())
    ... )
    >>> found = compare(bayes, most_frequent)
    >>> found.verdict, found.method
    ('better', 'corrected resampled t over 10 splits')
    """
    check_level(level)
    if not 0 <= margin < np.inf or (detect is not None and not 0 < detect < np.inf):
        raise InvalidArgumentError(
            f"margin must be 0 or more and detect above 0; got {margin!r} and {detect!r}."
        )
    found = _common_measure(a, b, measure)
    question, test = _test(a, b, found, level, method, independent)
    test = _never_empty(test, a, found)
    n_rows = sum(_n_rows(judged, question) for judged in ((a, b) if independent else (a,)))
    values = (_value(a, found), _value(b, found))
    if detect is None:
        detect = 0.01 if np.isfinite([found.low, found.high]).all() else 0.01 * abs(values[1])
    target = margin if margin > 0 else width_that_finds(detect, level)
    result = conclude(
        test,
        found,
        question=question,
        values=values,
        n_rows=n_rows,
        margin=margin,
        detect=detect,
    )
    if question == "algorithm":
        hidden = 0.0 if independent else hidden_variance(a, b, found)
        result = replace(result, repeats_needed=repeats_until(test, a, target, hidden))
    return replace(result, sentence=sentence(result, a.estimator, b.estimator))


def _common_measure(a: Evaluation, b: Evaluation, measure: str | Measure) -> Measure:
    for judged, name in ((a, "a"), (b, "b")):
        if not isinstance(judged, Evaluation):
            raise InvalidTypeError(
                f"{name} must be an Evaluation, as sureleaf.evaluate returns it; "
                f"got {type(judged).__name__}. For bare numbers use compare_rates or paired_t."
            )
    found = a.find(measure)
    b.find(measure)
    if a.classes.tolist() != b.classes.tolist() or a.positive_code != b.positive_code:
        raise InvalidArgumentError(
            "a and b must have the same classes and positive class; got "
            f"{a.classes.tolist()} with {a.positive!r} and {b.classes.tolist()} with "
            f"{b.positive!r}. Give positive= to both evaluations."
        )
    return found


def _test(
    a: Evaluation,
    b: Evaluation,
    measure: Measure,
    level: float,
    method: str | None,
    independent: bool,
) -> tuple[str, DifferenceTest]:
    one_holdout = a.design.kind == b.design.kind == "holdout"
    if independent:
        question = "model" if one_holdout else "algorithm"
        return question, compare_independent(a, b, measure, level, method)
    _refuse_other_rows(a, b)
    if one_holdout:
        if not np.array_equal(a.row, b.row):
            raise InvalidArgumentError(
                "a and b were tested on different rows of the same table, so they cannot be "
                "paired. Evaluate both with the same design and random_state."
            )
        return "model", compare_models(a, b, measure, level, method)
    if a.splits_id != b.splits_id:
        raise InvalidArgumentError(
            f"a and b were judged by different splits ({_plan(a)} and {_plan(b)}), so their "
            "splits cannot be paired. Evaluate both with the same design and random_state."
        )
    return "algorithm", compare_algorithms(a, b, measure, level, method)


def _plan(judged: Evaluation) -> str:
    return f"{judged.design} with seed {judged.seed}"


def _refuse_other_rows(a: Evaluation, b: Evaluation) -> None:
    if a.rows_id != b.rows_id:
        raise InvalidArgumentError(
            f"a and b were judged on different rows ({len(a.truth)} and {len(b.truth)}, with other "
            "labels), so their results cannot be paired. Evaluate both on the same table, or give "
            "independent=True if the two tables have no row in common."
        )
    for name, one, other in (
        ("sample_weight", a.weights, b.weights),
        ("groups", a.groups, b.groups),
        ("cost", a.cost_matrix, b.cost_matrix),
    ):
        if (one is None) != (other is None) or not np.array_equal(
            np.asarray(one if one is not None else 0), np.asarray(other if other is not None else 0)
        ):
            raise InvalidArgumentError(
                f"a and b were judged with different {name}. Give both evaluations the same."
            )


def _never_empty(test: DifferenceTest, a: Evaluation, measure: Measure) -> DifferenceTest:
    """Give an interval without width the one that as many rows that differ alike have.

    What never happened in n rows, another difference than this one, may happen in a share of them
    up to Wilson's bound; the p-value is 1 minus the level at which the interval comes to hold 0.
    """
    if test.high - test.low > NO_WIDTH:
        return test
    n, bound, span = bound_without_spread(a, measure, test.level)
    size = abs(test.difference)
    span = max(span, size)
    near, far = bound * (span - size), bound * (span + size)
    below, above = (far, near) if test.difference > 0 else (near, far)
    told = "the difference never varied" if size > 0 else "the two never differed"
    units = "rows" if a.groups is None else "groups"
    return replace(
        test,
        low=test.difference - below,
        high=test.difference + above,
        p_value=2 * float(ndtr(-math.sqrt(n * size / span))) if span > 0 else 1.0,
        method=f"{test.method}; {told}, so Wilson's bound of 0 in {n:.4g} {units}",
    )


def _n_rows(judged: Evaluation, question: str) -> int:
    """Rows of the test set for models, of the table for algorithms."""
    return len(judged.row) if question == "model" else len(judged.truth)


def _value(judged: Evaluation, measure: Measure) -> float:
    return float(np.nanmean(figures_of_splits(judged, measure, list(judged.main_splits))))
