"""What all displays share: numbers first, then `plot`, as scikit-learn's displays have it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sureleaf.errors import MissingPackageError
from sureleaf.files.atomic_write import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "BLUE",
    "COLOURS",
    "GREEN",
    "GREY",
    "INK",
    "RED",
    "Display",
    "dress",
    "percent",
    "picture",
    "save",
]


# How every picture of Sureleaf looks: paper, pens, and files that come out the same each time.

# Told apart by people who do not see red and green, and in grey print (Okabe and Ito, 2008).
INK, BLUE, RED, GREEN, GREY = "#1b1b1b", "#0072b2", "#d55e00", "#009e73", "#9a9a9a"
COLOURS = (BLUE, RED, GREEN, "#cc79a7", "#8a6d00", "#56b4e9", INK)
"""For things that stand side by side, in this order."""


def picture(
    title: str, subtitle: str = "", *, width: float = 7.5, height: float = 4.6
) -> "tuple[Figure, Axes]":
    """Return an empty figure with one pair of axes, without touching matplotlib's state.

    Parameters
    ----------
    title, subtitle : str
        What is seen, and below it in grey how to read it.
    width, height : float
        In inches.

    Raises
    ------
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> figure, axes = picture("Levels")
    >>> axes.get_title(loc="left")
    'Levels'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError(
            "drawing needs matplotlib, which is not installed. "
            "Install it with: pip install matplotlib"
        ) from None
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.add_subplot()
    dress(axes, title, subtitle)
    return figure, axes


def dress(axes: "Axes", title: str, subtitle: str = "") -> None:
    """Give axes the title and the quiet frame that every picture has.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> axes = Figure().add_subplot()
    >>> dress(axes, "Levels", "by rows")
    >>> axes.get_title(loc="left")
    'Levels'
    """
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=28)
    axes.annotate(
        subtitle,
        (0, 1),
        xycoords="axes fraction",
        xytext=(0, 14),
        textcoords="offset points",
        fontsize=8.5,
        color="#5f5f5f",
    )
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, color=GREY)
    axes.grid(color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)


def save(figure: "Figure", directory: Path, name: str) -> Iterator[Path]:
    """Write a figure as SVG and PNG, and yield the two paths.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.suffix for path in save(picture("Levels")[0], Path(directory), "levels")]
    ['.svg', '.png']
    """
    import matplotlib

    directory.mkdir(parents=True, exist_ok=True)
    # Without a date and with fixed names inside, the same numbers give the same file.
    with matplotlib.rc_context({"svg.hashsalt": name}):
        for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
            path = directory / f"{name}{suffix}"
            with atomic_write(path) as file:
                figure.savefig(file, format=suffix[1:], dpi=160, metadata=metadata)
            yield path


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
    >>> from sureleaf.plots.display import picture
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
