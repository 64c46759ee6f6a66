"""A tree drawn from left to right, each leaf with what it predicts and how sure it is."""

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.plots.display import COLOURS, GREY, INK, Display, percent
from sureleaf.tree.rules import branch_tests
from sureleaf.tree.structure import leaves_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sureleaf.estimators import TreeClassifier

__all__ = ["TreeDisplay"]


_MOST_ENDS = 24
_LETTER = 0.078
_GAP = 0.35
_LONGEST = 38


@dataclass(frozen=True, eq=False, repr=False)
class TreeDisplay(Display):
    """The nodes of a tree, where they are drawn and what stands at them.

    Parameters
    ----------
    node : ndarray of int
        Numbers of the nodes that are drawn, the root first.
    parent : ndarray of int
        Place of each one's parent among them; -1 for the root.
    depth : ndarray of int
        Tests on the way to it.
    height : ndarray of float64
        Ends at 0, -1, -2, ..., a node above between its branches.
    test : list of str
        The test that leads to it.
    is_end : ndarray of bool
        Leaves, and nodes whose branches are not drawn.
    hidden : ndarray of int
        Leaves below an end that are not drawn; 0 for leaves.
    prediction : list of str
    predicted : ndarray of int
        Code of the class predicted.
    n, probability, confidence, utility : ndarray of float64
        Rows and levels of each node.
    flagged : ndarray of bool
        Ends of less than the wanted confidence, or right less often than a tie.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> display = TreeDisplay.from_estimator(model)
    >>> display.test, display.height.tolist()
    (['', 'x0 <= 19', 'x0 > 19'], [-0.5, 0.0, -1.0])
    """

    node: NDArray[np.intp]
    parent: NDArray[np.intp]
    depth: NDArray[np.intp]
    height: NDArray[np.float64]
    test: list[str]
    is_end: NDArray[np.bool_]
    hidden: NDArray[np.intp]
    prediction: list[str]
    predicted: NDArray[np.intp]
    n: NDArray[np.float64]
    probability: NDArray[np.float64]
    confidence: NDArray[np.float64]
    utility: NDArray[np.float64]
    flagged: NDArray[np.bool_]

    @classmethod
    def from_estimator(
        cls, model: "TreeClassifier", *, max_depth: int | None = None, confidence: float = 0.95
    ) -> Self:
        """Take a fitted `TreeClassifier`.

        Parameters
        ----------
        model : TreeClassifier
            Fitted.
        max_depth : int, optional
            How deep to draw; by default as deep as keeps it to two dozen ends.
        confidence : float
            Leaves of less are marked.

        Returns
        -------
        TreeDisplay
        """
        tree, stated = model.tree_, model.complete_model().node_levels()
        deepest = _depth_to_draw(tree) if max_depth is None else max_depth
        node = np.flatnonzero(tree.node_depth <= deepest)
        is_end = tree.is_leaf[node] | (tree.node_depth[node] == deepest)
        place = np.full(tree.n_nodes, -1)
        place[node] = np.arange(len(node))
        parent = np.where(tree.parent[node] < 0, -1, place[tree.parent[node]])
        test = [""] * len(node)
        for inner in node[~is_end]:
            told = branch_tests(tree, int(inner), model.schema_.columns[tree.feature[inner]])
            for child, text in zip(tree.branches(int(inner)), told, strict=True):
                test[place[child]] = textwrap.shorten(text, _LONGEST, placeholder=" ...")
        n = tree.class_counts.sum(axis=1)
        weak = (stated.confidence < confidence) | stated.below | (n <= 0)
        return cls(
            node=node,
            parent=parent,
            depth=tree.node_depth[node],
            height=_heights(parent, is_end),
            test=test,
            is_end=is_end,
            hidden=np.where(tree.is_leaf[node], 0, _leaves_below(tree)[node]) * is_end,
            prediction=[str(label) for label in model.classes_[stated.predicted[node]]],
            predicted=stated.predicted[node],
            n=n[node],
            probability=stated.probability[node],
            confidence=stated.confidence[node],
            utility=stated.utility[node],
            flagged=weak[node] & is_end,
        )

    def end_text(self, place: int) -> str:
        """Tell what stands at an end: class, rows and levels."""
        told = (
            f"{self.prediction[place]}   {self.n[place]:,.0f} rows, right "
            f"{percent(self.utility[place])}, sure {percent(self.confidence[place])}"
        )
        if self.hidden[place]:
            told += f"   (+ {self.hidden[place]} leaves)"
        return told

    def _columns(self) -> NDArray[np.float64]:
        """Where each depth ends, in inches: as wide as its longest test."""
        widths = [0.0]
        for depth in range(1, int(self.depth.max()) + 1):
            longest = max(
                len(text) for text, at in zip(self.test, self.depth, strict=True) if at == depth
            )
            widths.append(_GAP + _LETTER * max(longest, 6))
        return np.cumsum(widths)

    def _size(self) -> tuple[float, float]:
        ends = np.flatnonzero(self.is_end)
        text = _LETTER * max(len(self.end_text(int(place))) for place in ends)
        width = float(self._columns()[-1]) + text + 0.8
        return max(width, 6.0), 1.2 + 0.42 * max(len(ends), 2)

    def _title(self) -> tuple[str, str]:
        n_leaves = int(self.is_end.sum() + np.maximum(self.hidden - 1, 0).sum())
        return (
            f"A tree of {leaves_in_words(n_leaves)}, grown on {self.n[0]:,.0f} rows",
            "Right: about unseen rows. Sure: of the majority class. Hollow: not to be trusted.",
        )

    def _draw(self, axes: "Axes") -> None:
        columns = self._columns()
        x = columns[self.depth]
        for place in range(1, len(self.node)):
            above = int(self.parent[place])
            self._draw_branch(axes, place, float(x[above]), float(x[place]), above)
        for end in np.flatnonzero(self.is_end).tolist():
            self._draw_end(axes, end, float(x[end]))
        inner = ~self.is_end
        axes.plot(x[inner], self.height[inner], "o", color=INK, markersize=4, zorder=3)
        width, _ = self._size()
        axes.set_xlim(-0.15, width - 0.5)
        axes.set_ylim(float(self.height.min()) - 0.6, 0.7)
        axes.set_axis_off()

    def _draw_branch(self, axes: "Axes", place: int, start: float, end: float, above: int) -> None:
        top, y = float(self.height[above]), float(self.height[place])
        width = 0.8 + 3.2 * float(np.sqrt(self.n[place] / max(self.n[0], 1e-9)))
        axes.plot(
            [start, start, end],
            [top, y, y],
            color=GREY,
            linewidth=width,
            solid_joinstyle="round",
            solid_capstyle="round",
            zorder=1,
        )
        axes.annotate(
            self.test[place],
            (start + 0.12, y),
            xytext=(0, 2.5 + width / 2),
            textcoords="offset points",
            fontsize=8.5,
            color=INK,
        )

    def _draw_end(self, axes: "Axes", place: int, x: float) -> None:
        colour = COLOURS[int(self.predicted[place]) % len(COLOURS)]
        weak = bool(self.flagged[place])
        axes.scatter(
            [x],
            [self.height[place]],
            s=70,
            color="white" if weak else colour,
            edgecolor=colour,
            linewidth=2,
            zorder=4,
        )
        axes.annotate(
            self.end_text(place),
            (x, self.height[place]),
            xytext=(9, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=colour,
            fontweight="normal" if weak else "bold",
        )


def _heights(parent: NDArray[np.intp], is_end: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Put ends one below the other in preorder, a node half-way between its outer branches."""
    height = np.full(len(parent), np.nan)
    height[is_end] = -np.arange(int(is_end.sum()))
    for place in range(len(parent) - 1, -1, -1):  # children come after their parent
        if not is_end[place]:
            own = height[parent == place]
            height[place] = (own.max() + own.min()) / 2
    return height


def _leaves_below(tree: Any) -> NDArray[np.intp]:
    below: NDArray[np.intp] = tree.is_leaf.astype(np.intp)
    for node in range(tree.n_nodes - 1, 0, -1):
        below[tree.parent[node]] += below[node]
    return below


def _depth_to_draw(tree: Any) -> int:
    deepest = int(tree.depth)
    while deepest > 1:
        depth = tree.node_depth
        ends = (depth == deepest) | (tree.is_leaf & (depth < deepest))
        if ends.sum() <= _MOST_ENDS:
            break
        deepest -= 1
    return deepest
