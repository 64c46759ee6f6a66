"""``sureleaf certificate``: what held-out rows prove about all leaves of a tree at once."""

from pathlib import Path
from typing import Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
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
    table=options.table_options("csv"),
)
def certificate(
    source: Path,
    table: options.TableOptions,
    held_out: Path | None = None,
    target: options.TableTarget = None,
    alpha: float = 0.05,
    rows_are_new: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Prove what can be proven about the leaves of a tree, for all leaves at once.

    The certificate holds for any distribution of the data. It needs rows that
    did not grow the tree. For a tree with costs or other options, fit it first,
    with --levels-from honest.

    For example:
    - sureleaf certificate data.csv --target class
    - sureleaf certificate model.sureleaf new.csv --target class
    - sureleaf certificate model.sureleaf new.csv -t class --alpha 0.01 --json
    """
    from sureleaf.commands import terminal
    from sureleaf.commands.predictions import is_model, load_tree
    from sureleaf.estimators import TreeClassifier

    n_left_out = 0
    model: Any = None
    if is_model(source):
        model = load_tree(source, "certificate")
    elif held_out is not None:
        raise InvalidArgumentError(
            f"A second file goes with a saved tree; {source.name} is not one. Fit it first: "
            f"sureleaf fit {source.name} --target COLUMN -o model.sureleaf."
        )
    rows = source if model is None else held_out
    if rows is None:
        options.check_held_out(
            model,
            "a certificate",
            "Give rows that it has not seen: "
            f"sureleaf certificate {source.name} NEW.csv --target COLUMN. Or fit it with "
            "--levels-from honest, which sets half of the rows aside.",
        )
        found = model.certificate(alpha=alpha)
    else:
        question = table.for_models(model).read(rows, options.given_target(target, rows))
        n_left_out = question.n_left_out
        if model is None:
            tree = TreeClassifier(levels_from="honest", random_state=0)
            found = tree.fit(question.X, question.y).certificate(alpha=alpha)
        else:
            found = model.certificate(
                question.X, question.y, alpha=alpha, rows_are_new=rows_are_new
            )
    if as_json:
        show_json(found.to_dict())
    else:
        show(*terminal.show_certificate(found), *options.unlabelled_note(n_left_out))
