"""Levels of the leaves as a table, with what would help the leaves that are too weak."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from sureleaf.arguments import FloatArray
from sureleaf.levels import node_confidence, sample_size
from sureleaf.levels.decisions import decision_sample_size
from sureleaf.levels.plurality import win_probabilities
from sureleaf.levels.search import halved, min_rows
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.node_levels import (
    NO_LEAD,
    TOLERANCE,
    NodeLevels,
    accuracy_limits,
    beta_rows,
    posterior_confidence,
    tie_prior,
)
from sureleaf.model.stability import Stability
from sureleaf.tree import Tree
from sureleaf.tree.rules import leaf_rules

if TYPE_CHECKING:
    from sureleaf.model.tree_model import TreeModel

SOURCES = {
    "training": "training rows, which shaped the tree: too optimistic for unseen rows",
    "honest": "rows that did not grow the tree",
    "cross_fit": "out-of-fold predictions of all training rows",
    "held_out": "rows that did not grow the tree",
}
"""Where levels come from, as the table says it."""


def kind_of_confidence(levels_from: str) -> str:
    """Say which confidence is printed: that of Zhang (2024) or the posterior one."""
    if levels_from == "training":
        return (
            "Confidence follows Zhang (2024), (5) to (11). It is too high, because it takes the "
            "estimated probability for the true one (docs/levels.md)."
        )
    return (
        "Confidence is posterior: it allows for the uncertainty about a leaf, which Zhang (2024), "
        "(5) to (11), leaves out (docs/levels.md)."
    )


def _question_of_rows_needed(levels_from: str, n_tree: float | None) -> str:
    """Say which question the needed rows answer, and which one `sureleaf plan` answers."""
    if levels_from == "training" and n_tree is None:
        return (
            "The rows needed are those of a leaf with exactly so many rows, as in (5) and in "
            "sureleaf plan, because (9) is for two classes and equal costs."
        )
    if levels_from == "training":
        return (
            "The rows needed are those of a leaf that gets its share of the rows of a tree, (9); "
            "sureleaf plan gives those of a leaf with exactly that many rows, (5)."
        )
    return (
        "The rows needed allow for an accuracy that is estimated; sureleaf plan gives those of a "
        "leaf whose p_max is known, (5)."
    )


class _Levels(NamedTuple):
    confidence: float
    utility: float


class FittedLevels(_Levels):
    """Confidence and utility of a tree: the share-weighted sums over its leaves.

    It is a pair, with further attributes: `low` and `high`, the interval of the utility at `level`
    (NaN where the levels are of training rows), and `levels_from`, where the levels come from,
    which decides what the confidence means.
    """

    low: float
    high: float
    level: float
    levels_from: str

    @classmethod
    def with_interval(
        cls,
        confidence: float,
        utility: float,
        strength: float | None,
        level: float,
        levels_from: str = "cross_fit",
    ) -> Self:
        """Add the interval of a utility that is known by so many rows; None for no interval."""
        levels = cls(confidence, utility)
        levels.low = levels.high = float("nan")
        levels.level, levels.levels_from = level, levels_from
        if strength is not None:
            predictions = beta_rows(np.asarray(utility), np.asarray(strength))
            low, high = accuracy_limits(*predictions, level)
            levels.low, levels.high = min(float(low), utility), max(float(high), utility)
        return levels

    def to_pandas(self) -> Any:
        """As a pandas data frame of one row."""
        return self._table().to_pandas()

    def to_polars(self) -> Any:
        """As a polars data frame of one row."""
        return self._table().to_polars()

    def __str__(self) -> str:
        return repr(self._table())

    def _table(self) -> "_OneLine":
        values = (self.confidence, self.utility, self.low, self.high)
        confidence, utility, low, high = (np.array([value]) for value in values)
        return _OneLine(confidence, utility, low, high, self.levels_from)


@dataclass(frozen=True, eq=False, repr=False)
class _OneLine(ColumnTable):
    confidence: FloatArray
    utility: FloatArray
    low: FloatArray
    high: FloatArray
    levels_from: str

    def notes(self) -> list[str]:
        return [kind_of_confidence(self.levels_from)]


@dataclass(frozen=True, eq=False, repr=False)
class LeafTable(ColumnTable):
    """One row per leaf, in the order of `leaf_counts_`.

    - `leaf`: node number, as `apply` returns it.
    - `rule`: the tests on the way to it.
    - `n`, and `counts`, shape (n_leaves, n_classes): rows that are counted in it, and by class.
    - `prediction`: the class that it predicts.
    - `probability`, `low`, `high`: probability of that class (p_max of the theory), its interval.
    - `confidence`, `utility`: probability that the predicted class is the true majority class of
      the leaf, and that the next row is predicted correctly.
    - `confidence_error`: standard error of the confidence by the luck of the folds; 0 where folds
      play no part, NaN with one round of folds and at other costs than those of the fit.
    - `rows_needed`, `total_rows_needed`: rows in the leaf, and in the whole table, that reach the
      wanted levels if the accuracy of the leaf and its share of the rows stay as they are; at most
      those that it has, if it is not flagged; NaN if no number does, and if the leaf is so close to
      a tie that nobody can tell.
    - `flagged`: leaves below a wanted level, right less often than a tie, or without rows.
    - `repair`: what would help a flagged leaf.
    - `recurrence`: mean share of its rows that kept their predicted class in trees grown on random
      halves of the rows; NaN if it is not known.
    - `levels_from`: where the levels come from.
    - `n_rounds`: rounds of folds.
    - `stability`: how often splits and predictions recurred in trees of halves, or None.
    - `n_updated`: rows that were counted after the fit.
    - `method`: the estimate of p_max that was asked for, of levels of training rows.
    - `n_tree`: rows of the tree of which a leaf has its share by chance, (9); None for fixed rows.
    - `is_class_weighted`: whether rows are weighted by their class.
    """

    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    n: FloatArray
    counts: FloatArray
    prediction: NDArray[Any]
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: FloatArray
    utility: FloatArray
    confidence_error: FloatArray
    rows_needed: FloatArray
    total_rows_needed: FloatArray
    flagged: NDArray[np.bool_]
    repair: NDArray[np.object_]
    recurrence: FloatArray
    levels_from: str
    n_rounds: int = 1
    stability: Stability | None = None
    n_updated: float = 0.0
    method: str | None = None
    n_tree: float | None = None
    is_class_weighted: bool = False

    @property
    def fragmentation(self) -> float:
        """Share of the rows that lie in flagged leaves."""
        total = float(self.n.sum())
        return float(self.n[self.flagged].sum()) / total if total else 0.0

    def source_note(self) -> str:
        """Where the levels come from."""
        if self.levels_from == "held_out":
            return (
                f"Limits and flags hold for all leaves at once. They come from {self.n.sum():g} "
                f"{SOURCES['held_out']}, and hold for any distribution."
            )
        later = ""
        if self.n_updated:
            later = f" and {self.n_updated:,.0f} rows of updates, which did not grow the tree"
        estimate = f" p_max is the {self.method} estimate." if self.method else ""
        source = f"Levels come from {SOURCES[self.levels_from]}{later}.{estimate}{self._luck()}"
        return f"{source} {kind_of_confidence(self.levels_from)}"

    def notes(self) -> list[str]:
        """Where the levels come from, what limits them, and whether the leaves are too small."""
        if self.levels_from == "held_out":
            return [self.source_note()]
        notes = [self.source_note()]
        if np.isfinite(self.rows_needed).any():
            notes.append(_question_of_rows_needed(self.levels_from, self.n_tree))
        return [*notes, *self.limits()]

    def limits(self) -> list[str]:
        """Say what limits the levels, and whether the leaves are too small."""
        notes = []
        if self.fragmentation > 0.5 and len(self) > 1:
            notes.append(
                f"Data fragmentation: {100 * self.fragmentation:.0f} % of the rows are in "
                f"{int(self.flagged.sum())} of {len(self)} leaves that are too small or too mixed "
                "for the wanted levels. Prune more, or collect more rows."
            )
        if self.is_class_weighted:
            notes.append(
                "class_weight: a row counts as often as its class weighs. Rows, probabilities, "
                "confidence and utility are of such weighted rows, not of rows as they come."
            )
        if self.stability is not None:
            notes.append(self.stability.sentence())
        if self.levels_from != "training":
            notes += known_limits(float(self.n.sum()), len(self))
        return notes

    def _luck(self) -> str:
        """How far the luck of the folds moves the confidences."""
        if self.levels_from != "cross_fit":
            return ""
        if self.n_rounds == 1:
            return " There was one round of cross-validation; another would differ somewhat."
        largest = float(self.confidence_error.max())
        means = f" Confidence is the mean over {self.n_rounds} rounds of cross-validation."
        if np.isnan(largest) and self.n_updated:
            return f"{means} How much it depends on the folds is not known after an update."
        if np.isnan(largest):
            return f"{means} How much it depends on the folds is not known at these costs."
        if largest < 0.0005:  # 0.0 percentage points, as it would be printed
            return means
        return (
            f"{means} Its standard error from the choice of folds is at most {100 * largest:.1f} "
            "percentage points."
        )


_FEW_ROWS = 100


def known_limits(n_rows: float, n_leaves: int) -> list[str]:
    """Return the known limits of levels (docs/levels.md) that apply to a tree of this size."""
    limits = []
    if n_rows <= _FEW_ROWS:
        limits.append(
            f"With {n_rows:.4g} rows, the accuracy and all levels are known to within tens of "
            "percentage points only."
        )
    if n_leaves == 1:
        limits.append(
            "The tree has only one leaf. If no column is related to the class, utility is a little "
            "too high."
        )
    return limits


@dataclass(frozen=True, eq=False, repr=False)
class RowLevels(ColumnTable):
    """Levels of each row, which are those of its leaf.

    - `leaf`: the leaf by node number; of several the heaviest.
    - `prediction`: the predicted class.
    - `confidence`, `utility`, `low`, `high`: as for leaves; for a row in several leaves, the mean
      over them for the predicted class.
    - `imputed_share`: the share of the row that a missing or unseen value has sent to its leaves. A
      missing value that takes the branch its test has learned does not count.
    - `levels_from`: where the levels come from.
    """

    leaf: NDArray[np.int64]
    prediction: NDArray[Any]
    confidence: FloatArray
    utility: FloatArray
    low: FloatArray
    high: FloatArray
    imputed_share: FloatArray
    levels_from: str = "cross_fit"

    def notes(self) -> list[str]:
        """Say which confidence is printed."""
        return [kind_of_confidence(self.levels_from)]


def leaf_table(
    model: "TreeModel",
    *,
    level: float,
    confidence: float | None,
    utility: float | None,
    method: str | None = None,
) -> LeafTable:
    """Combine the levels of the leaves with their rules, and with what the weak ones need."""
    tree, levels, evidence = model.tree, model.node_levels(method), model.evidence
    leaves, n = tree.leaf_ids, model.leaf_counts.n
    low, high = levels.interval(level)
    weak = levels.is_weak(confidence, utility)
    needs = RowsNeeded.of(levels, leaves, n, confidence, utility)
    # A tie or a low utility may be due to chance: the interval tells whether better is possible.
    may_help = high > np.maximum(levels.probability, utility or 0.0)
    error = np.zeros(len(leaves))
    if evidence.source == "cross_fit":
        known = levels.confidence_error
        error = np.full(len(leaves), np.nan) if known is None else known[leaves]
    rules, stability = leaf_rules(tree, model.schema), evidence.stability
    return LeafTable(
        leaf=leaves,
        rule=np.array([rules[leaf] for leaf in leaves.tolist()], dtype=object),
        n=n,
        counts=model.leaf_counts.counts,
        prediction=model.classes[levels.predicted[leaves]],
        probability=levels.probability[leaves],
        low=low[leaves],
        high=high[leaves],
        confidence=levels.confidence[leaves],
        utility=levels.utility[leaves],
        confidence_error=error,
        rows_needed=needs.rows,
        total_rows_needed=needs.total_rows,
        flagged=weak[leaves],
        repair=np.array(repairs(tree, levels, weak, may_help, needs), dtype=object),
        recurrence=np.full(len(leaves), np.nan) if stability is None else stability.kept[leaves],
        levels_from=evidence.source,
        n_rounds=evidence.n_rounds,
        stability=stability,
        n_updated=evidence.n_updated,
        method=method,
        n_tree=levels.n_tree,
    )


_FAR = 20.0
"""A number of more times the rows of a leaf says no more than that nobody knows."""

_OUT_OF_SIGHT = 100.0
"""Near a tie, the number that would be needed has no bound."""

_FEWEST_DOUBLINGS, _MOST_DOUBLINGS, _BISECTIONS = -20.0, 40.0, 50
_LISTED_BRANCHES = 20


# ---- what weak leaves need: numbers of rows ------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RowsNeeded:
    """Rows with which each leaf reaches the wanted levels: in it, and in the whole table.

    `n` are the rows that it has. `is_stated` marks leaves whose number is stated with its quartiles
    `min_rows` and `max_rows`.
    """

    n: FloatArray
    rows: FloatArray
    total_rows: FloatArray
    min_rows: FloatArray
    max_rows: FloatArray
    is_stated: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        levels: NodeLevels,
        leaves: NDArray[np.intp],
        n: FloatArray,
        confidence: float | None,
        utility: float | None,
    ) -> Self:
        """Compute the numbers of all leaves."""
        is_weak = levels.is_weak(confidence, utility)[leaves]
        # The levels are those of effective rows; so many rows of the table are one of them.
        per_row = np.divide(n, levels.n[leaves], out=np.ones(len(n)), where=levels.n[leaves] > 0)
        theory = per_row * rows_of_theory(levels, leaves, confidence, utility)
        needed = np.maximum(theory, per_row * rows_of_posterior(levels, leaves, confidence))
        needed = np.ceil(needed - 1e-6)
        # How uncertain the number is matters where it is stated, or where it may be unknown.
        is_stated = (is_weak & (needed > n)) | (needed > _FAR * n)
        min_rows, max_rows = np.full((2, len(leaves)), np.nan)
        for rows, quantile in ((min_rows, 0.75), (max_rows, 0.25)):
            posterior = rows_of_posterior(levels, leaves[is_stated], confidence, quantile=quantile)
            rows[is_stated] = np.maximum(theory[is_stated], per_row[is_stated] * posterior)
        is_known = ~np.isnan(max_rows) | (needed <= _FAR * n)
        needed = np.where(is_known, needed, np.nan)
        # What allows for one more error may exceed the rows of a leaf that reaches the levels.
        needed = np.where(is_weak, needed, np.fmin(needed, n))
        # The table must grow as the leaf does, which keeps its share of the rows.
        growth = np.divide(needed, n, out=np.full(len(n), np.nan), where=n > 0)
        total = np.maximum(np.ceil(n.sum() * growth - 1e-6), needed)
        return cls(n, needed, total, min_rows, max_rows, is_stated)

    def advice(self) -> list[str]:
        """Say how many rows to collect for each leaf; empty where no number is stated."""
        more = [rows - self.n for rows in (self.rows, self.min_rows, self.max_rows)]
        figures = np.column_stack([*more, self.total_rows - self.n.sum()]).tolist()
        pairs = zip(figures, self.is_stated, strict=True)
        return [_collect(*each) if is_stated else "" for each, is_stated in pairs]


def rows_of_theory(
    levels: NodeLevels, nodes: NDArray[np.intp], confidence: float | None, utility: float | None
) -> FloatArray:
    """Return the rows by (5) and (6) if p_max is known; NaN where no number does.

    The confidence is that of the theory for levels of counts only.
    """
    if levels.strength is not None:
        confidence = None
    if (confidence is None and utility is None) or levels.n_classes == 1:
        return np.zeros(len(nodes))
    p = levels.probability[nodes]
    if levels.n_tree is not None:
        shares = np.minimum(levels.n[nodes] / levels.n_tree, 1.0)
        return _share_sample_size(shares, p, confidence or 0.0, utility or 0.0)
    if levels.n_classes == 2:
        cut = 0.5 if levels.rule is None else levels.rule.thresholds(levels.predicted[nodes])
        needed = sample_size(p, confidence=confidence, utility=utility, threshold=cut)
        return np.asarray(needed, dtype=float)
    if levels.rule is not None:
        return decision_sample_size(
            p,
            levels.predicted[nodes],
            levels.others[nodes],
            levels.rule,
            confidence=confidence or 0.0,
            utility=utility or 0.0,
        )
    return _class_sample_size(levels.vectors()[nodes], confidence or 0.0, utility or 0.0)


def rows_of_posterior(
    levels: NodeLevels,
    nodes: NDArray[np.intp],
    confidence: float | None,
    *,
    quantile: float | None = None,
) -> FloatArray:
    """Return the rows that reach a posterior confidence; NaN where no number does.

    With more rows, the same share of correct predictions is known more precisely. One more error is
    allowed for, so that a leaf at the edge is not told to collect a single row. With a `quantile`,
    that of the accuracy takes the place of its mean: it tells how uncertain the number of rows is.
    """
    accuracy, strength, ties = levels.accuracy, levels.strength, levels.ties
    if confidence is None or accuracy is None or strength is None or ties is None:
        return np.zeros(len(nodes))
    share, known = accuracy[nodes], strength[nodes]
    if quantile is not None:
        share = betaincinv(*beta_rows(share, known), quantile)
    share = share * levels.n[nodes] / (levels.n[nodes] + 1.0)  # the next row may be an error
    prior = tie_prior(len(levels.n), levels.rule)
    factor = _factor_to_confidence(confidence, known, share, ties[nodes], prior)
    return np.ceil(factor * levels.n[nodes] - 1e-6)


def _factor_to_confidence(
    confidence: float, known: FloatArray, share: FloatArray, tie: FloatArray, prior: float
) -> FloatArray:
    """Return by how much `known` rows must grow until the share is above the tie so surely.

    NaN where the share is not above the tie, or where no number of rows is enough.
    """
    able = np.flatnonzero((share > tie + NO_LEAD) & (known > 0))

    def is_too_few(doublings: FloatArray) -> NDArray[np.bool_]:
        rows = known[able] * 2.0**doublings
        return ~(posterior_confidence(share[able], rows, tie[able], prior) >= confidence)

    low, high = np.full(len(able), _FEWEST_DOUBLINGS), np.full(len(able), _MOST_DOUBLINGS)
    high = halved(is_too_few, low, high, _BISECTIONS)[1]
    factor = np.full(len(share), np.nan)
    factor[able] = np.where(high > _MOST_DOUBLINGS - 1.0, np.nan, 2.0**high)
    return factor


def _share_sample_size(shares: FloatArray, p: FloatArray, sure: float, useful: float) -> FloatArray:
    """Return the smallest mean rows of nodes that reach the levels by (9), and (6) with it.

    A node of a share gets m rows on average if the tree has m / share of them.
    """
    # A tie stays one, and utility has the ceiling p_max.
    tied = (p - 0.5 < NO_LEAD) & (max(sure, useful) > 0.5)
    able = np.flatnonzero((shares > 0) & ~tied & (p >= useful))

    def reached(m: FloatArray, index: NDArray[np.intp]) -> NDArray[np.bool_]:
        share, p_max = shares[able[index]], p[able[index]]
        level = np.asarray(node_confidence(m / share, share, p_max))
        gain = (1.0 - p_max) + (2.0 * p_max - 1.0) * level
        return np.asarray((level >= sure) & (gain >= useful))

    sizes = np.full(len(p), np.nan)
    sizes[able] = min_rows(reached, len(able))
    return sizes


def _class_sample_size(vectors: FloatArray, sure: float, useful: float) -> FloatArray:
    """Return the smallest number of rows that reaches the levels; NaN where none does."""

    def reached(n: FloatArray, index: NDArray[np.intp]) -> NDArray[np.bool_]:
        chosen = vectors[index]
        wins = win_probabilities(n, chosen, tolerance=TOLERANCE)
        best = np.argmax(chosen, axis=1)[:, np.newaxis]
        sure_enough = np.take_along_axis(wins, best, axis=1)[:, 0] >= sure
        return np.asarray(sure_enough & ((chosen * wins).sum(axis=1) >= useful))

    second, first = np.sort(vectors, axis=1)[:, -2:].T
    # Classes that tie do so with any number of rows, and utility has the ceiling p_max.
    unreachable = ((first - second < NO_LEAD) & (sure > 0.5)) | (first < useful)
    able = np.flatnonzero(~unreachable)
    # The two most probable classes alone, by the normal distribution.
    lead = np.maximum(first - second, NO_LEAD)[able]
    guess = ndtri(max(sure, 0.9)) ** 2 * ((first + second)[able] - lead**2) / lead**2
    sizes = np.full(len(vectors), np.nan)
    sizes[able] = min_rows(lambda n, index: reached(n, able[index]), len(able), guess=guess)
    return sizes


# ---- what weak leaves need, in words -------------------------------------------------------------


def _collect(more: float, min_rows: float, max_rows: float, more_in_all: float) -> str:
    """Say how many rows to collect, in the leaf and in all; empty if no number is known.

    Half of the leaves like this one need between `min_rows` and `max_rows` more rows.
    """
    if not more > 0:
        return ""
    text = f"collect {_rows(more)} more in this leaf"
    if more_in_all > more:  # the only leaf of a tree has all rows
        text += f", about {_rows(more_in_all)} more in all"
    if min_rows == max_rows:  # levels of counts take the estimate for the truth
        return text
    few = _rows(max(min_rows, 1.0))
    if np.isnan(max_rows) or max_rows > _OUT_OF_SIGHT * more:
        return f"{text} (as few as {few}; possibly no number is enough)"
    return f"{text} (probably {few} to {_rows(max_rows)} in this leaf)"


def _rows(n: float) -> str:
    """Round to two digits: nobody knows the number more precisely."""
    whole = int(np.ceil(n))
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return f"{(whole + unit // 2) // unit * unit:,}"


def repairs(
    tree: Tree,
    levels: NodeLevels,
    is_weak: NDArray[np.bool_],
    may_help: NDArray[np.bool_],
    needs: RowsNeeded,
) -> list[str]:
    """Say for each weak leaf: merge with the siblings, or collect rows (recommendation 3).

    `is_weak`, and `may_help` for whether more rows might, have one entry per node.
    """
    merging_helps, collect = _merging_helps(tree, levels, is_weak), needs.advice()
    texts = [""] * tree.n_leaves
    for line, leaf in enumerate(tree.leaf_ids.tolist()):
        if is_weak[leaf]:
            merge = _merge(tree, levels, leaf) if merging_helps[leaf] else ""
            texts[line] = " or ".join(filter(None, (merge, collect[line])))
            texts[line] = texts[line] or _advice_without_number(
                float(levels.n[leaf]), bool(may_help[leaf])
            )
    return texts


def _merging_helps(tree: Tree, levels: NodeLevels, weak: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each leaf is no worse off as a part of the node above it."""
    above = np.maximum(tree.parent, 0)
    inner = np.flatnonzero(~tree.is_leaf)
    has_inner_child = np.zeros(tree.n_nodes, dtype=np.bool_)
    has_inner_child[tree.parent[inner[inner > 0]]] = True
    # The utility of the rows of a node as part of the node above. With costs it is what they save
    # by the decision of that node: leaves that make different decisions save different amounts.
    merged = levels.utility[above]
    if levels.rule is not None:
        merged = levels.utilities()[np.arange(tree.n_nodes), levels.predicted[above]]
    helps = (merged >= levels.utility) & ~weak[above] & ~has_inner_child[above]
    return np.asarray(helps & (tree.parent >= 0))


def _merge(tree: Tree, levels: NodeLevels, leaf: int) -> str:
    node = int(tree.parent[leaf])
    branches = tree.branches(node)
    siblings = f"the other {len(branches) - 1:,} branches of node {node}"
    if len(branches) <= _LISTED_BRANCHES:
        siblings = ", ".join(str(branch) for branch in branches.tolist() if branch != leaf)
    return f"merge with {siblings} (confidence {levels.confidence[node]:.2f})"


def _advice_without_number(n: float, may_help: bool) -> str:
    if n <= 0:
        return "no rows reach this leaf, so what it needs is unknown"
    if may_help:
        rows = "1 row is" if round(n) == 1 else f"{n:,.0f} rows are"
        return f"{rows} too few to tell whether more would help"
    return "more rows would not help; other columns might"
