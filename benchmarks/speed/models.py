"""Saving and loading a tree, and the size of its files, compared with scikit-learn's tree.

A default tree, and a full one of the same rows, which has thousands of nodes.
"""

import pickle
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sklearn.tree import DecisionTreeClassifier

import sureleaf
from benchmarks.running import Row
from benchmarks.speed.clock import compare, limit, seconds
from benchmarks.speed.tree import make_table, ours

N_ROWS = 20_000


def run() -> Iterator[Row]:
    X, y = make_table(N_ROWS)
    peer = pickle.dumps(DecisionTreeClassifier(random_state=0).fit(X, y))
    trees = {
        "default tree": sureleaf.TreeClassifier(random_state=0).fit(X, y),
        "full tree": ours(criterion="gini").fit(X, y),
    }
    with tempfile.TemporaryDirectory() as folder:
        for kind, model in trees.items():
            path = Path(folder) / kind
            title = f"{kind} of {model.tree_.n_nodes:,} nodes"
            yield limit(f"save a {title}", seconds(lambda m=model, p=path: m.save(p)))
            loading = seconds(lambda p=path: sureleaf.load(p))
            if kind == "full tree":
                theirs = seconds(lambda: pickle.loads(peer))
                yield compare(f"load a {title}", loading, "pickle.loads, scikit-learn", theirs)
            else:
                yield limit(f"load a {title}", loading)
            yield limit(f"file of a {title}", path.stat().st_size / 1000, "KB")
