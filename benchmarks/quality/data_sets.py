"""The data sets that quality is measured on, read by their schemas."""

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
"""Two classes and at least 250 rows, by size."""

ALL = (*BINARY, "hepatitis", "labor", "glass", "iris", "hypothyroid", "segment")
"""The small ones and those of more classes, too."""


@dataclass(frozen=True)
class DataSet:
    name: str
    X: pd.DataFrame
    y: np.ndarray
    categorical: tuple[str, ...] = ()

    def part(self, rows: np.ndarray) -> "DataSet":
        """Some of the rows, by place."""
        kept = self.X.iloc[rows].reset_index(drop=True)
        return DataSet(self.name, kept, self.y[rows], self.categorical)

    def cut(self, most_rows: int, *, least_rows_a_class: int) -> "DataSet":
        """A random part of a large table, without classes that have too few rows for folds."""
        classes, counts = np.unique(self.y, return_counts=True)
        kept = np.flatnonzero(np.isin(self.y, classes[counts >= least_rows_a_class]))
        return self.part(np.sort(np.random.default_rng(0).permutation(kept)[:most_rows]))


def load(name: str) -> DataSet:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    kinds = dict.fromkeys(schema["categorical"], str)
    frame = pd.read_csv(FOLDER / f"{name}.csv", dtype=kinds)
    labels = frame.pop(schema["target"]).to_numpy()
    return DataSet(name, frame, labels, tuple(schema["categorical"]))


def chosen() -> tuple[str, ...]:
    """The data sets named in SURELEAF_SETS, or all."""
    named = os.environ.get("SURELEAF_SETS")
    return tuple(named.split(",")) if named else BINARY


def splits(n_rows: int, repeats: int):
    """Random thirds for testing: (train, test) places, the same in every run."""
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(n_rows)
        cut = 2 * n_rows // 3
        yield seed, np.sort(order[:cut]), np.sort(order[cut:])
