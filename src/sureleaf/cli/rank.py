"""``sureleaf rank``: rank columns by how well each one predicts alone."""

from typing import Annotated

import typer

from sureleaf.cli import options

__all__ = ["rank"]


@options.with_csv_options
def rank(
    data: options.Data,
    target: options.Target,
    csv: "options.CsvFormat",
    by: Annotated[
        str,
        typer.Option(
            "--by",
            help="Sort by utility, gini or gain_ratio. Columns that do not change the prediction "
            "have the same utility.",
        ),
    ] = "utility",
    training: Annotated[
        bool,
        typer.Option(
            "--training",
            help="Compute levels from the training rows, which is too optimistic.",
        ),
    ] = False,
    seed: options.Seed = 0,
    jobs: options.Threads = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    as_json: options.AsJson = False,
) -> None:
    """Rank columns by the levels of a tree with a single split on that column.

    For example:

    - sureleaf rank data.csv --target class

    - sureleaf rank data.csv --target class --by gini

    - sureleaf rank data.csv --target class --training --json
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.estimators import rank_columns
    from sureleaf.report import command_values, terminal
    from sureleaf.report.question import read_question

    question = read_question(
        data,
        target,
        drop=drop or (),
        categorical=categorical or (),
        csv=csv,
    )
    ranking = rank_columns(
        question.X,
        question.y,
        by=by,
        levels_from="training" if training else "cross_fit",
        n_jobs=jobs,
        random_state=seed,
    )
    if as_json:
        show_json(command_values.ranking_values(ranking))
    else:
        show(
            *terminal.show_ranking(ranking, question.y),
            *options.unlabelled_note(question.n_left_out),
        )
