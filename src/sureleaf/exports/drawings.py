"""Drawings of a tree: as SVG, which needs no other program, and as DOT for Graphviz.

Both draw the tree from left to right. `NodeText` holds what they write at each node.
"""

from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from typing import Any, Final
from unicodedata import east_asian_width

import numpy as np
from numpy.typing import NDArray

from sureleaf.exports.tree_view import (
    NodeTest,
    TreeView,
    label_texts,
    printable,
    single_tree,
    view_tree,
)
from sureleaf.formatting import percent
from sureleaf.model.node_levels import NodeLevels
from sureleaf.table import Column
from sureleaf.tree import Tree
from sureleaf.tree.routing import add_to_parents
from sureleaf.tree.rules import OR_MISSING, branch_tests
from sureleaf.tree.structure import leaves_in_words

# ---- texts and colours of nodes ------------------------------------------------------------------

_LONGEST: Final = 28


@dataclass(frozen=True)
class NodeText:
    """What a drawing writes at a node."""

    node: int
    children: tuple[int, ...]  # the nodes of its branches; empty for a leaf
    branch: str  # the test that leads here, without the column: "≤ 2.45"; "" for the root
    lines: tuple[str, ...]  # the tested column, or the prediction and what is known about it
    tooltip: str  # the complete text
    predicted: int  # index of the predicted class
    strength: float  # position of its probability between chance (0) and certainty (1)
    flagged: bool = False  # a leaf that is not to be relied on, as `leaves()` says


def node_texts(estimator: Any, form: str, *, computes_levels: bool = True) -> list[NodeText]:
    """Return the text of each node, by node number.

    Levels that are not known yet are computed, or left out.
    """
    view = view_tree(estimator, form)
    complete = estimator.complete_model() if computes_levels else estimator.model_
    levels = complete.node_levels() if complete.has_levels else None
    labels = label_texts(view.model.classes)
    table = complete.leaves() if levels is not None else None
    flagged = set() if table is None else set(table.leaf[table.flagged].tolist())
    branches = {
        child: _branch_text(view, node, branch) or "none"
        for node, test in view.tests.items()
        for branch, child in enumerate(test.children)
    }
    texts = []
    for node in range(view.model.tree.n_nodes):
        test = view.tests.get(node)
        predicted = int(view.model.predicted_classes[node])
        if test is None:
            lines, tooltip = _leaf_text(view, node, labels, levels)
            tooltip += "; flagged: do not rely on it" if node in flagged else ""
        else:
            column = view.column(test)
            lines = (_shortened(column.name),)
            tests = " | ".join(branch_tests(view.model.tree, node, column))
            rows = _rows_text(float(view.model.tree.class_counts[node].sum()))
            tooltip = f"{column.name}: {tests}; {rows}"
        texts.append(
            NodeText(
                node,
                () if test is None else test.children,
                branches.get(node, ""),
                lines,
                tooltip,
                predicted,
                _strength(float(view.model.probabilities[node, predicted]), len(labels)),
                node in flagged,
            )
        )
    return texts


def _leaf_text(
    view: TreeView, node: int, labels: list[str], levels: NodeLevels | None
) -> tuple[tuple[str, ...], str]:
    counts = view.model.tree.class_counts[node]
    predicted = int(view.model.predicted_classes[node])
    probability = percent(float(view.model.probabilities[node, predicted]), 0)
    rows = _rows_text(float(counts.sum()))
    present = ", ".join(
        f"{label} {count:g}"
        for label, count in zip(labels, np.round(counts, 2).tolist(), strict=True)
        if count > 0
    )
    tooltip = f"{view.rules[node]}: {labels[predicted]} {probability}, {rows}"
    tooltip += f" ({present})" if present else ""
    second = rows
    if levels is not None:
        confidence = f", confidence {_level_text(levels.confidence[node])}"
        second += confidence
        paper = " by Zhang (2024)" if view.model.evidence.source == "training" else ""
        tooltip += f"{confidence}{paper}, utility {_level_text(levels.utility[node])}"
    return (f"{_shortened(labels[predicted])} {probability}", second), tooltip


def _branch_text(view: TreeView, node: int, branch: int) -> str:
    test = view.tests[node]
    tree, column = view.model.tree, view.column(test)
    if tree.tests_missing(node):
        return "known" if branch == 0 else "missing"
    text = _known_branch_text(column, test, branch)
    if branch != test.missing_branch:
        return text
    if not text:
        return "missing"
    is_mentioned = column.has_missing and tree.missing_arrives[node]
    return f"{text}{OR_MISSING}" if is_mentioned else text


def _known_branch_text(column: Column, test: NodeTest, branch: int) -> str:
    """Return which known values take the branch; "" if none does."""
    sign = "≤" if branch == 0 else ">"
    if test.threshold is not None:
        is_date = column.kind == "date"
        return f"{sign} {column.render(test.threshold) if is_date else f'{test.threshold:.6g}'}"
    if column.kind == "ordered":
        last = column.categories[test.codes[0][-1]] if test.codes[0] else "the first"
        return _shortened(f"{sign} {last}")
    categories = [str(column.categories[code]) for code in test.codes[branch]]
    if len(categories) == 1:
        return _shortened(f"= {categories[0]}")
    return _shortened(" | ".join(categories))


def _shortened(text: str) -> str:
    line = printable(text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _level_text(value: float) -> str:
    """Round a level, but never up to certainty."""
    return ">0.99" if 0.995 <= value < 1.0 else f"{value:.2f}"


def _rows_text(n: float) -> str:
    number = f"{n:.0f}" if n == round(n) else f"{n:.1f}"
    return f"{number} {'row' if n == 1 else 'rows'}"


def _strength(probability: float, n_classes: int) -> float:
    chance = 1.0 / n_classes
    return 1.0 if n_classes == 1 else min(1.0, max(0.0, (probability - chance) / (1.0 - chance)))


# Distinguishable with colour blindness (Okabe and Ito, 2008, Color Universal Design).
_COLOURS: Final = (
    (0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167),
    (86, 180, 233), (213, 94, 0), (180, 170, 40), (120, 120, 120),
)  # fmt: skip
_PALEST, _STRONGEST = 0.12, 0.60


def _class_colour(class_index: int) -> str:
    return "#{:02x}{:02x}{:02x}".format(*_COLOURS[class_index % len(_COLOURS)])


def _leaf_colour(text: NodeText) -> str:
    """Return the colour of the predicted class, paler with less strength, for dark letters."""
    amount = _PALEST + (_STRONGEST - _PALEST) * text.strength
    colour = _COLOURS[text.predicted % len(_COLOURS)]
    return "#{:02x}{:02x}{:02x}".format(*(round(255 + (v - 255) * amount) for v in colour))


# ---- DOT -----------------------------------------------------------------------------------------


def to_dot(model: Any) -> str:
    """Write a fitted tree as a DOT graph, for `dot -Tsvg` and similar programs.

    Leaves are coloured by class and probability, and dashed if they are flagged; the rule of a node
    is its tooltip.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier.c45().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> for line in to_dot(model).splitlines()[-3:]:
    ...     print(line)
      n0 -> n1 [label="≤ 2"];
      n0 -> n2 [label="> 2"];
    }
    """
    texts = node_texts(model, "DOT")
    lines = [
        "digraph tree {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor="#ffffff", fontname="Helvetica"];',
        '  edge [fontname="Helvetica"];',
        *(_dot_node(text) for text in texts),
        *(
            f'  n{text.node} -> n{child} [label="{_dot_escape(texts[child].branch)}"];'
            for text in texts
            for child in text.children
        ),
        "}",
    ]
    return "\n".join(lines)


def _dot_node(text: NodeText) -> str:
    label = "\\n".join(_dot_escape(line) for line in text.lines)
    tooltip = _dot_escape(text.tooltip)
    colour = "" if text.children else f', fillcolor="{_leaf_colour(text)}"'
    colour += ', style="rounded,filled,dashed"' if text.flagged else ""
    return f'  n{text.node} [label="{label}", tooltip="{tooltip}"{colour}];'


_LONGEST_DOT: Final = 2_000
"""Graphviz refuses text of more than 16,384 bytes."""


def _dot_escape(text: str) -> str:
    line = printable(text)
    if len(line) > _LONGEST_DOT:
        line = line[: _LONGEST_DOT - 1] + "…"
    return line.replace("\\", "\\\\").replace('"', '\\"')


# ---- SVG -----------------------------------------------------------------------------------------

_FONT: Final = 13.0
_SMALL_FONT: Final = 11.0
_LINE: Final = 34.0
_LEGEND_LINE: Final = 24.0
_LEGEND_WIDTH: Final = 900.0
_MARGIN: Final = 16.0
_PADDING: Final = 9.0
_SIGN: Final = 12.0
_BOX_HEIGHTS: Final = {1: 24.0, 2: 30.0}
_GAP: Final = 26.0
_INK, _SOFT, _EDGE, _WARN = "#1f2933", "#52606d", "#9aa5b1", "#8a4b00"


@dataclass(frozen=True)
class _Box:
    """The box of a node: its text, left end, middle height and width."""

    text: NodeText
    left: float
    middle: float
    width: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def height(self) -> float:
        return _BOX_HEIGHTS[len(self.text.lines)]


@dataclass(frozen=True)
class TreeDrawing:
    """The layout of a drawing of a tree."""

    boxes: tuple[_Box, ...]  # one per node
    legend: tuple[tuple[str, float, int], ...]  # of each class: its label, left end and line
    width: float
    height: float

    def svg(self) -> str:
        """Write the drawing as SVG."""
        n_leaves = sum(not box.text.children for box in self.boxes)
        edges = [
            _svg_edges(box, [self.boxes[child] for child in box.text.children])
            for box in self.boxes
            if box.text.children
        ]
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" '
                f'height="{self.height:.0f}" viewBox="0 0 {self.width:.0f} {self.height:.0f}" '
                f'role="img" font-family="Helvetica, Arial, sans-serif" font-size="{_FONT:g}">',
                f"<title>Decision tree of {leaves_in_words(n_leaves)}</title>",
                f'<rect width="{self.width:.0f}" height="{self.height:.0f}" fill="#ffffff"/>',
                *(_svg_class(index, *entry) for index, entry in enumerate(self.legend)),
                *edges,
                *(_svg_box(box) for box in self.boxes),
                "</svg>\n",
            ]
        )


def to_svg(model: Any, *, max_leaves: int | None = None, computes_levels: bool = True) -> str:
    """Draw a fitted tree as SVG, from left to right.

    A leaf has the colour of its predicted class, paler if that is less probable, and shows its rows
    and its confidence. Flagged leaves are dashed and marked "!". Pointing at a node shows its rule.

    Parameters
    ----------
    model : TreeClassifier
    max_leaves : int, optional
        Draw the tree only down to the depth at which it has no more than so many leaves; a node
        that is not drawn further shows how many leaves it has.
    computes_levels : bool
        Compute the levels if they are not known yet, or else leave them out.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier.c45().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> to_svg(model).startswith("<svg")
    True
    """
    return draw_tree(model, max_leaves=max_leaves, computes_levels=computes_levels).svg()


def draw_tree(
    estimator: Any, *, max_leaves: int | None = None, computes_levels: bool = True
) -> TreeDrawing:
    """Lay out a tree: one line per leaf, one column per depth, as wide as its longest text."""
    texts = node_texts(estimator, "SVG", computes_levels=computes_levels)
    model = single_tree(estimator, "SVG").model_
    depths = model.tree.node_depth
    if max_leaves is not None and model.tree.n_leaves > max_leaves:
        texts, depths = _top_of(texts, model.tree, max_leaves)
    legend, right = [], 0.0
    left_end, line = _MARGIN, 0
    for label in map(_shortened, label_texts(model.classes)):
        width = _text_width(label, _FONT) + 40
        if left_end > _MARGIN and left_end + width > _LEGEND_WIDTH:
            left_end, line = _MARGIN, line + 1
        legend.append((label, left_end, line))
        left_end += width
        right = max(right, left_end)
    middle = _middles(texts, _MARGIN + _LEGEND_LINE * (1 + line))
    depth = depths.tolist()
    by_depth: list[list[NodeText]] = [[] for _ in range(max(depth) + 1)]
    for text, level in zip(texts, depth, strict=True):
        by_depth[level].append(text)
    left = [_MARGIN]
    for column, following in pairwise(by_depth):
        gap = _GAP + max(_text_width(text.branch, _SMALL_FONT) for text in following)
        left.append(left[-1] + max(map(_box_width, column)) + gap)
    boxes = tuple(
        _Box(text, left[level], middle[text.node], _box_width(text))
        for text, level in zip(texts, depth, strict=True)
    )
    return TreeDrawing(
        boxes,
        tuple(legend),
        max(right, *(box.right for box in boxes)) + _MARGIN,
        max(middle) + _LINE / 2 + _MARGIN,
    )


def _top_of(
    texts: list[NodeText], tree: Tree, max_leaves: int
) -> tuple[list[NodeText], NDArray[np.int64]]:
    """Return the texts and depths of the nodes down to a depth, numbered anew."""
    n_drawn = np.bincount(tree.node_depth[tree.is_leaf], minlength=tree.node_depth.max() + 1)
    n_inner = np.bincount(tree.node_depth[~tree.is_leaf], minlength=len(n_drawn))
    fits = np.flatnonzero(np.cumsum(n_drawn) + n_inner <= max_leaves)
    last = int(fits[-1]) if len(fits) else 0
    kept = np.flatnonzero(tree.node_depth <= last)
    number = {int(node): i for i, node in enumerate(kept)}
    n_leaves = add_to_parents(tree, tree.is_leaf.astype(np.intp))
    n_flagged = add_to_parents(tree, np.array([text.flagged for text in texts], dtype=np.intp))
    top = []
    for node in kept.tolist():
        text = replace(texts[node], node=number[node])
        if text.children and tree.node_depth[node] == last:
            told = f", {n_flagged[node]:,} flagged" if n_flagged[node] else ""
            below = (text.lines[0], f"{n_leaves[node]:,} leaves below{told}")
            flagged = bool(n_flagged[node])
            text = replace(text, children=(), lines=below, strength=0.0, flagged=flagged)
        top.append(replace(text, children=tuple(number[child] for child in text.children)))
    return top, tree.node_depth[kept]


def _middles(texts: list[NodeText], top: float) -> list[float]:
    """Return vertical positions: leaves in order, other nodes midway between their branches."""
    middle = [0.0] * len(texts)
    for line, leaf in enumerate(text for text in texts if not text.children):
        middle[leaf.node] = top + _LINE / 2 + _LINE * line
    for text in reversed(texts):
        if text.children:
            middle[text.node] = (middle[text.children[0]] + middle[text.children[-1]]) / 2
    return middle


def _box_width(text: NodeText) -> float:
    fonts = (_FONT, _SMALL_FONT)
    widths = (_text_width(line, font) for line, font in zip(text.lines, fonts, strict=False))
    return 2 * _PADDING + max(widths) + _SIGN * text.flagged


def _text_width(text: str, font: float) -> float:
    """Estimate the width of text, rather too wide than too narrow."""
    units = sum(1.0 if east_asian_width(letter) in "WF" else 0.57 for letter in text)
    return units * font


def _svg_class(index: int, label: str, left: float, line: int) -> str:
    """Draw the entry of a class in the legend."""
    y = _MARGIN + _LEGEND_LINE * line
    return (
        f'<rect x="{left:.1f}" y="{y:.1f}" width="13" height="13" rx="3" '
        f'fill="{_class_colour(index)}"/>'
        f'<text x="{left + 19:.1f}" y="{y + 11:.1f}" fill="{_INK}">{_xml(label)}</text>'
    )


def _svg_edges(box: _Box, children: list[_Box]) -> str:
    """Draw curves to the branches, each with a straight end below the text of the test."""
    text_width = max(_text_width(child.text.branch, _SMALL_FONT) for child in children)
    turn = children[0].left - text_width - 6.0
    bend = (turn - box.right) / 2
    return "\n".join(
        f'<path d="M{box.right:.1f} {box.middle:.1f} C{box.right + bend:.1f} {box.middle:.1f} '
        f'{turn - bend:.1f} {child.middle:.1f} {turn:.1f} {child.middle:.1f} H{child.left:.1f}" '
        f'fill="none" stroke="{_EDGE}"/>'
        f'<text x="{child.left - 4:.1f}" y="{child.middle - 4:.1f}" text-anchor="end" '
        f'font-size="{_SMALL_FONT:g}" fill="{_SOFT}">{_xml(child.text.branch)}</text>'
        for child in children
    )


def _svg_box(box: _Box) -> str:
    text, is_leaf = box.text, not box.text.children
    fill = _leaf_colour(text) if is_leaf else "#ffffff"
    stroke = _class_colour(text.predicted) if is_leaf else _EDGE
    dashes = ' stroke-dasharray="5 4"' if text.flagged else ""
    centre = box.left + (box.width - _SIGN * text.flagged) / 2
    first, *second = text.lines
    y = box.middle + (-1.5 if second else 4.5)
    lines = f'<text x="{centre:.1f}" y="{y:.1f}" font-weight="bold">{_xml(first)}</text>'
    if second:
        lines += (
            f'<text x="{centre:.1f}" y="{box.middle + 11:.1f}" font-size="{_SMALL_FONT:g}">'
            f"{_xml(second[0])}</text>"
        )
    if text.flagged:
        lines += (
            f'<text x="{box.right - _SIGN:.1f}" y="{box.middle + 4.5:.1f}" font-weight="bold" '
            f'fill="{_WARN}">!</text>'
        )
    return (
        f'<g text-anchor="middle" fill="{_INK}"><title>{_xml(text.tooltip)}</title>'
        f'<rect x="{box.left:.1f}" y="{box.middle - box.height / 2:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="5" fill="{fill}" stroke="{stroke}"{dashes}/>{lines}</g>'
    )


def _xml(text: str) -> str:
    return escape(printable(text))
