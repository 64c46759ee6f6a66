"""``sureleaf fit``: a tree grown on a table, and saved."""

from pathlib import Path
from typing import Annotated

import typer

from sureleaf.cli import evaluation_options as given
from sureleaf.cli import options as read
from sureleaf.cli import options as tree
from sureleaf.errors import InvalidArgumentError

__all__ = ["fit"]


def fit(
    data: given.Data,
    target: given.Target,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Where to save the model.", metavar="FILE"),
    ],
    criterion: tree.Criterion = None,
    pruning: tree.Pruning = None,
    categorical_split: tree.CategoricalSplit = None,
    max_depth: tree.MaxDepth = None,
    min_samples_leaf: tree.MinSamplesLeaf = None,
    leaf_estimate: tree.LeafEstimate = None,
    bagged: tree.Bagged = None,
    group: given.Group = None,
    weight: given.Weight = None,
    seed: given.Seed = 0,
    jobs: given.Threads = None,
    drop: read.Drop = None,
    delimiter: read.Delimiter = None,
    encoding: read.Encoding = None,
    decimal: read.Decimal = None,
    missing: read.Missing = None,
    as_json: given.AsJson = False,
) -> None:
    """Grow a tree on a table and save it, to predict with or to export.

    For example:

    - sureleaf fit data.csv --target class -o model.sureleaf

    - sureleaf fit data.csv -t class -o small.sureleaf --max-depth 3 --drop id

    - sureleaf fit data.csv -t class -o bag.sureleaf --bagged 30
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.report import terminal
    from sureleaf.report.question import read_question

    if bagged is not None and group is not None:
        raise InvalidArgumentError(
            "--group must be left out with --bagged, whose bags are drawn row by row; got "
            f"{group!r}. Leave out one of the two."
        )
    given.check_output(output)
    options = {
        "criterion": criterion,
        "pruning": pruning,
        "categorical_split": categorical_split,
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "leaf_estimate": leaf_estimate,
    }
    model = tree.make_model(options, bagged=bagged, jobs=jobs, seed=seed)
    asked = read_question(
        data,
        target,
        group=group,
        weight=weight,
        drop=drop or (),
        csv=read.csv_format(delimiter, encoding, decimal, missing),
    )
    more = {} if asked.groups is None else {"groups": asked.groups}
    model.fit(asked.X, asked.y, sample_weight=asked.weights, **more)
    values = terminal.fit_values(model, asked, target)
    model.save(output)
    values["saved"] = str(output)
    if as_json:
        show_json(values)
    else:
        show(*terminal.show_fit(values), *given.left_out(asked.n_left_out))
