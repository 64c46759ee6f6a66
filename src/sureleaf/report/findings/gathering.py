"""Everything that a report is computed from: one fit, and the same folds for every model."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.estimators.leaf_table import LeafTable
from sureleaf.evaluation import (
    BootstrapError,
    Evaluation,
    Geometric,
    KFold,
    LearningCurve,
    bootstrap_error,
    evaluate,
    learning_curve,
)
from sureleaf.report.findings.effort import Effort, effort_for
from sureleaf.report.findings.number_columns import MOST_CATEGORIES, as_numbers
from sureleaf.table import EncodedTable, read_table

__all__ = ["Asked", "Gathered", "Progress", "gather"]

Progress = Callable[[str, float], None]
"""Gets the name of the stage that begins, and the share of the work that is done."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What a report is asked for.

    Attributes
    ----------
    X, y : table and labels
    groups, weights : array-like or None
    positive : label or None
        None is the rarest class.
    cost : array or None
        ``cost[actual][predicted]``, classes sorted.
    level, confidence, margin : float
        Of intervals; wanted of leaves; difference of accuracy that counts as none.
    utility : float or None
        Wanted of leaves.
    seed : int
    n_jobs : int or None
    effort : Effort or None
        None is what the number of rows calls for.

    Examples
    --------
    >>> Asked([[1], [2]], ["a", "b"]).margin
    0.01
    """

    X: Any
    y: Any
    groups: Any = None
    weights: Any = None
    positive: Any = None
    cost: ArrayLike | None = None
    level: float = 0.95
    confidence: float | None = 0.95
    utility: float | None = None
    margin: float = 0.01
    seed: int = 0
    n_jobs: int | None = None
    effort: Effort | None = None


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier of the comparison: its name, what it is, and how it was judged."""

    name: str
    what: str
    n_leaves: int | None
    judged: Evaluation


@dataclass(frozen=True, eq=False)
class Gathered:
    """What all sections are computed from.

    Examples
    --------
    >>> rows, labels = [[i] for i in range(40)], np.array(["a"] * 20 + ["b"] * 20)
    >>> found = gather(Asked(np.array(rows), labels, effort=Effort(2, 1, 2, 2, 2)))
    >>> found.n_rows, [model.name for model in found.models][:2]
    (40, ['this tree', 'majority class'])
    """

    asked: Asked
    effort: Effort
    table: EncodedTable
    tree: TreeClassifier
    leaves: LeafTable
    models: tuple[Model, ...]
    bootstrap: BootstrapError | str
    curve: LearningCurve | str
    seconds: float

    @property
    def judged(self) -> Evaluation:
        """The tree's own evaluation."""
        return self.models[0].judged

    @property
    def labels(self) -> list[str]:
        """Class labels as text."""
        return [str(label) for label in self.judged.classes.tolist()]

    @property
    def n_rows(self) -> int:
        """Rows with a label."""
        return len(self.judged.truth)

    @property
    def row_weights(self) -> Any:
        """Weight of each row, 1 without weights."""
        weights = self.judged.weights
        return np.ones(self.n_rows) if weights is None else weights


def gather(asked: Asked, progress: Progress | None = None) -> Gathered:
    """Fit, judge, bootstrap and grow; the slow part of a report.

    Examples
    --------
    >>> stages = []
    >>> rows, labels = np.arange(40).reshape(-1, 1), np.array(["a"] * 20 + ["b"] * 20)
    >>> asked = Asked(rows, labels, effort=Effort(2, 1, 2, 2, 2))
    >>> found = gather(asked, lambda stage, share: stages.append(stage))
    >>> stages[:2]
    ['Reading the columns', 'Growing the tree']
    """
    tell = progress or (lambda stage, share: None)
    start = time.perf_counter()
    tell("Reading the columns", 0.0)
    table = read_table(asked.X, estimator="make_report")
    positive = _rarest(asked.y) if asked.positive is None else asked.positive
    n_units = table.n_rows if asked.groups is None else len(set(np.asarray(asked.groups).tolist()))
    effort = asked.effort or effort_for(table.n_rows, n_units)
    tell("Growing the tree", 0.02)
    tree = TreeClassifier(random_state=asked.seed, n_jobs=asked.n_jobs)
    tree.fit(asked.X, asked.y, sample_weight=asked.weights, groups=asked.groups)
    leaves = tree.leaves(level=asked.level, confidence=asked.confidence, utility=asked.utility)
    models = _judge_all(asked, table, positive, effort, tree, tell)
    tell("Bootstrapping the error", 0.75)
    bootstrap = _bootstrap(asked, effort)
    tell("Growing the learning curve", 0.85)
    curve = _curve(asked, table.n_rows, len(tree.classes_), effort, positive)
    tell("Writing it down", 0.97)
    return Gathered(
        asked, effort, table, tree, leaves, models, bootstrap, curve, time.perf_counter() - start
    )


def _rarest(y: Any) -> Any:
    """Of the classes the rarest, on ties the last: the one that is looked for, as a rule."""
    labels = np.asarray(y)
    values, counts = np.unique(labels, return_counts=True)
    rarest = np.flatnonzero(counts == counts.min())[-1]
    return values[rarest].item() if hasattr(values[rarest], "item") else values[rarest]


def _judge_all(
    asked: Asked,
    table: EncodedTable,
    positive: Any,
    effort: Effort,
    tree: TreeClassifier,
    tell: Progress,
) -> tuple[Model, ...]:
    from sklearn.dummy import DummyClassifier
    from sklearn.tree import DecisionTreeClassifier

    design = KFold(effort.folds, repeats=effort.repeats)
    numbers = as_numbers(table)

    def whole(estimator: Any, X: Any) -> Any:
        if asked.weights is None:
            return estimator.fit(X, asked.y)
        return estimator.fit(X, asked.y, sample_weight=asked.weights)

    def judge(estimator: Any, X: Any) -> Evaluation:
        return evaluate(
            estimator,
            X,
            asked.y,
            design=design,
            positive=positive,
            cost=asked.cost,
            groups=asked.groups,
            sample_weight=asked.weights,
            random_state=asked.seed,
        )

    n_jobs = asked.n_jobs
    short, unpruned = (
        TreeClassifier(max_depth=3, n_jobs=n_jobs),
        TreeClassifier(pruning=None, collapse=False, n_jobs=n_jobs),
    )
    scikit = DecisionTreeClassifier(random_state=asked.seed)
    encoded = (
        "scikit-learn's DecisionTreeClassifier with its defaults; each of a column's "
        f"{MOST_CATEGORIES} most frequent categories is a column of its own"
    )
    plan: list[tuple[str, str, Any, Any, int | None]] = [
        (
            "this tree",
            "the tree of this report, pruned as C4.5 does",
            TreeClassifier(n_jobs=n_jobs),
            asked.X,
            tree.tree_.n_leaves,
        ),
        (
            "majority class",
            "always says the most frequent class",
            DummyClassifier(strategy="most_frequent"),
            numbers[:, :1],
            1,
        ),
        (
            "short tree",
            "the same, with three questions in a row at most",
            short,
            asked.X,
            whole(TreeClassifier(**short.get_params()), asked.X).tree_.n_leaves,
        ),
        (
            "unpruned tree",
            "the same, not pruned",
            unpruned,
            asked.X,
            whole(TreeClassifier(**unpruned.get_params()), asked.X).tree_.n_leaves,
        ),
        (
            "bagged trees",
            "30 unpruned trees grown on bootstraps of the rows; their mean decides",
            BaggedTreesClassifier(n_jobs=n_jobs),
            asked.X,
            None,
        ),
        (
            "scikit-learn's tree",
            encoded,
            DecisionTreeClassifier(),
            numbers,
            int(whole(scikit, numbers).get_n_leaves()),
        ),
    ]
    shares = (0.08, 0.16, 0.18, 0.24, 0.32, 0.62)
    models = []
    for (name, what, estimator, X, n_leaves), share in zip(plan, shares, strict=True):
        tell(f"Cross-validating: {name}", share)
        models.append(Model(name, what, n_leaves, judge(estimator, X)))
    return tuple(models)


def _bootstrap(asked: Asked, effort: Effort) -> BootstrapError | str:
    if asked.groups is not None:
        return "rows come in groups, and the bootstrap draws single rows"
    try:
        return bootstrap_error(
            TreeClassifier(n_jobs=asked.n_jobs),
            asked.X,
            asked.y,
            n_bootstraps=effort.bootstraps,
            sample_weight=asked.weights,
            random_state=asked.seed,
        )
    except SureleafError as problem:
        return str(problem)


def _curve(
    asked: Asked, n_rows: int, n_classes: int, effort: Effort, positive: Any
) -> LearningCurve | str:
    train = n_rows * 2 // 3
    start = max(10, 3 * n_classes, train // 32)
    if train < 2.5 * start:
        return f"{n_rows} rows are too few to see how accuracy grows with rows"
    # Even steps up to all rows, five sizes at least: the law has three parameters.
    factor = (1.01 * train / start) ** (1 / max(4, round(math.log2(train / start))))
    try:
        return learning_curve(
            TreeClassifier(n_jobs=asked.n_jobs),
            asked.X,
            asked.y,
            schedule=Geometric(start, factor),
            repeats=effort.curve_repeats,
            level=asked.level,
            positive=positive,
            groups=asked.groups,
            sample_weight=asked.weights,
            random_state=asked.seed,
        )
    except InvalidArgumentError as problem:
        return str(problem)
