"""The data sets of the reference material beside the project, as tables and labels."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data"
NAMES = (
    *("phoneme", "adult", "satimage", "covtype", "mammography", "credit-g", "hepatitis", "vote"),
    *("breast-cancer", "mushroom", "labor", "diabetes", "ionosphere", "glass", "iris"),
    *("hypothyroid", "segment"),
)


@dataclass(frozen=True, eq=False)
class Dataset:
    name: str
    X: pd.DataFrame
    y: np.ndarray
    categorical: list[str]

    @property
    def is_binary(self) -> bool:
        return len(np.unique(self.y)) == 2


def load(name: str, *, most_rows: int | None = None, least_rows_a_class: int = 1) -> Dataset:
    """Read a data set; of a large one a random part, and no class with too few rows for folds."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    types = dict.fromkeys(schema["categorical"], str)
    X = pd.read_csv(FOLDER / f"{name}.csv", dtype=types)
    y = X.pop(schema["target"]).to_numpy()
    classes, counts = np.unique(y, return_counts=True)
    kept = np.flatnonzero(np.isin(y, classes[counts >= least_rows_a_class]))
    if most_rows is not None and len(kept) > most_rows:
        kept = np.sort(np.random.default_rng(0).permutation(kept)[:most_rows])
    return Dataset(name, X.iloc[kept].reset_index(drop=True), y[kept], schema["categorical"])
