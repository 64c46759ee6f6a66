"""``sureleaf rank``: rank columns by how well each one predicts alone."""

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json


@options.with_options(
    training=option("Compute levels from the training rows, which is too optimistic."),
    table=options.table_options("categorical", "csv"),
)
def rank(
    data: options.Data,
    target: options.Target,
    table: options.TableOptions,
    training: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Rank columns by the levels of a tree with a single split on that column.

    For example:
    - sureleaf rank data.csv --target class
    - sureleaf rank data.csv --target class --training --json
    """
    from sureleaf.commands import json_values, terminal
    from sureleaf.estimators import rank_columns

    question = table.read(data, target)
    ranking = rank_columns(
        question.X, question.y, levels_from="training" if training else "cross_fit", random_state=0
    )
    if as_json:
        show_json(json_values.ranking_values(ranking))
    else:
        show(
            *terminal.show_ranking(ranking, question.y),
            *options.unlabelled_note(question.n_left_out),
        )
