"""Judge any classifier by a design."""

import contextlib
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import FailedFitError, InvalidArgumentError, InvalidTypeError
from sureleaf.evaluation.designs.folds import KFold
from sureleaf.evaluation.designs.split import Design
from sureleaf.evaluation.draw import read_seed
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.fitting import Outcome, check_estimator, fit_splits
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.evaluation.table import Table, read_table
from sureleaf.progress import track

__all__ = ["describe", "evaluate"]

DEFAULT_DESIGN = KFold(10)


def evaluate(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    design: Design = DEFAULT_DESIGN,
    positive: object = None,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    random_state: object = None,
) -> Evaluation:
    """Fit a classifier on each split of a design, and keep every out-of-sample prediction.

    Parameters
    ----------
    estimator : scikit-learn classifier
        Anything with fit and predict; without predict_proba only measures of predictions can be
        computed. It is copied, never changed. An error in one split is recorded, the other splits
        are kept; only if all fail an error is raised.
    X : array, sparse matrix or data frame (pandas, polars, Arrow)
    y : array-like of labels
    design : Design
        From `sureleaf.designs`; ten stratified folds by default.
    positive : label, optional
        The class that recall, AUC and so on speak of; ``classes[1]`` by default.
    cost : array-like of shape (m, m) or (n, m, m), optional
        ``cost[actual][predicted]``, classes sorted.
    groups : array-like, optional
        Rows of a group stay together, in the splits and in the intervals.
    sample_weight : array-like, optional
        Weights in every measure, and in fit if the estimator takes them.
    n_jobs : int, optional
        Workers (joblib); the numbers do not depend on it.
    progress : bool
        Draw a progress bar on the terminal.
    random_state : int, generator or None
        Seed of the splits and of every random_state that the estimator leaves at None.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> judged = evaluate(GaussianNB(), X, y, random_state=0)
    >>> print(judged.estimate("accuracy"))
    0.9403 (95 % interval 0.9080 to 0.9726; corrected resampled t over 10 splits, this algorithm)
    """
    check_estimator(estimator)
    if not isinstance(design, Design):
        raise InvalidTypeError(
            f"design must be one of sureleaf.designs, for example KFold(10); got {design!r}."
        )
    table = read_table(X, y, positive=positive, groups=groups, sample_weight=sample_weight)
    matrix = None if cost is None else _read_cost(cost, table)
    seed = read_seed(random_state)
    n_units = len(table) if table.groups is None else int(table.groups.max()) + 1
    outcomes = track(
        fit_splits(estimator, table, design, seed=seed, n_jobs=n_jobs),
        total=design.n_splits_of(n_units),
        what="Fitting",
        shown=progress or None,
    )
    # Training rows are let go at once: those of many splits together are large.
    found = [(_facts(o), o.split.test, o.prediction, o.probabilities) for o in outcomes]
    splits = tuple(facts for facts, *_ in found)
    _refuse_if_all_failed(splits, estimator)
    worked = [part for facts, *part in found if facts.failure is None]
    tests, predictions, tables = zip(*worked, strict=True)
    sizes = [0 if facts.failure else facts.n_test for facts in splits]
    return Evaluation(
        estimator=describe(estimator),
        design=design,
        seed=seed,
        classes=table.classes,
        positive_code=table.positive,
        truth=table.codes,
        weights=table.weights,
        groups=table.groups,
        cost_matrix=matrix,
        splits=splits,
        row=np.concatenate(tests),
        split=np.repeat(np.arange(len(splits)), sizes),
        prediction=np.concatenate(predictions),
        probabilities=None if any(t is None for t in tables) else np.concatenate(tables),
    )


def _read_cost(cost: ArrayLike, table: Table) -> Any:
    matrix = check_cost(cost, len(table.classes), len(table))
    if matrix.shape[-1] != len(table.classes):
        raise InvalidArgumentError(
            "cost must have no abstain column here: predict never abstains. "
            "Use sureleaf.decide with the predictions' probabilities."
        )
    return matrix


def _facts(outcome: Outcome) -> SplitFacts:
    split = outcome.split
    n_train = int(np.count_nonzero(np.bincount(split.train)))
    return SplitFacts(
        split.repeat, split.fold, split.without, n_train, len(split.test), outcome.failure
    )


def _refuse_if_all_failed(splits: tuple[SplitFacts, ...], estimator: Any) -> None:
    if all(facts.failure for facts in splits if facts.without is None):
        raise FailedFitError(
            f"{describe(estimator)} failed on every one of {len(splits)} splits, first with "
            f"{splits[0].failure}{_remedy(splits[0].failure)}"
        )


def _remedy(failure: str | None) -> str:
    if "could not convert string" not in (failure or ""):
        return ""
    return (
        ". It takes numbers only: put an encoder before it, such as "
        "make_pipeline(OneHotEncoder(handle_unknown='ignore'), ...)."
    )


def describe(estimator: Any) -> str:
    """Return the estimator as one line of text.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> describe(GaussianNB())
    'GaussianNB()'
    """
    text = type(estimator).__name__
    with contextlib.suppress(Exception):  # a repr that fails must not end an evaluation
        text = " ".join(repr(estimator).split())
    return text if len(text) <= 200 else text[:197] + "..."
