"""The base class of all displays, and the style and files of their figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from sureleaf.arguments import FloatArray
from sureleaf.errors import optional_library
from sureleaf.files.atomic_write import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable with colour blindness and in grey print (Okabe and Ito, 2008, Color Universal
# Design).
INK, BLUE, RED, GREEN, GREY = "#1b1b1b", "#0072b2", "#d55e00", "#009e73", "#9a9a9a"
NOTE = "#5f5f5f"
COLOURS = (BLUE, RED, GREEN, "#cc79a7", "#8a6d00", "#56b4e9", INK)
"""Colours of curves or classes in one figure, in this order."""


class Display:
    """A result object with the numbers of a figure, and a method that draws it.

    Subclasses are frozen dataclasses. They define `_heading` and `_draw`, and `SIZE` or
    `figure_size` if they need another size. `plot` sets `ax_`, where it has drawn, and `figure_`.

    Examples
    --------
    >>> from sureleaf.plots import Display
    >>> class Dot(Display):
    ...     def _heading(self):
    ...         return "A dot", "at the origin"
    ...
    ...     def _draw(self, axes):
    ...         axes.plot([0], [0], "o")
    >>> Dot()
    Dot(A dot)
    >>> from matplotlib.figure import Figure
    >>> len(Dot().plot(ax=Figure().add_subplot()).ax_.lines)
    1
    """

    SIZE: ClassVar[tuple[float, float]] = (7.5, 4.6)
    ax_: "Axes"
    figure_: "Figure"

    def plot(self, ax: "Axes | None" = None, *, title: str | None = None) -> Self:
        """Draw the display into these axes, by default of a new pyplot figure, and return it.

        A title is used in place of the display's own; an empty text leaves out the subtitle, too.
        """
        axes = self._new_pyplot_axes() if ax is None else ax
        own_title, subtitle = self._heading()
        style_axes(axes, own_title if title is None else title, "" if title == "" else subtitle)
        self._draw(axes)
        # The numbers are frozen; the axes are not part of them.
        object.__setattr__(self, "ax_", axes)
        object.__setattr__(self, "figure_", axes.figure)
        return self

    def __getattr__(self, name: str) -> Any:
        hint = " before it is drawn. Call plot() first." if name in ("ax_", "figure_") else "."
        raise AttributeError(f"{type(self).__name__} has no {name}{hint}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._heading()[0]})"

    def figure_size(self) -> tuple[float, float]:
        """Return width and height in inches."""
        return self.SIZE

    def _heading(self) -> tuple[str, str]:
        """Return the title, and a subtitle that says how to read the figure."""
        raise NotImplementedError

    def _draw(self, axes: "Axes") -> None:
        """Draw the numbers into axes that already have the title."""
        raise NotImplementedError

    def _new_pyplot_axes(self) -> "Axes":
        make = optional_library("matplotlib.pyplot", needed=_NEEDED).figure
        figure = make(figsize=self.figure_size(), layout="constrained", facecolor="white")
        return cast("Axes", figure.add_subplot())


_NEEDED = "to draw plots"


def new_figure(width: float = 7.5, height: float = 4.6) -> "Figure":
    """Return an empty figure that pyplot does not manage; sizes are in inches."""
    make = optional_library("matplotlib.figure", needed=_NEEDED).Figure
    return cast("Figure", make(figsize=(width, height), layout="constrained", facecolor="white"))


def new_axes(title: str, subtitle: str = "") -> "tuple[Figure, Axes]":
    """Return a new figure with styled axes."""
    figure = new_figure()
    axes = figure.add_subplot()
    style_axes(axes, title, subtitle)
    return figure, axes


def style_axes(axes: "Axes", title: str, subtitle: str = "") -> None:
    """Set title, subtitle, frame and grid."""
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold", color=INK, pad=28)
    write(axes, subtitle, (0, 1), (0, 14), where="axes fraction", fontsize=8.5, color=NOTE)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(colors=INK, color=GREY)
    axes.grid(color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)


def write(
    axes: "Axes",
    text: str,
    at: tuple[Any, Any],
    offset: tuple[float, float] = (0, 0),
    *,
    where: Any = "data",
    fontsize: float = 9,
    **style: Any,
) -> None:
    """Write text at a place, moved by an offset in points; `where` says what the place counts."""
    axes.annotate(
        text,
        at,
        xycoords=where,
        xytext=offset,
        textcoords="offset points",
        fontsize=fontsize,
        **style,
    )


def rows_axis(axes: "Axes", label: str) -> None:
    """Make the horizontal axis one of numbers of rows, on a logarithmic scale."""
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.xaxis.set_minor_formatter(lambda value, _: "")
    axes.set_xlabel(label)


def unit_square(axes: "Axes", x: str, y: str, low: float = 0.0) -> None:
    """Show shares on both axes, up to 1, at the same scale."""
    axes.set_xlim(low - 0.01, 1.01)
    axes.set_ylim(low - 0.01, 1.01)
    axes.set_aspect("equal")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def names_axis(axes: "Axes", heights: FloatArray, names: Sequence[str]) -> None:
    """Name lines at these heights at the left, without ticks and a grid."""
    axes.set_yticks(heights, names)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def save(figure: "Figure", directory: Path, name: str) -> Iterator[Path]:
    """Write a figure as SVG and PNG, and yield the two paths."""
    import matplotlib

    directory.mkdir(parents=True, exist_ok=True)
    # Without a date and with fixed identifiers, the same numbers give the same file.
    with matplotlib.rc_context({"svg.hashsalt": name}):
        for suffix, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
            path = directory / f"{name}{suffix}"
            with atomic_write(path) as file:
                figure.savefig(file, format=suffix[1:], dpi=160, metadata=metadata)
            yield path
