"""``sureleaf plan``: how many rows a node needs, and how many test rows a question."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["plan"]


def plan(
    context: typer.Context,
    p_max: Annotated[
        str | None,
        typer.Option(
            "--p-max",
            metavar="P[:P]",
            help="Probability of the node's more probable class, from 0.5 to 1, or a range of it.",
        ),
    ] = None,
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
    half_width: Annotated[
        float | None,
        typer.Option(help="Test rows for an interval that is twice as wide as this."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(help="Test rows to find such a difference between two error rates."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Error rate expected, the lower of two.",
            show_default="what needs the most rows",
        ),
    ] = None,
    discordance: Annotated[
        float | None,
        typer.Option(
            help="Share of rows that only one of the two gets right.",
            show_default="as if they erred independently",
        ),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Each of the two has test rows of its own.")
    ] = False,
    power: Annotated[float, typer.Option(help="Chance of finding the difference.")] = 0.8,
    level: Annotated[float, typer.Option(help="Level of the interval and the test.")] = 0.95,
    as_json: given.AsJson = False,
) -> None:
    """Say how many rows a node needs for a level, or how many test rows a question needs.

    For example:

    - sureleaf plan --p-max 0.75 --confidence 0.95

    - sureleaf plan --p-max 0.7:0.9 --confidence 0.95 --utility 0.65

    - sureleaf plan --p-max 0.75 --rows 20

    - sureleaf plan --p-max 0.6:0.9 --bias 0.01

    - sureleaf plan --half-width 0.02 --rate 0.1

    - sureleaf plan --difference 0.02 --rate 0.1 --discordance 0.06
    """
    from sureleaf.report import plan
    from sureleaf.report.plan import make_plan

    shown: list[RenderableType] = []
    plain: dict[str, Any] = {}
    if p_max is not None:
        if confidence is None and utility is None and rows is None and bias is None:
            confidence = 0.95
        made = make_plan(
            _range(":".join([p_max, *context.args])),  # --p-max 0.7 0.9 is --p-max 0.7:0.9
            confidence=confidence,
            utility=utility,
            rows=rows,
            bias=bias,
        )
        shown += [*plan.tables(made), f"[bold]{made.answer()}[/bold]"]
        plain |= made.to_dict()
    if p_max is None or half_width is not None or difference is not None:
        from sureleaf.report.plan import plan_rows

        test = plan_rows(
            half_width=half_width,
            difference=difference,
            rate=rate,
            discordance=discordance,
            independent=independent,
            power=power,
            level=level,
        )
        shown += [plan.rows_table(test), f"[bold]{test.answer()}[/bold]"]
        plain["test_rows"] = test.to_dict()
    if as_json:
        show_json(plain)
    else:
        show(*shown)


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
