"""``sureleaf curve``: how a measure improves with more rows."""

from typing import Annotated, Any

import typer

from sureleaf.cli import options

__all__ = ["curve"]


@options.with_tree_options
@options.with_table_options()
def curve(
    data: options.Data,
    target: options.Target,
    tree_options: dict[str, Any],
    table: options.TableOptions,
    model: options.ModelName = None,
    measure: options.MeasureName = "accuracy",
    start: Annotated[
        int | None,
        typer.Option(help="Rows of the first sample.", show_default="50, fewer for small tables"),
    ] = None,
    factor: Annotated[float, typer.Option(help="Each sample is this many times larger.")] = 2.0,
    step: Annotated[
        int | None, typer.Option(help="Instead of --factor: each sample has this many more rows.")
    ] = None,
    worth: Annotated[
        float | None,
        typer.Option(help="Stop when the next sample almost certainly gains less than this."),
    ] = None,
    repeats: Annotated[
        int, typer.Option(help="Number of hold-outs, each with its own samples.")
    ] = 10,
    test: options.Test = 1 / 3,
    positive: options.Positive = None,
    cost: options.Cost = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw the learning curve of a classifier.

    For example:

    - sureleaf curve data.csv --target class

    - sureleaf curve data.csv -t class --start 50 --step 25 --worth 0.005
    """
    from sureleaf import evaluation
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import json_values, terminal

    question = table.read(data, target)
    if start is None:
        start = max(4, min(50, len(question.y) // 8))
    result = evaluation.learning_curve(
        options.evaluated_model(model, tree_options, question.X),
        question.X,
        question.y,
        schedule=evaluation.Geometric(start, factor)
        if step is None
        else evaluation.Arithmetic(start, step),
        stop=None if worth is None else evaluation.NotWorthwhile(worth, level),
        measure=measure,
        repeats=repeats,
        test=test,
        level=level,
        **options.row_arguments(question, positive, cost),
        n_jobs=jobs,
        random_state=seed,
    )
    if as_json:
        show_json(json_values.curve_values(result))
    else:
        show(
            *terminal.show_curve(result),
            *options.unlabelled_note(question.n_left_out),
        )
