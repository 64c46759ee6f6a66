"""Tables 10 to 15 and Example 3: which column of the golf data predicts best."""

from sureleaf import levels
from sureleaf.reproduce.comparison_table import Cell, Computed, Part, judge
from sureleaf.reproduce.zhang2024.as_printed import (
    confidence_from_independent_counts,
    gini_with_last_squares_added,
    utility_of,
)
from sureleaf.reproduce.zhang2024.tables import printed, printed_table

__all__ = ["data", "nodes_of", "overall", "ranking", "table"]


COLUMNS = {11: "Outlook", 12: "Temp", 13: "Humidity", 14: "Windy"}
OTHER = (
    "N ~ Bin(n_j, n_j / 14) and, independent of it, the success count Bin(n_j, p_max): "
    "the node's own rows instead of the 14 of the tree"
)
MEASURES = ("confidence", "utility", "Gini")


def nodes_of(column: str) -> dict[str, tuple[int, int]]:
    """Return rows and rows that play for each value of a column of Table 10.

    Examples
    --------
    >>> nodes_of("Outlook")
    {'Rainy': (5, 2), 'Overcast': (4, 4), 'Sunny': (5, 3)}
    """
    content = printed_table(10)
    at, play = content["columns"].index(column), content["columns"].index("Play Golf")
    counts: dict[str, tuple[int, int]] = {}
    for row in content["rows"]:
        n, y = counts.get(row[at], (0, 0))
        counts[row[at]] = (n + 1, y + (row[play] == "Yes"))
    return counts


def data() -> Part:
    """Return Table 10, the rows that Tables 11 to 15 are computed from.

    Examples
    --------
    >>> data().title
    'golf data: 14 rows, counted in 11 to 14'
    """
    n = len(printed_table(10)["rows"])
    title = f"golf data: {n} rows, counted in 11 to 14"
    return Part("table 10", title, "data", "", ())


def table(number: int) -> Part:
    """Return one of Tables 11 to 14, judged.

    Examples
    --------
    >>> table(13)
    Part('table 13': 8 cells, 4 agrees, 4 other computation, 0 misprint)
    """
    column = COLUMNS[number]
    counted = nodes_of(column)
    n_rows = sum(n for n, _ in counted.values())
    cells: list[Cell] = []
    for node, (n, y, confidence, utility) in printed_table(number)["nodes"].items():
        p = max(y, n - y) / n
        defined = float(levels.node_confidence(n_rows, n / n_rows, p, empty="miss"))
        other = confidence_from_independent_counts(n, n / n_rows, p)
        useful = Computed(utility_of(defined, p)), Computed(utility_of(other, p))
        cells += [
            judge(node, "n", n, 0, Computed(counted[node][0])),
            judge(node, "y", y, 0, Computed(counted[node][1])),
            judge(node, "confidence", confidence, 4, Computed(defined), Computed(other)),
            judge(node, "utility", utility, 4, *useful),
        ]
    title = f"golf by {column}: counts and levels"
    return Part(f"table {number}", title, "(9) with n = 14", OTHER, tuple(cells))


def overall() -> Part:
    """Return Table 15, judged.

    Examples
    --------
    >>> overall()
    Part('table 15': 12 cells, 2 agrees, 8 other computation, 2 misprint)
    """
    cells = []
    for number, column in COLUMNS.items():
        figures = printed_table(15)["covariates"][column]
        counted = list(nodes_of(column).values())
        defined = _measured(column)
        others = _means_of_printed(number)
        slip = gini_with_last_squares_added(counted)
        for measure, figure in zip(MEASURES, figures, strict=True):
            note = "fits 1 + sum p^2 instead of 1 - sum p^2 in the last node"
            cell = judge(
                column,
                measure,
                figure,
                4,
                Computed(defined[measure]),
                Computed(others[measure]) if measure in others else None,
                note=note if measure == "Gini" and Computed(slip).explains(figure, 4) else "",
            )
            cells.append(cell)
    return Part(
        "table 15",
        "golf: levels and Gini of each column",
        "(10), (11) with n = 14; Gini",
        "the shares' mean of the levels printed in Tables 11 to 14",
        tuple(cells),
    )


def _measured(column: str) -> dict[str, float]:
    """Return confidence, utility and Gini impurity of the split on a column."""
    counted = nodes_of(column).values()
    n_rows = sum(n for n, _ in counted)
    shares = [n / n_rows for n, _ in counted]
    p_max = [max(y, n - y) / n for n, y in counted]
    found = levels.tree_levels(n_rows, shares, p_max, empty="miss")
    gini = sum(share * 2 * p * (1 - p) for share, p in zip(shares, p_max, strict=True))
    return {
        "confidence": float(found.confidence),
        "utility": float(found.utility),
        "Gini": gini,
    }


def _means_of_printed(number: int) -> dict[str, float]:
    """Return the shares' means of the node levels as Tables 11 to 14 print them."""
    nodes = list(printed_table(number)["nodes"].values())
    n_rows = sum(node[0] for node in nodes)
    return {
        "confidence": sum(node[0] * node[2] for node in nodes) / n_rows,
        "utility": sum(node[0] * node[3] for node in nodes) / n_rows,
    }


def ranking() -> Part:
    """Return Example 3's ranking of the columns, judged by each measure.

    Examples
    --------
    >>> [int(cell.defined.value) for cell in ranking().cells if cell.column == "confidence"]
    [1, 3, 2, 4]
    """
    order = printed()["example_3"]["ranking"]
    measured = {column: _measured(column) for column in order}
    figures = printed_table(15)["covariates"]
    cells = []
    for at, measure in enumerate(MEASURES):
        best_first = -1 if measure == "Gini" else 1  # the least impurity is best
        defined = {column: best_first * measured[column][measure] for column in order}
        other = {column: best_first * figures[column][at] for column in order}
        cells += [
            judge(column, measure, rank, 0, _rank(column, defined), _rank(column, other))
            for rank, column in enumerate(order, start=1)
        ]
    return Part(
        "example 3",
        "rank of each column of the golf data",
        "rank by (10), (11), Gini",
        "rank by the figures printed in Table 15",
        tuple(cells),
    )


def _rank(column: str, values: dict[str, float]) -> Computed:
    return Computed(1 + sum(value > values[column] for value in values.values()))
