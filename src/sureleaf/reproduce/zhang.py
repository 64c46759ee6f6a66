"""The tables, examples and figures of Zhang (2024) recomputed.

``zhang.json`` holds the printed figures. Equation numbers are those of the reference. Many of
its tables do not follow its definitions. The section on alternative computations has the formulas
that they follow instead; these explain printed figures and have no other use.

References
----------
Zhang, Z. (2024). Levels of Confidence and Utility for Binary Classifiers. Stats 7(4), 1209-1225.
https://doi.org/10.3390/stats7040071
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from sureleaf import levels
from sureleaf.arguments import FloatArray
from sureleaf.levels.competing_splits import Level
from sureleaf.plots import LevelsDisplay
from sureleaf.plots.display import BLUE, INK, new_axes, new_figure, save
from sureleaf.reproduce.cells import (
    Computed,
    Part,
    PrintedCell,
    Reproduction,
    by_arithmetic,
    by_library,
    check_cell,
    read_printed,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def reproduce() -> Reproduction:
    """Recompute the 19 tables and three examples."""
    parts = (
        one_node_table(1),
        one_node_table(2),
        sample_sizes(),
        two_node_example(),
        *(two_node_table(number) for number in range(3, 9)),
        estimator_example(),
        biases_near_one_half(),
        golf_ranking(),
        golf_data(),
        *(golf_column_table(number) for number in GOLF_COLUMNS),
        golf_summary_table(),
        *(estimator_table(number) for number in ESTIMANDS),
    )
    return Reproduction("zhang2024", printed()["source"], parts)


def printed() -> Any:
    """Return all printed figures, and their source."""
    return read_printed(__package__, "zhang.json")


def printed_table(number: int) -> Any:
    """Return one printed table; the keys depend on the table."""
    return printed()["tables"][str(number)]


# ---- alternative computations -------------------------------------------------------------------


def binomial_probabilities(n: int, p: float) -> FloatArray:
    """Return P(Y = y) for y = 0 to n, where Y ~ Bin(n, p)."""
    y = np.arange(n + 1)
    ways = special.gammaln(n + 1) - special.gammaln(y + 1) - special.gammaln(n - y + 1)
    return np.asarray(np.exp(ways + special.xlogy(y, p) + special.xlog1py(n - y, -p)))


def confidence_from_independent_counts(n: int, share: float, success: float) -> float:
    """Compute (9) with a success count that is independent of the node's size.

    Tables 3 to 8 use N ~ Bin(n, share) and Y ~ Bin(n, share * p_max). Tables 11 to 14 use
    N ~ Bin(n_j, n_j / 14) and Y ~ Bin(n_j, p_max). Both compare Y with N / 2 as if Y and N were
    independent. In (9), Y given N = m is Bin(m, p_max).
    """
    sizes = binomial_probabilities(n, share)[1:]
    successes = binomial_probabilities(n, success)
    m, y = np.arange(1, n + 1)[:, None], np.arange(n + 1)
    won = (2 * y > m) + 0.5 * (2 * y == m)
    return float(sizes @ won @ successes)


def confidence_without_ties(n: int, p_max: FloatArray) -> FloatArray:
    """Compute (5) without its last term: a tie counts as a failure, not as half a success."""
    won = np.asarray(levels.confidence(n, p_max), dtype=np.float64)
    if n % 2:
        return won
    half = n / 2
    ways = special.gammaln(n + 1) - 2 * special.gammaln(half + 1)
    tie = np.exp(ways + special.xlogy(half, p_max) + special.xlog1py(half, -p_max))
    return np.asarray(won - tie / 2)


def utility_of(confidence: Any, p_max: Any) -> Any:
    """Compute (6), p C + (1 - p) (1 - C), from a confidence that may follow any formula."""
    return p_max * confidence + (1 - p_max) * (1 - confidence)


def gini_with_last_squares_added(nodes: Sequence[tuple[int, int]]) -> float:
    """Compute the Gini impurity of a split with a wrong sign: 1 + sum p^2 in the last node.

    Table 15 prints this for the two splits with three nodes. Each node is given as its number of
    rows and of successes.
    """
    n, y = np.array(nodes, dtype=np.float64).T
    squares = (y**2 + (n - y) ** 2) / n**2
    impurity = 1 - squares
    impurity[-1] = 1 + squares[-1]
    return float(n @ impurity / n.sum())


# ---- Tables 1 and 2: levels of one node, and the sample sizes read from them ---------------------

_ONE_NODE = {1: ("confidence", levels.confidence, "(5)"), 2: ("utility", levels.utility, "(6)")}


def one_node_table(number: int) -> Part:
    """Check Table 1 or 2."""
    _, level, definition = _ONE_NODE[number]
    content = printed_table(number)
    cells = [
        check_cell(f"n = {n}", f"{p:.2f}".lstrip("0"), figure, 2, by_library(level(int(n), p)))
        for n, figures in content["rows"].items()
        for p, figure in zip(content["p_max"], figures, strict=True)
    ]
    other = f"{definition}, truncated after two decimals instead of rounded"
    return Part(f"table {number}", content["what"], definition, other, tuple(cells))


def sample_sizes() -> Part:
    """Check the two sample sizes in the text under Table 2."""
    text, cells = printed()["text_under_table_2"], []
    p = text["p_max"]
    for name, level, _ in _ONE_NODE.values():
        wanted, figure = text[name], text[f"rows_for_{name}"]
        exact = int(levels.sample_size(p, **{name: wanted}))
        rounded = next(n for n in range(1, exact + 1) if round(float(level(n, p)), 2) >= wanted)
        row, other = f"{name} of {wanted:.2f}", by_arithmetic(rounded)
        cells.append(check_cell(row, f"p_max = {p}", figure, 0, by_library(exact), other))
    return Part(
        "text under table 2",
        "smallest n that reaches a level",
        "smallest n by (5), (6)",
        "smallest n whose level reaches it after rounding to two decimals",
        tuple(cells),
    )


# ---- Tables 3 to 8 and Example 1: trees with two nodes ------------------------------------------

_INDEPENDENT_COUNTS = (
    "success count Bin(n, share * p_max), independent of the node's size N ~ Bin(n, share)"
)


def two_node_table(number: int) -> Part:
    """Check one of Tables 3 to 8."""
    content = printed_table(number)
    level = content["what"].split()[0]
    shares = (content["share"], 1 - content["share"])
    cells = []
    for n, figures in content["rows"].items():
        for pair, figure in zip(content["p_max_pairs"], figures, strict=True):
            defined = by_library(getattr(levels.tree_levels(float(n), shares, pair), level))
            other = None if n == "inf" else _independent_tree_level(level, int(n), shares, pair)
            row, column = f"n = {'∞' if n == 'inf' else n}", f"({pair[0]}, {pair[1]})"
            cells.append(check_cell(row, column.replace("0.", "."), figure, 4, defined, other))
    definition = "(10) with (9)" if level == "confidence" else "(11) with (9)"
    return Part(f"table {number}", content["what"], definition, _INDEPENDENT_COUNTS, tuple(cells))


def _independent_tree_level(
    level: str, n: int, shares: tuple[float, float], pair: list[float]
) -> Computed:
    """Compute a level of a tree whose nodes have independent counts."""
    nodes = [
        confidence_from_independent_counts(n, share, share * p)
        for share, p in zip(shares, pair, strict=True)
    ]
    if level == "utility":
        nodes = [utility_of(confidence, p) for confidence, p in zip(nodes, pair, strict=True)]
    return by_arithmetic(np.dot(shares, nodes))


def two_node_example() -> Part:
    """Check Example 1: the second node's p_max follows from the first node's."""
    content = printed()["example_1"]
    cells = []
    for name, split in content["splits"].items():
        rest = (content["p_max"] - split["share"] * split["p_max"][0]) / (1 - split["share"])
        p_max = by_arithmetic(round(max(rest, 1 - rest), 12))
        cells.append(check_cell(f"split {name}", "second p_max", split["p_max"][1], 4, p_max))
    definition = "the mean of p over the two nodes is p of the undivided node"
    return Part("example 1", "two splits of a node with p_max .70", definition, "", tuple(cells))


# ---- Tables 9 and 16 to 19, Example 2: bias of the estimators -----------------------------------

_WITHOUT_TIES = "levels without the tie term of (5): a tie counts as a failure"
ESTIMANDS = {16: "p_max", 17: "p_max", 18: "confidence", 19: "utility"}
"""Table number -> the quantity that is estimated."""

_LEVELS: dict[str, Callable[[int, Any], Any]] = {
    "p_max": lambda n, p: p,
    "confidence": levels.confidence,
    "utility": levels.utility,
}
_LEVELS_WITHOUT_TIES: dict[str, Callable[[int, Any], Any]] = {
    "confidence": confidence_without_ties,
    "utility": lambda n, p: utility_of(confidence_without_ties(n, p), p),
}


@cache
def _errors(n: int, p_max: float, method: str, of: str, ties: bool = True) -> FloatArray:
    """Return the error of the estimate for each count y = 0 to n."""
    level = (_LEVELS if ties else _LEVELS_WITHOUT_TIES)[of]
    estimates = np.asarray(levels.estimate_p_max(np.arange(n + 1), n, method=method), dtype=float)
    return np.asarray(np.asarray(level(n, estimates)) - level(n, np.array([p_max])))


def _mean_and_standard_error(n: int, p_max: float, values: FloatArray) -> tuple[float, float]:
    """Return the exact mean over Y ~ Bin(n, p_max), and the standard error of a simulated one."""
    weights = binomial_probabilities(n, p_max)
    mean = float(weights @ values)
    variance = float(weights @ (values - mean) ** 2)
    return mean, float(np.sqrt(variance / printed()["simulated_samples"]))


def bias(n: int, p_max: float, method: str, of: str, *, ties: bool = True) -> Computed:
    """Return the exact bias of an estimator and the standard error of a simulated bias.

    With ``ties=False`` the levels leave out the tie term of (5).

    Examples
    --------
    >>> bias(20, 0.7, "mle", "confidence").value.__round__(4)
    -0.0528
    >>> bias(20, 0.7, "mle", "confidence", ties=False).value.__round__(4)  # printed: -.0610
    -0.0629
    """
    mean, error = _mean_and_standard_error(n, p_max, _errors(n, p_max, method, of, ties))
    if not ties:
        return by_arithmetic(mean, error)
    return by_library(levels.exact_bias(n, p_max, method=method, of=of), error)


def squared_error(n: int, p_max: float, method: str) -> Computed:
    """Return the exact mean squared error of an estimate of p_max, and that of a simulation."""
    _, error = _mean_and_standard_error(n, p_max, _errors(n, p_max, method, "p_max") ** 2)
    return by_library(levels.exact_mse(n, p_max, method=method, of="p_max"), error)


def _biases(n: int, p: float, method: str, of: str) -> tuple[Computed, Computed | None]:
    other = bias(n, p, method, of, ties=False) if of in _LEVELS_WITHOUT_TIES else None
    return bias(n, p, method, of), other


def estimator_table(number: int) -> Part:
    """Check one of Tables 16 to 19."""
    content, of = printed_table(number), ESTIMANDS[number]
    columns = [(method, p) for method in content["methods"] for p in content["p_max"]]
    cells = []
    for n, figures in content["rows"].items():
        for (method, p), figure in zip(columns, figures, strict=True):
            defined, other = _biases(int(n), p, method, of)
            if number == 17:
                defined = squared_error(int(n), p, method)
            column = f"{method} .{p * 10:.0f}"
            cells.append(check_cell(f"n = {n}", column, figure, 4, defined, other))
    why = _WITHOUT_TIES if of in _LEVELS_WITHOUT_TIES else ""
    part = Part(f"table {number}", content["what"], "exact sum over y", why, tuple(cells))
    return part.with_exchanges_noted()


def biases_near_one_half() -> Part:
    """Check Table 9."""
    content = printed_table(9)
    p = content["p_max"]
    cells = [
        check_cell(f"n = {n}", f"{of} {method}", figure, 4, *_biases(int(n), p, method, of))
        for n, figures in content["rows"].items()
        for (of, method), figure in zip(content["columns"], figures, strict=True)
    ]
    return Part("table 9", content["what"], "exact sum over y", _WITHOUT_TIES, tuple(cells))


def estimator_example() -> Part:
    """Check Example 2: the estimates from 5 of 7 rows."""
    content = printed()["example_2"]
    y, n = content["y"], content["n"]
    cells = []
    for method, figures in content["estimates"].items():
        p = float(levels.estimate_p_max(y, n, method=method))
        for (of, level), figure in zip(_LEVELS.items(), figures, strict=True):
            rounded = by_arithmetic(level(n, round(p, 2))) if method == "blend" else None
            cells.append(check_cell(method, of, figure, 4, by_library(level(n, p)), rounded))
    return Part(
        "example 2",
        f"estimates from {y} of {n} rows",
        "(14), (2), (21), each inserted into (5), (6)",
        "(21) rounded to two decimals (.70 for .7007), then inserted into (5), (6)",
        tuple(cells),
    )


# ---- Tables 10 to 15 and Example 3: which column of the golf data predicts best ------------------

GOLF_COLUMNS = {11: "Outlook", 12: "Temp", 13: "Humidity", 14: "Windy"}
"""Table number -> the column that it splits on."""

_GOLF_MEASURES = ("confidence", "utility", "Gini")
_OWN_ROWS = (
    "N ~ Bin(n_j, n_j / 14) and an independent success count Bin(n_j, p_max): "
    "the rows of the node instead of the 14 rows of the tree"
)


def golf_node_counts(column: str) -> dict[str, tuple[int, int]]:
    """Count rows and rows with "Yes" for each value of a column of Table 10."""
    content = printed_table(10)
    index, play = content["columns"].index(column), content["columns"].index("Play Golf")
    counts: dict[str, tuple[int, int]] = {}
    for row in content["rows"]:
        n, y = counts.get(row[index], (0, 0))
        counts[row[index]] = (n + 1, y + (row[play] == "Yes"))
    return counts


def golf_data() -> Part:
    """Return Table 10, the data of Tables 11 to 15."""
    n_rows = len(printed_table(10)["rows"])
    return Part("table 10", f"golf data: {n_rows} rows, counted in 11 to 14", "data", "", ())


def golf_column_table(number: int) -> Part:
    """Check one of Tables 11 to 14."""
    column = GOLF_COLUMNS[number]
    node_counts = golf_node_counts(column)
    n_rows = sum(n for n, _ in node_counts.values())
    cells: list[PrintedCell] = []
    for node, (n, y, *printed_levels) in printed_table(number)["nodes"].items():
        p, share = max(y, n - y) / n, n / n_rows
        independent = confidence_from_independent_counts(n, share, p)
        confidence = levels.node_confidence(n_rows, share, p), independent
        utility = levels.node_utility(n_rows, share, p), utility_of(independent, p)
        cells += [
            check_cell(node, "n", n, 0, by_arithmetic(node_counts[node][0])),
            check_cell(node, "y", y, 0, by_arithmetic(node_counts[node][1])),
        ]
        cells += [
            check_cell(node, level, figure, 4, by_library(defined), by_arithmetic(other))
            for level, figure, (defined, other) in zip(
                _GOLF_MEASURES, printed_levels, (confidence, utility), strict=False
            )
        ]
    title = f"golf by {column}: counts and levels"
    return Part(f"table {number}", title, "(9) with n = 14", _OWN_ROWS, tuple(cells))


def golf_summary_table() -> Part:
    """Check Table 15: levels and Gini impurity of each column."""
    cells = []
    for number, column in GOLF_COLUMNS.items():
        figures = printed_table(15)["covariates"][column]
        defined, others = _split_measures(column), _means_of_printed_levels(number)
        wrong_sign = gini_with_last_squares_added(list(golf_node_counts(column).values()))
        for measure, figure in zip(_GOLF_MEASURES, figures, strict=True):
            fits = measure == "Gini" and by_arithmetic(wrong_sign).explains(figure, 4)
            note = "fits 1 + sum p^2 instead of 1 - sum p^2 in the last node" if fits else ""
            computed = (defined[measure], others.get(measure))
            cells.append(check_cell(column, measure, figure, 4, *computed, note=note))
    return Part(
        "table 15",
        "golf: levels and Gini of each column",
        "(10), (11) with n = 14; Gini",
        "weighted mean of the levels printed in Tables 11 to 14",
        tuple(cells),
    )


def _split_measures(column: str) -> dict[str, Computed]:
    """Return confidence, utility and Gini impurity of the split on a column."""
    node_counts = golf_node_counts(column).values()
    n_rows = sum(n for n, _ in node_counts)
    shares = [n / n_rows for n, _ in node_counts]
    p_max = [max(y, n - y) / n for n, y in node_counts]
    tree = levels.tree_levels(n_rows, shares, p_max)
    gini = sum(share * 2 * p * (1 - p) for share, p in zip(shares, p_max, strict=True))
    computed = by_library(tree.confidence), by_library(tree.utility), by_arithmetic(gini)
    return dict(zip(_GOLF_MEASURES, computed, strict=True))


def _means_of_printed_levels(number: int) -> dict[str, Computed]:
    """Return the means, weighted by rows, of the node levels that Tables 11 to 14 print."""
    nodes = list(printed_table(number)["nodes"].values())
    n_rows = sum(node[0] for node in nodes)
    return {
        level: by_arithmetic(sum(node[0] * node[i] for node in nodes) / n_rows)
        for i, level in ((2, "confidence"), (3, "utility"))
    }


def golf_ranking() -> Part:
    """Check Example 3: the rank of each column by each measure."""
    order = printed()["example_3"]["ranking"]
    figures = printed_table(15)["covariates"]
    measures = {column: _split_measures(column) for column in order}
    cells = []
    for index, measure in enumerate(_GOLF_MEASURES):
        sign = -1 if measure == "Gini" else 1  # the smallest impurity is the best
        defined = {column: sign * measures[column][measure].value for column in order}
        other = {column: sign * figures[column][index] for column in order}
        for rank, column in enumerate(order, start=1):
            ranks = [1 + sum(one > own[column] for one in own.values()) for own in (defined, other)]
            computed = Computed(ranks[0], measures[column][measure].basis)
            cells.append(check_cell(column, measure, rank, 0, computed, by_arithmetic(ranks[1])))
    return Part(
        "example 3",
        "rank of each column of the golf data",
        "rank by (10), (11), Gini",
        "rank by the figures printed in Table 15",
        tuple(cells),
    )


# ---- Figures 1 to 3: first their numbers, then the drawings --------------------------------------


@dataclass(frozen=True)
class Likelihoods:
    """Figure 3: the binomial (1) and entropic (2) likelihoods of p_max, and their maxima."""

    y: int
    n: int
    p_max: FloatArray
    binomial: FloatArray
    entropic: FloatArray
    mle: float
    entropic_mle: float


def split_curves(level: Level, n_max: int = 100) -> LevelsDisplay:
    """Compute Figure 1 (confidence) or 2 (utility) by (10), (11), for n = 1 to ``n_max``.

    The curve of no split has steps because by (5) an even number of rows is no better than one row
    less.
    """
    content = printed()["example_1"]
    splits = {
        f"split {name}": list(zip((one["share"], 1 - one["share"]), one["p_max"], strict=True))
        for name, one in content["splits"].items()
    }
    return LevelsDisplay.from_splits(splits, p_max=content["p_max"], level=level, n_max=n_max)


def likelihoods(points: int = 501) -> Likelihoods:
    """Compute Figure 3 for the counts of Example 2."""
    y, n = printed()["example_2"]["y"], printed()["example_2"]["n"]
    p = np.linspace(0.5, 1.0, points)
    q, ways = 1 - p, comb(n, y)
    binomial = ways * p**y * q ** (n - y)
    entropic = ways * (p**y * q ** (n - y) + p ** (n - y) * q**y)
    maxima = (float(levels.estimate_p_max(y, n, method=one)) for one in ("mle", "entropic"))
    return Likelihoods(y, n, p, binomial, entropic, *maxima)


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw the three figures as SVG and PNG files and yield their paths."""
    levels_by_rows: tuple[Level, Level] = ("confidence", "utility")
    for number, level in enumerate(levels_by_rows, start=1):
        display = split_curves(level)
        figure = new_figure(*display.figure_size())
        title = f"Figure {number}. Level of {level} of competing splits"
        display.plot(ax=figure.add_subplot(), title=title)
        yield from save(figure, directory, f"zhang2024-figure-{number}")
    yield from save(draw_likelihoods(likelihoods()), directory, "zhang2024-figure-3")


def draw_likelihoods(likelihood: Likelihoods) -> "Figure":
    """Draw Figure 3."""
    figure, axes = new_axes(
        f"Figure 3. Likelihood after {likelihood.y} of {likelihood.n} rows",
        "Entropic (2): one class, whichever, has this count. Binomial (1): the first class has it.",
    )
    curves = (
        ("entropic, (2)", likelihood.entropic, likelihood.entropic_mle, INK, "-"),
        ("binomial, (1)", likelihood.binomial, likelihood.mle, BLUE, (0, (5, 2.5))),
    )
    for name, curve, maximum, colour, line in curves:
        top = float(np.interp(maximum, likelihood.p_max, curve))
        axes.plot(likelihood.p_max, curve, color=colour, linewidth=2.4, linestyle=line, label=name)
        axes.plot([maximum, maximum], [0, top], color=colour, linewidth=1, linestyle=line)
        axes.annotate(
            f"largest at {maximum:.4f}".replace("0.", "."),
            (maximum, 0),
            xytext=(-5 if colour == INK else 5, 6),
            textcoords="offset points",
            ha="right" if colour == INK else "left",
            color=colour,
        )
    axes.legend(frameon=False, loc="upper right", title="likelihood", alignment="left")
    axes.set_xlabel("$p_{max}$")
    axes.set_ylabel(f"probability of {likelihood.y} of {likelihood.n}")
    axes.set_xlim(0.5, 1)
    axes.set_ylim(0, float(likelihood.entropic.max()) * 1.15)
    return figure
