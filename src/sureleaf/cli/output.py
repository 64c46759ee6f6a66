"""How a command shows its result: rich text for people, JSON for machines."""

import json
import sys
from typing import Any

from rich.console import Console, RenderableType

__all__ = ["show", "show_json"]


def show(*parts: RenderableType) -> None:
    """Print rich text; colours only on a terminal, each part below the one before.

    Rendered first and written in one go, so that a reader who closes the pipe early meets one
    place that writes.

    Examples
    --------
    >>> show("[bold]9 rows[/bold]")
    9 rows
    """
    console = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    sys.stdout.write("\n".join(lines) + "\n")


def show_json(result: dict[str, Any]) -> None:
    """Print one JSON object; what is not a number becomes null, so that every reader takes it.

    Examples
    --------
    >>> show_json({"rows_needed": 9})
    {
      "rows_needed": 9
    }
    """
    sys.stdout.write(json.dumps(result, indent=2, allow_nan=False, ensure_ascii=False) + "\n")
