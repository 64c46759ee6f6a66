"""``sureleaf diff``: what changes from one saved tree to another."""

from pathlib import Path
from typing import Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError


@options.with_options(
    old=typer.Argument(help="The old tree, saved by sureleaf fit.", metavar="OLD"),
    new=typer.Argument(help="The new tree.", metavar="NEW"),
    data=typer.Argument(
        help="Rows, whose decisions are compared.", metavar="[DATA]", show_default="none"
    ),
    output=option("Write an HTML page of both trees, such as diff.html.", "-o", metavar="FILE"),
    margin=option("Differences up to this size do not count."),
    gate=option("Exit with 1 if the new tree is worse by more than the margin.", "--gate"),
    table=options.table_options("csv"),
)
def diff(
    old: Path,
    new: Path,
    table: options.TableOptions,
    data: Path | None = None,
    target: options.TableTarget = None,
    cost: options.DecisionCost = None,
    output: Path | None = None,
    margin: float = 0.0,
    gate: bool = False,
    as_json: options.AsJson = False,
) -> None:
    """Say what changes from one tree to another, in rules, decisions and accuracy.

    With rows, it counts whose decision changes, from leaf to leaf. With their
    labels (--target), it tests which tree is better on the same rows.

    For example:
    - sureleaf diff model.sureleaf model2.sureleaf
    - sureleaf diff model.sureleaf model2.sureleaf new.csv --target class
    - sureleaf diff model.sureleaf model2.sureleaf new.csv -t class --gate
    """
    from rich.text import Text

    from sureleaf.commands.predictions import load_tree
    from sureleaf.files import atomic_write, read_file
    from sureleaf.monitoring import diff as compare_rules

    if gate and (data is None or target is None):
        raise InvalidArgumentError(
            "--gate needs rows with labels: sureleaf diff old.sureleaf new.sureleaf rows.csv "
            "--target COLUMN --gate."
        )
    if target is not None and data is None:
        raise InvalidArgumentError("--target goes with rows; got no file of rows. Name one.")
    options.check_output(output, old, new, data)
    trees = [load_tree(path, "diff") for path in (old, new)]
    table = table.for_models(*trees)
    X, y, n_left_out = None, None, 0
    if data is not None and target is not None:
        question = table.read(data, target)
        X, y, n_left_out = question.X, question.y, question.n_left_out
    elif data is not None:
        X = read_file(data, csv=table.csv)
    costs = options.read_cost(cost, trees[0].classes_)
    found = compare_rules(trees[0], trees[1], X, y, costs, margin=margin)
    document = found.to_dict()
    if output is not None:
        from sureleaf.report.html.life_pages import render_diff

        with atomic_write(output) as file:
            file.write(render_diff(document, f"{old.name} and {new.name}").encode())
    passed = found.comparison is None or found.comparison.verdict != "worse"
    if as_json:
        show_json(document | ({"gate": "passed" if passed else "failed"} if gate else {}))
    else:
        lines = found.sentences()
        if gate:
            lines.append(f"Gate: {'passed' if passed else 'failed'}.")
        page: list[Any] = [] if output is None else ["", Text(f"Page: {output}")]
        show(*map(Text, lines), *options.unlabelled_note(n_left_out), *page)
    if gate and not passed:
        raise typer.Exit(1)
