"""Growing and predicting with full trees, compared with scikit-learn, ydf and LightGBM.

Every library uses two threads and grows one tree until all leaves are pure: no collapsing, no
pruning, one row per leaf is enough, levels from the training rows. Times are the shortest of
several runs; ratios are to peers in the same run. `covtype_full` and `adult` are read from the
folder of the data sets if they exist.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.data_sets import FOLDER as DATA
from benchmarks.running import Row
from benchmarks.speed.clock import compare, limit, seconds
from sureleaf import TreeClassifier

N_THREADS = 2
FULL = {"min_samples_leaf": 1, "collapse": False, "pruning": None, "levels_from": "training"}


def ours(**parameters: Any) -> TreeClassifier:
    return TreeClassifier.c45(**FULL, n_jobs=N_THREADS, **parameters)


def run() -> Iterator[Row]:
    yield from continuous()
    yield from covertype()
    yield from adult()
    yield from first_fit()


# ---- the tables ------------------------------------------------------------------------------


def make_table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n_rows, 20, n_informative=10, random_state=0)
    return X, y


def continuous() -> Iterator[Row]:
    X, y = make_table(200_000)
    peer = DecisionTreeClassifier(random_state=0)
    growing = seconds(lambda: ours(criterion="gini").fit(X, y), 7)
    title = "full tree, 200,000 x 20, gini"
    yield compare(title, growing, "scikit-learn", seconds(lambda: peer.fit(X, y), 1), 55)
    for name, fit, wanted in (("ydf", ydf_tree, 15), ("LightGBM, one tree", lightgbm_tree, 5)):
        took = fit(X, y)
        if took is not None:
            yield compare(title, growing, name, took, wanted)
    model = ours(criterion="gini").fit(X, y)
    yield predict_ratio("predict_proba, 200,000 x 20", X, X, model, peer)
    doubled_X, doubled_y = make_table(400_000)
    doubled = seconds(lambda: ours(criterion="gini").fit(doubled_X, doubled_y), 7)
    single = min(growing, seconds(lambda: ours(criterion="gini").fit(X, y), 7))
    yield limit("twice as many rows, 400,000 x 20", doubled / single, "times the time", 2.3)
    yield from memory("200,000 x 20", X, y)
    yield bandwidth(X, y, growing)


def covertype() -> Iterator[Row]:
    path = DATA / "covtype_full.parquet"
    if not path.exists():
        print(f"covtype_full skipped: {path.name} does not exist", file=sys.stderr)
        return
    X, y = covertype_table()
    peer = DecisionTreeClassifier(random_state=0)
    growing = seconds(lambda: ours(criterion="gini").fit(X, y))
    took = seconds(lambda: peer.fit(X, y), 1)
    yield compare("full tree, covtype_full, gini", growing, "scikit-learn", took, 20)
    model = ours(criterion="gini").fit(X, y)
    yield predict_ratio("predict_proba, covtype_full", X, X, model, peer)
    yield from memory("covtype_full", X, y)


def covertype_table() -> tuple[np.ndarray, np.ndarray]:
    target = json.loads((DATA / "covtype_full.schema.json").read_text())["target"]
    frame = pd.read_parquet(DATA / "covtype_full.parquet")
    y = frame.pop(target).to_numpy()
    return np.ascontiguousarray(frame.to_numpy(dtype=np.float64)), y


def adult() -> Iterator[Row]:
    """We read text with missing values; scikit-learn gets ordinal codes, made beforehand."""
    path = DATA / "adult.csv"
    if not path.exists():
        print(f"adult skipped: {path.name} does not exist", file=sys.stderr)
        return
    frame, y, codes = adult_table()
    text = frame.select_dtypes("object").columns
    frame = frame.astype(dict.fromkeys(text, "category"))
    peer = DecisionTreeClassifier(random_state=0)
    took = seconds(lambda: peer.fit(codes, y))
    for criterion in ("gain_ratio", "gini"):
        growing = seconds(lambda criterion=criterion: ours(criterion=criterion).fit(frame, y))
        yield compare(f"full tree, adult, {criterion}", growing, "scikit-learn on codes", took, 10)
    yield predict_ratio("predict_proba, adult", frame, codes, ours().fit(frame, y), peer)


def adult_table() -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the table with its text, the classes, and the same table as ordinal codes."""
    schema = json.loads((DATA / "adult.schema.json").read_text())
    frame = pd.read_csv(DATA / "adult.csv").astype(dict.fromkeys(schema["categorical"], object))
    y = frame.pop(schema["target"]).to_numpy()
    codes = frame.copy()
    text = schema["categorical"]
    codes[text] = OrdinalEncoder().fit_transform(codes[text])
    return frame, y, codes.to_numpy(dtype=np.float64)


def predict_ratio(title: str, X: Any, peer_X: Any, model: TreeClassifier, peer: Any) -> Row:
    took = seconds(lambda: peer.predict_proba(peer_X))
    return compare(title, seconds(lambda: model.predict_proba(X)), "scikit-learn", took, 2)


# ---- peers that may not be installed ---------------------------------------------------------


def ydf_tree(X: np.ndarray, y: np.ndarray) -> float | None:
    try:
        import ydf
    except ImportError:
        print("ydf skipped: pip install ydf", file=sys.stderr)
        return None
    ydf.verbose(0)
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y}
    learner = ydf.CartLearner(
        label="y", max_depth=-1, min_examples=1, validation_ratio=0.0, num_threads=N_THREADS
    )
    return seconds(lambda: learner.train(columns), 1)


def lightgbm_tree(X: np.ndarray, y: np.ndarray) -> float | None:
    try:
        import lightgbm
    except ImportError:
        print("LightGBM skipped: pip install lightgbm", file=sys.stderr)
        return None
    model = lightgbm.LGBMClassifier(
        n_estimators=1,
        num_leaves=ours(criterion="gini").fit(X, y).tree_.n_leaves,
        min_child_samples=1,
        min_child_weight=0,
        n_jobs=N_THREADS,
        verbose=-1,
    )
    return seconds(lambda: model.fit(X, y), 1)


# ---- memory, bandwidth, first fit ------------------------------------------------------------

PEAK = """
import ctypes, sys
import numpy as np
from benchmarks.speed import tree

def status(name):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))

X, y = np.load(sys.argv[1]), np.load(sys.argv[2])
tree.ours(criterion="gini").fit(X[:1000], y[:1000])  # imports and buffers are not counted
ctypes.CDLL(None).malloc_trim(0)
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # reset the peak
before = status("VmRSS")
model = tree.ours(criterion="gini").fit(X, y)
print(status("VmHWM") - before)
"""


def memory(title: str, X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Measure the peak memory that a fit adds in a new process, per cell of the table."""
    if not Path("/proc/self/clear_refs").exists():
        print(f"peak memory of {title} skipped: it needs /proc of Linux", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as directory:
        paths = [str(Path(directory, name)) for name in ("X.npy", "y.npy")]
        for path, array in zip(paths, (X, y), strict=True):
            np.save(path, array)
        command = [sys.executable, "-c", PEAK, *paths]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    yield limit(f"peak memory, {title}", int(done.stdout) / X.size, "bytes per cell", 12)


def bandwidth(X: np.ndarray, y: np.ndarray, growing: float) -> Row:
    """Return the memory bandwidth of the split search, as a share of that of a copy.

    A level of the tree reads the sorted rows of each column (4 bytes per row) to search for a
    split, and reads and writes them to partition them. The mean depth of the tree, weighted by
    rows, is the number of levels per row. Sorting counts for the time but not for the bytes, so
    the share is a lower bound.
    """
    source = np.zeros(2**26)
    target = np.ones_like(source)
    copying = 2 * source.nbytes / seconds(lambda: np.copyto(target, source))
    tree = ours(criterion="gini").fit(X, y).tree_
    leaves = tree.leaf_ids
    n = tree.class_counts[leaves].sum(axis=1)
    levels = float((n * tree.node_depth[leaves]).sum() / n.sum())
    touched = levels * X.size * 4 * 3
    share = 100 * touched / growing / copying
    return limit("memory bandwidth of the split search", share, "% of that of a copy")


def first_fit() -> Iterator[Row]:
    """Time the first fit here and without pandas, which scikit-learn imports if it is installed."""
    fit = (
        "import numpy as np; from sureleaf import TreeClassifier; "
        "X = np.random.default_rng(0).normal(size=(100, 4)); "
        "TreeClassifier().fit(X, X[:, 0] > 0)"
    )
    plain = "import sys; sys.modules['pandas'] = None; "
    title = "import and first fit, 100 rows"
    for kind, before in (("", ""), (", no pandas", plain)):
        yield limit(title + kind, fresh_seconds(before + fit), at_most=1.0)
        base = fresh_seconds(before + "import sklearn.base")
        yield limit(f"of it import sklearn.base{kind}", base)


def fresh_seconds(code: str) -> float:
    """Return the seconds that the code takes in a new interpreter, the shortest of three runs."""
    timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
    run = [sys.executable, "-c", timed]
    outputs = [subprocess.run(run, check=True, capture_output=True, text=True) for _ in range(3)]
    return min(float(output.stdout) for output in outputs)
