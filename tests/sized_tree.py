"""The smaller tree whose size is chosen by cross-validation."""

from typing import Any

from sureleaf import TreeClassifier


def sized_tree(**changes: Any) -> TreeClassifier:
    """Return an estimator with subset splits, branches for missing values and pruning="auto"."""
    parameters = {
        "criterion": "entropy",
        "categorical_split": "subset",
        "missing": "branch",
        "collapse": False,
        "pruning": "auto",
    }
    return TreeClassifier(**(parameters | changes))
