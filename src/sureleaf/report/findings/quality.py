"""Section 5: what the cross-validation's predictions are worth, and what to decide by them."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.evaluation import Measure
from sureleaf.evaluation.measures import ranking
from sureleaf.evaluation.measures.calibration import expected_calibration_error
from sureleaf.evaluation.scored import Scored
from sureleaf.report.findings.cells import Cells, page_scores
from sureleaf.report.findings.decision import decide_binary, decide_classes
from sureleaf.report.findings.gathering import Gathered
from sureleaf.report.findings.plain import estimate_of, numbers
from sureleaf.report.findings.roc_band import BAND_METHOD, roc_band

__all__ = ["quality_section"]

MEANINGS = {
    "accuracy": "share of rows predicted right",
    "balanced_accuracy": "mean over the classes of the share of their rows that is found",
    "precision": "share of the rows predicted {positive} that are {positive}",
    "recall": "share of the {positive} rows that are found",
    "specificity": "share of the other rows that are not called {positive}",
    "f_measure": "harmonic mean of precision and recall",
    "auc": "chance that a row of the class gets a higher probability than one that is not",
    "nce": "log loss in nats: how surprised the stated probabilities are by the truth",
    "quadratic_loss": "squared distance of the stated probabilities from the truth, 0 to 2",
    "cost": "mean cost a row by the cost matrix, with the predictions as they are",
    "decided_cost": "mean cost a row where each gets the decision of least expected cost by its "
    "stated probabilities, no threshold being chosen on these rows",
}
"""Measures of the section, in their order."""

OF_COSTS = ("cost", "decided_cost")
FOR_TWO_CLASSES = ("precision", "recall", "specificity", "f_measure")


def quality_section(found: Gathered) -> dict[str, Any]:
    """Return the section of quality.

    Examples
    --------
    >>> from sureleaf.report import Effort, make_report
    >>> rows, labels = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> report = make_report(rows, labels, effort=Effort(3, 1, 3, 2, 10))
    >>> quality = report.to_dict()["quality"]
    >>> sum(map(sum, quality["confusion"])), quality["scores"]["kind"]
    (40.0, 'binary')
    """
    judged, cells = found.judged, Cells(found.judged)
    k, positive = len(found.labels), judged.positive_code
    confusion, cost = cells.confusion(k), _cost(found)
    scores = page_scores(cells, k, positive, found.asked.seed)
    decision = (
        decide_binary(
            scores["score"], scores["negative"], scores["positive"], cost, positive=positive
        )
        if k == 2
        else decide_classes(
            [row["truth"] for row in scores["rows"]],
            [row["weight"] for row in scores["rows"]],
            [row["probabilities"] for row in scores["rows"]],
            cost,
        )
    )
    return {
        "design": _design(found),
        "positive": positive,
        "labels": found.labels,
        "confusion": confusion.tolist(),
        "measures": _measures(found, confusion),
        "by_class": _by_class(found, confusion),
        "roc": _roc(found, cells),
        "calibration": _calibration(found, cells),
        "scores": scores,
        "cost": cost.tolist(),
        "cost_given": found.asked.cost is not None,
        "decision": decision.to_dict(),
        "folds": _folds(found),
    }


def _design(found: Gathered) -> str:
    effort = found.effort
    kept = ", groups kept together" if found.judged.groups is not None else ""
    text = f"{effort.folds}-fold cross-validation, classes in equal shares{kept}"
    if effort.repeats > 1:
        text += f", {effort.repeats} times; counts are means over the {effort.repeats} times"
    return text


def _cost(found: Gathered) -> NDArray[np.float64]:
    k = len(found.labels)
    if found.asked.cost is None:
        return 1.0 - np.eye(k)
    return np.asarray(found.asked.cost, dtype=np.float64)


def _measures(found: Gathered, confusion: NDArray[np.float64]) -> list[dict[str, Any]]:
    told = []
    code = found.judged.positive_code
    positive, never_said = found.labels[code], confusion[:, code].sum() <= 0
    for name, meaning in MEANINGS.items():
        if (name in FOR_TWO_CLASSES and len(found.labels) != 2) or (
            (name in OF_COSTS and found.asked.cost is None) or (name == "precision" and never_said)
        ):
            continue
        estimate = estimate_of(found.judged, name, level=found.asked.level)
        if estimate is not None:
            better = "high" if found.judged.find(name).greater_is_better else "low"
            of = meaning.format(positive=positive)
            if name == "auc" and len(found.labels) > 2:
                of += ", mean over the classes"
            told.append({"name": name, "of": of, "better": better} | estimate)
    return told


def _by_class(found: Gathered, confusion: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Say of each class how much of it is found, and how much of what is called so is so.

    The same figures and intervals as those of the measures, with each class as the positive one.
    """
    told = []
    for code in range(len(found.labels)):
        judged = replace(found.judged, positive_code=code)
        totals = {"recall": confusion[code].sum(), "precision": confusion[:, code].sum()}
        rates = {
            name: estimate_of(judged, name, level=found.asked.level) if total > 0 else None
            for name, total in totals.items()
        }
        told.append({"class": code} | rates)
    return told


def _roc(found: Gathered, cells: Cells) -> dict[str, Any] | None:
    code = found.judged.positive_code
    is_positive = cells.truth == code
    if is_positive.all() or not is_positive.any():
        return None
    used = cells.weight > 0
    band = roc_band(
        cells.probabilities[used, code],
        is_positive[used],
        cells.unit[used],
        cells.weight[used],
        draws=found.effort.band_draws,
        level=found.asked.level,
        seed=found.asked.seed,
    )
    of_class = Measure("area", _area_of(code), needs_probabilities=True, low=0.0, high=1.0)
    area = estimate_of(found.judged, of_class, level=found.asked.level)
    return {
        "class": code,
        "false_positive_rate": band.false_positive_rate.tolist(),
        "true_positive_rate": band.true_positive_rate.tolist(),
        "low": band.low.tolist(),
        "high": band.high.tolist(),
        "level": found.asked.level,
        "method": BAND_METHOD,
        "area": area
        or {
            "value": band.area,
            "low": None,
            "high": None,
            "level": found.asked.level,
            "method": "of all predictions; undefined in too many folds for an interval",
        },
    }


def _area_of(code: int) -> Any:
    def value(rows: Scored) -> float:
        assert rows.probabilities is not None
        return ranking.auc(
            rows.truth == code, rows.probabilities[:, code], sample_weight=rows.weights
        )

    return value


def _calibration(found: Gathered, cells: Cells) -> dict[str, Any]:
    judged, code = found.judged, found.judged.positive_code
    curve = judged.calibration(level=found.asked.level)
    gap = expected_calibration_error(
        cells.truth == code, cells.probabilities[:, code], sample_weight=cells.weight
    )
    return {
        "class": code,
        "stated": numbers(curve.stated),
        "happened": numbers(curve.observed),
        "count": numbers(curve.rows),
        "low": numbers(curve.low),
        "high": numbers(curve.high),
        "level": curve.level,
        "outside": curve.outside,
        "method": "where the observed share would lie if the stated probabilities were right",
        "error": {
            "value": gap,
            "low": None,
            "high": None,
            "level": found.asked.level,
            "method": "mean gap over ten ranges of equal width; chance alone makes it positive, so "
            "there is no valid interval",
        },
    }


def _folds(found: Gathered) -> dict[str, Any]:
    """Give `sureleaf compare old.json new.json` the figures fold by fold, and which folds."""
    judged = found.judged
    names = ["accuracy", "balanced_accuracy", "auc", "nce", "quadratic_loss"]
    if found.asked.cost is not None:
        names.extend(OF_COSTS)
    return {
        "rows_id": judged.rows_id,
        "splits_id": judged.splits_id,
        "weights_id": _fingerprint(judged.weights),
        "cost_id": _fingerprint(judged.cost_matrix),
        "rows": found.n_rows,
        "test_to_train": judged.test_to_train,
        "values": {name: numbers(judged.split_values(name)) for name in names},
    }


def _fingerprint(values: NDArray[np.float64] | None) -> str | None:
    if values is None:
        return None
    return hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()
