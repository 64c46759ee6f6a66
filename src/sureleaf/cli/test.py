"""``sureleaf test``: intervals and tests from published numbers alone."""

from dataclasses import asdict

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import complete_choices, show, show_json

_QUESTIONS = ("rate", "rates", "differences", "mcnemar")


@options.with_options(
    question=typer.Argument(
        metavar="QUESTION",
        help="rate, rates, differences or mcnemar.",
        autocompletion=complete_choices(*_QUESTIONS),
    ),
    values=typer.Argument(
        metavar="VALUES...",
        help="Rates as 76/100 or 15%/30; differences, one per fold of a cross-validation; for "
        "mcnemar the rows that only the first and only the second model predicts correctly.",
    ),
    rows=option("For mcnemar: all test rows, for the difference and its interval."),
)
def test(
    question: str,
    values: list[str],
    rows: int | None = None,
    level: options.IntervalLevel = 0.95,
    as_json: options.AsJson = False,
) -> None:
    """Test published numbers, by the textbook and by the recommended method.

    For example:
    - sureleaf test rate 76/100
    - sureleaf test rates 76/100 83/120
    - sureleaf test differences 0.01 -0.02 0.03 0.02 0.04
    - sureleaf test mcnemar 7 18 --rows 200
    """
    from sureleaf.commands.published import read_test, show_test

    options.choice("QUESTION", question, _QUESTIONS)
    found = read_test(question, values, level=level, rows=rows)
    if as_json:
        show_json(asdict(found))
    else:
        show(*show_test(found))
