"""How long a long operation goes on after Ctrl-C: ``python -m benchmarks.interrupts [NAME ...]``.

Every operation is started in a child process and gets SIGINT at random moments. Measured are the
longest time until it stopped and the most processor time that it used meanwhile. More than a second
of processor time or ten seconds in all is a failure (on an idle machine they are the same), and so
is an output file that is not complete. The exit code is 1 if anything failed.
"""

import os
import random
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.running import RECORD, Row, measure

LIMIT = 1.0
LIMIT_ON_A_BUSY_MACHINE = 10.0
TRIES = 3
LONGEST_WAIT = 4.0

TABLE = """
def table(n_rows, n_columns, n_classes=2, noise=1.0):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    bounds = np.linspace(-1, 1, n_classes + 1)[1:-1]
    return X, np.digitize(X[:, 0] + noise * rng.normal(size=n_rows), bounds)
def big_tree(n_leaves):
    X, y = table(3 * n_leaves, 4, noise=100.0)
    return full(min_samples_leaf=1).fit(X, y)
def full(**options):
    return sureleaf.TreeClassifier(pruning=None, levels_from="training", **options)
"""

# name: (preparation, work), in Python
CALLS: dict[str, tuple[str, str]] = {
    "fit of a long table": ("X, y = table(2_000_000, 10)", "full(n_jobs=1).fit(X, y)"),
    "the same, two threads": ("X, y = table(2_000_000, 10)", "full(n_jobs=2).fit(X, y)"),
    "fit of a wide table": ("X, y = table(2_000, 10_000)", "full().fit(X, y)"),
    "fit of texts": (
        "X = np.random.default_rng(0).integers(0, 30, (500_000, 8)).astype(str).astype(object); "
        "y = np.arange(500_000) % 2",
        "full().fit(X, y)",
    ),
    "fit with missing values as fractions": (
        "X, y = table(300_000, 10); X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan",
        "sureleaf.TreeClassifier.c45(levels_from='training').fit(X, y)",
    ),
    "default tree, which chooses its size": (
        "X, y = table(300_000, 20)",
        "sureleaf.TreeClassifier().fit(X, y)",
    ),
    "cross-fitted levels": (
        "X, y = table(300_000, 20); m = sureleaf.TreeClassifier(pruning=None).fit(X, y)",
        "m.levels()",
    ),
    "leaves of 1,000 classes": (
        "X, y = table(60_000, 5, 1000); m = full(min_samples_leaf=50).fit(X, y)",
        "m.leaves()",
    ),
    "class_confidence": (
        "p = np.random.default_rng(0).dirichlet(np.ones(1000), 200); n = np.full(200, 10**6)",
        "sureleaf.levels.class_confidence(n, p)",
    ),
    "class_utility": (
        "p = np.random.default_rng(0).dirichlet(np.ones(1000), 200); n = np.full(200, 10**6)",
        "sureleaf.levels.class_utility(n, p)",
    ),
    "bagged trees": (
        "X, y = table(200_000, 20)",
        "sureleaf.BaggedTreesClassifier(random_state=0).fit(X, y)",
    ),
    "bagged trees, prediction": (
        "X, y = table(50_000, 10); Z = table(3_000_000, 10)[0]; "
        "m = sureleaf.BaggedTreesClassifier(random_state=0).fit(X, y)",
        "m.predict_levels(Z)",
    ),
    "prediction of 3 million rows": (
        "X, y = table(100_000, 10); Z = table(3_000_000, 10)[0]; m = full().fit(X, y)",
        "m.predict_levels(Z)",
    ),
    "evaluate": (
        "X, y = table(100_000, 20)",
        "sureleaf.evaluate(sureleaf.TreeClassifier(), X, y, random_state=0)",
    ),
    "compare": (
        "X, y = table(1_000_000, 2); e = sureleaf.evaluate(GaussianNB(), X, y, random_state=0)",
        "sureleaf.compare(e, e, measure='auc'); e.summary(); e.estimate('nce')",
    ),
    "bootstrap_error": (
        "X, y = table(50_000, 10)",
        "sureleaf.bootstrap_error(sureleaf.TreeClassifier(), X, y, random_state=0)",
    ),
    "learning_curve": (
        "X, y = table(100_000, 10)",
        "sureleaf.learning_curve(sureleaf.TreeClassifier(), X, y, random_state=0)",
    ),
    "rank_columns": ("X, y = table(100_000, 100)", "sureleaf.rank_columns(X, y)"),
    "audit with segments": (
        "X, y = table(300_000, 30); m = full(min_samples_leaf=500).fit(X[:10_000], y[:10_000])",
        "sureleaf.audit(m, X, y).where()",
    ),
    "certificate": (
        "X, y = table(300_000, 10); "
        "m = sureleaf.TreeClassifier(levels_from='honest', pruning=None).fit(X, y)",
        "m.certificate()",
    ),
    "exact bias": ("pass", "sureleaf.levels.sample_size_for_bias((0.5, 0.99), bias=1e-4)"),
    **{
        f"export of 100,000 leaves: {form}": (
            "m = big_tree(100_000)",
            f"sureleaf.export(m, {form!r})",
        )
        for form in ("rules", "json", "sql", "python", "dot", "svg", "onnx")
    },
    "leaves of 100,000 leaves": ("m = big_tree(100_000)", "str(m.leaves())"),
    "saving and loading of 100,000 leaves": (
        "m = big_tree(100_000)",
        "m.save(folder / 'm'); sureleaf.load(folder / 'm')",
    ),
}

# name: the arguments of the command line; {in} is the folder of the inputs, {out} an empty one
COMMANDS: dict[str, list[str]] = {
    "sureleaf fit, CSV": ["fit", "{in}/rows.csv", "--target", "class", "-o", "{out}/m"],
    "sureleaf fit, Parquet": ["fit", "{in}/rows.parquet", "--target", "class", "-o", "{out}/m"],
    "sureleaf predict, CSV": ["predict", "{in}/model", "{in}/rows.csv", "-o", "{out}/p.csv"],
    "sureleaf predict, Parquet": [
        "predict", "{in}/model", "{in}/rows.parquet", "-o", "{out}/p.parquet",
    ],
    "sureleaf report": ["report", "{in}/rows.parquet", "--target", "class", "-o", "{out}/r.html"],
    "sureleaf leaves": ["leaves", "{in}/rows.csv", "--target", "class"],
    "sureleaf evaluate": ["evaluate", "{in}/rows.parquet", "--target", "class"],
    "sureleaf curve": ["curve", "{in}/rows.parquet", "--target", "class"],
    "sureleaf rank": ["rank", "{in}/rows.parquet", "--target", "class"],
    "sureleaf certificate": ["certificate", "{in}/rows.parquet", "--target", "class"],
    "sureleaf audit --where": [
        "audit", "{in}/model", "{in}/rows.parquet", "--target", "class", "--where",
        "-o", "{out}/a.html",
    ],
    "sureleaf export": ["export", "{in}/big", "--to", "sql", "-o", "{out}/big.sql"],
    "sureleaf reproduce": ["reproduce", "zhang2024"],
    "sureleaf study run": ["study", "run", "{in}/study.toml", "--store", "{out}/study.db"],
}  # fmt: skip

CHILD = (
    """
import pathlib, sys, tempfile, warnings
import numpy as np, sureleaf
from sklearn.naive_bayes import GaussianNB
warnings.simplefilter("ignore")
folder = pathlib.Path(tempfile.mkdtemp())
"""
    + TABLE
    + """
PREPARATION
def work():
    WORK
for _ in sys.stdin:
    try:
        print("begun", flush=True)
        work()
        print("done", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
)


STUDY = """
[[data]]
name = "rows"
path = "rows.parquet"
target = "class"
[[learners]]
name = "tree"
model = "TreeClassifier"
"""

INPUTS = (
    """
import pathlib, sys
import numpy as np, pyarrow as pa, sureleaf
from pyarrow import csv, parquet
"""
    + TABLE
    + """
folder = pathlib.Path(sys.argv[1])
X, y = table(1_000_000, 10)
words = np.array(["red", "green", "blue"])[np.arange(len(X)) % 3]
rows = pa.table({f"c{j}": X[:, j] for j in range(10)} | {"colour": words})
rows = rows.append_column("class", pa.array(np.array(["no", "yes"])[y]))
parquet.write_table(rows, folder / "rows.parquet", row_group_size=100_000)
csv.write_csv(rows, folder / "rows.csv")
some = rows.slice(0, 20_000)
sureleaf.TreeClassifier().fit(some.drop_columns(["class"]), some["class"]).save(folder / "model")
big_tree(100_000).save(folder / "big")
"""
)


def main(arguments: list[str]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    names = [name for name in arguments if name != RECORD]
    known = [*CALLS, *COMMANDS]
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"no operation {unknown[0]!r}; there are: {', '.join(known)}")
    command = " ".join(["python -m benchmarks.interrupts", *map(shlex.quote, names)])
    tables = measure(command, run(names or known), is_recorded=RECORD in arguments)
    return 0 if all(row[-1] == "passed" for row in tables[0]["rows"]) else 1


def run(names: list[str]) -> Iterator[Row]:
    moments = random.Random(0)
    for name in CALLS:
        if name in names:
            yield _row(name, _interrupt_call(name, moments))
    commands = [name for name in COMMANDS if name in names]
    if commands:
        with tempfile.TemporaryDirectory() as folder:
            inputs = Path(folder)
            (inputs / "study.toml").write_text(STUDY)
            subprocess.run([sys.executable, "-W", "ignore", "-c", INPUTS, folder], check=True)
            for name in commands:
                yield _row(name, _interrupt_command(name, inputs, moments))


@dataclass
class Outcome:
    """What happened after the interrupts of one operation."""

    seconds: list[float] = field(default_factory=list)
    processor_seconds: list[float] = field(default_factory=list)
    n_ended: int = 0
    problem: str = ""


class Stopwatch:
    """The time and the processor time of a child since now."""

    def __init__(self, pid: int) -> None:
        self._pid, self._start, self._used = pid, time.perf_counter(), _processor_seconds(pid)

    def stop(self, outcome: Outcome, used: float | None = None) -> None:
        outcome.seconds.append(time.perf_counter() - self._start)
        now = _processor_seconds(self._pid) if used is None else used
        # What workers of the child used before counts when they end; since then, no more than this.
        most = (time.perf_counter() - self._start) * (os.cpu_count() or 1)
        outcome.processor_seconds.append(min(now - self._used, most))


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _row(name: str, outcome: Outcome) -> Row:
    used, longest = (max(v, default=0.0) for v in (outcome.processor_seconds, outcome.seconds))
    is_right = not outcome.problem and used <= LIMIT and longest <= LIMIT_ON_A_BUSY_MACHINE
    return Row(
        "",
        {
            "operation": name,
            "interrupts": str(len(outcome.seconds)),
            "ended before": str(outcome.n_ended),
            "longest time": f"{longest:.2f} s",
            "longest processor time": f"{used:.2f} s",
            "result": "passed" if is_right else f"**failed** {outcome.problem}".strip(),
        },
    )


def _interrupt_call(name: str, moments: random.Random) -> Outcome:
    """Interrupt a call of Python."""
    preparation, work = CALLS[name]
    program = CHILD.replace("PREPARATION", preparation).replace("WORK", work)
    outcome = Outcome()
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as child:
        try:
            for _ in range(TRIES):
                child.stdin.write("go\n")
                if child.stdout.readline() != "begun\n":
                    outcome.problem = "the call was not begun"
                    break
                wait = LONGEST_WAIT * moments.random() ** 2
                if select.select([child.stdout], [], [], wait)[0]:
                    outcome.n_ended += child.stdout.readline() == "done\n"
                    continue
                watch = Stopwatch(child.pid)
                child.send_signal(signal.SIGINT)
                answer = child.stdout.readline()
                if answer not in ("interrupted\n", "done\n"):
                    outcome.problem = f"it ended ({child.wait()})"
                    break
                watch.stop(outcome)
        finally:
            child.kill()
    return outcome


def _interrupt_command(name: str, inputs: Path, moments: random.Random) -> Outcome:
    """Interrupt a command, as Ctrl-C does; what it wrote must be complete or absent."""
    outcome = Outcome()
    for _ in range(TRIES):
        if outcome.problem:
            break
        with tempfile.TemporaryDirectory() as out:
            _interrupt_once(name, inputs, out, moments, outcome)
    return outcome


def _interrupt_once(
    name: str, inputs: Path, out: str, moments: random.Random, outcome: Outcome
) -> None:
    arguments = [part.replace("{in}", str(inputs)).replace("{out}", out) for part in COMMANDS[name]]
    before = _children_seconds()
    child = subprocess.Popen(
        [sys.executable, "-m", "sureleaf", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    try:
        child.wait(0.3 + 2 * LONGEST_WAIT * moments.random() ** 2)
    except subprocess.TimeoutExpired:
        watch = Stopwatch(child.pid)
        os.killpg(child.pid, signal.SIGINT)  # a terminal sends it to all processes
        _, errors = child.communicate()
        watch.stop(outcome, _children_seconds() - before)
        left = [file for file in os.listdir(out) if not file.startswith("study.db")]
        if child.returncode not in (0, INTERRUPTED):
            outcome.problem = f"exit code {child.returncode}: {errors[-300:]}"
        elif child.returncode == INTERRUPTED and left:
            outcome.problem = f"it left {', '.join(left)}"
        return
    outcome.n_ended += 1
    if child.returncode != 0:
        outcome.problem = f"exit code {child.returncode}"


INTERRUPTED = 130


def _children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
