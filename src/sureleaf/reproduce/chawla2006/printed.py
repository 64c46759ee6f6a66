"""What the document prints, and how its experiment on its five data sets compares with it.

The figures depend on which 30 % of the rows were held out, so only the direction of each
difference is compared. Two hypotheses about the printed figures are stated with their evidence:
NCE in base 10, and 2 AUC - 1 in place of AUC.
"""

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.files import read_file
from sureleaf.reproduce.cells import Part, PrintedCell, by_arithmetic, check_cell
from sureleaf.reproduce.chawla2006.experiment import (
    BASELINE,
    FLOOR,
    PAIRS,
    SMOOTHED,
    Experiment,
    run_experiment,
)
from sureleaf.studies import DataSet

SOURCE = (
    "N. V. Chawla, D. A. Cieslak, Evaluating Probability Estimates from Decision Trees, AAAI 2006"
)


class _DatasetDescription(NamedTuple):
    n_features: int
    n_examples: int
    minority: float
    minority_decimals: int


DATASETS = {
    "phoneme": _DatasetDescription(5, 5_400, 0.29, 2),
    "adult": _DatasetDescription(14, 48_840, 0.24, 2),
    "satimage": _DatasetDescription(36, 6_430, 0.097, 3),
    "covtype": _DatasetDescription(54, 38_500, 0.071, 3),
    "mammography": _DatasetDescription(6, 11_183, 0.023, 3),
}
"""Table 1. Most numbers of examples are rounded to tens."""

_FILE_NAMES = ", ".join(f"{name}.csv" for name in DATASETS)

CORRELATIONS = dict(zip(PAIRS, (0.5044, 0.6217, -0.8663, 0.8245, -0.4668, -0.4931), strict=True))
"""Table 2."""

_TABLE_3 = {
    "phoneme": (0.312174, 0.293877, 0.156307, 0.159342, 0.749640, 0.746100, 0.798680, 0.782070),
    "adult": (0.385605, 0.157325, 0.146401, 0.141756, 0.668420, 0.767510, 0.783980, 0.777330),
    "satimage": (0.451316, 0.354893, 0.117407, 0.112777, 0.514000, 0.397530, 0.822590, 0.795210),
    "covtype": (0.069245, 0.057237, 0.026180, 0.026670, 0.877140, 0.881790, 0.974840, 0.966270),
    "mammography": (0.041607, 0.039046, 0.022569, 0.023136, 0.777647, 0.781200, 0.849300, 0.808600),
}
_TABLE_3_METHODS = (BASELINE, "pruned, frequency", "unpruned, Laplace", "pruned, Laplace")
TABLE_3 = {
    (name, measure, method): figures[4 * index + column]
    for name, figures in _TABLE_3.items()
    for index, measure in enumerate(("NCE", "AUC"))
    for column, method in enumerate(_TABLE_3_METHODS)
}
"""Table 3: data set, measure and method -> printed figure."""

COMPARED_PAIRS = tuple(
    (measure, method, other)
    for method, other in (
        ("pruned, frequency", BASELINE),
        ("pruned, Laplace", "unpruned, Laplace"),
        ("unpruned, Laplace", BASELINE),
        ("pruned, Laplace", "pruned, frequency"),
    )
    for measure in ("NCE", "AUC")
)
"""Measure and two methods of Table 3 whose order is compared."""


# ---- the five data sets --------------------------------------------------------------------------


def reproduce(
    data: str | Path | None, run: Callable[[list[DataSet]], Experiment] = run_experiment
) -> "Replication":
    """Run the experiment on the five data sets again.

    `data` is a directory with phoneme.csv, adult.csv, satimage.csv, covtype.csv and
    mammography.csv, each with a .schema.json that names the target, its positive label and the
    categorical columns. `run` is `run_experiment`, with options if there are any.
    """
    if data is None or not Path(data).is_dir():
        got = "nothing" if data is None else repr(str(data))
        raise InvalidArgumentError(
            f"data must be a directory with {_FILE_NAMES}; got {got}. Name the directory with "
            "--data, or tables of your own with --tables."
        )
    tables = [read_dataset(name, Path(data)) for name in DATASETS]
    return Replication(run(tables), table_1(tables))


def read_dataset(name: str, directory: Path) -> DataSet:
    """Read ``name.csv``, and ``name.schema.json`` with its target and categorical columns."""
    path, schema_path = directory / f"{name}.csv", directory / f"{name}.schema.json"
    for file in (path, schema_path):
        if not file.is_file():
            raise InvalidArgumentError(
                f"data must be a directory with {_FILE_NAMES}, and a .schema.json of each; got "
                f"one without {file.name}. Add the file, or name another directory with --data."
            )
    schema = json.loads(schema_path.read_text(encoding="utf-8"))
    table = read_file(path)
    for column in schema["categorical"]:
        index = table.column_names.index(column)
        table = table.set_column(index, column, table[column].cast("string"))
    labels = table[schema["target"]].to_pylist()
    y = [label == schema["positive"] for label in labels]
    return DataSet(name, X=table.drop_columns([schema["target"]]), y=y)


def table_1(tables: list[DataSet]) -> Part:
    """Compare Table 1 with the data files."""
    cells: list[PrintedCell] = []
    for table in tables:
        printed = DATASETS[table.name]
        decimals = -1 if printed.n_examples % 10 == 0 else 0
        minority = sum(table.y) / len(table.y)
        for column, figure, places, counted in (
            ("features", printed.n_features, 0, table.X.num_columns),
            ("examples", printed.n_examples, decimals, table.X.num_rows),
            ("minority", printed.minority, printed.minority_decimals, minority),
        ):
            cells.append(check_cell(table.name, column, figure, places, by_arithmetic(counted)))
    return Part("table 1", "the data sets", "counted in the files", "", tuple(cells))


# ---- the results beside the printed ones ---------------------------------------------------------


@dataclass(frozen=True)
class PrintedDirection:
    """A direction that the document prints, and whether this run has the same one."""

    where: str
    printed: str
    computed: str
    agrees: bool


@dataclass(frozen=True)
class AucScale:
    """How the printed areas of a data set fit the computed ones, on two scales.

    The differences are mean absolute ones over the figures of Table 3. A figure is inside if it
    lies between the lowest and the highest one of the repeats.
    """

    dataset: str
    difference_as_auc: float
    difference_as_2_auc_minus_1: float
    inside_as_auc: int
    inside_as_2_auc_minus_1: int


@dataclass(frozen=True, eq=False)
class Replication:
    """The experiment on the data sets of the document, beside what the document prints.

    Every claim compares the document with trees grown by this library. Table 1 only counts rows
    and columns of the data files.
    """

    experiment: Experiment
    table_1: Part

    @cached_property
    def auc_scales(self) -> tuple[AucScale, ...]:
        """The evidence for 2 AUC - 1 in place of AUC, by data set."""
        scales = []
        for name in self.experiment.datasets:
            found = [self.experiment.result(name, method) for method in _TABLE_3_METHODS]
            printed = np.array([TABLE_3[name, "AUC", method] for method in _TABLE_3_METHODS])
            area, low, high = np.array([(one.auc, one.auc_low, one.auc_high) for one in found]).T
            as_auc, as_double = (np.abs(printed - one).mean() for one in (area, 2 * area - 1))
            inside = [((low <= p) & (p <= high)).sum() for p in (printed, (printed + 1) / 2)]
            scales.append(AucScale(name, float(as_auc), float(as_double), *map(int, inside)))
        return tuple(scales)

    def implied_floor(self, dataset: str, method: str) -> float | None:
        """Return the value for a probability of zero that gives the printed NCE in base 10."""
        result = self.experiment.result(dataset, method)
        if not result.zeros:
            return None
        finite = result.nce + result.zeros * math.log(FLOOR)
        printed = TABLE_3[dataset, "NCE", method] * math.log(10)
        return math.exp(min(0.0, (finite - printed) / result.zeros))

    @cached_property
    def claims(self) -> tuple[PrintedDirection, ...]:
        """Every direction that the document prints or states."""
        return (*self._table_3_claims(), *self._text_claims(), *self._correlation_claims())

    def differences(self, name: str, measure: str, method: str, other: str) -> tuple[float, float]:
        """Return by how much two methods of Table 3 differ: as printed, and as found."""
        printed = TABLE_3[name, measure, method] - TABLE_3[name, measure, other]
        found = self.experiment.result(name, method).measure(measure)
        return printed, found - self.experiment.result(name, other).measure(measure)

    def _table_3_claims(self) -> Iterator[PrintedDirection]:
        for (measure, method, other), name in product(COMPARED_PAIRS, self.experiment.datasets):
            printed, found = self.differences(name, measure, method, other)
            claim = f"{name}: {measure} of {method} is {direction(printed)} than {other}"
            computed = f"{direction(found)} ({found:+.4f})"
            agrees = direction(printed) == direction(found)
            yield PrintedDirection("table 3", claim, computed, agrees)

    def _text_claims(self) -> list[PrintedDirection]:
        names, relative = self.experiment.datasets, self.experiment.relative
        laplace, m_estimate, bagged, bagged_laplace = SMOOTHED
        skewed = [name for name in names if name in ("covtype", "mammography")]
        return [
            _text_claim(
                "every smoothing reduces NCE",
                {n: all(relative(n, m, "NCE") < 0 for m in SMOOTHED) for n in names},
            ),
            _text_claim(
                "bagging reduces the error", {n: relative(n, bagged, "01L") < 0 for n in names}
            ),
            _text_claim(
                "Laplace does not change the error on four of five data sets",
                {n: abs(relative(n, laplace, "01L")) < 1e-9 for n in names},
                at_least=len(names) - 1,
            ),
            _text_claim(
                "the m-estimate is not better than Laplace in NCE",
                {n: relative(n, m_estimate, "NCE") >= relative(n, laplace, "NCE") for n in names},
            ),
            _text_claim(
                "the m-estimate increases QL on the two most skewed data sets",
                {n: relative(n, m_estimate, "QL") > 0 for n in skewed},
            ),
            _text_claim(
                "bagged Laplace reduces both NCE and QL",
                {n: max(relative(n, bagged_laplace, m) for m in ("NCE", "QL")) < 0 for n in names},
            ),
        ]

    def _correlation_claims(self) -> Iterator[PrintedDirection]:
        """Compare the signs of Table 2; how far each figure is off is part of the claim."""
        for (a, b), found in self.experiment.correlations().items():
            printed = CORRELATIONS[a, b]
            same = found * printed > 0
            sign = "the same" if same else "the other"
            claim = f"{a} and {b} have the correlation {printed:.2f}"
            computed = f"{found:.2f}: {sign} sign, {abs(found - printed):.2f} away"
            yield PrintedDirection("table 2", claim, computed, same)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values for JSON."""
        found = self.experiment.to_dict()
        for correlation in found["correlations"]:
            correlation["printed"] = CORRELATIONS[tuple(correlation["pair"])]
        return {
            "document": "chawla2006",
            "source": SOURCE,
            **found,
            "table_1": self.table_1.to_dict(),
            "table_3": [
                {
                    "dataset": name,
                    "measure": measure,
                    "method": method,
                    "printed": printed,
                    "printed_in_nats": printed * math.log(10) if measure == "NCE" else None,
                    "printed_as_auc": (printed + 1) / 2 if measure == "AUC" else None,
                    "computed": self.experiment.result(name, method).measure(measure),
                }
                for (name, measure, method), printed in TABLE_3.items()
            ],
            "auc_scales": [asdict(scale) for scale in self.auc_scales],
            "claims": [asdict(claim) for claim in self.claims],
        }

    def __repr__(self) -> str:
        n_agree = sum(claim.agrees for claim in self.claims)
        return f"Replication('chawla2006': {n_agree} of {len(self.claims)} directions agree)"


def direction(difference: float) -> str:
    """Return the word for the sign of a difference."""
    return "lower" if difference < 0 else "higher" if difference > 0 else "not different"


def _text_claim(
    printed: str, holds: dict[str, bool], at_least: int | None = None
) -> PrintedDirection:
    """Build a claim about data sets; by default it must hold on all of them."""
    n_holds = sum(holds.values())
    exceptions = [name for name, is_true in holds.items() if not is_true]
    computed = f"{n_holds} of {len(holds)} data sets"
    if exceptions and n_holds:
        computed += f", not {', '.join(exceptions)}"
    needed = len(holds) if at_least is None else at_least
    return PrintedDirection("text", printed, computed, n_holds >= needed)
