"""``sureleaf curve``: how a measure improves with more rows."""

from typing import Annotated, Any

import typer

from sureleaf.cli import options

__all__ = ["curve"]


@options.with_tree_options
@options.with_csv_options
def curve(
    data: options.Data,
    target: options.Target,
    tree_options: dict[str, Any],
    csv: "options.CsvFormat",
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
    reach: Annotated[
        float | None,
        typer.Option(help="Estimate the rows at which the measure reaches this value."),
    ] = None,
    repeats: Annotated[
        int, typer.Option(help="Number of hold-outs, each with its own samples.")
    ] = 10,
    test: options.Test = 1 / 3,
    positive: options.Positive = None,
    cost: options.Cost = None,
    group: options.Group = None,
    weight: options.Weight = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw the learning curve of a classifier, and estimate how many rows it needs.

    For example:

    - sureleaf curve data.csv --target class

    - sureleaf curve data.csv --target class --reach 0.9

    - sureleaf curve data.csv -t class --start 50 --step 25 --worth 0.005
    """
    from sureleaf import evaluation
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import command_values, terminal
    from sureleaf.report.question import read_question

    question = read_question(
        data,
        target,
        group=group,
        weight=weight,
        drop=drop or (),
        categorical=categorical or (),
        csv=csv,
    )
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
        positive=options.read_label(positive, question.y),
        cost=None if cost is None else options.read_cost(cost, question.y),
        groups=question.groups,
        sample_weight=question.weights,
        n_jobs=jobs,
        random_state=seed,
    )
    target_rows = None if reach is None else result.rows_for(reach)
    if as_json:
        show_json(command_values.curve_values(result, target_rows))
    else:
        show(
            *terminal.show_curve(result, target_rows),
            *options.unlabelled_note(question.n_left_out),
        )
