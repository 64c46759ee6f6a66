"""The models that are evaluated over the same folds: the report's tree and its baselines."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import Pipeline

from sureleaf.arguments import thread_count
from sureleaf.auditing.audited_rows import logistic_regression
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.estimators.parameters import C45, counts_errors
from sureleaf.evaluation.designs import KFold, Split
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.evaluator import Fitter, describe, evaluate, fresh_copy, make_fitter
from sureleaf.evaluation.labelled_table import read_labelled_table
from sureleaf.levels.decisions import cheapest_decision
from sureleaf.model.refits import TreeRefits
from sureleaf.model.size_selection import n_rounds_at_most
from sureleaf.progress import track
from sureleaf.report.request import Budget, ReportRequest, Stages, is_rare
from sureleaf.table import EncodedTable, max_categories, numeric_matrix

FIRST_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
"""Numbers of leaves on the curve of sizes; from 64 on, each is twice the one before."""
SIZES_BEYOND = 2.0
"""The curve goes on to so many times the leaves of the largest tree that is compared with it."""

THIS_TREE, DEFAULT_TREE, MARGIN_ZERO = "this tree", "default tree", "size chosen with margin 0"
C45_TREE, BAGGED_TREES = "C4.5's tree", "bagged trees"
LOGISTIC, FOREST = "logistic regression", "random forest"
MAJORITY = "majority class"

ModelKind = Literal["this", "constant", "size", "other"]
"""`size` is this tree with another number of leaves; `other` models use the columns, too."""


def report_tree(request: ReportRequest, other: TreeClassifier | None = None) -> TreeClassifier:
    """Return the tree of the report, unfitted, or another one with its options.

    A tree that was fitted before is grown anew with its own costs: those of the report change its
    decisions alone.
    """
    asked = request.tree if other is None else other
    tree = TreeClassifier() if asked is None else clone(asked)
    # The kinds of the columns were decided when the table was read.
    options: dict[str, Any] = {"n_jobs": request.n_jobs, "categorical_features": "auto"}
    if tree.class_weight is None or request.weights is not None:
        options["weights"] = "importance"
    keeps_cost = counts_errors(tree) or (other is None and request.is_fitted_before)
    if request.cost is not None and not keeps_cost:
        options["cost"] = request.cost
    return tree.set_params(**options)


def decides_by_costs(request: ReportRequest, estimator: Any) -> bool:
    """Whether the predictions of a classifier, or model, are decisions at the report's costs."""
    own = getattr(estimator, "cost", None)
    return request.cost is None or (own is not None and np.array_equal(own, request.cost))


def sized_tree(request: ReportRequest) -> TreeClassifier:
    """Return the tree whose sizes are compared: the report's, or the default if its size is fixed.

    A size that is chosen by cross-validation belongs to a family of trees.
    """
    tree = report_tree(request)
    by_size = TreeClassifier(pruning="auto", collapse=False)
    return tree if tree.pruning == "auto" else report_tree(request, by_size)


@dataclass(frozen=True, eq=False)
class EvaluatedModel:
    """A classifier of the comparison; `n_leaves` is None if it is not one tree."""

    kind: ModelKind
    name: str
    description: str
    n_leaves: int | None
    evaluation: Evaluation


@dataclass(frozen=True, eq=False)
class EvaluatedSize:
    """Trees with at most this many leaves, with their evaluation.

    It has probabilities only if classes are rare, for the AUC.
    """

    most_leaves: int
    evaluation: Evaluation


def evaluate_models(
    request: ReportRequest,
    table: EncodedTable,
    fitted: TreeClassifier,
    positive: Any,
    budget: Budget,
    start_stage: Stages,
) -> tuple[tuple[EvaluatedModel, ...], tuple[EvaluatedSize, ...]]:
    """Evaluate the tree, other models and other sizes of the tree over the same folds.

    The tree is the first model; sizes are ascending.
    """
    matrix = numeric_matrix(table)
    evaluated = partial(_evaluated, request, KFold(budget.folds, repeats=budget.repeats), positive)
    start_stage("Cross-validating: baseline")
    majority = evaluated(DummyClassifier(strategy="most_frequent"), matrix[:, :1])
    start_stage("Cross-validating: trees of several sizes")
    tree, c45 = report_tree(request), report_tree(request, TreeClassifier.c45())
    c45_leaves = _fitted(request, c45, table).tree_.n_leaves
    (this, *trees), sizes = _family(request, table, fitted, majority, c45_leaves)
    if tree.pruning != "auto":
        this = replace(this, evaluation=evaluated(tree, table))
    models = [this, *_constants(request, majority), *trees]
    if tree.get_params() | C45 != tree.get_params():
        start_stage("Cross-validating: C4.5's tree")
        text = "the tree of C4.5, with its own rules and its pessimistic pruning"
        models.append(EvaluatedModel("other", C45_TREE, text, c45_leaves, evaluated(c45, table)))
    start_stage("Cross-validating: bagged trees")
    bag = BaggedTreesClassifier(
        n_estimators=budget.bagged_trees,
        max_samples=min(1.0, budget.bagged_rows / table.n_rows),
        cost=request.cost,
        n_jobs=request.n_jobs,
    )
    text = _bag_words(table.n_rows, budget)
    models.append(EvaluatedModel("other", BAGGED_TREES, text, None, evaluated(bag, table)))
    start_stage("Cross-validating: other models")
    # Separable classes have no largest likelihood: that is no news in every one of many folds.
    with (
        parallel_config("threading", n_jobs=thread_count(request.n_jobs)),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)
        models += [
            EvaluatedModel("other", name, text, None, evaluated(rival, X))
            for name, text, rival, X in _rivals(request, table, matrix, budget)
        ]
    return tuple(models), sizes


def _evaluated(
    request: ReportRequest, design: KFold, positive: Any, estimator: Any, X: Any
) -> Evaluation:
    """Evaluate a classifier; its predictions are decisions at the costs of the report, if any."""
    evaluation = evaluate(
        estimator,
        X,
        request.y,
        design=design,
        positive=positive,
        cost=request.cost,
        groups=request.groups,
        sample_weight=request.weights,
        random_state=request.seed,
    )
    if decides_by_costs(request, estimator) or evaluation.probabilities is None:
        return evaluation
    decisions = cheapest_decision(evaluation.probabilities, np.asarray(request.cost))
    return replace(evaluation, prediction=decisions)


def _family(
    request: ReportRequest,
    table: EncodedTable,
    fitted: TreeClassifier,
    majority: Evaluation,
    c45_leaves: int,
) -> tuple[list[EvaluatedModel], tuple[EvaluatedSize, ...]]:
    """Return the tree of the report, other trees whose size is chosen, and trees of given sizes.

    The first has the evaluation of the tree whose size is chosen; so has the default tree, which
    is there if that is another one.
    """
    sized, chosen = sized_tree(request), fitted
    is_sized = report_tree(request).pruning == "auto"
    if not is_sized or fitted.size_curve_ is None:
        chosen = _fitted(request, sized, table, random_state=request.seed)
    curve = chosen.size_curve_
    assert curve is not None
    best_leaves = int(curve.n_leaves[curve.smallest_within(0.0)])
    if n_rounds_at_most(table.n_rows) > 2:
        # In a small table it is chosen by other rounds of folds than the tree of the report.
        options = {"margin": 0.0, "max_leaves": None, "random_state": request.seed}
        best_leaves = _fitted(request, sized, table, **options).get_n_leaves()
    shown = SIZES_BEYOND * max(best_leaves, chosen.tree_.n_leaves, c45_leaves, 8)
    most_leaves = curve_sizes(max(1, min(int(curve.n_leaves.max()), int(shown))))
    of_chosen, of_best, *of_sizes = _evaluate_family(request, table, sized, majority, most_leaves)
    n_leaves = fitted.tree_.n_leaves
    models = [EvaluatedModel("this", THIS_TREE, "the tree of this report", n_leaves, of_chosen)]
    if not is_sized:
        text = "the smallest tree that is nearly as good as the best"
        n_leaves = chosen.tree_.n_leaves
        models.append(EvaluatedModel("other", DEFAULT_TREE, text, n_leaves, of_chosen))
    text = "the size that is best in cross-validation of the training rows, however large"
    models.append(EvaluatedModel("size", MARGIN_ZERO, text, best_leaves, of_best))
    return models, tuple(map(EvaluatedSize, most_leaves, of_sizes))


def _rivals(
    request: ReportRequest, table: EncodedTable, matrix: NDArray[np.float32], budget: Budget
) -> list[tuple[str, str, Any, Any]]:
    """Return models of other libraries with their name, description and table.

    They take too long to fit on all rows of a large table.
    """
    most, is_large = budget.bagged_rows, table.n_rows > budget.bagged_rows
    sample = f", fitted to {most:,} of the rows, because the table is large" if is_large else ""
    columns = (
        f"the {max_categories(table)} most frequent categories of each column become 0/1 columns"
    )
    n_trees = budget.forest_trees
    of_logistic = (
        "scikit-learn's LogisticRegression with its defaults, of scaled columns; missing numbers "
        f"are replaced by the median{sample}; {columns}"
    )
    of_forest = f"scikit-learn's RandomForestClassifier with {n_trees} trees{sample}; {columns}"
    rivals: list[tuple[str, str, Any, Any]] = [
        (LOGISTIC, of_logistic, Sampled(logistic_regression(), most), matrix),
        (FOREST, of_forest, Sampled(RandomForestClassifier(n_trees), most), matrix),
    ]
    for model in request.against:
        if isinstance(model, TreeClassifier | BaggedTreesClassifier | Pipeline):
            # Our own take the table as it is, and pipelines may encode it.
            rivals.append((describe(model), "your own choice", model, request.X))
        else:
            rivals.append((describe(model), f"your own choice; {columns}", model, matrix))
    return rivals


class Sampled(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that is fitted to a sample of the rows, drawn without replacement."""

    def __init__(
        self, estimator: Any = None, max_rows: int = 100_000, random_state: int | None = None
    ) -> None:
        self.estimator = estimator
        self.max_rows = max_rows
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "Sampled":
        """Draw the sample and fit the classifier."""
        n = len(y)
        if n > self.max_rows:
            rng = np.random.default_rng(self.random_state)
            rows = np.sort(rng.choice(n, self.max_rows, replace=False))
            X, y = X[rows], np.asarray(y)[rows]
            sample_weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
        self.estimator_ = clone(self.estimator)
        names = [name for name in self.estimator_.get_params() if name.endswith("random_state")]
        self.estimator_.set_params(**dict.fromkeys(names, self.random_state))
        options = {}
        if sample_weight is not None:
            is_pipeline = isinstance(self.estimator_, Pipeline)
            last = f"{self.estimator_.steps[-1][0]}__" if is_pipeline else ""
            options[f"{last}sample_weight"] = sample_weight
        self.estimator_.fit(X, y, **options)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted classes."""
        return self.estimator_.predict(X)

    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities."""
        return self.estimator_.predict_proba(X)


def _bag_words(n_rows: int, budget: Budget) -> str:
    rows = "the rows"
    if n_rows > budget.bagged_rows:
        rows = f"{budget.bagged_rows:,} of the rows, because the table is large"
    return (
        f"{budget.bagged_trees} unpruned trees, each grown on a bootstrap sample of {rows}; their "
        "mean probability decides"
    )


def _constants(request: ReportRequest, majority: Evaluation) -> list[EvaluatedModel]:
    """Return the model that always predicts one class: the most frequent, or each at costs."""
    if request.cost is None:
        text = "always predicts the most frequent class"
        return [EvaluatedModel("constant", MAJORITY, text, 1, majority)]
    constants = []
    for code, label in enumerate(majority.classes.tolist()):
        name, decision = f"always {request.label(label)}", np.full(len(majority.row), code)
        certain = np.eye(len(majority.classes))[decision]
        always = replace(majority, prediction=decision, probabilities=certain, estimator=name)
        text = "the same decision for every row"
        constants.append(EvaluatedModel("constant", name, text, 1, always))
    return constants


def curve_sizes(most: int) -> list[int]:
    """Return the numbers of leaves on the curve of sizes, up to about ``most``.

    Examples
    --------
    >>> curve_sizes(5), curve_sizes(100)[-3:]
    ([1, 2, 3, 4, 5], [48, 64, 100])
    """
    doubled = (2**power for power in range(6, most.bit_length()))
    return [*(size for size in (*FIRST_SIZES, *doubled) if size < most), most]


def _evaluate_family(
    request: ReportRequest,
    table: EncodedTable,
    tree: TreeClassifier,
    majority: Evaluation,
    most_leaves: Sequence[int],
) -> list[Evaluation]:
    """Evaluate a tree with pruning="auto", its most accurate size and given sizes.

    All come from one cross-validation per split, and equal those of `evaluate` with this tree; with
    a margin of 0 and no largest number of leaves; and with each size as `max_leaves`. A category
    that a split tests but does not train on is no error here.
    """
    if tree.unseen == "error":
        tree = clone(tree).set_params(unseen="mixture")
    labelled = read_labelled_table(
        table, request.y, groups=request.groups, sample_weight=request.weights
    )
    fitter = make_fitter(tree, labelled, majority.seed)
    splits = majority.design.splits(labelled.codes, groups=labelled.groups, seed=majority.seed)
    keep = request.cost is None and is_rare(np.bincount(labelled.codes, labelled.weights).tolist())
    cost = None if decides_by_costs(request, tree) else np.asarray(request.cost)
    jobs = ((split, number, most_leaves, keep, cost) for number, split in enumerate(splits))
    fits = fitter.run(_fit_family, jobs, None)
    by_split = list(track(fits, total=len(majority.splits), what="Fitting"))
    evaluations = []
    for which in range(2 + len(most_leaves)):
        parts = [outcome[which] for outcome in by_split]
        tables = [probabilities for _, probabilities in parts if probabilities is not None]
        evaluations.append(
            replace(
                majority,
                estimator=describe(tree),
                prediction=np.concatenate([prediction for prediction, _ in parts]),
                probabilities=np.concatenate(tables) if tables else None,
            )
        )
    return evaluations


Predicted = tuple[NDArray[np.int64], NDArray[np.float64] | None]


def _fit_family(
    fitter: Fitter,
    split: Split,
    number: int,
    most_leaves: Sequence[int],
    keep: bool,
    cost: NDArray[np.float64] | None,
) -> list[Predicted]:
    """Return the predictions of one split by every tree.

    Probabilities by trees of given sizes are only kept if requested: they take much memory. With
    costs, predictions are the decisions of least expected cost, of trees that do not know them.
    """
    tree = fresh_copy(fitter.estimator, fitter.seed, number)
    shared = cast(TreeRefits, fitter.refits)
    refits = shared.fit_family(tree, split.train, most_leaves, n_threads=fitter.n_threads)
    outcomes: list[Predicted] = []
    for index, refit in enumerate(refits):
        prediction, probabilities = fitter.predict_codes(refit, split.test)
        if cost is not None and probabilities is not None:
            prediction = cheapest_decision(probabilities, cost)
        outcomes.append((prediction, probabilities if keep or index < 2 else None))
    return outcomes


def _fitted(request: ReportRequest, tree: TreeClassifier, X: Any, **options: Any) -> Any:
    """Fit a copy with other options on all rows, to count its leaves."""
    changed = clone(tree).set_params(**options)
    return changed.fit(X, request.y, sample_weight=request.weights)
