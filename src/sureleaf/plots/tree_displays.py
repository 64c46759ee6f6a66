"""A fitted tree: its nodes as a diagram, its leaves as intervals, and its sizes while pruned."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.auditing import Audit, AuditedLeaves
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import count_of, percent
from sureleaf.plots.display import BLUE, COLOURS, GREY, INK, NOTE, RED, Display, write
from sureleaf.tree import Tree
from sureleaf.tree.routing import add_to_parents
from sureleaf.tree.rules import branch_tests
from sureleaf.tree.structure import leaves_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sureleaf.auditing import AuditedBins
    from sureleaf.estimators import TreeClassifier
    from sureleaf.model.leaf_table import LeafTable


_MAX_ENDS = 24
_LETTER_WIDTH = 0.078  # inches
_COLUMN_GAP = 0.35  # inches
_LONGEST_TEST = 38


def _check_single_tree(model: object, display: str) -> None:
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier

    if isinstance(model, TreeClassifier):
        return
    kind = type(model).__name__
    is_bag = isinstance(model, BaggedTreesClassifier)
    advice = " model.estimators_[0] is the first of its trees." if is_bag else ""
    raise InvalidArgumentError(
        f"{display} shows a single tree: model must be a fitted TreeClassifier; got {kind}.{advice}"
    )


def _rows(n: float) -> str:
    """Write a number of rows, which may be fractional."""
    return count_of(n, "row") if n == round(n) else f"{n:,.2f} rows"


@dataclass(frozen=True, eq=False, repr=False)
class TreeDisplay(Display):
    """A tree drawn from left to right, with the prediction and levels of each leaf.

    There is one entry per node that is drawn, the root first. Ends are leaves, or nodes whose
    branches are not drawn; flagged are those below the wanted confidence, without rows, or less
    accurate than another class.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> display = TreeDisplay.from_estimator(model)
    >>> display.test, display.height.tolist()
    (['', 'x0 <= 19', 'x0 > 19'], [-0.5, 0.0, -1.0])
    """

    node: NDArray[np.intp]  # its number in the tree
    parent: NDArray[np.intp]  # index among the nodes drawn; -1 for the root
    depth: NDArray[np.intp]
    height: FloatArray  # ends at 0, -1, -2, ..., other nodes midway between their branches
    test: list[str]  # the one that leads to the node
    is_end: NDArray[np.bool_]
    hidden: NDArray[np.intp]  # leaves below an end that are not drawn
    prediction: list[str]
    predicted: NDArray[np.intp]  # index in the classes of the model
    n: FloatArray
    probability: FloatArray
    confidence: FloatArray
    utility: FloatArray
    flagged: NDArray[np.bool_]
    at_costs: bool = False  # the utility is then what a decision saves
    levels_from: str = "cross_fit"

    @classmethod
    def from_estimator(
        cls, model: "TreeClassifier", *, max_depth: int | None = None, confidence: float = 0.95
    ) -> Self:
        """Create the display of a fitted tree, whose leaves below the confidence are flagged.

        The depth is by default the largest one with at most 24 ends.
        """
        _check_single_tree(model, cls.__name__)
        fitted = model.complete_model()
        tree, levels = fitted.tree, fitted.node_levels()
        depth_drawn = _depth_to_draw(tree) if max_depth is None else max_depth
        node = np.flatnonzero(tree.node_depth <= depth_drawn)
        is_end = tree.is_leaf[node] | (tree.node_depth[node] == depth_drawn)
        index_of = np.full(tree.n_nodes, -1)
        index_of[node] = np.arange(len(node))
        parent = np.where(tree.parent[node] < 0, -1, index_of[tree.parent[node]])
        test = [""] * len(node)
        for inner in node[~is_end].tolist():
            texts = branch_tests(tree, inner, fitted.schema.columns[tree.feature[inner]])
            for child, text in zip(tree.branches(inner), texts, strict=True):
                test[index_of[child]] = textwrap.shorten(text, _LONGEST_TEST, placeholder=" ...")
        n_leaves = add_to_parents(tree, tree.is_leaf.astype(np.intp))
        n = tree.class_counts.sum(axis=1)
        is_weak = levels.is_weak(confidence)
        return cls(
            node=node,
            parent=parent,
            depth=tree.node_depth[node],
            height=_heights(parent, is_end),
            test=test,
            is_end=is_end,
            hidden=np.where(tree.is_leaf, 0, n_leaves)[node] * is_end,
            prediction=[str(label) for label in fitted.classes[levels.predicted[node]]],
            predicted=levels.predicted[node],
            n=n[node],
            probability=levels.probability[node],
            confidence=levels.confidence[node],
            utility=levels.utility[node],
            flagged=is_weak[node] & is_end,
            at_costs=fitted.rule is not None,
            levels_from=fitted.evidence.source,
        )

    def end_text(self, index: int) -> str:
        """Return the label of an end: class, rows and levels."""
        text = (
            f"{self.prediction[index]}   {_rows(self.n[index])}, utility "
            f"{percent(self.utility[index], 0)}, confidence {percent(self.confidence[index], 0)}"
        )
        if self.hidden[index]:
            text += f"   (+ {self.hidden[index]} leaves)"
        return text

    def figure_size(self) -> tuple[float, float]:
        """Return a size with space for every test and every end."""
        ends = np.flatnonzero(self.is_end)
        text_width = _LETTER_WIDTH * max(len(self.end_text(int(index))) for index in ends)
        width = float(self._column_ends()[-1]) + text_width + 0.8
        return max(width, 6.0), 1.2 + 0.42 * max(len(ends), 2)

    def _column_ends(self) -> FloatArray:
        """Return where each depth ends, in inches; a column is as wide as its longest test."""
        widths = [0.0]
        for depth in range(1, int(self.depth.max()) + 1):
            tests = (text for text, at in zip(self.test, self.depth, strict=True) if at == depth)
            widths.append(_COLUMN_GAP + _LETTER_WIDTH * max(6, *map(len, tests)))
        return np.cumsum(widths)

    def _heading(self) -> tuple[str, str]:
        n_leaves = int(self.is_end.sum() + np.maximum(self.hidden - 1, 0).sum())
        levels = "Utility: accuracy on unseen rows. Confidence: in the majority class."
        if self.at_costs:
            levels = "Utility: saving per row by the decision. Confidence: in the decision."
        elif self.levels_from == "training":
            levels = "Utility and confidence by Zhang (2024), from training rows."
        return (
            f"A tree of {leaves_in_words(n_leaves)}, grown on {self.n[0]:,.0f} rows",
            f"{levels} Hollow: flagged.",
        )

    def _draw(self, axes: "Axes") -> None:
        x = self._column_ends()[self.depth]
        for index in range(1, len(self.node)):
            self._draw_branch(axes, index, float(x[self.parent[index]]), float(x[index]))
        for end in np.flatnonzero(self.is_end).tolist():
            self._draw_end(axes, end, float(x[end]))
        inner = ~self.is_end
        axes.plot(x[inner], self.height[inner], "o", color=INK, markersize=4, zorder=3)
        width, _ = self.figure_size()
        axes.set_xlim(-0.15, width - 0.5)
        axes.set_ylim(float(self.height.min()) - 0.6, 0.7)
        axes.set_axis_off()

    def _draw_branch(self, axes: "Axes", index: int, start: float, end: float) -> None:
        top, y = float(self.height[self.parent[index]]), float(self.height[index])
        width = 0.8 + 3.2 * float(np.sqrt(self.n[index] / max(self.n[0], 1e-9)))
        style: dict[str, Any] = {"solid_joinstyle": "round", "solid_capstyle": "round", "zorder": 1}
        axes.plot([start, start, end], [top, y, y], color=GREY, linewidth=width, **style)
        above = (0, 2.5 + width / 2)
        write(axes, self.test[index], (start + 0.12, y), above, fontsize=8.5, color=INK)

    def _draw_end(self, axes: "Axes", index: int, x: float) -> None:
        colour, y = COLOURS[int(self.predicted[index]) % len(COLOURS)], self.height[index]
        fill, weight = ("white", "normal") if self.flagged[index] else (colour, "bold")
        axes.scatter([x], [y], s=70, color=fill, edgecolor=colour, linewidth=2, zorder=4)
        style: dict[str, Any] = {"va": "center", "color": colour, "fontweight": weight}
        write(axes, self.end_text(index), (x, y), (9, 0), **style)


def _heights(parent: NDArray[np.intp], is_end: NDArray[np.bool_]) -> FloatArray:
    height = np.full(len(parent), np.nan)
    height[is_end] = -np.arange(int(is_end.sum()))
    for index in range(len(parent) - 1, -1, -1):  # children come after their parent
        if not is_end[index]:
            children = height[parent == index]
            height[index] = (children.max() + children.min()) / 2
    return height


def _depth_to_draw(tree: Tree) -> int:
    for drawn in range(int(tree.depth), 1, -1):
        ends = (tree.node_depth == drawn) | (tree.is_leaf & (tree.node_depth < drawn))
        if ends.sum() <= _MAX_ENDS:
            return drawn
    return min(int(tree.depth), 1)


_LONGEST_RULE = 80
_MAX_LEAVES = 30
_COLUMN_POSITIONS = (42.0, 104.0, 150.0)
"""Right ends of the columns beside the axes, in points from the axes."""


@dataclass(frozen=True, eq=False, repr=False)
class LeavesDisplay(Display):
    """The probability of the predicted class in each leaf, with interval, rows and levels.

    `names` are the rules of the leaves, or the ranges of predicted probabilities of the bins, and
    `stated` the probabilities that an audited model predicts.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> display = LeavesDisplay.from_estimator(model)
    >>> display.names, display.n.tolist()
    (['x0 <= 19', 'x0 > 19'], [20.0, 20.0])
    """

    names: list[str]
    predictions: list[str]
    n: FloatArray
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    confidence: FloatArray
    utility: FloatArray
    flagged: NDArray[np.bool_]
    stated: FloatArray | None
    level: float
    title: str

    @classmethod
    def from_estimator(
        cls,
        model: "TreeClassifier",
        *,
        level: float = 0.95,
        confidence: float | None = 0.95,
        utility: float | None = None,
    ) -> Self:
        """Create the display of what `TreeClassifier.leaves` returns with these options."""
        _check_single_tree(model, cls.__name__)
        leaves = model.leaves(level=level, confidence=confidence, utility=utility)
        paper = ", levels by Zhang (2024)" if leaves.levels_from == "training" else ""
        return cls(
            names=[str(rule) for rule in leaves.rule],
            stated=None,
            level=level,
            title=f"{leaves_in_words(len(leaves))}, grown on {leaves.n.sum():,.0f} rows{paper}",
            **_columns(leaves),
        )

    @classmethod
    def from_audit(cls, audit: Audit) -> Self:
        """Create the display of the leaves of an audited tree, or the bins of another model."""
        table = audit.table
        if isinstance(table, AuditedLeaves) and table.rule is not None:
            names = [str(rule) for rule in table.rule]
        elif isinstance(table, AuditedLeaves):
            names = [f"leaf {leaf}" for leaf in table.leaf]
        else:
            ranges = zip(table.stated_from, table.stated_to, strict=True)
            names = [f"predicted {low:.2f} to {high:.2f}" for low, high in ranges]
        return cls(
            names=names,
            stated=table.stated,
            level=audit.level,
            title=f"{audit.model} on {audit.n_rows:,} {audit.rows_in_words}",
            **_columns(table),
        )

    @property
    def shown(self) -> NDArray[np.intp]:
        """Indices of the leaves that are drawn: the 30 with most rows."""
        return np.sort(np.argsort(-self.n, kind="stable")[:_MAX_LEAVES])

    def label(self, leaf: int) -> str:
        """Return rule and predicted class; a long rule keeps its last, distinctive tests."""
        ending, rule, dots = f":  {self.predictions[leaf]}", self.names[leaf], ""
        while len(rule) + len(ending) > _LONGEST_RULE and " and " in rule:
            dots, (_, _, rule) = "... and ", rule.partition(" and ")
        return textwrap.shorten(f"{dots}{rule}", _LONGEST_RULE, placeholder=" ...") + ending

    def figure_size(self) -> tuple[float, float]:
        """Return a size that grows with the number of leaves."""
        return 8.6, 1.6 + 0.52 * max(len(self.shown), 2)

    def _heading(self) -> tuple[str, str]:
        subtitle = f"Dot: probability of the predicted class; line: {100 * self.level:g} % interval"
        tick = "; tick: predicted by the model" if self.stated is not None else ""
        return self.title, f"{subtitle}{tick}; hollow: flagged."

    def _draw(self, axes: "Axes") -> None:
        shown = self.shown
        largest = max(float(self.n.max()), 1.0)
        for row, leaf in enumerate(shown.tolist()):
            self._draw_leaf(axes, -float(row), leaf, 24 + 200 * float(self.n[leaf]) / largest)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_ylim(-len(shown) + 0.45, 0.95)
        axes.set_xlim(-0.01, 1.01)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("probability of the predicted class")
        _write_beside(axes, 0.72, ("rows", "confidence", "utility"), NOTE)
        if len(shown) < len(self.n):
            not_drawn = f"{len(self.n) - len(shown)} smaller leaves are not drawn"
            axes.set_xlabel(f"{axes.get_xlabel()}   ({not_drawn})")

    def _draw_leaf(self, axes: "Axes", y: float, leaf: int, area: float) -> None:
        is_weak = bool(self.flagged[leaf])
        colour = RED if is_weak else BLUE
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axes.annotate(
            self.label(leaf),
            (0, y + 0.42),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8.5,
            color=INK,
            bbox=behind,
            zorder=5,
        )
        axes.plot([self.low[leaf], self.high[leaf]], [y, y], color=colour, linewidth=2.2)
        dot: dict[str, Any] = {"s": area, "zorder": 3, "linewidth": 1.8, "clip_on": False}
        fill = "white" if is_weak else colour
        axes.scatter([self.probability[leaf]], [y], color=fill, edgecolor=colour, **dot)
        if self.stated is not None:
            x = float(self.stated[leaf])
            axes.plot([x, x], [y - 0.2, y + 0.2], color=INK, linewidth=2.4, zorder=4)
        levels = (percent(self.confidence[leaf], 0), percent(self.utility[leaf], 0))
        _write_beside(axes, y, (f"{self.n[leaf]:,.0f}", *levels), colour if is_weak else INK)


def _columns(table: "LeafTable | AuditedLeaves | AuditedBins") -> dict[str, Any]:
    """Return predictions, rows, probability with its interval, levels and flags."""
    names = ("n", "probability", "low", "high", "confidence", "utility", "flagged")
    columns = {name: getattr(table, name) for name in names}
    return {"predictions": [str(label) for label in table.prediction], **columns}


def _write_beside(axes: "Axes", y: float, texts: Sequence[str], colour: str) -> None:
    """Write the columns to the right of the axes."""
    place: Any = {"where": ("axes fraction", "data"), "annotation_clip": False}
    for text, points in zip(texts, _COLUMN_POSITIONS, strict=True):
        write(axes, text, (1, y), (points, 0), ha="right", va="center", color=colour, **place)


_MOST_SIZES = 60
_MOST_LABELS = 11


@dataclass(frozen=True, eq=False, repr=False)
class PruningDisplay(Display):
    """What each size along the cost-complexity path of a tree is worth, as `plotcp` of rpart.

    `alphas` are the penalties per leaf from which on the tree has each size, ascending, and `value`
    is the measure (accuracy or mean cost) on rows that did not grow the tree. `chosen` is the index
    of the size that the tree has; None if it is not one of the path.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> X = [[i % 10, i % 3] for i in range(90)]
    >>> y = [int(a > 4) ^ int(b == 0 and a % 2) for a, b in X]
    >>> display = PruningDisplay.from_estimator(TreeClassifier(random_state=0).fit(X, y))
    >>> display.n_leaves.tolist()[-1], len(display.alphas) == len(display.value)
    (1, True)
    """

    measure: str
    alphas: FloatArray
    n_leaves: NDArray[np.int64]
    value: FloatArray
    standard_error: FloatArray
    chosen: int | None
    source: str
    SIZE = (8.4, 4.8)

    @classmethod
    def from_estimator(cls, tree: "TreeClassifier", X: Any = None, y: Any = None) -> Self:
        """Create the display of a fitted tree.

        With rows that did not grow the tree, X and y, it is cut at the penalties of
        `cost_complexity_path` and scored on them. Without them, the cross-validation that chose
        the size is shown, `size_curve_`; this needs ``pruning="auto"``.
        """
        if X is not None:
            return cls._from_rows(tree, X, y)
        curve = tree.size_curve_
        if curve is None:
            raise InvalidArgumentError(
                "tree must be fitted with pruning='auto' and hold its rows, or X and y must be "
                f"given; got pruning={tree.pruning!r}. Give rows that did not grow the tree."
            )
        kept = _thinned(len(curve.alphas))
        n_leaves = curve.n_leaves[kept]
        same = np.flatnonzero(n_leaves == tree.get_n_leaves())
        return cls(
            "accuracy" if tree.cost is None else "mean cost",
            # The last penalty stands for any that leaves the root alone.
            np.append(curve.alphas[kept][:-1], np.inf),
            n_leaves,
            1 - curve.error[kept] if tree.cost is None else curve.error[kept],
            curve.standard_error[kept],
            int(same[0]) if len(same) else None,
            "by cross-validation",
        )

    @classmethod
    def _from_rows(cls, tree: "TreeClassifier", X: Any, y: Any) -> Self:
        path = tree.cost_complexity_path()
        kept = _thinned(len(path.alphas))
        alphas = path.alphas[kept]
        pruned = [tree.prune("cost_complexity", ccp_alpha=float(alpha)) for alpha in alphas]
        value = np.array([smaller.score(X, y) for smaller in pruned])
        error = np.sqrt(value * (1 - value) / len(y))
        return cls("accuracy", alphas, path.n_leaves[kept], value, error, 0, f"on {len(y):,} rows")

    def _heading(self) -> tuple[str, str]:
        subtitle = f"{self.measure} {self.source}; bars: one standard error"
        if self.chosen is not None:
            subtitle += f"; the tree has {self.n_leaves[self.chosen]:,} leaves"
        return "Sizes along the cost-complexity path", f"{subtitle[0].upper()}{subtitle[1:]}."

    def _draw(self, axes: "Axes") -> None:
        position = np.arange(len(self.alphas))
        low, high = self.value - self.standard_error, self.value + self.standard_error
        axes.vlines(position, low, high, color=BLUE, linewidth=1.4)
        axes.plot(position, self.value, "o-", color=BLUE, markersize=4.5, linewidth=1)
        if self.chosen is not None:
            axes.plot(self.chosen, self.value[self.chosen], "o", color=INK, markersize=9)
            axes.axvline(self.chosen, color=NOTE, linewidth=1, linestyle=(0, (2, 2)))
        labelled = _thinned(len(position), _MOST_LABELS)
        axes.set_xticks(
            position[labelled],
            [f"{self.n_leaves[i]:,}\n{self.alphas[i]:.2g}".replace("inf", "∞") for i in labelled],
            fontsize=8.5,
        )
        axes.set_xlabel("leaves, and below them the penalty per leaf")
        axes.set_ylabel(self.measure)


def _thinned(n: int, most: int = _MOST_SIZES) -> NDArray[np.intp]:
    """Return evenly spaced indices, with the first and the last."""
    return np.unique(np.rint(np.linspace(0, n - 1, min(n, most))).astype(np.intp))
