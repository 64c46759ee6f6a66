"""``sureleaf watch``: whether the leaves of a saved tree are still right, as rows arrive."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import column, option
from sureleaf.cli.output import sha256, show, show_json

if TYPE_CHECKING:
    from sureleaf.monitoring import Watch


@options.with_options(
    data=typer.Argument(
        help="New rows; without them, what is known so far.", metavar="[DATA]", show_default="none"
    ),
    state=option("What was counted so far; it is made if it does not exist.", metavar="FILE"),
    output=option("Write an HTML page, too, such as watch.html.", "-o", metavar="FILE"),
    key=column("Names each row, so that its label can come later.", "--key"),
    alpha=option("Probability of any false alarm.", default="0.05, or what the state began with"),
    table=options.table_options("csv"),
)
def watch(
    model: options.SavedModel,
    table: options.TableOptions,
    state: Path,
    data: Path | None = None,
    target: options.TableTarget = None,
    output: Path | None = None,
    key: str | None = None,
    alpha: float | None = None,
    as_json: options.AsJson = False,
) -> None:
    """Say for every leaf of a tree whether it is still right, as rows arrive.

    Run it again for every file of new rows, in the order in which they came. It
    may be looked at at any time. An empty cell in the target column is a label
    that is not known yet. It exits with 1 if there is an alarm.

    For example:
    - sureleaf watch model.sureleaf new.csv --target class --state watch.json
    - sureleaf watch model.sureleaf a.csv -t class --state w.json -o watch.html
    - sureleaf watch model.sureleaf b.csv -t class --key id --state keyed.json
    """
    from rich.text import Text

    from sureleaf.commands.predictions import load_tree
    from sureleaf.errors import InvalidArgumentError
    from sureleaf.files import atomic_write
    from sureleaf.monitoring.watch_state import load_watch, watching

    options.check_output(output, model, data, state)
    tree = load_tree(model, "watch")
    if data is None:
        if not state.exists():
            raise InvalidArgumentError(
                f"{state} does not exist. Give a file of rows, to begin it: sureleaf watch "
                "model.sureleaf rows.csv --target COLUMN --state FILE."
            )
        watched = load_watch(state, tree)
    else:
        options.check_output(state, model, data)
        with watching(state, tree, alpha) as watched:
            _add(watched, data, options.given_target(target, data), key, table)
    document = watched.to_dict()
    if output is not None:
        from sureleaf.report.html.life_pages import render_watch

        with atomic_write(output) as file:
            file.write(render_watch(document).encode())
    if as_json:
        show_json(document)
    else:
        page: list[Any] = [] if output is None else ["", Text(f"Page: {output}")]
        leaves = sorted(document["leaves"], key=lambda one: not one["alarm"])
        lines = [f"Leaf {one['leaf']} ({one['rule']}): {one['sentence']}" for one in leaves]
        show(*map(Text, document["sentences"]), "", *map(Text, lines), *page)
    if document["alarm"]:
        raise typer.Exit(1)


def _add(
    watched: "Watch", data: Path, target: str, key: str | None, table: options.TableOptions
) -> None:
    """Count the rows of a file, or labels alone if it has no other columns than key and target."""
    from sureleaf.errors import InvalidArgumentError, suggestion
    from sureleaf.files import read_file

    rows = read_file(data, csv=table.for_models(watched.tree).csv)
    for name, given in (("target", target), ("key", key)):
        if given is not None and given not in rows.column_names:
            raise InvalidArgumentError(
                f"--{name} must be a column of {data.name}; got {given!r}."
                f"{suggestion(given, rows.column_names)}"
                + (" Add it with empty cells if no label is known yet." if name == "target" else "")
            )
    known = watched.model.schema.names
    kept = [name for name in rows.column_names if name != target]
    labels: Any = rows[target].to_pylist()
    keys: Any = None if key is None else rows[key].to_pylist()
    if key is not None and not set(known) & (set(kept) - {key}):
        n_known = len(watched.counts.settled)
        watched.label(labels, keys=keys)
        n_new = len(watched.counts.settled) - n_known
        _note_known(rows.num_rows - labels.count(None) - n_new, "labels were known before")
        return
    source = None if str(data) == "-" else sha256(data)
    cells = rows.select([name for name in kept if name != key or name in known])
    n_before = watched.counts.n_rows
    watched.add(cells, labels, keys=keys, source=source)
    n_new = watched.counts.n_rows - n_before
    _note_known(rows.num_rows - n_new, "rows were counted before; of these, only new labels count")


def _note_known(n: int, what: str) -> None:
    """Say how many keys name what is known already."""
    if n:
        typer.echo(f"sureleaf: note: by their key, {n:,} {what}.", err=True)
