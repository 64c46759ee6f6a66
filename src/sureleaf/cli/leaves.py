"""``sureleaf leaves``: the leaves of a tree, and how sure each one is."""

import itertools
from dataclasses import replace
from pathlib import Path

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

SHOWN_LEAVES = 20

_AT_COSTS = (
    "At these costs, p is the probability of the class that is decided for. Confidence is the "
    "probability that the decision of the leaf is the cheapest one. Utility is what it "
    "saves per row, compared with the worst decision about the same row, in units of the most "
    "expensive error."
)


@options.with_options(
    data=typer.Argument(
        help="A CSV, Parquet or Arrow file, - for standard input, or a saved tree.",
        metavar="DATA | MODEL",
    ),
    guarantee=option(
        "simultaneous: intervals and flags that hold for all leaves at once, from rows that did "
        "not grow the tree. Half of the rows of a table are then set aside.",
        words=("simultaneous",),
    ),
    method=option(
        "With --levels-from training: the estimate of p_max, mle, blend or entropic.",
        default="mle",
        words=("mle", "blend", "entropic"),
    ),
    every=option("Show all leaves, not only the 20 that have the most rows.", "--all"),
    tree=options.tree_options("levels_from"),
    table=options.table_options("drop", "csv"),
)
def leaves(
    data: Path,
    tree: "options.TreeOptions",
    table: options.TableOptions,
    target: options.TableTarget = None,
    confidence: options.Confidence = 0.95,
    utility: options.Utility = None,
    guarantee: str | None = None,
    method: str | None = None,
    every: bool = False,
    level: options.IntervalLevel = 0.95,
    cost: options.TreeCost = None,
    as_json: options.AsJson = False,
) -> None:
    """Show the leaves of a tree and how sure each one is on unseen rows.

    The tree is fitted to a table, or read from a saved model. For a tree with
    groups, weights or categorical numbers, fit it first.

    For example:
    - sureleaf leaves data.csv --target class
    - sureleaf leaves data.csv --target class --confidence 0.99 --utility 0.8
    - sureleaf leaves data.csv --target class --tree max_leaves=8 --json
    - sureleaf leaves model.sureleaf
    - sureleaf leaves data.csv --target class --cost "0,5;1,0"
    - sureleaf leaves data.csv --target class --guarantee simultaneous
    - sureleaf leaves data.csv -t class --levels-from training --method blend
    - sureleaf leaves model.sureleaf --levels-from training
    """
    from sureleaf.commands import json_values, terminal
    from sureleaf.commands.learners import TreeOptions
    from sureleaf.commands.predictions import is_model, load_tree

    n_left_out = 0
    if is_model(data):
        from_training = tree.parameters == {"levels_from": "training"}
        refused = TreeOptions() if from_training else tree
        _refuse_options_of_tables(refused, data.name, target=target, drop=table.drop)
        model = options.decided_by(load_tree(data, "leaves"), cost)
        model = model.with_training_levels() if from_training else model
    elif target is None and not data.exists():
        raise InvalidArgumentError(f"there is no file {str(data)!r}. Check its name.")
    else:
        question = table.read(data, options.given_target(target, data))
        if guarantee is not None:
            parameters = {"levels_from": "honest"} | tree.parameters
            tree = replace(tree, parameters=parameters)
        model = tree.make(cost=options.read_cost(cost, question.y), random_state=0)
        model.fit(question.X, question.y)
        n_left_out = question.n_left_out
    levels = {"level": level, "confidence": confidence, "utility": utility}
    most = None if every else SHOWN_LEAVES
    at_costs = model.model_.rule is not None
    if guarantee is not None:
        options.check_held_out(
            model,
            "--guarantee",
            "Fit it with --levels-from honest, which sets half of the rows aside.",
        )
        found = model.leaves(**levels, guarantee=guarantee)
        of_all = (model.model_.held_out.n_grown, level, confidence)
        if as_json:
            show_json(json_values.guaranteed_values(model, found, *of_all))
            return
        text = terminal.show_guaranteed(found, *of_all, most=most, at_costs=at_costs)
    else:
        found = model.leaves(**levels, method=method)
        if as_json:
            show_json(json_values.leaf_values(model, found))
            return
        explained = [_AT_COSTS] if at_costs else []
        text = itertools.chain(terminal.show_leaves(model, found, level, most), explained)
    show(*text, *options.unlabelled_note(n_left_out))


def _refuse_options_of_tables(tree: "options.TreeOptions", file: str, **others: object) -> None:
    """Raise an error for an option of a table or of growing a tree beside a fitted model."""
    reason = f"goes with a table; {file} is a fitted model. Leave it out."
    tree.refuse(reason)
    for name, value in others.items():
        if value:
            raise InvalidArgumentError(f"--{name} {reason}")
