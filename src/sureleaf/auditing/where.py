"""Where a model is wrong: segments that a search has found, and subgroups that the user names."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypedDict, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from sureleaf.arguments import check_choice, check_level
from sureleaf.auditing.segments import (
    MIN_ROWS,
    POWER,
    WANTED_SHARE,
    Errors,
    SegmentResult,
    effective_rows,
    exact_p,
    search,
    segment_family,
)
from sureleaf.comparison.multiple_models import holm
from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.evaluation.labelled_table import positive_class
from sureleaf.evaluation.measures.costs import row_costs
from sureleaf.formatting import count_of, interval, measure_value, p_equals, percent, points
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.subgroups import column_groups
from sureleaf.scale import SourceColumns
from sureleaf.table import EncodedTable, read_table

__all__ = ["AuditedRows", "Segments", "Subgroups", "Where", "WhereRecord", "find_segments",
           "subgroup_table"]  # fmt: skip

FloatArray = NDArray[np.float64]

ERRORS = ("calibration", "accuracy", "cost")


@dataclass(frozen=True, eq=False)
class AuditedRows:
    """The rows of an audit, with what the model says about them.

    Parameters
    ----------
    X : table
        The rows, with all columns that were given.
    classes : ndarray
        The model's classes.
    codes, predicted : ndarray of int, shape (n_rows,)
        Index of the class of each row, and of the class that the model predicts.
    probabilities : ndarray of float64, shape (n_rows, n_classes)
        As the model states them.
    weights : ndarray of float64 or None
        With mean 1.
    groups : ndarray of int or None
        Index of the group of each row.
    cost : ndarray of float64, shape (n_classes, n_classes), or None
        ``cost[actual][predicted]``.
    n_unlabelled : int
        Rows without a label, which were left out when the table was read in batches.
    positive : label or None
        The class that calibration is about; None for the second of two classes, and with more
        classes for the predicted one.
    """

    X: Any
    classes: NDArray[Any]
    codes: NDArray[np.int64]
    predicted: NDArray[np.intp]
    probabilities: FloatArray
    weights: FloatArray | None = None
    groups: NDArray[np.int64] | None = None
    cost: FloatArray | None = None
    n_unlabelled: int = 0
    positive: Any = None

    def table(
        self, *, columns: Sequence[str] | None = None, rows: NDArray[np.intp] | None = None
    ) -> EncodedTable:
        """Return the rows, or some of them, encoded.

        Of a table that was read in batches, only these columns or rows are read again.
        """
        if isinstance(self.X, SourceColumns):
            table = read_table(self.X.read(columns=columns, rows=rows), estimator="audit")
            return EncodedTable(table.schema_with_missing(), table.columns, table.n_rows)
        X = self.X.toarray() if sp.issparse(self.X) else self.X
        table = read_table(X, estimator="audit")
        table = EncodedTable(table.schema_with_missing(), table.columns, table.n_rows)
        return table if rows is None else table[rows]

    def errors(self, of: str, positive: object = None) -> tuple[Errors, str]:
        """Return what the model says about an event in each row, and the event in words."""
        check_choice("of", of, ERRORS)
        row = np.arange(len(self.codes))
        stated = self.probabilities[row, self.predicted]
        if of == "calibration":
            positive = self.positive if positive is None else positive
            if positive is None and len(self.classes) != 2:
                happened, event = self.predicted == self.codes, "the predicted class"
            else:
                second = sorted(self.classes.tolist())[-1] if positive is None else positive
                code = positive_class(second, self.classes)
                stated, happened = self.probabilities[:, code], self.codes == code
                event = str(self.classes.tolist()[code])
            stated = np.clip(stated, 0.0, 1.0)
            own = Errors(stated, happened.astype(np.float64), stated * (1 - stated))
            return self._weighted(own), event
        if positive is not None:
            raise InvalidArgumentError(
                f"positive is for of='calibration'; got positive={positive!r} with of={of!r}."
            )
        if of == "accuracy":
            observed, event = (self.predicted == self.codes).astype(np.float64), "correct"
        elif self.cost is None:
            raise InvalidArgumentError(
                "of='cost' needs costs: audit(..., cost=[[0, 1], [5, 0]]), or --cost \"0,1;5,0\", "
                "as cost[actual][predicted]."
            )
        else:
            observed, event = row_costs(self.codes, self.predicted, self.cost), "cost"
            stated = (self.probabilities * self.cost[:, self.predicted].T).sum(axis=1)
        mean = float(np.average(observed, weights=self.weights))
        variance = float(np.average((observed - mean) ** 2, weights=self.weights))
        full = np.full(len(row), 1.0)
        own = Errors(
            stated,
            observed,
            variance * full,
            expected=mean * full,
            sign=1 if of == "cost" else -1,
            is_rate=of != "cost",
        )
        return self._weighted(own), event

    def _weighted(self, errors: Errors) -> Errors:
        return Errors(**vars(errors) | {"weights": self.weights, "groups": self.groups})


# ---- results -------------------------------------------------------------------------------------


class SegmentRecord(TypedDict):
    """A segment in JSON; attributes as in `Segments`."""

    rule: str
    n: int
    share: float
    stated: float
    observed: float
    low: float
    high: float
    elsewhere: float | None
    p_value: float
    rows_needed: float | None


class DetectableRecord(TypedDict):
    """What would have been found, in JSON."""

    share: float
    offset: float
    probability: float


class WhereRecord(TypedDict):
    """The result of a search in JSON."""

    of: str
    event: str
    level: float
    n_segments: int
    found: list[SegmentRecord]
    open: list[SegmentRecord]
    detectable: DetectableRecord | None
    reason: str | None
    sentences: list[str]


@dataclass(frozen=True, eq=False, repr=False)
class Segments(ColumnTable):
    """One row per segment: what the model says there, and what is observed.

    Parameters
    ----------
    rule : ndarray of str
        Its conditions.
    n : ndarray of int
        Rows in it.
    share : ndarray of float64
        Their share of all rows, by weight.
    stated : ndarray of float64
        Mean probability of the event that the model states; of costs, the mean expected cost.
    observed, low, high : ndarray of float64
        Share of the rows in which the event happened, or mean cost, with an interval that holds
        for all segments that were looked at.
    elsewhere : ndarray of float64
        The same of all other rows.
    p_value : ndarray of float64
        Corrected for all segments that were looked at.
    rows_needed : ndarray of float64
        Rows of the whole table with which a segment that is as far off as this one is found with
        probability .9; NaN if no number is enough.
    """

    rule: NDArray[np.object_]
    n: NDArray[np.intp]
    share: FloatArray
    stated: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    elsewhere: FloatArray
    p_value: FloatArray
    rows_needed: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Subgroups(ColumnTable):
    """One row per value, or range, of named columns.

    Parameters
    ----------
    column : ndarray of str
        The column.
    value : ndarray of str
        Its value or range.
    n, share, stated, observed, low, high, elsewhere : ndarray
        As in `Segments`; the intervals hold for all rows of the table at once.
    p_value : ndarray of float64
        Of "as stated" (calibration) or "as elsewhere" (accuracy and cost), corrected for the
        number of subgroups by Holm's method.
    found : ndarray of bool
        Whether the p-value is at most 1 - level.
    of : {"calibration", "accuracy", "cost"}
        The kind of error.
    """

    column: NDArray[np.object_]
    value: NDArray[np.object_]
    n: NDArray[np.intp]
    share: FloatArray
    stated: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    elsewhere: FloatArray
    p_value: FloatArray
    found: NDArray[np.bool_]
    of: str = "calibration"


@dataclass(frozen=True, eq=False, repr=False)
class Where:
    """The segments in which a model is wrong; `Audit.where` returns it.

    Parameters
    ----------
    of : {"calibration", "accuracy", "cost"}
        The kind of error.
    event : str
        What the probabilities are about: a class, the predicted class, or a correct prediction.
    level : float
        1 minus the probability that any segment is found in rows without one.
    n_rows, n_segments : int
        Rows, and segments that were looked at.
    found : Segments
        Segments beyond chance, the farthest first.
    open : Segments
        The farthest of the others, if up to ten times the rows would settle them.
    detectable : float
        How far off a segment of 10 % of the rows must be to be found with probability .9.
    reason : str or None
        Why no segment could be looked at.
    """

    of: str
    event: str
    level: float
    n_rows: int
    n_segments: int
    found: Segments
    open: Segments
    detectable: float
    reason: str | None = None

    def sentences(self) -> list[str]:
        """Return the result in sentences: the segments, the open ones, and what was missed."""
        if self.reason is not None:
            return [f"No segment is possible: {self.reason}."]
        texts = [self.describe(self.found, line) for line in range(len(self.found))]
        heading = f"{count_of(len(self.found), 'segment')} found"
        if self.of == "calibration":
            heading += f", in which the stated probability of {self.event} is off"
        else:
            what = "accuracy is lower" if self.of == "accuracy" else "costs are higher"
            heading += f", in which {what} than elsewhere"
        lines = [f"{heading}:", *texts] if texts else ["No segment found."]
        lines.append(self.detectable_sentence())
        if len(self.open):
            lines.append("Open, because chance can explain them:")
            lines += [self.describe(self.open, line) for line in range(len(self.open))]
        return lines

    def describe(self, segments: Segments, line: int) -> str:
        """Return one segment as a sentence."""
        write = measure_value if self.of == "cost" else percent
        between = interval(segments.low[line], segments.high[line])
        if self.of == "cost":
            between = f"{measure_value(segments.low[line])} to {measure_value(segments.high[line])}"
        versus = f"says {write(float(segments.stated[line]))}, is "
        if self.of != "calibration":
            name = "accuracy" if self.of == "accuracy" else "cost"
            versus = f"{name} elsewhere {write(float(segments.elsewhere[line]))}, here "
        text = (
            f"{segments.rule[line]}: {versus}{write(float(segments.observed[line]))} ({between}), "
            f"{count_of(int(segments.n[line]), 'row')}, {p_equals(float(segments.p_value[line]))}"
        )
        if segments is self.open:
            text += f"; {segments.rows_needed[line]:,.0f} rows in total would settle it"
        return f"{text}."

    def detectable_sentence(self) -> str:
        """Return what would have been found, and what may have been missed."""
        share, probability = percent(WANTED_SHARE, 0), f"{POWER:g}".removeprefix("0")
        if self.of == "cost":
            size = f"cost {measure_value(self.detectable)} more per row, or still more,"
        elif self.detectable >= 0.5:
            return (
                f"With {count_of(self.n_rows, 'row')}, a segment of {share} of the rows can be far "
                "off and not be found: audit more rows."
            )
        else:
            digits = 0 if self.detectable >= 0.1 else 1
            size = f"{points(_rounded_up(self.detectable, digits), digits)} percentage points"
            size = (
                f"are off by {size} or more"
                if self.of == "calibration"
                else f"are predicted correctly less often, by {size} or more,"
            )
        kind = "Other segments" if len(self.found) else "Segments"
        return (
            f"{kind} of {share} of the rows that {size} would have been found with probability "
            f"{probability}."
        )

    def to_dict(self) -> WhereRecord:
        """Return the result as plain values."""
        found, waiting = (
            cast(list[SegmentRecord], one.records()) for one in (self.found, self.open)
        )
        detectable: DetectableRecord | None = None
        if self.reason is None:
            detectable = {
                "share": WANTED_SHARE, "offset": self.detectable, "probability": POWER,
            }  # fmt: skip
        return {
            "of": self.of,
            "event": self.event,
            "level": self.level,
            "n_segments": self.n_segments,
            "found": found,
            "open": waiting,
            "detectable": detectable,
            "reason": self.reason,
            "sentences": self.sentences(),
        }

    def to_json(self) -> str:
        """Return the result as JSON text."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False)

    def to_pandas(self) -> Any:
        """Return the found segments as a pandas data frame."""
        return self.found.to_pandas()

    def to_polars(self) -> Any:
        """Return the found segments as a polars data frame."""
        return self.found.to_polars()

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())


def _rounded_up(share: float, digits: int) -> float:
    step = 10.0 ** (-2 - digits)
    return math.ceil(share / step - 1e-9) * step


# ---- the search, and named columns ---------------------------------------------------------------


def find_segments(
    rows: AuditedRows, of: str, *, positive: object = None, level: float = 0.95, seed: int = 0
) -> Where:
    """Search the rows for segments in which the model is wrong."""
    check_level(level)
    errors, event = rows.errors(of, positive)
    n_rows = len(rows.codes)
    reason = None
    if n_rows < 2 * MIN_ROWS:
        reason = f"{n_rows} rows are too few; a segment needs {MIN_ROWS}, and as many rows outside"
    elif errors.expected is not None and not errors.variance.any():
        reason = f"all rows have the same {'cost' if of == 'cost' else 'result'}"
    empty = _segments([], errors)
    if reason is None:
        family = segment_family(rows.table(), errors.stated)
        if not family.blocks:
            reason = "no column divides the rows into two large enough parts"
    if reason is not None:
        return Where(of, event, level, n_rows, 0, empty, empty, math.nan, reason)
    result = search(family, errors, level=level, seed=seed)
    found, waiting = (_segments(some, errors) for some in (result.found, result.open))
    return Where(of, event, level, n_rows, result.n_segments, found, waiting, result.detectable)


def _means(errors: Errors, inside: NDArray[np.bool_]) -> tuple[int, float, float, float, float]:
    """Return rows, share, stated, observed and observed elsewhere."""
    w = errors.w

    def mean(values: FloatArray, chosen: NDArray[np.bool_]) -> float:
        total = float(w[chosen].sum())
        return float(w[chosen] @ values[chosen]) / total if total > 0 else math.nan

    return (
        int(inside.sum()),
        float(w[inside].sum() / w.sum()),
        mean(errors.stated, inside),
        mean(errors.observed, inside),
        mean(errors.observed, ~inside),
    )


def _segments(results: list[SegmentResult], errors: Errors) -> Segments:
    lines = [_means(errors, one.rows) for one in results]
    n, share, stated, observed, elsewhere = (
        zip(*lines, strict=True) if lines else ([], [], [], [], [])
    )
    return Segments(
        rule=np.array([one.rule for one in results], dtype=object),
        n=np.array(n, dtype=np.intp),
        share=np.array(share, dtype=np.float64),
        stated=np.array(stated, dtype=np.float64),
        observed=np.array(observed, dtype=np.float64),
        low=np.array([one.low for one in results], dtype=np.float64),
        high=np.array([one.high for one in results], dtype=np.float64),
        elsewhere=np.array(elsewhere, dtype=np.float64),
        p_value=np.array([one.p_value for one in results], dtype=np.float64),
        rows_needed=np.array([one.rows_needed for one in results], dtype=np.float64),
    )


def subgroup_table(
    rows: AuditedRows,
    columns: Sequence[str],
    of: str,
    *,
    positive: object = None,
    level: float = 0.95,
) -> Subgroups:
    """Compare the model with the rows of each value, or range, of named columns."""
    check_level(level)
    errors, _ = rows.errors(of, positive)
    if not columns:
        raise InvalidArgumentError("by needs the name of at least one column.")
    table = rows.table(columns=columns)
    names = [column.name for column in table.schema.columns]
    lines: list[tuple[str, str, NDArray[np.bool_]]] = []
    for name in columns:
        if name not in names:
            raise InvalidArgumentError(
                f"by must name columns of X; got {name!r}.{suggestion(name, names)}"
            )
        index = names.index(name)
        values, group = column_groups(table.schema.columns[index], table.columns[index])
        present = [code for code in range(len(values)) if (group == code).any()]
        lines += [(name, values[code], group == code) for code in present]
    at_once = 1 - (1 - level) / len(lines)
    tests = [_subgroup_test(errors, inside, at_once) for _, _, inside in lines]
    adjusted = holm([test[0] for test in tests])
    n, share, stated, observed, elsewhere = zip(
        *[_means(errors, inside) for _, _, inside in lines], strict=True
    )
    return Subgroups(
        column=np.array([name for name, _, _ in lines], dtype=object),
        value=np.array([value for _, value, _ in lines], dtype=object),
        n=np.array(n, dtype=np.intp),
        share=np.array(share),
        stated=np.array(stated),
        observed=np.array(observed),
        low=np.array([test[1] for test in tests]),
        high=np.array([test[2] for test in tests]),
        elsewhere=np.array(elsewhere),
        p_value=adjusted,
        found=adjusted <= 1 - level + 1e-12,
        of=of,
    )


def _subgroup_test(
    errors: Errors, inside: NDArray[np.bool_], level: float
) -> tuple[float, float, float]:
    """Return the p-value of one subgroup, and the interval of its observed mean."""
    from scipy.special import ndtr, ndtri

    own, other = _spread(errors, inside), _spread(errors, ~inside)
    _, _, stated, observed, elsewhere = _means(errors, inside)
    reach = float(ndtri((1 + level) / 2)) * math.sqrt(own)
    if errors.is_rate:
        weight = float(errors.w[inside].sum())
        n = effective_rows(errors, inside, own * weight**2)
        if errors.expected is not None and own > 0:
            n = observed * (1 - observed) / own
        low, high = (float(end) for end in clopper_pearson(observed * n, n, level=level))
    else:
        n, low, high = 0.0, observed - reach, observed + reach
    if errors.expected is None:
        return exact_p(observed, stated, n), low, high
    error = math.sqrt(own + other)
    if not inside.any() or inside.all() or error == 0:
        return 1.0, low, high
    return 2 * float(ndtr(-abs(observed - elsewhere) / error)), low, high


def _spread(errors: Errors, inside: NDArray[np.bool_]) -> float:
    """Return the variance of the observed mean of some rows; rows of a group vary together."""
    w = errors.w[inside]
    if not w.sum() > 0:
        return 0.0
    expected = errors.stated if errors.expected is None else errors.expected
    residuals = w * (errors.observed - expected)[inside]
    residuals -= w * residuals.sum() / w.sum()
    stated = float((w**2) @ errors.variance[inside]) if errors.expected is None else 0.0
    if errors.groups is not None:
        residuals = np.bincount(errors.groups[inside], residuals).astype(np.float64)
        n_groups = len(np.unique(errors.groups[inside]))
        residuals = residuals * math.sqrt(n_groups / max(n_groups - 1, 1))
    return max(stated, float((residuals**2).sum())) / float(w.sum()) ** 2
