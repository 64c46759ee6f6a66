"""Small tables for reports, and reports of them made with little work."""

from typing import Any

import numpy as np
import pyarrow as pa

from sureleaf.report import Budget, Origin, Report, make_report

QUICK = Budget(
    folds=3, repeats=2, bootstraps=3, curve_repeats=2, band_draws=40, bagged_trees=5, forest_trees=5
)

HOSTILE = "</script><b>&\"'\n"
"""A name that breaks a page which does not escape it."""


def mixed(n: int = 160, *, seed: int = 0) -> tuple[Any, Any]:
    """Numbers and words with gaps, a date, a bool, hostile names; two classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "<bad>", "good & fine")
    size = rng.normal(size=n) + 1.5 * (y == "<bad>")
    words = rng.choice(["red", "blue", HOSTILE], size=n).tolist()
    days = np.datetime64("2024-01-01") + rng.integers(0, 300, size=n)
    table = pa.table(
        {
            "size": [None if i % 13 == 0 else float(x) for i, x in enumerate(size)],
            HOSTILE: [None if i % 17 == 0 else word for i, word in enumerate(words)],
            "day": pa.array(days.astype("datetime64[D]")),
            "old": pa.array((rng.random(n) < 0.3 + 0.4 * (y == "<bad>")).tolist()),
        }
    )
    return table, y


def three_classes(n: int = 150, *, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, 2)) + 2 * np.column_stack([codes == 1, codes == 2])
    return X, np.array(["a", "b", "c"])[codes]


def noise(n: int = 120, *, seed: int = 0) -> tuple[Any, Any]:
    """A column that has nothing to do with the classes."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 1)).round(1), np.where(rng.random(n) < 0.3, "yes", "no")


def quick_report(X: Any, y: Any, **options: Any) -> Report:
    options = {"origin": Origin("class", source="rows.csv"), "budget": QUICK} | options
    return make_report(X, y, n_jobs=1, **options)
