"""The figures that the paper prints, as data: ``printed.json`` beside this file."""

import json
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf import levels
from sureleaf.reproduce.comparison_table import Cell, Computed, Part, judge
from sureleaf.reproduce.zhang2024.as_printed import (
    binomial_probabilities,
    confidence_from_independent_counts,
    confidence_without_ties,
    utility_of,
)

__all__ = [
    "bias",
    "biases_near_one_half",
    "estimator_example",
    "estimator_table",
    "one_node_table",
    "printed",
    "printed_table",
    "sample_sizes",
    "squared_error",
    "two_node_example",
    "two_node_table",
]


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


# Tables 1 and 2: the levels of one node; and the sample sizes read off them.

LEVELS = {1: ("confidence", levels.confidence, "(5)"), 2: ("utility", levels.utility, "(6)")}


def one_node_table(number: int) -> Part:
    """Return Table 1 or 2, judged.

    Examples
    --------
    >>> one_node_table(2)
    Part('table 2': 275 cells, 271 agrees, 4 other computation, 0 misprint)
    """
    _, level, definition = LEVELS[number]
    content = printed_table(number)
    cells = [
        judge(f"n = {n}", f"{p:.2f}".lstrip("0"), figure, 2, Computed(float(level(int(n), p))))
        for n, figures in content["rows"].items()
        for p, figure in zip(content["p_max"], figures, strict=True)
    ]
    other = f"{definition}, cut off after two decimals instead of rounded"
    return Part(f"table {number}", content["what"], definition, other, tuple(cells))


def sample_sizes() -> Part:
    """Return the two sample sizes that the text under Table 2 reads off the tables.

    Examples
    --------
    >>> [int(cell.defined.value) for cell in sample_sizes().cells]
    [9, 7]
    """
    text = printed()["text_under_table_2"]
    return Part(
        "text under table 2",
        "smallest n that reaches a level",
        "smallest n by (5), (6)",
        "smallest n whose level reaches it once rounded to two decimals",
        tuple(_sample_size(number, text) for number in LEVELS),
    )


def _sample_size(number: int, text: dict[str, float]) -> Cell:
    name, level, _ = LEVELS[number]
    p, wanted, figure = text["p_max"], text[name], text[f"rows_for_{name}"]
    exact = int(levels.sample_size(p, **{name: wanted}))
    rounded = next(n for n in range(1, exact + 1) if round(float(level(n, p)), 2) >= wanted)
    return judge(
        f"{name} of {wanted:.2f}", f"p_max = {p}", figure, 0, Computed(exact), Computed(rounded)
    )


# Tables 3 to 8 and Example 1: a tree with two nodes.

OTHER = (
    "the success count taken as Bin(n, share * p_max), independent of the node's size "
    "N ~ Bin(n, share)"
)


def two_node_table(number: int) -> Part:
    """Return one of Tables 3 to 8, judged.

    Examples
    --------
    >>> two_node_table(3)
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


def two_node_example() -> Part:
    """Return Example 1's splits: the second node's p_max follows from the first's.

    Examples
    --------
    >>> [cell.defined.value for cell in two_node_example().cells]
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


# Tables 9 and 16 to 19, Example 2: how far the estimators are off.

FloatArray = NDArray[np.float64]

WITHOUT_TIES = "levels without the tie term of (5): a tie counts as a failure"
OF = {16: "p_max", 17: "p_max", 18: "confidence", 19: "utility"}


def _p_max(n: int, p: FloatArray) -> FloatArray:
    return p


def _confidence(n: int, p: FloatArray) -> FloatArray:
    return np.asarray(levels.confidence(n, p), dtype=np.float64)


def _utility(n: int, p: FloatArray) -> FloatArray:
    return np.asarray(levels.utility(n, p), dtype=np.float64)


def _utility_without_ties(n: int, p: FloatArray) -> FloatArray:
    won = confidence_without_ties(n, p)
    return p * won + (1 - p) * (1 - won)


DEFINED: dict[str, Callable[[int, FloatArray], FloatArray]] = {
    "p_max": _p_max,
    "confidence": _confidence,
    "utility": _utility,
}
"""Name of an estimand -> its value at (n, p_max)."""

AS_PRINTED: dict[str, Callable[[int, FloatArray], FloatArray]] = {
    "confidence": confidence_without_ties,
    "utility": _utility_without_ties,
}
"""The same without ties."""


@cache
def _errors(n: int, p_max: float, method: str, of: str, ties: bool) -> FloatArray:
    """Return the error of the estimate for each count y = 0 to n."""
    level = (DEFINED if ties else AS_PRINTED)[of]
    estimates = np.asarray(
        levels.estimate_p_max(np.arange(n + 1), n, method=method), dtype=np.float64
    )
    errors: FloatArray = level(n, estimates) - level(n, np.array([p_max]))
    return errors


def _mean(n: int, p_max: float, values: FloatArray) -> Computed:
    """Return the exact mean over Y ~ Bin(n, p_max), and what a simulation's mean strays by."""
    weights = binomial_probabilities(n, p_max)
    mean = float(weights @ values)
    variance = float(weights @ (values - mean) ** 2)
    return Computed(mean, float(np.sqrt(variance / printed()["simulated_samples"])))


def bias(n: int, p_max: float, method: str, of: str, *, ties: bool = True) -> Computed:
    """Return the exact bias of an estimator and the standard error of a simulated one.

    Examples
    --------
    >>> bias(20, 0.7, "mle", "confidence").value.__round__(4)
    -0.0528
    >>> bias(20, 0.7, "mle", "confidence", ties=False).value.__round__(4)  # printed: -.0610
    -0.0629
    """
    return _mean(n, p_max, _errors(n, p_max, method, of, ties))


def squared_error(n: int, p_max: float, method: str) -> Computed:
    """Return the exact MSE of an estimate of p_max; its standard error has fourth moments.

    Examples
    --------
    >>> squared_error(5, 0.6, "mle").value.__round__(4)
    0.0275
    """
    return _mean(n, p_max, _errors(n, p_max, method, "p_max", True) ** 2)


def estimator_table(number: int) -> Part:
    """Return one of Tables 16 to 19, judged.

    Examples
    --------
    >>> estimator_table(17)
    Part('table 17': 120 cells, 113 agrees, 0 other computation, 7 misprint)
    """
    content, of = printed_table(number), OF[number]
    places = [(method, p) for method in content["methods"] for p in content["p_max"]]
    cells = []
    for n, figures in content["rows"].items():
        for (method, p), figure in zip(places, figures, strict=True):
            if number == 17:
                defined, other = squared_error(int(n), p, method), None
            else:
                defined, other = _both(int(n), p, method, of)
            cells.append(judge(f"n = {n}", f"{method} .{p * 10:.0f}", figure, 4, defined, other))
    return Part(
        f"table {number}",
        content["what"],
        "exact sum over y",
        WITHOUT_TIES if of in AS_PRINTED else "",
        tuple(cells),
    ).with_exchanges_noted()


def biases_near_one_half() -> Part:
    """Return Table 9, judged.

    Examples
    --------
    >>> biases_near_one_half()
    Part('table 9': 56 cells, 53 agrees, 3 other computation, 0 misprint)
    """
    content = printed_table(9)
    cells = [
        judge(f"n = {n}", f"{of} {method}", figure, 4, *_both(int(n), content["p_max"], method, of))
        for n, figures in content["rows"].items()
        for (of, method), figure in zip(content["columns"], figures, strict=True)
    ]
    return Part("table 9", content["what"], "exact sum over y", WITHOUT_TIES, tuple(cells))


def _both(n: int, p: float, method: str, of: str) -> tuple[Computed, Computed | None]:
    other = bias(n, p, method, of, ties=False) if of in AS_PRINTED else None
    return bias(n, p, method, of), other


def estimator_example() -> Part:
    """Return Example 2's estimates from 5 of 7 rows, judged.

    Examples
    --------
    >>> from sureleaf.reproduce import Verdict
    >>> estimator_example().of(Verdict.MISPRINT)
    [Cell(mle, p_max: printed .7134, defined .7143, misprint)]
    """
    content = printed()["example_2"]
    y, n = content["y"], content["n"]
    cells: list[Cell] = []
    for method, figures in content["estimates"].items():
        p = float(levels.estimate_p_max(y, n, method=method))
        others = map(Computed, _plugged_in(n, round(p, 2))) if method == "blend" else (None,) * 3
        cells += [
            judge(method, of, figure, 4, Computed(value), other)
            for of, figure, value, other in zip(
                DEFINED, figures, _plugged_in(n, p), others, strict=True
            )
        ]
    return Part(
        "example 2",
        f"estimates from {y} of {n} rows",
        "(14), (2), (21), each put into (5), (6)",
        "(21) rounded to two decimals: .70 for .7007, and put into (5), (6)",
        tuple(cells),
    )


def _plugged_in(n: int, p_max: float) -> tuple[float, float, float]:
    """Return the estimate and the levels that it gives."""
    confidence = float(levels.confidence(n, p_max))
    return p_max, confidence, utility_of(confidence, p_max)
