"""make_report: a table and its labels in, a report out."""

import datetime
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from json import dumps
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from sureleaf.arguments import check_number, check_weights
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.estimators import TreeClassifier
from sureleaf.estimators.parameters import hint_for
from sureleaf.evaluation.labelled_table import find_classes, positive_class
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.files.atomic_write import atomic_write
from sureleaf.report.document import ReportDocument, build_document
from sureleaf.report.document_schema import plain_values
from sureleaf.report.request import Budget, Origin, Progress, ReportRequest
from sureleaf.report.results import compute_results


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """A report: every number and sentence, and how to write them to files.

    Attributes
    ----------
    document : ReportDocument
        As docs/report-json.md describes it.
    tree : TreeClassifier
        The fitted tree, which ``report.tree.save("tree.sureleaf")`` writes.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, budget=Budget(3, 1, 3, 2, 10))
    >>> report.document.tree.n_leaves, report.to_dict()["schema"]
    (2, 'sureleaf-report/1')
    """

    document: ReportDocument
    tree: TreeClassifier

    def to_dict(self) -> dict[str, Any]:
        """Return the document as dicts, lists, text, numbers and None."""
        values: dict[str, Any] = plain_values(self.document)
        return values

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write the document as JSON; an older file is replaced only when all is written."""
        self.save(json=path)

    def to_html(self, path: str | PathLike[str], *, one_page: bool = False) -> None:
        """Write the page, or its first screen: one file that needs nothing else."""
        self.save(path, one_page=one_page)

    def save(
        self,
        page: str | PathLike[str] | None = None,
        json: str | PathLike[str] | None = None,
        *,
        one_page: bool = False,
    ) -> None:
        """Write the page, the JSON, or both; no file is replaced before all are written."""
        from sureleaf.report.html import render_page

        values = self.to_dict()
        with ExitStack() as files:
            if page is not None:
                file = files.enter_context(atomic_write(page))
                file.write(render_page(values, one_page=one_page).encode())
                file.flush()
            if json is not None:
                text = dumps(values, allow_nan=False, ensure_ascii=False)
                files.enter_context(atomic_write(json)).write(f"{text}\n".encode())

    @property
    def sentences(self) -> list[str]:
        """The first screen: the headline, the expectation, and the answers to three questions."""
        answer = self.document.answer
        told = [f"{one.short} {one.text}".strip() for one in answer.sentences]
        return [answer.headline, answer.detail, *told]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"Report({self.document.answer.headline})"

    def _repr_html_(self) -> str:
        from sureleaf.report.html import fragment

        return fragment(self.to_dict())


def make_report(  # noqa: PLR0913 - one task, named options
    X: Any,
    y: ArrayLike,
    *,
    tree: TreeClassifier | None = None,
    target: str | None = None,
    positive: object = None,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    confidence: float | None = 0.95,
    utility: float | None = None,
    margin: float | None = None,
    labels: Mapping[Any, str] | None = None,
    unit: str | None = None,
    against: Sequence[Any] = (),
    seed: int = 0,
    title: str | None = None,
    origin: Origin | None = None,
    budget: Budget | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **parameters: Any,
) -> Report:
    """Grow a tree and report how far it can be trusted.

    Parameters
    ----------
    X : table
        As for `TreeClassifier.fit`.
    y : array-like of labels
        At least two classes.
    tree : TreeClassifier, optional
        The tree to report on, by default ``TreeClassifier()``. A tree that is not fitted is fitted
        here, with weights as importances. A fitted tree is reported as it is, with the rows that it
        was fitted on; its accuracy on unseen rows is estimated by trees that are grown anew with
        its parameters.
    target : str, optional
        Name of what is predicted; by default the name of y, if it has one.
    positive : label, optional
        The class that recall, ROC and calibration are about. By default the one of two that is
        called yes, true, positive or bad, or 1 beside 0 or -1; otherwise the rarest.
    cost : array-like of shape (m, m), optional
        ``cost[actual][predicted]``, classes sorted; by default the costs of `tree`, and without
        them every error costs 1. A tree that is fitted here is grown for the costs. A fitted tree
        keeps its tests, and its leaves decide by the costs (`TreeClassifier.with_cost`).
    groups : array-like, optional
        Rows of a group stay together in every fold.
    sample_weight : array-like, optional
        Importance weights. They are scaled to a mean of 1; unequal weights count as fewer rows,
        in leaves and in intervals.
    level : float
        Level of all intervals.
    confidence, utility : float or None
        Leaves below these levels are flagged.
    margin : float, optional
        Differences in accuracy up to this size do not count: between models, and (unless `tree` is
        given) for the size of the tree. By default the tree's own margin, and between models a
        tenth of the error of always predicting the most frequent class, at most 0.01.
    labels : mapping, optional
        Names of classes on the page, such as ``{1: "default", 0: "paid"}``.
    unit : str, optional
        Unit of the costs, such as ``"€"``.
    against : sequence of classifiers, optional
        Further classifiers of scikit-learn's form to compare the tree with. Pipelines get the table
        as it is; others get numbers, with categories as 0/1 columns.
    seed : int
        The same seed gives the same numbers.
    title : str, optional
    origin : Origin, optional
        Where the rows come from; overrides target and title.
    budget : Budget, optional
        Folds, repeats and bootstrap samples; by default chosen by the number of rows.
    n_jobs : int, optional
        Number of threads.
    progress : callable, optional
        Receives the stage that begins and the share of the work that is done.
    **parameters
        Parameters of the tree, such as ``max_leaves=8``. If `tree` is given, too, they change its
        parameters, and it is fitted here.

    Returns
    -------
    Report

    Raises
    ------
    InvalidArgumentError
        If there are fewer than two classes, or too few rows.
    InvalidTypeError
        If `tree` is not a TreeClassifier, or it does not have such a parameter.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i, i % 7] for i in range(60)], ["low"] * 30 + ["high"] * 30
    >>> report = make_report(rows, labels, target="height", budget=Budget(5, 1, 5, 3, 20))
    >>> print(report.sentences[0])
    This tree predicts 98.3 % of new rows correctly.
    """
    start = time.perf_counter()
    tree = _tree(tree, margin, parameters)
    if origin is None:
        name = getattr(y, "name", None) if target is None else target
        origin = Origin(name if isinstance(name, str) and name else "target", title=title)
    own = _check_labels(y)
    if cost is None and tree is not None:
        cost = tree.model_.cost if tree.__sklearn_is_fitted__() else tree.cost
    _check(own, cost, positive, seed)
    weights = _scaled(sample_weight, len(own))
    request = ReportRequest(
        X if hasattr(X, "shape") or hasattr(X, "__array__") else np.array(X, dtype=object),
        own,
        origin=origin,
        groups=groups,
        weights=weights,
        positive=positive,
        cost=cost,
        level=level,
        confidence=confidence,
        utility=utility,
        margin=_default_margin(own, weights) if margin is None else _check_margin(margin),
        auc_margin=0.01 if margin is None else margin,
        seed=seed,
        n_jobs=n_jobs,
        budget=budget,
        tree=tree,
        labels=_check_names(labels, own),
        unit=unit,
        against=tuple(against),
    )
    results = compute_results(request, progress)
    document = build_document(results, start)
    if progress is not None:
        progress("Done", 1.0)
    return Report(document, results.tree)


def _check_margin(margin: float) -> float:
    if not 0 <= margin < 1:
        raise InvalidArgumentError(
            f"margin must be at least 0 and below 1; got {margin!r}. 0.01 is one percentage point."
        )
    return margin


def _tree(tree: Any, margin: float | None, parameters: dict[str, Any]) -> TreeClassifier:
    """Return the tree to report on, with the parameters that are given apart from it."""
    if tree is not None and not isinstance(tree, TreeClassifier):
        got = tree.__name__ if isinstance(tree, type) else type(tree).__name__
        raise InvalidTypeError(
            f"tree must be a TreeClassifier; got {got}. sureleaf.audit reports on fitted models of "
            "other kinds."
        )
    known = TreeClassifier().get_params()
    for name in parameters:
        if name not in known:
            is_tree = hasattr(parameters[name], "fit")
            hint = " Give a tree as tree=..." if is_tree else hint_for(name, known)
            raise InvalidTypeError(
                f"make_report takes its own options and the parameters of TreeClassifier; got "
                f"{name!r}.{hint}"
            )
    if tree is None:
        own = {} if margin is None else {"margin": margin}
        return TreeClassifier(**own | parameters)
    if not parameters:
        return tree
    changed: TreeClassifier = clone(tree).set_params(**parameters)
    return changed


_TIMES = datetime.date | datetime.time | datetime.timedelta


def _check_labels(y: ArrayLike) -> Any:
    labels = np.asarray(y)
    classes = sorted({str(label) for label in labels.tolist()}) if labels.ndim == 1 else []
    if labels.ndim != 1 or len(classes) < 2:
        got = f"an array of shape {labels.shape}" if labels.ndim != 1 else str(classes)
        raise InvalidArgumentError(
            f"y must have one label per row and at least two classes; got {got}. With one class "
            "there is nothing to predict."
        )
    first = labels.tolist()[0]
    if labels.dtype.kind in "mM" or isinstance(first, _TIMES):
        raise InvalidArgumentError(
            f"the labels of a report must be text, bools or whole numbers; got {first!r}. Write "
            "them as text first: scikit-learn's trees, with which yours is compared, take no times."
        )
    return labels


def _check_names(labels: Mapping[Any, str] | None, y: Any) -> dict[Any, str]:
    """Check the names of classes: one per class, and no two alike."""
    names = dict(labels or {})
    classes = set(y.tolist())
    unknown = sorted(str(one) for one in names if one not in classes)
    if unknown:
        raise InvalidArgumentError(
            f"labels must name classes of y, {sorted(map(str, classes))}; got {unknown[0]!r}."
        )
    shown = [names.get(one, str(one)) for one in classes]
    if len(set(shown)) < len(shown):
        raise InvalidArgumentError(
            f"labels must give every class its own name; got {sorted(shown)}."
        )
    return names


def _check(labels: Any, cost: ArrayLike | None, positive: object, seed: int) -> None:
    """Check what is given before the models are fitted, which may take hours."""
    check_number("seed", seed, low=0, high=2**32 - 1, whole=True)  # of scikit-learn's trees
    if positive is not None:
        positive_class(positive, find_classes(None, labels))
    if cost is None:
        return
    n_classes = len(set(labels.tolist()))
    matrix = check_cost(cost, n_classes)
    if matrix.shape != (n_classes, n_classes):
        raise InvalidArgumentError(
            f"cost must have one row and one column per class, shape ({n_classes}, {n_classes}); "
            f"got shape {matrix.shape}."
        )


def _scaled(sample_weight: ArrayLike | None, n_rows: int) -> Any:
    """Scale weights to a mean of 1 over rows with a positive weight, so that counts are rows."""
    weights = check_weights(sample_weight, n_rows)
    if weights is None:
        return None
    weights = weights / weights.max()  # so that no sum overflows
    return weights * (np.count_nonzero(weights) / weights.sum())


def _default_margin(labels: Any, weights: Any) -> float:
    """Return the default margin: with rare classes, 0.01 may be all that there is to gain."""
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes, weights)
    return float(min(0.01, 0.1 * (1 - counts.max() / counts.sum())))
