"""The study of Chawla and Cieslak run again: five data sets, eight ways to a probability."""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from sureleaf import measures
from sureleaf.errors import InvalidArgumentError, UnseenCategoryWarning
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier

__all__ = [
    "BASELINE",
    "CORRELATIONS",
    "DATASETS",
    "MEASURES",
    "METHODS",
    "SOURCE",
    "TABLE_3",
    "Dataset",
    "Described",
    "Line",
    "read_dataset",
    "run_method_lines",
]


# What Chawla and Cieslak print: Tables 1 to 3.

SOURCE = (
    "N. V. Chawla, D. A. Cieslak, Evaluating probability estimates from decision trees, AAAI 2006"
)


class Described(NamedTuple):
    """A line of Table 1.

    Examples
    --------
    >>> DATASETS["phoneme"].n_features
    5
    """

    n_features: int
    n_examples: int
    minority: float
    decimals: int  # of the minority's share


DATASETS = {
    "phoneme": Described(5, 5_400, 0.29, 2),
    "adult": Described(14, 48_840, 0.24, 2),
    "satimage": Described(36, 6_430, 0.097, 3),
    "covtype": Described(54, 38_500, 0.071, 3),
    "mammography": Described(6, 11_183, 0.023, 3),
}
"""Table 1; examples are rounded to tens."""

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
"""Table 3: NCE then AUC, of each frequency unpruned and pruned, Laplace unpruned and pruned.

The NCE figures are of the size of logarithms to base 10.
"""


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
MEASURES = ("NCE", "QL", "01L", "AUC")
ESTIMATES = {"frequency": "frequency", "Laplace": "laplace", "m-estimate": "m_estimate"}
N_BAGS = 30
TEST_SHARE = 0.3


@dataclass(frozen=True, eq=False)
class Dataset:
    """One of the five tables, with its positive class as True.

    Examples
    --------
    >>> Dataset("adult", None, np.array([True, False])).y.mean()
    np.float64(0.5)
    """

    name: str
    X: Any
    y: NDArray[np.bool_]


@dataclass(frozen=True)
class Line:
    """What one method does on one data set, means over the repeats.

    Parameters
    ----------
    dataset, method : str
        A key of `DATASETS` and one of `METHODS`.
    nce : float
        In nats, a probability of zero counting as `zero`.
    ql, error, auc : float
        Quadratic loss, 0/1 loss at .5, area under the ROC curve.
    zeros : float
        Share of the test rows whose true class has the probability zero.
    finite_nce : float
        The sum over the other rows, per test row: `nce` without what the zeros cost.
    histogram : tuple of float
        Share of the positive test rows whose probability of being so is in each tenth.

    Examples
    --------
    >>> Line("adult", "bagged", 0.3, 0.2, 0.1, 0.9, 0.0, 0.3, (0.1,) * 10).measure("AUC")
    0.9
    """

    dataset: str
    method: str
    nce: float
    ql: float
    error: float
    auc: float
    zeros: float
    finite_nce: float
    histogram: tuple[float, ...]

    def measure(self, name: str) -> float:
        """Return one of `MEASURES`."""
        return dict(zip(MEASURES, (self.nce, self.ql, self.error, self.auc), strict=True))[name]


def read_dataset(name: str, directory: Path) -> Dataset:
    r"""Read ``name.csv``; ``name.schema.json`` says which columns are categories and the target.

    Without the second file the last column is the target, its rarer label positive.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = (Path(directory) / "adult.csv").write_text("age,rich\n30,no\n40,no\n50,yes\n")
    ...     read_dataset("adult", Path(directory)).y.tolist()
    [False, False, True]
    """
    import pandas as pd

    path = directory / f"{name}.csv"
    if not path.is_file():
        raise InvalidArgumentError(
            f"data must be a directory with {', '.join(f'{n}.csv' for n in DATASETS)}; "
            f"{path.name} is not there. Get it, and say where it is with --data."
        )
    described = directory / f"{name}.schema.json"
    schema = json.loads(described.read_text(encoding="utf-8")) if described.is_file() else {}
    X = pd.read_csv(path, dtype=dict.fromkeys(schema.get("categorical", []), str))
    labels = X.pop(schema.get("target", X.columns[-1])).to_numpy()
    found, counts = np.unique(labels, return_counts=True)
    positive = schema.get("positive", found[counts.argmin()])
    return Dataset(name, X, labels == positive)


def run_method_lines(data: Dataset, *, repeats: int, seed: int, zero: float) -> list[Line]:
    """Hold out 30 %, fit and judge every method; again with other rows held out.

    Examples
    --------
    >>> import pandas as pd
    >>> data = Dataset("adult", pd.DataFrame({"age": range(60)}), np.arange(60) >= 40)
    >>> lines = run_method_lines(data, repeats=1, seed=0, zero=1e-6)
    >>> [line.method for line in lines] == list(METHODS)
    True
    """
    found: dict[str, list[NDArray[np.float64]]] = {method: [] for method in METHODS}
    for repeat in range(repeats):
        train, test = train_test_split(
            np.arange(len(data.y)),
            test_size=TEST_SHARE,
            stratify=data.y,
            random_state=seed + repeat,
        )
        with warnings.catch_warnings():
            # A rare country may be among the test rows only; its rows go down all branches.
            warnings.simplefilter("ignore", UnseenCategoryWarning)
            for method, positive in _probabilities(data, train, test, seed + repeat):
                found[method].append(_judge(data.y[test], positive, zero))
    lines = []
    for method in METHODS:
        nce, ql, error, auc, zeros, finite, *histogram = np.mean(found[method], axis=0).tolist()
        lines.append(Line(data.name, method, nce, ql, error, auc, zeros, finite, tuple(histogram)))
    return lines


def _probabilities(
    data: Dataset, train: NDArray[np.intp], test: NDArray[np.intp], seed: int
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """For each method the probability of the positive class, of each test row."""
    X, y, new = data.X.iloc[train], data.y[train], data.X.iloc[test]
    unpruned = TreeClassifier(pruning=None, levels_from="training")
    for growing, tree in (
        ("unpruned", unpruned),
        ("pruned", TreeClassifier(levels_from="training")),
    ):
        tree.fit(X, y)
        for title, name in ESTIMATES.items():
            yield f"{growing}, {title}", tree.with_leaf_estimate(name).predict_proba(new)[:, 1]
    bags = BaggedTreesClassifier(
        estimator=TreeClassifier(pruning=None, leaf_estimate="frequency"),
        n_estimators=N_BAGS,
        random_state=seed,
    ).fit(X, y)
    yield "bagged", bags.predict_proba(new)[:, 1]
    yield "bagged, Laplace", bags.with_leaf_estimate("laplace").predict_proba(new)[:, 1]


def _judge(
    truth: NDArray[np.bool_], positive: NDArray[np.float64], zero: float
) -> NDArray[np.float64]:
    """NCE, quadratic loss, 0/1 loss, AUC, zeros, NCE without them, and the histogram."""
    both = np.column_stack([1.0 - positive, positive])
    stated = both[np.arange(len(truth)), truth.astype(int)]
    is_zero = stated <= 0.0
    finite = -np.log(stated[~is_zero]).sum() / len(truth)
    tenths = np.histogram(positive[truth], bins=10, range=(0.0, 1.0))[0] / max(1, truth.sum())
    return np.concatenate(
        [
            [
                finite - is_zero.mean() * np.log(zero),
                measures.quadratic_loss(truth, both),
                float(((positive > 0.5) != truth).mean()),
                measures.auc(truth, positive),
                is_zero.mean(),
                finite,
            ],
            tenths,
        ]
    )
