"""``sureleaf certificate``: what held-out rows prove about all leaves of a tree at once."""

from pathlib import Path

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.errors import InvalidArgumentError


@options.with_options(
    source=typer.Argument(
        help="A saved tree, or a CSV, Parquet or Arrow file to fit one to: half of its rows "
        "are then set aside to certify it.",
        metavar="MODEL | DATA",
    ),
    held_out=typer.Argument(
        help="For a saved tree: rows that it has not seen.",
        metavar="[DATA]",
        show_default="the rows that its fit set aside",
    ),
    alpha=option("Error probability of the whole certificate."),
    rows_are_new=option(
        "Your word that the tree has not seen the rows, where the model cannot tell. The "
        "certificate states it."
    ),
    table=options.tables("drop", "csv"),
)
def certificate(
    source: Path,
    table: options.TableOptions,
    held_out: Path | None = None,
    target: options.TableTarget = None,
    alpha: float = 0.05,
    rows_are_new: bool = False,
    cost: options.TreeCost = None,
    as_json: options.AsJson = False,
) -> None:
    """Prove what can be proven about the leaves of a tree, for all leaves at once.

    The certificate holds for any distribution of the data. It needs rows that
    did not grow the tree. For a tree with other options, fit it first, with
    --levels-from honest.

    For example:

    - sureleaf certificate data.csv --target class

    - sureleaf certificate model.sureleaf new.csv --target class

    - sureleaf certificate model.sureleaf new.csv -t class --alpha 0.01 --json
    """
    from sureleaf.cli.output import show, show_json
    from sureleaf.commands import terminal
    from sureleaf.commands.predictions import is_model, load_tree
    from sureleaf.estimators import TreeClassifier

    n_left_out = 0
    if is_model(source):
        model = options.decided_by(load_tree(source, "certificate"), cost)
        rows = held_out
    else:
        if held_out is not None:
            raise InvalidArgumentError(
                f"A second file goes with a saved tree; {source.name} is not one. Fit it first: "
                f"sureleaf fit {source.name} --target COLUMN -o model.sureleaf."
            )
        model, rows = None, source
    if rows is None:
        options.check_held_out(
            model,
            "a certificate",
            "Give rows that it has not seen: "
            f"sureleaf certificate {source.name} NEW.csv --target COLUMN. Or fit it with "
            "--levels-from honest, which sets half of the rows aside.",
        )
        certificate = model.certificate(alpha=alpha)
    else:
        if target is None:
            raise InvalidArgumentError(
                f"--target must name the column of {rows.name} to predict; it was not given."
            )
        question = table.read(rows, target)
        n_left_out = question.n_left_out
        if model is not None:
            certificate = model.certificate(
                question.X, question.y, alpha=alpha, rows_are_new=rows_are_new
            )
        else:
            costs = None if cost is None else options.read_cost(cost, question.y)
            model = TreeClassifier(levels_from="honest", cost=costs, random_state=0)
            certificate = model.fit(question.X, question.y).certificate(alpha=alpha)
    if as_json:
        show_json(certificate.to_dict())
    else:
        show(*terminal.show_certificate(certificate), *options.unlabelled_note(n_left_out))
