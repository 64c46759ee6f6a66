"""How often bagged trees are right, by rows that were not in the bags of the trees asked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.counts.cross_fitted import first_largest
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators.asking_mixin import AskingMixin
from sureleaf.estimators.bags import draw_bag
from sureleaf.estimators.out_of_bag import (
    BagRowLevels,
    BagSums,
    HitRates,
    OutOfBagLevels,
)
from sureleaf.levels.proportions import wilson
from sureleaf.tree import TrainingRows
from sureleaf.tree.growing import kernel_table

__all__ = ["OutOfBagMixin"]


class OutOfBagMixin(AskingMixin):
    """What fitted trees say of rows that they did not see, and so how far to believe them.

    Examples
    --------
    >>> from sureleaf import BaggedTreesClassifier
    >>> X, y = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> model = BaggedTreesClassifier(random_state=0).fit(X, y)
    >>> model.oob_levels_.utility > 0.9
    True
    """

    _seed: int
    _rows: TrainingRows | None
    _out_of_bag: BagSums | None
    _judged: tuple[HitRates, OutOfBagLevels] | None = None
    """What a saved model knows of its out-of-bag rows."""

    def _held_rows(self) -> TrainingRows:
        if self._rows is None:
            raise InvalidArgumentError(
                "out-of-bag results need the training rows, and the model no longer holds them. "
                "Ask for oob_proba_ before forget_rows(), saving or pickling, or fit again."
            )
        return self._rows

    def _ask_out_of_bag(self) -> BagSums:
        """Ask each tree about the rows that are not in its bag, which is drawn again."""
        if self._out_of_bag is None:
            rows = self._held_rows()
            is_asked = np.empty((len(self.trees_), len(rows.labels)), dtype=np.uint8)
            for number in range(len(self.trees_)):
                bag = draw_bag(len(rows.labels), rows.weights, seed=self._seed, tree=number)
                is_asked[number] = bag == 0
            self._out_of_bag = self._ask(rows.kernel, is_asked=is_asked, in_detail=True)
            self._truth = (rows.labels, rows.weights)
        return self._out_of_bag

    @property
    def oob_proba_(self) -> NDArray[np.float64]:
        """Out-of-bag probabilities; NaN for rows that are in every bag."""
        check_is_fitted(self)
        sums = self._ask_out_of_bag()
        means = sums.mean(sums.values)
        is_judged = sums.n_trees > 0
        means[is_judged] = self._finish(means[is_judged])
        return means

    def _judge(self) -> tuple[NDArray[np.float64], ...]:
        """For the rows that are out of some bag: what was stated, hit, agreed, and the weight."""
        stated = self.oob_proba_
        sums = self._ask_out_of_bag()
        labels, weights = self._truth
        judged = np.flatnonzero((sums.n_trees > 0) & (True if weights is None else weights > 0))
        predicted = first_largest(stated[judged])
        return (
            stated[judged, predicted],
            predicted == labels[judged],
            sums.mean(sums.votes)[judged, predicted],
            np.ones(len(judged)) if weights is None else weights[judged],
        )

    def _can_judge(self) -> bool:
        """Whether out-of-bag levels are there, or what they are computed from is."""
        parts = (self._judged, self._out_of_bag, self._rows)
        return any(part is not None for part in parts)

    def _hit_rates(self) -> HitRates:
        if self._judged is not None:
            return self._judged[0]
        stated, hit, _, weights = self._judge()
        if not len(stated):
            return HitRates(np.empty(0), np.zeros(1), np.zeros(1))
        return HitRates.count(stated, hit.astype(bool), weights, effective=self._is_importance())

    def _is_importance(self) -> bool:
        """Whether a weight says how much a row matters, and not how many rows it is."""
        return bool(self._template.weights == "importance")

    @property
    def oob_levels_(self) -> OutOfBagLevels:
        """Agreement of the trees and utility, by rows that the trees asked had not seen."""
        check_is_fitted(self)
        if self._judged is not None:
            return self._judged[1]
        _, hit, agreed, weights = self._judge()
        total, hits = float(weights.sum()), float((weights * hit).sum())
        n_rows = total
        if self._is_importance() and total:
            n_rows = total**2 / float((weights**2).sum())
        utility = hits / total if total else np.nan
        low, high = wilson(min(utility * n_rows, n_rows) if total else 0.0, n_rows)
        return OutOfBagLevels(
            agreement=float((weights * agreed).sum() / total) if total else np.nan,
            utility=utility,
            low=float(low),
            high=float(high),
            n_rows=n_rows,
            n_in_every_bag=int((self._ask_out_of_bag().n_trees == 0).sum()),
        )

    @property
    def oob_error_(self) -> float:
        """The share of the training rows that is predicted wrong out of bag."""
        return 1.0 - self.oob_levels_.utility

    def predict_levels(self, X: Any) -> BagRowLevels:
        """Say for each row what is predicted, how the trees agree, and how often that is right.

        Parameters
        ----------
        X : table
            As in fit.

        Returns
        -------
        BagRowLevels
            Columns, with `to_pandas` and `to_polars`. The utility is the share of out-of-bag
            rows predicted right, among those whose prediction was about as probable.
        """
        sums = self._ask(kernel_table(self._encode(X)), in_detail=True)
        stated = self._finish(sums.mean(sums.values))
        predicted = first_largest(stated)
        line = np.arange(len(stated))
        probability = stated[line, predicted]
        utility, low, high = self._hit_rates().of(probability)
        return BagRowLevels(
            prediction=self.classes_[predicted],
            probability=probability,
            agreement=sums.mean(sums.votes)[line, predicted],
            utility=utility,
            low=low,
            high=high,
            spread=sums.spread()[line, predicted],
            imputed_share=sums.mean(sums.imputed),
        )
