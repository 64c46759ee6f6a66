"""The options that say how a table is read, for every command that reads one."""

from typing import TYPE_CHECKING, Annotated

import typer

from sureleaf.cli import completing

if TYPE_CHECKING:
    from sureleaf.table import CsvFormat

__all__ = ["csv_format"]

_PANEL = "Reading the table"

Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        "--id",
        help="Column to leave out, such as a row number; may be repeated.",
        metavar="COLUMN",
        autocompletion=completing.column,
        rich_help_panel=_PANEL,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help="What stands between the cells of a CSV file: a character, or its name.",
        show_default="seen from the file",
        autocompletion=completing.words("comma", "semicolon", "tab", "bar", "space"),
        rich_help_panel=_PANEL,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a CSV file.",
        show_default="utf-8",
        autocompletion=completing.words("utf-8", "utf-16", "windows-1252", "latin-1"),
        rich_help_panel=_PANEL,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        help="Decimal point of a CSV file: . or ,", show_default="seen", rich_help_panel=_PANEL
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        help="Cell of a CSV file that is missing, such as '?'; may be repeated.",
        metavar="TEXT",
        rich_help_panel=_PANEL,
    ),
]


def csv_format(
    delimiter: str | None, encoding: str | None, decimal: str | None, missing: list[str] | None
) -> "CsvFormat":
    """Put together what is known about a CSV file.

    Examples
    --------
    >>> csv_format("tab", None, None, ["?"]).missing
    ('?',)
    """
    from sureleaf.table import CsvFormat

    return CsvFormat(delimiter, encoding, decimal, tuple(missing or ()))
