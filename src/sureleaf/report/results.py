"""Everything that a report is computed from: one fit, and the same folds for every model."""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation import (
    BootstrapError,
    Evaluation,
    Geometric,
    LearningCurve,
    bootstrap_error,
    learning_curve,
)
from sureleaf.model.leaf_table import LeafTable
from sureleaf.report.baselines import Model, judge_all, plain_tree
from sureleaf.report.request import Budget, Progress, ReportRequest, effort_for
from sureleaf.table import EncodedTable, read_table

__all__ = ["ReportResults", "gather"]


@dataclass(frozen=True, eq=False)
class ReportResults:
    """What all sections are computed from.

    Examples
    --------
    >>> rows, labels = [[i] for i in range(40)], np.array(["a"] * 20 + ["b"] * 20)
    >>> found = gather(ReportRequest(np.array(rows), labels, effort=Budget(2, 1, 2, 2, 2)))
    >>> found.n_rows, [model.name for model in found.models][:2]
    (40, ['this tree', 'majority class'])
    """

    asked: ReportRequest
    effort: Budget
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


def gather(asked: ReportRequest, progress: Progress | None = None) -> ReportResults:
    """Fit, judge, bootstrap and grow; the slow part of a report.

    Examples
    --------
    >>> stages = []
    >>> rows, labels = np.arange(40).reshape(-1, 1), np.array(["a"] * 20 + ["b"] * 20)
    >>> asked = ReportRequest(rows, labels, effort=Budget(2, 1, 2, 2, 2))
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
    if n_units < 2:
        raise InvalidArgumentError(
            "rows must be two at least, and so must groups, so that some can train and others "
            f"test; got {n_units}."
        )
    tell("Growing the tree", 0.02)
    tree = plain_tree(asked, random_state=asked.seed)
    tree.fit(asked.X, asked.y, sample_weight=asked.weights, groups=asked.groups)
    leaves = tree.leaves(level=asked.level, confidence=asked.confidence, utility=asked.utility)
    models = judge_all(asked, table, tree.tree_.n_leaves, positive, effort, tell)
    tell("Bootstrapping the error", 0.68)
    bootstrap = _bootstrap(asked, effort)
    tell("Growing the learning curve", 0.83)
    curve = _curve(asked, table.n_rows, len(tree.classes_), effort, positive)
    tell("Writing it down", 0.95)
    return ReportResults(
        asked, effort, table, tree, leaves, models, bootstrap, curve, time.perf_counter() - start
    )


def _rarest(y: Any) -> Any:
    """Of the classes the rarest, on ties the last: the one that is looked for, as a rule."""
    labels = np.asarray(y)
    values, counts = np.unique(labels, return_counts=True)
    rarest = np.flatnonzero(counts == counts.min())[-1]
    return values[rarest].item() if hasattr(values[rarest], "item") else values[rarest]


def _bootstrap(asked: ReportRequest, effort: Budget) -> BootstrapError | str:
    if asked.groups is not None:
        return "rows come in groups, and the bootstrap draws single rows"
    try:
        return bootstrap_error(
            plain_tree(asked),
            asked.X,
            asked.y,
            n_bootstraps=effort.bootstraps,
            sample_weight=asked.weights,
            random_state=asked.seed,
        )
    except SureleafError as problem:
        return str(problem)


def _curve(
    asked: ReportRequest, n_rows: int, n_classes: int, effort: Budget, positive: Any
) -> LearningCurve | str:
    train = n_rows * 2 // 3
    start = max(10, 3 * n_classes, train // 32)
    if train < 2.5 * start:
        return f"{n_rows} rows are too few to see how accuracy grows with rows"
    # Even steps up to all rows, five sizes at least: the law has three parameters.
    factor = (1.01 * train / start) ** (1 / max(4, round(math.log2(train / start))))
    try:
        return learning_curve(
            plain_tree(asked),
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
