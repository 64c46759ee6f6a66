"""``sureleaf rank``: rank columns by how well each one predicts alone."""

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.errors import InvalidArgumentError


@options.with_options(
    by=option(
        "Sort by utility, gini or gain_ratio. Columns that do not change the prediction have the "
        "same utility."
    ),
    training=option("Compute levels from the training rows, which is too optimistic."),
    method=option(
        "With --training: the estimate of p_max, mle, blend or entropic.",
        default="mle",
        words=("mle", "blend", "entropic"),
    ),
    table=options.table_options("drop", "categorical", "csv"),
)
def rank(
    data: options.Data,
    target: options.Target,
    table: options.TableOptions,
    by: str = "utility",
    training: bool = False,
    method: str | None = None,
    jobs: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Rank columns by the levels of a tree with a single split on that column.

    For example:

    - sureleaf rank data.csv --target class

    - sureleaf rank data.csv --target class --by gini

    - sureleaf rank data.csv --target class --training --json
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import json_values, terminal
    from sureleaf.estimators import rank_columns

    if method is not None and not training:
        raise InvalidArgumentError(
            f"--method must go with --training, whose p_max it estimates; got {method!r} alone. "
            "Add --training, or leave it out."
        )
    question = table.read(data, target)
    ranking = rank_columns(
        question.X,
        question.y,
        by=by,
        levels_from="training" if training else "cross_fit",
        method=method,
        n_jobs=jobs,
        random_state=0,
    )
    if as_json:
        show_json(json_values.ranking_values(ranking))
    else:
        show(
            *terminal.show_ranking(ranking, question.y),
            *options.unlabelled_note(question.n_left_out),
        )
