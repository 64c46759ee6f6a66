"""``sureleaf evaluate``: evaluate a classifier on unseen rows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.errors import InvalidArgumentError

__all__ = ["evaluate"]


@options.with_tree_options
@options.with_csv_options
def evaluate(
    data: options.Data,
    target: options.Target,
    tree_options: dict[str, Any],
    csv: "options.CsvFormat",
    model: options.ModelName = None,
    design: options.DesignName = "kfold",
    folds: options.Folds = 10,
    repeats: options.Repeats = None,
    test: options.Test = 1 / 3,
    positive: options.Positive = None,
    cost: options.Cost = None,
    group: options.Group = None,
    weight: options.Weight = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    save: Annotated[
        Path | None, typer.Option(help="File to save the evaluation to, for sureleaf compare.")
    ] = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    memory: options.Memory = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Evaluate a classifier on unseen rows, with an interval for each measure.

    For example:

    - sureleaf evaluate data.csv --target class

    - sureleaf evaluate data.csv -t class --design holdout --save tree.eval

    - sureleaf evaluate data.csv -t class --max-leaves 8

    - sureleaf evaluate data.csv -t class -m sklearn.naive_bayes.GaussianNB

    - sureleaf evaluate data.csv -t class --repeats 10 --cost "0,5;1,0" --json

    - sureleaf evaluate folder-of-parquet -t class --memory 2GB
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.evaluation import evaluate as evaluate_model
    from sureleaf.evaluation.bootstrap_errors import plus_estimates
    from sureleaf.report import command_values, terminal
    from sureleaf.report.question import read_question

    options.check_output(save, data, cost, overwrite=overwrite)
    if data.is_dir() or memory is not None:
        if model is not None or design == "bootstrap":
            raise InvalidArgumentError(
                "a table that is read in batches is evaluated with trees of this library, and not "
                "by bootstrap; got --model or --design bootstrap. Leave it out, or evaluate a "
                "sample of the rows in one file, without --memory."
            )
        rows = options.read_batches(
            data,
            target,
            weight=weight,
            group=group,
            drop=drop,
            csv=csv,
            categorical=categorical,
            memory=memory,
        )
        X: Any = rows.table
        y, groups, weights = rows.classes[rows.labels], rows.groups, rows.weights
        n_left_out = rows.n_unlabelled
    else:
        question = read_question(
            data,
            target,
            group=group,
            weight=weight,
            drop=drop or (),
            categorical=categorical or (),
            csv=csv,
        )
        X, y, groups, weights = question.X, question.y, question.groups, question.weights
        n_left_out = question.n_left_out
    estimator = options.evaluated_model(model, tree_options, X)
    evaluation = evaluate_model(
        estimator,
        X,
        y,
        design=options.read_design(design, folds, repeats, test),
        positive=options.read_label(positive, y),
        cost=None if cost is None else options.read_cost(cost, y),
        groups=groups,
        sample_weight=weights,
        n_jobs=jobs,
        random_state=seed,
    )
    summary = evaluation.summary(level=level)
    if save is not None:
        evaluation.save(save)
    plus = None
    if design == "bootstrap":
        plus = plus_estimates(evaluation, estimator, X, y, sample_weight=weights)
    if as_json:
        show_json(command_values.evaluation_values(evaluation, summary, plus))
    else:
        show(
            *terminal.show_evaluation(evaluation, summary, plus),
            *options.unlabelled_note(n_left_out),
        )
