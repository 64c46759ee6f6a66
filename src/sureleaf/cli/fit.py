"""``sureleaf fit``: fit a tree to a table and save it."""

from pathlib import Path
from typing import Any

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError


@options.with_options(
    output=option("File to save the model to.", "-o", metavar="FILE"),
    tree=options.tree_options("max_leaves", "levels_from", "bagged"),
    table=options.table_options(),
)
def fit(
    data: options.Data,
    target: options.Target,
    output: Path,
    tree: "options.TreeOptions",
    table: options.TableOptions,
    cost: options.TreeCost = None,
    seed: options.Seed = 0,
    jobs: options.Threads = None,
    memory: options.Memory = None,
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
    from sureleaf.commands import json_values, terminal

    options.check_output(output, data, cost)
    if tree.bagged is not None and table.group is not None:
        raise InvalidArgumentError(
            "--group cannot be used with --bagged, because bootstrap samples are drawn row by row; "
            f"got {table.group!r}. Leave out one of the two."
        )

    def unfitted(y: Any) -> Any:
        return tree.make(cost=options.read_cost(cost, y), n_jobs=jobs, random_state=seed)

    if data.is_dir() or memory is not None:
        if tree.bagged is not None:
            raise InvalidArgumentError(
                "--bagged needs a table in memory; got a folder or --memory. Leave out one of them."
            )
        model = unfitted(None)
        is_large = model.settings().grows_large_trees
        rows = table.read_batches(
            data, target, grows_large_trees=is_large, memory=memory, threads=jobs
        )
        model.fit(rows, target)
        n_rows, n_left_out = rows.table.n_rows, rows.n_unlabelled
    else:
        question = table.read(data, target)
        model = unfitted(question.y)
        groups = {} if question.groups is None else {"groups": question.groups}
        model.fit(question.X, question.y, sample_weight=question.weights, **groups)
        n_rows, n_left_out = len(question.y), question.n_left_out
    values = json_values.fit_values(model, target, n_rows=n_rows, n_left_out=n_left_out)
    model.save(output)
    values["saved"] = str(output)
    if as_json:
        show_json(values)
    else:
        show(*terminal.show_fit(values), *options.unlabelled_note(n_left_out))
