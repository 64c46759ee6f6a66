"""The figures that the paper prints, as data: ``printed.json`` beside this file."""

import json
from functools import cache
from importlib import resources
from typing import Any

__all__ = ["printed", "printed_table"]


@cache
def printed() -> dict[str, Any]:
    """Return everything that was taken from the paper, with its source.

    Examples
    --------
    >>> printed()["example_2"]["estimates"]["mle"]
    [0.7134, 0.8917, 0.6679]
    """
    found: dict[str, Any] = json.loads(
        resources.files(__package__).joinpath("printed.json").read_text(encoding="utf-8")
    )
    return found


def printed_table(number: int) -> dict[str, Any]:
    """Return one table; its keys differ from table to table.

    Examples
    --------
    >>> printed_table(3)["share"]
    0.5
    """
    found: dict[str, Any] = printed()["tables"][str(number)]
    return found
