"""A tree drawn as SVG, from left to right, a leaf a line; no other program is needed."""

from dataclasses import dataclass
from html import escape
from typing import Any, Final
from unicodedata import east_asian_width

from sureleaf.exports.node_text import (
    NodeWords,
    class_colour,
    label_texts,
    node_words,
    shade,
    shortened,
)
from sureleaf.tree.structure import leaves_in_words

__all__ = ["TreeDrawing", "draw_tree", "to_svg"]


_SIZE: Final = 13.0
_SMALL: Final = 11.0
_LINE: Final = 34.0
_MARGIN: Final = 16.0
_PAD: Final = 9.0
_HEIGHTS: Final = {1: 24.0, 2: 30.0}
_GAP: Final = 26.0
_INK, _SOFT, _EDGE = "#1f2933", "#52606d", "#9aa5b1"


@dataclass(frozen=True)
class _Box:
    words: NodeWords
    left: float
    middle: float
    width: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def height(self) -> float:
        return _HEIGHTS[len(self.words.lines)]


@dataclass(frozen=True)
class TreeDrawing:
    """Where everything stands in a drawing of a tree.

    Parameters
    ----------
    boxes : tuple
        One a node, with its words, left end, middle height and width.
    labels : tuple of str
        The classes, for the legend.
    width, height : float
        Of the drawing.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> drawing = draw_tree(model)
    >>> [box.middle for box in drawing.boxes]
    [74.0, 57.0, 91.0]
    """

    boxes: tuple[_Box, ...]
    labels: tuple[str, ...]
    width: float
    height: float

    def svg(self) -> str:
        """Write the drawing as SVG."""
        n_leaves = sum(not box.words.children for box in self.boxes)
        told = f"Decision tree of {leaves_in_words(n_leaves)}"
        edges = [
            _edge(box, [self.boxes[child] for child in box.words.children])
            for box in self.boxes
            if box.words.children
        ]
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" '
                f'height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
                f'role="img" font-family="Helvetica, Arial, sans-serif" font-size="{_SIZE:g}">',
                f"<title>{told}</title>",
                f'<rect width="{self.width:.0f}" height="{self.height:.0f}" fill="#ffffff"/>',
                *_legend(self.labels),
                *edges,
                *(_drawn(box) for box in self.boxes),
                "</svg>\n",
            ]
        )


def to_svg(model: Any) -> str:
    """Draw a tree as SVG, from left to right.

    Parameters
    ----------
    model : TreeClassifier
        Fitted. Its levels are computed if they were not yet.

    Returns
    -------
    str
        A drawing that every browser shows. A leaf has the colour of the class that it predicts,
        paler the less probable that is, and tells its rows and how sure it is (the confidence);
        the whole rule shows when one points at it.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> to_svg(model).startswith("<svg")
    True
    """
    return draw_tree(model).svg()


def draw_tree(model: Any) -> TreeDrawing:
    """Find the place of every node: leaves on lines of their own, columns as wide as need be.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> draw_tree(TreeClassifier().fit([[1], [2]], ["no", "yes"])).labels
    ('no', 'yes')
    """
    words = node_words(model, "SVG")
    labels = tuple(label_texts(model.classes_))
    top = _MARGIN + 24.0 * (1 + _legend_places(labels)[-1][1])
    middle = _middles(words, top)
    depth = model.tree_.node_depth.tolist()
    widths = [max(map(_node_width, _at(words, depth, level))) for level in range(max(depth) + 1)]
    gaps = [
        _GAP + max(_text_width(node.branch, _SMALL) for node in _at(words, depth, level))
        for level in range(1, max(depth) + 1)
    ]
    left = [_MARGIN]
    for width, gap in zip(widths, gaps, strict=False):
        left.append(left[-1] + width + gap)
    boxes = tuple(
        _Box(node, left[level], middle[node.node], _node_width(node))
        for node, level in zip(words, depth, strict=True)
    )
    legend = max(
        x + _text_width(shortened(text), _SIZE) + 40
        for (x, _), text in zip(_legend_places(labels), labels, strict=True)
    )
    return TreeDrawing(
        boxes,
        labels,
        max(legend, max(box.right for box in boxes)) + _MARGIN,
        max(middle) + _LINE / 2 + _MARGIN,
    )


def _at(words: list[NodeWords], depth: list[int], level: int) -> list[NodeWords]:
    return [node for node, found in zip(words, depth, strict=True) if found == level]


def _middles(words: list[NodeWords], top: float) -> list[float]:
    """Put leaves below each other in their order, other nodes midway between their branches."""
    middle = [0.0] * len(words)
    n_leaves = 0
    for node in words:
        if not node.children:
            middle[node.node] = top + _LINE / 2 + _LINE * n_leaves
            n_leaves += 1
    for node in reversed(words):
        if node.children:
            middle[node.node] = (middle[node.children[0]] + middle[node.children[-1]]) / 2
    return middle


def _node_width(node: NodeWords) -> float:
    sizes = (_SIZE, _SMALL)
    return 2 * _PAD + max(
        _text_width(line, size) for line, size in zip(node.lines, sizes, strict=False)
    )


def _text_width(text: str, size: float) -> float:
    """Guess how wide text is, a little too wide rather than too narrow."""
    units = sum(1.0 if east_asian_width(letter) in "WF" else 0.57 for letter in text)
    return units * size


def _legend_places(labels: tuple[str, ...]) -> list[tuple[float, int]]:
    places, left, line = [], _MARGIN, 0
    for label in labels:
        width = _text_width(shortened(label), _SIZE) + 40
        if left > _MARGIN and left + width > 900:
            left, line = _MARGIN, line + 1
        places.append((left, line))
        left += width
    return places


def _legend(labels: tuple[str, ...]) -> list[str]:
    drawn = []
    for place, ((left, line), label) in enumerate(zip(_legend_places(labels), labels, strict=True)):
        y = _MARGIN + 24.0 * line
        drawn.append(
            f'<rect x="{left:.1f}" y="{y:.1f}" width="13" height="13" rx="3" '
            f'fill="{class_colour(place)}"/>'
            f'<text x="{left + 19:.1f}" y="{y + 11:.1f}" fill="{_INK}">'
            f"{_xml(shortened(label))}</text>"
        )
    return drawn


def _edge(box: _Box, children: list[_Box]) -> str:
    """Draw curves to the branches, each ending in a straight piece below the test's words."""
    words = max(_text_width(child.words.branch, _SMALL) for child in children)
    turn = children[0].left - words - 6.0
    bend = (turn - box.right) / 2
    return "\n".join(
        f'<path d="M{box.right:.1f} {box.middle:.1f} C{box.right + bend:.1f} {box.middle:.1f} '
        f'{turn - bend:.1f} {child.middle:.1f} {turn:.1f} {child.middle:.1f} H{child.left:.1f}" '
        f'fill="none" stroke="{_EDGE}"/>'
        f'<text x="{child.left - 4:.1f}" y="{child.middle - 4:.1f}" text-anchor="end" '
        f'font-size="{_SMALL:g}" fill="{_SOFT}">{_xml(child.words.branch)}</text>'
        for child in children
    )


def _drawn(box: _Box) -> str:
    words, is_leaf = box.words, not box.words.children
    fill = shade(words.predicted, words.strength) if is_leaf else "#ffffff"
    stroke = class_colour(words.predicted) if is_leaf else _EDGE
    centre = box.left + box.width / 2
    first, *second = words.lines
    y = box.middle + (-1.5 if second else 4.5)
    lines = f'<text x="{centre:.1f}" y="{y:.1f}" font-weight="bold">{_xml(first)}</text>'
    if second:
        lines += (
            f'<text x="{centre:.1f}" y="{box.middle + 11:.1f}" font-size="{_SMALL:g}">'
            f"{_xml(second[0])}</text>"
        )
    return (
        f'<g text-anchor="middle" fill="{_INK}"><title>{_xml(words.told)}</title>'
        f'<rect x="{box.left:.1f}" y="{box.middle - box.height / 2:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="5" fill="{fill}" stroke="{stroke}"/>{lines}</g>'
    )


def _xml(text: str) -> str:
    """Escape text, and leave out what XML cannot hold."""
    return escape("".join(letter if letter.isprintable() else " " for letter in text))
