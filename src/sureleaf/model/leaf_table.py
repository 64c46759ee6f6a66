"""Levels of the leaves as a table, with what would help the leaves that are too weak."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv

from sureleaf.arguments import FloatArray
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.stability import Stability
from sureleaf.model.weak_leaves import RowsNeeded, repairs
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
            "Confidence follows Zhang (2024), (5) to (11), who takes the estimated probability "
            "for the truth, and so is too high (docs/levels.md)."
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

    It is a pair, with the interval of the utility as further attributes.

    Attributes
    ----------
    confidence, utility : float
        The pair.
    low, high : float
        Interval of the utility; NaN where the levels are of training rows.
    level : float
        Level of the interval.
    levels_from : str
        Where the levels come from, which decides what the confidence means.

    Examples
    --------
    >>> confidence, utility = FittedLevels.with_interval(0.9, 0.8, strength=50.0, level=0.95)
    >>> levels = FittedLevels.with_interval(0.9, 0.8, strength=50.0, level=0.95)
    >>> round(levels.low, 3), round(levels.high, 3)
    (0.68, 0.898)
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
            own = max(utility * strength, 1e-9)
            rest = max((1.0 - utility) * strength, 1e-9)
            tail = (1.0 - level) / 2
            levels.low = min(float(betaincinv(own, rest, tail)), utility)
            levels.high = max(float(betainccinv(own, rest, tail)), utility)
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

    Parameters
    ----------
    leaf : ndarray of int
        Node number, as `apply` returns it.
    rule : ndarray of str
        The tests on the way to it.
    n : ndarray of float64
        Rows that are counted in it.
    counts : ndarray of float64, shape (n_leaves, n_classes)
        These rows by class.
    prediction : ndarray
        The class that it predicts.
    probability, low, high : ndarray of float64
        Probability of that class (p_max of the theory) and its interval.
    confidence, utility : ndarray of float64
        Probability that the predicted class is the true majority class of the leaf, and that the
        next row is predicted correctly.
    confidence_error : ndarray of float64
        Standard error of the confidence by the luck of the folds; 0 where folds play no part, NaN
        with one round of folds and at other costs than those of the fit.
    rows_needed, total_rows_needed : ndarray of float64
        Rows in the leaf, and rows in the whole table, that reach the wanted levels if the accuracy
        of the leaf and its share of the rows stay as they are; at most those that it has, if it
        is not flagged; NaN if no number does, and if the leaf is so close to a tie that nobody can
        tell.
    flagged : ndarray of bool
        Leaves below a wanted level, right less often than a tie, or without rows.
    repair : ndarray of str
        What would help a flagged leaf.
    recurrence : ndarray of float64
        Mean share of its rows that kept their predicted class in trees grown on random halves of
        the rows; NaN if it is not known.
    levels_from : str
        Where the levels come from.
    n_rounds : int
        Rounds of folds.
    stability : Stability or None
        How often splits and predictions recurred in trees of halves.
    n_updated : float
        Rows that were counted after the fit.
    method : str or None
        The estimate of p_max that was asked for, of levels of training rows.
    n_tree : float or None
        Rows of the tree of which a leaf has its share by chance, (9); None for fixed rows.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.leaves().rule.tolist()
    ['x0 <= 19', 'x0 > 19']
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
        question = _question_of_rows_needed(self.levels_from, self.n_tree)
        return [self.source_note(), *([question] if self.needs_rows else []), *self.limits()]

    @property
    def needs_rows(self) -> bool:
        """Whether the rows that a leaf needs are known, of at least one leaf."""
        return bool(np.isfinite(self.rows_needed).any())

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

    Parameters
    ----------
    leaf : ndarray of int
        The leaf by node number; of several the heaviest.
    prediction : ndarray
        The predicted class.
    confidence, utility, low, high : ndarray of float64
        As for leaves; for a row in several leaves, the mean over them for the predicted class.
    imputed_share : ndarray of float64
        The share of the row that a missing or unseen value has sent to its leaves. A missing value
        that takes the branch its test has learned does not count.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> model.predict_levels([[3]]).prediction.tolist()
    ['no']
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
