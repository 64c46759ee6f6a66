"""Everything that the sections of a report are computed from.

The table is encoded once. One fit and one set of folds serve all sections.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import row_weights
from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.estimators import TreeClassifier
from sureleaf.evaluation.bootstrap_errors import BootstrapError, bootstrap_error
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.learning_curves import Geometric, LearningCurve, learning_curve
from sureleaf.formatting import count_of
from sureleaf.model.fitting import BY_FOLDS
from sureleaf.model.leaf_table import LeafTable
from sureleaf.model.tree_model import TreeModel
from sureleaf.progress import watched
from sureleaf.report.baselines import (
    EvaluatedModel,
    EvaluatedSize,
    decides_by_costs,
    evaluate_models,
    report_tree,
)
from sureleaf.report.request import (
    STAGES,
    Budget,
    ComparedMeasure,
    Progress,
    ReportRequest,
    budget_for,
    is_rare,
)
from sureleaf.table import EncodedTable, read_table
from sureleaf.tree import TrainingRows, count_nodes


@dataclass(frozen=True, eq=False)
class ReportResults:
    """What all sections are computed from.

    `model` is what the tree knows, with its levels, at the costs of the report. The tree is the
    first of `models`; `sizes` are ascending. `n_refitted_leaves` is None unless a tree that was
    fitted before is another one if grown anew on these rows. A text instead of a bootstrap or a
    curve says why there is none.
    """

    request: ReportRequest
    budget: Budget
    table: EncodedTable
    tree: TreeClassifier
    model: TreeModel
    leaves: LeafTable
    models: tuple[EvaluatedModel, ...]
    sizes: tuple[EvaluatedSize, ...]
    n_refitted_leaves: int | None
    bootstrap: BootstrapError | str = ""
    curve: LearningCurve | str = ""

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the tree."""
        return self.models[0].evaluation

    @property
    def labels(self) -> list[str]:
        """The names of the classes on the page."""
        return [self.request.label(class_) for class_ in self.evaluation.classes.tolist()]

    @property
    def n_rows(self) -> int:
        """Rows with a label."""
        return len(self.evaluation.truth)

    @property
    def measure(self) -> ComparedMeasure:
        """What models are compared by: costs if there are any, the AUC if classes are rare."""
        if self.request.cost is not None:
            return "cost"
        return "auc" if is_rare(self.class_counts.tolist()) else "accuracy"

    @property
    def class_counts(self) -> NDArray[np.float64]:
        """Rows of each class, or their weights."""
        weights = row_weights(self.evaluation.weights, self.n_rows)
        counts = np.bincount(self.evaluation.truth, weights, minlength=len(self.labels))
        return counts.astype(np.float64)


class _Stages:
    """Tells which stage begins, and how far the work is."""

    def __init__(self, tell: Progress | None) -> None:
        self._tell = tell or (lambda stage, share: None)
        self._stage, self._start, self._end, self._reported = "", 0.0, 0.0, 0.0

    def start(self, stage: str) -> None:
        self._stage, self._start = stage, STAGES[stage]
        self._end = min((each for each in STAGES.values() if each > self._start), default=1.0)
        self._reported = self._start
        self._tell(stage, self._start)

    def advance(self, done: float) -> None:
        """Tell the share of a stage that is done; work that begins anew does not go back."""
        share = self._start + done * (self._end - self._start)
        if share > self._reported:
            self._reported = share
            self._tell(self._stage, share)


def compute_results(request: ReportRequest, progress: Progress | None = None) -> ReportResults:
    """Fit, evaluate, bootstrap and draw the learning curve: the slow part of a report."""
    stages = _Stages(progress)
    with watched(stages.advance):
        stages.start("Reading the columns")
        table = _read(request)
        budget = _budget(request, table.n_rows)
        stages.start("Growing the tree")
        tree, n_refitted_leaves = _fit(request, table)
        fitted = tree
        if not decides_by_costs(request, tree.model_):
            fitted = tree.with_cost(request.cost)
        levels = {name: getattr(request, name) for name in ("level", "confidence", "utility")}
        model, leaves = fitted.complete_model(), fitted.leaves(**levels)
        positive = _class_of_interest(request.y) if request.positive is None else request.positive
        models, sizes = evaluate_models(request, table, fitted, positive, budget, stages.start)
        results = ReportResults(
            request, budget, table, tree, model, leaves, models, sizes, n_refitted_leaves
        )
        stages.start("Estimating the error by bootstrap")
        bootstrap = _bootstrap(results)
        stages.start("Computing the learning curve")
        curve = _curve(results)
        stages.start("Writing the report")
        return replace(results, bootstrap=bootstrap, curve=curve)


def _budget(request: ReportRequest, n_rows: int) -> Budget:
    groups = request.groups
    n_units = n_rows if groups is None else len(set(np.asarray(groups).tolist()))
    if n_rows < 3 or n_units < 2:
        got = f"{n_rows} rows" if groups is None else f"{n_rows} rows of {n_units} groups"
        raise InvalidArgumentError(
            "X must have at least three rows, and at least two groups if there are groups, so that "
            f"some can train and others test; got {got}. Give more rows."
        )
    is_resized = report_tree(request).pruning in BY_FOLDS
    return request.budget or budget_for(n_rows, n_units, is_resized=is_resized)


def _read(request: ReportRequest) -> EncodedTable:
    """Encode the table: as the fitted tree does, or by the kinds of columns that it is given."""
    tree = request.tree
    if tree is None or not request.is_fitted_before:
        kinds = "auto" if tree is None else tree.categorical_features
        return read_table(request.X, categorical_features=kinds, estimator="make_report")
    own, given = set(tree.classes_.tolist()), set(np.asarray(request.y).tolist())
    if own != given:
        odd = sorted(map(str, own ^ given))[0]
        raise InvalidArgumentError(
            f"y must have the classes that the tree was fitted on, {sorted(map(str, own))}; got "
            f"{sorted(map(str, given))}, which differ in {odd!r}. Give an unfitted tree to fit it "
            "to these rows."
        )
    return tree.model_.encode(request.X, estimator="make_report")


def _fit(request: ReportRequest, table: EncodedTable) -> tuple[TreeClassifier, int | None]:
    """Fit the tree, or take the fitted one and see whether these rows give it again."""
    grown = report_tree(request)
    if grown.random_state is None:
        grown.set_params(random_state=request.seed)
    grown.fit(table, request.y, sample_weight=request.weights, groups=request.groups)
    tree = request.tree
    if tree is None or not request.is_fitted_before:
        return grown, None
    counts = tree.model_.tree.class_counts
    if np.array_equal(counts, grown.model_.tree.class_counts):
        return tree, None
    _check_own_rows(tree, table, request)
    return tree, grown.model_.tree.n_leaves


def _check_own_rows(tree: TreeClassifier, table: EncodedTable, request: ReportRequest) -> None:
    """Raise an error for rows that did not grow a fitted tree, if that can be told.

    The estimates of a report are about trees that are grown on parts of its rows. Of other rows
    they say nothing about this tree.
    """
    model = tree.recognising_model()
    labels = np.searchsorted(model.classes, np.asarray(request.y)).astype(np.int32)
    weights = None if request.weights is None else np.asarray(request.weights, dtype=np.float64)
    rows = TrainingRows(table, labels, len(model.classes), weights)
    seen = model.seen
    if seen is None or np.array_equal(count_nodes(model.tree, rows), model.tree.class_counts):
        return
    equal = seen.compare(rows)
    if not seen.can_tell(equal) or not seen.is_chance(equal):
        return  # numbers that were rounded on their way through a file are other numbers
    raise InvalidArgumentError(
        "X and y must be the rows that the tree was fitted on, because a report judges it by trees "
        f"grown like it on parts of the rows; got {count_of(len(labels), 'row')}, of which "
        f"{equal.n_equal:,} of {equal.n_compared:,} that can be compared are equal to one of them. "
        "Audit the tree with other rows: sureleaf.audit(tree, X, y) (sureleaf audit MODEL DATA). "
        "Or leave it out, and the report fits a tree to these rows."
    )


POSITIVE_NAMES = frozenset({"yes", "y", "true", "positive", "pos", "bad"})


def _class_of_interest(y: Any) -> Any:
    """Return the class that is called positive, or the rarest, the last one on ties."""
    classes, counts = np.unique(np.asarray(y), return_counts=True)
    known = [one for one in classes.tolist() if is_called_positive(one, classes.tolist())]
    if known:
        return known[0]
    rarest = classes[np.flatnonzero(counts == counts.min())[-1]]
    return rarest.item() if hasattr(rarest, "item") else rarest


def is_called_positive(one: Any, classes: list[Any]) -> bool:
    """Whether one of two classes has the name of a positive class; 1 has it beside 0 or -1."""
    names = {str(other).strip().lower() for other in classes}
    if len(classes) != 2 or names <= POSITIVE_NAMES:
        return False
    name = str(one).strip().lower()
    if name in ("1", "1.0", "+1"):
        return bool(names & {"0", "0.0", "-1", "-1.0"})
    return name in POSITIVE_NAMES


def _bootstrap(results: ReportResults) -> BootstrapError | str:
    request, tree = results.request, report_tree(results.request)
    if request.groups is not None:
        return "There is no bootstrap estimate: rows come in groups, and it resamples single rows."
    if results.budget.bootstraps == 0:
        return (
            f"There is no bootstrap estimate: with {results.n_rows:,} rows it would take as long "
            "as the rest of the report, and it corrects for small training sets."
        )
    try:
        return bootstrap_error(
            tree,
            results.table,
            request.y,
            decide_by=None if decides_by_costs(request, tree) else request.cost,
            n_bootstraps=results.budget.bootstraps,
            sample_weight=request.weights,
            random_state=request.seed,
        )
    except SureleafError as problem:
        return f"There is no bootstrap estimate: {problem}"


@dataclass(frozen=True)
class _UpTo(Geometric):
    """The sizes of a geometric schedule up to a largest one."""

    largest: int = 200_000

    def sizes(self, n_rows: int) -> list[int]:
        return super().sizes(min(n_rows, self.largest))


def _curve(results: ReportResults) -> LearningCurve | str:
    request, budget, measure = results.request, results.budget, results.measure
    train = min(results.n_rows * 2 // 3, budget.curve_rows)
    start = max(10, 3 * len(results.labels), train // 32)
    if train < 2.5 * start:
        return f"{results.n_rows} rows are too few for a learning curve."
    # Even steps up to the last size, with at least five sizes: the power law has three parameters.
    factor = (1.01 * train / start) ** (1 / max(4, round(math.log2(train / start))))
    try:
        return learning_curve(
            report_tree(request),
            results.table,
            request.y,
            schedule=_UpTo(start, factor, budget.curve_rows),
            measure="decided_cost" if measure == "cost" else measure,
            cost=request.cost,
            repeats=budget.curve_repeats,
            level=request.level,
            positive=results.evaluation.positive,
            groups=request.groups,
            sample_weight=request.weights,
            random_state=request.seed,
        )
    except InvalidArgumentError as problem:
        return str(problem)
