"""Where a model is wrong: segments that a search has found, and subgroups that the user names."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import fisher_exact, hypergeom

from sureleaf.arguments import FloatArray
from sureleaf.auditing.audited_rows import AuditedRows
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
from sureleaf.auditing.tree_leaves import TreeLeaves
from sureleaf.comparison.multiple_models import holm
from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.formatting import count_of, interval, measure_value, p_equals, percent, points
from sureleaf.levels.intervals import clopper_pearson, normal_reach
from sureleaf.model.column_table import ColumnTable
from sureleaf.table import Column

# ---- results -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Segments(ColumnTable):
    """One row per segment: what the model says there, and what is observed.

    `n` and `share` are the rows in it, and their share of all rows by weight. `stated` is the mean
    probability of the event that the model states; of costs, the mean expected cost. `observed` is
    the share of the rows in which the event happened, or the mean cost; its interval, `low` to
    `high`, holds for all segments that were looked at, and the p-value is corrected for them.
    `elsewhere` is the same of all other rows. With `rows_needed` rows of the whole table, a segment
    that is as far off is found with probability .9; NaN if no number is enough.
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
class LeafGroups(ColumnTable):
    """One row per leaf and column: the group whose outcome differs most from that of the others.

    - `n`, `n_group`: rows of the leaf, and of this group in it.
    - `rate`, `elsewhere`: how many of the group, and of the other rows of the leaf, have the class
      that the leaf predicts.
    - `p_value`: of "no group differs", corrected for all leaves and columns by Holm's method;
      `found` if it is at most 1 - level.
    - `detectable`: the smallest difference between these two shares that would have been found,
      with as many rows of the group and of the class; NaN if none would.
    """

    column: NDArray[np.object_]
    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    group: NDArray[np.object_]
    n: NDArray[np.intp]
    n_group: NDArray[np.intp]
    rate: FloatArray
    elsewhere: FloatArray
    p_value: FloatArray
    found: NDArray[np.bool_]
    detectable: FloatArray

    def sentence(self) -> str:
        """Say whether any leaf treats groups differently."""
        if not len(self):
            return "No leaf has rows of two groups, so groups cannot be compared inside leaves."
        if not self.found.any():
            return (
                f"Inside the leaves, no group differs from the others beyond chance ({len(self)} "
                "tests, corrected)."
            )
        n_found, n_leaves = (len(np.unique(one)) for one in (self.leaf[self.found], self.leaf))
        return (
            f"Inside {n_found} of {n_leaves} leaves, a group differs from the others: same rule "
            "and decision, but another outcome."
        )


@dataclass(frozen=True, eq=False, repr=False)
class Subgroups(ColumnTable):
    """One row per value, or range, of named columns.

    Columns are those of `Segments`; the intervals hold for all rows of the table at once. P-values
    are of "as stated" (calibration) or "as elsewhere" (accuracy and cost), corrected for the number
    of subgroups by Holm's method. A subgroup is `found` if it is at most 1 - level. `of` is the
    kind of error: "calibration", "accuracy" or "cost". `inside` compares the subgroups inside each
    leaf; None without a single tree, or if rows have weights or are in groups.
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
    inside: LeafGroups | None = None


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
            return [self.no_segment_sentence()]
        texts = [self.describe(self.found, line) for line in range(len(self.found))]
        lines = [self.found_sentence(), *texts, self.detectable_sentence()]
        if len(self.open):
            lines.append("Open, because chance can explain them:")
            lines += [self.describe(self.open, line) for line in range(len(self.open))]
        return lines

    def no_segment_sentence(self) -> str:
        """Return why no segment could be looked at."""
        return f"No segment is possible: {self.reason}."

    def found_sentence(self) -> str:
        """Return how many segments were found, and what is wrong in them."""
        if not len(self.found):
            return "No segment found."
        heading = f"{count_of(len(self.found), 'segment')} found"
        if self.of == "calibration":
            return f"{heading}, in which the stated probability of {self.event} is off:"
        what = "accuracy is lower" if self.of == "accuracy" else "costs are higher"
        return f"{heading}, in which {what} than elsewhere:"

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
            step = 10.0 ** (-2 - digits)
            rounded_up = math.ceil(self.detectable / step - 1e-9) * step
            size = f"{points(rounded_up, digits)} percentage points"
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

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        detectable = None
        if self.reason is None:
            detectable = {
                "share": WANTED_SHARE,
                "offset": self.detectable,
                "probability": POWER,
                "sentence": self.detectable_sentence(),
            }
        return {
            "of": self.of,
            "event": self.event,
            "level": self.level,
            "n_segments": self.n_segments,
            "found": self.found.records(),
            "open": self.open.records(),
            "detectable": detectable,
            "reason": self.reason,
            "sentences": self.sentences(),
        }

    def __repr__(self) -> str:
        return "\n".join(self.sentences())

    def _repr_html_(self) -> str:
        return "".join(f"<p>{escape(sentence)}</p>" for sentence in self.sentences())


# ---- the search, and named columns ---------------------------------------------------------------


def find_segments(rows: AuditedRows, of: str, *, level: float, seed: int) -> Where:
    """Search the rows for segments in which the model is wrong."""
    errors, event = rows.errors(of)
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


def _means(errors: Errors, groups: Sequence[NDArray[np.bool_]]) -> dict[str, Any]:
    """Return rows, share, stated, observed and observed elsewhere of some groups of rows."""
    w = errors.w

    def means(values: FloatArray, *, inside: bool = True) -> FloatArray:
        chosen = [rows == inside for rows in groups]
        totals = np.array([w[rows].sum() for rows in chosen])
        sums = np.array([w[rows] @ values[rows] for rows in chosen])
        mean: FloatArray = np.full(len(sums), np.nan)
        np.divide(sums, totals, out=mean, where=totals > 0)
        return mean

    return {
        "n": np.array([rows.sum() for rows in groups], dtype=np.intp),
        "share": np.array([w[rows].sum() / w.sum() for rows in groups], dtype=np.float64),
        "stated": means(errors.stated),
        "observed": means(errors.observed),
        "elsewhere": means(errors.observed, inside=False),
    }


def _segments(results: list[SegmentResult], errors: Errors) -> Segments:
    numbers = ("low", "high", "p_value", "rows_needed")
    return Segments(
        rule=np.array([one.rule for one in results], dtype=object),
        **_means(errors, [one.rows for one in results]),
        **{name: np.array([getattr(one, name) for one in results], float) for name in numbers},
    )


def subgroup_table(
    rows: AuditedRows, columns: Sequence[str], of: str, *, level: float
) -> Subgroups:
    """Compare the model with the rows of each value, or range, of named columns."""
    errors, _ = rows.errors(of)
    if not columns:
        raise InvalidArgumentError("by needs the name of at least one column.")
    table = rows.table(columns=columns)
    names = [column.name for column in table.schema.columns]
    lines: list[tuple[str, str, NDArray[np.bool_]]] = []
    groups: list[tuple[str, list[str], NDArray[np.intp]]] = []
    for name in columns:
        if name not in names:
            raise InvalidArgumentError(
                f"by must name columns of X; got {name!r}.{suggestion(name, names)}"
            )
        index = names.index(name)
        values, group = _column_groups(table.schema.columns[index], table.columns[index])
        groups.append((name, values, group))
        present = [code for code in range(len(values)) if (group == code).any()]
        lines += [(name, values[code], group == code) for code in present]
    columns_of, values_of, rows_of = zip(*lines, strict=True)
    means = _means(errors, rows_of)
    at_once = 1 - (1 - level) / len(lines)
    tests = [
        _subgroup_test(
            errors, inside, at_once, {name: float(one[k]) for name, one in means.items()}
        )
        for k, inside in enumerate(rows_of)
    ]
    p_values, low, high = zip(*tests, strict=True)
    adjusted = holm(p_values)
    return Subgroups(
        column=np.array(columns_of, dtype=object),
        value=np.array(values_of, dtype=object),
        **means,
        low=np.array(low),
        high=np.array(high),
        p_value=adjusted,
        found=adjusted <= 1 - level + 1e-12,
        of=of,
        inside=(  # of a single tree, if its rows are independent
            None
            if len(rows.trees) != 1 or rows.weights is not None or rows.groups is not None
            else compare_inside(rows.trees[0], rows.predicted == rows.codes, groups, level)
        ),
    )


def _subgroup_test(
    errors: Errors, inside: NDArray[np.bool_], level: float, means: dict[str, float]
) -> tuple[float, float, float]:
    """Return the p-value of one subgroup, and the interval of its observed mean."""
    own, other = _spread(errors, inside), _spread(errors, ~inside)
    observed = means["observed"]
    reach = normal_reach(level) * math.sqrt(own)
    if errors.is_rate:
        weight = float(errors.w[inside].sum())
        n = effective_rows(errors, inside, own * weight**2)
        if errors.expected is not None and own > 0:
            n = observed * (1 - observed) / own
        low, high = (float(end) for end in clopper_pearson(observed * n, n, level=level))
    else:
        n, low, high = 0.0, observed - reach, observed + reach
    if errors.expected is None:
        return exact_p(observed, means["stated"], n), low, high
    error = math.sqrt(own + other)
    if not inside.any() or inside.all() or error == 0:
        return 1.0, low, high
    return 2 * float(ndtr(-abs(observed - means["elsewhere"]) / error)), low, high


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


_RANGES = 4
_FEW_VALUES = 8


def _column_groups(column: Column, values: NDArray[Any]) -> tuple[list[str], NDArray[np.intp]]:
    """Return the values of a column, or ranges of numbers, and the index of each row among them.

    Missing comes last.
    """
    if column.is_coded:
        names = [str(category) for category in column.categories]
        return [*names, "missing"], np.where(values < 0, len(names), values).astype(np.intp)
    known = np.unique(values[~np.isnan(values)])
    if not len(known):
        return ["missing"], np.zeros(len(values), dtype=np.intp)
    if len(known) > _FEW_VALUES:
        cuts = np.nanquantile(values, np.arange(1, _RANGES) / _RANGES, method="lower")
        known = np.unique(np.append(cuts, known[-1]))
        names = [f"<= {column.render(float(bound))}" for bound in known[:-1]]
        names.append(f"> {column.render(float(known[-2]))}" if len(known) > 1 else "all")
    else:
        names = [column.render(float(value)) for value in known]
    groups = np.searchsorted(known, values)
    return [*names, "missing"], np.where(np.isnan(values), len(names), groups).astype(np.intp)


# ---- inside a leaf -------------------------------------------------------------------------------
#
# Whether groups are treated alike there: same rule, same decision, same outcome. Given how many of
# the rows of a leaf are of each group, and how many have the class that the leaf predicts, the rows
# of a group are a random draw if the groups do not differ: Fisher's exact test. With more than two
# groups, each is compared with the rows of all others, and the smallest p-value is multiplied by
# their number.


def compare_inside(
    tree: TreeLeaves,
    is_right: NDArray[np.bool_],
    columns: Sequence[tuple[str, Sequence[str], NDArray[np.intp]]],
    level: float,
) -> LeafGroups:
    """Compare the groups of named columns inside each leaf.

    ``columns`` has a name, the names of the groups, and the group of each row. A row with missing
    values counts in the leaf that has most of it.
    """
    line = np.asarray(tree.shares.argmax(axis=1)).reshape(-1)
    rules = np.full(len(tree.leaf), "", dtype=object) if tree.rule is None else tree.rule
    tests = []
    for name, groups, group in columns:
        counts = np.zeros((len(tree.leaf), len(groups), 2))
        np.add.at(counts, (line, group, is_right.astype(np.intp)), 1.0)
        for leaf, rule, table in zip(tree.leaf, rules, counts, strict=True):
            if np.count_nonzero(table.sum(axis=1)) > 1:
                own = {"column": name, "leaf": leaf, "rule": rule}
                tests.append(own | _most_different(table, groups))
    adjusted = np.asarray(holm([one["p_value"] for one in tests]) if tests else np.zeros(0))
    smallest = [
        _detectable(one["n"], one["n_group"], n_right, (1 - level) / len(tests) / n_tried)
        for one in tests
        for n_right, n_tried in [one.pop("of_test")]
    ]
    kinds = dict.fromkeys(("leaf", "n", "n_group"), np.intp) | dict.fromkeys(
        ("rate", "elsewhere"), float
    )
    names = ("column", "leaf", "rule", "group", "n", "n_group", "rate", "elsewhere")
    return LeafGroups(
        **{name: np.array([one[name] for one in tests], kinds.get(name, object)) for name in names},
        p_value=adjusted,
        found=adjusted <= 1 - level + 1e-12,
        detectable=np.array(smallest, dtype=float),
    )


def _most_different(table: FloatArray, groups: Sequence[str]) -> dict[str, Any]:
    """Return the group of a leaf that differs most: its numbers, and what `_detectable` needs."""
    total = table.sum(axis=0)
    present = np.flatnonzero(table.sum(axis=1) > 0).tolist()
    tried = present[:1] if len(present) == 2 else present
    p_values = [float(fisher_exact([table[one], total - table[one]])[1]) for one in tried]
    best = int(np.argmin(p_values))
    own, others = table[tried[best]], total - table[tried[best]]
    return {
        "group": groups[tried[best]],
        "n": int(total.sum()),
        "n_group": int(own.sum()),
        "rate": float(own[1] / own.sum()),
        "elsewhere": float(others[1] / others.sum()),
        "p_value": min(len(tried) * min(p_values), 1.0),
        "of_test": (int(total[1]), len(tried)),
    }


def _detectable(n: int, n_group: int, n_right: int, alpha: float) -> float:
    """Return the smallest difference of two shares whose exact p-value is at most alpha."""
    own = np.arange(max(0, n_group + n_right - n), min(n_group, n_right) + 1)
    chance = hypergeom.pmf(own, n, n_right, n_group)
    rarest = np.sort(chance)
    # As in fisher_exact, tables that are equally probable count together.
    n_as_rare = np.searchsorted(rarest, chance * (1.0 + 1e-7), side="right")
    p_values = np.cumsum(rarest)[n_as_rare - 1]
    differences = np.abs(own / n_group - (n_right - own) / (n - n_group))
    small = differences[p_values <= alpha]
    return float(small.min()) if len(small) else float("nan")
