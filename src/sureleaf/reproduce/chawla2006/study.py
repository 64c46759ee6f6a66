"""Eight methods to estimate probabilities, compared on five data sets.

NCE is the negative cross-entropy, QL the quadratic loss, 01L the 0/1 loss and AUC the area under
the ROC curve. The printed NCE figures have the size of logarithms to base 10; this module uses
nats. The document does not say how it scores a probability of zero; here it counts as `ZERO`.
"""

import json
import math
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from sureleaf import measures
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.reproduce.cells import Cell, Part, PartRecord, by_arithmetic, check_cell

__all__ = [
    "COMPARED_PAIRS",
    "CORRELATIONS",
    "DATASETS",
    "MEASURES",
    "METHODS",
    "SMOOTHED",
    "TABLE_3",
    "TABLE_3_COLUMNS",
    "Claim",
    "Dataset",
    "MethodResult",
    "Study",
    "StudyRecord",
    "read_dataset",
    "reproduce",
    "run_methods",
    "table_1",
]

# ---- what the document prints: Tables 1 to 3 -----------------------------------------------------

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

CORRELATIONS = {
    ("NCE", "QL"): 0.5044,
    ("NCE", "01L"): 0.6217,
    ("NCE", "AUC"): -0.8663,
    ("QL", "01L"): 0.8245,
    ("QL", "AUC"): -0.4668,
    ("01L", "AUC"): -0.4931,
}
"""Table 2."""

TABLE_3 = {
    "phoneme": (0.312174, 0.293877, 0.156307, 0.159342, 0.749640, 0.746100, 0.798680, 0.782070),
    "adult": (0.385605, 0.157325, 0.146401, 0.141756, 0.668420, 0.767510, 0.783980, 0.777330),
    "satimage": (0.451316, 0.354893, 0.117407, 0.112777, 0.514000, 0.397530, 0.822590, 0.795210),
    "covtype": (0.069245, 0.057237, 0.026180, 0.026670, 0.877140, 0.881790, 0.974840, 0.966270),
    "mammography": (0.041607, 0.039046, 0.022569, 0.023136, 0.777647, 0.781200, 0.849300, 0.808600),
}
"""Table 3, in the order of `TABLE_3_COLUMNS`."""

TABLE_3_COLUMNS = tuple(
    (measure, f"{growing}, {estimate}")
    for measure in ("NCE", "AUC")
    for estimate in ("frequency", "Laplace")
    for growing in ("unpruned", "pruned")
)

# ---- the experiment ------------------------------------------------------------------------------

REPEATS = 3
ZERO = 1e-6
BASELINE = "unpruned, frequency"
METHODS = (
    BASELINE,
    "unpruned, Laplace",
    "unpruned, m-estimate",
    "bagged",
    "bagged, Laplace",
    "pruned, frequency",
    "pruned, Laplace",
    "pruned, m-estimate",
)
SMOOTHED = METHODS[1:5]
"""The methods of Figure 3."""

MEASURES = ("NCE", "QL", "01L", "AUC")

_LEAF_ESTIMATES = {"frequency": "frequency", "Laplace": "laplace", "m-estimate": "m_estimate"}
_N_BAGS = 30
_TEST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Dataset:
    """One of the five data sets; `y` is True for the positive class."""

    name: str
    X: Any
    y: NDArray[np.bool_]


@dataclass(frozen=True)
class MethodResult:
    """The measures of one method on one data set, averaged over the repeats."""

    dataset: str  # a key of `DATASETS`
    method: str  # one of `METHODS`
    nce: float  # in nats
    ql: float  # quadratic loss
    error: float  # 0/1 loss at .5
    auc: float  # the area under the ROC curve
    zeros: float  # proportion of the test rows whose true class has probability zero
    finite_nce: float  # `nce` without the contribution of the zeros
    # Proportion of the positive test rows whose predicted probability is in each tenth.
    histogram: tuple[float, ...]

    def measure(self, name: str) -> float:
        """Return one of `MEASURES`."""
        return dict(zip(MEASURES, (self.nce, self.ql, self.error, self.auc), strict=True))[name]


def reproduce(
    data: str | Path | None, *, repeats: int = REPEATS, seed: int = 0, zero: float = ZERO
) -> "Study":
    """Run the experiment on the five data sets again.

    `data` is a directory with phoneme.csv, adult.csv, satimage.csv, covtype.csv and
    mammography.csv, each with a .schema.json that names the target, its positive label and the
    categorical columns.

    30 % of the rows are held out at random `repeats` times, and measures are averaged. `zero`
    replaces a probability of zero in NCE.
    """
    if data is None or not Path(data).is_dir():
        got = "nothing" if data is None else repr(str(data))
        raise InvalidArgumentError(
            f"data must be a directory with {_file_names()}; got {got}. "
            "Name the directory with --data."
        )
    datasets = [read_dataset(name, Path(data)) for name in DATASETS]
    results = [
        result
        for dataset in datasets
        for result in run_methods(dataset, repeats=repeats, seed=seed, zero=zero)
    ]
    return Study(SOURCE, repeats, seed, zero, table_1(datasets), tuple(results))


def _file_names() -> str:
    return ", ".join(f"{name}.csv" for name in DATASETS)


def read_dataset(name: str, directory: Path) -> Dataset:
    """Read ``name.csv``, and ``name.schema.json`` with its target and categorical columns.

    Without the second file the last column is the target, and its rarer label is positive.
    """
    import pandas as pd

    path = directory / f"{name}.csv"
    if not path.is_file():
        raise InvalidArgumentError(
            f"data must be a directory with {_file_names()}; got one without {path.name}. "
            "Add the file, or name another directory with --data."
        )
    schema_path = directory / f"{name}.schema.json"
    schema = json.loads(schema_path.read_text(encoding="utf-8")) if schema_path.is_file() else {}
    X = pd.read_csv(path, dtype=dict.fromkeys(schema.get("categorical", []), str))
    y = X.pop(schema.get("target", X.columns[-1])).to_numpy()
    labels, counts = np.unique(y, return_counts=True)
    positive = schema.get("positive", labels[counts.argmin()])
    return Dataset(name, X, y == positive)


def table_1(datasets: list[Dataset]) -> Part:
    """Compare Table 1 with the data files."""
    cells: list[Cell] = []
    for dataset in datasets:
        printed = DATASETS[dataset.name]
        n_rows, n_features = dataset.X.shape
        decimals = -1 if printed.n_examples % 10 == 0 else 0
        minority = by_arithmetic(dataset.y.mean())
        cells += [
            check_cell(dataset.name, "features", printed.n_features, 0, by_arithmetic(n_features)),
            check_cell(
                dataset.name, "examples", printed.n_examples, decimals, by_arithmetic(n_rows)
            ),
            check_cell(
                dataset.name, "minority", printed.minority, printed.minority_decimals, minority
            ),
        ]
    return Part("table 1", "the data sets", "counted in the files", "", tuple(cells))


def run_methods(dataset: Dataset, *, repeats: int, seed: int, zero: float) -> list[MethodResult]:
    """Hold out 30 % of the rows, fit and evaluate every method, and average over repeats."""
    values: dict[str, list[NDArray[np.float64]]] = {method: [] for method in METHODS}
    for repeat in range(repeats):
        train, test = train_test_split(
            np.arange(len(dataset.y)),
            test_size=_TEST_SHARE,
            stratify=dataset.y,
            random_state=seed + repeat,
        )
        with warnings.catch_warnings():
            # A rare country may occur among the test rows only.
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            for method, positive in _probabilities(dataset, train, test, seed + repeat):
                values[method].append(_measures(dataset.y[test], positive, zero))
    results = []
    for method in METHODS:
        nce, ql, error, auc, zeros, finite, *histogram = np.mean(values[method], axis=0).tolist()
        results.append(
            MethodResult(dataset.name, method, nce, ql, error, auc, zeros, finite, tuple(histogram))
        )
    return results


def _probabilities(
    dataset: Dataset, train: NDArray[np.intp], test: NDArray[np.intp], seed: int
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield each method with its probability of the positive class for each test row."""
    X, y, X_test = dataset.X.iloc[train], dataset.y[train], dataset.X.iloc[test]
    for growing, tree in (
        ("unpruned", TreeClassifier.c45(pruning=None, levels_from="training")),
        ("pruned", TreeClassifier.c45(levels_from="training")),
    ):
        tree.fit(X, y)
        for title, name in _LEAF_ESTIMATES.items():
            yield f"{growing}, {title}", tree.with_leaf_estimate(name).predict_proba(X_test)[:, 1]
    bags = BaggedTreesClassifier(
        estimator=TreeClassifier.c45(pruning=None, leaf_estimate="frequency"),
        n_estimators=_N_BAGS,
        random_state=seed,
    ).fit(X, y)
    yield "bagged", bags.predict_proba(X_test)[:, 1]
    yield "bagged, Laplace", bags.with_leaf_estimate("laplace").predict_proba(X_test)[:, 1]


def _measures(
    truth: NDArray[np.bool_], positive: NDArray[np.float64], zero: float
) -> NDArray[np.float64]:
    """Return NCE, quadratic loss, 0/1 loss, AUC, zeros, finite NCE, and the histogram."""
    probabilities = np.column_stack([1.0 - positive, positive])
    of_truth = probabilities[np.arange(len(truth)), truth.astype(int)]
    is_zero = of_truth <= 0.0
    finite = -np.log(of_truth[~is_zero]).sum() / len(truth)
    tenths = np.histogram(positive[truth], bins=10, range=(0.0, 1.0))[0] / max(1, truth.sum())
    return np.concatenate(
        [
            [
                finite - is_zero.mean() * np.log(zero),
                measures.quadratic_loss(truth, probabilities),
                float(((positive > 0.5) != truth).mean()),
                measures.auc(truth, positive),
                is_zero.mean(),
                finite,
            ],
            tenths,
        ]
    )


# ---- the results beside the printed ones ---------------------------------------------------------

COMPARED_PAIRS = (
    ("NCE", "pruned, frequency", "unpruned, frequency"),
    ("NCE", "pruned, Laplace", "unpruned, Laplace"),
    ("AUC", "pruned, frequency", "unpruned, frequency"),
    ("AUC", "pruned, Laplace", "unpruned, Laplace"),
    ("NCE", "unpruned, Laplace", "unpruned, frequency"),
    ("NCE", "pruned, Laplace", "pruned, frequency"),
    ("AUC", "unpruned, Laplace", "unpruned, frequency"),
    ("AUC", "pruned, Laplace", "pruned, frequency"),
)
"""Measure and two methods of Table 3 whose order is compared."""


@dataclass(frozen=True)
class Claim:
    """A direction that the document prints, and whether this run has the same one."""

    where: str
    printed: str
    computed: str
    agrees: bool


class StudyRecord(TypedDict):
    """A study in JSON; the lists hold one flat object per row."""

    document: str
    source: str
    repeats: int
    seed: int
    zero: float
    unit: str
    table_1: PartRecord
    results: list[dict[str, Any]]
    relative_differences: list[dict[str, str | float]]
    correlations: list[dict[str, list[str] | float]]
    table_3: list[dict[str, str | float | None]]
    claims: list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Study:
    """The results of the experiment.

    Every claim compares the document with trees grown by this library. Table 1 only counts rows
    and columns of the data files.
    """

    source: str  # the citation
    repeats: int  # how often 30 % of the rows were held out
    seed: int  # the first seed
    zero: float  # the value that replaced a probability of zero in NCE
    table_1: Part  # the data files beside Table 1
    results: tuple[MethodResult, ...]  # by data set, then by method

    def result(self, dataset: str, method: str) -> MethodResult:
        """Return the result of a method on a data set."""
        (result,) = (r for r in self.results if (r.dataset, r.method) == (dataset, method))
        return result

    @property
    def datasets(self) -> list[str]:
        """Names of the data sets, in the order of Table 1."""
        return [name for name in DATASETS if any(r.dataset == name for r in self.results)]

    def relative(self, dataset: str, method: str, measure: str) -> float:
        """Return (method - baseline) / baseline, Figure 3; the baseline is `BASELINE`."""
        base = self.result(dataset, BASELINE).measure(measure)
        return (self.result(dataset, method).measure(measure) - base) / base if base else math.nan

    def correlations(self, *, relative: bool = False) -> dict[tuple[str, str], float]:
        """Correlate the measures over data sets and methods, Table 2.

        The document does not say which values it correlates: the measures themselves (here the
        five methods without pruning) or the relative differences (the four smoothed methods).
        """
        methods = SMOOTHED if relative else METHODS[:5]
        values = {
            measure: [
                self.relative(name, method, measure)
                if relative
                else self.result(name, method).measure(measure)
                for name in self.datasets
                for method in methods
            ]
            for measure in MEASURES
        }
        return {(a, b): float(np.corrcoef(values[a], values[b])[0, 1]) for a, b in CORRELATIONS}

    def implied_zero(self, dataset: str, method: str) -> float | None:
        """Return the value for a probability of zero that gives the printed NCE in base 10."""
        result = self.result(dataset, method)
        if not result.zeros:
            return None
        printed = TABLE_3[dataset][TABLE_3_COLUMNS.index(("NCE", method))] * math.log(10)
        return math.exp(min(0.0, (result.finite_nce - printed) / result.zeros))

    def claims(self) -> tuple[Claim, ...]:
        """Compare every direction that the document prints or states."""
        return (*self._table_3_claims(), *self._text_claims(), *self._correlation_claims())

    def _table_3_claims(self) -> list[Claim]:
        claims = []
        for measure, method, other in COMPARED_PAIRS:
            for name in self.datasets:
                row = dict(zip(TABLE_3_COLUMNS, TABLE_3[name], strict=True))
                printed = _direction(row[measure, method] - row[measure, other])
                difference = self.result(name, method).measure(measure)
                difference -= self.result(name, other).measure(measure)
                computed = _direction(difference)
                claims.append(
                    Claim(
                        "table 3",
                        f"{name}: {measure} of {method} is {printed} than {other}",
                        f"{computed} ({difference:+.4f})",
                        printed == computed,
                    )
                )
        return claims

    def _text_claims(self) -> list[Claim]:
        names, relative = self.datasets, self.relative
        skewed = [name for name in names if name in ("covtype", "mammography")]
        return [
            _text_claim(
                "every smoothing reduces NCE",
                {n: all(relative(n, m, "NCE") < 0 for m in SMOOTHED) for n in names},
            ),
            _text_claim(
                "bagging reduces the error", {n: relative(n, "bagged", "01L") < 0 for n in names}
            ),
            _text_claim(
                "Laplace does not change the error on four of five data sets",
                {n: abs(relative(n, "unpruned, Laplace", "01L")) < 1e-9 for n in names},
                at_least=len(names) - 1,
            ),
            _text_claim(
                "the m-estimate is not better than Laplace in NCE",
                {
                    n: relative(n, "unpruned, m-estimate", "NCE")
                    >= relative(n, "unpruned, Laplace", "NCE")
                    for n in names
                },
            ),
            _text_claim(
                "the m-estimate increases QL on the two most skewed data sets",
                {n: relative(n, "unpruned, m-estimate", "QL") > 0 for n in skewed},
            ),
            _text_claim(
                "bagged Laplace reduces both NCE and QL",
                {
                    n: max(relative(n, "bagged, Laplace", m) for m in ("NCE", "QL")) < 0
                    for n in names
                },
            ),
        ]

    def _correlation_claims(self) -> list[Claim]:
        raw, of_differences = self.correlations(), self.correlations(relative=True)
        return [
            Claim(
                "table 2",
                f"{a} and {b} have the correlation {printed:.2f}",
                f"{raw[a, b]:.2f} (of relative differences {of_differences[a, b]:.2f})",
                raw[a, b] * printed > 0,
            )
            for (a, b), printed in CORRELATIONS.items()
        ]

    def to_dict(self) -> StudyRecord:
        """Return all results as plain values for JSON."""
        raw, of_differences = self.correlations(), self.correlations(relative=True)
        return {
            "document": "chawla2006",
            "source": self.source,
            "repeats": self.repeats,
            "seed": self.seed,
            "zero": self.zero,
            "unit": "nats",
            "table_1": self.table_1.to_dict(),
            "results": [asdict(result) for result in self.results],
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
                    "computed": raw[pair],
                    "of_relative_differences": of_differences[pair],
                }
                for pair, printed in CORRELATIONS.items()
            ],
            "table_3": [
                {
                    "dataset": name,
                    "measure": measure,
                    "method": method,
                    "printed": printed,
                    "printed_in_nats": printed * math.log(10) if measure == "NCE" else None,
                    "computed": self.result(name, method).measure(measure),
                }
                for name in self.datasets
                for (measure, method), printed in zip(TABLE_3_COLUMNS, TABLE_3[name], strict=True)
            ],
            "claims": [asdict(claim) for claim in self.claims()],
        }

    def __repr__(self) -> str:
        claims = self.claims()
        n_agree = sum(claim.agrees for claim in claims)
        return (
            f"Study('chawla2006': {len(self.datasets)} data sets, {n_agree} of {len(claims)} agree)"
        )


def _direction(difference: float) -> str:
    return "lower" if difference < 0 else "higher" if difference > 0 else "not different"


def _text_claim(printed: str, holds: dict[str, bool], at_least: int | None = None) -> Claim:
    """Build a claim about data sets; by default it must hold on all of them."""
    n_holds = sum(holds.values())
    exceptions = [name for name, is_true in holds.items() if not is_true]
    computed = f"{n_holds} of {len(holds)} data sets"
    if exceptions and n_holds:
        computed += f", not {', '.join(exceptions)}"
    needed = len(holds) if at_least is None else at_least
    return Claim("text", printed, computed, n_holds >= needed)
