"""``sureleaf leaves``: the leaves of a tree, and how sure each one is."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from sureleaf.commands.learners import TreeOptions

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
    tree: "TreeOptions",
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
        costs = None if cost is None else options.read_cost(cost, question.y)
        model = tree.make(cost=costs, random_state=0)
        model.fit(question.X, question.y)
        n_left_out = question.n_left_out
    levels = {"level": level, "confidence": confidence, "utility": utility}
    most = None if every else SHOWN_LEAVES
    if guarantee is not None:
        _show_guaranteed(model, guarantee, levels, most, n_left_out, as_json=as_json)
        return
    leaf_table = model.leaves(**levels, method=method)
    if as_json:
        show_json(json_values.leaf_values(model, leaf_table))
    else:
        text = terminal.show_leaves(model, leaf_table, level, most)
        rule = model.model_.rule
        show(*text, *([] if rule is None else [_AT_COSTS]), *options.unlabelled_note(n_left_out))


def _refuse_options_of_tables(tree: "TreeOptions", file: str, **others: object) -> None:
    """Raise an error for an option of a table or of growing a tree beside a fitted model."""
    reason = f"goes with a table; {file} is a fitted model. Leave it out."
    tree.refuse(reason)
    for name, value in others.items():
        if value:
            raise InvalidArgumentError(f"--{name} {reason}")


def _show_guaranteed(
    model: Any,
    guarantee: str,
    levels: dict[str, Any],
    most: int | None,
    n_left_out: int,
    *,
    as_json: bool,
) -> None:
    """Show what held-out rows prove about all leaves at once."""
    from sureleaf.commands import json_values, terminal

    options.check_held_out(
        model, "--guarantee", "Fit it with --levels-from honest, which sets half of the rows aside."
    )
    leaf_table = model.leaves(**levels, guarantee=guarantee)
    of_all = (model.model_.held_out.n_grown, levels["level"], levels["confidence"])
    if as_json:
        show_json(json_values.guaranteed_values(model, leaf_table, *of_all))
        return
    at_costs = model.model_.rule is not None
    text = terminal.show_guaranteed(leaf_table, *of_all, most=most, at_costs=at_costs)
    show(*text, *options.unlabelled_note(n_left_out))
