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


@dataclass(frozen=True)
class DataSet:
    name: str
    X: pd.DataFrame
    y: np.ndarray


def load(name: str) -> DataSet:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text())
    kinds = dict.fromkeys(schema["categorical"], str)
    frame = pd.read_csv(FOLDER / f"{name}.csv", dtype=kinds)
    return DataSet(name, frame.drop(columns=schema["target"]), frame[schema["target"]].to_numpy())


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
