"""The sizes along the cost-complexity path of a tree: accuracy, leaves and penalties."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import TreeClassifier
from sureleaf.plots.display import BLUE, INK, NOTE, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SIZES = 60
_MOST_LABELS = 11


@dataclass(frozen=True, eq=False, repr=False)
class PruningDisplay(Display):
    """What each size along the cost-complexity path of a tree is worth, as `plotcp` of rpart.

    Parameters
    ----------
    measure : {"accuracy", "mean cost"}
        What `value` is.
    alphas : ndarray of float64
        Penalty per leaf from which on the tree has each size, ascending.
    n_leaves : ndarray of int64
        Leaves of each size.
    value, standard_error : ndarray of float64
        The measure on rows that did not grow the tree, and its standard error.
    chosen : int or None
        Index of the size that the tree has; None if it is not one of the path.
    source : str
        Where the values come from, in words.

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
    def from_estimator(cls, tree: TreeClassifier, X: Any = None, y: Any = None) -> Self:
        """Create the display of a fitted tree.

        Parameters
        ----------
        tree : TreeClassifier
            Fitted.
        X, y : table and labels, optional
            Rows that did not grow the tree: the tree is cut at the penalties of
            `cost_complexity_path` and scored on them. Without them, the cross-validation that
            chose the size is shown, `size_curve_`; this needs ``pruning="auto"``.
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
    def _from_rows(cls, tree: TreeClassifier, X: Any, y: Any) -> Self:
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
            [f"{self.n_leaves[i]:,}\n{_penalty(float(self.alphas[i]))}" for i in labelled],
            fontsize=8.5,
        )
        axes.set_xlabel("leaves, and below them the penalty per leaf")
        axes.set_ylabel(self.measure)


def _penalty(alpha: float) -> str:
    return f"{alpha:.2g}" if np.isfinite(alpha) else "∞"


def _thinned(n: int, most: int = _MOST_SIZES) -> NDArray[np.intp]:
    """Return evenly spaced indices, with the first and the last."""
    return np.unique(np.rint(np.linspace(0, n - 1, min(n, most))).astype(np.intp))
