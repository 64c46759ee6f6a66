"""Bagged trees as one frozen value. It stores no rows, but a few fingerprints of them."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf import _kernel
from sureleaf.arguments import FloatArray, thread_count
from sureleaf.files.state_file import Damaged, State
from sureleaf.model.column_table import ColumnTable
from sureleaf.model.out_of_bag import (
    AccuracyByProbability,
    Calibration,
    OutOfBagEvidence,
    OutOfBagLevels,
    missing_rows,
)
from sureleaf.model.seen_rows import SeenRows
from sureleaf.model.state import (
    fitted_header,
    fitted_parts,
    probabilities_from,
    to_plain,
    tree_arrays,
    tree_from,
)
from sureleaf.model.tree_model import DecidingModel, RowPredictions, TreeModel
from sureleaf.probability import LeafEstimate
from sureleaf.table import EncodedTable, Schema
from sureleaf.tree import Tree, impurity_importances
from sureleaf.tree.routing import LeafCounts

# ---- results ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BagSums:
    """Sums over the trees that predict a row.

    - `values`, shape (n_rows, n_classes): their probabilities.
    - `squares`, `votes`, shape (n_rows, n_classes): squares of the probabilities, and how many
      trees predict each class.
    - `imputed`, shape (n_rows,): the share of the row that a missing or unseen value has sent
      somewhere.
    - `n_trees`, shape (n_rows,): number of trees that predict the row.
    """

    values: FloatArray
    squares: FloatArray
    votes: FloatArray
    imputed: FloatArray
    n_trees: FloatArray

    def mean(self, sums: FloatArray) -> FloatArray:
        """Divide by the number of trees; NaN where there is none."""
        n_trees = self.n_trees.reshape(-1, *[1] * (sums.ndim - 1))
        unknown = np.full(sums.shape, np.nan)
        return np.asarray(np.divide(sums, n_trees, out=unknown, where=n_trees > 0))

    def spread(self) -> FloatArray:
        """Return the standard deviation between the trees of each class probability."""
        variance = self.mean(self.squares) - self.mean(self.values) ** 2
        return np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, eq=False, repr=False)
class BagRowLevels(ColumnTable):
    """What bagged trees predict for each row, and how often such predictions are correct.

    - `prediction`: the predicted class.
    - `probability`: its probability, as in ``predict_proba``.
    - `agreement`: the share of the trees that vote for it.
    - `utility`: share of correct predictions among out-of-bag rows with about the same probability.
      It never falls with the probability.
    - `low`, `high`: 95 % interval of the utility (Clopper-Pearson, by these rows).
    - `spread`: standard deviation of the trees' probabilities for it.
    - `imputed_share`: how much of the row was sent somewhere by a missing or unseen value, mean
      over the trees.
    """

    prediction: NDArray[Any]
    probability: FloatArray
    agreement: FloatArray
    utility: FloatArray
    low: FloatArray
    high: FloatArray
    spread: FloatArray
    imputed_share: FloatArray


# ---- the model -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class BaggedModel(DecidingModel):
    """Everything that fitted bagged trees know; no method changes it.

    - `trees`: the trees, each with the counts of its bag.
    - `schema`, `classes`, `leaf_estimate`, `criterion`, `unseen`, `weights`, `cost`: as for
      `TreeModel`.
    - `seed`: key of the bags, which can be drawn again.
    - `max_samples`: the number of draws per bag, or their share of the number of rows.
    - `calibration`: applied to the mean of the trees' probabilities.
    - `out_of_bag`: none as long as it has not been computed from the rows.
    - `seen`: fingerprints of the rows of the fit, by which an audit recognises them.
    """

    schema: Schema
    classes: NDArray[Any]
    trees: tuple[Tree, ...]
    leaf_estimate: LeafEstimate
    criterion: str
    unseen: str
    weights: str
    seed: int
    max_samples: int | float = 1.0
    calibration: Calibration | None = None
    out_of_bag: OutOfBagEvidence | None = None
    cost: FloatArray | None = None
    seen: SeenRows | None = None

    def all_trees(self) -> tuple[Tree, ...]:
        """Return the trees."""
        return self.trees

    @cached_property
    def probabilities(self) -> tuple[FloatArray, ...]:
        """Class probabilities of the nodes of each tree."""
        return tuple(
            np.ascontiguousarray(self.leaf_estimate(tree, tree.class_counts), dtype=np.float64)
            for tree in self.trees
        )

    @property
    def feature_importances(self) -> FloatArray:
        """Each column's share of the decrease of impurity, the mean over trees that have splits."""
        each = [
            impurity_importances(tree, self.criterion) for tree in self.trees if tree.n_nodes > 1
        ]
        if not each:
            return np.zeros(len(self.schema))
        mean = np.mean(each, axis=0)
        return np.asarray(mean / mean.sum())

    @property
    def members(self) -> list[TreeModel]:
        """The trees as models; a row drawn k times counts as k rows of its tree."""
        names = ("schema", "classes", "leaf_estimate", "criterion", "unseen", "weights", "cost")
        parts: Any = {name: getattr(self, name) for name in names}
        members = []
        for tree, probabilities in zip(self.trees, self.probabilities, strict=True):
            member = TreeModel(**parts, tree=tree, leaf_counts=LeafCounts.of_tree(tree))
            member.__dict__["probabilities"] = probabilities
            members.append(member)
        return members

    def __repr__(self) -> str:
        n = len(self.trees)
        return f"BaggedModel of {n} tree{'' if n == 1 else 's'} for classes {self.class_names}"

    # ---- predictions -----------------------------------------------------------------------------

    def sums(
        self,
        table: _kernel.Table,
        *,
        is_used: NDArray[np.uint8] | None = None,
        in_detail: bool = False,
        n_threads: int = 1,
    ) -> BagSums:
        """Add up the predictions of the trees; the sums do not depend on the number of threads.

        `is_used`, of shape (n_trees, n_rows), says which trees predict which rows; all by default.
        Squares, votes and imputed shares are only added up `in_detail`.
        """
        parts = _kernel.predict_bags(
            [tree.kernel for tree in self.trees],
            list(self.probabilities),
            is_used,
            table,
            in_detail,
            self.unseen == "stop",
            n_threads,
        )
        return BagSums(*parts)

    def calibrated(self, means: FloatArray) -> FloatArray:
        """Apply the calibration to mean probabilities, if there is one."""
        return means if self.calibration is None else self.calibration(means)

    def predict_proba(
        self, X: Any, *, voting: bool = False, n_jobs: int | None = 1, estimator: str = "model"
    ) -> FloatArray:
        """Return the (calibrated) mean probabilities, or with `voting` the shares of votes."""
        table = self.encode(X, estimator=estimator, for_routing=True)
        n_threads = thread_count(n_jobs, table.n_rows)
        sums = self.sums(table.kernel, in_detail=voting, n_threads=n_threads)
        return sums.mean(sums.votes) if voting else self.calibrated(sums.mean(sums.values))

    def predict_levels(
        self, X: Any, *, n_jobs: int | None = 1, estimator: str = "model"
    ) -> BagRowLevels:
        """Return prediction, agreement and utility of each row."""
        self.require_out_of_bag()
        table = self.encode(X, estimator=estimator, for_routing=True)
        return self._row_levels(table, thread_count(n_jobs, table.n_rows))[0]

    def row_predictions(self, X: Any) -> RowPredictions:
        """Return all that the model predicts for rows; unseen categories are only counted."""
        self.require_out_of_bag()
        return self._row_levels(self.encode(X, for_routing=True, warn=False), 1)[1]

    def _row_levels(
        self, table: EncodedTable, n_threads: int
    ) -> tuple[BagRowLevels, RowPredictions]:
        sums = self.sums(table.kernel, in_detail=True, n_threads=n_threads)
        probabilities = self.calibrated(sums.mean(sums.values))
        code = self.decide(probabilities)
        row = np.arange(len(code))
        probability, agreement = probabilities[row, code], sums.mean(sums.votes)[row, code]
        utility, low, high = self.require_out_of_bag().accuracy.of(probability)
        levels = BagRowLevels(
            prediction=self.classes[code],
            probability=probability,
            agreement=agreement,
            utility=utility,
            low=low,
            high=high,
            spread=sums.spread()[row, code],
            imputed_share=sums.mean(sums.imputed),
        )
        unseen = table.unseen_counts
        return levels, RowPredictions(code, probabilities, agreement, utility, None, unseen)

    def require_out_of_bag(self) -> OutOfBagEvidence:
        """Return the out-of-bag evidence; raise if it has not been computed."""
        if self.out_of_bag is None:
            raise missing_rows()
        return self.out_of_bag

    # ---- saved state -----------------------------------------------------------------------------

    def to_state(self) -> State:
        """Return the model as plain values and arrays."""
        header = {
            **fitted_header(self),
            "seed": int(self.seed),
            "max_samples": to_plain("max_samples", self.max_samples),
            "n_trees": len(self.trees),
            "out_of_bag": None,
            "calibration": None,
        }
        if self.seen is not None:
            header["seen"] = self.seen.to_plain()
        arrays: dict[str, NDArray[Any]] = {}
        for number, (tree, probabilities) in enumerate(
            zip(self.trees, self.probabilities, strict=True)
        ):
            arrays |= tree_arrays(tree, f"trees/{number}")
            arrays[f"trees/{number}/probabilities"] = probabilities
        if self.out_of_bag is not None:
            levels, accuracy = asdict(self.out_of_bag.levels), self.out_of_bag.accuracy
            header["out_of_bag"] = {n: None if v != v else v for n, v in levels.items()}
            arrays["hit_rates/lowest"] = accuracy.lowest
            arrays["hit_rates/hits"] = accuracy.correct
            arrays["hit_rates/n"] = accuracy.n
        if self.calibration is not None:
            header["calibration"] = self.calibration.method
            arrays |= {f"calibration/{i}": line for i, line in enumerate(self.calibration.maps)}
        return State(header, arrays)

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Restore a model from `to_state`; raises Damaged if the state cannot be a model."""
        header = state.header
        parts = fitted_parts(header)
        schema, n_classes = parts["schema"], len(parts["classes"])
        seed = header.get("seed")
        if type(seed) is not int or not 0 <= seed < 2**128:
            raise Damaged("its seed is not a whole number")
        max_samples = header.get("max_samples", 0)
        if type(max_samples) not in (int, float) or not 0 < max_samples < 2**63:
            raise Damaged("its bags have no size")
        n_trees = header.get("n_trees")
        if type(n_trees) is not int or not 1 <= n_trees <= len(state.arrays):
            raise Damaged("it does not say how many trees it has")
        if f"trees/{n_trees - 1}/feature" not in state.arrays:
            raise Damaged("it has fewer trees than its header says")
        prefixes = [f"trees/{number}" for number in range(n_trees)]
        trees = tuple(tree_from(state, schema, n_classes, prefix) for prefix in prefixes)
        model = cls(
            **parts,
            trees=trees,
            seed=seed,
            max_samples=max_samples,
            calibration=_calibration_from(state, n_classes),
            out_of_bag=_out_of_bag_from(state),
        )
        model.__dict__["probabilities"] = tuple(
            probabilities_from(state, tree, f"{prefix}/probabilities")
            for tree, prefix in zip(trees, prefixes, strict=True)
        )
        return model


def _calibration_from(state: State, n_classes: int) -> Calibration | None:
    method = state.header.get("calibration")
    if method is None:
        return None
    if method not in ("sigmoid", "isotonic"):
        raise Damaged("its calibration has no method")
    n_maps = {1: 0, 2: 1}.get(n_classes, n_classes)
    shape = (2,) if method == "sigmoid" else (2, None)
    maps = tuple(state.take(f"calibration/{i}", "<f8", shape) for i in range(n_maps))
    for line in maps:
        if not line.size or not np.isfinite(line).all():
            raise Damaged("its calibration is not of numbers")
        if method == "isotonic" and (
            np.any(np.diff(line) < 0) or line[1, 0] < 0.0 or line[1, -1] > 1.0
        ):
            raise Damaged("its calibration is not in order")
    return Calibration(method, maps)


def _out_of_bag_from(state: State) -> OutOfBagEvidence | None:
    written = state.header.get("out_of_bag")
    if written is None:
        return None
    names = ("agreement", "utility", "low", "high", "n_rows", "n_in_every_bag")
    if not isinstance(written, dict) or set(written) != set(names):
        raise Damaged("its out-of-bag levels are incomplete")
    values = [np.nan if written[name] is None else written[name] for name in names]
    if not all(type(value) in (int, float) for value in values) or values[-1] != values[-1]:
        raise Damaged("its out-of-bag levels are not numbers")
    agreement, utility, low, high, n_rows, n_left = map(float, values)
    lowest = state.take("hit_rates/lowest", "<f8", (None,))
    size = (len(lowest) + 1,)
    correct, n = (state.take(f"hit_rates/{name}", "<f8", size) for name in ("hits", "n"))
    is_ascending = bool(np.all(np.diff(lowest) > 0)) and not np.isnan(lowest).any()
    if not is_ascending or not bool(np.all((correct >= 0) & (correct <= n) & (n < np.inf))):
        raise Damaged("its out-of-bag accuracy is out of range")
    return OutOfBagEvidence(
        OutOfBagLevels(agreement, utility, low, high, n_rows, int(n_left)),
        AccuracyByProbability(lowest, correct, n),
    )
