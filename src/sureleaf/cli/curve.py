"""``sureleaf curve``: what more rows are worth."""

from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read

__all__ = ["curve"]


def curve(
    data: given.Data,
    target: given.Target,
    model: given.ModelName = "TreeClassifier",
    measure: given.MeasureName = "accuracy",
    start: Annotated[
        int | None,
        typer.Option(help="Rows of the first sample.", show_default="50, fewer of small tables"),
    ] = None,
    factor: Annotated[float, typer.Option(help="Each sample is so many times larger.")] = 2.0,
    step: Annotated[
        int | None, typer.Option(help="Each sample is so many rows larger, instead.")
    ] = None,
    worth: Annotated[
        float | None, typer.Option(help="Stop when the next sample surely gains less than this.")
    ] = None,
    reach: Annotated[
        float | None, typer.Option(help="How many rows until the measure reaches this?")
    ] = None,
    repeats: Annotated[int, typer.Option(help="Hold-outs, with samples of their own.")] = 10,
    test: given.Test = 1 / 3,
    positive: given.Positive = None,
    cost: given.Cost = None,
    group: given.Group = None,
    weight: given.Weight = None,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Draw the learning curve of a classifier, and say how many rows a target needs.

    For example:

    - sureleaf curve data.csv --target class

    - sureleaf curve data.csv --target class --reach 0.9

    - sureleaf curve data.csv -t class --start 50 --step 25 --worth 0.005
    """
    from sureleaf import evaluation as room
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import terminal
    from sureleaf.report.question import read_model, read_question

    asked = read_question(
        data,
        target,
        group=group,
        weight=weight,
        drop=drop or (),
        csv=read.csv_format(delimiter, encoding, decimal, missing),
    )
    if start is None:
        start = max(4, min(50, len(asked.y) // 8))
    found = room.learning_curve(
        read_model(model, asked.X),
        asked.X,
        asked.y,
        schedule=room.Geometric(start, factor) if step is None else room.Arithmetic(start, step),
        stop=None if worth is None else room.NotWorthwhile(worth, level),
        measure=measure,
        repeats=repeats,
        test=test,
        level=level,
        positive=given.read_label(positive, asked.y),
        cost=None if cost is None else given.read_cost(cost, asked.y),
        groups=asked.groups,
        sample_weight=asked.weights,
        n_jobs=jobs,
        random_state=seed,
    )
    target_rows = None if reach is None else found.rows_for(reach)
    if as_json:
        show_json(terminal.curve_values(found, target_rows))
    else:
        show(*terminal.show_curve(found, target_rows), *given.left_out(asked.n_left_out))
