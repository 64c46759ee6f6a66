"""``sureleaf rank``: what each column is worth on its own."""

from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read

__all__ = ["rank"]


def rank(
    data: given.Data,
    target: given.Target,
    training: Annotated[
        bool,
        typer.Option(
            "--training", help="Levels of the training rows, as the paper has them; they flatter."
        ),
    ] = False,
    seed: given.Seed = 0,
    jobs: given.Threads = None,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Rank columns by the levels of a tree that splits once, on that column.

    For example:

    - sureleaf rank data.csv --target class

    - sureleaf rank data.csv --target class --training --json
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.estimators import rank_columns
    from sureleaf.report import terminal
    from sureleaf.report.question import read_question

    asked = read_question(
        data,
        target,
        drop=drop or (),
        csv=read.csv_format(delimiter, encoding, decimal, missing),
    )
    ranking = rank_columns(
        asked.X,
        asked.y,
        levels_from="training" if training else "cross_fit",
        n_jobs=jobs,
        random_state=seed,
    )
    if as_json:
        show_json(terminal.ranking_values(ranking))
    else:
        show(*terminal.show_ranking(ranking, asked.y), *given.left_out(asked.n_left_out))
