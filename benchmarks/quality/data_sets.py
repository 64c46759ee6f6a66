"""The data sets of the quality benchmarks, each with a schema file."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(os.environ.get("SURELEAF_DATA", Path(__file__).parents[2].parent / "shared" / "data"))

BINARY = (
    "breast-cancer",
    "ionosphere",
    "vote",
    "diabetes",
    "credit-g",
    "phoneme",
    "satimage",
    "mushroom",
    "mammography",
    "covtype",
    "adult",
)
"""Two classes and at least 250 rows, ordered by size."""

ALL = (*BINARY, "hepatitis", "labor", "glass", "iris", "hypothyroid", "segment")
"""Also small data sets and those with more classes."""


@dataclass(frozen=True)
class DataSet:
    name: str
    X: pd.DataFrame
    y: np.ndarray
    categorical: tuple[str, ...] = ()

    def part(self, rows: np.ndarray) -> "DataSet":
        """Return the rows with these indices."""
        kept = self.X.iloc[rows].reset_index(drop=True)
        return DataSet(self.name, kept, self.y[rows], self.categorical)

    def sample(self, max_rows: int, *, min_rows_per_class: int) -> "DataSet":
        """Return a random part of a large table, without classes that are too small for folds."""
        classes, counts = np.unique(self.y, return_counts=True)
        kept = np.flatnonzero(np.isin(self.y, classes[counts >= min_rows_per_class]))
        return self.part(np.sort(np.random.default_rng(0).permutation(kept)[:max_rows]))


def load(name: str) -> DataSet:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    kinds = dict.fromkeys(schema["categorical"], str)
    frame = pd.read_csv(FOLDER / f"{name}.csv", dtype=kinds)
    labels = frame.pop(schema["target"]).to_numpy()
    return DataSet(name, frame, labels, tuple(schema["categorical"]))


def selected() -> tuple[str, ...]:
    """Return the names in SURELEAF_SETS, or all of `BINARY`."""
    names = os.environ.get("SURELEAF_SETS")
    return tuple(names.split(",")) if names else BINARY


def splits(n_rows: int, repeats: int):
    """Yield seeds with row indices to train and to test (a third), the same in every run."""
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(n_rows)
        n_train = 2 * n_rows // 3
        yield seed, np.sort(order[:n_train]), np.sort(order[n_train:])
