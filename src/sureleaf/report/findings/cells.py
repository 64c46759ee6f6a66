"""Out-of-sample predictions, each row with its weight, and what the page needs of them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.evaluation import Evaluation

__all__ = ["Cells", "page_scores"]

DIGITS = 4
MOST_ENTRIES = 4_000


class Cells:
    """All out-of-sample predictions of an evaluation; those of one row share its weight.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> judged = evaluate(GaussianNB(), X, y, design=KFold(2, repeats=3), random_state=0)
    >>> cells = Cells(judged)
    >>> len(cells.row), round(float(cells.weight.sum()), 6)
    (12, 4.0)
    """

    def __init__(self, judged: Evaluation) -> None:
        at = np.flatnonzero(np.isin(judged.split, judged.main_splits))
        self.row = judged.row[at]
        times = np.bincount(self.row, minlength=len(judged.truth))
        own = np.ones(len(at)) if judged.weights is None else judged.weights[self.row]
        self.weight = own / times[self.row]
        self.truth = judged.truth[self.row]
        self.prediction = judged.prediction[at]
        assert judged.probabilities is not None
        self.probabilities = judged.probabilities[at]
        self.unit = self.row if judged.groups is None else judged.groups[self.row]

    def confusion(self, k: int) -> NDArray[np.float64]:
        """Count actual classes by predicted ones."""
        table = np.bincount(self.truth * k + self.prediction, self.weight, minlength=k * k)
        return np.asarray(table.reshape(k, k).round(9), dtype=np.float64)


def page_scores(cells: Cells, k: int, positive: int, seed: int) -> dict[str, Any]:
    """Return what the page computes decisions from: scores of two classes, or rows of more.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import KFold, evaluate
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> judged = evaluate(GaussianNB(), X, y, design=KFold(2), random_state=0)
    >>> sum(page_scores(Cells(judged), 2, 1, seed=0)["positive"])
    2.0
    """
    if k == 2:
        stated = cells.probabilities[:, positive].round(DIGITS)
        score, place = np.unique(stated, return_inverse=True)
        is_positive = cells.truth == positive
        return {
            "kind": "binary",
            "digits": DIGITS,
            "score": score.tolist(),
            "negative": np.bincount(place, cells.weight * ~is_positive).round(9).tolist(),
            "positive": np.bincount(place, cells.weight * is_positive).round(9).tolist(),
        }
    lines = np.column_stack([cells.truth, cells.probabilities.round(DIGITS)])
    weight, total = cells.weight, float(cells.weight.sum())
    distinct, place = np.unique(lines, axis=0, return_inverse=True)
    sampled = len(distinct) > MOST_ENTRIES
    if sampled:
        drawn = np.random.default_rng(seed).choice(len(lines), MOST_ENTRIES, replace=False)
        lines, weight = lines[drawn], weight[drawn] * (total / weight[drawn].sum())
        distinct, place = np.unique(lines, axis=0, return_inverse=True)
    mass = np.bincount(place.ravel(), weight)
    return {
        "kind": "classes",
        "digits": DIGITS,
        "sampled": sampled,
        "rows": [
            {"truth": int(line[0]), "weight": float(w), "probabilities": line[1:].tolist()}
            for line, w in zip(distinct, mass, strict=True)
        ],
    }
