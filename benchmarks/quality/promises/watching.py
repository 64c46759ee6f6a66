"""A watched tree: false alarms while nothing changes, and how soon a change is found.

Trees are grown on rows of several populations, with levels of the default kind; among them are an
exclusive or and noise, in which promises are the hardest to state. Each is watched on several
streams of its population, looked at after every row. Beside it: the binomial test of every leaf
against what was promised, repeated after every row (with Bonferroni's correction for the leaves),
and MAPIE's RiskMonitoring of the whole stream, which gets as many held-out rows as the tree has
grown on to compare with.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import betainc

from benchmarks.quality.promises.levels import POPULATIONS
from benchmarks.quality.promises.record import Promise, false_positives, shown
from sureleaf import TreeClassifier, Watch

Rows = tuple[np.ndarray, np.ndarray]

NAMES = ("linear", "step", "four classes", "exclusive or", "imbalanced", "noise")
SIZES = ((200, 4), (200, 20), (200, 60), (1000, 20), (1000, 60), (5000, 40))
N_STREAM, N_STREAMS = 10_000, 4
BEFORE = 2_000


def _draw(name: str, n: int, rng: np.random.Generator) -> Rows:
    X = rng.normal(size=(n, 5))
    p = POPULATIONS[name](X)
    return X, (rng.random(n)[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def _tree(name: str, n_rows: int, max_leaves: int, seed: int) -> TreeClassifier:
    rng = np.random.default_rng([seed, n_rows, max_leaves, 35])
    tree = TreeClassifier(
        pruning=None, max_leaves=max_leaves, min_samples_leaf=2, random_state=seed, n_jobs=1
    )
    return tree.fit(*_draw(name, n_rows, rng))


def _repeated_test(watch: Watch, leaf: np.ndarray, right: np.ndarray, alpha: float) -> bool:
    """Whether a binomial test of any leaf, after any row from the tenth on, finds it worse."""
    for line, promised in enumerate(watch.promise.accuracy):
        hits = np.cumsum(right[leaf == line])
        n = np.arange(1.0, len(hits) + 1)
        tail = 1.0 - betainc(hits + 1.0, np.maximum(n - hits, 1e-300), promised)  # P(Bin <= hits)
        if (tail[9:] <= alpha / len(watch.decisions)).any():
            return True
    return False


def _mapie(tree: TreeClassifier, reference: Rows, stream: Rows) -> np.ndarray | None:
    """Return after which rows MAPIE sees a harmful shift; None if it is not installed."""
    try:
        from mapie.exchangeability_testing import RiskMonitoring
    except ImportError:
        return None
    monitor = RiskMonitoring(risk="accuracy", tolerance=0.0, warn=False)
    monitor.compute_threshold(*_hits(tree, reference))
    monitor.update(*_hits(tree, stream))
    return np.asarray(monitor.online_risk_lower_bound_sequence_history > monitor.threshold)


def _hits(tree: TreeClassifier, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """Return hits as if the true class were always 1: MAPIE's risks are for two classes."""
    hits = (tree.predict(rows[0]) == rows[1]).astype(int)
    return np.ones(len(hits), dtype=int), hits


def false_alarms(n_trees: int) -> Iterator[Promise]:
    """Yield the share of streams of an unchanged population with any alarm."""
    every: dict[str, list[bool]] = {"watch": [], "repeated": [], "mapie": []}
    for n_rows, max_leaves in SIZES:
        found: dict[str, list[bool]] = {name: [] for name in every}
        leaves = []
        for seed in range(n_trees):
            name = NAMES[seed % len(NAMES)]
            tree = _tree(name, n_rows, max_leaves, seed)
            leaves.append(tree.tree_.n_leaves)
            for k in range(N_STREAMS):
                rng = np.random.default_rng([seed, n_rows, max_leaves, k, 36])
                X, y = _draw(name, N_STREAM, rng)
                watch = Watch(tree).add(X, y)
                leaf = np.searchsorted(tree.tree_.leaf_ids, tree.apply(X))
                right = watch.decisions[leaf] == y
                found["watch"].append(watch.alarm)
                found["repeated"].append(_repeated_test(watch, leaf, right, watch.alpha))
                seen = _mapie(tree, _draw(name, n_rows, rng), (X, y))
                if seen is not None:
                    found["mapie"].append(bool(seen.any()))
        setting = f"trees of {n_rows} rows, {np.mean(leaves):.0f} leaves, {N_STREAM:,} rows"
        yield from _alarms(found, setting)
        for name, values in found.items():
            every[name] += values
    yield from _alarms(every, f"all of these, {N_STREAM:,} rows")


def _alarms(found: dict[str, list[bool]], setting: str) -> Iterator[Promise]:
    for name, what, default, warning in (
        ("watch", "watch: any alarm while nothing changes, after any row", True, ""),
        (
            "repeated",
            "binomial test of each leaf, repeated after every row: any alarm",
            False,
            "the test holds for one look, and takes what was promised for the truth",
        ),
        ("mapie", "MAPIE's RiskMonitoring of the whole stream: any alarm", False, ""),
    ):
        if found[name]:
            share, runs = float(np.mean(found[name])), len(found[name])
            yield false_positives(what, setting, share, runs, default=default, warning=warning)


# ---- changes -------------------------------------------------------------------------------------

Change = Callable[[Watch, int, Rows, np.random.Generator], Rows]


def _less_accurate(points: float) -> Change:
    """Return the change that makes so many of the right decisions of a leaf wrong."""

    def change(watch: Watch, line: int, rows: Rows, rng: np.random.Generator) -> Rows:
        X, y = rows
        own = watch.decisions[line]
        inside = _inside(watch, line, X)
        accuracy = (y[inside] == own).mean()
        turned = inside & (y == own) & (rng.random(len(y)) < points / accuracy)
        return X, np.where(turned, (own + 1) % len(watch.model.classes), y)

    return change


def _other_class(watch: Watch, line: int, rows: Rows, rng: np.random.Generator) -> Rows:
    X, y = rows
    own, inside = watch.decisions[line], _inside(watch, line, X)
    other = (own + 1) % len(watch.model.classes)
    turned = np.where(y == own, other, np.where(y == other, own, y))
    return X, np.where(inside, turned, y)


def _half_as_many(watch: Watch, line: int, rows: Rows, rng: np.random.Generator) -> Rows:
    kept = ~_inside(watch, line, rows[0]) | (rng.random(len(rows[1])) < 0.5)
    return rows[0][kept], rows[1][kept]


CHANGES: dict[str, Change] = {
    "10 points less accurate": _less_accurate(0.1),
    "20 points less accurate": _less_accurate(0.2),
    "another class": _other_class,
    "half as many rows": _half_as_many,
}


def _inside(watch: Watch, line: int, X: np.ndarray) -> np.ndarray:
    return np.asarray(watch.model.apply(X) == watch.model.tree.leaf_ids[line])


def delays(n_trees: int) -> Iterator[Promise]:
    """Yield how often a change of the largest leaf is found, and after how many of its rows."""
    for n_rows, max_leaves in ((1000, 8), (5000, 8)):
        times: dict[str, list[float]] = {name: [] for name in CHANGES}
        peer: dict[str, list[bool]] = {name: [] for name in CHANGES}
        for seed in range(n_trees):
            population = NAMES[seed % 2]
            tree = _tree(population, n_rows, max_leaves, 500 + seed)
            for k, (name, change) in enumerate(CHANGES.items()):
                rng = np.random.default_rng([seed, n_rows, k, 37])
                watch = Watch(tree).add(*_draw(population, BEFORE, rng))
                line = int(watch.promise.share.argmax())
                later = change(watch, line, _draw(population, N_STREAM, rng), rng)
                seen = _mapie(tree, _draw(population, n_rows, rng), later)
                if seen is not None:
                    peer[name].append(bool(seen.any()))
                alarm = _first(watch.add(*later), line)
                inside = _inside(watch, line, later[0])
                times[name].append(
                    math.inf if alarm is None else float(inside[: alarm - BEFORE].sum())
                )
        for name in CHANGES:
            median = float(np.median(times[name]))
            after = "not found in half of them" if math.isinf(median) else f"median {median:.0f}"
            setting = f"{name}, trees of {n_rows} rows"
            share = float(np.isfinite(times[name]).mean())
            yield shown(
                f"watch: the largest leaf changes after {BEFORE:,} rows, and it is found within "
                f"{N_STREAM:,} more",
                f"{setting}; rows of the leaf until then: {after}",
                share,
                n_trees,
            )
            if peer[name]:
                what = "MAPIE's RiskMonitoring of the whole stream: the same change is found"
                yield shown(what, setting, float(np.mean(peer[name])), n_trees)


def _first(watch: Watch, line: int) -> int | None:
    """Return the row of the first alarm of a leaf."""
    rows = [one.row for (what, leaf), one in watch.counts.alarms.items() if leaf == line]
    table = watch.leaves()
    return min(rows) if rows and bool(table.alarm[line]) else None
