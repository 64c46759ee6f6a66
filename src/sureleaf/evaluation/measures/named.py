"""Measures by name, with the facts about them that choose their interval.

To add a measure, add it to `NAMED`, and its plain function to the public functions in
`sureleaf.evaluation.measures`.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray, IntArray, check_share, row_weights
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, suggestion
from sureleaf.evaluation.measures import losses, ranking, rates
from sureleaf.evaluation.measures.rates import count_pairs
from sureleaf.levels.decisions import cheapest_decision, predicted_class


@dataclass(frozen=True, eq=False)
class Scored:
    """Truth, prediction and probabilities of some rows, ready for a measure.

    Truth, prediction and the positive class are codes. There may be a cost matrix.
    """

    truth: IntArray
    prediction: IntArray
    probabilities: FloatArray | None
    weights: FloatArray | None
    cost: FloatArray | None
    n_classes: int
    positive: int

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def row_weights(self) -> FloatArray:
        """Weights of the rows, 1 for each if they have none."""
        return row_weights(self.weights, len(self))

    def take(self, rows: IntArray) -> "Scored":
        """Return the rows with these numbers, which may repeat."""
        return Scored(
            self.truth[rows],
            self.prediction[rows],
            None if self.probabilities is None else self.probabilities[rows],
            None if self.weights is None else self.weights[rows],
            self.cost,
            self.n_classes,
            self.positive,
        )

    def counts(self) -> FloatArray:
        """Return the confusion matrix, of rows or of their weights."""
        pairs = count_pairs(self.truth, self.prediction, self.n_classes, self.weights)
        return pairs.astype(np.float64)


Counted = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""Which rows are counted, and among which."""


@dataclass(frozen=True)
class Measure:
    """A measure, and what decides its interval.

    All functions take `Scored` rows, but that of counts takes a confusion matrix and the code of
    the positive class.

    Examples
    --------
    A custom measure, here the recall of the first class:

    >>> mine = Measure("first recall", lambda rows: float(
    ...     (rows.prediction[rows.truth == 0] == 0).mean()))
    >>> mine.name
    'first recall'
    """

    name: str
    value: Callable[[Scored], float]
    row_values: Callable[[Scored], FloatArray] | None = None  # their weighted mean is the value
    counted: Callable[[Scored], Counted] | None = None  # for a rate
    needs_probabilities: bool = False
    greater_is_better: bool = True
    low: float = -np.inf
    high: float = np.inf
    of_counts: Callable[[FloatArray, int], float] | None = None
    defined: Callable[[Scored], bool] | None = None  # by default for any rows
    needs_cost: bool = False
    note: str = ""  # what the method of every estimate says about the measure

    @property
    def is_of_decisions(self) -> bool:
        """Whether the value depends on the predicted classes only, by rows or by counts."""
        by_rows_or_counts = self.row_values or self.counted or self.of_counts
        return by_rows_or_counts is not None and not self.needs_probabilities

    def check_cost(self, cost: FloatArray | None) -> None:
        """Raise an error if the measure needs a cost matrix and there is none."""
        if self.needs_cost and cost is None:
            raise InvalidArgumentError(
                f"The measure {self.name!r} needs a cost matrix, cost[actual][predicted]: "
                'cost=[[0, 1], [5, 0]], or --cost "0,1;5,0".'
            )

    def of_split(self, rows: Scored) -> float:
        """Return the value of one of several splits, NaN if it is not defined for its rows."""
        return self.value(rows) if self.defined is None or self.defined(rows) else np.nan


def _rate(name: str, counted: Callable[[Scored], Counted], *, greater: bool = True) -> Measure:
    def value(rows: Scored) -> float:
        chosen, among = counted(rows)
        if rows.weights is None:
            return rates.ratio(float((chosen & among).sum()), float(among.sum()))
        # sums: the threads of a vector product would compete with those of the fits
        part, whole = (float(rows.weights.sum(where=own)) for own in (chosen & among, among))
        return rates.ratio(part, whole)

    def is_counted(rows: Scored) -> FloatArray:
        return counted(rows)[0].astype(np.float64)

    whole = name in ("accuracy", "error")  # rates of all rows are means over rows
    return Measure(
        name,
        value,
        is_counted if whole else None,
        counted,
        greater_is_better=greater,
        low=0.0,
        high=1.0,
        defined=lambda rows: _has_weight(rows, counted(rows)[1]),
    )


def _loss(
    name: str,
    row_values: Callable[[Scored], FloatArray],
    high: float = np.inf,
    *,
    counted: Callable[[Scored], Counted] | None = None,
    probabilities: bool = True,
    cost: bool = False,
) -> Measure:
    return Measure(
        name,
        lambda rows: losses.mean_loss(row_values(rows), rows.weights),
        row_values,
        counted,
        needs_probabilities=probabilities,
        greater_is_better=False,
        low=-np.inf if cost else 0.0,
        high=high,
        defined=_any,
        needs_cost=cost,
    )


def _of_table(
    name: str,
    of_counts: Callable[[FloatArray, int], float],
    low: float = 0.0,
    defined: Callable[[Scored], bool] | None = None,
) -> Measure:
    def value(rows: Scored) -> float:
        return of_counts(rows.counts(), rows.positive)

    return Measure(name, value, of_counts=of_counts, low=low, high=1.0, defined=defined)


def _table(rows: Scored) -> FloatArray:
    if rows.probabilities is None:
        raise InvalidTypeError("The rows have no probabilities.")
    return rows.probabilities


def _auc(rows: Scored) -> float:
    table = _table(rows)
    if rows.n_classes == 2:
        return ranking.auc(
            rows.truth == rows.positive, table[:, rows.positive], sample_weight=rows.weights
        )
    labels = list(range(rows.n_classes))
    return ranking.auc(rows.truth, table, labels=labels, sample_weight=rows.weights)


def _average_precision(rows: Scored) -> float:
    return ranking.average_precision(
        rows.truth == rows.positive, _table(rows)[:, rows.positive], sample_weight=rows.weights
    )


def _wrong_side(rows: Scored) -> FloatArray:
    """Return the 0/1 loss: at .5 for two classes, of the most probable class for more."""
    table = _table(rows)
    if rows.n_classes != 2:
        return np.asarray(predicted_class(table) != rows.truth, dtype=np.float64)
    predicted = table[:, rows.positive] >= 0.5
    return np.asarray(predicted != (rows.truth == rows.positive), dtype=np.float64)


def _costs(rows: Scored) -> FloatArray:
    NAMED["cost"].check_cost(rows.cost)
    return np.asarray(rows.cost)[rows.truth, rows.prediction]


def _decided_costs(rows: Scored) -> FloatArray:
    """Return the cost of each row with the decision of least expected cost."""
    NAMED["decided_cost"].check_cost(rows.cost)
    cost = np.asarray(rows.cost)
    return np.asarray(cost[rows.truth, cheapest_decision(_table(rows), cost)])


def _all(rows: Scored) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=bool)


def _is(rows: Scored) -> NDArray[np.bool_]:
    return np.asarray(rows.truth == rows.positive)


def _predicted(rows: Scored) -> NDArray[np.bool_]:
    return np.asarray(rows.prediction == rows.positive)


def _has_weight(rows: Scored, chosen: NDArray[np.bool_]) -> bool:
    return bool(chosen.any() if rows.weights is None else rows.weights @ chosen > 0)


def _any(rows: Scored) -> bool:
    """Return whether any row has a weight."""
    return rows.weights is None or bool(rows.weights.any())


def _of_several(rows: Scored) -> bool:
    """Return whether rows of more than one class occur."""
    used = rows.truth if rows.weights is None else rows.truth[rows.weights > 0]
    return len(np.unique(used)) > 1


NAMED: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        _rate("accuracy", lambda rows: (rows.truth == rows.prediction, _all(rows))),
        _rate("error", lambda rows: (rows.truth != rows.prediction, _all(rows)), greater=False),
        _rate("precision", lambda rows: (_is(rows), _predicted(rows))),
        _rate("recall", lambda rows: (_predicted(rows), _is(rows))),
        _rate("specificity", lambda rows: (~_predicted(rows), ~_is(rows))),
        _rate("false_positive_rate", lambda rows: (_predicted(rows), ~_is(rows)), greater=False),
        _rate("false_negative_rate", lambda rows: (~_predicted(rows), _is(rows)), greater=False),
        _of_table(
            "f_measure", rates.f_measure_of, defined=lambda rows: _has_weight(rows, _is(rows))
        ),
        _of_table("balanced_accuracy", lambda n, _: rates.balanced_accuracy_of(n), defined=_any),
        _of_table("kappa", lambda counts, _: rates.kappa_of(counts), -1.0, _of_several),
        _of_table("matthews", lambda counts, _: rates.matthews_of(counts), -1.0, _of_several),
        _loss("nce", lambda rows: losses.log_losses(rows.truth, _table(rows))),
        _loss("quadratic_loss", lambda r: losses.quadratic_losses(r.truth, _table(r)), 2.0),
        _loss("zero_one_loss", _wrong_side, 1.0, counted=lambda r: (_wrong_side(r) > 0, _all(r))),
        _loss("cost", _costs, probabilities=False, cost=True),
        _loss("decided_cost", _decided_costs, cost=True),
        Measure("auc", _auc, needs_probabilities=True, low=0.0, high=1.0, defined=_any),
        Measure(
            "average_precision",
            _average_precision,
            needs_probabilities=True,
            low=0.0,
            high=1.0,
            defined=lambda rows: _has_weight(rows, _is(rows)),
        ),
    )
}
"""The measures of an evaluation by name. ``cost`` is the mean cost per row of the predictions,
``decided_cost`` that of the decisions with the least expected cost by the probabilities."""

_FLOORED_NCE = re.compile(r"nce\(floor=([0-9.e-]+)\)")


def nce_with_floor(floor: float) -> Measure:
    """Return NCE with probabilities below the floor counted as the floor, so that it is finite.

    Its name is ``"nce(floor=0.001)"``, by which `find_measure` finds it.
    """
    check_share("floor", floor)
    return replace(
        _loss(
            f"nce(floor={floor:g})",
            lambda rows: losses.log_losses(rows.truth, _table(rows), floor),
            -math.log(floor),
        ),
        note=f"probabilities below {floor:g} count as {floor:g}",
    )


_ELSEWHERE = {
    "brier": "quadratic_loss",
    "brier_score": "quadratic_loss",
    "f1": "f_measure",
    "log_loss": "nce",
    "mcc": "matthews",
    "matthews_corrcoef": "matthews",
    "neg_log_loss": "nce",
    "roc_auc": "auc",
    "sensitivity": "recall",
}
"""Names of measures in other libraries."""


def find_measure(measure: "str | Measure") -> Measure:
    """Return the measure of that name, or the measure itself."""
    if isinstance(measure, Measure):
        return measure
    if measure in ("ece", "expected_calibration_error"):
        raise InvalidArgumentError(
            f"{measure} has no interval: chance alone makes it positive, the more so in small "
            "folds. Use sureleaf.measures.expected_calibration_error on all predictions, or "
            "compare by quadratic_loss."
        )
    if isinstance(measure, str) and (floored := _FLOORED_NCE.fullmatch(measure)):
        return nce_with_floor(float(floored[1]))
    if measure not in NAMED:
        word = str(measure).lower().replace(" ", "_").replace("-", "_")
        raise InvalidArgumentError(
            f"measure must be one of {', '.join(sorted(NAMED))}, or a Measure; got {measure!r}."
            f"{suggestion(_ELSEWHERE.get(word, word), NAMED, listed=False)}"
        )
    return NAMED[measure]
