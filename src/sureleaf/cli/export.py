"""``sureleaf export``: write a saved model in the format of another program."""

from pathlib import Path
from typing import Any

from sureleaf.cli import options
from sureleaf.cli.options import option
from sureleaf.cli.output import flush, show, show_json, standard_output
from sureleaf.errors import InvalidArgumentError

_DIALECTS = ("duckdb", "sqlite", "postgresql", "spark")
_SUFFIXES = {
    ".txt": "rules",
    ".json": "json",
    ".sql": "sql",
    ".py": "python",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "svg",
    ".onnx": "onnx",
}
_FORMATS = tuple(dict.fromkeys(_SUFFIXES.values()))


@options.with_options(
    to=option(
        f"{', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}.",
        metavar="FORMAT",
        default="by the suffix of --output",
        words=_FORMATS,
    ),
    output=option("File to write.", "-o", metavar="FILE", default="standard output"),
    dialect=option(
        "duckdb, sqlite, postgresql or spark.", default="duckdb", words=_DIALECTS, panel="SQL"
    ),
    table=option("Name of the table with the rows.", default="data", panel="SQL"),
    keep=option("Column to select, too; may be repeated.", metavar="COLUMN", panel="SQL"),
)
def export(
    model: options.SavedModel,
    to: str | None = None,
    output: Path = Path("-"),
    cost: options.DecisionCost = None,
    dialect: str | None = None,
    table: str | None = None,
    keep: list[str] | None = None,
    as_json: options.SummaryAsJson = False,
) -> None:
    """Write a saved model as rules, SQL, Python, JSON, ONNX or a drawing.

    For example:
    - sureleaf export model.sureleaf --to rules
    - sureleaf export model.sureleaf --dialect sqlite --table t -o tree.sql
    - sureleaf export model.sureleaf -o tree.py
    - sureleaf export model.sureleaf -o tree.sql --cost "0,5;1,0"
    - sureleaf export model.sureleaf -o tree.svg
    """
    from sureleaf.estimators import load
    from sureleaf.exports import export as export_model
    from sureleaf.files.atomic_write import atomic_write

    to_stdout = str(output) == "-"
    file_format = _read_format(to, output)
    if not to_stdout:
        options.check_output(output, model, cost)
    if as_json and to_stdout:
        raise InvalidArgumentError(
            "--json needs --output: the model and JSON cannot both go to standard output."
        )
    given: dict[str, Any] = {"dialect": dialect, "table": table, "keep": keep}
    chosen = {name: value for name, value in given.items() if value}
    fitted = options.decided_by(load(model), cost)
    exported = export_model(fitted, file_format, **chosen)
    content = exported.encode() if isinstance(exported, str) else exported
    if isinstance(exported, str) and not exported.endswith("\n"):
        content += b"\n"
    if to_stdout:
        with standard_output() as file:
            file.write(content)
        flush()
        return
    with atomic_write(output) as file:
        file.write(content)
    if as_json:
        show_json({"output": str(output), "format": file_format, "bytes": len(content)})
    else:
        show(f"Written: {output} ({file_format}, {len(content):,} bytes)")


def _read_format(to: str | None, output: Path) -> str:
    """Return the requested format, or the one of the suffix of the output file."""
    if to is None:
        to = _SUFFIXES.get(output.suffix.lower())
        if to is None:
            raise InvalidArgumentError(
                f"--to must be one of {', '.join(_FORMATS)}, or --output must end in "
                f"{', '.join(_SUFFIXES)}; got neither."
            )
    return options.choice("--to", to, _FORMATS)
