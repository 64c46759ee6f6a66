"""``sureleaf plan``: how many rows a node needs, and what levels its rows give."""

from typing import Annotated

import typer

from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

__all__ = ["plan"]


def plan(
    context: typer.Context,
    p_max: Annotated[
        str,
        typer.Option(
            "--p-max",
            metavar="P[:P]",
            help="Probability of the node's more probable class, from 0.5 to 1, or a range of it.",
        ),
    ],
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            "-c",
            help="Wanted chance that the rows' majority is the more probable class.",
            show_default="0.95 if nothing else is asked",
        ),
    ] = None,
    utility: Annotated[
        float | None,
        typer.Option("--utility", "-u", help="Wanted chance of being right about the next row."),
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", "-n", help="Rows that are there: show their levels.")
    ] = None,
    bias: Annotated[
        float | None,
        typer.Option(help="How far estimates of p_max may be off on average, such as 0.01."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Say how many rows a node needs for a level, and what levels its rows give.

    For example:

    - sureleaf plan --p-max 0.75 --confidence 0.95

    - sureleaf plan --p-max 0.7:0.9 --confidence 0.95 --utility 0.65

    - sureleaf plan --p-max 0.75 --rows 20

    - sureleaf plan --p-max 0.6:0.9 --bias 0.01
    """
    from sureleaf.report import plan_text
    from sureleaf.report.plan import make_plan

    if confidence is None and utility is None and rows is None and bias is None:
        confidence = 0.95
    made = make_plan(
        _range(":".join([p_max, *context.args])),  # --p-max 0.7 0.9 is --p-max 0.7:0.9
        confidence=confidence,
        utility=utility,
        rows=rows,
        bias=bias,
    )
    if as_json:
        show_json(made.to_dict())
    else:
        show(*plan_text.tables(made), f"[bold]{made.answer()}[/bold]")


def _range(text: str) -> tuple[float, float]:
    """Return the two ends of "0.7:0.9", or of one number twice."""
    try:
        ends = [float(end) for end in text.split(":")]
        low, high = ends if len(ends) == 2 else (ends[0], *ends)
    except ValueError:
        raise InvalidArgumentError(
            f"--p-max must be a number such as 0.75 or a range such as 0.7:0.9; got {text!r}."
        ) from None
    return low, high
