"""How many test rows a question needs: an interval so narrow, or a difference so small."""

from dataclasses import dataclass
from typing import Any

from sureleaf.comparison import rows_for_width, rows_to_detect
from sureleaf.errors import InvalidArgumentError

__all__ = ["RowsFor", "RowsPlan", "plan_rows"]

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
