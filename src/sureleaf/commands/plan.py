"""Plans: how many rows a node needs for a level, and how many rows a test set needs.

A plan is what ``--json`` prints: plain values, of which ``answer`` is the plan in sentences. Each
``show_`` function yields what a person sees of one.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from rich.console import RenderableType

from sureleaf import levels
from sureleaf.commands.terminal import number_table
from sureleaf.comparison import rows_for_width, rows_to_detect
from sureleaf.errors import InvalidArgumentError, UnreachableLevelError
from sureleaf.formatting import count_of
from sureleaf.levels.competing_splits import (
    CandidateSplit,
    Level,
    best_splits,
    checked_split,
    crossings,
    split_levels,
    unsplit_p_max,
)
from sureleaf.levels.p_max_estimates import METHODS

Plan = dict[str, Any]

# Rows of a node.


def make_plan(
    p_max: tuple[float, float],
    *,
    confidence: float | None = None,
    utility: float | None = None,
    rows: int | None = None,
    bias: float | None = None,
    threshold: float = 0.5,
) -> Plan:
    """Compute the rows that reach levels, and the levels that rows give.

    The lower end of the range of `p_max` decides, because levels increase with it. The levels are
    those at both ends, for the rows that there are and for those needed. A bias is the largest mean
    error of an estimator of p_max, anywhere in the range. At another threshold than 0.5, `p_max` is
    the probability of the class that is decided for above it.

    Examples
    --------
    >>> make_plan((0.75, 0.75), confidence=0.95)["answer"]
    'A node with p_max = 0.75 needs 9 rows for a confidence of 0.95.'
    >>> make_plan((0.7, 0.7), rows=20)["answer"]
    'With 20 rows, a node with p_max = 0.7 has confidence 0.967 and utility 0.687.'
    """
    if rows is not None and rows < 0:
        raise InvalidArgumentError(f"rows must be 0 or more; got {rows}.")
    if confidence is not None and threshold != 0.5:
        _check_side(p_max, confidence, threshold)
    p = p_max[0] if p_max[0] == p_max[1] else p_max
    wanted: list[Plan] = [
        {
            "name": name,
            "level": level,
            "rows": int(levels.sample_size(p, **{name: level}, threshold=threshold)),
        }
        for name, level in (("confidence", confidence), ("utility", utility))
        if level is not None
    ]
    needed = max((one["rows"] for one in wanted), default=None)
    plan: Plan = {
        "p_max": p_max,
        "threshold": threshold,
        "wanted": wanted,
        "rows": rows,
        "rows_needed": needed,
        "levels": [
            {
                "rows": n,
                "p_max": end,
                "confidence": float(levels.confidence(n, end, threshold=threshold)),
                "utility": float(levels.utility(n, end, threshold=threshold)),
            }
            for n in dict.fromkeys((rows, needed))
            if n is not None
            for end in dict.fromkeys(p_max)  # one end if both are equal
        ],
        "biases": [
            {
                "method": method,
                "bias": bias,
                "rows": int(levels.sample_size_for_bias(p_max, bias=bias, method=method)),
            }
            for method in METHODS
            if bias is not None
        ],
    }
    return plan | {"answer": " ".join(_sentences(plan))}


def _check_side(p_max: tuple[float, float], confidence: float, threshold: float) -> None:
    """Raise an error if the range contains the threshold, where no decision is the cheaper one."""
    low, high = p_max
    if confidence > 0.5 and low <= threshold <= high:
        got = f"{low:g}" if low == high else f"{low:g} to {high:g}, which contains it"
        raise UnreachableLevelError(
            f"p_max must be on one side of the cost threshold, {threshold:.4g}, for a confidence "
            f"of {confidence:g}; got {got}. At the threshold both decisions cost the same, so no "
            "number of rows is enough. Give a range below or above it."
        )


def _sentences(plan: Plan) -> Iterator[str]:
    (low, high), rows, needed = plan["p_max"], plan["rows"], plan["rows_needed"]
    name, costs = "p_max", ""
    if plan["threshold"] != 0.5:
        name, costs = "p", f" and a cost threshold of {plan['threshold']:.4g}"
    ends_of = f"= {low}" if low == high else f"from {low} to {high}"
    node = f"node with {name} {ends_of}{costs}"
    if rows is not None:
        confidence, utility = (
            " to ".join(f"{end[name]:.3f}" for end in plan["levels"] if end["rows"] == rows)
            for name in ("confidence", "utility")
        )
        yield (
            f"With {count_of(rows, 'row')}, a {node} has confidence {confidence} and utility "
            f"{utility}."
        )
    if needed is not None:
        subject, end = f"A {node}", "."
        wanted = " and ".join(f"a {one['name']} of {one['level']:g}" for one in plan["wanted"])
        if rows is not None:
            subject = "It"
            end = f": {needed - rows:,} more." if needed > rows else ": there are enough."
        yield f"{subject} needs {count_of(needed, 'row')} for {wanted}{end}"
    if plan["biases"]:
        best = min(plan["biases"], key=lambda one: one["rows"])
        yield (
            f"From {count_of(best['rows'], 'row')} on, the bias of the {best['method']} estimate "
            f"of p_max is at most {best['bias']:g}; the other estimates need more rows."
        )


def show_node(plan: Plan) -> Iterator[RenderableType]:
    """Yield the tables of a node (rows for levels, levels of rows, rows for a bias), and answer."""
    wanted = [(one["name"], f"{one['level']:g}", _bold(one["rows"])) for one in plan["wanted"]]
    if wanted:
        both = [("both", "", _bold(plan["rows_needed"]))] if len(wanted) > 1 else []
        yield number_table("wanted level", "at least", "rows needed", rows=[*wanted, *both])
    of_rows = [
        (f"{one['rows']:,}", f"{one['p_max']:g}", *(f"{one[name]:.4f}" for name in _LEVELS[::-1]))
        for one in plan["levels"]
    ]
    if of_rows:
        yield number_table("rows", "p_max", "confidence", "utility", rows=of_rows)
    biases = [(one["method"], f"{one['bias']:g}", _bold(one["rows"])) for one in plan["biases"]]
    if biases:
        yield number_table("estimate of p_max", "bias at most", "from rows", rows=biases)
    yield f"[bold]{plan['answer']}[/bold]"


def _bold(rows: int) -> str:
    return f"[bold]{rows:,}[/bold]"


# Splits of a node.

_NO_SPLIT = "no split"
_LEVELS: tuple[Level, Level] = ("utility", "confidence")
_MOST_ROWS = 10_000
"""Crossings are looked for up to so many rows."""
_SHOWN_ROWS = (5, 11, 21, 51, 101, 201, 501, 1001)
"""Odd numbers, because an even number of rows gives a node the confidence of one row less."""


def plan_splits(splits: dict[str, CandidateSplit], *, p_max: float | None = None) -> Plan:
    """Compare splits of a node with no split, by the number of rows of the node.

    Without the p_max of the node it is the smallest one that all splits allow. The plan has the
    levels by rows, from how many rows on which split is the best one, and where two of them cross.
    """
    allowed = unsplit_p_max(list(splits.values())) if p_max is None else [p_max]
    named = {_NO_SPLIT: checked_split([1.0], allowed[:1]), **splits}
    names, shown = list(named), np.array(_SHOWN_ROWS) - 1
    n = np.arange(1.0, _MOST_ROWS + 1)
    values = {level: split_levels(level, n, named.values()) for level in _LEVELS}
    best = [
        {"level": level, "from_rows": rows, "split": names[index]}
        for level in _LEVELS
        for rows, index in best_splits(n, values[level])
    ]
    return {
        "p_max": allowed[0],
        "other_p_max": allowed[1:],
        "levels": [
            {"rows": int(n[at]), "split": name}
            | {level: float(values[level][i, at]) for level in _LEVELS[::-1]}
            for at in shown
            for i, name in enumerate(names)
        ],
        "best": best,
        "crossings": [
            {"level": level, "from_rows": rows, "above": names[above], "below": names[below]}
            for level in _LEVELS
            for rows, above, below in crossings(n, values[level])
        ],
        "answer": " ".join(
            _best_in_words(level, *(one for one in best if one["level"] == level))
            for level in _LEVELS
        ),
    }


def _best_in_words(level: Level, first: Plan, *later: Plan) -> str:
    highest = f"The {level} of {first['split']} is the highest"
    if not later:
        return f"{highest} at every number of rows."
    others = (f"of {one['split']} from {one['from_rows']:,} rows on" for one in later)
    return f"{highest} with few rows, {', '.join(others)}."


def show_splits(plan: Plan) -> Iterator[RenderableType]:
    """Yield the levels of all splits by rows, the p_max of no split, the answer and crossings."""
    yield "Utility, and in brackets confidence, by the rows of the node: (11) and (10)."
    cells = {n: [f"{n:,}"] for n in _SHOWN_ROWS}
    for one in plan["levels"]:
        cells[one["rows"]].append(f"{one['utility']:.3f} ({one['confidence']:.3f})")
    names = dict.fromkeys(one["split"] for one in plan["levels"])
    yield number_table("rows", *names, rows=cells.values())
    others = " or ".join(f"{p:.4g}" for p in plan["other_p_max"])
    allowed = (
        f", the smallest value that the splits allow; --p-max sets another, such as {others}, "
        "where more of their nodes have the same majority"
    )
    yield f"No split: p_max = {plan['p_max']:.4g} of the whole node{allowed if others else ''}."
    yield f"[bold]{plan['answer']}[/bold]"
    found = [
        f"{one['above']} has more {one['level']} than {one['below']} from {one['from_rows']:,} "
        "rows on"
        for one in plan["crossings"]
    ]
    if found:
        yield f"Crossings: {'; '.join(found)}."


# Rows of a test set.


def plan_rows(
    *,
    half_width: float | None = None,
    difference: float | None = None,
    rate: float | None = None,
    discordance: float | None = None,
    independent: bool = False,
    power: float = 0.8,
    level: float = 0.95,
) -> Plan:
    """Compute the test rows for an interval of a given width, or to detect a difference.

    The interval is Clopper and Pearson's. The rate is the expected error rate, the lower of the two
    for a difference; by default the one that needs the most rows. By default the discordance is
    that of two models whose errors are independent.
    """
    questions = []
    if half_width is not None:
        near = 0.5 if rate is None else rate
        question = f"An interval of ± {half_width:g} around a rate near {near:g} needs"
        rows = rows_for_width(half_width, rate=near, level=level)
        questions.append((question, "Clopper and Pearson's interval", rows))
    if difference is not None:
        lower = max(0.0, (1 - difference) / 2) if rate is None else rate
        rows = rows_to_detect(
            difference,
            rate=lower,
            paired=not independent,
            discordance=discordance,
            power=power,
            level=level,
        )
        test = "pooled z test" if independent else "McNemar's test"
        if not independent and discordance is None:
            test += ", independent errors"
        subject = "each model needs" if independent else "both models need the same"
        question = f"To detect a difference of {difference:g} with power {power:g}, {subject}"
        questions.append((question, f"{test}, lower error rate {lower:g}", rows))
    if not questions:
        raise InvalidArgumentError(
            "plan needs a question: --p-max for a node; --split for its splits; --half-width for "
            "an interval or --difference for a comparison of error rates; got none of them."
        )
    keys = ("question", "assumed", "rows")
    return {
        "level": level,
        "questions": [dict(zip(keys, one, strict=True)) for one in questions],
        "answer": " ".join(f"{question} {rows:,} test rows." for question, _, rows in questions),
    }


def show_rows(plan: Plan) -> Iterator[RenderableType]:
    """Yield the table of test rows, and the answer."""
    level = f"{plan['level']:g}"
    rows = ((one["assumed"], level, _bold(one["rows"])) for one in plan["questions"])
    yield number_table("method", "level", "test rows", rows=rows)
    yield f"[bold]{plan['answer']}[/bold]"
