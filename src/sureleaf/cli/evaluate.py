"""``sureleaf evaluate``: evaluate a classifier on unseen rows."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.errors import InvalidArgumentError

__all__ = ["evaluate"]


@options.with_tree_options
@options.with_table_options()
def evaluate(
    data: options.Data,
    target: options.Target,
    tree_options: dict[str, Any],
    table: options.TableOptions,
    model: options.ModelName = None,
    design: options.DesignName = "kfold",
    folds: options.Folds = 10,
    repeats: options.Repeats = None,
    test: options.Test = 1 / 3,
    positive: options.Positive = None,
    cost: options.Cost = None,
    level: options.Level = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    save: Annotated[
        Path | None, typer.Option(help="File to save the evaluation to, for sureleaf compare.")
    ] = None,
    memory: options.Memory = None,
    as_json: options.AsJson = False,
) -> None:
    """Evaluate a classifier on unseen rows, with an interval for each measure.

    With --cost, trees of Sureleaf are grown for the costs and predict the cheapest
    decision, as by fit and report, unless their rule of pruning counts errors.

    For example:

    - sureleaf evaluate data.csv --target class

    - sureleaf evaluate data.csv -t class --design holdout --save tree.eval

    - sureleaf evaluate data.csv -t class --max-leaves 8

    - sureleaf evaluate data.csv -t class -m sklearn.naive_bayes.GaussianNB

    - sureleaf evaluate data.csv -t class --repeats 10 --cost "0,5;1,0" --json

    - sureleaf evaluate folder-of-parquet -t class --memory 2GB
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import json_values, terminal
    from sureleaf.commands.question import Question
    from sureleaf.evaluation import evaluate as evaluate_model
    from sureleaf.evaluation.bootstrap_errors import plus_estimates

    options.check_output(save, data, cost)
    if data.is_dir() or memory is not None:
        if model is not None or design == "bootstrap":
            raise InvalidArgumentError(
                "a table that is read in batches is evaluated with trees of this library, and not "
                "by bootstrap; got --model or --design bootstrap. Leave it out, or evaluate a "
                "sample of the rows in one file, without --memory."
            )
        rows = table.read_batches(data, target, memory)
        labels = rows.classes[rows.labels]
        question = Question(rows.table, labels, rows.groups, rows.weights, rows.n_unlabelled)
    else:
        question = table.read(data, target)
    arguments = options.row_arguments(question, positive, cost)
    classifier = options.evaluated_model(model, tree_options, question.X)
    estimator = options.fitted_for(classifier, arguments["cost"])
    evaluation = evaluate_model(
        estimator,
        question.X,
        question.y,
        design=options.read_design(design, folds, repeats, test),
        n_jobs=jobs,
        random_state=seed,
        **arguments,
    )
    summary = evaluation.summary(level=level)
    if save is not None:
        evaluation.save(save)
    plus = None
    if design == "bootstrap":
        plus = plus_estimates(
            evaluation, estimator, question.X, question.y, sample_weight=question.weights
        )
    if as_json:
        show_json(json_values.evaluation_values(evaluation, summary, plus))
    else:
        show(
            *terminal.show_evaluation(evaluation, summary, plus),
            *options.unlabelled_note(question.n_left_out),
        )
