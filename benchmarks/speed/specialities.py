"""What each speciality of the kernel is worth: the work with it and without it, in one run.

A speciality is switched off by changing one line of its header in a copy of the sources; the copy
is built and measured in a process of its own, in turn with the kernel as it is. The trees are the
same. A speciality that is worth less than a ratio of 1.3 on work that users do goes.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.running import Row, duration
from benchmarks.speed.clock import shown_ratio

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "cpp" / "include" / "sureleaf"
ROUNDS = 3
ROWS, CLASSES, FLAGS, VALUES, FEW_LEAVES = (
    "full tree, 200,000 x 20",
    "full tree, 5 classes, 100,000 x 20",
    "full tree, 40 flags, 200,000 rows",
    "full tree, 20 columns of 50 values, 200,000 rows",
    "tree of 200 leaves, 20 columns of 50 values, 200,000 rows",
)
SMALL_FOREST, LARGE_FOREST = "forest of 10 trees, 50,000 x 20", "forest of 10 trees, 200,000 x 20"
PREDICTIONS = "predictions of a full tree, 1,000,000 x 20"
MIXED = "the same with 10 columns of categories, and missing values"
WORK = {
    ROWS: "TreeClassifier(**FULL).fit(*table(200_000))",
    CLASSES: "TreeClassifier(**FULL).fit(*table(100_000, 5))",
    FLAGS: "TreeClassifier(**FULL).fit(*flags(200_000))",
    VALUES: "TreeClassifier(**FULL).fit(*coded())",
    FEW_LEAVES: "TreeClassifier(**FULL, max_leaves=200).fit(*coded())",
    SMALL_FOREST: "BaggedTreesClassifier(**FOREST).fit(*table(50_000))",
    LARGE_FOREST: "BaggedTreesClassifier(**FOREST).fit(*table(200_000))",
    PREDICTIONS: "fitted().predict_proba(many())",
    MIXED: "fitted_mixed().predict_proba(many_mixed())",
}
MEASURED = """
import json, sys, time
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sureleaf import BaggedTreesClassifier, TreeClassifier
FULL = dict(criterion="gini", pruning=None, min_samples_leaf=1, leaf_estimate="frequency", n_jobs=1)
FOREST = dict(n_estimators=10, random_state=0, n_jobs=1)
tables = {}
def table(n, k=2):
    if (n, k) not in tables:
        tables[n, k] = make_classification(n, 20, n_informative=10, n_classes=k, random_state=0)
    return tables[n, k]
def flags(n):
    if n not in tables:
        X = (np.random.default_rng(0).random((n, 40)) < 0.3).astype(float)
        tables[n] = X, (X[:, :5].sum(axis=1) > 2) ^ (X[:, 7] > X[:, 8])
    return tables[n]
def coded():
    if "coded" not in tables:
        X, y = table(200_000)
        tables["coded"] = np.round(X * 8).clip(-25, 25), y
    return tables["coded"]
def fitted():
    if "fitted" not in tables:
        tables["fitted"] = TreeClassifier(**FULL).fit(*table(200_000))
    return tables["fitted"]
def many():
    if "many" not in tables:
        tables["many"] = np.tile(table(200_000)[0], (5, 1))
    return tables["many"]
def mixed():
    if "mixed" not in tables:
        X = pd.DataFrame(table(200_000)[0]).add_prefix("x")
        X.iloc[::20, :10] = np.nan
        for column in X.columns[10:]:
            X[column] = pd.qcut(X[column], 8, labels=list("abcdefgh"))
        tables["mixed"] = X
    return tables["mixed"]
def many_mixed():
    if "many mixed" not in tables:
        tables["many mixed"] = pd.concat([mixed()] * 5, ignore_index=True)
    return tables["many mixed"]
def fitted_mixed():
    if "fitted mixed" not in tables:
        tables["fitted mixed"] = TreeClassifier(**FULL).fit(mixed(), table(200_000)[1])
    return tables["fitted mixed"]
seconds = {}
for work, call in json.loads(sys.argv[1]).items():
    eval(call)
    times = []
    for _ in range(3):
        start = time.process_time()
        eval(call)
        times.append(time.process_time() - start)
    seconds[work] = min(times)
print(json.dumps(seconds))
"""


@dataclass(frozen=True)
class Speciality:
    """A header, and the change of one of its lines that switches the speciality off."""

    name: str
    header: str
    line: str
    without: str
    work: tuple[str, ...]
    parts: tuple[tuple[str, str], ...]
    """What would go with it: headers, each with the first line of a class or function, or whole."""


_WHOLE = ""
SPECIALITIES = (
    Speciality(
        "bounds of blocks, two classes",
        "block_scan.hpp",
        "if (n <= 2 * least_block) {",
        "if (n > 0) {",
        (ROWS,),
        (("block_scan.hpp", "class BlockScan {"),),
    ),
    Speciality(
        "bounds of blocks, gini of up to eight classes",
        "best_split.hpp",
        "if (GiniBlockScan<Entry>::pays(list.size(), known.size()))",
        "if (list.empty())",
        (CLASSES,),
        (("block_scan.hpp", "class GiniBlockScan {"),),
    ),
    Speciality(
        "counts of flags as vectors",
        "histogram.hpp",
        "totals.flags_are_counted = totals.whole &&",
        "totals.flags_are_counted = false && totals.whole &&",
        (FLAGS,),
        (
            ("histogram.hpp", "bool passes_flags_down("),
            ("histogram.hpp", "std::vector<std::int64_t> count_flags_around("),
            ("histogram.hpp", "void count_flags("),
            ("histogram.hpp", "void add_flags("),
            ("histogram.hpp", "Histogram<Weight> flag_histogram("),
        ),
    ),
    Speciality(
        "histogram of the largest child from that of its parent",
        "histogram.hpp",
        "if (branches.empty()) return;",
        "if (task.n > 0) return;",
        (VALUES, FEW_LEAVES, FLAGS),
        (
            ("histogram.hpp", "bool passes_down("),
            ("histogram.hpp", "void pass_down("),
            ("histogram.hpp", "std::vector<std::int64_t> count_around("),
        ),
    ),
    Speciality(
        "search by buckets",
        "best_split.hpp",
        "return growth_.shared_ranks != nullptr && task.n >= least_bucket_rows &&",
        "return false && growth_.shared_ranks != nullptr && task.n >= least_bucket_rows &&",
        (SMALL_FOREST, LARGE_FOREST),
        (("bucket_search.hpp", _WHOLE),),
    ),
    Speciality(
        "nodes that sort their rows, with the search by buckets",
        "growth.hpp",
        "return draws_few && n_classes == 2",
        "return false && draws_few && n_classes == 2",
        (SMALL_FOREST, LARGE_FOREST),
        (("node_sorter.hpp", _WHOLE), ("bucket_search.hpp", _WHOLE)),
    ),
    Speciality(
        "numbers of one type routed together",
        "route.hpp",
        "if (PackedNodes::pays(tree, table) && tests_equal_numbers(tree, table)) {",
        "if (table.n_rows == 0) {",
        (PREDICTIONS,),
        (("route.hpp", "class NumericRouter {"),),
    ),
    Speciality(
        "trees packed for predictions of many rows",
        "route.hpp",
        "if (!packed) return route_one_by_one(",
        "if (table.n_rows > 0) return route_one_by_one(",
        (MIXED,),
        (("packed_tree.hpp", _WHOLE),),
    ),
)


def run() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        usual = build(Path(folder) / "usual", None)
        for number, speciality in enumerate(SPECIALITIES):
            without = build(Path(folder) / str(number), speciality)
            works = speciality.work
            times = [(measure(usual, works), measure(without, works)) for _ in range(ROUNDS)]
            for work in works:
                fast, slow = (min(time[side][work] for time in times) for side in (0, 1))
                yield row(speciality, work, fast, slow)


def row(speciality: Speciality, work: str, fast: float, slow: float) -> Row:
    n_lines = sum(line_count(header, first) for header, first in speciality.parts)
    return Row(
        "Processor time with and without each speciality",
        {
            "speciality": speciality.name,
            "work": work,
            "with": duration(fast),
            "without": duration(slow),
            "ratio": shown_ratio(slow / fast),
            "lines of C++": f"{n_lines:,}",
        },
    )


def line_count(header: str, first: str) -> int:
    """Return the lines of a header, or of the class or function in it that begins like this."""
    lines = (HEADERS / header).read_text(encoding="utf-8").splitlines()
    if first == _WHOLE:
        return len(lines)
    (begin,) = (n for n, line in enumerate(lines) if line.strip().startswith(first))
    indent = lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]
    ends = (n for n in range(begin, len(lines)) if lines[n] in (f"{indent}}}", f"{indent}}};"))
    return next(ends) - begin + 1


def build(folder: Path, speciality: Speciality | None) -> Path:
    """Build the package from a copy of the sources and return the folder it is installed in."""
    source, target = folder / "source", folder / "installed"
    source.mkdir(parents=True)
    for name in ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("src", "cpp"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("*.so"))
    if speciality is not None:
        header = source / HEADERS.relative_to(ROOT) / speciality.header
        text = header.read_text(encoding="utf-8")
        if text.count(speciality.line) != 1:
            raise ValueError(f"{speciality.header} must have one line {speciality.line!r}")
        header.write_text(text.replace(speciality.line, speciality.without), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "-qq", "install", "--no-build-isolation", "--no-deps"]
    subprocess.run([*pip, "--target", str(target), str(source)], check=True)
    return target


def measure(installed: Path, works: tuple[str, ...]) -> dict[str, float]:
    """Return the seconds of each work with the package that is installed there."""
    command = [
        sys.executable,
        "-S",
        "-c",
        MEASURED,
        json.dumps({work: WORK[work] for work in works}),
    ]
    # Without site, whose editable install would come first.
    path = os.pathsep.join([str(installed), *(one for one in sys.path if "site-packages" in one)])
    environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    times: dict[str, float] = json.loads(done.stdout)
    return times
