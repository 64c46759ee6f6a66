"""An audit: what a model states, what rows say about that, and how sure one can be of it."""

import json
from dataclasses import dataclass
from html import escape
from typing import Any

from numpy.typing import NDArray

from sureleaf.auditing.tables import AuditedBins, AuditedLeaves, AuditedTrees
from sureleaf.estimators.column_table import json_value
from sureleaf.evaluation import Estimate

__all__ = ["Audit"]

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
