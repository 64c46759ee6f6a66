"""A long fit stops at Ctrl-C, one without memory ends in MemoryError; the model stays as it was."""

import os
import signal
import subprocess
import sys
import time

import pytest

needs_posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits are POSIX's")

# The rows alternate between the classes, so that a tree without limits is a chain and takes long.
LONG_FIT = """
import sys, time
import numpy as np
from sureleaf import TreeClassifier
n_rows = 400_000
X = np.arange(float(n_rows))[:, np.newaxis]
y = np.arange(n_rows) % 2
model = TreeClassifier(criterion="gini", min_samples_leaf=1, pruning=None, n_jobs={n_jobs})
model.fit(X[:100], y[:100])
print("ready", flush=True)
try:
    model.fit(X, y)
    print("finished")
except KeyboardInterrupt:
    print("interrupted", model.tree_.n_leaves, model.fit(X[:200], y[:200]).tree_.n_leaves)
"""

SHORT_OF_MEMORY = """
import resource
import numpy as np
from sureleaf import TreeClassifier
X = np.random.default_rng(0).normal(size=(300_000, 10))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
model = {tree}(levels_from="training", n_jobs={n_jobs}).fit(X[:1000], y[:1000])
rules = model.rules()
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {spare} * 2**20,) * 2)
try:
    model.fit(X, y)
    print("finished")
except MemoryError:
    print("MemoryError", model.rules() == rules, model.fit(X[:500], y[:500]).tree_.n_leaves > 1)
"""


@needs_posix
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_stops_a_long_fit_and_leaves_the_model_as_it_was(n_jobs):
    code = LONG_FIT.format(n_jobs=n_jobs)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)  # into the fit
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert said == "interrupted 100 200\n"
    assert time.monotonic() - start < 10  # a second, were the machine ours alone


@needs_posix
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux's /proc")
@pytest.mark.parametrize(
    ("spare", "n_jobs"),
    [(1, 1), (8, 2), *(pytest.param(*one, marks=pytest.mark.slow) for one in [(8, 1), (1, 2)])],
)
def test_a_fit_without_memory_ends_in_memory_error_and_leaves_the_model_as_it_was(spare, n_jobs):
    # A Python thread that gets no memory for its own data ends the process in the C library, so
    # trees that are grown on several threads are those that use the kernel's threads only.
    tree = "TreeClassifier" if n_jobs == 1 else "TreeClassifier.c45"
    code = SHORT_OF_MEMORY.format(spare=spare, n_jobs=n_jobs, tree=tree)
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (said.stdout, said.returncode) == ("MemoryError True True\n", 0), said.stderr


def test_python_may_end_while_a_thread_fits() -> None:
    program = """
import threading, numpy as np
from sureleaf import TreeClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(40_000, 8)), rng.random(40_000) < 0.5
begun = threading.Event()
def fit():
    begun.set()
    while True:
        TreeClassifier(pruning=None, levels_from="training").fit(X, y)
threading.Thread(target=fit, daemon=True).start()
begun.wait()
threading.Event().wait(0.5)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
