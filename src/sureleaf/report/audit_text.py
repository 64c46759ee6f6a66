"""An audit as sentences and tables."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from rich import box
from rich.markup import escape
from rich.table import Table

from sureleaf.auditing import Audit, AuditedBins, AuditedLeaves
from sureleaf.formatting import percentage
from sureleaf.report.leaves_text import largest_leaves
from sureleaf.tree.structure import leaves_in_words

__all__ = ["show_audit"]


_SHOWN = 20


def show_audit(found: Audit) -> Iterator[str | Table]:
    """Yield what the rows say about the model in sentences, and leaf by leaf or bin by bin.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[i / 10] for i in range(50)], ["no"] * 25 + ["yes"] * 25)
    >>> next(show_audit(found)).split(":")[0]
    'DecisionTreeClassifier, a tree of 2 leaves, on 50 rows that it has not seen'
    """
    yield _headline(found)
    yield (
        f"It has found the most probable class for [bold]{percentage(found.confidence)}[/bold] of "
        f"such rows; for its predictions it states {percentage(found.stated)} on average."
    )
    if found.rows == "training":
        yield "[yellow]These rows grew the model: all of this flatters it.[/yellow]"
    table = found.table
    weak = int(table.flagged.sum())
    if weak:
        kind = _kind(found, weak)
        share = table.n[table.flagged].sum() / table.n.sum()
        told = "is" if weak == 1 else "are"
        yield (
            f"[yellow]{weak} {kind} {told} not to be trusted[/yellow], with "
            f"{100 * share:.0f} % of the rows."
        )
    shown = largest_leaves(table.n, _SHOWN) if table is found.leaves else list(range(len(table)))
    if isinstance(table, AuditedLeaves):
        yield from _rules(table, shown)
    yield _groups(found, table, shown)
    hidden = len(table) - len(shown)
    if hidden:
        share = 1.0 - table.n[shown].sum() / table.n.sum()
        yield (
            f"[dim]{hidden:,} more {_kind(found, hidden)}, with {100 * share:.0f} % of the rows: "
            "--json has all of them.[/dim]"
        )
    if found.trees is not None:
        yield _trees(found)
    yield found.notes()[-1]


def _headline(found: Audit) -> str:
    estimate = found.accuracy
    seen = "that it was fitted on" if found.rows == "training" else "that it has not seen"
    return (
        f"{escape(found.model)}{_size(found)}, on {found.n_rows:,} rows {seen}: right about "
        f"[bold]{percentage(estimate.value)}[/bold] "
        f"({100 * estimate.low:.1f} to {100 * estimate.high:.1f})."
    )


def _size(found: Audit) -> str:
    if found.leaves is None:
        return ""
    if found.trees is not None:
        return f", {len(found.trees)} trees of {found.trees.leaves.mean():,.0f} leaves on average"
    return f", a tree of {leaves_in_words(len(found.leaves))}"


def _kind(found: Audit, number: int) -> str:
    one, many = ("leaf", "leaves") if found.table is found.leaves else ("bin", "bins")
    return one if number == 1 else many


def _rules(table: AuditedLeaves, shown: list[int]) -> Iterator[str]:
    if table.rule is None:
        return
    for line in shown:
        yield f"[dim]Leaf {table.leaf[line]}:[/dim] {escape(str(table.rule[line]))}"


def _groups(found: Audit, table: AuditedLeaves | AuditedBins, lines: list[int]) -> Table:
    is_leaf = isinstance(table, AuditedLeaves)
    shown = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, collapse_padding=True)
    shown.add_column("leaf" if is_leaf else "stated", no_wrap=True)
    shown.add_column("rows", justify="right", no_wrap=True)
    shown.add_column("predicts", justify="right", overflow="fold")
    stated = ["stated"] if is_leaf else []
    interval = f"{100 * found.level:g} %"
    for name in (*stated, "seen", interval, "confidence", "utility", "needed"):
        shown.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        star = "" if table.agrees[line] else "[yellow]*[/yellow]"
        stated = [f"{table.stated[line]:.2f}{star}"] if is_leaf else []
        shown.add_row(
            f"{_name(table, line)}{'' if is_leaf else star}"
            f"{' [yellow]![/yellow]' if table.flagged[line] else ''}",
            f"{table.n[line]:,.0f}" if table.n[line] >= 1000 else f"{table.n[line]:.4g}",
            escape(str(table.prediction[line])),
            *stated,
            _number(table.probability[line]),
            f"{table.low[line]:.2f}-{table.high[line]:.2f}",
            f"{table.confidence[line]:.2f}",
            f"{table.utility[line]:.2f}",
            "never" if math.isnan(table.rows_needed[line]) else f"{table.rows_needed[line]:,.0f}",
        )
    if not np.all(table.agrees[lines]):
        shown.caption = "! not to be trusted   * stated outside the interval"
    return shown


def _name(table: AuditedLeaves | AuditedBins, line: int) -> str:
    if isinstance(table, AuditedLeaves):
        return str(table.leaf[line])
    return f"{table.stated_from[line]:.2f}-{table.stated_to[line]:.2f}"


def _number(value: Any) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _trees(found: Audit) -> str:
    trees = found.trees
    assert trees is not None
    best, worst = float(trees.utility.max()), float(trees.utility.min())
    return (
        f"Each tree alone is right about {100 * trees.utility.mean():.1f} % "
        f"({100 * worst:.1f} to {100 * best:.1f}) and states {100 * trees.stated.mean():.1f} %; "
        f"{100 * trees.flagged.sum() / trees.leaves.sum():.0f} % of their leaves are not to be "
        f"trusted, {100 * trees.empty.sum() / trees.leaves.sum():.0f} % have none of these rows."
    )
