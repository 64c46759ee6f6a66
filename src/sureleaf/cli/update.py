"""``sureleaf update``: count new rows in a saved tree, and say what that changes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import show, show_json

if TYPE_CHECKING:
    from sureleaf.estimators import TreeClassifier
    from sureleaf.monitoring import Diff, Regrowth


@options.with_options(
    output=option("File to save the updated tree to.", "-o", metavar="FILE", default="not saved"),
    regrow=option("Say whether a tree that is grown anew would be better.", "--regrow"),
    rows=option(
        "With --regrow: the rows of the fit, on which a new tree grows, too.",
        "--rows",
        metavar="FILE",
        default="new rows only",
    ),
    table=options.table_options("weight", "csv"),
)
def update(
    model: options.SavedModel,
    data: options.Data,
    target: options.Target,
    table: options.TableOptions,
    output: Path | None = None,
    regrow: bool = False,
    rows: Path | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Count new rows in a tree: the same tests, more evidence.

    Classes and decisions of the leaves, and all levels, are then those of all
    rows. New rows did not grow the tree, so they are honest evidence. Rows that
    the tree has seen are refused.

    For example:
    - sureleaf update model.sureleaf new.csv --target class -o updated.sureleaf
    - sureleaf update model.sureleaf new.csv -t class --regrow --rows data.csv
    """
    from sureleaf.commands.predictions import load_tree
    from sureleaf.errors import InvalidArgumentError
    from sureleaf.monitoring import diff, keep_or_regrow
    from sureleaf.monitoring import update as update_tree

    options.check_output(output, data, rows)
    if rows is not None and not regrow:
        raise InvalidArgumentError("--rows goes with --regrow; got it alone. Add --regrow.")
    tree = load_tree(model, "update")
    table = table.for_models(tree)
    question = table.read(data, target)
    if regrow and question.weights is not None:
        raise InvalidArgumentError(
            "--regrow takes no weights; got --weight. Leave out one of them."
        )
    updated = update_tree(tree, question.X, question.y, question.weights)
    changes, regrowth = diff(tree, updated), None
    if regrow:
        old = None if rows is None else table.read(rows, target)
        regrowth = keep_or_regrow(
            tree,
            question.X,
            question.y,
            old_X=None if old is None else old.X,
            old_y=None if old is None else old.y,
        )
    if output is not None:
        updated.save(output)
    values = _values(tree, updated, len(question.y), changes, regrowth)
    values["saved"] = None if output is None else str(output)
    if as_json:
        show_json(values)
        return
    saved = [] if output is None else ["", f"Saved: {output}"]
    show(*_lines(values, changes, regrowth), *options.unlabelled_note(question.n_left_out), *saved)


def _values(
    tree: "TreeClassifier",
    updated: "TreeClassifier",
    n_rows: int,
    changes: "Diff",
    regrowth: "Regrowth | None",
) -> dict[str, Any]:
    """Return what the update did, as plain values."""
    from sureleaf.model.column_table import json_value

    levels = {}
    for name, one in (("before", tree), ("after", updated)):
        found = one.levels()
        levels[name] = {
            "confidence": found.confidence,
            "utility": found.utility,
            "low": json_value(found.low),
            "high": json_value(found.high),
            "expected_cost": one.complete_model().expected_cost(),
        }
    assert changes.leaves is not None  # an update changes no test
    return {
        "rows": n_rows,
        "levels_from": updated.levels().levels_from,
        **levels,
        "changed": changes.changed,
        "sentences": changes.sentences(),
        "leaves": changes.leaves.records(),
        "keep_or_regrow": None if regrowth is None else regrowth.to_dict(),
    }


def _lines(values: dict[str, Any], changes: "Diff", regrowth: "Regrowth | None") -> list[Any]:
    """Return what a person reads."""
    from rich.text import Text

    from sureleaf.formatting import count_of, interval, measure_value, percent

    before, after = values["before"], values["after"]
    name = "Right for"
    if after["expected_cost"] is not None:
        name = "Cost per row"
        texts = [measure_value(one["expected_cost"]) for one in (before, after)]
    else:
        texts = [percent(one["utility"]) for one in (before, after)]
        if after["low"] is not None:
            texts[1] += f" (95 % interval {interval(after['low'], after['high'])})"
    expected = "expected on unseen rows"
    if values["levels_from"] == "training":
        wrong = "high" if after["expected_cost"] is None else "low"
        expected = f"by training levels, too {wrong} for unseen rows"
    lines = [
        f"{count_of(values['rows'], 'new row')} counted.",
        f"{name}: {texts[1]} {expected}; before: {texts[0]}.",
        "",
        *changes.sentences(),
    ]
    if regrowth is not None:
        lines += ["", *str(regrowth).split("\n")]
    return [Text(line) for line in lines]
