"""Are the segments real in which a model is said to be wrong?

Tables of 2,000 rows with nine columns and a model whose probabilities are true, except in a planted
segment of 10 % of the rows, where they are 20 points off. Beside Sureleaf's search:

- a tree grown on the errors whose leaves are scored on the rows that drew them, which is how
  deepchecks and erroranalysis do it; a leaf counts as wrong if its stated probability lies outside
  its 95 % interval, and also with Bonferroni's correction for the number of leaves;
- the same tree grown on one half of the rows and counted on the other, both ways, with Holm's
  correction.

SURELEAF_TABLES sets the number of calibrated tables with a logistic model; the other lines have a
fifth or a tenth as many.
"""

import os
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.tree import DecisionTreeRegressor

from benchmarks.running import Row, in_processes
from sureleaf.auditing.segments import Errors, exact_p, search, segment_family
from sureleaf.comparison.multiple_models import holm
from sureleaf.table import read_table

Array = np.ndarray

N_ROWS = 2000
OFFSET = 0.2
TABLES = 300


def draw(rng: np.random.Generator, n: int = N_ROWS) -> pd.DataFrame:
    return pd.DataFrame(
        {f"x{i}": rng.normal(size=n) for i in range(4)}
        | {
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(8, 1, n),
            "region": rng.choice(["north", "south", "east", "west"], n),
            "kind": rng.choice(list("abcdefgh"), n),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def logistic(X: pd.DataFrame) -> Array:
    return expit(X.x0 + X.x1 / 2 - (X.age - 54) / 33 + 0.6 * (X.region == "north")).to_numpy()


MODELS: dict[str, Callable[[pd.DataFrame], Array]] = {
    "logistic": logistic,
    "all 50 %": lambda X: np.full(len(X), 0.5),
    "all 10 %": lambda X: np.full(len(X), 0.1),
}

SEGMENTS: dict[str, Callable[[pd.DataFrame], Array]] = {
    "x2 above its 90 % quantile": lambda X: (X.x2 > 1.2816).to_numpy(),
    "one of eight kinds": lambda X: (X.kind == "c").to_numpy(),
    "age > 61 and region = north": lambda X: ((X.age > 61) & (X.region == "north")).to_numpy(),
    "x1 > .4 and x3 <= -.48": lambda X: ((X.x1 > 0.4) & (X.x3 <= -0.48)).to_numpy(),
}


def by_search(X: pd.DataFrame, p: Array, y: Array, seed: int) -> list[Array]:
    """Sureleaf's search."""
    family = segment_family(read_table(X), p)
    result = search(family, Errors(p, y.astype(float), p * (1 - p)), level=0.95, seed=seed)
    return [one.rows for one in result.found]


def _leaves(X: Array, errors: Array, rows: Array) -> Array:
    """Grow a tree on the errors of some rows; return the leaf of every row."""
    tree = DecisionTreeRegressor(max_depth=3, min_samples_leaf=0.02, random_state=0)
    return tree.fit(X[rows], errors[rows]).apply(X)


def _p_values(leaf: Array, p: Array, y: Array, rows: Array) -> tuple[list[Array], Array]:
    inside = [leaf == number for number in np.unique(leaf)]
    tests = []
    for one in inside:
        own = one & rows
        n = int(own.sum())
        tests.append(exact_p(y[own].mean(), float(p[own].mean()), n) if n else 1.0)
    return inside, np.array(tests)


def by_tree(X: pd.DataFrame, p: Array, y: Array, corrected: bool) -> list[Array]:
    """Score the leaves of a tree of the errors on the rows that drew them."""
    everything = np.ones(len(y), dtype=bool)
    leaf = _leaves(pd.get_dummies(X).to_numpy(float), y - p, everything)
    inside, tests = _p_values(leaf, p, y, everything)
    bound = 0.05 / len(tests) if corrected else 0.05
    return [one for one, test in zip(inside, tests, strict=True) if test <= bound]


def by_halves(X: pd.DataFrame, p: Array, y: Array, seed: int) -> list[Array]:
    """Grow on one half and count on the other, both ways."""
    half = np.random.default_rng(seed).random(len(y)) < 0.5
    matrix = pd.get_dummies(X).to_numpy(float)
    parts = [_p_values(_leaves(matrix, y - p, own), p, y, ~own) for own in (half, ~half)]
    adjusted = holm(np.concatenate([tests for _, tests in parts]))
    inside = [one for leaves, _ in parts for one in leaves]
    return [one for one, test in zip(inside, adjusted, strict=True) if test <= 0.05]


WAYS: dict[str, Callable[[pd.DataFrame, Array, Array, int], list[Array]]] = {
    "search": by_search,
    "own rows": lambda X, p, y, seed: by_tree(X, p, y, corrected=False),
    "own rows, Bonferroni": lambda X, p, y, seed: by_tree(X, p, y, corrected=True),
    "halves": by_halves,
}


def shares(model: str, segment: str | None, n_tables: int) -> dict[str, float]:
    """Return for each way the share of tables with a found segment, or with the planted one."""
    hits = dict.fromkeys(WAYS, 0)
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 16])
        X = draw(rng)
        p = MODELS[model](X)
        true = p
        planted = np.zeros(len(X), dtype=bool)
        if segment is not None:
            planted = SEGMENTS[segment](X)
            sign = -1 if p[planted].mean() >= 0.5 else 1
            true = np.clip(np.where(planted, p + sign * OFFSET, p), 0, 1)
        y = rng.random(len(X)) < true
        for way, find in WAYS.items():
            found = find(X, p, y, seed)
            if segment is None:
                hits[way] += bool(found)
            else:
                hits[way] += any(
                    (one & planted).sum() > 0.3 * (one | planted).sum() for one in found
                )
    return {way: count / n_tables for way, count in hits.items()}


def run() -> Iterator[Row]:
    n_tables = int(os.environ.get("SURELEAF_TABLES", str(TABLES)))
    items: list[tuple[str, str | None, int]] = [("logistic", None, n_tables)]
    items += [(model, None, max(n_tables // 5, 1)) for model in list(MODELS)[1:]]
    items += [
        (model, segment, max(n_tables // 10, 1))
        for model in ("logistic", "all 50 %")
        for segment in SEGMENTS
    ]
    for (model, segment, n), found in zip(items, in_processes(_measure_all, items), strict=True):
        if segment is None:
            title = "No segment: share of tables in which one is found"
            cells = {"model": model, "tables": str(n)}
        else:
            title = (
                "A segment of 10 % of the rows, 20 points off: share of tables in which it is found"
            )
            cells = {"segment": f"{segment} ({model})", "tables": str(n)}
        yield Row(title, {**cells, **{way: f"{share:.3f}" for way, share in found.items()}})


def _measure_all(item: tuple[str, str | None, int]) -> dict[str, float]:
    return shares(*item)
