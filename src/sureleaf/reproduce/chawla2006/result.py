"""What the study found beside what was printed: directions, relative differences, correlations."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sureleaf.reproduce.chawla2006.study import (
    BASELINE,
    CORRELATIONS,
    DATASETS,
    MEASURES,
    METHODS,
    TABLE_3,
    Line,
)
from sureleaf.reproduce.comparison_table import Part

__all__ = ["Claim", "Study"]


SMOOTHED = METHODS[1:5]
"""The methods of Figure 3."""

TABLE_3_COLUMNS = tuple(
    (measure, f"{growing}, {estimate}")
    for measure in ("NCE", "AUC")
    for estimate in ("frequency", "Laplace")
    for growing in ("unpruned", "pruned")
)
COMPARED = (
    ("NCE", "pruned, frequency", "unpruned, frequency"),
    ("NCE", "pruned, Laplace", "unpruned, Laplace"),
    ("AUC", "pruned, frequency", "unpruned, frequency"),
    ("AUC", "pruned, Laplace", "unpruned, Laplace"),
    ("NCE", "unpruned, Laplace", "unpruned, frequency"),
    ("NCE", "pruned, Laplace", "pruned, frequency"),
    ("AUC", "unpruned, Laplace", "unpruned, frequency"),
    ("AUC", "pruned, Laplace", "pruned, frequency"),
)
"""Pairs of Table 3 whose order is compared with ours."""


@dataclass(frozen=True)
class Claim:
    """A direction that is printed or said, and whether it was found.

    Examples
    --------
    >>> Claim("text", "bagging always reduces the error", "5 of 5 data sets", True).agrees
    True
    """

    where: str
    said: str
    found: str
    agrees: bool


@dataclass(frozen=True, eq=False)
class Study:
    """The study run again.

    Parameters
    ----------
    source : str
        The citation.
    repeats, seed : int
        How often 30 % were held out, and the seed.
    zero : float
        What a probability of zero counts as in NCE.
    table_1 : Part
        The files beside Table 1.
    lines : tuple of Line
        Data set by data set, method by method.

    Examples
    --------
    >>> plain = Line("adult", BASELINE, 0.6, 0.2, 0.1, 0.8, 0.0, 0.6, ())
    >>> bagged = Line("adult", "bagged", 0.3, 0.1, 0.1, 0.9, 0.0, 0.3, ())
    >>> files = Part("table 1", "the data sets", "counted in the files", "", ())
    >>> Study("", 1, 0, 1e-6, files, (plain, bagged)).relative("adult", "bagged", "NCE")
    -0.5
    """

    source: str
    repeats: int
    seed: int
    zero: float
    table_1: Part
    lines: tuple[Line, ...]

    def line(self, dataset: str, method: str) -> Line:
        """Return what a method did on a data set."""
        (found,) = [one for one in self.lines if (one.dataset, one.method) == (dataset, method)]
        return found

    @property
    def datasets(self) -> list[str]:
        """The data sets that were run, in the order of Table 1."""
        return [name for name in DATASETS if any(line.dataset == name for line in self.lines)]

    def relative(self, dataset: str, method: str, measure: str) -> float:
        """Return (method - baseline) / baseline, Figure 3; the baseline is unsmoothed, unpruned."""
        base = self.line(dataset, BASELINE).measure(measure)
        return (self.line(dataset, method).measure(measure) - base) / base if base else math.nan

    def correlations(self, *, relative: bool = False) -> dict[tuple[str, str], float]:
        """Correlate the measures over data sets and methods, Table 2.

        The paper does not say of what: of the measures themselves (the five methods of
        unpruned trees), or of the relative differences (the four smoothed ones).
        """
        methods = SMOOTHED if relative else METHODS[:5]
        values = {
            measure: [
                self.relative(name, method, measure)
                if relative
                else self.line(name, method).measure(measure)
                for name in self.datasets
                for method in methods
            ]
            for measure in MEASURES
        }
        return {
            pair: float(np.corrcoef(values[pair[0]], values[pair[1]])[0, 1])
            for pair in CORRELATIONS
        }

    def implied_zero(self, dataset: str, method: str) -> float | None:
        """Return what a zero would have to count as, to give Table 3's NCE taken to base 10."""
        place = TABLE_3_COLUMNS.index(("NCE", method))
        line = self.line(dataset, method)
        if not line.zeros:
            return None
        nats = TABLE_3[dataset][place] * math.log(10)
        return math.exp(min(0.0, (line.finite_nce - nats) / line.zeros))

    def claims(self) -> tuple[Claim, ...]:
        """Compare every direction that the paper prints or states."""
        return (*self._orders(), *self._statements())

    def _orders(self) -> list[Claim]:
        found = []
        for measure, method, other in COMPARED:
            for name in self.datasets:
                row = dict(zip(TABLE_3_COLUMNS, TABLE_3[name], strict=True))
                printed = row[measure, method] - row[measure, other]
                ours = self.line(name, method).measure(measure) - self.line(name, other).measure(
                    measure
                )
                found.append(
                    Claim(
                        "table 3",
                        f"{name}: {measure} of {method} is {_word(printed)} than {other}",
                        f"{_word(ours)} ({ours:+.4f})",
                        _word(printed) == _word(ours),
                    )
                )
        return found

    def _statements(self) -> list[Claim]:
        def every(said: str, holds: dict[str, bool], least: int | None = None) -> Claim:
            count = sum(holds.values())
            failing = [name for name, is_so in holds.items() if not is_so]
            told = f"{count} of {len(holds)} data sets"
            if failing and count:
                told += f", not {', '.join(failing)}"
            return Claim("text", said, told, count >= (len(holds) if least is None else least))

        names, relative = self.datasets, self.relative
        raw, of_differences = self.correlations(), self.correlations(relative=True)
        return [
            every(
                "every smoothing reduces NCE",
                {n: all(relative(n, m, "NCE") < 0 for m in SMOOTHED) for n in names},
            ),
            every(
                "bagging reduces the error", {n: relative(n, "bagged", "01L") < 0 for n in names}
            ),
            every(
                "Laplace does not change the error, on four of five",
                {n: abs(relative(n, "unpruned, Laplace", "01L")) < 1e-9 for n in names},
                least=len(names) - 1,
            ),
            every(
                "the m-estimate is no better than Laplace in NCE",
                {
                    n: relative(n, "unpruned, m-estimate", "NCE")
                    >= relative(n, "unpruned, Laplace", "NCE")
                    for n in names
                },
            ),
            every(
                "the m-estimate increases QL on the two most skewed sets",
                {
                    n: relative(n, "unpruned, m-estimate", "QL") > 0
                    for n in names
                    if n in ("covtype", "mammography")
                },
            ),
            every(
                "bagged Laplace reduces both NCE and QL",
                {
                    n: max(relative(n, "bagged, Laplace", m) for m in ("NCE", "QL")) < 0
                    for n in names
                },
            ),
            *(
                Claim(
                    "table 2",
                    f"{a} and {b} correlate by {printed:.2f}",
                    f"{raw[a, b]:.2f} (of relative differences {of_differences[a, b]:.2f})",
                    raw[a, b] * printed > 0,
                )
                for (a, b), printed in CORRELATIONS.items()
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        return {
            "document": "chawla2006",
            "source": self.source,
            "repeats": self.repeats,
            "seed": self.seed,
            "zero": self.zero,
            "unit": "nats",
            "table_1": self.table_1.to_dict(),
            "lines": [asdict(line) for line in self.lines],
            "relative_differences": [
                {
                    "dataset": name,
                    "method": method,
                    **{m: self.relative(name, method, m) for m in MEASURES},
                }
                for name in self.datasets
                for method in SMOOTHED
            ],
            "correlations": [
                {
                    "pair": list(pair),
                    "printed": printed,
                    "found": self.correlations()[pair],
                    "of_relative_differences": self.correlations(relative=True)[pair],
                }
                for pair, printed in CORRELATIONS.items()
            ],
            "table_3": [
                {
                    "dataset": name,
                    "measure": measure,
                    "method": method,
                    "printed": TABLE_3[name][place],
                    "printed_in_nats": TABLE_3[name][place] * math.log(10)
                    if measure == "NCE"
                    else None,
                    "found": self.line(name, method).measure(measure),
                }
                for name in self.datasets
                for place, (measure, method) in enumerate(TABLE_3_COLUMNS)
            ],
            "claims": [asdict(claim) for claim in self.claims()],
        }

    def __repr__(self) -> str:
        claims = self.claims()
        agree = sum(claim.agrees for claim in claims)
        return (
            f"Study('chawla2006': {len(self.datasets)} data sets, {agree} of {len(claims)} agree)"
        )


def _word(difference: float) -> str:
    return "lower" if difference < 0 else "higher" if difference > 0 else "no other"
