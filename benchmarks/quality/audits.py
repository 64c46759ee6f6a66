"""Are the levels of an audit right? Trees of a population in which every probability is known.

Each of scikit-learn's trees is grown on 300 rows and audited with 300 others. What the audit states
is compared with the true probabilities in its leaves.
"""

from collections.abc import Iterator

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.running import Row
from sureleaf import audit

N_TREES, N_ROWS, N_GRID = 300, 300, 40_000


def probabilities(rows: np.ndarray) -> np.ndarray:
    """P(class 1): a step, a slope, and a corner that is a coin's."""
    steep = 0.15 + 0.6 * (rows[:, 0] > 0.5) + 0.15 * rows[:, 1]
    return np.where((rows[:, 0] < 0.3) & (rows[:, 1] < 0.5), 0.5, steep)


def run() -> Iterator[Row]:
    rng = np.random.default_rng(16)
    grid = rng.random((N_GRID, 2))
    truth = probabilities(grid)
    gaps, stated, leaves = [], [], []
    for _ in range(N_TREES):
        seen, unseen = rng.random((2, N_ROWS, 2))
        labels = [(rng.random(N_ROWS) < probabilities(rows)).astype(int) for rows in (seen, unseen)]
        model = DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=5, random_state=0)
        found = audit(model.fit(seen, labels[0]), unseen, labels[1])
        at = model.apply(grid)
        right = np.where(model.predict(grid) == 1, truth, 1 - truth)
        p = np.array([right[at == leaf].mean() for leaf in found.leaves.leaf])
        share = np.array([np.mean(at == leaf) for leaf in found.leaves.leaf])
        gaps.append(found.utility - share @ p)
        stated.append(model.predict_proba(grid).max(axis=1).mean() - share @ p)
        of_leaf = found.leaves
        columns = (of_leaf.low, of_leaf.high, of_leaf.confidence, of_leaf.utility)
        with_rows = of_leaf.n > 0
        leaves.append(np.column_stack([p, *columns, of_leaf.probability])[with_rows])
    yield from _results(np.array(gaps), np.array(stated), np.vstack(leaves))


def _results(gaps: np.ndarray, stated: np.ndarray, leaves: np.ndarray) -> Iterator[Row]:
    p, low, high, confidence, utility, proportion = leaves.T
    is_sure, is_right = confidence >= 0.95, p > 0.5
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    results = {
        "utility minus true accuracy": f"{100 * gaps.mean():.2f} ± {100 * error:.2f} points",
        "the same with the probabilities that the trees state": f"{100 * stated.mean():.1f} points",
        "intervals of level .95 that hold the true probability of the leaf": (
            f"{100 * np.mean((low <= p) & (p <= high)):.1f} % of {len(p):,}"
        ),
        "leaves with a less probable class whose confidence is .95": (
            f"{np.sum(is_sure & (p < 0.5)):,} of {np.sum(p < 0.5):,}"
        ),
        "leaves with a confidence of .95 that predict the more probable class": (
            f"{100 * np.mean(is_right[is_sure]):.1f} % of {np.sum(is_sure):,}"
        ),
        "root mean square error of the utility of a leaf": _root_mean_square(utility - p),
        "of the plain proportion of correct predictions": _root_mean_square(proportion - p),
    }
    for quantity, result in results.items():
        yield Row(
            f"{N_TREES} trees of at most 12 leaves, grown and audited with {N_ROWS} rows each",
            {"quantity": quantity, "result": result},
        )


def _root_mean_square(errors: np.ndarray) -> str:
    return f"{100 * np.sqrt(np.mean(errors**2)):.1f} points"
