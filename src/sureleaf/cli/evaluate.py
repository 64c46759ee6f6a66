"""``sureleaf evaluate``: evaluate a classifier on unseen rows."""

from pathlib import Path
from typing import Any

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError


@options.with_options(
    save=option("File to save the evaluation to, for sureleaf compare."),
    classes=options.CLASSES,
    design=options.DESIGN,
    tree=options.tree_options("bagged"),
    table=options.table_options(),
)
def evaluate(
    data: options.Data,
    target: options.Target,
    classes: options.Classes,
    design: "options.Design",
    tree: "options.TreeOptions",
    table: options.TableOptions,
    model: options.ModelName = None,
    level: options.IntervalLevel = 0.95,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    save: Path | None = None,
    memory: options.Memory = None,
    as_json: options.AsJson = False,
) -> None:
    """Evaluate a classifier on unseen rows, with an interval for each measure.

    With --cost, trees of Sureleaf are grown for the costs, unless their pruning
    counts errors.

    For example:
    - sureleaf evaluate data.csv --target class
    - sureleaf evaluate data.csv -t class --design holdout --save tree.eval
    - sureleaf evaluate data.csv -t class -m sklearn.naive_bayes.GaussianNB
    - sureleaf evaluate data.csv -t class --bagged 10 --tree pruning=none
    - sureleaf evaluate data.csv -t class --repeats 3 --cost "0,5;1,0" --json
    - sureleaf evaluate folder-of-parquet -t class --memory 2GB
    """
    import sureleaf
    from sureleaf import designs
    from sureleaf.commands import json_values, terminal
    from sureleaf.commands.learners import fitted_for
    from sureleaf.commands.question import Question

    options.check_output(save, data, classes.cost)
    is_bootstrap = isinstance(design, designs.Bootstrap)
    if data.is_dir() or memory is not None:
        if model is not None or tree.bagged is not None or is_bootstrap:
            raise InvalidArgumentError(
                "a table that is read in batches is evaluated with single trees, and not by "
                "bootstrap; got --model, --bagged or --design bootstrap. Leave it out, or evaluate "
                "a sample of the rows in one file, without --memory."
            )
        is_large = tree.make().settings().pruning is not None
        rows = table.read_batches(
            data, target, memory=memory, grows_large_trees=is_large, n_jobs=jobs or 1
        )
        labels = rows.classes[rows.labels]
        question = Question(rows.table, labels, rows.groups, rows.weights, rows.n_unlabelled)
    else:
        question = table.read(data, target)
    arguments = classes.arguments(question)
    estimator = fitted_for(options.evaluated_model(model, tree, question.X), arguments["cost"])
    running: dict[str, Any] = {"n_jobs": jobs, "random_state": seed}
    evaluation = sureleaf.evaluate(
        estimator, question.X, question.y, design=design, **arguments, **running
    )
    if save is not None:
        evaluation.save(save)
    errors = None
    if isinstance(design, designs.Bootstrap):
        errors = sureleaf.bootstrap_error(
            estimator,
            question.X,
            question.y,
            n_bootstraps=design.n_bootstraps,
            groups=question.groups,
            sample_weight=question.weights,
            **running,
        )
    summary = evaluation.summary(level=level)
    if as_json:
        show_json(json_values.evaluation_values(evaluation, summary, errors))
    else:
        text = terminal.show_evaluation(evaluation, summary, errors)
        show(*text, *options.unlabelled_note(question.n_left_out))
