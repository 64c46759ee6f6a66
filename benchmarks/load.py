"""Load: many threads, many fits, many columns, classes, leaves and rows.

``python -m benchmarks.load`` runs everything, each part in a process of its own;
``python -m benchmarks.load threads fits`` runs some parts. The exit code is 1 if a part fails what
it is tested for. ``--record`` keeps the result for the documentation.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

import sureleaf
from benchmarks.running import RECORD, Row, measure

FULL = {"pruning": None, "levels_from": "training"}


def table(n_rows: int, n_columns: int, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns)).astype(np.float32)
    bounds = np.linspace(-1.5, 1.5, n_classes + 1)[1:-1]
    return X, np.digitize(X[:, 0] + rng.normal(size=n_rows), bounds)


def memory() -> int:
    """Return the resident megabytes of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def threads() -> tuple[str, bool]:
    """64 threads predict at once; fails if one prediction differs, or one thread raises."""
    X, y = table(20_000, 10)
    model = sureleaf.TreeClassifier().fit(X, y)
    bag = sureleaf.BaggedTreesClassifier(n_estimators=10, random_state=0).fit(X, y)
    model.levels()
    expected = model.predict_proba(X), model.predict_levels(X).confidence, bag.predict_proba(X)

    def one(number: int) -> bool:
        same = True
        for _ in range(5):
            found = model.predict_proba(X), model.predict_levels(X).confidence, bag.predict_proba(X)
            same &= all(map(np.array_equal, found, expected))
        return same

    start = time.perf_counter()
    with ThreadPoolExecutor(64) as pool:
        same = all(pool.map(one, range(64)))
    seconds = time.perf_counter() - start
    rows = 64 * 5 * 3 * len(X)
    return f"{rows / seconds / 1e6:.1f} million predictions per second, all equal: {same}", same


def fits() -> tuple[str, bool]:
    """1,000 fits in one process; fails if its memory grows by more than 5 % after the first 200."""
    X, y = table(500, 5)
    sizes = []
    start = time.perf_counter()
    for number in range(1_000):
        source = "training" if number % 10 else "cross_fit"
        model = sureleaf.TreeClassifier(levels_from=source, cv=2, random_state=number, n_jobs=1)
        model.fit(X, y).leaves()
        sizes.append(memory())
    seconds = time.perf_counter() - start
    growth = sizes[-1] / sizes[199] - 1
    text = (
        f"{seconds:.0f} ms per fit with its leaves; {sizes[199]} MB after 200 fits, "
        f"{sizes[-1]} MB after 1,000"
    )
    return text, growth <= 0.05


def columns() -> tuple[str, bool]:
    """A default tree of 2,000 rows and 10,000 columns; fails if the column that matters is lost."""
    X, y = table(2_000, 10_000)
    start = time.perf_counter()
    model = sureleaf.TreeClassifier().fit(X, y)
    seconds = time.perf_counter() - start
    found = bool(model.feature_importances_.argmax() == 0)
    return f"fit {seconds:.1f} s; the column that matters comes first: {found}", found


def classes() -> tuple[str, bool]:
    """A tree of 1,000 classes, 100,000 rows; fails if levels are missing or not probabilities."""
    X, y = table(100_000, 10, 1_000)
    start = time.perf_counter()
    model = sureleaf.TreeClassifier(min_samples_leaf=20, **FULL).fit(X, y)
    grown = time.perf_counter() - start
    leaves = model.leaves()
    seconds = time.perf_counter() - start - grown
    sums = model.predict_proba(X[:1000]).sum(axis=1)
    right = bool(
        np.all((leaves.confidence >= 0) & (leaves.confidence <= 1)) and np.allclose(sums, 1)
    )
    n = model.tree_.n_leaves
    return f"fit {grown:.1f} s, levels of {n:,} leaves {seconds:.1f} s", right


def leaves() -> tuple[str, bool]:
    """100,000 leaves: fit, leaf table, save, load, export; fails if loading changes the tree."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400_000, 5)), rng.integers(0, 2, 400_000)
    start = time.perf_counter()
    model = sureleaf.TreeClassifier(min_samples_leaf=1, **FULL).fit(X, y)
    times = {"fit": time.perf_counter() - start}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m"
        work: dict[str, Callable[[], object]] = {
            "leaves": model.leaves,
            "save": lambda: model.save(path),
            "load": lambda: sureleaf.load(path),
            "rules": lambda: sureleaf.export(model, "rules"),
            "SQL": lambda: sureleaf.export(model, "sql"),
        }
        for name, call in work.items():
            start = time.perf_counter()
            call()
            times[name] = time.perf_counter() - start
        same = np.array_equal(sureleaf.load(path).predict_proba(X), model.predict_proba(X))
    text = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in times.items())
    n = model.tree_.n_leaves
    return f"{n:,} leaves: {text}", same and n >= 100_000


def rows() -> tuple[str, bool]:
    """10 million rows x 10 columns; fails above 60 bytes of memory per cell."""
    X, y = table(10_000_000, 10)
    start = time.perf_counter()
    model = sureleaf.TreeClassifier(min_samples_leaf=100, **FULL).fit(X, y)
    grown = time.perf_counter() - start
    start = time.perf_counter()
    model.predict_proba(X)
    predicted = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    per_cell = peak / X.size
    text = f"fit {grown:.0f} s, predict {predicted:.1f} s, peak {peak / 2**30:.1f} GB"
    return f"{text} ({per_cell:.0f} bytes per cell)", per_cell <= 60


def status() -> tuple[str, bool]:
    """The status of a study of 100,000 fits; fails if it takes a second of processor time."""
    import sqlalchemy as sa
    from sklearn.naive_bayes import GaussianNB

    from sureleaf.designs import KFold
    from sureleaf.studies import DataSet, Learner, Store, Study

    X, y = table(100, 2)
    data = [DataSet(f"table {i}", X=X + i, y=y) for i in range(10)]
    learners = [Learner(f"bayes {i}", GaussianNB(var_smoothing=10.0**-i)) for i in range(10)]
    study = Study("large", data, learners, KFold(10, repeats=100))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder + "/study.db")
        store.register(study)
        with store.engine.begin() as connection:
            statement = "UPDATE cells SET state = 'done', seconds = 1.5 WHERE id <= 90000"
            connection.execute(sa.text(statement))
        times = []
        for _ in range(5):
            start = time.process_time()
            found = store.status("large")
            times.append(time.process_time() - start)
        start = time.process_time()
        claim = store.claim(store.study_id("large"), "here:1:2")
        claimed = time.process_time() - start
        store.close()
    right = found.total == 100_000 and found.done == 90_000 and claim is not None
    text = f"{1000 * max(times):.0f} ms; the next fit is claimed in {1000 * claimed:.0f} ms"
    return text, right and max(times) < 1


PARTS: dict[str, Callable[[], tuple[str, bool]]] = {
    part.__name__: part for part in (threads, fits, columns, classes, leaves, rows, status)
}


def main(arguments: list[str]) -> int:
    names = [name for name in arguments if name != RECORD]
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        sys.exit(f"no part {unknown[0]!r}; there are {', '.join(PARTS)}")
    command = " ".join(["python -m benchmarks.load", *names])
    tables = measure(command, run(names or list(PARTS)), is_recorded=RECORD in arguments)
    return 0 if all(row[-1] == "passed" for row in tables[0]["rows"]) else 1


def run(names: list[str]) -> Iterator[Row]:
    """Run each part in a process of its own, so that it has its own peak of memory."""
    program = (
        "import json, sys; from benchmarks.load import PARTS; "
        "print(json.dumps(PARTS[sys.argv[1]]()))"
    )
    for name in names:
        command = [sys.executable, "-W", "ignore", "-c", program, name]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        what, fails = (PARTS[name].__doc__ or "").rstrip(".").split("; ")
        if done.returncode:
            found, is_right = f"ended with {done.returncode}", False
        else:
            found, is_right = json.loads(done.stdout.splitlines()[-1])
        yield Row(
            "",
            {
                "part": what,
                "measured": found,
                "what counts as failure": fails.removeprefix("fails if ").removeprefix("fails "),
                "result": "passed" if is_right else "**failed**",
            },
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
