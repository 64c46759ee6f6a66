"""make_report: a table and a target in, every number of the report out."""

import json
import platform
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.arguments import check_weights
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.labelled_table import find_classes, positive_class
from sureleaf.evaluation.measures.costs import check_cost
from sureleaf.files.atomic_write import atomic_write
from sureleaf.report.request import Budget, Origin, Progress, ReportRequest
from sureleaf.report.results import gather
from sureleaf.report.sections.answer import answer_section
from sureleaf.report.sections.data import data_section
from sureleaf.report.sections.error import error_section
from sureleaf.report.sections.methods import methods_section
from sureleaf.report.sections.models import models_section
from sureleaf.report.sections.quality import quality_section
from sureleaf.report.sections.tree import tree_section

__all__ = ["SCHEMA", "Report", "made_section", "make_report"]


# With what a document was made, and when.


def made_section(origin: Origin) -> dict[str, Any]:
    """Return versions, the date and what is known of the file.

    Examples
    --------
    >>> made_section(Origin("class"))["numpy"] == np.__version__
    True
    """
    import scipy
    import sklearn

    import sureleaf

    return {
        "sureleaf": sureleaf.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit_learn": sklearn.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "data_sha256": origin.data_sha256,
    }


SCHEMA = "sureleaf-report/1"


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """Every number of a report, as docs/report-json.md describes it.

    Attributes
    ----------
    document : dict
        Plain dicts, lists, text, numbers and None.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10))
    >>> report.to_dict()["schema"]
    'sureleaf-report/1'
    """

    document: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the document; a copy, so that the report stays as it is."""
        copy: dict[str, Any] = json.loads(json.dumps(self.document, allow_nan=False))
        return copy

    def to_json(self, path: str | PathLike[str]) -> None:
        """Write the document as JSON; an older file is replaced only by a whole new one."""
        text = json.dumps(self.document, allow_nan=False, ensure_ascii=False)
        with atomic_write(path) as file:
            file.write(f"{text}\n".encode())

    def to_html(self, path: str | PathLike[str]) -> None:
        """Write the page, one file that needs nothing else; whole or not at all."""
        from sureleaf.report.html import render_page

        page = render_page(self.document)
        with atomic_write(path) as file:
            file.write(page.encode())

    @property
    def sentences(self) -> list[str]:
        """The answer: the headline and its sentences."""
        answer = self.document["answer"]
        return [answer["headline"], *(one["text"] for one in answer["sentences"])]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"Report({self.document['answer']['headline']})"

    def _repr_html_(self) -> str:
        from sureleaf.report.html import fragment

        return fragment(self.document)


def make_report(  # noqa: PLR0913 - one question, named options
    X: Any,
    y: ArrayLike,
    *,
    target: str | None = None,
    positive: object = None,
    cost: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    confidence: float | None = 0.95,
    utility: float | None = None,
    margin: float | None = None,
    seed: int = 0,
    title: str | None = None,
    origin: Origin | None = None,
    effort: Budget | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Grow a tree and find out how far it can be trusted.

    Parameters
    ----------
    X : table
        As for `TreeClassifier.fit`.
    y : array-like of labels
        Two classes at least.
    target : str, optional
        What is predicted, in words; by default the name of y, if it has one.
    positive : label, optional
        The class that recall, ROC and calibration speak of; by default the rarest.
    cost : array-like of shape (m, m), optional
        ``cost[actual][predicted]``, classes sorted; by default every mistake costs 1.
    groups : array-like, optional
        Rows of a group stay together in every fold.
    sample_weight : array-like, optional
        Importances: they are scaled to a mean of 1, and unequal ones make fewer rows of equal
        weight, in leaves and intervals alike.
    level : float
        Of all intervals.
    confidence, utility : float or None
        Leaves below are flagged.
    margin : float, optional
        Differences of accuracy up to this size count as none; by default a tenth of what always
        saying the most frequent class gets wrong, and 0.01 at most.
    seed : int
        The same seed gives the same numbers.
    title : str, optional
    origin : Origin, optional
        Where the rows come from; overrides target and title.
    effort : Budget, optional
        Folds, repeats and bootstraps; by default what the number of rows calls for.
    n_jobs : int, optional
        Threads.
    progress : callable, optional
        Is told the stage that begins and the share of the work that is done.

    Returns
    -------
    Report

    Raises
    ------
    InvalidArgumentError
        If there are less than two classes, or too few rows.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i, i % 7] for i in range(60)], ["low"] * 30 + ["high"] * 30
    >>> report = make_report(rows, labels, target="height", effort=Budget(5, 1, 5, 3, 20))
    >>> print(report.sentences[0])
    On rows it has not seen, this tree will predict “height” right some 98 times in 100 (95 %
    interval 91 to 100).
    """
    start = time.perf_counter()
    if origin is None:
        named = getattr(y, "name", None) if target is None else target
        origin = Origin(named if isinstance(named, str) and named else "target", title=title)
    labels = _check_labels(y)
    if cost is not None:
        _check_cost(cost, len(set(labels.tolist())))
    if positive is not None:
        positive_class(positive, find_classes(None, labels))
    weights = _scaled(sample_weight, len(labels))
    margin = _usual_margin(labels, weights) if margin is None else margin
    if not 0 <= margin < 1:
        raise InvalidArgumentError(f"margin must be at least 0 and below 1; got {margin!r}.")
    X = X if hasattr(X, "shape") or hasattr(X, "__array__") else np.array(X, dtype=object)
    asked = ReportRequest(
        X,
        labels,
        groups=groups,
        weights=weights,
        positive=positive,
        cost=cost,
        level=level,
        confidence=confidence,
        utility=utility,
        margin=margin,
        seed=seed,
        n_jobs=n_jobs,
        effort=effort,
    )
    found = gather(asked, progress)
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "made": {
            **made_section(origin),
            "seed": seed,
            "command": origin.command or f"make_report(X, y, seed={seed})",
            "seconds": 0.0,
        },
        "answer": {},
        "data": data_section(found, origin),
        "tree": tree_section(found),
        "quality": quality_section(found),
        "error": error_section(found),
        "models": models_section(found),
        "methods": methods_section(found, origin),
    }
    document["answer"] = answer_section(document)
    document["made"]["seconds"] = time.perf_counter() - start
    if progress is not None:
        progress("Done", 1.0)
    return Report(document)


def _check_labels(y: ArrayLike) -> Any:
    labels = np.asarray(y)
    kinds = sorted({str(label) for label in labels.tolist()}) if labels.ndim == 1 else []
    if labels.ndim != 1 or len(kinds) < 2:
        got = "an array of labels with more than one dimension" if labels.ndim != 1 else str(kinds)
        raise InvalidArgumentError(
            f"y must hold one label a row, of two classes at least; got {got}. With one class "
            "there is nothing to predict."
        )
    return labels


def _check_cost(cost: ArrayLike, n_classes: int) -> None:
    """Refuse wrong costs before hours of fitting."""
    matrix = check_cost(cost, n_classes)
    if matrix.shape != (n_classes, n_classes):
        raise InvalidArgumentError(
            f"cost must have a row and a column for each of the {n_classes} classes; got shape "
            f"{matrix.shape}."
        )


def _scaled(sample_weight: ArrayLike | None, n_rows: int) -> Any:
    """Scale weights to a mean of 1 over the rows that have any, so that counts are rows."""
    weights = check_weights(sample_weight, n_rows)
    if weights is None:
        return None
    weights = weights / weights.max()  # so that no sum overflows
    return weights * (np.count_nonzero(weights) / weights.sum())


def _usual_margin(labels: Any, weights: Any) -> float:
    """Return what counts as no difference: on rare classes, 0.01 would be all there is to gain."""
    _, codes = np.unique(labels, return_inverse=True)
    counts = np.bincount(codes, weights)
    return float(min(0.01, 0.1 * (1 - counts.max() / counts.sum())))
