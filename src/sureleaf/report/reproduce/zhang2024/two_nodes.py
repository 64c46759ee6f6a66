"""Tables 3 to 8 and Example 1: a tree with two nodes."""

import numpy as np

from sureleaf import levels
from sureleaf.report.reproduce.judgement import Computed, Part, judge
from sureleaf.report.reproduce.zhang2024.as_printed import (
    confidence_from_independent_counts,
    utility_of,
)
from sureleaf.report.reproduce.zhang2024.printed import printed, printed_table

__all__ = ["example", "table"]

OTHER = (
    "the success count taken as Bin(n, share * p_max), independent of the node's size "
    "N ~ Bin(n, share)"
)


def table(number: int) -> Part:
    """Return one of Tables 3 to 8, judged.

    Examples
    --------
    >>> table(3)
    Part('table 3': 63 cells, 4 agrees, 59 other computation, 0 misprint)
    """
    content = printed_table(number)
    level = content["what"].split()[0]
    shares = (content["share"], 1 - content["share"])
    cells = []
    for n, figures in content["rows"].items():
        for pair, figure in zip(content["p_max_pairs"], figures, strict=True):
            defined = levels.tree_levels(float(n), shares, pair, empty="miss")
            other = None if n == "inf" else Computed(_as_printed(int(n), shares, pair)[level])
            row, column = f"n = {'∞' if n == 'inf' else n}", f"({pair[0]}, {pair[1]})"
            column = column.replace("0.", ".")
            value = float(getattr(defined, level))
            cells.append(judge(row, column, figure, 4, Computed(value), other))
    definition = "(10) with (9)" if level == "confidence" else "(11) with (9)"
    return Part(f"table {number}", content["what"], definition, OTHER, tuple(cells))


def _as_printed(n: int, shares: tuple[float, float], pair: list[float]) -> dict[str, float]:
    """Return both levels of the tree with the two counts of each node independent."""
    nodes = [
        confidence_from_independent_counts(n, share, share * p)
        for share, p in zip(shares, pair, strict=True)
    ]
    useful = [utility_of(confidence, p) for confidence, p in zip(nodes, pair, strict=True)]
    return {
        "confidence": float(np.dot(shares, nodes)),
        "utility": float(np.dot(shares, useful)),
    }


def example() -> Part:
    """Return Example 1's splits: the second node's p_max follows from the first's.

    Examples
    --------
    >>> [cell.defined.value for cell in example().cells]
    [0.75, 0.6875]
    """
    content = printed()["example_1"]
    cells = []
    for name, split in content["splits"].items():
        rest = (content["p_max"] - split["share"] * split["p_max"][0]) / (1 - split["share"])
        p_max = Computed(round(max(rest, 1 - rest), 12))
        cells.append(judge(f"split {name}", "second p_max", split["p_max"][1], 4, p_max))
    return Part(
        "example 1",
        "two splits of a node with p_max .70",
        "the shares' mean of p is that of the node",
        "",
        tuple(cells),
    )
