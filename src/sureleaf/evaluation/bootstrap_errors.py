"""Bootstrap estimates of the error: training, plain, leave-one-out, .632 and .632+.

Equation numbers are those of Xu, R. (2022), Model evaluation for classification, lecture notes
of 15 August 2022. For .632+ and the standard errors:

Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap method.
Journal of the American Statistical Association 92, 548-560.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import FloatArray, IntArray
from sureleaf.errors import FailedFitError
from sureleaf.evaluation.designs import Bootstrap, Split
from sureleaf.evaluation.evaluator import Outcome, check_estimator, describe, fit_split, make_fitter
from sureleaf.evaluation.intervals import out_of_bag_mean
from sureleaf.evaluation.labelled_table import LabelledTable, read_labelled_table
from sureleaf.formatting import TextDisplay
from sureleaf.levels.decisions import cheapest_decision, cost_rule
from sureleaf.progress import track
from sureleaf.random_streams import read_seed


def no_information_rate(
    truth: IntArray, prediction: IntArray, n_classes: int, weights: FloatArray | None = None
) -> float:
    """Return the error rate over all n^2 pairs of a truth and a prediction, in O(n m)."""
    w = np.full(len(truth), 1 / len(truth)) if weights is None else weights / weights.sum()
    shares = np.bincount(truth, w, minlength=n_classes)
    used = shares > 0
    is_wrong = (prediction[:, None] != np.arange(n_classes)).astype(np.float64)
    return float(shares[used] @ (w @ is_wrong[:, used]))


@dataclass(frozen=True)
class BootstrapError(TextDisplay):
    """Estimates of the error rate on new rows.

    `training` is the error of the model of all rows on these rows, (7), and `plain` that of the
    bootstrap models on all rows, (8); both are too low. `leave_one_out` is the error of each row
    under the models that were not trained on it, (9), which is too high. `e632`, (12), is
    ``.368 training + .632 leave_one_out``, too low if the training error is close to 0, as for
    fully grown trees. `e632_plus`, with a weight that moves towards leave_one_out as the model
    overfits, is the recommended estimate.

    The degrees of freedom say how well the samples determine the standard errors, by Satterthwaite.
    Below 2 they say little: use more samples.
    """

    training: float
    plain: float
    leave_one_out: float
    e632: float
    e632_plus: float
    no_information: float  # the error if predictions and classes were independent
    relative_overfitting: float  # 0 is none; 1: predictions of unseen rows carry no information
    standard_errors: dict[str, float]  # of .632 and .632+ in proportion to that of leave_one_out
    rows_without_term: int  # they are in every sample, and therefore not in leave_one_out
    n_bootstraps: int
    failures: dict[int, str]  # by sample; they are ignored
    degrees_of_freedom: float = math.inf

    def __str__(self) -> str:
        lines = [f"error by {self.n_bootstraps} bootstraps"]
        lines += [
            f"  {name:13}  {getattr(self, name):.4f}  (standard error {error:.4f})"
            for name, error in self.standard_errors.items()
        ]
        lines.append(f"  {'no information':13} {self.no_information:.4f}")
        if self.rows_without_term:
            lines.append(f"  ! {self.rows_without_term} rows are in every bootstrap")
        lines += [f"  ! bootstrap {b} failed: {why}" for b, why in self.failures.items()]
        return "\n".join(lines)


def bootstrap_error(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_bootstraps: int = 200,
    decide_by: ArrayLike | None = None,
    stratified: bool = False,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    random_state: object = None,
) -> BootstrapError:
    """Estimate the error rate of a classifier on unseen rows by the bootstrap, up to .632+.

    Parameters
    ----------
    decide_by : array-like of shape (m, m), optional
        Costs by which rows are decided: the prediction of a row is then the class of least
        expected cost by its probabilities, and not what the estimator predicts.
    stratified : bool
        Whether each sample keeps the number of rows of each class.
    groups : array-like, optional
        Samples are then drawn group by group, and standard errors are NaN.
    estimator, X, y, sample_weight, n_jobs, progress, random_state
        As for `sureleaf.evaluate`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> errors = bootstrap_error(GaussianNB(), X, y, n_bootstraps=50, random_state=0)
    >>> round(errors.training, 4), round(errors.e632_plus, 2)
    (0.058, 0.06)
    """
    check_estimator(estimator)
    table = read_labelled_table(X, y, groups=groups, sample_weight=sample_weight)
    rule = None if decide_by is None else cost_rule(decide_by, table.classes).cost
    seed = read_seed(random_state)
    design = Bootstrap(n_bootstraps, stratified=stratified)
    fitter = make_fitter(estimator, table, seed)
    rows = np.arange(len(table))
    fit = partial(fit_split, labels=rule is None, probabilities=rule is not None)
    full = fit(fitter, Split(rows, rows, 0, 0), n_bootstraps)
    if rule is not None and full.failure is None and full.probabilities is None:
        problem = "decide_by needs a classifier with predict_proba; got one without."
        full = replace(full, failure=f"InvalidArgumentError: {problem}")
    if full.failure is not None:
        raise FailedFitError(f"{describe(estimator)} failed on all rows: {full.failure}")
    splits = design.splits(table.codes, groups=table.groups, seed=seed)
    jobs = ((replace(split, test=rows), b) for b, split in enumerate(splits))
    losses, counts, failures = [], [], {}
    runs = fitter.run(fit, jobs, n_jobs)
    outcomes = track(runs, total=n_bootstraps, what="Bootstraps", shown=progress or None)
    for b, one in enumerate(outcomes):
        if one.failure is not None:
            failures[b] = one.failure
            continue
        losses.append((_decided(one, rule) != table.codes).astype(np.float64))
        counts.append(np.bincount(one.split.train, minlength=len(table)))
    if not losses:
        raise FailedFitError(
            f"{describe(estimator)} failed on every one of {n_bootstraps} bootstraps, first with "
            f"{failures[0]}"
        )
    result = _combine(table, _decided(full, rule), np.array(losses), np.array(counts), failures)
    if table.groups is None:
        return result
    unknown = dict.fromkeys(result.standard_errors, math.nan)  # those of rows are too small
    return replace(result, standard_errors=unknown, degrees_of_freedom=math.nan)


def _decided(outcome: Outcome, rule: FloatArray | None) -> IntArray:
    if rule is None or outcome.probabilities is None:
        return outcome.prediction
    return cheapest_decision(outcome.probabilities, rule)


def _combine(
    table: LabelledTable,
    predicted: IntArray,
    losses: FloatArray,
    counts: IntArray,
    failures: dict[int, str],
) -> BootstrapError:
    """Return the five estimates, from the model of all rows and those of the bootstrap samples."""
    n = len(table)
    scale = np.ones(n) if table.weights is None else table.weights * n / table.weights.sum()
    losses, own = np.where(scale > 0, losses, 0.0), predicted != table.codes
    training = float((scale * own).mean())
    gamma = no_information_rate(table.codes, predicted, len(table.classes), table.weights)
    out = out_of_bag_mean(losses, counts, table.weights)
    plain, plain_error = _plain(losses, counts, scale)
    e632 = 0.368 * training + 0.632 * out.value
    overfitting, e632_plus = _plus(training, out.value, gamma)
    in_proportion = out.standard_error / abs(out.value) if out.value else 0.0
    errors = {
        "training": math.sqrt(float((scale**2 * (own - training) ** 2).sum()) / n**2),
        "plain": plain_error,
        "leave_one_out": out.standard_error,
        "e632": in_proportion * abs(e632),
        "e632_plus": in_proportion * abs(e632_plus),
    }
    return BootstrapError(
        training=training,
        plain=plain,
        leave_one_out=out.value,
        e632=e632,
        e632_plus=e632_plus,
        no_information=gamma,
        relative_overfitting=overfitting,
        standard_errors=errors,
        rows_without_term=out.rows_without_term,
        n_bootstraps=len(losses),
        failures=failures,
        degrees_of_freedom=out.degrees_of_freedom,
    )


def _plus(training: float, out: float, gamma: float) -> tuple[float, float]:
    """Return the relative overfitting rate and .632+ (Efron and Tibshirani, (28) to (32))."""
    capped = min(out, gamma)
    overfits = capped > training and gamma > training
    rate = min((capped - training) / (gamma - training), 1.0) if overfits else 0.0
    weight = 0.632 / (1 - 0.368 * rate)
    return rate, (1 - weight) * training + weight * capped


def _plain(losses: FloatArray, counts: IntArray, scale: FloatArray) -> tuple[float, float]:
    """Return the mean loss of the bootstrap models on all rows, and its standard error."""
    n_bootstraps, n = losses.shape
    by_bootstrap = (losses * scale).mean(axis=1)
    value = float(by_bootstrap.mean())
    influence = (
        scale * (losses.mean(axis=0) - value) / n
        + by_bootstrap @ (counts - counts.mean(axis=0)) / n_bootstraps
    )
    noise = n * float(((by_bootstrap - value) ** 2).sum()) / n_bootstraps**2
    once = scale**2 * ((losses - value) ** 2).mean(axis=0)
    variance = max(float(influence @ influence) - noise, float(once.sum()) / n**2)
    return value, math.sqrt(variance)
