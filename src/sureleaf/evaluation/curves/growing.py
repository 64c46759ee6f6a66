"""Learning curves by progressive sampling."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import FailedFitError
from sureleaf.evaluation.arguments import Floats, Integers, check_level
from sureleaf.evaluation.class_shares import slopes_of, variance_of_shares
from sureleaf.evaluation.curves.curve import LearningCurve
from sureleaf.evaluation.curves.schedule import Geometric, Schedule
from sureleaf.evaluation.curves.stop import StopRule
from sureleaf.evaluation.designs.holdout import RepeatedHoldout
from sureleaf.evaluation.designs.split import Split
from sureleaf.evaluation.draw import PARTITION, read_seed, shuffled
from sureleaf.evaluation.fitting import Fitter, check_estimator, make_fitter
from sureleaf.evaluation.judging import describe
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.evaluation.measures.named import Measure, find_measure
from sureleaf.evaluation.scored import Scored
from sureleaf.evaluation.table import read_table
from sureleaf.progress import track

__all__ = ["learning_curve", "nested_order"]

DEFAULT_SCHEDULE = Geometric()


def nested_order(train: Integers, classes: Integers, seed: int, repeat: int) -> Integers:
    """Return training rows in an order whose every beginning has the classes' shares.

    A sample is the first rows of it, so that each sample holds the smaller ones.

    Examples
    --------
    >>> order = nested_order(np.arange(6), np.array([0, 0, 0, 0, 1, 1]), seed=0, repeat=0)
    >>> int((order[:3] > 3).sum())  # a third of every sample is of the second class
    1
    """
    order = train[shuffled(len(train), seed, PARTITION, repeat, 1)]
    own = classes[order]
    position = np.empty(len(order))
    for code in np.unique(own):
        members = np.flatnonzero(own == code)
        position[members] = (np.arange(len(members)) + 0.5) / len(members)
    return order[np.argsort(position, kind="stable")]


def learning_curve(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    schedule: Schedule = DEFAULT_SCHEDULE,
    stop: StopRule | None = None,
    measure: str | Measure = "accuracy",
    repeats: int = 10,
    test: float = 1 / 3,
    level: float = 0.95,
    positive: object = None,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    random_state: object = None,
) -> LearningCurve:
    """Measure a classifier on growing samples, until more rows stop paying.

    Each repeat holds out other rows to test on and grows its samples, each holding the smaller
    ones, from the rest. Repeats whose test rows say nothing of the measure (the precision of no
    positive prediction) are left out, as `Evaluation.estimate` leaves such splits out.

    Parameters
    ----------
    estimator, X, y, positive, cost, groups, sample_weight, n_jobs, progress, random_state
        As for `sureleaf.evaluate`.
    schedule : Geometric or Arithmetic
        The sizes; all training rows come last.
    stop : NoChange or NotWorthwhile, optional
        When to stop before all rows are used; by default never.
    measure : str or Measure
    repeats : int
        At least 2 for intervals.
    test : float
        Share of the rows held out.
    level : float

    Returns
    -------
    LearningCurve

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import Geometric, NotWorthwhile
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> curve = learning_curve(
    ...     GaussianNB(), X, y, schedule=Geometric(20, 2), stop=NotWorthwhile(0.05),
    ...     random_state=0)
    >>> curve.sizes.tolist()
    [20, 40]
    """
    check_estimator(estimator)
    check_level(level)
    table = read_table(X, y, positive=positive, groups=groups, sample_weight=sample_weight)
    found = find_measure(measure)
    matrix = None if cost is None else check_cost(cost, len(table.classes), len(table))
    found.check_cost(matrix)
    seed = read_seed(random_state)
    design = RepeatedHoldout(repeats, test)
    splits = list(design.splits(table.codes, groups=table.groups, seed=seed))
    orders = [nested_order(s.train, table.codes, seed, s.repeat) for s in splits]
    n_rows = min(len(order) for order in orders)
    ratio = float(np.mean([len(s.test) for s in splits])) / n_rows
    sizes = schedule.sizes(n_rows)
    fitter = make_fitter(estimator, table, seed)
    columns: list[Any] = []
    hidden: list[float] = []  # by the shares of the classes, which all repeats have alike
    failures: dict[tuple[int, int], str] = {}
    stopped = None
    steps = track(sizes, total=len(sizes), what="Growing", shown=progress or None, costs=sizes)
    for i, size in enumerate(steps):
        jobs = [
            (s, order[:size], found, matrix, i) for s, order in zip(splits, orders, strict=True)
        ]
        outcomes = list(fitter.run(_one, jobs, n_jobs))
        failures |= {(r, size): o for r, o in enumerate(outcomes) if isinstance(o, str)}
        worked = [o for o in outcomes if not isinstance(o, str)]
        columns.append(np.array([np.nan if isinstance(o, str) else o[0] for o in outcomes]))
        slopes = np.mean([o[1] for o in worked], axis=0) if worked else np.zeros(1)
        hidden.append(
            variance_of_shares(table.codes, slopes, table.weights, table.groups) if worked else 0.0
        )
        if stop is not None and i > 0 and i < len(sizes) - 1:
            sign = 1 if found.greater_is_better else -1
            stopped = stop.reason(sign * columns[-2], sign * columns[-1], ratio)
            if stopped:
                break
    values = np.column_stack(columns)
    if np.isnan(values).all():
        why = next(iter(failures.values()), f"{found.name} is undefined on the test rows")
        raise FailedFitError(f"{describe(estimator)} failed at every size, first with {why}")
    return LearningCurve(
        found,
        np.array(sizes[: values.shape[1]]),
        values,
        n_rows,
        ratio,
        level,
        stopped,
        failures,
        seed,
        np.array(hidden),
    )


def _one(
    fitter: Fitter, split: Split, train: Integers, measure: Measure, cost: Any, number: int
) -> tuple[float, Floats] | str:
    """Figure of the test rows, and how it gains with each class's share; or what went wrong."""
    table = fitter.table
    try:
        model = fitter.fit(train, split.repeat, number)
        codes, probabilities = fitter.predict_codes(
            model, split.test, probabilities=measure.needs_probabilities
        )
        if measure.needs_probabilities and probabilities is None:
            return f"{measure.name} needs probabilities, and the estimator has no predict_proba"
    except Exception as problem:  # any error of the estimator is recorded
        return f"{type(problem).__name__}: {problem}"
    own = cost[split.test] if cost is not None and cost.ndim == 3 else cost
    rows = Scored(
        table.codes[split.test],
        codes,
        probabilities,
        None if table.weights is None else table.weights[split.test],
        own,
        len(table.classes),
        table.positive,
    )
    return measure.of_split(rows), slopes_of(measure, rows)
