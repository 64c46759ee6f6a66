"""A fitted tree as one frozen value.

It stores no rows. What is computed from its parts (class probabilities, confidence, utility,
intervals) is computed when first used, and kept.

The evidence says which rows the levels come from. Levels from training rows and from honest rows
follow from the counts in the tree. Cross-fitted levels follow from the accuracy of each node and
the strength of that knowledge, which `sureleaf.model.cross_fitting` computes from the rows once;
from then on the model needs no rows for its levels, at any level of confidence.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import (
    FloatArray,
    check_choice,
    check_number,
    check_one_label_per_row,
    check_weights,
    scale_importances,
    thread_count,
)
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning, warn_caller
from sureleaf.files.state_file import Damaged, State
from sureleaf.formatting import count_of, listed
from sureleaf.levels.decisions import CostRule, cost_rule, predicted_class, unequal_rule
from sureleaf.levels.guarantees import Per, conformal_p_values
from sureleaf.levels.p_max_estimates import METHODS
from sureleaf.model.certificate import (
    Certificate,
    HeldOut,
    certified_leaves,
    check_alpha,
    fingerprint,
    guaranteed_table,
    no_guarantee,
)
from sureleaf.model.leaf_calibration import honest_accuracy, honest_shared_rows, tree_strength
from sureleaf.model.leaf_table import SOURCES, FittedLevels, LeafTable, RowLevels, leaf_table
from sureleaf.model.node_levels import NodeLevels, levels_of_accuracy, levels_of_counts
from sureleaf.model.seen_rows import EqualRows, SeenRows, telling_part
from sureleaf.model.stability import SplitTable, Stability, split_table
from sureleaf.model.state import (
    counts_from,
    fitted_header,
    fitted_parts,
    levels_arrays,
    levels_from,
    probabilities_from,
    tree_arrays,
    tree_from,
)
from sureleaf.probability import LeafEstimate, find_estimate
from sureleaf.table import EncodedTable, Schema, encode, encode_labels
from sureleaf.table.encoded_table import recode
from sureleaf.tree import (
    Routes,
    TrainingRows,
    Tree,
    cost_complexity_path,
    count_nodes,
    impurity_importances,
    mixture,
    route,
    rules_text,
)
from sureleaf.tree.pruning import Repruning
from sureleaf.tree.routing import LeafCounts, cut_leaf_counts, leaf_counts_of, recount
from sureleaf.tree.structure import leaves_in_words

if TYPE_CHECKING:
    import scipy.sparse as sp

    from sureleaf.tree.pruning import CostComplexityPath


@dataclass(frozen=True, eq=False)
class RowPredictions:
    """Everything that a model predicts for some rows, from encoding them once.

    - `code`: index of the predicted class in ``classes_``.
    - `probabilities`: as ``predict_proba`` returns them.
    - `sureness`: confidence of a tree, agreement of bagged trees.
    - `utility`: the probability that such a prediction is correct for an unseen row.
    - `leaf`: the heaviest leaf of a tree; None for bagged trees.
    - `unseen_counts`: number of values per column that are not a category of the training rows.
    """

    code: NDArray[np.intp]
    probabilities: FloatArray
    sureness: FloatArray
    utility: FloatArray
    leaf: NDArray[np.int64] | None
    unseen_counts: dict[str, int]


@dataclass(frozen=True, eq=False)
class Evidence:
    """Where the levels of a tree come from, and the numbers per node that the counts do not hold.

    - `source`: training rows, rows that did not grow the tree, or out-of-fold predictions of all
      rows.
    - `accuracy`: calibrated accuracy of each node on unseen rows. Only for cross_fit, and None as
      long as cross-fitting has not been done.
    - `strength`: how many rows would tell the accuracy as precisely.
    - `confidence_error`: standard error of the confidence by the luck of the folds; None if it is
      not known.
    - `n_rounds`: rounds of folds that the accuracy is averaged over.
    - `shared_rows`: rows with the table's other classes that are added to the errors of a leaf
      (`fit_shared_rows`).
    - `stability`: how often splits and predictions recurred in trees of halves; only for cross_fit.
    - `n_updated`: rows that were counted after the fit (`sureleaf.update`): they did not grow the
      tree. Accuracy and strength include them.
    """

    source: str
    accuracy: FloatArray | None = None
    strength: FloatArray | None = None
    confidence_error: FloatArray | None = None
    n_rounds: int = 1
    shared_rows: float = 1.0
    stability: Stability | None = None
    n_updated: float = 0.0


class VennProbabilities(NamedTuple):
    """The lowest and highest probability of every class; one line per row."""

    low: FloatArray
    high: FloatArray


class DecidingModel:
    """A model that decides for a class by probabilities, and by costs if it has some."""

    schema: Schema
    classes: NDArray[Any]
    unseen: str
    cost: FloatArray | None
    seen: SeenRows | None
    seen_later: tuple[SeenRows, ...] = ()
    probabilities: Any

    def __getstate__(self) -> dict[str, Any]:
        _ = self.probabilities  # a pickle holds the numbers, whatever becomes of the estimate
        return dict(self.__dict__)

    def encode(
        self, X: Any, *, estimator: str = "model", for_routing: bool = False, warn: bool = True
    ) -> EncodedTable:
        """Encode rows by the schema of the model; raise or warn if they have unseen categories.

        Rows that are already encoded are recoded. Encoding `for_routing` through trees only needs
        fewer copies.
        """
        if isinstance(X, EncodedTable):
            return X if X.schema is self.schema else recode(X, self.schema)
        table = encode(X, self.schema, estimator=estimator, for_routing=for_routing)
        if table.unseen_counts and self.unseen == "error":
            counts = ", ".join(f"{name!r} ({n})" for name, n in table.unseen_counts.items())
            raise InvalidArgumentError(
                "X must have the categories of the training rows; got others in column "
                f"{counts}. Correct them, or set unseen='mixture' or 'stop'."
            )
        if table.unseen_counts and warn:
            found = [repr(name) for name in self.tested_columns if name in table.unseen_counts]
            if found:  # without numbers, so that Python shows it once in a cross-validation
                warn_caller(
                    "X has categories that were not there in training, in column"
                    f"{'s' if len(found) > 1 else ''} {listed(found)}; they {self.unseen_path}.",
                    UnseenCategoryWarning,
                )
        return table

    @property
    def tested_columns(self) -> list[str]:
        """The names of the columns that a test of the model asks for."""
        tested = {int(column) for tree in self.all_trees() for column in np.unique(tree.feature)}
        return [column.name for at, column in enumerate(self.schema.columns) if at in tested]

    @property
    def unseen_path(self) -> str:
        """What unseen categories do, in words."""
        if self.unseen == "mixture":
            return "go down all branches of each test that they meet"
        return "stop where they are met"

    def all_trees(self) -> tuple[Tree, ...]:
        """Return the tree, or all trees of a bag."""
        raise NotImplementedError

    @cached_property
    def rule(self) -> CostRule | None:
        """The costs as a rule of decision; None if all errors cost the same."""
        return unequal_rule(self.cost)

    def decide(self, probabilities: FloatArray) -> NDArray[np.intp]:
        """Return the index of the class that follows from the class probabilities of each row."""
        return predicted_class(probabilities, self.rule)

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = 1, estimator: str = "model"
    ) -> FloatArray:
        """Return class probabilities, one column per class."""
        raise NotImplementedError

    def predict(self, X: Any, *, n_jobs: int | None = 1, estimator: str = "model") -> NDArray[Any]:
        """Return the most probable class of each row (with costs, the cheapest decision)."""
        probabilities = self.predict_proba(X, n_jobs=n_jobs, estimator=estimator)
        return self.classes[self.decide(probabilities)]

    def compare_seen(self, rows: TrainingRows) -> tuple[tuple[SeenRows, EqualRows], ...]:
        """Compare rows with those of the fit and of each update, as far as they are known."""
        parts = self.seen_later if self.seen is None else (self.seen, *self.seen_later)
        return tuple((part, part.compare(rows)) for part in parts)

    @property
    def class_names(self) -> str:
        """The first classes, for texts."""
        names = ", ".join(repr(label) for label in self.classes.tolist()[:5])
        more = "" if len(self.classes) <= 5 else f", ... ({len(self.classes)})"
        return f"{names}{more}"


@dataclass(frozen=True, eq=False, repr=False)
class TreeModel(DecidingModel):
    """Everything that a fitted tree knows; no method changes it.

    - `schema`: names, kinds and categories of the columns.
    - `classes`: the classes.
    - `tree`: the tree, with the class counts of all nodes.
    - `leaf_counts`: class counts of the leaves, and the sums of squared weights.
    - `leaf_estimate`: from the class counts of all nodes to their class probabilities.
    - `criterion`: the impurity that importances and cost-complexity pruning use.
    - `unseen`, `weights`, `cost`: as for `TreeClassifier`. With "importance", levels use the
      effective number of rows.
    - `evidence`: where the levels come from.
    - `held_out`: counts of rows that did not grow the tree, from which guarantees follow.
    - `seen`, `seen_later`: fingerprints of the rows of the fit, which cannot certify it, and of
      each update.
    """

    schema: Schema
    classes: NDArray[Any]
    tree: Tree
    leaf_counts: LeafCounts
    leaf_estimate: LeafEstimate
    criterion: str = "gain_ratio"
    unseen: str = "mixture"
    weights: str = "counts"
    evidence: Evidence = Evidence("training")
    cost: FloatArray | None = None
    held_out: HeldOut | None = None
    seen: SeenRows | None = None
    seen_later: tuple[SeenRows, ...] = ()

    # ---- what follows from the parts -------------------------------------------------------------

    def all_trees(self) -> tuple[Tree, ...]:
        """Return the tree."""
        return (self.tree,)

    @cached_property
    def probabilities(self) -> FloatArray:
        """Class probabilities of all nodes, shape (n_nodes, n_classes)."""
        return self.leaf_estimate(self.tree, self.tree.class_counts)

    @cached_property
    def predicted_classes(self) -> NDArray[np.intp]:
        """Index of the class that each node predicts."""
        return self.decide(self.probabilities)

    @cached_property
    def node_rows(self) -> FloatArray:
        """Rows of every node; with importance weights, the effective number."""
        n: FloatArray = self.tree.class_counts.sum(axis=1)
        if self.weights != "importance":
            return n
        squares = np.zeros(self.tree.n_nodes)
        squares[self.leaf_counts.leaf_ids] = self.leaf_counts.squares
        for node in range(self.tree.n_nodes - 1, 0, -1):  # children come after their parent
            squares[self.tree.parent[node]] += squares[node]
        return np.divide(n**2, squares, out=np.zeros(len(n)), where=squares > 0)

    @property
    def has_levels(self) -> bool:
        """Whether the levels are known, or can be computed without rows."""
        return self.evidence.source != "cross_fit" or self.evidence.accuracy is not None

    def __repr__(self) -> str:
        state = "" if self.has_levels else ", not computed yet"
        return (
            f"TreeModel of {leaves_in_words(self.tree.n_leaves)} for classes {self.class_names}; "
            f"levels from {self.evidence.source}{state}"
        )

    # ---- rows to leaves --------------------------------------------------------------------------

    def route(self, X: Any) -> Routes:
        """Send rows (a table as in fit, or an encoded one) to the leaves, with their shares."""
        table = self.encode(X, for_routing=True)
        return route(self.tree, table, stop_at_unseen=self.unseen == "stop")

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf of each row by node number; of several leaves the heaviest."""
        return self.route(X).heaviest()

    def leaf_shares(self, X: Any) -> "sp.csr_array":
        """Return the share of each row in each node that it ends in, shape (n_rows, n_nodes)."""
        import scipy.sparse as sp

        routes = self.route(X)
        shape = (routes.n_rows, self.tree.n_nodes)
        return sp.csr_array((routes.shares, routes.nodes, routes.offsets), shape=shape)

    def decision_path(self, X: Any) -> "sp.csr_array":
        """Return the share of each row in each node that it passes, shape (n_rows, n_nodes)."""
        import scipy.sparse as sp

        routes = self.route(X)
        rows, nodes, shares = routes.rows(), routes.nodes, routes.shares
        steps = []
        while len(nodes):  # all rows climb together, until the last has reached the root
            steps.append((rows, nodes, shares))
            above = self.tree.parent[nodes]
            climbs = above >= 0
            rows, nodes, shares = rows[climbs], above[climbs], shares[climbs]
        if not steps:
            return sp.csr_array((0, self.tree.n_nodes))
        rows, nodes, shares = (np.concatenate(part) for part in zip(*steps, strict=True))
        return sp.csr_array((shares, (rows, nodes)), shape=(routes.n_rows, self.tree.n_nodes))

    def read_rows(
        self, X: Any, y: Any, sample_weight: Any = None, *, estimator: str = "TreeModel"
    ) -> TrainingRows:
        """Encode further rows with labels of known classes."""
        table = self.encode(X, estimator=estimator)
        codes, labels = encode_labels(y, estimator=estimator)
        check_one_label_per_row(table.n_rows, codes)
        code_of = {label: code for code, label in enumerate(self.classes.tolist())}
        unknown = [label for label in labels.tolist() if label not in code_of]
        if unknown:
            raise InvalidArgumentError(
                f"y must have the classes {self.classes.tolist()}; got {unknown[0]!r} too."
            )
        known_codes = np.array([code_of[label] for label in labels.tolist()], dtype=np.int32)
        weights = check_weights(sample_weight, table.n_rows)
        if self.weights == "importance":
            weights = scale_importances(weights)
        return TrainingRows(table, known_codes[codes], len(self.classes), weights)

    # ---- predictions -----------------------------------------------------------------------------

    def predict_proba(
        self, X: Any, *, n_jobs: int | None = 1, estimator: str = "model"
    ) -> FloatArray:
        """Return class probabilities; a row in several leaves gets the mixture of them."""
        table = self.encode(X, estimator=estimator, for_routing=True)
        return mixture(
            self.tree,
            table,
            self.probabilities,
            stop_at_unseen=self.unseen == "stop",
            n_threads=thread_count(n_jobs, table.n_rows),
        )

    # ---- levels ----------------------------------------------------------------------------------

    def node_levels(self, method: str | None = None) -> NodeLevels:
        """Return probability, confidence, utility and intervals of every node.

        The method estimates p_max from the counts of training rows; other levels have none.
        """
        if method is not None:
            self._check_method(method)
            return self._node_levels if method == "mle" else self._paper_levels(method)
        if not self.has_levels:
            raise InvalidArgumentError(
                "levels must be computed while the model holds its rows, and they were not before "
                "its rows were dropped. Call levels() first, or fit again."
            )
        return self._node_levels

    @cached_property
    def _node_levels(self) -> NodeLevels:
        evidence = self.evidence
        if evidence.source == "training":
            return self._paper_levels("mle")
        if evidence.source == "honest":
            accuracy, strength = honest_accuracy(self.tree, self.predicted_classes)
            shared_rows = honest_shared_rows(self.tree, self.predicted_classes)
            evidence = replace(
                evidence, accuracy=accuracy, strength=strength, shared_rows=shared_rows
            )
        return levels_of_accuracy(
            self.tree.class_counts,
            self.node_rows,
            self.probabilities,
            cast(FloatArray, evidence.accuracy),
            cast(FloatArray, evidence.strength),
            shared_rows=evidence.shared_rows,
            from_counts=evidence.source == "honest",
            rule=self.rule,
            confidence_error=evidence.confidence_error,
        )

    def _paper_levels(self, method: str) -> NodeLevels:
        counts, n = self.tree.class_counts, self.node_rows
        options: Any = {"method": method, "n_tree": float(n[0])}
        return levels_of_counts(counts, n, self.probabilities, self.rule, **options)

    def _check_method(self, method: str) -> None:
        check_choice("method", method, tuple(METHODS))
        if self.evidence.source != "training":
            raise InvalidArgumentError(
                f"method must go with levels of training rows; these come from "
                f"{SOURCES[self.evidence.source]}. Leave it out, or take those of training rows, "
                "with_training_levels() (--levels-from training)."
            )
        if method not in ("mle", "blend") and (len(self.classes) > 2 or self.rule is not None):
            raise InvalidArgumentError(
                f"method={method!r} must go with two classes and equal costs. Use 'mle' or 'blend'."
            )

    def levels(self, *, level: float = 0.95, method: str | None = None) -> FittedLevels:
        """Return confidence and utility of the tree: the share-weighted sums over its leaves."""
        levels = self.node_levels(method)
        check_number("level", level, low=0, high=1, open_low=True)
        leaves, n = self.tree.leaf_ids, self.leaf_counts.n
        shares = n / n.sum()
        sure = float(shares @ levels.confidence[leaves])
        useful = float(shares @ levels.utility[leaves])
        source = self.evidence.source
        return FittedLevels.with_interval(sure, useful, self.rows_known_by(), level, source)

    def rows_known_by(self) -> float | None:
        """How many rows the utility of the tree is known by; None for training levels."""
        if self.evidence.source == "training":
            return None
        n, n_updated = float(self.node_rows[0]), self.evidence.n_updated
        return n if self.evidence.source == "honest" else tree_strength(n - n_updated) + n_updated

    def expected_cost(self) -> float | None:
        """Return the expected cost per unseen row of the decisions; None without costs."""
        if self.cost is None:
            return None
        levels, leaves, n = self.node_levels(), self.tree.leaf_ids, self.leaf_counts.n
        paid = (levels.unseen_vectors() * self.cost[:, levels.predicted].T).sum(axis=1)
        return float(n @ paid[leaves] / n.sum())

    def leaves(
        self,
        *,
        level: float = 0.95,
        confidence: float | None = 0.95,
        utility: float | None = None,
        guarantee: str | None = None,
        method: str | None = None,
    ) -> LeafTable:
        """Return one row per leaf; the parameters are those of `TreeClassifier.leaves`."""
        check_choice("guarantee", guarantee, (None, "simultaneous"))
        if guarantee is None:
            self.node_levels(method)
        else:
            self.held_out_rows("guarantee='simultaneous'")
        check_number("level", level, low=0, high=1, open_low=True)
        for name, wanted in (("confidence", confidence), ("utility", utility)):
            if wanted is not None:
                check_number(name, wanted, low=0, high=1)
        if guarantee is not None:
            return guaranteed_table(self, level, confidence, utility)
        return leaf_table(self, level=level, confidence=confidence, utility=utility, method=method)

    def splits(self) -> SplitTable:
        """Return in how many trees of halves each split recurred; see `TreeClassifier.splits`."""
        self.node_levels()
        stability = self.evidence.stability
        if stability is None:
            raise InvalidArgumentError(
                "splits() needs trees grown on halves of the rows, and this model has none. Fit "
                "with levels_from='cross_fit' and two rows (or groups) or more, and call splits() "
                "before the rows are dropped or the tree is changed."
            )
        return split_table(self.tree, self.schema, stability)

    # ---- guarantees from held-out rows -----------------------------------------------------------

    def end_counts(self, table: EncodedTable, labels: NDArray[np.int32]) -> FloatArray:
        """Count whole rows by class in the node where each one ends, of several the heaviest."""
        n_classes = len(self.classes)
        cells = self.apply(table) * n_classes + labels
        counts = np.bincount(cells, minlength=self.tree.n_nodes * n_classes)
        return counts.reshape(self.tree.n_nodes, n_classes).astype(np.float64)

    def certify(self, rows: TrainingRows, *, rows_are_new: bool = False) -> Self:
        """Return the same model with the counts of these rows, which it must not have seen."""
        if not len(rows.labels):
            raise InvalidArgumentError("X must have rows to certify the tree with; got none.")
        if np.array_equal(count_nodes(self.tree, rows), self.tree.class_counts):
            raise InvalidArgumentError(
                "X and y must be rows that the tree has not seen; got rows with exactly the class "
                "counts that every node of the tree has from its fit. Give other rows, or fit with "
                "levels_from='honest'."
            )
        part = self.refuse_seen(rows)
        seen, equal = (None, EqualRows()) if part is None else part
        can_tell = seen is not None and seen.can_tell(equal)
        if not rows_are_new and not can_tell:
            n_rows = count_of(len(rows.labels), "row")
            reason = f"{equal.n_compared:,} of {n_rows} can be compared with the rows of its fit"
            if seen is not None and seen.compares(equal):
                reason = "too many rows of its fit are equal to each other"
            raise InvalidArgumentError(
                "X and y must be rows that the tree has not seen, and this model cannot tell: "
                f"{reason}. If they took no part in the fit, say so: rows_are_new=True "
                "(--rows-are-new). The certificate then says that this is your word."
            )
        known = self.held_out
        own = float(self.tree.class_counts[0].sum()) - self.evidence.n_updated
        held_out = HeldOut(
            round(own) if known is None else known.n_grown,
            self.end_counts(rows.table, rows.labels),
            n_compared=equal.n_compared,
            n_equal=equal.n_equal,
            stated_new=not can_tell,
        )
        return self._with("probabilities", "_node_levels", held_out=held_out)

    def with_seen(self, seen: SeenRows | None) -> Self:
        """Return the same model with fingerprints of the rows of its fit."""
        return self._with("probabilities", "_node_levels", seen=seen)

    def _with(self, *computed: str, **parts: Any) -> Self:
        """Return the model with other parts, and what has been computed from none of them."""
        other, known = replace(self, **parts), self.__dict__
        other.__dict__.update({name: known[name] for name in computed if name in known})
        return other

    def refuse_seen(self, rows: TrainingRows) -> tuple[SeenRows, EqualRows] | None:
        """Raise an error for rows that the tree has seen, if chance cannot explain it.

        Returns what says most about rows that may be new; None if nothing is known.
        """
        parts = self.compare_seen(rows)
        for seen in self.seen_later:
            if seen.are_all(rows):
                raise InvalidArgumentError(
                    "X and y must be rows that the tree has not seen; got exactly the rows of an "
                    "earlier update. Give other rows."
                )
        if not parts:
            return None
        seen, equal_rows = telling_part(parts)
        if not seen.is_chance(equal_rows):
            n_equal, n = equal_rows.n_equal, equal_rows.n_compared
            sampled = "" if n == len(rows.labels) else " that can be compared"
            expected = f"up to {100 * seen.expected_share():.1f} % would be by chance"
            of, advice = "its fit", "the table of the fit, or fit with levels_from='honest'"
            if seen is not self.seen:
                of, advice = "an earlier update", "a table of an earlier update"
            raise InvalidArgumentError(
                f"X and y must be rows that the tree has not seen; {n_equal:,} of the {n:,} rows"
                f"{sampled} are equal to rows of {of}, cell by cell ({expected}). Give rows "
                f"that were not in {advice}."
            )
        return seen, equal_rows

    def held_out_rows(self, what: str) -> HeldOut:
        """Return the held-out rows, or raise an error that says why there is no guarantee."""
        if self.held_out is None or self.held_out.problem:
            no_guarantee(what, self.held_out)
        return self.held_out

    def certificate(self, *, alpha: float = 0.05) -> Certificate:
        """Return what the held-out rows prove about all leaves at once."""
        held_out, alpha = self.held_out_rows("certificate()"), check_alpha(alpha)
        counts, leaves = held_out.counts, self.tree.leaf_ids
        seen = self.classes[counts.sum(axis=0) > 0]
        return Certificate(
            alpha=alpha,
            n_grown=held_out.n_grown,
            n_certifying=held_out.n_rows,
            n_outside=held_out.n_rows - int(counts[leaves].sum()),
            at_costs=self.rule is not None,
            leaves=certified_leaves(self, held_out, alpha / 2, alpha / 2),
            classes_seen=tuple(seen.tolist()),
            fingerprint=fingerprint(self.tree, self.classes, held_out),
            n_compared=held_out.n_compared,
            n_equal=held_out.n_equal,
            stated_new=held_out.stated_new,
        )

    def node_sets(self, alpha: float = 0.1, per: Per | None = "leaf") -> NDArray[np.bool_]:
        """Return the classes that are not ruled out for a row that ends in each node."""
        held_out, alpha = self.held_out_rows("predict_set"), check_alpha(alpha)
        check_choice("per", per, ("leaf", "class", None))
        # A class whose p-value equals alpha is ruled out, also if one of the two is rounded.
        return conformal_p_values(held_out.counts, per=per) > alpha + 1e-12

    # ---- levels of rows --------------------------------------------------------------------------

    def predict_levels(self, X: Any, *, level: float = 0.95, n_threads: int = 1) -> RowLevels:
        """Return the levels of the leaf of each row; see `TreeClassifier.predict_levels`."""
        self.node_levels()
        check_number("level", level, low=0, high=1, open_low=True)
        return self._row_levels(self.encode(X), level, n_threads)[0]

    def row_predictions(self, X: Any) -> RowPredictions:
        """Return all that the model predicts for rows; unseen categories are only counted."""
        return self._row_levels(self.encode(X, warn=False))[1]

    def _row_levels(
        self, table: EncodedTable, level: float = 0.95, n_threads: int = 1
    ) -> tuple[RowLevels, RowPredictions]:
        """Return levels and predictions; a row in several leaves has the mixture of theirs.

        A leaf that predicts another class contributes what it leaves to the class predicted.
        """
        levels, n_classes = self.node_levels(), len(self.classes)
        low, high = levels.interval(level)
        values = np.hstack(
            [
                self.probabilities,
                levels.spread(levels.confidence, 1.0 - levels.confidence),
                levels.utilities(),
                levels.spread(low, 1.0 - high),
                levels.spread(high, 1.0 - low),
            ]
        )
        stops = self.unseen == "stop"
        mixed = mixture(self.tree, table, values, stop_at_unseen=stops, n_threads=n_threads)
        mixed, routes = mixed.reshape(table.n_rows, 5, n_classes), self.route(table)
        probabilities, leaf = mixed[:, 0], routes.heaviest()
        code = self.decide(probabilities)
        confidence, utility, low, high = mixed[np.arange(len(code)), :, code][:, 1:].T
        row_levels = RowLevels(
            leaf,
            self.classes[code],
            confidence,
            utility,
            low,
            high,
            routes.imputed_share,
            self.evidence.source,
        )
        unseen = table.unseen_counts
        return row_levels, RowPredictions(code, probabilities, confidence, utility, leaf, unseen)

    # ---- the tree as text and numbers ------------------------------------------------------------

    def rules(self, *, weighted: bool = False) -> str:
        """Return the tree as rules; `weighted` rows have weights by their class."""
        return rules_text(
            self.tree,
            self.schema,
            self.classes,
            self.probabilities,
            self.predicted_classes,
            weighted=weighted,
        )

    @property
    def feature_importances(self) -> FloatArray:
        """Each column's share of the decrease of impurity on the training rows."""
        return impurity_importances(self.tree, self.criterion)

    def cost_complexity_path(self) -> "CostComplexityPath":
        """Return the penalties per leaf at which cost-complexity pruning would cut the tree."""
        return cost_complexity_path(self.tree, self.criterion)

    # ---- other models made from this one ---------------------------------------------------------

    def with_evidence(self, evidence: Evidence) -> Self:
        """Return the same model with other evidence of its levels."""
        return self._with("probabilities", evidence=evidence)

    def with_cost(self, cost: Any) -> Self:
        """Return the same tree, decided by other costs; None for equal ones.

        Cross-fitted evidence is kept: a node that decides for another class than before is right
        with the probability that the evidence gives to this class.
        """
        checked = None if cost is None else cost_rule(cost, self.classes).cost
        other = self._with("probabilities", cost=checked)
        accuracy = self.evidence.accuracy
        if accuracy is None:
            return other
        of_class = self.node_levels().spread(accuracy, 1.0 - accuracy)
        accuracy = of_class[np.arange(len(of_class)), other.predicted_classes]
        is_same = np.array_equal(other.predicted_classes, self.predicted_classes)
        evidence = replace(
            self.evidence, accuracy=accuracy, stability=self.evidence.stability if is_same else None
        )
        equal = 1.0 - np.eye(len(self.classes))
        then, now = (equal if rule is None else rule.regret for rule in (self.rule, other.rule))
        if not np.array_equal(then, now):
            # The rounds of folds are gone, and the error is that of the confidence at other costs.
            evidence = replace(evidence, confidence_error=None)
        return other.with_evidence(evidence)

    def with_leaf_estimate(self, leaf_estimate: str | LeafEstimate) -> Self:
        """Return the same tree with another leaf estimate.

        Cross-fitted levels are kept if all nodes predict the same class as before. Otherwise they
        have to be computed again.
        """
        other = self._with(leaf_estimate=find_estimate(leaf_estimate))
        if self.evidence.source != "cross_fit" or not self.has_levels:
            return other
        if not np.array_equal(self.predicted_classes, other.predicted_classes):
            return other.with_evidence(Evidence("cross_fit"))
        other.__dict__["_node_levels"] = self._node_levels
        return other

    def prune(
        self,
        rule: str | None = None,
        *,
        training: TrainingRows | None = None,
        given: TrainingRows | None = None,
        **way: Any,
    ) -> Self:
        """Return a smaller tree, cut by a rule or another way of `Repruning`.

        Pessimistic pruning needs the `training` rows. Reduced-error pruning uses the `given` ones;
        otherwise the smaller tree counts them in place of its own. Where a leaf was made, its
        levels come from its own counts: the evidence is "training". `TreeClassifier.prune`
        cross-fits them again if it holds the rows.
        """
        tree = self.tree
        if rule == "pessimistic" and given is not None:
            tree = recount(tree, given)  # so that raising a branch compares counts of these rows
        repruning = self.repruning(rule, **way, held_out=given)
        n_leaves = repruning.n_leaves
        smaller = repruning(tree, training if given is None else given)
        if n_leaves is not None and smaller.n_leaves < min(n_leaves, tree.n_leaves):
            warn_caller(
                f"prune(n_leaves={n_leaves}) gives {count_of(smaller.n_leaves, 'leaf', 'leaves')}: "
                f"cost-complexity pruning of this tree has no size between that and more than "
                f"{n_leaves}. prune(nodes=[...]) cuts at nodes of your choice.",
                UserWarning,
            )
        if given is not None and rule != "reduced_error":
            smaller = recount(smaller, given)
            leaf_counts = leaf_counts_of(smaller, given)
        elif smaller.n_nodes == tree.n_nodes:
            return self  # nothing was cut, and the levels stay what they are
        elif rule == "pessimistic" and training is not None:
            leaf_counts = leaf_counts_of(smaller, training)
        else:
            leaf_counts = cut_leaf_counts(self.leaf_counts, self.tree, smaller)
        return replace(
            self,
            tree=smaller,
            leaf_counts=leaf_counts,
            evidence=Evidence("training"),
            held_out=None,  # counts that were looked at to prune prove nothing
        )

    def repruning(self, rule: str | None = None, **way: Any) -> Repruning:
        """Return the way of pruning that `prune` takes, to prune other trees in the same way."""
        criterion, tree, costs = self.criterion, self.tree, self.rule
        return Repruning(rule, **way, criterion=criterion, of_tree=tree, costs=costs)

    # ---- saved state -----------------------------------------------------------------------------

    def to_state(self) -> State:
        """Return the model as plain values and arrays; levels are included if they are known."""
        arrays = {
            **tree_arrays(self.tree),
            "probabilities": self.probabilities,
            "leaf_counts/counts": self.leaf_counts.counts,
            "leaf_counts/squares": self.leaf_counts.squares,
        }
        header = {**fitted_header(self, levels_from=self.evidence.source), "levels": None}
        for name in ("held_out", "seen"):
            if getattr(self, name) is not None:
                header[name] = getattr(self, name).to_plain()
        if self.seen_later:
            header["seen_later"] = [part.to_plain() for part in self.seen_later]
        if self.evidence.n_updated:
            header["updated_rows"] = self.evidence.n_updated
        if self.has_levels:
            levels = self.node_levels()
            arrays |= levels_arrays(levels)
            header["levels"] = {
                "from_counts": bool(levels.from_counts),
                "rounds": self.evidence.n_rounds,
                "shared_rows": self.evidence.shared_rows,
            }
            if self.evidence.stability is not None:
                header["levels"]["stability"] = self.evidence.stability.to_plain()
        return State(header, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Restore a model from `to_state`; raises Damaged if the state cannot be a model."""
        parts = fitted_parts(state.header, "levels_from")
        source = parts.pop("levels_from")
        tree = tree_from(state, parts["schema"], len(parts["classes"]))
        model = cls(
            **parts,
            tree=tree,
            leaf_counts=counts_from(state, tree),
            evidence=Evidence(source, n_updated=_updated_rows(state.header, tree)),
            held_out=HeldOut.from_plain(state.header.get("held_out"), tree),
            seen_later=_seen_later(state.header.get("seen_later", [])),
        )
        probabilities = probabilities_from(state, tree)
        known = state.header.get("levels")
        if isinstance(known, dict):
            is_counted = known.get("from_counts") is True
            levels = levels_from(
                state, tree, source=source, from_counts=is_counted, rule=model.rule
            )
            if source == "cross_fit":
                stability = Stability.from_plain(known.get("stability"), tree)
                of_rounds = _evidence_of_rounds(known, levels)
                evidence = replace(model.evidence, stability=stability, **of_rounds)
                model = replace(model, evidence=evidence)
            model.__dict__["_node_levels"] = levels
        # Numbers of the file, so that a model predicts bit by bit as the one that was saved.
        model.__dict__["probabilities"] = probabilities
        return model


def _updated_rows(header: dict[str, Any], tree: Tree) -> float:
    n_updated = header.get("updated_rows", 0.0)
    if not isinstance(n_updated, int | float) or not 0 <= n_updated <= tree.class_counts[0].sum():
        raise Damaged("it counts more rows of updates than rows")
    return float(n_updated)


def _seen_later(written: Any) -> tuple[SeenRows, ...]:
    if not isinstance(written, list):
        raise Damaged("its fingerprints of updates cannot be read")
    parts = tuple(SeenRows.from_plain(part) for part in written)
    if None in parts:
        raise Damaged("its fingerprints of updates cannot be read")
    return cast(tuple[SeenRows, ...], parts)


def _evidence_of_rounds(known: dict[str, Any], levels: NodeLevels) -> dict[str, Any]:
    n_rounds, shared_rows = known.get("rounds"), known.get("shared_rows")
    if type(n_rounds) is not int or n_rounds < 1:
        raise Damaged("its levels are averaged over no rounds")
    if not isinstance(shared_rows, int | float) or not 0 < shared_rows < np.inf:
        raise Damaged("the shared rows of its levels are not a number")
    return {
        "accuracy": levels.utility if levels.accuracy is None else levels.accuracy,  # one class
        "strength": levels.trials,
        "confidence_error": levels.confidence_error,
        "n_rounds": n_rounds,
        "shared_rows": float(shared_rows),
    }
