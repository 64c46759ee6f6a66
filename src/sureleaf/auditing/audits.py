"""Hold a fitted model to what rows say, leaf by leaf or bin by bin."""

import json
import warnings
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import (
    check_choice,
    check_count,
    check_level,
    read_labels,
)
from sureleaf.auditing.model_columns import AuditedBins, AuditedLeaves, AuditedTrees
from sureleaf.auditing.model_leaves import LeafView, Said, ask_model
from sureleaf.auditing.unseen_levels import probability_bins, unseen_levels
from sureleaf.errors import InvalidArgumentError, TrainingRowsWarning
from sureleaf.evaluation import Estimate
from sureleaf.levels.intervals import wilson
from sureleaf.model.column_table import json_value
from sureleaf.model.node_levels import levels_of_counts
from sureleaf.probability import predicted_class

__all__ = ["Audit", "audit"]


# An audit: what a model states, what rows say about that, and how sure one can be of it.

SCHEMA = "sureleaf-audit/1"


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What rows say about a fitted model.

    Parameters
    ----------
    model : str
        The model's class.
    rows : {"unseen", "training"}
        What the rows were to the model.
    n_rows : int
        How many there were.
    classes : ndarray
        The model's classes, in the order of `counts`.
    level : float
        Of the intervals.
    accuracy : Estimate
        Share of the rows that are predicted right, with Wilson's interval.
    stated : float
        Mean probability that the model states for its predictions: its own opinion of its
        accuracy.
    confidence, utility : float
        Sums over the leaves of a single tree, over the bins of any other model, weighted by their
        rows: the probability that the class predicted is the most probable one, and that it is
        right.
    leaves : AuditedLeaves or None
        The leaves of the tree, or of all trees of a forest or bag; None for models that are
        neither.
    trees : AuditedTrees or None
        The trees of a forest or bag.
    bins : AuditedBins
        Rows by prediction and stated probability.
    wanted_confidence, wanted_utility : float or None
        What leaves and bins were held to: those below are flagged.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[i / 10] for i in range(50)], ["no"] * 25 + ["yes"] * 25)
    >>> round(found.utility, 3), found.leaves.rule.tolist()
    (0.98, ['x0 <= 2.5', 'x0 > 2.5'])
    """

    model: str
    rows: str
    n_rows: int
    classes: NDArray[Any]
    level: float
    accuracy: Estimate
    stated: float
    confidence: float
    utility: float
    leaves: AuditedLeaves | None
    trees: AuditedTrees | None
    bins: AuditedBins
    wanted_confidence: float | None = None
    wanted_utility: float | None = None

    @property
    def table(self) -> AuditedLeaves | AuditedBins:
        """The leaves of a single tree, the bins of any other model."""
        return self.bins if self.leaves is None or self.trees is not None else self.leaves

    @property
    def n_outside(self) -> int:
        """How many of the table's stated probabilities are out of the bounds."""
        return int((~self.table.agrees).sum())

    def notes(self) -> list[str]:
        """Say what the rows were, and how many stated probabilities do not stand up."""
        held = int((self.table.n > 0).sum())
        kind = "leaves" if self.table is self.leaves else "bins"
        told = []
        if self.rows == "training":
            told.append(
                "These rows grew the model: accuracy and levels flatter it. Audit it with rows "
                "that it has not seen."
            )
        if held:
            chance = (1 - self.level) * held
            told.append(
                f"In {self.n_outside} of {held} {kind} with rows the stated probability is "
                f"outside its {100 * self.level:g} % interval; by chance alone at most "
                f"{chance:.1f} would be."
            )
        return told

    def to_pandas(self) -> Any:
        """Give the table, leaves or bins, as a pandas data frame."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """Give the table, leaves or bins, as a polars data frame."""
        return self.table.to_polars()

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values: numbers, text, lists and None.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from sureleaf import audit
        >>> model = DecisionTreeClassifier().fit([[1], [2]], ["no", "yes"])
        >>> audit(model, [[1], [3]], ["no", "yes"]).to_dict()["leaves"][0]["rule"]
        'x0 <= 1.5'
        """
        return {
            "schema": SCHEMA,
            "model": self.model,
            "rows": self.rows,
            "n_rows": self.n_rows,
            "classes": self.classes.tolist(),
            "level": self.level,
            "wanted": {
                "level": self.level,
                "confidence": self.wanted_confidence,
                "utility": self.wanted_utility,
            },
            "accuracy": {name: json_value(value) for name, value in vars(self.accuracy).items()},
            "stated": self.stated,
            "confidence": self.confidence,
            "utility": self.utility,
            "leaves": None if self.leaves is None else self.leaves.records(),
            "trees": None if self.trees is None else self.trees.records(),
            "bins": self.bins.records(),
        }

    def to_json(self) -> str:
        """Give everything as JSON text; what is not a number is null."""
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, default=str)

    def _head(self) -> str:
        low, high = self.accuracy.low, self.accuracy.high
        return (
            f"{self.model} on {self.n_rows:,} {self.rows} rows: right about "
            f"{100 * self.accuracy.value:.1f} % ({100 * low:.1f} to {100 * high:.1f}), "
            f"states {100 * self.stated:.1f} %. "
            f"confidence {self.confidence:.3f}, utility {self.utility:.3f}"
        )

    def __repr__(self) -> str:
        return "\n".join([self._head(), repr(self.table), *self.notes()])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return f"<p>{escape(self._head())}</p>{self.table._repr_html_()}{notes}"


FloatArray = NDArray[np.float64]

_FEW_ROWS = 20
"""Fewer rows can fall into the leaves as the training rows did by chance."""


@dataclass(frozen=True)
class _Wanted:
    """What the groups are held to."""

    rows: str
    level: float
    confidence: float | None
    utility: float | None


def audit(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    rows: str = "unseen",
    level: float = 0.95,
    confidence: float | None = 0.95,
    utility: float | None = None,
    n_bins: int = 10,
    classes: ArrayLike | None = None,
) -> Audit:
    """Hold a fitted model to what rows say: each leaf's counts, probability and levels.

    Parameters
    ----------
    model : fitted classifier
        Trees, forests, extra-trees and bagged trees of scikit-learn and of this library, alone, in
        a Pipeline or in a parameter search: leaf by leaf. LightGBM, XGBoost and everything else
        with `predict_proba`: by bins of the stated probability, since leaves of boosters hold
        scores.
    X : array, sparse matrix, pandas, polars or Arrow table
        Rows; columns are found by name if the model has names, further ones are left out.
    y : array_like
        Their labels.
    rows : {"unseen", "training"}
        What the rows were to the model. Of training rows, levels are those of the theory for
        counts in leaves that were there before the rows; they flatter, and a warning says so.
    level : float
        Of the intervals.
    confidence, utility : float or None
        Wanted levels, for `rows_needed` and `flagged`.
    n_bins : int
        Bins of the stated probability, about.
    classes : array_like, optional
        Labels in the order of the model's probabilities, for boosters that do not keep them;
        0, 1, ... by default.

    Returns
    -------
    Audit
        `leaves`, `trees`, `bins`, and the totals; prints as a table, `to_pandas()`,
        `to_polars()`, `to_dict()`, `to_json()`.

    Raises
    ------
    InvalidTypeError
        If the model is no classifier with probabilities.
    InvalidArgumentError
        If it is not fitted, columns are missing, or y has labels that it does not know.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X[::2], y[::2])
    >>> found = audit(model, X[1::2], y[1::2])
    >>> found.leaves.counts.tolist()
    [[25.0, 0.0, 0.0], [0.0, 24.0, 3.0], [0.0, 1.0, 22.0]]
    >>> found.leaves.stated.round(3).tolist()
    [1.0, 0.96, 0.96]
    >>> round(found.utility, 3), found.leaves.agrees.tolist()
    (0.947, [True, True, True])
    """
    check_choice("rows", rows, ("unseen", "training"))
    wanted = _Wanted(rows, check_level(level), _share(confidence), _share(utility))
    check_count("n_bins", n_bins)
    said = ask_model(model, X, classes)
    codes = _codes(y, said)
    if rows == "training":
        warnings.warn(
            "levels of training rows flatter a model: it was drawn around these very labels. "
            "Audit it with rows that it has not seen.",
            TrainingRowsWarning,
            stacklevel=2,
        )
    leaves = _leaves(said.trees, codes, said.classes, wanted) if said.trees else None
    if rows == "unseen" and leaves is not None and len(said.trees) == 1:
        _warn_of_familiar_rows(said.trees[0], leaves)
    bins = _bins(said, codes, n_bins, wanted)
    hits = float((said.predicted == codes).sum())
    table = bins if leaves is None or len(said.trees) > 1 else leaves
    shares = table.n / table.n.sum()
    return Audit(
        model=said.name,
        rows=rows,
        n_rows=len(codes),
        classes=said.classes,
        level=wanted.level,
        accuracy=Estimate(
            hits / len(codes), *wilson(hits, len(codes), level=level), level, "wilson"
        ),
        stated=float(said.probabilities[np.arange(len(codes)), said.predicted].mean()),
        confidence=float(shares @ table.confidence),
        utility=float(shares @ table.utility),
        leaves=leaves,
        trees=None if leaves is None or leaves.tree is None else _trees(leaves, leaves.tree),
        bins=bins,
        wanted_confidence=wanted.confidence,
        wanted_utility=wanted.utility,
    )


def _share(value: float | None) -> float | None:
    if value is not None and not 0 <= value <= 1:
        raise InvalidArgumentError(
            f"confidence and utility must be from 0 to 1, or None; got {value!r}."
        )
    return value


def _codes(y: ArrayLike, said: Said) -> NDArray[np.int64]:
    labels = read_labels("y", y)
    if len(labels) != len(said.predicted):
        raise InvalidArgumentError(
            f"X and y must have the same number of rows; got {len(said.predicted)} and "
            f"{len(labels)}."
        )
    if not len(labels):
        raise InvalidArgumentError("X and y must have at least one row; got none.")
    place = {label: code for code, label in enumerate(said.classes.tolist())}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if codes.min() < 0:
        row = int(np.argmin(codes))
        raise InvalidArgumentError(
            f"y must hold classes of the model, {said.classes.tolist()[:12]}; got "
            f"{labels.tolist()[row]!r} in row {row}. Leave such rows out, write the labels as the "
            "model has them, or say with classes= (--classes) what its classes are called."
        )
    return codes


def _levels(
    counts: FloatArray,
    predicted: NDArray[np.intp],
    stated: FloatArray,
    wanted: _Wanted,
    tree: NDArray[np.intp] | None = None,
) -> dict[str, Any]:
    """Columns that leaves and bins share."""
    n = counts.sum(axis=1)
    if wanted.rows == "unseen":
        found = unseen_levels(counts, predicted, tree)
        low, high = found.interval(wanted.level)
        needed = found.rows_needed(wanted.confidence, wanted.utility)
        probability, sure, useful = found.probability, found.confidence, found.utility
        below = found.below
    else:
        chosen = np.eye(counts.shape[1])[predicted]
        theory = levels_of_counts(counts, n, chosen)
        low, high = theory.interval(wanted.level)
        needed = theory.rows_needed(np.arange(len(n)), wanted.confidence, wanted.utility)
        probability, sure, useful = theory.probability, theory.confidence, theory.utility
        below = theory.below
    weak = below | (n <= 0)
    weak |= (sure < wanted.confidence) if wanted.confidence is not None else False
    weak |= (useful < wanted.utility) if wanted.utility is not None else False
    rounding = 1e-9
    return {
        "n": n,
        "counts": counts,
        "stated": stated,
        "probability": probability,
        "low": low,
        "high": high,
        "agrees": (stated >= low - rounding) & (stated <= high + rounding),
        "confidence": sure,
        "utility": useful,
        "rows_needed": needed,
        "flagged": weak,
    }


def _leaves(
    views: list[LeafView], codes: NDArray[np.int64], classes: NDArray[Any], wanted: _Wanted
) -> AuditedLeaves:
    """Tabulate the leaves of all trees at once: trees of a forest have many counts in common."""
    counts = np.concatenate([view.count(codes, len(classes)) for view in views])
    probabilities = np.concatenate([view.stated for view in views])
    predicted = predicted_class(probabilities)
    stated = probabilities[np.arange(len(predicted)), predicted]
    tree = np.repeat(np.arange(len(views)), [len(view.leaf) for view in views])
    return AuditedLeaves(
        tree=tree if len(views) > 1 else None,
        leaf=np.concatenate([view.leaf for view in views]),
        rule=views[0].rule if len(views) == 1 else None,
        prediction=classes[predicted],
        **_levels(counts, predicted, stated, wanted, tree),
    )


def _bins(said: Said, codes: NDArray[np.int64], n_bins: int, wanted: _Wanted) -> AuditedBins:
    stated = said.probabilities[np.arange(len(codes)), said.predicted]
    made = probability_bins(said.predicted, stated, n_bins)
    counts = made.count(codes, len(said.classes))
    levels = _levels(counts, made.predicted, made.stated, wanted)
    return AuditedBins(
        prediction=said.classes[made.predicted],
        stated_from=made.stated_from,
        stated_to=made.stated_to,
        **levels,
    )


def _trees(leaves: AuditedLeaves, tree: NDArray[np.intp]) -> AuditedTrees:
    total = np.bincount(tree, leaves.n)

    def weighted(values: FloatArray) -> FloatArray:
        return np.bincount(tree, leaves.n * values) / total

    def number(which: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.bincount(tree, which).astype(np.intp)

    return AuditedTrees(
        tree=np.arange(len(total)),
        leaves=np.bincount(tree),
        empty=number(leaves.n <= 0),
        flagged=number(leaves.flagged),
        outside=number(~leaves.agrees),
        stated=weighted(leaves.stated),
        confidence=weighted(leaves.confidence),
        utility=weighted(leaves.utility),
    )


def _warn_of_familiar_rows(view: LeafView, found: AuditedLeaves) -> None:
    """Warn if every leaf holds as many rows as in training, and of the classes it states."""
    if view.trained_on is None or len(view.leaf) < 2 or not found.n.all():
        return
    if found.n.sum() < _FEW_ROWS:
        return
    shares = found.counts / found.n[:, np.newaxis]
    if np.allclose(found.n, view.trained_on) and np.allclose(shares, view.stated):
        warnings.warn(
            "every leaf holds as many rows of each class as in training: these look like the "
            "training rows, and levels taken from them flatter the model. If they are, say "
            "rows='training'; better, audit with rows that it has not seen.",
            TrainingRowsWarning,
            stacklevel=3,
        )
