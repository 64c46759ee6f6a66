"""A plan as tables: rows for levels, levels of rows, rows for a bias."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from sureleaf.report.number_table import number_table
from sureleaf.report.plan import Plan

if TYPE_CHECKING:
    from sureleaf.report.rows_plan import RowsPlan

__all__ = ["rows_table", "tables"]


def tables(plan: Plan) -> Iterator[Table]:
    """Yield the tables that the plan has something for.

    Examples
    --------
    >>> from sureleaf.report.plan import make_plan
    >>> [table.row_count for table in tables(make_plan((0.7, 0.9), confidence=0.95))]
    [1, 2]
    """
    if plan.wanted:
        yield _wanted(plan)
    if plan.levels:
        yield _levels(plan)
    if plan.biases:
        yield _biases(plan)


def _wanted(plan: Plan) -> Table:
    table = number_table("level wanted", "at least", "rows needed")
    for one in plan.wanted:
        table.add_row(one.name, f"{one.level:g}", f"[bold]{one.rows:,}[/bold]")
    if len(plan.wanted) > 1:
        table.add_row("both", "", f"[bold]{plan.rows_needed:,}[/bold]")
    return table


def _levels(plan: Plan) -> Table:
    table = number_table("rows", "p_max", "confidence", "utility")
    for level in plan.levels:
        table.add_row(
            f"{level.rows:,}", f"{level.p_max:g}", f"{level.confidence:.4f}", f"{level.utility:.4f}"
        )
    return table


def _biases(plan: Plan) -> Table:
    table = number_table("estimate of p_max", "bias within", "from rows")
    for one in plan.biases:
        table.add_row(one.method, f"{one.bias:g}", f"[bold]{one.rows:,}[/bold]")
    return table


def rows_table(plan: "RowsPlan") -> Table:
    """Return the table of test rows.

    Examples
    --------
    >>> from sureleaf.report.rows_plan import plan_rows
    >>> rows_table(plan_rows(half_width=0.02)).row_count
    1
    """
    table = number_table("assumed", "level", "test rows")
    for one in plan.questions:
        table.add_row(one.assumed, f"{plan.level:g}", f"[bold]{one.rows:,}[/bold]")
    return table
