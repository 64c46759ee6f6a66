"""The file of a watch: complete, checked, and never overwritten by a second writer."""

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sureleaf import InvalidArgumentError, Watch
from sureleaf.monitoring.watch_state import watching
from tests.monitoring.test_watch import alarms, fitted, table


@pytest.fixture
def state(tmp_path: Path) -> Path:
    path = tmp_path / "watch.json"
    X, y = table(30, 300, shift=0.85)
    labels = [None if k % 5 == 0 else one for k, one in enumerate(y.tolist())]
    Watch(fitted()).add(X, labels, keys=range(300)).save(path)
    return path


def test_a_watch_goes_on_as_if_it_had_never_stopped(tmp_path):
    X, y = table(31, 600, shift=0.7)
    path, unbroken = tmp_path / "watch.json", Watch(fitted())
    Watch(fitted()).save(path)
    for start in range(0, 600, 100):
        part = X[start : start + 100], y[start : start + 100]
        unbroken.add(*part)
        loaded = Watch.load(path)
        loaded.add(*part).save(path)
    assert alarms(Watch.load(path)) == alarms(unbroken)
    assert Watch.load(path).to_dict() == unbroken.to_dict()


def test_a_file_holds_no_cell_and_no_key_of_a_row(tmp_path):
    X, y = table(32, 100)
    path = tmp_path / "watch.json"
    keys = [f"customer {k}" for k in range(100)]
    Watch(fitted()).add(X, y, keys=keys).save(path)
    text = path.read_text()
    assert "customer" not in text
    assert not any(str(x) in text for x in X.ravel())


def test_a_file_that_is_cut_anywhere_is_refused(state):
    whole = state.read_bytes()
    for length in [0, 1, len(whole) // 3, len(whole) - 3]:
        state.write_bytes(whole[:length])
        with pytest.raises(InvalidArgumentError, match="cannot be used"):
            Watch.load(state)


def test_a_file_that_was_changed_is_refused(state):
    document = json.loads(state.read_text())
    document["watch"]["alarms"] = []
    state.write_text(json.dumps(document))
    with pytest.raises(InvalidArgumentError, match="checksum"):
        Watch.load(state)


CHANGES = {
    "fewer rows": lambda w: w["rows"][0].__setitem__(0, 0),
    "a negative count": lambda w: w["leaves"][0][0].__setitem__(0, -1),
    "a fraction": lambda w: w["leaves"][0][0].__setitem__(0, 0.5),
    "another total": lambda w: w["whole"][0].__setitem__(0, 1),
    "other leaves": lambda w: w["leaves"].pop(),
    "no first start": lambda w: w["rows"][1].pop(0),
    "an alarm of another leaf": lambda w: w["alarms"].append(["share", 99, 5, 0]),
    "an alarm of another question": lambda w: w["alarms"].append(["mood", 0, 5, 0]),
    "an alarm of the future": lambda w: w["alarms"].append(["share", 0, 10**6, 0]),
    "an alarm of half a leaf": lambda w: w["alarms"].append(["share", 0.5, 5, 0]),
    "no version": lambda w: w.pop("version"),
    "no alpha": lambda w: w.pop("alpha"),
    "alpha of text": lambda w: w.__setitem__("alpha", "0.05"),
    "another tree": lambda w: w.__setitem__("fingerprint", "0" * 64),
    "a tree that is no tree": lambda w: w.__setitem__("tree", "AAAA"),
    "pending in no leaf": lambda w: w["pending"].__setitem__("key", [99, 1]),
    "history of nothing": lambda w: w["history"].append([5]),
}


@pytest.mark.parametrize("change", [*CHANGES, "a newer version"])
def test_contents_that_contradict_each_other_are_refused_also_with_a_right_checksum(state, change):
    document = json.loads(state.read_text())
    is_newer = change not in CHANGES
    CHANGES.get(change, lambda w: w.__setitem__("version", 99))(document["watch"])
    text = json.dumps(document["watch"], separators=(",", ":"))
    checksum = hashlib.sha256(text.encode()).hexdigest()
    state.write_text(json.dumps({"checksum": checksum, "watch": document["watch"]}))
    with pytest.raises(InvalidArgumentError, match="newer Sureleaf" if is_newer else None):
        Watch.load(state)


def test_the_state_of_another_tree_is_refused(state):
    assert Watch.load(state, fitted()).counts.n_rows == 300
    for other in (fitted(3), fitted().with_cost([[0, 1], [1.01, 0]])):
        with pytest.raises(InvalidArgumentError, match="another one"):
            Watch.load(state, other)


def test_a_missing_file_is_an_error_with_its_name(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"none\.json cannot be read"):
        Watch.load(tmp_path / "none.json")


def test_a_file_that_another_one_has_written_is_not_overwritten(state):
    one, two = Watch.load(state), Watch.load(state)
    one.add(*table(33, 50)).save(state)
    two.add(*table(34, 50))
    with pytest.raises(InvalidArgumentError, match="has changed since"):
        two.save(state)
    with pytest.raises(InvalidArgumentError, match="has changed since"):
        Watch(fitted()).save(state)
    assert Watch.load(state).counts.n_rows == 350
    one.add(*table(35, 50)).save(state)
    assert Watch.load(state).counts.n_rows == 400


def _add(path: Path, seed: int) -> None:
    with watching(path, fitted()) as watch:
        time.sleep(0.05)
        watch.add(*table(seed, 40))


def test_two_processes_at_a_time_lose_nothing(tmp_path):
    path = tmp_path / "watch.json"
    fitted()
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_add, args=(path, 40 + k)) for k in range(3)]
    for one in workers:
        one.start()
    for one in workers:
        one.join(120)
    assert [one.exitcode for one in workers] == [0, 0, 0]
    assert Watch.load(path).counts.n_rows == 120


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_process_that_is_killed_leaves_the_old_state_and_no_lock(tmp_path):
    path = tmp_path / "watch.json"
    tree = tmp_path / "tree.sureleaf"
    fitted().save(tree)
    Watch(fitted()).add(*table(50, 60)).save(path)
    code = (
        "import sys, time, numpy as np, sureleaf\n"
        "from sureleaf.monitoring.watch_state import watching\n"
        f"with watching({str(path)!r}, sureleaf.load({str(tree)!r})) as watch:\n"
        "    watch.add(np.random.default_rng(51).random((60, 2)))\n"
        "    print('counted', flush=True)\n"
        "    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout.readline().strip() == b"counted"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert Watch.load(path).counts.n_rows == 60
    with watching(path, fitted()) as watch:
        watch.add(np.random.default_rng(51).random((60, 2)))
    assert Watch.load(path).counts.n_rows == 120


def test_an_error_while_rows_are_added_keeps_the_old_state(state):
    before = state.read_bytes()

    def add_twice() -> None:
        with watching(state, fitted()) as watch:
            watch.add(*table(33, 50))
            watch.add(np.empty((0, 2)))

    with pytest.raises(InvalidArgumentError):
        add_twice()
    assert state.read_bytes() == before
