"""Confidence and utility of competing splits, by the number of rows.

These are Figures 1 and 2 of the reference, for a model or table of the user. Equation numbers are
those of the reference.

References
----------
Zhang, Z. (2024). Levels of Confidence and Utility for Binary Classifiers. Stats 7(4), 1209-1225.
https://doi.org/10.3390/stats7040071
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sureleaf.arguments import FloatArray, check_choice
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import TreeClassifier, rank_columns
from sureleaf.levels.competing_splits import (
    CandidateSplit,
    Level,
    best_splits,
    checked_split,
    crossings,
    split_levels,
    unsplit_p_max,
)
from sureleaf.plots.display import COLOURS, GREY, INK, NOTE, Display, rows_axis, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_EVERY_ROW = 400
"""Up to so many rows, each number of them is drawn."""
_POINTS = 120
_LINE_STYLES: tuple[Any, ...] = ((0, (5, 2)), (0, (1, 1.4)), (0, (7, 2, 1.5, 2)), "-", (0, (9, 2)))


@dataclass(frozen=True, eq=False, repr=False)
class LevelsDisplay(Display):
    """A level of competing splits, by the number of rows of the tree.

    `curves` are the levels, (10) or (11), of each split at the numbers of rows `n`; `n_now` is the
    current number of rows, if there is one.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> X = [[i % 10, i % 3] for i in range(90)]
    >>> y = [int(a > 4) ^ int(b == 0 and a % 2) for a, b in X]
    >>> model = TreeClassifier(levels_from="training").fit(X, y)
    >>> display = LevelsDisplay.from_estimator(model, level="utility")
    >>> list(display.curves)[0]
    'no split'
    """

    level: Level
    n: FloatArray
    curves: dict[str, FloatArray]
    n_now: float | None
    source: str
    SIZE = (8.4, 4.8)

    @classmethod
    def from_estimator(
        cls, model: TreeClassifier, *, level: Level = "utility", n_max: float | None = None
    ) -> Self:
        """Compare a fitted tree of two classes with the same tree cut at smaller depths.

        The largest number of rows is four times the current number by default.
        """
        _check(level, model)
        levels, tree = model.complete_model().node_levels(), model.model_.tree
        weight, deepest = tree.class_counts.sum(axis=1), tree.depth
        splits = {}
        for depth in sorted({*range(min(deepest, 4)), deepest}):
            ends = (tree.node_depth == depth) | (tree.is_leaf & (tree.node_depth < depth))
            nodes = np.flatnonzero(ends & (weight > 0))
            whole = "whole tree" if depth == deepest and depth > 1 else f"depth {depth}"
            name = f"{whole}, {len(nodes)} leaves" if depth else "no split"
            splits[name] = _candidate(weight[nodes], levels.probability[nodes])
        source, n_now = "a tree and the same tree cut at smaller depths", float(weight[0])
        return cls._from_splits(splits, level, n_now, n_max or 4 * n_now, source)

    @classmethod
    def from_columns(
        cls,
        X: Any,
        y: Any,
        *,
        columns: Sequence[str] | None = None,
        levels_from: str = "cross_fit",
        level: Level = "utility",
        n_max: float | None = None,
    ) -> Self:
        """Compare single splits on columns; by default no split and the four best columns.

        `levels_from` says where p_max of the branches comes from: out-of-fold predictions
        ("cross_fit"), or the training rows ("training"), as in Example 3.
        """
        names = [str(name) for name in rank_columns(X, y, levels_from=levels_from).column]
        chosen = names[:4] if columns is None else list(columns)
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise InvalidArgumentError(
                f"columns must be names of columns of X; got {unknown[0]!r}. X has: "
                f"{', '.join(names[:12])}."
            )
        root = TreeClassifier.c45(max_depth=0).fit(X, y)
        _check(level, root)
        n_rows = float(root.leaf_counts_.n.sum())
        share = float(root.leaf_counts_.counts.max() / n_rows)
        splits = {"no split": checked_split([1.0], [share])}
        for name in chosen:
            leaves = _split_on(name, X, y, root, levels_from).leaves()
            has_rows = leaves.n > 0
            splits[name] = _candidate(leaves.n[has_rows], leaves.probability[has_rows])
        source = "one split on a column"
        if levels_from == "training":
            source += ", by its training rows"
        return cls._from_splits(splits, level, n_rows, n_max or 4 * n_rows, source)

    @classmethod
    def from_splits(
        cls,
        splits: Mapping[str, Sequence[tuple[float, float]]],
        *,
        p_max: float | None = None,
        level: Level = "utility",
        n_max: float = 200,
        n_now: float | None = None,
    ) -> Self:
        """Compare splits of your own, given by share and p_max of their nodes, with no split.

        `sureleaf plan --split` gives the same figures as a table.

        Parameters
        ----------
        p_max : float, optional
            That of the node without a split; by default the smallest one that all splits allow.
        n_now : float, optional
            The current number of rows, which is marked; by default the crossings are.

        Examples
        --------
        Figure 2 of the reference:

        >>> from sureleaf.plots import LevelsDisplay
        >>> display = LevelsDisplay.from_splits(
        ...     {"A": [(0.9, 0.75), (0.1, 0.75)], "B": [(0.2, 0.75), (0.8, 0.6875)]}
        ... )
        >>> display.best()
        [(1, 'no split'), (2, 'A')]
        """
        check_choice("level", level, ("confidence", "utility"))
        made = {name: checked_split(*zip(*nodes, strict=True)) for name, nodes in splits.items()}
        whole = unsplit_p_max(list(made.values()))[0] if p_max is None else p_max
        named = {"no split": checked_split([1.0], [whole]), **made}
        return cls._from_splits(
            named, level, n_now, n_max, f"splits of a node of p_max {whole:.4g}"
        )

    @classmethod
    def _from_splits(
        cls,
        splits: dict[str, CandidateSplit],
        level: Level,
        n_now: float | None,
        n_max: float,
        source: str,
    ) -> Self:
        largest = max(n_max, 10)
        if largest <= _EVERY_ROW:
            n = np.arange(1.0, largest + 1)
        else:
            n = np.rint(np.geomspace(1, largest, _POINTS))
            # By (5) an even number of rows gives a node the level of one row less.
            n = np.unique(n + (n % 2 == 0))
        curves = zip(splits, split_levels(level, n, splits.values()), strict=True)
        return cls(level, n, dict(curves), n_now, source)

    def best(self) -> list[tuple[int, str]]:
        """Return the split with the highest level, and from how many rows on, ascending from 1."""
        names, values = self._table()
        return [(rows, names[split]) for rows, split in best_splits(self.n, values)]

    def crossings(self) -> list[tuple[int, str, str]]:
        """Return (rows, above, below): from how many rows on one curve is above another for good.

        There is one entry for each pair of curves that cross.
        """
        names, values = self._table()
        return [
            (rows, names[above], names[below]) for rows, above, below in crossings(self.n, values)
        ]

    def _table(self) -> tuple[list[str], FloatArray]:
        return list(self.curves), np.array(list(self.curves.values()))

    def _heading(self) -> tuple[str, str]:
        start, name = self.best()[-1]
        best = f"highest: {name}" if start <= 1 else f"highest from {start:,.0f} rows on: {name}"
        return f"Level of {self.level} by rows", f"{self.source.capitalize()}; {best}."

    def _draw(self, axes: "Axes") -> None:
        ends = []
        for index, (name, curve) in enumerate(self.curves.items()):
            colour = INK if index == 0 else COLOURS[(index - 1) % (len(COLOURS) - 1)]
            style = "-" if index == 0 else _LINE_STYLES[(index - 1) % len(_LINE_STYLES)]
            width = 2.8 if index == 0 else 2.0
            axes.plot(self.n, curve, color=colour, linestyle=style, linewidth=width, label=name)
            ends.append((float(curve[-1]), name, colour))
        _, values = self._table()
        low, high = float(values.min()), float(values.max())
        margin = 0.06 * (high - low)
        axes.set_ylim(low - margin, high + margin)
        if len(self.n) < self.n[-1]:
            rows_axis(axes, "rows of the tree")
        axes.set_xlabel("rows of the tree")
        axes.set_xlim(1, float(self.n[-1]))
        if self.n_now is None:
            for rows, above, _ in self.crossings():
                self._mark_crossing(axes, rows, above)
        elif self.n_now <= self.n[-1]:
            axes.axvline(self.n_now, color=GREY, linewidth=1, linestyle=(0, (2, 2)))
            text, place = f"{self.n_now:,.0f} rows now ", (self.n_now, 0)
            how: dict[str, Any] = {"ha": "right", "fontsize": 8.5, "color": NOTE}
            write(axes, text, place, (-3, 5), where=("data", "axes fraction"), **how)
        _name_ends(axes, ends)
        axes.set_ylabel(f"level of {self.level}")

    def _mark_crossing(self, axes: "Axes", rows: int, above: str) -> None:
        """Mark where a curve gets above another, in the colour of the upper one."""
        height = float(np.interp(rows, self.n, self.curves[above]))
        colour = next(line.get_color() for line in axes.lines if line.get_label() == above)
        axes.plot(rows, height, "o", color=colour, markersize=5, zorder=3)
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        place = (rows, height)
        write(axes, f"n = {rows:,}", place, (12, -14), fontsize=8.5, color=colour, bbox=behind)


def _name_ends(axes: "Axes", ends: list[tuple[float, str, str]]) -> None:
    """Write the name of each curve at its right end, without overlaps."""
    low, high = axes.get_ylim()
    apart = (high - low) * 0.062
    ordered = sorted(ends, reverse=True)
    heights: list[float] = []
    for end, _, _ in ordered:
        heights.append(min(end, heights[-1] - apart) if heights else end)
    lift = max(0.0, low + apart / 2 - heights[-1])  # keeps the last name inside the frame
    line = {"arrowstyle": "-", "linewidth": 0.8, "relpos": (0, 0.5), "shrinkA": 0, "shrinkB": 0}
    for height, (end, name, colour) in zip(heights, ordered, strict=True):
        axes.annotate(
            name,
            (1, end),
            xycoords=("axes fraction", "data"),
            xytext=(1.03, height + lift),
            textcoords=("axes fraction", "data"),
            va="center",
            fontsize=9.5,
            color=colour,
            arrowprops=line | {"color": colour},
            annotation_clip=False,
        )


def _candidate(rows: FloatArray, probability: FloatArray) -> CandidateSplit:
    """Return a split by the rows of its nodes and what their predicted class is worth."""
    return CandidateSplit(tuple(rows / rows.sum()), tuple(np.maximum(probability, 0.5)))


def _check(level: str, model: Any) -> None:
    check_choice("level", level, ("confidence", "utility"))
    if len(model.classes_) != 2:
        raise InvalidArgumentError(
            f"model must have two classes for levels by rows, equations (10) and (11); got "
            f"{len(model.classes_)} classes. Merge classes, or use LeavesDisplay."
        )


def _split_on(name: str, X: Any, y: Any, root: TreeClassifier, levels_from: str) -> TreeClassifier:
    """Fit a tree with one split on a column; `root` has the names of all columns."""
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    index = [column.name for column in root.schema_.columns].index(name)
    if isinstance(frame, nw.DataFrame):
        column = frame.select(frame.columns[index]).to_native()
    else:
        column = [[row[index]] for row in np.asarray(X, dtype=object)]
    model = TreeClassifier.c45(
        max_depth=1, pruning=None, collapse=False, levels_from=levels_from, random_state=0
    )
    return model.fit(column, y)
