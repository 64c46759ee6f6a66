"""The pages of a tree over time: `sureleaf watch` and `sureleaf diff`.

Each is drawn from the plain values of its result (``to_dict()``) and from nothing else.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

import sureleaf
from sureleaf.formatting import count, percent
from sureleaf.report.html.page import render_template

VERDICTS = {
    "right": ("good", "still right"),
    "wrong": ("warn", "not right"),
    "changed": ("bad", "no longer right"),
    "unknown": ("plain", "not enough rows"),
}

WIDTH, HEIGHT, SMALL_HEIGHT = 640, 170, 92
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 8, 20

SIDE, BETWEEN, LINE, TEXT = 400, 300, 30, 52
"""Of the picture of two trees: width of a tree, room for the flows, height of a line, and letters
of a test."""


def render_watch(document: Mapping[str, Any], heading: str = "") -> str:
    """Return the answer of a watch as one HTML file that needs nothing else."""
    tree = document["tree"]
    rows = document["rows"]
    return render_template(
        "watch.html.jinja",
        document,
        heading=heading or f"{count(rows)} rows",
        provenance={"sureleaf": sureleaf.__version__},
        sections=[("answer", "The answer"), ("leaves", "The leaves"), ("methods", "Methods")],
        verdicts=VERDICTS,
        whole=sequence_svg(tree, rows, HEIGHT),
        drawings=[sequence_svg(leaf, rows, SMALL_HEIGHT) for leaf in document["leaves"]],
    )


def sequence_svg(one: Mapping[str, Any], rows: int, height: int) -> Markup:
    """Draw the accuracy over time with its limits, and what was promised."""
    points: Sequence[Sequence[float]] = one["history"]
    if not points:
        return Markup("")
    right, bottom = WIDTH - RIGHT, height - BOTTOM
    lowest = min(one["promised_low"], points[-1][2], *(share for _, share, _, _ in points))
    lowest = int(9.5 * max(lowest, 0.0)) / 10

    def place(row: float, share: float) -> str:
        x = LEFT + (right - LEFT) * row / max(rows, 1)
        height_of = (max(share, lowest) - lowest) / (1.0 - lowest)
        return f"{x:.1f},{bottom - (bottom - TOP) * height_of:.1f}"

    upper = [place(row, high) for row, _, _, high in points]
    lower = [place(row, low) for row, _, low, _ in points]
    middle = [place(row, share) for row, share, _, _ in points]
    x, y = middle[-1].split(",")
    promised, least = one["promised"], one["promised_low"]
    ends = f"{place(0, promised)} {place(rows, promised)}"
    parts = [
        f'<polygon class="promised-band" points="{ends} {place(rows, least)} {place(0, least)}"/>',
        f'<polyline class="promised" points="{ends}"/>',
        f'<polygon class="limits" points="{" ".join([*upper, *reversed(lower)])}"/>',
        f'<polyline class="observed" points="{" ".join(middle)}"/>',
        f'<circle class="now" cx="{x}" cy="{y}" r="3.5"/>',
    ]
    since = [one.get(name) for name in ("decision_since", "accuracy_since")]
    known = [row for row in since if row is not None]
    if known:
        x, _ = place(max(known), lowest).split(",")
        parts.append(f'<line class="since" x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}"/>')
    for share in (lowest, (1.0 + lowest) / 2, 1.0):
        y = place(0, share).split(",")[1]
        parts.append(
            f'<text x="{LEFT - 6}" y="{y}" dy="4" text-anchor="end">{percent(share, 0)}</text>'
            f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y}" y2="{y}"/>'
        )
    parts.append(
        f'<text x="{LEFT}" y="{height - 5}">0</text><text x="{right}" y="{height - 5}" '
        f'text-anchor="end">{count(rows)} rows</text>'
    )
    label = f"Right for {percent(points[-1][1])} after {count(rows)} rows; promised "
    return Markup(
        f'<svg class="sequence" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{label}{percent(promised)}">{"".join(parts)}</svg>'
    )


# ---- two trees -----------------------------------------------------------------------------------


def render_diff(document: Mapping[str, Any], heading: str = "") -> str:
    """Return what changes from one tree to another as one HTML file that needs nothing else."""
    return render_template(
        "diff.html.jinja",
        document,
        heading=heading or "two trees",
        provenance={"sureleaf": sureleaf.__version__},
        sections=[("answer", "The answer"), ("trees", "Both trees"), ("flows", "The rows")],
        picture=trees_svg(document),
    )


def trees_svg(document: Mapping[str, Any]) -> Markup:
    """Draw both trees as outlines, side by side, with the rows that flow between their leaves."""
    sides = [document[name] for name in ("old", "new")]
    places = [
        {one["node"]: (30 + LINE * k, one.get("prediction")) for k, one in enumerate(side)}
        for side in sides
    ]
    height, width = 40 + LINE * max(map(len, sides)), 2 * SIDE + BETWEEN
    flows = document["flows"] or []
    most = max((one["n"] for one in flows), default=1)
    x1, x2, parts = SIDE, SIDE + BETWEEN, []
    middle = x1 + BETWEEN / 2
    for one in sorted(flows, key=lambda flow: flow["n_changed"]):
        (y1, before), (y2, after) = places[0][one["old_leaf"]], places[1][one["new_leaf"]]
        kind = "changed" if one["n_changed"] else "same"
        title = (
            f"{count(one['n'])} rows from leaf {one['old_leaf']} ({before}) to leaf "
            f"{one['new_leaf']} ({after}); another decision for {count(one['n_changed'])}"
        )
        parts.append(
            f'<path class="flow {kind}" stroke-width="{max(1.2, 22 * one["n"] / most):.1f}" '
            f'd="M{x1},{y1 + 4} C{middle},{y1 + 4} {middle},{y2 + 4} {x2},{y2 + 4}">'
            f"<title>{escape(title)}</title></path>"
        )
    heads = ("The old tree", "The new tree")
    for side, place, left, head in zip(sides, places, (0, x2), heads, strict=True):
        parts.append(f'<text class="head" x="{left + 8}" y="14">{head}</text>')
        parts += [_outline_line(one, left, place[one["node"]][0]) for one in side]
    return Markup(
        f'<svg class="two-trees" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Both trees, and the rows that flow between their leaves">{"".join(parts)}'
        "</svg>"
    )


def _outline_line(one: Mapping[str, Any], left: int, y: int) -> str:
    x = left + 8 + 14 * min(one["depth"], 8)
    test = one["test"] or "all rows"
    title = escape(one.get("rule") or test)
    room = TEXT - 2 * min(one["depth"], 8)
    if one["leaf"]:
        shown = one["node"], one["prediction"], count(one["n"])
        room -= 8 + sum(len(str(part)) for part in shown)
    test = test if len(test) <= room else f"{test[: max(room, 6) - 1]}…"
    start = end = ""
    if one["leaf"]:
        start = f'<tspan class="soft">{one["node"]} </tspan>'
        end = f'<tspan class="decision">: {escape(str(one["prediction"]))}</tspan>'
        end += f'<tspan class="soft"> {count(one["n"])}</tspan>'
        end += '<tspan class="flag"> !</tspan>' if one.get("flagged") else ""
    return f'<text x="{x}" y="{y + 8}"><title>{title}</title>{start}{escape(test)}{end}</text>'
