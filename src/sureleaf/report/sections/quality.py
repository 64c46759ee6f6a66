"""Section 5: what the cross-validation's predictions are worth, and what to decide by them."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.evaluation import Evaluation, Measure
from sureleaf.evaluation.intervals import wilson
from sureleaf.evaluation.measures import ranking, roc
from sureleaf.evaluation.measures.calibration import expected_calibration_error
from sureleaf.evaluation.measures.named import Scored
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.decision import decide_binary, decide_classes
from sureleaf.report.values import estimate_of, numbers

__all__ = ["BAND_METHOD", "Cells", "RocBand", "page_scores", "quality_section", "roc_band"]


# Out-of-sample predictions, each row with its weight, and what the page needs of them.

DIGITS = 4
MOST_ENTRIES = 4_000


class Cells:
    """All out-of-sample predictions of an evaluation; those of one row share its weight.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> judged = evaluate(GaussianNB(), X, y, design=KFold(2, repeats=3), random_state=0)
    >>> cells = Cells(judged)
    >>> len(cells.row), round(float(cells.weight.sum()), 6)
    (12, 4.0)
    """

    def __init__(self, judged: Evaluation) -> None:
        at = np.flatnonzero(np.isin(judged.split, judged.main_splits))
        self.row = judged.row[at]
        times = np.bincount(self.row, minlength=len(judged.truth))
        own = np.ones(len(at)) if judged.weights is None else judged.weights[self.row]
        self.weight = own / times[self.row]
        self.truth = judged.truth[self.row]
        self.prediction = judged.prediction[at]
        assert judged.probabilities is not None
        self.probabilities = judged.probabilities[at]
        self.unit = self.row if judged.groups is None else judged.groups[self.row]

    def confusion(self, k: int) -> NDArray[np.float64]:
        """Count actual classes by predicted ones."""
        table = np.bincount(self.truth * k + self.prediction, self.weight, minlength=k * k)
        return np.asarray(table.reshape(k, k).round(9), dtype=np.float64)


def page_scores(cells: Cells, k: int, positive: int, seed: int) -> dict[str, Any]:
    """Return what the page computes decisions from: scores of two classes, or rows of more.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> judged = evaluate(GaussianNB(), X, y, design=KFold(2), random_state=0)
    >>> sum(page_scores(Cells(judged), 2, 1, seed=0)["positive"])
    2.0
    """
    if k == 2:
        stated = cells.probabilities[:, positive].round(DIGITS)
        score, place = np.unique(stated, return_inverse=True)
        is_positive = cells.truth == positive
        return {
            "kind": "binary",
            "digits": DIGITS,
            "score": score.tolist(),
            "negative": np.bincount(place, cells.weight * ~is_positive).round(9).tolist(),
            "positive": np.bincount(place, cells.weight * is_positive).round(9).tolist(),
        }
    lines = np.column_stack([cells.truth, cells.probabilities.round(DIGITS)])
    weight, total = cells.weight, float(cells.weight.sum())
    distinct, place = np.unique(lines, axis=0, return_inverse=True)
    sampled = len(distinct) > MOST_ENTRIES
    if sampled:
        drawn = np.random.default_rng(seed).choice(len(lines), MOST_ENTRIES, replace=False)
        lines, weight = lines[drawn], weight[drawn] * (total / weight[drawn].sum())
        distinct, place = np.unique(lines, axis=0, return_inverse=True)
    mass = np.bincount(place.ravel(), weight)
    return {
        "kind": "classes",
        "digits": DIGITS,
        "sampled": sampled,
        "rows": [
            {"truth": int(line[0]), "weight": float(w), "probabilities": line[1:].tolist()}
            for line, w in zip(distinct, mass, strict=True)
        ],
    }


# A ROC curve with a pointwise band: at each false positive rate, where the true rate may lie.

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_POINTS = 400
BAND_METHOD = (
    "pointwise: percentiles of the true positive rate at each false positive rate over bootstraps "
    "of the rows (of groups where there are), and never narrower than Wilson's interval"
)


@dataclass(frozen=True, eq=False)
class RocBand:
    """A thinned ROC curve and its band.

    Attributes
    ----------
    false_positive_rate, true_positive_rate, low, high : ndarray
        At most 400 points, from (0, 0) to (1, 1).
    area : float

    Examples
    --------
    >>> scores, truth = np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])
    >>> found = roc_band(scores, truth, np.arange(4), np.ones(4), draws=50, level=0.95, seed=0)
    >>> found.area, float(found.low[0]), float(found.high[-1])
    (0.75, 0.0, 1.0)
    """

    false_positive_rate: Floats
    true_positive_rate: Floats
    low: Floats
    high: Floats
    area: float


def roc_band(
    scores: Floats,
    positive: NDArray[np.bool_],
    unit: Integers,
    weights: Floats,
    *,
    draws: int,
    level: float,
    seed: int,
) -> RocBand:
    """Compute the curve of scored predictions and the band that their units leave open.

    Parameters
    ----------
    scores, positive, weights : ndarray
        Score, truth and weight of each prediction.
    unit : ndarray of int
        What is drawn again as a whole: the row (which may have been predicted more than once), or
        its group. Units of one class are drawn within their class.
    draws : int
    level : float
    seed : int

    Returns
    -------
    RocBand

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(200) < 0.4
    >>> scores = rng.normal(size=200) + truth
    >>> found = roc_band(scores, truth, np.arange(200), np.ones(200), draws=100, level=0.95, seed=0)
    >>> bool((found.low <= found.true_positive_rate).all())
    True
    """
    curve = roc(positive, scores, sample_weight=weights)
    x, y = _thinned(curve.false_positive_rate, curve.true_positive_rate)
    _, order = np.unique(-scores, return_inverse=True)
    _, units = np.unique(unit, return_inverse=True)
    heights = _drawn_heights(order, positive, units, weights, x, draws=draws, seed=seed)
    tail = (1 - level) / 2
    low, high = np.quantile(heights, [tail, 1 - tail], axis=0) if len(heights) else (y, y)
    mass = np.bincount(units, weights * positive)
    n = float(mass.sum() ** 2 / (mass**2).sum())
    own = np.array([wilson(min(rate, 1.0) * n, n, level=level) for rate in y])
    low, high = np.minimum(low, own[:, 0]), np.maximum(high, own[:, 1])
    low[y == 0], high[y == 1] = 0.0, 1.0
    return RocBand(x, y, np.minimum(low, y), np.maximum(high, y), curve.area)


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Keep points at even steps along the curve, both ends among them."""
    if len(x) <= MOST_POINTS:
        return x, y
    way = x + y
    picks = np.searchsorted(way, np.linspace(0, way[-1], MOST_POINTS - 1))
    kept = np.unique(np.concatenate([[0], picks, [len(x) - 1]]).clip(0, len(x) - 1))
    return x[kept], y[kept]


def _drawn_heights(
    order: Integers,
    positive: NDArray[np.bool_],
    units: Integers,
    weights: Floats,
    x: Floats,
    *,
    draws: int,
    seed: int,
) -> Floats:
    """Find true positive rates at the false positive rates x, a line a bootstrap of the units."""
    random = np.random.default_rng(seed)
    n_units, n_scores = int(units.max()) + 1, int(order.max()) + 1
    has_yes = np.bincount(units, positive, minlength=n_units) > 0
    has_no = np.bincount(units, ~positive, minlength=n_units) > 0
    kind = np.where(has_yes & has_no, 2, np.where(has_yes, 1, 0))
    strata = (
        [np.flatnonzero(kind == k) for k in range(3)]
        if not (kind == 2).any()
        else [np.arange(n_units)]
    )
    heights = []
    for _ in range(draws):
        times = np.zeros(n_units)
        for members in strata:
            if len(members):
                drawn = members[random.integers(len(members), size=len(members))]
                times += np.bincount(drawn, minlength=n_units)
        w = weights * times[units]
        yes = np.bincount(order, w * positive, minlength=n_scores)
        no = np.bincount(order, w * ~positive, minlength=n_scores)
        if yes.sum() > 0 and no.sum() > 0:
            rise = np.concatenate([[0.0], np.cumsum(yes) / yes.sum()])
            run = np.concatenate([[0.0], np.cumsum(no) / no.sum()])
            heights.append(np.interp(x, run, rise))
    return np.array(heights)


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


def quality_section(found: ReportResults) -> dict[str, Any]:
    """Return the section of quality.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> report = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10))
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


def _design(found: ReportResults) -> str:
    effort = found.effort
    kept = ", groups kept together" if found.judged.groups is not None else ""
    text = f"{effort.folds}-fold cross-validation, classes in equal shares{kept}"
    if effort.repeats > 1:
        text += f", {effort.repeats} times; counts are means over the {effort.repeats} times"
    return text


def _cost(found: ReportResults) -> NDArray[np.float64]:
    k = len(found.labels)
    if found.asked.cost is None:
        return 1.0 - np.eye(k)
    return np.asarray(found.asked.cost, dtype=np.float64)


def _measures(found: ReportResults, confusion: NDArray[np.float64]) -> list[dict[str, Any]]:
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


def _by_class(found: ReportResults, confusion: NDArray[np.float64]) -> list[dict[str, Any]]:
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


def _roc(found: ReportResults, cells: Cells) -> dict[str, Any] | None:
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


def _calibration(found: ReportResults, cells: Cells) -> dict[str, Any]:
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


def _folds(found: ReportResults) -> dict[str, Any]:
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
