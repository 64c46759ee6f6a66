"""The tree of the first screen: a drawing that fits the page, and an outline that fits a phone.

Both show the same nodes, at most twelve of them without branches: a smaller tree is whole. A node
that is not drawn further says how many leaves it has, and how many of them are flagged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from markupsafe import Markup, escape

from sureleaf import formatting
from sureleaf.tree.rules import OR_MISSING

MOST_ENDS = 12
WIDTH, SMALLEST = 1140.0, 0.8
"""The width of the page on a desk, in pixels, and how far a wider drawing is made smaller."""
ROOMY = 1000.0
END, GAP, LINE = 36.0, 6.0, 13.0
FONT, SMALL = 13.0, 11.5
CURVE, THICKEST = 26.0, 24.0

PlainNode = Mapping[str, Any]


@dataclass(frozen=True)
class Branch:
    """A node as it is shown, with the test that leads to it."""

    node: PlainNode
    test: str
    value: str
    title: str
    sub: str
    n_flagged: int
    children: tuple["Branch", ...] = ()

    @property
    def is_leaf(self) -> bool:
        """Whether it is a leaf of the tree, and not a node whose branches are not shown."""
        return not self.node["children"]

    @property
    def ends(self) -> list["Branch"]:
        """The nodes below it, or itself, that are shown without branches."""
        return [end for child in self.children for end in child.ends] or [self]


@dataclass(frozen=True)
class TreePicture:
    """What the first screen shows of a tree; whole, if every leaf is drawn."""

    root: Branch
    is_whole: bool
    svg: Markup


def tree_picture(document: Mapping[str, Any]) -> TreePicture:
    """Return the drawing and the outline of the tree of a report."""
    n_leaves, depth = document["tree"]["n_leaves"], document["tree"]["depth"]
    for deepest in range(depth, -1, -1):
        root = _branch(document, document["tree"]["nodes"][0], _shown(document, deepest))
        for layout in LAYOUTS:
            box = _boxes(root, 0, layout)
            width, height = _place(box, layout)
            if width <= layout.widest:
                is_whole = sum(one.is_leaf for one in root.ends) == n_leaves
                return TreePicture(root, is_whole, _svg(box, width, height, layout))
    raise AssertionError("the root alone always fits")


def _shown(document: Mapping[str, Any], deepest: int) -> set[int]:
    """Return the nodes whose branches are shown: those with the most rows first."""
    nodes = document["tree"]["nodes"]
    shown: set[int] = set()
    n_ends, waiting = 1, [nodes[0]]
    while waiting:
        node = max(waiting, key=lambda one: one["n"])
        waiting.remove(node)
        more = len(node["children"]) - 1
        if more < 0 or node["depth"] >= deepest or (shown and n_ends + more > MOST_ENDS):
            continue
        shown.add(node["id"])
        n_ends += more
        waiting += [nodes[child] for child in node["children"]]
    return shown


def _branch(document: Mapping[str, Any], node: PlainNode, shown: set[int]) -> Branch:
    nodes = document["tree"]["nodes"]
    leaves = _leaves_under(nodes, node)
    n_flagged = sum(bool(leaf["flagged"]) for leaf in leaves)
    rows = f"{formatting.count(node['n'])} rows"
    if float(node["n"]).is_integer():
        rows = formatting.count_of(node["n"], "row")
    test, value = _test(document, node)
    if not node["children"]:
        return Branch(node, test, value, *_leaf_words(document, node, rows), n_flagged)
    title = document["tree"]["columns"][node["column"]]["name"]
    if node["id"] in shown:
        children = tuple(_branch(document, nodes[one], shown) for one in node["children"])
        return Branch(node, test, value, title, rows, n_flagged, children)
    flagged = f", {n_flagged:,} flagged" if n_flagged else ""
    return Branch(node, test, value, title, f"{len(leaves):,} leaves{flagged} · {rows}", n_flagged)


def _leaves_under(nodes: Sequence[PlainNode], node: PlainNode) -> list[PlainNode]:
    waiting = [node]
    for one in waiting:  # which grows meanwhile
        waiting += [nodes[child] for child in one["children"]]
    return [one for one in waiting if not one["children"]]


def _leaf_words(document: Mapping[str, Any], node: PlainNode, rows: str) -> tuple[str, str]:
    """Return the prediction, and what is known about it."""
    labels = [one["label"] for one in document["data"]["classes"]]
    confidence, code = node["confidence"], document["quality"]["positive"]
    is_almost_sure = confidence is not None and confidence > 0.99  # but never certain
    sure = "> 99 %" if is_almost_sure else formatting.percent(confidence, 0)
    share = f"{formatting.percent(node['utility'], 0)} correct"
    if document["tree"]["at_costs"]:
        share = f"{labels[code]} {formatting.percent(node['probabilities'][code], 0)}"
    return labels[node["prediction"]], f"{share} · sure {sure} · {rows}"


def _test(document: Mapping[str, Any], node: PlainNode) -> tuple[str, str]:
    """Return the test that leads to a node, and its part after the column."""
    if node["parent"] is None:
        return "", ""
    tree = document["tree"]
    parent = tree["nodes"][node["parent"]]
    branch = list(parent["children"]).index(node["id"])
    takes_missing = parent["missing_branch"] == branch and parent["missing_arrives"]
    missing = OR_MISSING if takes_missing else ""
    column = tree["columns"][parent["column"]]
    if parent["branch_of_category"] is not None:
        mine = [
            name
            for code, name in enumerate(column["categories"] or ())
            if parent["branch_of_category"][code] == branch
        ]
        value = f"{', '.join(mine)}{missing}" if mine else "missing"
    elif parent["threshold_text"] is not None:
        value = f"{'≤' if branch == 0 else '>'} {parent['threshold_text']}{missing}"
    else:
        value = ("known", "missing")[branch]
    return node["edge"], value


# The drawing.


@dataclass(frozen=True)
class _Layout:
    """How long names and tests may be, where tests are written, and how wide the drawing may be."""

    longest: int
    above: bool = False
    widest: float = WIDTH

    @property
    def line(self) -> float:
        """The height of an end, with its test if that is above it."""
        return END + GAP + (LINE if self.above else 0)


LAYOUTS = (
    *(_Layout(longest) for longest in (30, 24, 19)),
    *(_Layout(longest, above=True) for longest in (30, 24, 19)),
    *(_Layout(longest, above=True, widest=WIDTH / SMALLEST) for longest in (24, 19, 12)),
)
"""The first with which the drawing fits is taken: tests are beside the boxes if possible."""


@dataclass
class _Box:
    branch: Branch
    depth: int
    lines: tuple[str, str]
    label: str
    width: float
    x: float = 0.0
    y: float = 0.0
    children: list["_Box"] = field(default_factory=list)

    @property
    def label_width(self) -> float:
        return _text_width(self.label, SMALL)

    @property
    def all(self) -> list["_Box"]:
        return [self, *(box for child in self.children for box in child.all)]


def _boxes(branch: Branch, depth: int, layout: _Layout) -> _Box:
    title, sub = _cut(branch.title, layout.longest), branch.sub
    flag = 24.0 if branch.n_flagged and not branch.children else 0.0
    width = max(_text_width(title, FONT) * 1.12 + flag, _text_width(sub, SMALL)) + 22
    label = _cut(branch.value, layout.longest)
    children = [_boxes(child, depth + 1, layout) for child in branch.children]
    return _Box(branch, depth, (title, sub), label, width, children=children)


def _place(root: _Box, layout: _Layout) -> tuple[float, float]:
    """Place the boxes from left to right, one line per end; return width and height."""
    boxes = root.all
    depth = max(box.depth for box in boxes)
    levels = [[box for box in boxes if box.depth == k] for k in range(depth + 1)]
    left = 2.0
    for level, below in pairwise([*levels, []]):
        for box in level:
            box.x = left
        inner = [box for box in level if box.children]
        left += max((box.width for box in inner), default=0.0) + CURVE
        if layout.above:
            above = max((box.label_width for box in inner), default=0.0)
            left = max(left, level[0].x + above + 6)
        else:
            left += max((box.label_width for box in below), default=0.0) + 16
    width = max(box.x + max(box.width, layout.above * box.label_width) for box in boxes) + 10
    if depth and width < ROOMY:  # there is room for wider branches
        wider = min(100.0, (ROOMY - width) / depth)
        for box in boxes:
            box.x += wider * box.depth
        width += wider * depth
    ends = [box for box in boxes if not box.children]
    for index, box in enumerate(ends):
        box.y = GAP + (index + 1) * layout.line - GAP - END / 2
    for box in reversed(boxes):
        if box.children:
            box.y = (box.children[0].y + box.children[-1].y) / 2
    return width, GAP + len(ends) * layout.line


def _svg(root: _Box, width: float, height: float, layout: _Layout) -> Markup:
    edges, labels, boxes = [], [], []
    n = root.branch.node["n"] or 1.0
    for box in root.all:
        thick = [max(1.5, THICKEST * child.branch.node["n"] / n) for child in box.children]
        at = box.y - sum(thick) / 2
        for child, size in zip(box.children, thick, strict=True):
            bend = child.x - (6 if layout.above else child.label_width + 14)
            edges.append(_ribbon(box.x + box.width, at + size / 2, child, size, bend))
            at += size
            up = 4 if size > 15 else -size / 2 - 3.5
            x, y, anchor = child.x - 8, child.y + up, "end"
            if layout.above:
                x, y, anchor = child.x + 2, child.y - END / 2 - 3, "start"
            labels.append(
                f'<text class="edge-label" x="{x:.1f}" y="{y:.1f}" '
                f'text-anchor="{anchor}"><title>{escape(_visible(child.branch.test))}</title>'
                f"{escape(_visible(child.label))}</text>"
            )
        boxes.append(_box(box))
    text = f"The tree: {len(root.branch.ends)} leaves or branches, from left to right"
    return Markup(
        f'<svg class="picture" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'style="max-width:{width:.0f}px" role="img" aria-label="{text}">'
        f"{''.join(edges)}{''.join(labels)}{''.join(boxes)}</svg>"
    )


def _ribbon(x: float, y: float, child: _Box, thick: float, bend: float) -> str:
    half = thick / 2
    middle = (x + bend) / 2
    top, bottom = child.y - half, child.y + half
    return (
        f'<path class="edge" d="M{x:.1f},{y - half:.1f}C{middle:.1f},{y - half:.1f} '
        f"{middle:.1f},{top:.1f} {bend:.1f},{top:.1f}L{child.x:.1f},{top:.1f}L{child.x:.1f},"
        f"{bottom:.1f}L{bend:.1f},{bottom:.1f}C{middle:.1f},{bottom:.1f} {middle:.1f},"
        f'{y + half:.1f} {x:.1f},{y + half:.1f}Z"/>'
    )


def _box(box: _Box) -> str:
    branch, left, top = box.branch, box.x, box.y - END / 2
    area = f'x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{END:.0f}" rx="6"'
    classes, colour, tint, flag, told = "inner", "", "", "", branch.title
    if branch.is_leaf:
        classes, told = "leaf", branch.node["rule"]
        colour = f' style="--swatch:{class_colour(branch.node["prediction"])}"'
        tint = f'<rect class="tint" {area}/>'
    if branch.n_flagged and not branch.children:
        classes += " flagged"
        x, y = left + box.width - 19, top + 5
        flag = (
            f'<rect class="warn-box" x="{x:.1f}" y="{y:.1f}" width="14" height="14" rx="3"/>'
            f'<path class="warn-sign" d="M{x + 7:.1f},{y + 3:.1f}v5m0,2v1.500"/>'
        )
    title, sub = (escape(_visible(line)) for line in box.lines)
    return (
        f'<g class="node {classes}" data-node="{branch.node["id"]}"{colour}>'
        f"<title>{escape(_visible(told))}</title>"
        f'<rect class="box" {area}/>{tint}{flag}'
        f'<text x="{left + 11:.1f}" y="{top + 15:.1f}" class="name">{title}</text>'
        f'<text x="{left + 11:.1f}" y="{top + 29.5:.1f}" class="sub">{sub}</text></g>'
    )


def class_colour(index: int) -> str:
    """Return the colour of a class; script/page.js says the same."""
    return f"var(--class-{index})" if index < 8 else f"hsl({round(index * 137.508) % 360} 45% 55%)"


def _text_width(text: str, font: float) -> float:
    """Estimate the width of text, rather too wide than too narrow."""
    narrow, wide = "iljtfr.,' :|I", "MWmw%@_"
    units = {True: 0.36, False: 0.62}
    return font * sum(
        0.85 if one in wide else 0.7 if one.isupper() else units[one in narrow] for one in text
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _visible(text: str) -> str:
    return formatting.visible(text, keep="\n\t")
