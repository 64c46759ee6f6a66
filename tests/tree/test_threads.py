"""Threads that run out of memory or are interrupted end with an error, never with the process."""

import subprocess
import sys

import numpy as np
import pytest

from sureleaf import _kernel
from sureleaf.table import read_table
from sureleaf.tree import GrowthRules, TrainingRows, grow, thread_map

FULL = GrowthRules(criterion="gini", min_samples_leaf=1)


def noisy_rows(n: int) -> TrainingRows:
    rng = np.random.default_rng(0)
    return TrainingRows(read_table(rng.normal(size=(n, 8))), rng.integers(0, 2, n, np.int32), 2)


# Every limit is tried by a process of its own, which has the sorted table already. What a case
# needs depends on the order of threads, so that some run out of memory in a new thread.
LITTLE_MEMORY = """
import os, resource
import numpy as np
from sureleaf import _kernel
rng = np.random.default_rng(0)
n = 40_000
table = _kernel.make_table([rng.normal(size=n) for _ in range(8)], [-1] * 8, [False] * 8, n)
labels = rng.integers(0, 2, n).astype(np.int32)
config = _kernel.GrowthConfig(criterion="gini", min_samples_leaf=1.0)
presorted = _kernel.presort(table, 1)
with open("/proc/self/status") as status:
    now = next(int(line.split()[1]) for line in status if line.startswith("VmSize")) << 10
endings = []
for megabytes in np.geomspace(0.3, 60, 30):
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (now + int(megabytes * 2**20),) * 2)
        try:
            _kernel.grow(presorted, labels, 2, config, n_threads=8)
        except MemoryError:
            os._exit(3)
        os._exit(0)
    endings.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(sorted(set(endings)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_a_thread_without_memory_raises_memory_error_in_the_caller():
    done = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) in (("[0, 3]\n", ""), ("[3]\n", ""))


def test_threads_stop_what_they_compute_when_the_caller_fails():
    rows = noisy_rows(150_000)
    rows.sort(1)
    flag = _kernel.StopFlag()
    flag.stop()

    def grow_watched(number):
        flag.watch()
        return grow(rows, FULL)

    with pytest.raises(KeyboardInterrupt), thread_map(2) as run:
        list(run(grow_watched, range(4)))


def test_an_error_in_one_thread_is_raised_and_ends_the_others():
    rows = noisy_rows(3_000)

    def grow_or_fail(number):
        if number == 1:
            raise ValueError("the second")
        return grow(rows, FULL).n_leaves

    with pytest.raises(ValueError, match="the second"), thread_map(2) as run:
        list(run(grow_or_fail, range(4)))
    with thread_map(2) as run:
        assert len(set(run(lambda _: grow(rows, FULL).n_leaves, range(3)))) == 1
