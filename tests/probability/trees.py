"""Small trees to estimate the leaves of."""

from collections.abc import Sequence

import numpy as np

from sureleaf import TreeClassifier
from sureleaf.tree import Tree


def one_leaf(counts: Sequence[float]) -> Tree:
    """Give a tree that is one leaf with these counts."""
    return Tree(
        feature=np.array([-1]),
        threshold=np.array([np.nan]),
        child_offset=np.array([0, 0]),
        children=np.array([], dtype=np.int32),
        branch_share=np.array([]),
        category_offset=np.array([0, 0]),
        category_branch=np.array([], dtype=np.int32),
        class_counts=np.array([counts], dtype=float),
        n_columns=1,
    )


def small_tree(seed: int, n_rows: int = 40, n_classes: int = 3) -> Tree:
    """Give a tree of a few leaves, with a many-way split among them."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 9, n_rows), rng.integers(0, 3, n_rows)])
    y = rng.integers(0, n_classes, n_rows)
    model = TreeClassifier.c45(
        criterion="gini",
        categorical_features=[1],
        max_depth=2,
        min_samples_leaf=1,
        collapse=False,
        pruning=None,
    )
    return model.fit(X, y).tree_
