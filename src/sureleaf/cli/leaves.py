"""``sureleaf leaves``: a tree, and how sure each of its leaves is."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read
from sureleaf.cli import options as tree
from sureleaf.errors import InvalidArgumentError

__all__ = ["leaves"]


def leaves(
    data: Annotated[
        Path,
        typer.Argument(
            help="A CSV, Parquet or Arrow file, - for standard input, or a saved tree.",
            metavar="DATA | MODEL",
        ),
    ],
    target: given.TableTarget = None,
    confidence: given.Confidence = 0.95,
    utility: given.Utility = None,
    most: Annotated[int, typer.Option(help="Leaves shown, those with the most rows.", min=1)] = 20,
    every: Annotated[bool, typer.Option("--all", help="Show all leaves.")] = False,
    group: given.Group = None,
    weight: given.Weight = None,
    level: given.Level = 0.95,
    seed: given.Seed = 0,
    jobs: given.Threads = None,
    criterion: tree.Criterion = None,
    pruning: tree.Pruning = None,
    categorical_split: tree.CategoricalSplit = None,
    max_depth: tree.MaxDepth = None,
    min_samples_leaf: tree.MinSamplesLeaf = None,
    leaf_estimate: tree.LeafEstimate = None,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Grow a tree and say of each leaf how sure it is, on rows it has not seen.

    For example:

    - sureleaf leaves data.csv --target class

    - sureleaf leaves data.csv --target class --confidence 0.99 --utility 0.8

    - sureleaf leaves data.csv --target class --pruning utility --json

    - sureleaf leaves model.sureleaf
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import terminal
    from sureleaf.report.predictions import is_model, load_tree
    from sureleaf.report.question import read_question

    n_left_out = 0
    options = {
        "criterion": criterion,
        "pruning": pruning,
        "categorical_split": categorical_split,
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "leaf_estimate": leaf_estimate,
    }
    if is_model(data):
        of_tables = options | {"target": target, "group": group, "weight": weight, "drop": drop}
        unused = [name for name, value in of_tables.items() if value not in (None, [])]
        if unused:
            raise InvalidArgumentError(
                f"--{unused[0].replace('_', '-')} goes with a table; {data.name} is a model that "
                "is fitted already. Leave it out."
            )
        model = load_tree(data, "leaves")
    elif target is None:
        raise InvalidArgumentError(
            f"--target must name the column of {data.name} to predict; got nothing."
        )
    else:
        asked = read_question(
            data,
            target,
            group=group,
            weight=weight,
            drop=drop or (),
            csv=read.csv_format(delimiter, encoding, decimal, missing),
        )
        model = tree.make_model(options, bagged=None, jobs=jobs, seed=seed)
        model.fit(asked.X, asked.y, sample_weight=asked.weights, groups=asked.groups)
        n_left_out = asked.n_left_out
    found = model.leaves(level=level, confidence=confidence, utility=utility)
    if as_json:
        show_json(terminal.leaf_values(model, found))
    else:
        text = terminal.show_leaves(model, found, level, None if every else most)
        show(*text, *given.left_out(n_left_out))
