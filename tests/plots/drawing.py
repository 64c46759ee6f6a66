"""Draw displays in tests, and check that their texts do not overlap."""

import itertools

from matplotlib.figure import Figure
from matplotlib.text import Text

from sureleaf.plots import Display


def drawn(display: Display) -> Display:
    """Draw into a figure of the display's own size that pyplot does not manage."""
    figure = Figure(figsize=display.figure_size(), layout="constrained")
    display.plot(ax=figure.add_subplot())
    assert display.figure_ is figure
    figure.draw_without_rendering()
    return display


def assert_texts_do_not_overlap(display: Display) -> None:
    """No two texts of the plot overlap, and none leaves the figure."""
    figure = display.figure_
    renderer = figure._get_renderer()
    shown = [text for text in display.ax_.texts if text.get_text().strip()]
    boxes = [Text.get_window_extent(text, renderer) for text in shown]  # without its arrow
    for (a, one), (b, two) in itertools.combinations(zip(shown, boxes, strict=True), 2):
        wide = min(one.x1, two.x1) - max(one.x0, two.x0)
        high = min(one.y1, two.y1) - max(one.y0, two.y0)
        assert wide <= 1 or high <= 1, (a.get_text(), b.get_text())
    for text, box in zip(shown, boxes, strict=True):
        assert box.x1 <= figure.bbox.x1 + 1, text.get_text()
