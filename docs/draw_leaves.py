"""Draw the picture of README: three leaves with the same proportion and different confidence.

Run with `make pictures`. The numbers are computed, and a test compares the picture with them.
"""

import sys
from dataclasses import dataclass

from sureleaf import levels

INK, GREY, GREEN = "#1b1b1b", "#767676", "#2a7d4f"
LEFT, SCALE = 400, 260  # x of p_max = 0.5, and the width from there to p_max = 1
LEAVES = ((4, 3), (16, 12), (100, 75))


@dataclass(frozen=True)
class Leaf:
    """The rows of a leaf, the interval of its p_max and its confidence."""

    n: int
    y: int
    low: float
    high: float
    confidence: float


def make_leaf(n: int, y: int) -> Leaf:
    """Return a leaf of n rows, y of them in the majority class."""
    low, high = levels.p_max_interval(y, n)
    p_max = levels.estimate_p_max(y, n)
    return Leaf(n, y, float(low), float(high), float(levels.confidence(n, p_max)))


def text(
    x: float, y: float, content: str, *, size: int = 15, colour: str = INK, more: str = ""
) -> str:
    """Return a line of text."""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" {more}>{content}</text>'


def dots(leaf: Leaf, middle: float) -> list[str]:
    """Return one dot per row of the leaf; rows of the majority class are filled."""
    per_line = {4: 4, 16: 8, 100: 20}[leaf.n]
    gap, radius = (13, 4.6) if leaf.n <= 16 else (9.4, 3.4)
    lines = -(-leaf.n // per_line)
    top = middle - (lines - 1) * gap / 2
    drawn = []
    for row in range(leaf.n):
        x, y = 34 + gap * (row % per_line), top + gap * (row // per_line)
        fill = GREEN if row < leaf.y else "#ffffff"
        drawn.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}" stroke="{GREEN}"/>'
        )
    return drawn


def draw_leaf(leaf: Leaf, middle: float) -> list[str]:
    """Return one line of the picture: rows, proportion, interval and confidence."""
    low, high = (LEFT + SCALE * 2 * (p - 0.5) for p in (leaf.low, leaf.high))
    at = LEFT + SCALE * 2 * (leaf.y / leaf.n - 0.5)
    confidence = "> 99.9%" if leaf.confidence > 0.9995 else f"{leaf.confidence:.1%}"
    return [
        *dots(leaf, middle),
        text(244, middle + 5, f"{leaf.y} of {leaf.n}", colour=GREY),
        text(340, middle + 5, f"{leaf.y / leaf.n:.0%}", more='font-weight="600"'),
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{middle}" y2="{middle}" stroke="{GREEN}" '
        'stroke-width="7" stroke-linecap="round" opacity="0.35"/>',
        f'<circle cx="{at:.1f}" cy="{middle}" r="6" fill="{GREEN}"/>',
        text(704, middle + 5, confidence, more='font-weight="600"'),
    ]


def picture() -> str:
    """Return the picture as SVG."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 790 330" width="790" height="330" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif">',
        "<title>Three leaves with a proportion of 75 %, and the confidence in each</title>",
        '<rect width="790" height="330" rx="10" fill="#ffffff"/>',
        text(30, 40, "rows of a leaf", colour=GREY),
        text(318, 40, "any tree", colour=GREY),
        text(LEFT, 40, "Sureleaf: 95% interval", colour=GREEN),
        text(686, 40, "confidence", colour=GREEN),
    ]
    for tick in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        x = LEFT + SCALE * 2 * (tick - 0.5)
        lines.append(f'<line x1="{x}" x2="{x}" y1="58" y2="268" stroke="#ececec"/>')
        lines.append(text(x, 288, f"{tick:.0%}", size=12, colour=GREY, more='text-anchor="middle"'))
    for index, counts in enumerate(LEAVES):
        lines += draw_leaf(make_leaf(*counts), 92 + 70 * index)
    lines.append(
        text(
            30,
            314,
            "Bar: true share of the majority class (50% or more). "
            "Confidence: estimated probability that the majority is the true one.",
            size=12,
            colour=GREY,
        )
    )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(picture())
