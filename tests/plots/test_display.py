"""How displays are drawn and saved."""

import sys
from pathlib import Path

import pytest

from sureleaf import MissingPackageError, plots
from sureleaf.plots.display import new_axes, save


def test_without_axes_a_figure_of_pyplot_is_made(model):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    display = plots.LeavesDisplay.from_estimator(model).plot()
    assert pyplot.fignum_exists(display.figure_.number)
    pyplot.close(display.figure_)


def test_without_matplotlib_the_numbers_are_there_and_plot_has_the_pip_line(model, monkeypatch):
    display = plots.TreeDisplay.from_estimator(model)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install matplotlib"):
        display.plot()


def test_a_title_of_ones_own_takes_the_place_of_the_displays(model):
    from matplotlib.figure import Figure

    def texts(title):
        display = plots.TreeDisplay.from_estimator(model)
        axes = display.plot(ax=Figure().add_subplot(), title=title).ax_
        return axes.get_title(loc="left"), axes.texts[0].get_text()

    own, subtitle = texts(None)
    assert own
    assert texts("Mine") == ("Mine", subtitle)
    assert texts("") == ("", "")


def test_a_display_that_is_not_drawn_says_how_to_draw_it(model):
    with pytest.raises(AttributeError, match=r"figure_ before it is drawn\. Call plot"):
        _ = plots.TreeDisplay.from_estimator(model).figure_


def test_the_same_picture_gives_the_same_files(tmp_path: Path) -> None:
    def drawn(directory: Path) -> list[bytes]:
        figure, axes = new_axes("Levels", "by n")
        axes.plot([1, 2], [0.5, 0.7])
        return [path.read_bytes() for path in save(figure, directory, "levels")]

    assert drawn(tmp_path / "one") == drawn(tmp_path / "two")


def test_drawing_leaves_matplotlib_as_it_was(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    list(save(new_axes("Levels")[0], tmp_path, "levels"))
    assert dict(matplotlib.rcParams) == before
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )
