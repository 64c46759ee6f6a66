"""How many rows a node needs, and what levels a number of rows gives."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.table import Table

from sureleaf import levels
from sureleaf.comparison import rows_for_width, rows_to_detect
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.estimates import METHODS
from sureleaf.report.terminal import number_table

__all__ = [
    "BiasPlan",
    "LevelsOfRows",
    "Plan",
    "RowsFor",
    "RowsPlan",
    "Wanted",
    "make_plan",
    "plan_rows",
    "rows_table",
    "tables",
]


@dataclass(frozen=True)
class Wanted:
    """A level that was asked for, and the fewest rows that reach it.

    Examples
    --------
    >>> make_plan((0.75, 0.75), confidence=0.95).wanted[0]
    Wanted(name='confidence', level=0.95, rows=9)
    """

    name: str
    level: float
    rows: int


@dataclass(frozen=True)
class LevelsOfRows:
    """The levels of a node with so many rows.

    Examples
    --------
    >>> make_plan((0.75, 0.75), rows=9).levels[0].rows
    9
    """

    rows: int
    p_max: float
    confidence: float
    utility: float


@dataclass(frozen=True)
class BiasPlan:
    """The rows from which on an estimator's exact bias stays within a bound.

    Examples
    --------
    >>> make_plan((0.6, 0.9), bias=0.02).biases[0].method
    'mle'
    """

    method: str
    bias: float
    rows: int


@dataclass(frozen=True)
class Plan:
    """Rows and levels of a node whose p_max lies in a range.

    Parameters
    ----------
    p_max : (float, float)
        The range; its lower end decides, since levels increase in p_max.
    wanted : tuple of Wanted
        The levels asked for.
    rows : int or None
        The rows that are there, if said.
    rows_needed : int or None
        The fewest rows that reach every level asked for.
    levels : tuple of LevelsOfRows
        What the rows that are there, and those needed, give at both ends of the range.
    biases : tuple of BiasPlan
        For each estimator of p_max, if a bias was asked for.

    Examples
    --------
    >>> make_plan((0.75, 0.75), confidence=0.95, utility=0.7).rows_needed
    9
    """

    p_max: tuple[float, float]
    wanted: tuple[Wanted, ...]
    rows: int | None
    rows_needed: int | None
    levels: tuple[LevelsOfRows, ...]
    biases: tuple[BiasPlan, ...]

    def answer(self) -> str:
        """Return the plan in plain sentences.

        Examples
        --------
        >>> make_plan((0.75, 0.75), confidence=0.95).answer()
        'A node with p_max = 0.75 needs 9 rows for a confidence of 0.95.'
        """
        return " ".join(_sentences(self))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values for JSON."""
        return {
            "p_max": list(self.p_max),
            "wanted": [vars(wanted) for wanted in self.wanted],
            "rows": self.rows,
            "rows_needed": self.rows_needed,
            "levels": [vars(level) for level in self.levels],
            "biases": [vars(bias) for bias in self.biases],
            "answer": self.answer(),
        }


def make_plan(
    p_max: tuple[float, float],
    *,
    confidence: float | None = None,
    utility: float | None = None,
    rows: int | None = None,
    bias: float | None = None,
) -> Plan:
    """Return what it takes to reach levels, and what rows that are there give.

    Parameters
    ----------
    p_max : (float, float)
        Range of the probability of the node's more probable class.
    confidence, utility : float, optional
        Levels to reach.
    rows : int, optional
        Rows that are there.
    bias : float, optional
        How far an estimator of p_max may be off on average, anywhere in the range.

    Returns
    -------
    Plan
        Rows and levels.

    Raises
    ------
    UnreachableLevelError
        If no number of rows reaches a level.

    Examples
    --------
    >>> make_plan((0.7, 0.7), rows=20).answer()
    'With 20 rows, a node with p_max = 0.7 has confidence 0.967 and utility 0.687.'
    """
    low, high = p_max
    asked = {"confidence": confidence, "utility": utility}
    wanted = tuple(
        Wanted(name, level, int(levels.sample_size((low, high), **{name: level})))
        for name, level in asked.items()
        if level is not None
    )
    if rows is not None and rows < 0:
        raise InvalidArgumentError(f"rows must be 0 or more; got {rows}.")
    needed = max((one.rows for one in wanted), default=None)
    return Plan(
        p_max=(low, high),
        wanted=wanted,
        rows=rows,
        rows_needed=needed,
        levels=_levels_of((low, high), rows, needed),
        biases=() if bias is None else _biases((low, high), bias),
    )


def _levels_of(p_max: tuple[float, float], *rows: int | None) -> tuple[LevelsOfRows, ...]:
    ends = dict.fromkeys(p_max)  # one end where both are the same
    return tuple(
        LevelsOfRows(n, p, float(levels.confidence(n, p)), float(levels.utility(n, p)))
        for n in dict.fromkeys(rows)
        if n is not None
        for p in ends
    )


def _biases(p_max: tuple[float, float], bias: float) -> tuple[BiasPlan, ...]:
    return tuple(
        BiasPlan(method, bias, int(levels.sample_size_for_bias(p_max, bias=bias, method=method)))
        for method in METHODS
    )


def _sentences(plan: Plan) -> list[str]:
    low, high = plan.p_max
    node = (
        f"a node with p_max = {low}" if low == high else f"a node with p_max from {low} to {high}"
    )
    said = []
    if plan.rows is not None:
        said.append(f"With {_rows(plan.rows)}, {node} has {_range_of(plan, plan.rows)}.")
    if plan.rows_needed is not None:
        goals = " and ".join(f"a {one.name} of {one.level:g}" for one in plan.wanted)
        subject = node if plan.rows is None else "it"
        said.append(
            f"{subject[0].upper()}{subject[1:]} needs {_rows(plan.rows_needed)} for {goals}"
        )
        said[-1] += _missing(plan)
    if plan.biases:
        best = min(plan.biases, key=lambda one: one.rows)
        said.append(
            f"From {_rows(best.rows)} on, the {best.method} estimate of p_max stays within "
            f"{best.bias:g} of the truth on average, the soonest of {len(plan.biases)} estimates."
        )
    return said


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _range_of(plan: Plan, rows: int) -> str:
    ends = [level for level in plan.levels if level.rows == rows]
    confidence = " to ".join(f"{end.confidence:.3f}" for end in ends)
    utility = " to ".join(f"{end.utility:.3f}" for end in ends)
    return f"confidence {confidence} and utility {utility}"


def _missing(plan: Plan) -> str:
    if plan.rows is None or plan.rows_needed is None:
        return "."
    short = plan.rows_needed - plan.rows
    return f": {short:,} more." if short > 0 else ": enough."


# A plan as tables: rows for levels, levels of rows, rows for a bias.


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
        yield _biases_plan_text(plan)


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


def _biases_plan_text(plan: Plan) -> Table:
    table = number_table("estimate of p_max", "bias within", "from rows")
    for one in plan.biases:
        table.add_row(one.method, f"{one.bias:g}", f"[bold]{one.rows:,}[/bold]")
    return table


def rows_table(plan: "RowsPlan") -> Table:
    """Return the table of test rows.

    Examples
    --------
    >>> from sureleaf.report.plan import plan_rows
    >>> rows_table(plan_rows(half_width=0.02)).row_count
    1
    """
    table = number_table("assumed", "level", "test rows")
    for one in plan.questions:
        table.add_row(one.assumed, f"{plan.level:g}", f"[bold]{one.rows:,}[/bold]")
    return table


# How many test rows a question needs: an interval so narrow, or a difference so small.

POWER = 0.8


@dataclass(frozen=True)
class RowsFor:
    """A question, and the fewest test rows that answer it.

    Examples
    --------
    >>> plan_rows(half_width=0.03).questions[0].rows
    1064
    """

    question: str
    assumed: str
    rows: int


@dataclass(frozen=True)
class RowsPlan:
    """Test rows for every question asked.

    Parameters
    ----------
    questions : tuple of RowsFor
        In the order width, difference.
    level : float
        Level of the interval and the test.

    Examples
    --------
    >>> plan_rows(difference=0.02, rate=0.1, independent=True).answer()
    'To find a difference of 0.02 with a power of 0.8, each of the two needs 3,841 test rows.'
    """

    questions: tuple[RowsFor, ...]
    level: float

    def answer(self) -> str:
        """Return the plan in plain sentences."""
        return " ".join(f"{one.question} {one.rows:,} test rows." for one in self.questions)

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values for JSON."""
        return {
            "level": self.level,
            "questions": [vars(one) for one in self.questions],
            "answer": self.answer(),
        }


def plan_rows(
    *,
    half_width: float | None = None,
    difference: float | None = None,
    rate: float | None = None,
    discordance: float | None = None,
    independent: bool = False,
    power: float = POWER,
    level: float = 0.95,
) -> RowsPlan:
    """Return the test rows that an interval's width and a difference to be found need.

    Parameters
    ----------
    half_width : float, optional
        Half the width that the interval of a rate may have (Wilson's).
    difference : float, optional
        Difference of two error rates that a test is to find.
    rate : float, optional
        The error rate expected; the lower of the two for a difference. By default the one that
        needs the most rows.
    discordance : float, optional
        Share of rows that only one of two models gets right; by default as if they erred
        independently.
    independent : bool
        Each model has test rows of its own.
    power, level : float
        Of the test; level also of the interval.

    Examples
    --------
    >>> plan_rows(half_width=0.02, rate=0.1).answer()
    'For an interval of ± 0.02 around a rate near 0.1 it takes 868 test rows.'
    """
    questions = []
    if half_width is not None:
        near = 0.5 if rate is None else rate
        questions.append(
            RowsFor(
                f"For an interval of ± {half_width:g} around a rate near {near:g} it takes",
                "Wilson's interval",
                rows_for_width(half_width, rate=near, level=level),
            )
        )
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
        who = "each of the two needs" if independent else "both need the same"
        told = "McNemar" if not independent else "z, pooled"
        if not independent and discordance is None:
            told += ", errors independent"
        questions.append(
            RowsFor(
                f"To find a difference of {difference:g} with a power of {power:g}, {who}",
                f"{told}, lower error rate {lower:g}",
                rows,
            )
        )
    if not questions:
        raise InvalidArgumentError(
            "a plan needs to know what for: --p-max for a node, --half-width for an interval, "
            "or --difference for a comparison; got none of them."
        )
    return RowsPlan(tuple(questions), level)
