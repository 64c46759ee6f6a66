"""``sureleaf fit``: fit a tree to a table and save it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.errors import InvalidArgumentError

__all__ = ["fit"]


@options.with_tree_options
@options.with_csv_options
def fit(
    data: options.Data,
    target: options.Target,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File to save the model to.", metavar="FILE"),
    ],
    tree_options: dict[str, Any],
    csv: "options.CsvFormat",
    bagged: options.Bagged = None,
    cost: options.TreeCost = None,
    group: options.Group = None,
    weight: options.Weight = None,
    seed: options.Seed = 0,
    jobs: options.Threads = None,
    drop: options.Drop = None,
    categorical: options.Categorical = None,
    memory: options.Memory = None,
    overwrite: options.Overwrite = False,
    as_json: options.AsJson = False,
) -> None:
    """Fit a tree to a table and save it, for predictions or for export.

    For example:

    - sureleaf fit data.csv --target class -o model.sureleaf

    - sureleaf fit data.csv -t class -o small.sureleaf --max-leaves 5 --drop id

    - sureleaf fit data.csv -t class -o c45.sureleaf --tree c45

    - sureleaf fit data.csv -t class -o bag.sureleaf --bagged 30

    - sureleaf fit data.csv -t class -o model.sureleaf --cost "0,5;1,0"

    - sureleaf fit folder-of-parquet -t class -o model.sureleaf --memory 2GB
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import command_values, terminal
    from sureleaf.report.question import read_question

    if bagged is not None and group is not None:
        raise InvalidArgumentError(
            "--group cannot be used with --bagged, because bootstrap samples are drawn row by row; "
            f"got {group!r}. Leave out one of the two."
        )
    options.check_output(output, data, cost, overwrite=overwrite)
    n_left_out = 0
    if data.is_dir() or memory is not None:
        if bagged is not None:
            raise InvalidArgumentError(
                "--bagged needs a table in memory; got a folder or --memory. Leave out one of them."
            )
        if cost is not None:
            tree_options = tree_options | {"cost": options.read_cost(cost)}
        model = options.make_model(tree_options, bagged=None, jobs=jobs, seed=seed)
        rows = options.read_batches(
            data,
            target,
            weight=weight,
            group=group,
            drop=drop,
            csv=csv,
            categorical=categorical,
            memory=memory,
            jobs=jobs,
        )
        model.fit(rows, target)
        n_rows, n_left_out = rows.table.n_rows, rows.n_unlabelled
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
        if cost is not None:
            tree_options = tree_options | {"cost": options.read_cost(cost, question.y)}
        model = options.make_model(tree_options, bagged=bagged, jobs=jobs, seed=seed)
        groups = {} if question.groups is None else {"groups": question.groups}
        model.fit(question.X, question.y, sample_weight=question.weights, **groups)
        n_rows, n_left_out = len(question.y), question.n_left_out
    values = command_values.fit_values(model, target, n_rows=n_rows, n_left_out=n_left_out)
    model.save(output)
    values["saved"] = str(output)
    if as_json:
        show_json(values)
    else:
        show(*terminal.show_fit(values), *options.unlabelled_note(n_left_out))
