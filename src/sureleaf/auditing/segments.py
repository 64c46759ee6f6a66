"""Segments in which a model is wrong: a search whose p-values allow for the search.

A segment is given by one or two conditions on the columns. All segments that are large enough are
looked at, on all rows. What such a search finds in rows without any segment is known: rows are
simulated with the probabilities that the model states, and searched in the same way. The p-value of
a segment is the share of these searches whose best segment is at least as far off [1]_ [2]_.

Counting on rows that did not draw the segments would be valid, too. But then only half of the rows
search and half of them count, and segments of two conditions are found about half as often
(``python -m benchmarks.quality segments``).

References
----------
.. [1] Westfall, P. H. and Young, S. S. (1993). Resampling-based multiple testing. Wiley.
.. [2] Chernozhukov, V., Chetverikov, D. and Kato, K. (2013). Gaussian approximations and multiplier
   bootstrap for maxima of sums of high-dimensional random vectors. Annals of Statistics 41.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import betainc, ndtr, ndtri

from sureleaf.arguments import FloatArray, row_weights
from sureleaf.levels.intervals import clopper_pearson
from sureleaf.random_streams import INTERVAL, generator
from sureleaf.table import Column, EncodedTable
from sureleaf.tree.rules import IS_MISSING, join_tests, word

BoolArray = NDArray[np.bool_]

N_SIMULATED: Final = 199
"""Simulated tables per search at the level .95; more at higher levels."""

MIN_SHARE, MIN_ROWS = 0.02, 20
"""A segment has at least this share of the rows, and at least this many."""

MAX_SHARE: Final = 0.5
"""And at most this share; all rows together are looked at, too."""

N_CUTS: Final = 19
"""A column of numbers is cut at the multiples of 5 % of its rows; of 10 % in pairs of columns."""

MAX_PAIRED: Final = 30
"""Columns that are combined in pairs."""

_ENOUGH_ROWS: Final = 4000
"""The best of a search of simulated rows hardly depends on their number: more are not needed."""

MAX_FOUND, MAX_OPEN = 8, 3
"""Segments to report."""

OPEN_WITHIN: Final = 10
"""An open segment is one that this many times the rows would settle."""

OPEN_P: Final = 0.5
"""What chance explains this easily is not even open."""

ERROR_SHARES: Final = {1: 0.25, 2: 0.75}
"""Parts of the error probability, by number of conditions: far more segments have two."""

SIMPLER: Final = 0.25
"""A second condition must add this much to the distance, in standard errors."""

FIT: Final = 0.9
"""What is left of the distance of a true segment whose bounds are between the cuts."""

POWER: Final = 0.9
WANTED_SHARE: Final = 0.1


@dataclass(frozen=True, eq=False)
class Errors:
    """What a model says about an event in each row, and what happened.

    `stated` and `observed` are the probability of the event and whether it happened (1 or 0), which
    makes it a rate; or the expected cost and the cost. `variance` is that of `observed` if `stated`
    is true. `observed` is compared with `expected`: None is `stated`, otherwise the mean of all
    rows. `sign` is 0 if too high and too low are both errors, 1 if only too high is, -1 if only too
    low is. Weights have mean 1.
    """

    stated: FloatArray
    observed: FloatArray
    variance: FloatArray
    expected: FloatArray | None = None
    sign: int = 0
    weights: FloatArray | None = None
    groups: NDArray[np.int64] | None = None
    is_rate: bool = True

    @property
    def w(self) -> FloatArray:
        """The weights, 1 without weights."""
        return row_weights(self.weights, len(self.stated))

    @property
    def residuals(self) -> FloatArray:
        """Observed minus expected, times the weight."""
        expected = self.stated if self.expected is None else self.expected
        return self.w * (self.observed - expected)

    def take(self, rows: NDArray[np.int64]) -> "Errors":
        """Return some of the rows."""
        names = ("stated", "observed", "variance", "expected", "weights", "groups")
        known = {name: getattr(self, name) for name in names}
        taken: dict[str, Any] = {k: v[rows] for k, v in known.items() if v is not None}
        return replace(self, **taken)


# ---- the segments that are looked at -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Conditions:
    """The conditions on one column: the cell of each row, and which cells meet each condition."""

    cell: NDArray[np.intp]
    meets: FloatArray
    texts: tuple[str, ...]
    n_up_to: int = 0  # the first conditions are "up to a bound", ...
    n_above: int = 0  # ... and so many after them "above a bound"
    are_ranges: bool = False  # each is two conditions: above one bound and up to another


@dataclass(frozen=True, eq=False)
class _Block:
    """Segments of one column or of a pair of columns: a condition of `left` and one of `right`."""

    left: _Conditions
    right: _Conditions | None
    is_chosen: BoolArray

    @property
    def n_conditions(self) -> int:
        return 2 if self.right is not None or self.left.are_ranges else 1

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum each column of values of the rows over every segment.

        The shape (n_left, n_right, n_values), with many values at the end, is the fastest one.
        """
        n_rows, n_values = values.shape
        left = self.left.meets
        right = np.ones((1, 1)) if self.right is None else self.right.meets
        cell = self.left.cell
        if self.right is not None:
            cell = cell * right.shape[1] + self.right.cell
        n_cells = left.shape[1] * right.shape[1]
        to_cells = sp.csc_array(
            (np.ones(n_rows), cell, np.arange(n_rows + 1)), shape=(n_cells, n_rows)
        )
        cells = (to_cells @ values).reshape(left.shape[1], right.shape[1] * n_values)
        of_left = (left @ cells).reshape(len(left), right.shape[1], n_values)
        sums: FloatArray = np.matmul(right, of_left)
        return sums

    def rows(self, i: int, j: int) -> BoolArray:
        """Return which rows are in a segment."""
        inside: BoolArray = self.left.meets[i][self.left.cell] > 0
        if self.right is not None:
            inside &= self.right.meets[j][self.right.cell] > 0
        return inside

    def rule(self, i: int, j: int) -> str:
        """Return the conditions in words."""
        texts = [self.left.texts[i]]
        return join_tests(texts if self.right is None else [self.right.texts[j], *texts])

    def take(self, rows: NDArray[np.int64]) -> "_Block":
        """Return the same segments of some of the rows."""
        right = None if self.right is None else replace(self.right, cell=self.right.cell[rows])
        return replace(self, left=replace(self.left, cell=self.left.cell[rows]), right=right)


@dataclass(frozen=True, eq=False)
class SegmentFamily:
    """All segments of a table that are large enough, of one column and of pairs of columns."""

    blocks: tuple[_Block, ...]
    n_rows: int

    @property
    def n_segments(self) -> int:
        """Number of segments."""
        return sum(int(block.is_chosen.sum()) for block in self.blocks)

    def take(self, rows: NDArray[np.int64]) -> "SegmentFamily":
        """Return the same segments of some of the rows."""
        return SegmentFamily(tuple(block.take(rows) for block in self.blocks), len(rows))


def segment_family(table: EncodedTable, stated: FloatArray) -> SegmentFamily:
    """Return all segments of at most two conditions with enough rows; labels play no part.

    Of more than 30 columns, those along which the stated values vary most are combined in pairs.

    Examples
    --------
    >>> from sureleaf.table import read_table
    >>> table = read_table([[i, "ab"[i % 2]] for i in range(100)])
    >>> family = segment_family(table, np.full(100, 0.5))
    >>> family.n_segments, family.blocks[0].rule(0, 0)
    (79, 'all rows')
    """
    n_rows = table.n_rows
    least = max(MIN_ROWS, math.ceil(MIN_SHARE * n_rows))
    columns, coarse_columns = [], []
    for index, column in enumerate(table.schema.columns):
        values = table.columns[index]
        fine, coarse = (_column_conditions(column, values, least, n) for n in (N_CUTS, N_CUTS // 2))
        if fine is not None:
            columns.append(fine)
            coarse_columns.append(fine if coarse is None else coarse)
    if not columns:
        return SegmentFamily((), n_rows)
    one = np.ones((n_rows, 1))

    def block(left: _Conditions, right: _Conditions | None = None) -> _Block:
        """Return the segments of these conditions that are neither too small nor too large."""
        every = np.ones((len(left.texts), 1 if right is None else len(right.texts)), dtype=bool)
        whole = _Block(left, right, every)
        n = whole.sums(one)[..., 0]
        return replace(whole, is_chosen=(n >= least) & (n <= MAX_SHARE * n_rows))

    everything = _Conditions(np.zeros(n_rows, dtype=np.intp), np.ones((1, 1)), ("all rows",))
    blocks = [_Block(everything, None, np.ones((1, 1), dtype=bool))]
    ranges = [_ranges(own, least) for own in columns]
    blocks += [block(own) for own in [*columns, *ranges] if own is not None]
    spread = [-_spread(own, stated) for own in columns]
    chosen = sorted(np.argsort(spread, kind="stable")[:MAX_PAIRED].tolist())
    paired = [coarse_columns[i] for i in chosen]
    pairs = (block(left, right) for i, left in enumerate(paired) for right in paired[:i])
    blocks += [pair for pair in pairs if pair.is_chosen.any()]
    return SegmentFamily(tuple(blocks), n_rows)


def _column_conditions(
    column: Column, values: NDArray[Any], least: int, n_cuts: int
) -> _Conditions | None:
    """Return the conditions on a column that neither too few nor almost all rows meet."""
    name = word(column.name)
    n_bounds = 0
    if column.kind == "categorical":
        n_cells = len(column.categories)
        cell = np.where(values < 0, n_cells, values).astype(np.intp)
        meets = np.eye(n_cells + 1)
        texts = [f"{name} = {word(category)}" for category in column.categories]
    else:
        is_known = values >= 0 if column.is_coded else ~np.isnan(values)
        known = np.sort(values[is_known])
        if not len(known):
            return None
        shares = np.arange(1, n_cuts + 1) / (n_cuts + 1)
        bounds = np.unique(np.quantile(known, shares, method="lower"))
        bounds = bounds[bounds < known[-1]]
        n_bounds = len(bounds)
        cell = np.where(is_known, np.searchsorted(bounds, values), n_bounds + 1)
        below = np.tril(np.ones((n_bounds + 1, n_bounds + 1)))[:n_bounds]
        meets = np.zeros((2 * n_bounds + 1, n_bounds + 2))
        meets[:n_bounds, :-1], meets[n_bounds:-1, :-1], meets[-1, -1] = below, 1 - below, 1
        after = known[np.searchsorted(known, bounds, side="right")]
        written = [
            word(column.render(_between(float(bound), float(next_value), column)))
            for bound, next_value in zip(bounds, after, strict=True)
        ]
        texts = [f"{name} {sign} {bound}" for sign in ("<=", ">") for bound in written]
    texts.append(f"{name}{IS_MISSING}")
    n = meets @ np.bincount(cell, minlength=meets.shape[1])
    kept = (n >= least) & (n <= len(cell) - least)
    if not kept.any():
        return None
    chosen = tuple(text for text, keep in zip(texts, kept, strict=True) if keep)
    n_up_to, n_above = int(kept[:n_bounds].sum()), int(kept[n_bounds : 2 * n_bounds].sum())
    return _Conditions(cell, meets[kept], chosen, n_up_to, n_above)


def _between(bound: float, next_value: float, column: Column) -> float:
    """Return the number with the fewest digits from a bound up to, not including, the next value.

    Examples
    --------
    >>> _between(1.3351463766, 1.3389, Column("size", "numeric"))
    1.336
    """
    if column.kind != "numeric":
        return bound
    for digits in range(1, 17):
        step = 10.0 ** (math.floor(math.log10(abs(bound) or 1.0)) + 1 - digits)
        short = float(f"{math.ceil(bound / step) * step:.{digits}g}")
        if bound <= short < next_value:
            return short
    return bound


def _ranges(own: _Conditions, least: int) -> _Conditions | None:
    """Return the conditions "above one bound and up to another" on a column of numbers."""
    up_to = range(own.n_up_to)
    above = range(own.n_up_to, own.n_up_to + own.n_above)
    if not up_to or not above:
        return None
    meets = [own.meets[i] * own.meets[j] for i in up_to for j in above]
    texts = [f"{own.texts[j]} and {own.texts[i]}" for i in up_to for j in above]
    n = np.array(meets) @ np.bincount(own.cell, minlength=own.meets.shape[1])
    kept = n >= least
    if not kept.any():
        return None
    chosen = tuple(text for text, keep in zip(texts, kept, strict=True) if keep)
    return _Conditions(own.cell, np.array(meets)[kept], chosen, are_ranges=True)


def _spread(own: _Conditions, stated: FloatArray) -> float:
    """Return the variance of the mean stated value between the cells of a column."""
    n = np.bincount(own.cell, minlength=own.meets.shape[1])
    means = np.bincount(own.cell, stated, own.meets.shape[1]) / np.maximum(n, 1)
    return float(n @ (means - stated.mean()) ** 2)


# ---- the search ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SegmentResult:
    """A segment with its numbers.

    `z` is how far it is off, in standard errors. P-value and interval are corrected for all
    segments that were looked at. With `rows_needed` rows of the table, a segment that is as far off
    is found with probability .9.
    """

    rule: str
    rows: BoolArray
    z: float
    p_value: float
    low: float
    high: float
    rows_needed: float


@dataclass(frozen=True, eq=False)
class Search:
    """Segments beyond chance, the farthest others, and how many were looked at.

    `detectable`: how far off a segment of 10 % of the rows must be to be found with probability .9.
    """

    found: list[SegmentResult]
    open: list[SegmentResult]
    n_segments: int
    detectable: float


def search(family: SegmentFamily, errors: Errors, *, level: float, seed: int = 0) -> Search:
    """Look at all segments, and correct for that by looking at simulated rows in the same way.

    Segments of one condition and of two are compared with their own kind, with a quarter and three
    quarters of the error probability: there are many more of two. The probability of any false
    segment is 1 - level, which is also the level of the intervals.
    """
    n_simulated = max(N_SIMULATED, math.ceil(10 / (1 - level)) - 1)
    best = _simulated_best(family, errors, n_simulated, seed)
    critical = {}
    for n_conditions, values in best.items():  # beyond it, the p-value is at most 1 - level
        n_as_far = (1 - level) * ERROR_SHARES[n_conditions] * (1 + n_simulated) + 1e-9
        critical[n_conditions] = float(np.sort(values)[-int(n_as_far)])

    beyond_chance: list[SegmentResult] = []
    explained: list[SegmentResult] = []
    remaining = errors.residuals
    while len(beyond_chance) < MAX_FOUND and len(explained) < MAX_OPEN:
        taken = [one.rows for one in [*beyond_chance, *explained]]
        known = (family, errors, remaining, critical, taken)
        candidate = None if explained else _farthest(*known, beyond=True)
        # If nothing beyond chance is left, the segments are open from here on.
        candidate = candidate or _farthest(*known, beyond=False)
        if candidate is None:
            break
        block, i, j, z, variance = candidate
        rows, k, w = block.rows(i, j), block.n_conditions, errors.w
        share = (1 + int((best[k] >= z - 1e-9).sum())) / (1 + n_simulated)
        result = SegmentResult(
            block.rule(i, j),
            rows,
            z,
            min(1.0, share / ERROR_SHARES[k]),
            *_interval(errors, rows, variance, critical[k], level),
            rows_needed=_rows_needed(len(rows), z, critical[k]),
        )
        if result.p_value <= 1 - level + 1e-12:
            beyond_chance.append(result)
        elif result.rows_needed <= OPEN_WITHIN * family.n_rows and result.p_value <= OPEN_P:
            explained.append(result)
        else:
            break
        explains = np.where(rows, w * (remaining[rows].sum() / w[rows].sum()), 0.0)
        remaining = remaining - explains
    return Search(beyond_chance, explained, family.n_segments, _detectable(errors, critical))


def _statistics(
    family: SegmentFamily, errors: Errors, residuals: FloatArray, squares: FloatArray | None = None
) -> Iterator[tuple[_Block, FloatArray, FloatArray]]:
    """Yield for every block how far its segments are off, for every column of residuals.

    The variance is that of the stated probabilities, or that of the residuals of the segment if it
    is larger: an overconfident model states too small a variance. Errors that are compared with
    their mean have the variance of a sum that is drawn without replacement. `squares` are those of
    the residuals, if they are the same in every column.
    """
    w = errors.w
    constants = np.column_stack([w, w**2, w**2 * errors.variance])
    if squares is None and errors.expected is None:
        squares = residuals**2
    for block in family.blocks:
        parts = np.moveaxis(block.sums(constants), -1, 0)
        total, squared, stated = (part[..., np.newaxis] for part in parts)
        sums = block.sums(residuals)
        if squares is None:
            variance = np.broadcast_to(stated * (1 - total / w.sum()), sums.shape)
        else:
            centred = sums / np.where(total > 0, total, 1.0)
            centred *= centred
            centred *= -squared
            centred += block.sums(squares)
            variance = np.maximum(stated, centred, out=centred)
        usable = (variance > 1e-12 * len(w)) & block.is_chosen[..., np.newaxis]
        z = np.zeros(sums.shape)
        np.divide(sums, np.sqrt(variance, where=usable, out=z), where=usable, out=z)
        yield block, np.abs(z) if errors.sign == 0 else z * errors.sign, variance


def _simulated_best(
    family: SegmentFamily, errors: Errors, n_simulated: int, seed: int
) -> dict[int, FloatArray]:
    """Return the farthest segment of each simulated table, by its number of conditions.

    Two kinds of tables are simulated, and those with the higher quantiles count: labels drawn with
    the stated probabilities, and residuals with random signs, which keep the variance of a model
    that is too sure of itself. Residuals from a mean are permuted. Rows of a group share a sign.
    """
    random = generator(seed, INTERVAL)
    if family.n_rows > _ENOUGH_ROWS and errors.groups is None:
        part = np.sort(random.permutation(family.n_rows)[:_ENOUGH_ROWS]).astype(np.int64)
        family, errors = family.take(part), errors.take(part)
    n_rows = family.n_rows
    residuals = errors.residuals
    kinds: list[FloatArray] = []
    if errors.groups is not None:
        signs = random.choice([-1.0, 1.0], (n_simulated, int(errors.groups.max()) + 1))
        kinds.append((residuals * signs[:, errors.groups]).T)
    elif errors.expected is not None:
        plain = np.tile(errors.observed - errors.expected, (n_simulated, 1))
        kinds.append((errors.w * random.permuted(plain, axis=1)).T)
    else:
        happens = random.random((n_simulated, n_rows)) < errors.stated
        kinds.append((errors.w * (happens - errors.stated)).T)
        kinds.append((residuals * random.choice([-1.0, 1.0], (n_simulated, n_rows))).T)
    best = {1: np.zeros((len(kinds), n_simulated)), 2: np.zeros((len(kinds), n_simulated))}
    for kind, lines in enumerate(kinds):
        has_signs = kind == len(kinds) - 1 and errors.expected is None
        squares = residuals[:, np.newaxis] ** 2 if has_signs else None
        for block, z, _ in _statistics(family, errors, np.ascontiguousarray(lines), squares):
            own = best[block.n_conditions][kind]
            np.maximum(own, z.max(axis=(0, 1)), out=own)
    # Sorted, the larger of both kinds at each place: the larger p-value and the larger quantile.
    return {k: np.sort(values, axis=1).max(axis=0) for k, values in best.items()}


_Candidate = tuple[_Block, int, int, float, float]


def _farthest(
    family: SegmentFamily,
    errors: Errors,
    remaining: FloatArray,
    critical: dict[int, float],
    taken: list[BoolArray],
    *,
    beyond: bool,
) -> _Candidate | None:
    """Return the segment that is farthest off, also after what is already explained.

    Of two that are about as far off, the one with fewer conditions. `beyond` asks for segments
    beyond chance, both by themselves and after the segments that were taken before.
    """
    choice: _Candidate | None = None
    highest = 0.0
    lines = np.column_stack([errors.residuals, remaining])
    for block, z, variance in _statistics(family, errors, lines):
        bound = critical[block.n_conditions]
        own, left = np.moveaxis(z, -1, 0)
        score = left - bound - SIMPLER * (block.n_conditions - 1)
        if beyond:
            score = np.where((own > bound) & (left > bound), score, -np.inf)
        else:
            score = np.where(own > 0, score, -np.inf)
        for index in np.argsort(score, axis=None, kind="stable")[::-1].tolist():
            i, j = divmod(index, score.shape[1])
            value = float(score[i, j])
            if value == -math.inf or (choice is not None and value <= highest):
                break
            rows = block.rows(i, j)
            if any((rows & other).sum() > 0.5 * (rows | other).sum() for other in taken):
                continue
            choice, highest = (block, i, j, float(own[i, j]), float(variance[i, j, 0])), value
            break
    return choice


# ---- intervals, p-values and planning ------------------------------------------------------------


def effective_rows(errors: Errors, rows: BoolArray, variance: float) -> float:
    """Return the rows of equal probability that would give a rate this variance.

    Rows whose probabilities differ carry more information about their mean than as many with the
    same probability.
    """
    w = errors.w[rows]
    stated, observed = (
        float(np.average(values[rows], weights=w)) for values in (errors.stated, errors.observed)
    )
    mean = stated if 0 < stated < 1 else observed
    if not 0 < mean < 1 or variance <= 0 or errors.expected is not None:
        return float(w.sum() ** 2 / (w**2).sum())
    return mean * (1 - mean) * float(w.sum()) ** 2 / variance


def _interval(
    errors: Errors, rows: BoolArray, variance: float, critical: float, level: float
) -> tuple[float, float]:
    """Return the interval of the observed mean that reaches as far as the critical value."""
    w = errors.w[rows]
    observed = float(np.average(errors.observed[rows], weights=w))
    if not errors.is_rate:
        spread = max(variance, float((w**2) @ (errors.observed[rows] - observed) ** 2))
        reach = critical * math.sqrt(spread) / float(w.sum())
        low, high = errors.observed.min(), errors.observed.max()
        return max(observed - reach, float(low)), min(observed + reach, float(high))
    n = effective_rows(errors, rows, variance)
    covered = max(level, 1 - 2 * float(ndtr(-critical)))
    low, high = clopper_pearson(min(observed * n, n), n, level=min(covered, 1 - 1e-12))
    return float(low), float(high)


def exact_p(observed: float, stated: float, n: float) -> float:
    """Return the two-sided p-value whose interval is that of Clopper and Pearson.

    Examples
    --------
    >>> round(exact_p(0.3, 0.5, 10), 6)  # 2 P(at most 3 of 10)
    0.34375
    """
    count = min(observed * n, n)
    at_least = 1.0 if count <= 0 else float(betainc(count, n - count + 1, stated))
    at_most = 1.0 if count >= n else 1.0 - float(betainc(count + 1, n - count, stated))
    return min(1.0, 2 * min(at_least, at_most))


def _rows_needed(n_rows: int, z: float, critical: float) -> float:
    if z <= 0:
        return math.nan
    return math.ceil(n_rows * max(1.0, ((critical + float(ndtri(POWER))) / z) ** 2))


def _detectable(errors: Errors, critical: dict[int, float]) -> float:
    """Return how far off a segment of 10 % of the rows must be to be found with probability .9."""
    w = errors.w
    variance = float(np.average(errors.variance, weights=w))
    if errors.expected is None:
        spread = float(np.average((errors.observed - errors.stated) ** 2, weights=w))
        variance = max(variance, spread)
    n = WANTED_SHARE * float(w.sum() ** 2 / (w**2).sum())
    return (critical[2] + float(ndtri(POWER))) * math.sqrt(variance / n) / FIT
