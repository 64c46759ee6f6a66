"""``sureleaf evaluate``: a classifier judged on rows it has not seen."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read

__all__ = ["evaluate"]


def evaluate(
    data: given.Data,
    target: given.Target,
    model: given.ModelName = "TreeClassifier",
    design: given.DesignName = "kfold",
    folds: given.Folds = 10,
    repeats: given.Repeats = None,
    test: given.Test = 1 / 3,
    positive: given.Positive = None,
    cost: given.Cost = None,
    group: given.Group = None,
    weight: given.Weight = None,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    jobs: given.Jobs = None,
    save: Annotated[
        Path | None, typer.Option(help="Write the evaluation there, for sureleaf compare.")
    ] = None,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Judge a classifier on rows it has not seen, each figure with its interval.

    For example:

    - sureleaf evaluate data.csv --target class

    - sureleaf evaluate data.csv -t class --design holdout --save tree.eval

    - sureleaf evaluate data.csv -t class -m sklearn.naive_bayes.GaussianNB

    - sureleaf evaluate data.csv -t class --repeats 10 --cost "0,5;1,0" --json
    """
    from sureleaf import evaluation as room
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import terminal
    from sureleaf.report.question import read_model, read_question

    given.check_output(save)
    asked = read_question(
        data,
        target,
        group=group,
        weight=weight,
        drop=drop or (),
        csv=read.csv_format(delimiter, encoding, decimal, missing),
    )
    judged = room.evaluate(
        read_model(model, asked.X),
        asked.X,
        asked.y,
        design=given.read_design(design, folds, repeats, test),
        positive=given.read_label(positive, asked.y),
        cost=None if cost is None else given.read_cost(cost, asked.y),
        groups=asked.groups,
        sample_weight=asked.weights,
        n_jobs=jobs,
        random_state=seed,
    )
    summary = judged.summary(level=level)
    if save is not None:
        judged.save(save)
    if as_json:
        show_json(terminal.evaluation_values(judged, summary))
    else:
        show(*terminal.show_evaluation(judged, summary), *given.left_out(asked.n_left_out))
