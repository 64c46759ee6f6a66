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
    promised, least = one["promised"], one["promised_low"]
    ends = place(0, promised), place(rows, promised)
    parts = [
        f'<polygon class="promised-band" points="{place(0, promised)} {place(rows, promised)} '
        f'{place(rows, least)} {place(0, least)}"/>',
        f'<polyline class="promised" points="{ends[0]} {ends[1]}"/>',
        f'<polygon class="limits" points="{" ".join([*upper, *reversed(lower)])}"/>',
        f'<polyline class="observed" points="{" ".join(middle)}"/>',
        f'<circle class="now" cx="{middle[-1].split(",")[0]}" cy="{middle[-1].split(",")[1]}" '
        'r="3.5"/>',
    ]
    since = [one.get(name) for name in ("decision_since", "accuracy_since")]
    known = [row for row in since if row is not None]
    if known:
        x = place(max(known), lowest).split(",")[0]
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
    y_of = [{one["node"]: 30 + LINE * k for k, one in enumerate(side)} for side in sides]
    height = 40 + LINE * max(map(len, sides))
    flows = document["flows"] or []
    most = max((one["n"] for one in flows), default=1)
    decided = [{one["node"]: one.get("prediction") for one in side} for side in sides]
    parts = []
    for one in sorted(flows, key=lambda flow: flow["n_changed"]):
        start, end = y_of[0][one["old_leaf"]] + 4, y_of[1][one["new_leaf"]] + 4
        x1, x2 = SIDE, SIDE + BETWEEN
        kind = "changed" if one["n_changed"] else "same"
        title = (
            f"{count(one['n'])} rows from leaf {one['old_leaf']} ("
            f"{decided[0][one['old_leaf']]}) to leaf {one['new_leaf']} "
            f"({decided[1][one['new_leaf']]}); another decision for {count(one['n_changed'])}"
        )
        parts.append(
            f'<path class="flow {kind}" stroke-width="{max(1.2, 22 * one["n"] / most):.1f}" '
            f'd="M{x1},{start} C{x1 + BETWEEN / 2},{start} {x2 - BETWEEN / 2},{end} {x2},{end}">'
            f"<title>{escape(title)}</title></path>"
        )
    for k, side in enumerate(sides):
        left = k * (SIDE + BETWEEN)
        head = ("The old tree", "The new tree")[k]
        parts.append(f'<text class="head" x="{left + 8}" y="14">{head}</text>')
        parts += [_outline_line(one, left, y_of[k][one["node"]]) for one in side]
    width = 2 * SIDE + BETWEEN
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
        if one.get("flagged"):
            end += '<tspan class="flag"> !</tspan>'
    return f'<text x="{x}" y="{y + 8}"><title>{title}</title>{start}{escape(test)}{end}</text>'
