"""``sureleaf evaluate``: evaluate a classifier on unseen rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from sureleaf.commands.question import Question
    from sureleaf.evaluation.designs import Design


@options.with_options(
    save=option("File to save the evaluation to, for sureleaf compare."),
    classes=options.CLASSES,
    design=options.DESIGN,
    table=options.table_options(),
)
def evaluate(
    data: options.Data,
    target: options.Target,
    classes: options.Classes,
    design: "Design",
    table: options.TableOptions,
    model: options.ModelName = "TreeClassifier",
    level: options.IntervalLevel = 0.95,
    seed: options.Seed = 0,
    save: Path | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Evaluate a classifier on unseen rows, with an interval for each measure.

    With --cost, trees of Sureleaf are grown for the costs, unless their pruning
    counts errors.

    For example:
    - sureleaf evaluate data.csv --target class
    - sureleaf evaluate data.csv -t class --design holdout --save tree.eval
    - sureleaf evaluate data.csv -t class -m sklearn.naive_bayes.GaussianNB
    - sureleaf evaluate data.csv -t class -m "TreeClassifier(max_leaves=5)"
    - sureleaf evaluate data.csv -t class --repeats 3 --cost "0,5;1,0" --json
    - sureleaf evaluate folder-of-parquet -t class
    """
    import sureleaf
    from sureleaf import designs
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import json_values, terminal
    from sureleaf.commands.learners import fitted_for, read_model

    options.check_output(save, data, classes.cost)
    if data.is_dir():
        question, learner = _read_in_batches(data, target, model, design, table)
    else:
        question = table.read(data, target)
        learner = read_model(model, question.X)
    running: dict[str, Any] = {"n_jobs": None, "random_state": seed}
    arguments = classes.arguments(question)
    estimator = fitted_for(learner, arguments["cost"])
    evaluation = sureleaf.evaluate(
        estimator, question.X, question.y, design=design, **arguments, **running
    )
    if save is not None:
        evaluation.save(save)
    errors = None
    if isinstance(design, designs.Bootstrap):
        of_rows = {"groups": question.groups, "sample_weight": question.weights, **running}
        errors = sureleaf.bootstrap_error(
            estimator, question.X, question.y, n_bootstraps=design.n_bootstraps, **of_rows
        )
    summary = evaluation.summary(level=level)
    if as_json:
        show_json(json_values.evaluation_values(evaluation, summary, errors))
    else:
        text = terminal.show_evaluation(evaluation, summary, errors)
        show(*text, *options.unlabelled_note(question.n_left_out))


def _read_in_batches(
    data: Path, target: str, model: str, design: "Design", table: options.TableOptions
) -> "tuple[Question, Any]":
    """Return the rows of a folder, and the tree to evaluate."""
    import pyarrow as pa

    from sureleaf import TreeClassifier, designs
    from sureleaf.commands.learners import read_model
    from sureleaf.commands.question import Question

    learner = read_model(model, pa.table({}))
    if not isinstance(learner, TreeClassifier) or isinstance(design, designs.Bootstrap):
        raise InvalidArgumentError(
            "a table that is read in batches is evaluated with single trees, and not by "
            f"bootstrap; got --model {model} and --design {type(design).__name__.lower()}. "
            "Evaluate a sample of the rows in one file."
        )
    is_large = learner.settings().pruning is not None
    rows = table.read_batches(data, target, grows_large_trees=is_large, n_jobs=1)
    labels = rows.classes[rows.labels]
    return Question(rows.table, labels, rows.groups, rows.weights, rows.n_unlabelled), learner
