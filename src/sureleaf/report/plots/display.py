"""What all displays share: numbers first, then `plot`, as scikit-learn's displays have it."""

from typing import TYPE_CHECKING, Any, Self

from sureleaf.errors import MissingPackageError
from sureleaf.report.picture import dress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Display", "percent"]


class Display:
    """Base of frozen dataclasses that hold the numbers of a plot and draw it.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Where it was drawn; there after `plot`.
    figure_ : matplotlib.figure.Figure
        The figure of these axes.

    Examples
    --------
    >>> from sureleaf.report.picture import picture
    >>> class Dot(Display):
    ...     def _title(self):
    ...         return "A dot", ""
    ...
    ...     def _draw(self, axes):
    ...         axes.plot([0], [0], "o")
    >>> len(Dot().plot(ax=picture("")[1]).ax_.lines)
    1
    """

    ax_: "Axes"
    figure_: "Figure"

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default a new figure of pyplot.

        Returns
        -------
        Display
            Itself, with `ax_` and `figure_`.
        """
        axes = self._new_axes() if ax is None else ax
        dress(axes, *self._title())
        self._draw(axes)
        # The numbers are frozen; where they were drawn is no part of them.
        object.__setattr__(self, "ax_", axes)
        object.__setattr__(self, "figure_", axes.figure)
        return self

    def _new_axes(self) -> "Axes":
        try:
            from matplotlib import pyplot
        except ImportError:
            raise MissingPackageError(
                "plots need matplotlib, which is not installed. "
                "Install it with: pip install matplotlib"
            ) from None
        figure = pyplot.figure(figsize=self._size(), layout="constrained", facecolor="white")
        return figure.add_subplot()

    def _size(self) -> tuple[float, float]:
        """Width and height in inches."""
        return 7.5, 4.6

    def _title(self) -> tuple[str, str]:
        raise NotImplementedError

    def _draw(self, axes: Any) -> None:
        raise NotImplementedError


def percent(share: float) -> str:
    """Write a share in per cent as short as it is told.

    Examples
    --------
    >>> percent(0.954), percent(1.0)
    ('95 %', '100 %')
    """
    return f"{100 * share:.0f} %"
