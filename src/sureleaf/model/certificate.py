"""What held-out rows prove about the leaves of a tree, for all leaves at once.

A guarantee without assumptions needs rows that did not grow the tree: `HeldOut` has their counts.
Out-of-fold predictions are no replacement. They are predictions of other trees.
"""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray, check_number
from sureleaf.errors import InvalidArgumentError
from sureleaf.files.state_file import Damaged
from sureleaf.formatting import count_of, interval, listed, p_equals, percent, upper_first
from sureleaf.levels.decisions import CostRule
from sureleaf.levels.guarantees import adjusted_p_values, simultaneous_limits, wrong_class_p_values
from sureleaf.levels.search import halved
from sureleaf.model.column_table import ColumnTable, json_value
from sureleaf.model.leaf_table import LeafTable
from sureleaf.tree import Tree
from sureleaf.tree.rules import leaf_rules
from sureleaf.tree.structure import leaves_in_words

if TYPE_CHECKING:
    from sureleaf.model.tree_model import TreeModel


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Class counts of rows that did not grow a tree, whole rows, each in its heaviest leaf.

    - `n_grown`: rows that grew the tree.
    - `counts`, shape (n_nodes, n_classes): rows that end in each node; that is a leaf, unless a row
      stops at an unseen category.
    - `named_before`: whether other rows chose the class that each leaf predicts.
    - `problem`: why these rows cannot give a guarantee; empty if they can.
    - `n_compared`, `n_equal`: rows that were compared with the rows of the fit, and how many were
      equal to one of them.
    - `stated_new`: whether it is the user's word alone that the tree has not seen these rows.
    """

    n_grown: int
    counts: FloatArray
    named_before: bool = True
    problem: str = ""
    n_compared: int = 0
    n_equal: int = 0
    stated_new: bool = False

    @property
    def n_rows(self) -> int:
        """Rows that were held out."""
        return int(self.counts.sum())

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for a model file."""
        return {**vars(self), "counts": self.counts.tolist()}

    @classmethod
    def from_plain(cls, written: Any, tree: Tree) -> "HeldOut | None":
        """Restore the counts of a model file; None if it has none."""
        if written is None:
            return None
        try:
            counts = np.array(written["counts"], dtype=np.float64)
            held_out = cls(
                int(written["n_grown"]),
                counts,
                written["named_before"] is True,
                str(written["problem"]),
                int(written["n_compared"]),
                int(written["n_equal"]),
                written["stated_new"] is True,
            )
        except (TypeError, ValueError, KeyError, OverflowError, AttributeError):
            raise Damaged("its held-out rows cannot be read") from None
        if not 0 <= held_out.n_equal <= held_out.n_compared:
            raise Damaged("more of its held-out rows are equal to rows of the fit than there are")
        is_count = np.isfinite(counts) & (counts >= 0) & (counts == np.floor(counts))
        if counts.shape != tree.class_counts.shape or not is_count.all() or held_out.n_grown < 0:
            raise Damaged("its held-out counts are not whole rows in the nodes of its tree")
        return held_out


def no_guarantee(what: str, held_out: HeldOut | None) -> NoReturn:
    """Raise the error that says why there is no guarantee, and what to do."""
    if held_out is None:
        raise InvalidArgumentError(
            f"{what} needs rows that did not grow the tree, and this model has none: its levels "
            "are estimates, not guarantees. Fit with levels_from='honest', which sets half of the "
            "rows aside, or give other rows: model.certify(X, y)."
        )
    raise InvalidArgumentError(
        f"{what} needs held-out rows that are independent of each other, without weights; "
        f"{held_out.problem} Give such rows: model.certify(X, y)."
    )


@dataclass(frozen=True, eq=False, repr=False)
class CertifiedLeaves(ColumnTable):
    """What is proven about each leaf.

    - `leaf`: node number.
    - `rule`: the tests on the way to it.
    - `prediction`: the class that it predicts.
    - `n`, `n_correct`: certifying rows in it, and those of the predicted class.
    - `low`, `high`: limits of the probability of the predicted class, for all leaves at once.
    - `p_value`: of "this leaf predicts the wrong class", adjusted for all leaves.
    - `certified`: leaves that predict the right class.
    """

    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    prediction: NDArray[Any]
    n: FloatArray
    n_correct: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    certified: NDArray[np.bool_]


def certified_leaves(
    model: "TreeModel", held_out: HeldOut, interval_error: float, class_error: float
) -> CertifiedLeaves:
    """Compute limits and p-values of all leaves, each of the two for all leaves at once.

    `interval_error` and `class_error` are the error probabilities of all limits, and of all
    certified classes.
    """
    rule = model.rule
    leaves = model.tree.leaf_ids
    counts, named = held_out.counts[leaves], model.predicted_classes[leaves]
    n, own = counts.sum(axis=1), counts[np.arange(len(leaves)), named]
    n_classes = counts.shape[1]
    n_named = n_classes if n_classes > 2 and not held_out.named_before else 1
    low, high = simultaneous_limits(own, n, level=1.0 - interval_error, n_named=n_named)
    adjusted, has_rows = np.ones(len(leaves)), n > 0
    p_values = wrong_class_p_values(counts, named, rule, named_before=held_out.named_before)
    adjusted[has_rows] = adjusted_p_values(
        p_values[has_rows], independent=held_out.named_before or rule is None
    )
    rules = leaf_rules(model.tree, model.schema)
    return CertifiedLeaves(
        leaf=leaves,
        rule=np.array([rules[leaf] for leaf in leaves.tolist()], dtype=object),
        prediction=model.classes[named],
        n=n,
        n_correct=own,
        low=low,
        high=high,
        p_value=adjusted,
        certified=adjusted <= class_error,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """What is proven about a tree, with one error probability for the whole; it prints as text.

    Half of the error probability is spent on the predicted classes, half on the limits.

    - `alpha`: error probability of the whole.
    - `n_grown`, `n_certifying`: rows that grew the tree, and rows that certify it.
    - `n_outside`: certifying rows that stopped above the leaves at an unseen category.
    - `at_costs`: whether leaves decide by costs: then "right" is the cheapest decision.
    - `leaves`: leaf by leaf.
    - `classes_seen`: the classes of the certifying rows.
    - `fingerprint`: SHA-256 of the tree and the counts, so that the certificate belongs to one
      model.
    - `n_compared`, `n_equal`, `stated_new`: as for `HeldOut`.
    """

    alpha: float
    n_grown: int
    n_certifying: int
    n_outside: int
    at_costs: bool
    leaves: CertifiedLeaves
    classes_seen: tuple[Any, ...]
    fingerprint: str
    n_compared: int = 0
    n_equal: int = 0
    stated_new: bool = False

    @property
    def statements(self) -> list[str]:
        """The sentences of the certificate, each true except with its error probability."""
        table, half = self.leaves, percent(self.alpha / 2, 2 if self.alpha < 0.02 else 1)
        n_certified = int(table.certified.sum())
        right = "makes the cheapest decision" if self.at_costs else "names its true majority class"
        wrong = "makes a decision that costs too much" if self.at_costs else "names the wrong class"
        certifying = count_of(self.n_certifying, "row")
        how = f"{certifying}, which took no part in growing it, certify it."
        if self.stated_new:
            how = (
                f"{certifying} certify it. That they took no part in growing it is the user's "
                "word: the model cannot tell."
            )
        elif self.n_compared:
            equal = "none" if not self.n_equal else f"{self.n_equal:,}"
            verb = "is" if self.n_equal < 2 else "are"
            how = (
                f"{certifying} certify it: of the {self.n_compared:,} that can be compared with "
                f"the rows of its fit, {equal} {verb} equal to one of them."
            )
        sentences = [f"{count_of(self.n_grown, 'row')} grew the tree. {how}"]
        if n_certified:
            certified = table.leaf[table.certified].tolist()
            subject = f"None of the {self._named(table.certified)} {wrong}"
            if n_certified == 1:
                subject = f"Leaf {certified[0]} {right}"
            elif n_certified == 2:
                subject = f"Neither leaf {certified[0]} nor leaf {certified[1]} {wrong}"
            largest = float(table.p_value[table.certified].max())
            sentences.append(f"{subject}. Error probability: at most {half} ({p_equals(largest)}).")
        else:
            claim = "decision" if self.at_costs else "predicted class"
            sentences.append(f"No leaf is certified: these rows do not prove any {claim}.")
        open_leaves = ~table.certified & (table.n > 0)
        if open_leaves.any() and n_certified:
            claim = "decision" if self.at_costs else "class"
            sentences.append(f"Nothing is proven about the {claim} of {self._named(open_leaves)}.")
        named = "class that is decided for" if self.at_costs else "predicted class"
        sentences.append(
            f"The probability of the {named} lies within the limits below, in all leaves at once. "
            f"Error probability: at most {half}."
        )
        is_wide = table.certified & (table.low < 0.5)
        if is_wide.any() and len(self.classes_seen) == 2 and not self.at_costs:
            verb = "is" if is_wide.sum() == 1 else "are"
            sentences.append(
                f"Limits include 50 %, but {self._named(is_wide)} {verb} certified: classes and "
                "limits have separate error probabilities, and limits that hold in all leaves at "
                "once are wider than the test of a class needs."
            )
        sentences.append(
            f"Error probability of the whole: at most {percent(self.alpha)}. This holds for any "
            "distribution of the columns and classes, if the certifying rows and the rows to come "
            "are independent draws from one population."
        )
        return sentences + self._warnings()

    def _named(self, chosen: NDArray[np.bool_]) -> str:
        noun = "leaf" if chosen.sum() == 1 else "leaves"
        return f"{noun} {listed([str(leaf) for leaf in self.leaves.leaf[chosen]])}"

    def _warnings(self) -> list[str]:
        warnings = []
        empty = self.leaves.n == 0
        if empty.any():
            named = self._named(empty)
            verb, them = ("has", "it") if empty.sum() == 1 else ("have", "them")
            warnings.append(
                f"{upper_first(named)} {verb} no certifying rows: nothing is claimed about {them}."
            )
        if len(self.classes_seen) == 1:
            warnings.append(
                f"All certifying rows are of class {self.classes_seen[0]}. If other classes are to "
                "come, these rows are not from the same population."
            )
        if self.n_equal:
            verb = "is" if self.n_equal == 1 else "are"
            warnings.append(
                f"{self.n_equal:,} of {count_of(self.n_compared, 'certifying row')} {verb} equal "
                "to a row of the fit, cell by cell. Chance can explain it; if they are rows of the "
                "fit, this certificate is void."
            )
        if self.n_outside:
            warnings.append(
                f"{count_of(self.n_outside, 'certifying row')} stopped above the leaves at an "
                "unseen category; they are in no leaf."
            )
        return warnings

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        rows = ("n_grown", "n_certifying", "n_outside", "n_compared", "n_equal")
        return {
            "alpha": self.alpha,
            "alpha_classes": self.alpha / 2,
            "alpha_limits": self.alpha / 2,
            **{name: getattr(self, name) for name in (*rows, "stated_new", "at_costs")},
            "statements": self.statements,
            "fingerprint": self.fingerprint,
            "leaves": self.leaves.records(),
        }

    def __str__(self) -> str:
        table = self.leaves
        title = f"Certificate of a tree with {leaves_in_words(len(table))}"
        lines = [title, "", *self.statements, ""]
        for line in range(len(table)):
            state = "certified" if table.certified[line] else "not certified"
            limits = interval(float(table.low[line]), float(table.high[line]))
            lines.append(
                f"Leaf {table.leaf[line]}: {table.rule[line] or 'all rows'}\n  "
                f"{json_value(table.prediction[line])}: {table.n_correct[line]:g} of "
                f"{table.n[line]:g} rows, {limits} %, {state} "
                f"({p_equals(float(table.p_value[line]))})"
            )
        return "\n".join([*lines, "", f"SHA-256 {self.fingerprint}"])

    __repr__ = __str__


def fingerprint(tree: Tree, classes: NDArray[Any], held_out: HeldOut) -> str:
    """Return the SHA-256 of a tree, its classes and its held-out counts."""
    digest = hashlib.sha256(repr(classes.tolist()).encode())
    for part in (
        tree.feature,
        tree.threshold,
        tree.children,
        tree.category_branch,
        tree.missing_branch,
        held_out.counts,
    ):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def guaranteed_table(
    model: "TreeModel", level: float, confidence: float | None, utility: float | None
) -> LeafTable:
    """Return what is proven about the leaves as a `LeafTable`, all of it from held-out rows.

    Limits hold with probability `level`, flags with probability `confidence`. `utility` is the
    lowest probability of a correct prediction that a leaf must be proven to have, or None.
    """
    held_out, leaves, rule = model.held_out_rows("leaves()"), model.tree.leaf_ids, model.rule
    class_error = 1.0 if confidence is None else 1.0 - confidence
    table = certified_leaves(model, held_out, 1.0 - level, class_error)
    counts, n = held_out.counts[leaves], table.n
    unknown = np.full(len(n), np.nan)
    share = np.divide(table.n_correct, n, out=unknown.copy(), where=n > 0)
    flagged = ~table.certified
    if utility is not None:
        flagged = flagged | (table.low < utility)
    error = class_error / max(int(np.count_nonzero(n > 0)), 1)
    certifying = _rows_to_certify(counts, model.predicted_classes[leaves], held_out, rule, error)
    needed = np.where(table.certified, n, certifying)
    repair = [
        _advice(float(rows), float(more), bool(weak), "class" if rule is None else "decision")
        for rows, more, weak in zip(n, needed - n, flagged, strict=True)
    ]
    # How many rows would prove the utility is not known.
    needed = np.where(table.certified & flagged, np.nan, needed)
    growth = np.divide(needed, n, out=unknown.copy(), where=n > 0)
    return LeafTable(
        leaf=table.leaf,
        rule=table.rule,
        n=n,
        counts=counts,
        prediction=table.prediction,
        probability=share,
        low=table.low,
        high=table.high,
        confidence=1.0 - table.p_value,
        utility=share,
        confidence_error=np.zeros(len(n)),
        rows_needed=needed,
        total_rows_needed=np.ceil(n.sum() * growth - 1e-6),
        flagged=flagged,
        repair=np.array(repair, dtype=object),
        recurrence=unknown,
        levels_from="held_out",
    )


def _rows_to_certify(
    counts: FloatArray,
    predicted: NDArray[np.intp],
    held_out: HeldOut,
    rule: CostRule | None,
    error: float,
) -> FloatArray:
    """Return how many rows in a leaf would certify it, at the shares of now; NaN if none would."""

    def is_too_few(doublings: FloatArray) -> NDArray[np.bool_]:
        more = counts * 2.0 ** doublings[:, np.newaxis]
        p_values = wrong_class_p_values(more, predicted, rule, named_before=held_out.named_before)
        return p_values > error

    n = counts.sum(axis=1)
    most = np.full(len(n), _MOST_DOUBLINGS)
    able = ~is_too_few(most) & (n > 0)
    _, high = halved(is_too_few, np.zeros(len(n)), most, 40)
    return np.where(able, np.ceil(n * 2.0**high), np.nan)


_MOST_DOUBLINGS = 12.0
"""A leaf that 4,000 times its rows would not certify is called a tie."""


def _advice(n: float, more: float, weak: bool, named: str) -> str:
    if not weak:
        return ""
    if n == 0:
        return "no held-out row reaches this leaf, so nothing is proven about it"
    if more > 0:
        rows = "row" if int(more) == 1 else "rows"
        return (
            f"about {int(more):,} more held-out {rows} in this leaf would prove its {named}, "
            "if the class shares stay the same"
        )
    if np.isnan(more):
        return f"its {named} is not in the lead among the held-out rows"
    return f"its {named} is proven, but not that it is right often enough"


def check_alpha(alpha: Any) -> float:
    """Check an error probability: a number between 0 and 1, both excluded."""
    check_number("alpha", alpha, low=0, high=1, open_low=True)
    if alpha == 1:
        raise InvalidArgumentError(
            "alpha must be below 1; got 1. It is the error probability: 0.1 for a coverage of 90 %."
        )
    return float(alpha)
