"""Plans: how many rows a node needs for a level, and how many rows a test set needs."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.table import Table

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

# Rows of a node.


@dataclass(frozen=True)
class WantedLevel:
    """A wanted level, and the fewest rows that reach it."""

    name: str
    level: float
    rows: int


@dataclass(frozen=True)
class LevelsOfRows:
    """The levels of a node with this many rows."""

    rows: int
    p_max: float
    confidence: float
    utility: float


@dataclass(frozen=True)
class BiasPlan:
    """The number of rows from which the exact bias of an estimator stays within a bound."""

    method: str
    bias: float
    rows: int


@dataclass(frozen=True)
class _InWords:
    """A plan that is sentences for people and plain values for programs."""

    def answer(self) -> str:
        """Return the plan in sentences."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values."""
        return {**asdict(self), "answer": self.answer()}


@dataclass(frozen=True)
class Plan(_InWords):
    """Rows and levels of a node whose p_max lies in a range.

    The lower end of the range decides, because levels increase with p_max. The levels are those at
    both ends, for the rows that there are and for those needed.
    """

    p_max: tuple[float, float]
    threshold: float
    wanted: tuple[WantedLevel, ...]
    rows: int | None
    rows_needed: int | None
    levels: tuple[LevelsOfRows, ...]
    biases: tuple[BiasPlan, ...]

    def answer(self) -> str:
        """Return the plan in sentences."""
        return " ".join(_sentences(self))


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

    A bias is the largest mean error of an estimator of p_max, anywhere in the range. At another
    threshold than 0.5, `p_max` is the probability of the class that is decided for above it.

    Examples
    --------
    >>> make_plan((0.75, 0.75), confidence=0.95).answer()
    'A node with p_max = 0.75 needs 9 rows for a confidence of 0.95.'
    >>> make_plan((0.7, 0.7), rows=20).answer()
    'With 20 rows, a node with p_max = 0.7 has confidence 0.967 and utility 0.687.'
    """
    if rows is not None and rows < 0:
        raise InvalidArgumentError(f"rows must be 0 or more; got {rows}.")
    if confidence is not None and threshold != 0.5:
        _check_side(p_max, confidence, threshold)
    p = p_max[0] if p_max[0] == p_max[1] else p_max
    wanted = tuple(
        WantedLevel(name, level, int(levels.sample_size(p, **{name: level}, threshold=threshold)))
        for name, level in (("confidence", confidence), ("utility", utility))
        if level is not None
    )
    needed = max((one.rows for one in wanted), default=None)
    of_rows = tuple(
        LevelsOfRows(
            n,
            end,
            float(levels.confidence(n, end, threshold=threshold)),
            float(levels.utility(n, end, threshold=threshold)),
        )
        for n in dict.fromkeys((rows, needed))
        if n is not None
        for end in dict.fromkeys(p_max)  # one end if both are equal
    )
    biases = tuple(
        BiasPlan(method, bias, int(levels.sample_size_for_bias(p_max, bias=bias, method=method)))
        for method in METHODS
        if bias is not None
    )
    return Plan(p_max, threshold, wanted, rows, needed, of_rows, biases)


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
    low, high = plan.p_max
    name, costs = "p_max", ""
    if plan.threshold != 0.5:
        name, costs = "p", f" and a cost threshold of {plan.threshold:.4g}"
    ends_of = f"= {low}" if low == high else f"from {low} to {high}"
    node = f"node with {name} {ends_of}{costs}"
    if plan.rows is not None:
        confidence, utility = (
            " to ".join(f"{getattr(end, name):.3f}" for end in plan.levels if end.rows == plan.rows)
            for name in ("confidence", "utility")
        )
        yield (
            f"With {count_of(plan.rows, 'row')}, a {node} has confidence {confidence} and utility "
            f"{utility}."
        )
    if plan.rows_needed is not None:
        subject = f"A {node}" if plan.rows is None else "It"
        wanted = " and ".join(f"a {one.name} of {one.level:g}" for one in plan.wanted)
        end = "."
        if plan.rows is not None:
            missing = plan.rows_needed - plan.rows
            end = f": {missing:,} more." if missing > 0 else ": there are enough."
        yield f"{subject} needs {count_of(plan.rows_needed, 'row')} for {wanted}{end}"
    if plan.biases:
        best = min(plan.biases, key=lambda one: one.rows)
        yield (
            f"From {count_of(best.rows, 'row')} on, the bias of the {best.method} estimate of "
            f"p_max is at most {best.bias:g}; the other estimates need more rows."
        )


def plan_tables(plan: Plan) -> Iterator[Table]:
    """Yield the tables of a plan: rows for levels, levels of rows, rows for a bias."""
    rows = [(one.name, f"{one.level:g}", f"[bold]{one.rows:,}[/bold]") for one in plan.wanted]
    if rows:
        both = [("both", "", f"[bold]{plan.rows_needed:,}[/bold]")] if len(rows) > 1 else []
        yield number_table("wanted level", "at least", "rows needed", rows=[*rows, *both])
    lines = [
        (f"{one.rows:,}", f"{one.p_max:g}", f"{one.confidence:.4f}", f"{one.utility:.4f}")
        for one in plan.levels
    ]
    if lines:
        yield number_table("rows", "p_max", "confidence", "utility", rows=lines)
    rows = [(one.method, f"{one.bias:g}", f"[bold]{one.rows:,}[/bold]") for one in plan.biases]
    if rows:
        yield number_table("estimate of p_max", "bias at most", "from rows", rows=rows)


# Splits of a node.


@dataclass(frozen=True)
class SplitLevels:
    """The levels of a split for so many rows of its node."""

    rows: int
    split: str
    confidence: float
    utility: float


@dataclass(frozen=True)
class BestSplit:
    """The split with the highest level from so many rows on."""

    level: str
    from_rows: int
    split: str


@dataclass(frozen=True)
class SplitCrossing:
    """From so many rows on, a level of one split is above that of another."""

    level: str
    from_rows: int
    above: str
    below: str


@dataclass(frozen=True)
class SplitsPlan(_InWords):
    """Splits of a node beside no split: their levels by rows, and where they cross."""

    p_max: float
    other_p_max: tuple[float, ...]
    levels: tuple[SplitLevels, ...]
    best: tuple[BestSplit, ...]
    crossings: tuple[SplitCrossing, ...]

    def answer(self) -> str:
        """Return the plan in sentences."""
        return " ".join(map(self._best_in_words, _SPLIT_LEVELS))

    def _best_in_words(self, level: Level) -> str:
        first, *later = (one for one in self.best if one.level == level)
        highest = f"The {level} of {first.split} is the highest"
        if not later:
            return f"{highest} at every number of rows."
        others = (f"of {one.split} from {one.from_rows:,} rows on" for one in later)
        return f"{highest} with few rows, {', '.join(others)}."

    def of_no_split(self) -> str:
        """Say which p_max no split has, and which others the splits allow."""
        text = f"No split: p_max = {self.p_max:.4g} of the whole node"
        if not self.other_p_max:
            return f"{text}."
        others = " or ".join(f"{p:.4g}" for p in self.other_p_max)
        return (
            f"{text}, the smallest value that the splits allow; --p-max sets another, such as "
            f"{others}, where more of their nodes have the same majority."
        )

    def crossings_in_words(self) -> str:
        """Say where the levels of two splits cross; empty if they do not."""
        found = [
            f"{one.above} has more {one.level} than {one.below} from {one.from_rows:,} rows on"
            for one in self.crossings
        ]
        return f"Crossings: {'; '.join(found)}." if found else ""


_NO_SPLIT = "no split"
_SPLIT_LEVELS: tuple[Level, Level] = ("utility", "confidence")
_MOST_ROWS = 10_000
"""Crossings are looked for up to so many rows."""
_SHOWN_ROWS = (5, 11, 21, 51, 101, 201, 501, 1001)
"""Odd numbers, because an even number of rows gives a node the confidence of one row less."""


def plan_splits(splits: dict[str, CandidateSplit], *, p_max: float | None = None) -> SplitsPlan:
    """Compare splits of a node with no split, by the number of rows of the node.

    Without the p_max of the node it is the smallest one that all splits allow.
    """
    allowed = unsplit_p_max(list(splits.values())) if p_max is None else [p_max]
    named = {_NO_SPLIT: checked_split([1.0], allowed[:1]), **splits}
    names, shown = list(named), np.array(_SHOWN_ROWS) - 1
    n = np.arange(1.0, _MOST_ROWS + 1)
    values = {level: split_levels(level, n, named.values()) for level in _SPLIT_LEVELS}
    return SplitsPlan(
        p_max=allowed[0],
        other_p_max=tuple(allowed[1:]),
        levels=tuple(
            SplitLevels(int(n[at]), name, *(float(values[k][i, at]) for k in _SPLIT_LEVELS[::-1]))
            for at in shown
            for i, name in enumerate(names)
        ),
        best=tuple(
            BestSplit(level, rows, names[index])
            for level in _SPLIT_LEVELS
            for rows, index in best_splits(n, values[level])
        ),
        crossings=tuple(
            SplitCrossing(level, rows, names[above], names[below])
            for level in _SPLIT_LEVELS
            for rows, above, below in crossings(n, values[level])
        ),
    )


def splits_table(plan: SplitsPlan) -> Table:
    """Return the levels of all splits by rows."""
    cells = {n: [f"{n:,}"] for n in _SHOWN_ROWS}
    for one in plan.levels:
        cells[one.rows].append(f"{one.utility:.3f} ({one.confidence:.3f})")
    names = dict.fromkeys(one.split for one in plan.levels)
    return number_table("rows", *names, rows=cells.values())


# Rows of a test set.


@dataclass(frozen=True)
class RowsForQuestion:
    """A question, what its answer assumes, and the fewest test rows that answer it."""

    question: str
    assumed: str
    rows: int


@dataclass(frozen=True)
class RowsPlan(_InWords):
    """Test rows for each question: first the width, then the difference."""

    level: float
    questions: tuple[RowsForQuestion, ...]

    def answer(self) -> str:
        """Return the plan in sentences."""
        return " ".join(f"{one.question} {one.rows:,} test rows." for one in self.questions)


def plan_rows(
    *,
    half_width: float | None = None,
    difference: float | None = None,
    rate: float | None = None,
    discordance: float | None = None,
    independent: bool = False,
    power: float = 0.8,
    level: float = 0.95,
) -> RowsPlan:
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
        questions.append(RowsForQuestion(question, "Clopper and Pearson's interval", rows))
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
        assumed = f"{test}, lower error rate {lower:g}"
        questions.append(RowsForQuestion(question, assumed, rows))
    if not questions:
        raise InvalidArgumentError(
            "plan needs a question: --p-max for a node; --split for its splits; --half-width for "
            "an interval or --difference for a comparison of error rates; got none of them."
        )
    return RowsPlan(level, tuple(questions))


def rows_table(plan: RowsPlan) -> Table:
    """Return the table of test rows."""
    level = f"{plan.level:g}"
    rows = ((one.assumed, level, f"[bold]{one.rows:,}[/bold]") for one in plan.questions)
    return number_table("method", "level", "test rows", rows=rows)
