"""A fitted tree as rules, and copies of it that are pruned or state other probabilities."""

import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sureleaf.counts import LeafCounts, cut_leaf_counts, leaf_counts_of, recount
from sureleaf.counts.cross_fitted import first_largest
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators.building import prune_again
from sureleaf.estimators.stated_levels import NodeLevels
from sureleaf.probability import find_estimate
from sureleaf.table import EncodedTable, Schema, encode_labels
from sureleaf.tree import (
    TrainingRows,
    Tree,
    cost_complexity_path,
    count_nodes,
    impurity_importances,
    rules_text,
)
from sureleaf.tree.pruning import CostComplexityPath

__all__ = ["ChangingMixin"]


class ChangingMixin:
    """What is read from a fitted tree, and copies that differ from it; nothing is regrown.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> model.prune(n_leaves=1).tree_.n_leaves, model.tree_.n_leaves
    (1, 2)
    """

    tree_: Tree
    leaf_counts_: LeafCounts
    schema_: Schema
    classes_: Any
    criterion: str
    confidence_factor: float
    leaf_estimate: Any
    levels_from: str
    _rows: TrainingRows | None
    _groups: NDArray[Any] | None
    _stated: Any
    _probabilities: NDArray[np.float64]

    if TYPE_CHECKING:

        def _encode(self, X: Any) -> EncodedTable: ...
        def _levels(self) -> NodeLevels: ...
        def _match(
            self, table: EncodedTable, labels: NDArray[np.int32], n_classes: int, sample_weight: Any
        ) -> TrainingRows: ...
        def _set_probabilities(self) -> None: ...

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Each column's share of the decrease of impurity on the training rows."""
        check_is_fitted(self)
        return impurity_importances(self.tree_, self.criterion)

    def rules(self) -> str:
        """Tell the tree as indented rules, each leaf with its rows, counts and probability.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        return rules_text(self.tree_, self.schema_, self.classes_, self._probabilities)

    def cost_complexity_path(self) -> CostComplexityPath:
        """Find the penalties a leaf at which cost-complexity pruning would cut this tree.

        Returns
        -------
        CostComplexityPath
            alphas, n_leaves and impurities.
        """
        check_is_fitted(self)
        return cost_complexity_path(self.tree_, self.criterion)

    def with_leaf_estimate(self, leaf_estimate: Any) -> Self:
        """Give a copy another leaf estimate; nothing is regrown.

        Parameters
        ----------
        leaf_estimate : str or object
            As the parameter.

        Returns
        -------
        TreeClassifier
        """
        check_is_fitted(self)
        find_estimate(leaf_estimate)
        other = copy.copy(self)
        other.leaf_estimate = leaf_estimate
        other._rows, other._groups = self._rows, self._groups  # which a copy leaves behind
        other._set_probabilities()
        if self._rows is None and self._stated is not None and _same_predictions(self, other):
            other._stated = other._probabilities, self._levels()
        return other

    def prune(
        self,
        rule: str | None = None,
        *,
        nodes: Any = None,
        n_leaves: int | None = None,
        ccp_alpha: float | None = None,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Give a smaller copy, cut by one of: a rule, chosen nodes, a number of leaves.

        Parameters
        ----------
        rule : {"pessimistic", "cost_complexity", "reduced_error"}, optional
            pessimistic needs the training rows (those that the model still holds, or X and y);
            cost_complexity needs ccp_alpha; reduced_error needs X and y that were held out.
        nodes : list of int, optional
            Nodes that become leaves.
        n_leaves : int, optional
            The largest number of leaves; the weakest links are cut.
        ccp_alpha : float, optional
            The penalty a leaf.
        X, y, sample_weight : optional
            Rows for the rule. Given X and y, all that the copy counts, predicts and states comes
            from them where the rule is not reduced_error.

        Returns
        -------
        TreeClassifier
            The model itself is not changed, and nothing is regrown. Levels of the copy are
            those of its own counts (`levels_from` is "training"), and say so.
        """
        check_is_fitted(self)
        given = None
        if X is not None or y is not None or sample_weight is not None:
            if X is None or y is None:
                raise InvalidArgumentError(
                    "X and y must be given together, and sample_weight with them; got one without "
                    "the other. Give both, or none."
                )
            given = self._read_again(X, y, sample_weight)
        tree = self.tree_
        if rule == "pessimistic" and given is not None:
            tree = recount(tree, given)  # so that raising compares what the same rows say
        other = copy.copy(self)
        other.tree_ = prune_again(
            tree,
            rule=rule,
            nodes=nodes,
            n_leaves=n_leaves,
            ccp_alpha=ccp_alpha,
            rows=given if given is not None else self._rows,
            held_out=given,
            criterion=self.criterion,
            confidence_factor=self.confidence_factor,
        )
        other.levels_from = "training"
        if given is not None and rule != "reduced_error":
            other.tree_ = recount(other.tree_, given)
            other.leaf_counts_ = leaf_counts_of(other.tree_, given)
        elif rule == "pessimistic" and self._rows is not None:
            other.leaf_counts_ = leaf_counts_of(other.tree_, self._rows)
        else:
            other.leaf_counts_ = cut_leaf_counts(self.leaf_counts_, self.tree_, other.tree_)
        other._rows = None
        other._set_probabilities()
        return other

    def _read_again(self, X: Any, y: Any, sample_weight: Any) -> TrainingRows:
        """Further rows of the same kind, with classes that are known."""
        table = self._encode(X)
        codes, found = encode_labels(y, estimator=type(self).__name__)
        place = {label: code for code, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in found.tolist() if label not in place]
        if unknown:
            raise InvalidArgumentError(
                f"y must have the classes {self.classes_.tolist()}; got {unknown[0]!r} too."
            )
        translate = np.array([place[label] for label in found.tolist()], dtype=np.int32)
        return self._match(table, translate[codes], len(self.classes_), sample_weight)

    def node_counts(self, X: Any, y: Any, sample_weight: Any = None) -> NDArray[np.float64]:
        """Count the classes of these rows in every node of the tree.

        Parameters
        ----------
        X, y, sample_weight
            As in fit, with classes that are known.

        Returns
        -------
        ndarray of shape (n_nodes, n_classes)
        """
        check_is_fitted(self)
        return count_nodes(self.tree_, self._read_again(X, y, sample_weight))


def _same_predictions(one: ChangingMixin, other: ChangingMixin) -> bool:
    return np.array_equal(first_largest(one._probabilities), first_largest(other._probabilities))
