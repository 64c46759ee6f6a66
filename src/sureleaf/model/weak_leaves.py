"""What a weak leaf needs: more rows, so many of them, or to be merged with its siblings."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

from sureleaf.arguments import FloatArray
from sureleaf.levels import node_confidence, sample_size
from sureleaf.levels.decisions import decision_sample_size
from sureleaf.levels.plurality import win_probabilities
from sureleaf.levels.search import halved, min_rows
from sureleaf.model.node_levels import (
    NO_LEAD,
    TOLERANCE,
    NodeLevels,
    posterior_confidence,
    tie_prior,
)
from sureleaf.tree import Tree

_FAR = 20.0
"""A number of more times the rows of a leaf says no more than that nobody knows."""

_OUT_OF_SIGHT = 100.0
"""Near a tie, the number that would be needed has no bound."""

_FEWEST_DOUBLINGS, _MOST_DOUBLINGS, _BISECTIONS = -20.0, 40.0, 50
_LISTED_BRANCHES = 20


# ---- numbers of rows -----------------------------------------------------------------------------


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
        more_in_all = self.total_rows - self.n.sum()
        more = (self.rows, self.min_rows, self.max_rows)
        figures = zip(
            *((rows - self.n).tolist() for rows in more),
            more_in_all.tolist(),
            self.is_stated.tolist(),
            strict=True,
        )
        return [_collect(*each) if is_stated else "" for *each, is_stated in figures]


def rows_of_theory(
    levels: NodeLevels,
    nodes: NDArray[np.intp],
    confidence: float | None,
    utility: float | None,
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
        own, rest = np.clip(share * known, 1e-9, None), np.clip((1 - share) * known, 1e-9, None)
        share = betaincinv(own, rest, quantile)
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
        enough: NDArray[np.bool_] = (level >= sure) & (gain >= useful)
        return enough

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
        enough: NDArray[np.bool_] = sure_enough & ((chosen * wins).sum(axis=1) >= useful)
        return enough

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


# ---- in words ---------------------------------------------------------------------------------


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
    return f"{_rounded(n):,}"


def _rounded(n: float) -> int:
    """Round to two digits: nobody knows the number more precisely."""
    whole = int(np.ceil(n))
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return (whole + unit // 2) // unit * unit


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
    merge, collect = _merging(tree, levels, is_weak), needs.advice()
    texts = [""] * tree.n_leaves
    for line, leaf in enumerate(tree.leaf_ids.tolist()):
        if is_weak[leaf]:
            ways = [way for way in (merge(leaf), collect[line]) if way]
            texts[line] = " or ".join(ways) or _advice_without_number(
                float(levels.n[leaf]), bool(may_help[leaf])
            )
    return texts


def _merging(tree: Tree, levels: NodeLevels, weak: NDArray[np.bool_]) -> Callable[[int], str]:
    """Return the function that says which siblings to merge a leaf with; empty if it would not do.

    A split may have 10,000 branches, so what holds for all of them is computed once.
    """
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

    def merge(leaf: int) -> str:
        if leaf == 0 or not helps[leaf]:
            return ""
        node = int(above[leaf])
        branches = tree.branches(node)
        siblings = f"the other {len(branches) - 1:,} branches of node {node}"
        if len(branches) <= _LISTED_BRANCHES:
            siblings = ", ".join(str(branch) for branch in branches.tolist() if branch != leaf)
        return f"merge with {siblings} (confidence {levels.confidence[node]:.2f})"

    return merge


def _advice_without_number(n: float, may_help: bool) -> str:
    if n <= 0:
        return "no rows reach this leaf, so what it needs is unknown"
    if may_help:
        rows = "1 row is" if round(n) == 1 else f"{n:,.0f} rows are"
        return f"{rows} too few to tell whether more would help"
    return "more rows would not help; other columns might"
