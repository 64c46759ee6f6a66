"""A study gives the same bits however it is interrupted, and failures are results."""

import contextlib
import itertools
import json
import os
import random
import re
import resource
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from sklearn.svm import LinearSVC

from sureleaf import InvalidArgumentError, TreeClassifier, evaluate
from sureleaf.designs import Holdout, KFold
from sureleaf.studies import (
    DataSet,
    Learner,
    Limits,
    Store,
    StoreError,
    Study,
    StudyResults,
    read_study,
    run,
    verify,
    worker,
)
from sureleaf.studies.results import study_document
from sureleaf.studies.worker import Calculator, begin, work
from tests.cli.command import sureleaf
from tests.exports.databases import postgresql_server
from tests.studies.checksums import sealed
from tests.studies.learners import Crashes, Hangs, Hoards, Raises, Shares


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no")


def small_study(**changes) -> Study:
    X, y = rows()
    parts = {
        "name": "small",
        "data": [DataSet("first", X=X, y=y), DataSet("second", X=X[:40], y=y[:40])],
        "learners": [
            Learner("shares", Shares()),
            Learner("tree", TreeClassifier(max_leaves=3, n_jobs=1)),
        ],
        "design": KFold(3),
    }
    return Study(**(parts | changes))


def one_table(n=60, **changes) -> Study:
    """A study of one table and, by default, of one split."""
    X, y = rows(n)
    return small_study(**{"data": [DataSet("first", X=X, y=y)], "design": Holdout(), **changes})


def bits(store: Store, name: str) -> dict[str, tuple]:
    return {one.cell.key: store.raw(one.cell_id) for one in store.done(store.study_id(name))}


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Study, Store]:
    study, store = small_study(), Store(tmp_path_factory.mktemp("study") / "whole.db")
    work(study, store, store.register(study))
    return study, store


def copied(store: Store, path: Path) -> Store:
    """Return a store with the same rows, so that they may be changed."""
    with sqlite3.connect(store.engine.url.database) as source, sqlite3.connect(path) as copy:
        source.backup(copy)
    source.close()
    copy.close()
    return Store(path)


def test_all_cells_are_computed_and_kept(finished):
    _, store = finished
    status = store.status("small")
    assert (status.done, status.total, status.failed) == (12, 12, 0)
    assert status.seconds_left == 0
    results = StudyResults(store)
    assert (results.data, results.learners) == (("first", "second"), ("shares", "tree"))
    found = results.evaluation("first", "tree")
    assert sorted(found.row.tolist()) == list(range(60))
    assert results.cost("first", "tree").model_bytes > 100


def test_a_learner_with_a_seed_of_its_own_is_evaluated_as_by_evaluate():
    X, y = rows()
    tree = TreeClassifier.c45(random_state=3, n_jobs=1)
    study = one_table(learners=[Learner("tree", tree)], design=KFold(3))
    seed = study.definition.split_seed(study.data[0].name)
    whole = evaluate(tree, X, y, design=KFold(3), random_state=seed)
    for cell in study.cells():
        found = Calculator(study).compute(cell)
        of_cell = whole.split == cell.split
        np.testing.assert_array_equal(found.rows, whole.row[of_cell])
        np.testing.assert_array_equal(found.probabilities, whole.probabilities[of_cell])


def test_seeds_come_from_keys_so_that_order_does_not_matter(finished):
    study, store = finished
    cells = list(study.cells())
    assert len({cell.key for cell in cells}) == len(cells)
    stored = bits(store, "small")
    for cell in random.Random(0).sample(cells, len(cells)):
        outcome = Calculator(study).compute(cell)
        assert stored[cell.key][2] == outcome.probabilities.tobytes()


def test_two_workers_give_the_same_bits_as_one(finished, tmp_path):
    study, whole = finished
    store = Store(tmp_path / "two.db")
    assert run(study, store, n_jobs=2).done == 12
    assert bits(store, "small") == bits(whole, "small")


def test_a_study_in_a_store_is_not_computed_again(finished):
    study, store = finished
    before = bits(store, "small")
    assert run(study, store).done == 12
    assert bits(store, "small") == before


def test_verify_finds_a_changed_bit(finished, tmp_path):
    study, whole = finished
    store = copied(whole, tmp_path / "changed.db")
    assert verify(study, store, sample=100) == []
    with store.engine.begin() as connection:
        raw = connection.execute(sa.text("SELECT probabilities FROM predictions")).scalar()
        changed = bytes([raw[0] ^ 1]) + raw[1:]
        connection.execute(
            sa.text("UPDATE predictions SET probabilities = :b WHERE cell_id = 1"), {"b": changed}
        )
    assert [cell.split for cell in verify(study, store, sample=100)] == [0]


def test_learners_that_fail_in_every_way_are_outcomes(tmp_path):
    kinds = (Raises, Hangs, Crashes, Hoards, Shares)
    learners = [Learner(kind.__name__.lower(), kind()) for kind in kinds]
    study = one_table(learners=learners, limits=Limits(seconds=2.5, memory_mb=500))
    store = Store(tmp_path / "failing.db")
    work(study, store, store.register(study))
    reasons = {one.learner: one.reason for one in StudyResults(store).failures()}
    assert reasons["raises"] == "RuntimeError: no luck today"
    assert "more than the limit of 2.5 seconds" in reasons["hangs"]
    assert reasons["crashes"] == "the process of the learner ended (signal 11)"
    assert "MemoryError" in reasons["hoards"]
    assert "shares" not in reasons
    results = StudyResults(store)
    assert results.evaluation("first", "raises") is None
    assert results.evaluation("first", "shares").estimate("accuracy").value > 0


@pytest.mark.usefixtures("users_processes")
def test_a_crash_of_a_users_process_is_an_outcome(tmp_path):
    study = one_table(learners=[Learner("crashes", Crashes())])
    store = Store(tmp_path / "crashing.db")
    work(study, store, store.register(study))
    reasons = [one.reason for one in StudyResults(store).failures()]
    assert reasons == ["the process of the learner ended (signal 11)"]


# ---- interruptions -------------------------------------------------------------------------------

# Starts a worker for every line that it reads: what takes long, its imports, is done once. The
# processes of the workers are forked, too, so that the moments fall into all parts of the work.
PROGRAM = """
import multiprocessing, os, sys
from sureleaf.studies import Store, worker
from sureleaf.studies.worker import begin, work
worker._PROCESSES = multiprocessing.get_context("fork")
from tests.studies.test_studies import killable_study
study = killable_study()
for url in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        store = Store(url.strip(), lease=2.0)
        work(study, store, begin(study, store))
        os._exit(0)
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("ended", flush=True)
"""


def killable_study() -> Study:
    learners = [Learner("shares", Shares(pause=0.05))]
    return one_table(30, name="killed", learners=learners, design=KFold(15))


def n_done(store: Store) -> int:
    return store.status("killed").done if store.names() else 0


def wait_for_a_cell(store: Store, worker: int) -> None:
    before = n_done(store)
    while n_done(store) == before and Path(f"/proc/{worker}/exe").exists():
        time.sleep(0.02)


def kill_and_resume(new_store, n_kills: int, seed: int) -> list[Store]:
    """Kill workers at random moments; a study that is complete is followed by a new one.

    Returns the stores of all studies, which are complete. A worker that ends by itself is not
    counted as killed.
    """
    moments = random.Random(seed)
    stores, kills = [Store(new_store())], 0
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as starter:
        while True:
            starter.stdin.write(stores[-1].url + "\n")
            worker = int(starter.stdout.readline())
            if kills < n_kills:
                if moments.random() < 0.5:
                    time.sleep(moments.uniform(0.0, 1.5))
                else:  # while the worker computes cells, however long it takes to begin
                    wait_for_a_cell(stores[-1], worker)
                    time.sleep(moments.uniform(0.0, 0.3))
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(worker, signal.SIGKILL)
            assert starter.stdout.readline() == "ended\n"
            if n_done(stores[-1]) < 15:
                kills += 1
            elif kills < n_kills:
                stores.append(Store(new_store()))
            else:
                break
        starter.stdin.close()
    return stores


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory) -> dict[str, tuple]:
    study, store = killable_study(), Store(tmp_path_factory.mktemp("study") / "unbroken.db")
    work(study, store, store.register(study))
    return bits(store, "killed")


def test_a_study_killed_at_random_moments_equals_an_unbroken_one(unbroken, tmp_path):
    from tests.long_runs import LONG

    numbers = itertools.count()
    stores = kill_and_resume(
        lambda: f"sqlite:///{tmp_path / f'{next(numbers)}.db'}", 200 if LONG else 3, 0
    )
    for store in stores:
        assert store.status("killed").done == 15
        assert bits(store, "killed") == unbroken


def test_the_cell_of_a_dead_worker_is_open_again_after_its_lease(tmp_path):
    study = killable_study()
    store = Store(tmp_path / "lease.db", lease=0.01)
    study_id = store.register(study)
    first = store.claim(study_id, "elsewhere:1:5")
    time.sleep(0.05)
    second = store.claim(study_id, "other:1:5")
    assert second.cell == first.cell
    outcome = Calculator(study).compute(first.cell)
    assert not store.finish(first, "elsewhere:1:5", outcome)
    assert not store.renew(first, "elsewhere:1:5")
    assert store.finish(second, "other:1:5", outcome)


def test_a_cell_whose_workers_die_again_and_again_is_a_failure(tmp_path):
    store = Store(tmp_path / "deadly.db", lease=-1.0)
    study_id = store.register(killable_study())
    cells = [store.claim(study_id, f"elsewhere:{i}:5").cell.split for i in range(4)]
    assert cells == [0, 0, 0, 1]
    assert store.failures(study_id)[0].reason == "its worker died 3 times"


# ---- bad input -----------------------------------------------------------------------------------


def test_a_changed_data_set_and_another_study_of_the_name_are_errors(finished):
    _, store = finished
    X, y = rows(seed=1)
    data = [DataSet("first", X=X, y=y), small_study().data[1]]
    with pytest.raises(InvalidArgumentError, match="'first' has changed since the study 'small'"):
        run(small_study(data=data), store)
    with pytest.raises(InvalidArgumentError, match=r"another study of the name .* its design"):
        run(small_study(design=KFold(4)), store)


def test_a_store_of_a_newer_version_is_refused(finished, tmp_path):
    _, whole = finished
    path = tmp_path / "versions.db"
    store = copied(whole, path)
    with store.engine.begin() as connection:
        connection.execute(sa.text("UPDATE sureleaf_studies SET version = 99"))
    store.close()
    with pytest.raises(StoreError, match="has version 99, and this Sureleaf reads version 1"):
        Store(path)


def changed(store: Store, path: Path, *statements: str, values=()) -> None:
    """Make a copy of a store and change it."""
    copied(store, path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement, values)


DAMAGE = [
    ("sureleaf_studies", "version", "two"),
    ("sureleaf_studies", "version", -3),
    ("studies", "options", "[" * 3000),
    ("studies", "options", '{"measures": ["accuracy"], "margin": "x"}'),
    ("studies", "options", '{"measures": ["accuracy"], "margin": NaN}'),
    ("studies", "options", '{"measures": "accuracy", "margin": 0.01}'),
    ("studies", "options", '{"measures": [], "margin": 0.01}'),
    ("studies", "definition", "{}"),
    ("data_sets", "facts", "{}"),
    ("data_sets", "facts", '{"classes": ["a", "a"], "positive": 0}'),
    ("data_sets", "facts", '{"classes": ["a", "b"], "positive": 9}'),
    ("data_sets", "truth", b"\xff" * 480),
    ("data_sets", "truth", (2**62).to_bytes(8, "little") * 60),
    ("data_sets", "truth", b""),
    ("data_sets", "weights", b"\xff" * 480),
    ("data_sets", "groups", b"\x7f" * 480),
    ("cells", "seconds", 1e999),
    ("cells", "seconds", "long"),
    ("cells", "model_bytes", "many"),
    ("cells", "split", -1),
    ("cells", "split", 10**12),
    ("cells", "key", "00"),
    ("predictions", "rows", b"\xff" * 160),
    ("predictions", "rows", b"\0" * 160),
    ("predictions", "rows", b"\0" * 8),
    ("predictions", "classes", b"\xff" * 80),
    ("predictions", "probabilities", b"\x7f" * 320),
    ("predictions", "probabilities", b"\0" * 24),
    ("predictions", "probabilities", "text"),
]


@pytest.mark.parametrize("is_sealed", [False, True])
@pytest.mark.parametrize(("table", "column", "value"), DAMAGE)
def test_a_store_with_other_contents_than_a_study_writes_is_named(
    finished, tmp_path, table, column, value, is_sealed
):
    path = tmp_path / "changed.db"
    where = " WHERE split = 0" if column == "split" else ""
    changed(finished[1], path, f"UPDATE {table} SET {column} = ?{where}", values=[value])
    if is_sealed and (column, value) != ("definition", "{}"):
        sealed(path)
    with pytest.raises(StoreError, match=r"The store .*changed.db is damaged: .* Restore it from"):
        study_document(StudyResults(Store(path)))


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM data_sets",
        "INSERT INTO sureleaf_studies VALUES (1)",
        "DELETE FROM cells WHERE id = 2",
        "DELETE FROM cells WHERE learner = 'tree' AND data = 'first'",
        "DELETE FROM predictions WHERE cell_id = 2",
        "UPDATE cells SET state = 'failed', failure = 'no luck' WHERE id = 2",
        "UPDATE predictions SET classes = (SELECT classes FROM predictions WHERE cell_id = 5) "
        "WHERE cell_id = 4",
        "UPDATE data_sets SET truth = (SELECT truth FROM data_sets WHERE name = 'second')",
        "UPDATE studies SET options = replace(options, '0.01', '0.5')",
        "UPDATE studies SET definition = replace(definition, 'shares', 'trees')",
    ],
)
def test_a_store_without_a_row_or_with_one_of_another_study_is_named(finished, tmp_path, change):
    path = tmp_path / "changed.db"
    changed(finished[1], path, change)
    with pytest.raises(StoreError, match=r"changed.db is damaged: .* cannot be read"):
        study_document(StudyResults(Store(path)))


def test_what_is_not_a_store_is_neither_made_nor_changed(tmp_path):
    typo, foreign, empty = (tmp_path / name for name in ("typo.db", "foreign.db", "empty.db"))
    with pytest.raises(StoreError, match=r"typo.db does not exist: nothing was begun\. Begin with"):
        Store(typo, create=False)
    assert not typo.exists()
    empty.touch()
    with pytest.raises(StoreError, match=r"empty.db does not exist: nothing was begun"):
        Store(empty, create=False)
    assert empty.read_bytes() == b""
    text = tmp_path / "notes.txt"
    text.write_text("no database")
    for create in (False, True):
        with pytest.raises(StoreError, match="is a file, but not a database of SQLite"):
            Store(text, create=create)
    with contextlib.closing(sqlite3.connect(foreign)) as connection, connection:
        connection.execute("CREATE TABLE people (name)")
    before = foreign.read_bytes()
    for create in (False, True):
        with pytest.raises(StoreError, match="is a database of another program, with the table"):
            Store(foreign, create=create)
    assert foreign.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if "-" in path.name] == []


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_store(request, tmp_path):
    """The URL of a store that is not there yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new.db'}"
    return request.getfixturevalue("postgresql")


def test_an_error_with_any_text_is_an_outcome(empty_store):
    texts = ["NUL \0 in it", "half \ud800 of a character", "\x1b[2J"]
    learners = [Learner(f"raises {i}", Raises(text=text)) for i, text in enumerate(texts)]
    study, store = one_table(learners=learners), Store(empty_store)
    assert run(study, store).failed == 3
    reasons = [one.reason for one in StudyResults(store).failures()]
    assert reasons == [
        r"RuntimeError: NUL \x00 in it",
        r"RuntimeError: half \ud800 of a character",
        r"RuntimeError: \x1b[2J",
    ]
    store.close()


def test_studies_that_are_begun_at_the_same_time_are_one(empty_store):
    study = killable_study()
    ready = threading.Barrier(6)

    def run_one(_):
        ready.wait()
        store = Store(empty_store)
        try:
            return begin(study, store), work(study, store, begin(study, store))
        finally:
            store.close()

    with ThreadPoolExecutor(6) as pool:
        assert len({number for number, _ in pool.map(run_one, range(6))}) == 1
    store = Store(empty_store, create=False)
    assert store.status("killed").done == 15
    store.close()


def test_a_study_whose_learners_cannot_be_made_is_refused_with_all_reasons(tmp_path):
    learners = [
        Learner("works", "TreeClassifier(max_leaves=2)"),
        Learner("typo", "TreeClassifier(max_leavs=2)"),
        Learner("unknown", "sklearn.nothing.Nope"),
        Learner("text", "sklearn.svm.LinearSVC"),
    ]
    store = Store(tmp_path / "study.db")
    with pytest.raises(InvalidArgumentError, match="cannot run, and was not begun: ") as caught:
        run(small_study(learners=learners), store)
    assert all(f"learner {name!r}: " in str(caught.value) for name in ("typo", "unknown", "text"))
    assert "works" not in str(caught.value)
    assert store.names() == []


def test_parameters_that_fit_no_row_of_a_data_set_are_refused_before_a_store_is_made(tmp_path):
    with (tmp_path / "rows.csv").open("w") as file:
        file.write("size,class\n" + "".join(f"{i},{'ab'[i // 40]}\n" for i in range(80)))
    models = {
        "size": "TreeClassifier(max_leaves=-1)",
        "criterion": "TreeClassifier(criterion='nope')",
        "column": "TreeClassifier(monotone={'nope': 1})",
        "cost": "TreeClassifier(cost=[[0, 1, 2], [1, 0, 2], [1, 1, 0]])",
        "bag": "BaggedTreesClassifier(n_estimators=0)",
        "other library": "sklearn.svm.SVC(C=-1)",
        "regressor": "sklearn.linear_model.LinearRegression()",
        "works": "TreeClassifier(max_leaves=2)",
    }
    text = '[[data]]\npath = "rows.csv"\ntarget = "class"\n'
    text += "".join(
        f'[[learners]]\nname = "{name}"\nmodel = "{model}"\n' for name, model in models.items()
    )
    (tmp_path / "s.toml").write_text(text)
    done = sureleaf("study", "run", str(tmp_path / "s.toml"))
    assert done.returncode == 2
    assert not (tmp_path / "s.db").exists()
    refused = re.findall(r"learner '(.*?)'", done.stderr)
    assert refused == [name for name in models if name != "works"]


def test_a_measure_that_a_learner_does_not_have_is_missing_with_its_reason(tmp_path):
    learners = [Learner("tree", "TreeClassifier"), Learner("svm", LinearSVC())]
    study = small_study(learners=learners, measures=["nce", "accuracy"])
    store = Store(tmp_path / "study.db")
    run(study, store)
    by_nce, by_accuracy = study_document(StudyResults(store)).measures
    assert [one is None for one in by_nce.rows[0].estimates] == [False, True]
    assert [one.learner for one in by_nce.undefined] == ["svm", "svm"]
    assert "nce needs probabilities" in by_nce.undefined[0].reason
    assert by_accuracy.undefined == ()


def test_the_name_of_a_worker_that_nobody_has_written_is_not_dead(tmp_path):
    store, study = Store(tmp_path / "names.db"), killable_study()
    study_id = store.register(study)
    for name in ("", "a", "a:b", f"{socket.gethostname()}:x:1", "é:²:3"):
        store.claim(study_id, name)
    assert store.release_dead(study_id) == 0


def test_labels_that_a_store_cannot_keep_are_named(tmp_path):
    X, y = rows()
    days = np.where(y == "yes", "2024-01-01", "2024-01-02").astype("M8[D]")
    study = small_study(data=[DataSet("days", X=X, y=days)])
    with pytest.raises(InvalidArgumentError, match="must be text, numbers or bools; got 202"):
        Store(tmp_path / "days.db").register(study)


def test_a_design_that_needs_more_rows_is_refused_before_cells_are_made(tmp_path):
    study = small_study(design=KFold(10**11, stratified=False))
    with pytest.raises(InvalidArgumentError, match="folds needs at least 100000000000 rows"):
        Store(tmp_path / "many.db").register(study)


def test_a_read_only_store_and_a_bad_url_are_named(tmp_path):
    with pytest.raises(StoreError, match="failed: unable to open database file"):
        Store(tmp_path / "missing" / "study.db")
    with pytest.raises(StoreError, match="--store must be the URL of a database"):
        Store("nosuchdatabase://here")


def test_a_store_that_cannot_be_written_is_read_and_named(tmp_path):
    study, path = killable_study(), tmp_path / "read-only.db"
    store = Store(path)
    store.register(study)
    store.close()
    read_only = Store(f"sqlite:///file:{path}?mode=ro&uri=true")
    assert read_only.status("killed").open == 15
    with pytest.raises(StoreError, match="failed: attempt to write a readonly database"):
        run(study, read_only)


def test_a_full_disk_is_an_error_and_the_study_resumes(unbroken, tmp_path):
    path = tmp_path / "full.db"
    store, study = Store(path), killable_study()
    study_id = begin(study, store)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (120_000, before[1]))
    try:
        with pytest.raises(StoreError, match="What was complete is kept: correct the cause"):
            work(study, store, study_id)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert 0 < store.status("killed").done < 15
    work(study, store, begin(study, store))
    assert bits(store, "killed") == unbroken


def test_a_study_file_is_read_with_its_data(tmp_path):
    X, y = rows(30)
    lines = [",".join([*map(str, x), label]) for x, label in zip(X, y, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,class", *lines, ""]))
    (tmp_path / "study.toml").write_text(
        'measures = ["accuracy", "nce"]\nseed = 3\n'
        'design = { design = "KFold", n_splits = 2 }\n'
        "[limits]\nseconds = 20\n"
        '[[data]]\nname = "rows"\npath = "rows.csv"\ntarget = "class"\ndrop = ["c"]\n'
        '[[learners]]\nname = "tree"\nmodel = "TreeClassifier(max_leaves=2)"\n'
        '[[learners]]\nname = "bayes"\nmodel = "sklearn.naive_bayes.GaussianNB"\n'
        '[[learners]]\nname = "bags"\nbagged = 2\ntree = ["c45", "pruning=none"]\n'
    )
    study = read_study(tmp_path / "study.toml")
    store = Store(tmp_path / "study.db")
    work(study, store, store.register(study))
    assert store.status("study").done == 6
    assert study.learners[2].model.estimator.pruning is None
    results = StudyResults(store)
    assert results.measures == ("accuracy", "nce")
    assert results.evaluation("rows", "bayes").estimate("nce").value > 0


PARTS = "[[data]]\npath='a'\ntarget='b'\n[[learners]]\nname='a'\nmodel='b'"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not a TOML file"),
        (f"seed = nan\n{PARTS}", "study.toml: seed must be a whole number; got nan"),
        (f"margin = -1\n{PARTS}", "margin must be a number at least 0; got -1"),
        (f"margin = 'a'\n{PARTS}", "margin must be a number; got 'a'"),
        (f"measures = 'auc'\n{PARTS}", "measures must be a list of names; got 'auc'"),
        (f"design = 'KFold'\n{PARTS}", "design must be a table such as"),
        (f"design = {{design = ['KFold']}}\n{PARTS}", "design must be one of"),
        (f"limits = 5\n{PARTS}", "limits must be a table such as"),
        (f"limits = {{memory_mb = 1e300}}\n{PARTS}", "memory_mb must be a number above 0 and at"),
        (PARTS.replace("'a'", "5", 2).replace("[[l", "name=5\n[[l"), "as names, .* got .5"),
        (PARTS.replace("[[l", "positive=2024-01-01\n[[l"), "positive must be a text, a number"),
        (PARTS.replace("[[l", "drop='ab'\n[[l"), "drop must be a list of columns; got 'ab'"),
        ("name = " + "[" * 5000, "is not a TOML file"),
        ("colour = 1", "'colour' is not known; a study has"),
        ("name = 'x'", "'data' is missing or not a table, for example"),
        (PARTS.replace("model='b'", "tree='c45'"), "learner 'a' must have a model, or tree, a lis"),
        (PARTS.replace("model='b'", "tree=['c4']"), "must be c45 or PARAMETER=VALUE"),
        (f"limits = {{minutes = 1}}\n{PARTS}", "limits has seconds and memory_mb; got minutes"),
    ],
)
def test_a_study_file_with_a_mistake_is_named(tmp_path, text, message):
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(InvalidArgumentError, match=message):
        read_study(tmp_path / "study.toml")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_a_data_set_that_is_not_a_file_is_named(tmp_path):
    text = '[[data]]\npath = "/dev/zero"\ntarget = "y"\n[[learners]]\nname = "a"\nmodel = "b"\n'
    (tmp_path / "study.toml").write_text(text)
    with pytest.raises(InvalidArgumentError, match="/dev/zero must be a file, which can be read"):
        _ = read_study(tmp_path / "study.toml").data[0].digest


def test_the_hash_of_rows_is_that_of_their_values():
    import pandas as pd

    X, y = rows()
    first = DataSet("d", X=X, y=y).digest
    assert DataSet("d", X=X.copy(order="F"), y=list(y)).digest == first
    assert DataSet("d", X=X + 1e-12, y=y).digest != first
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    assert DataSet("d", X=frame, y=y).digest == DataSet("d", X=frame.copy(), y=y).digest
    first, second = (small_study().definition.to_dict() for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


# ---- PostgreSQL ----------------------------------------------------------------------------------


@pytest.fixture
def new_database(postgresql_connection):
    """A function that makes an empty database of a real server and returns its URL."""
    names = []

    def make() -> str:
        names.append(f"studies{time.monotonic_ns()}")
        postgresql_connection.execute(f"CREATE DATABASE {names[-1]}")
        return f"postgresql+psycopg://tester@/{names[-1]}?host={postgresql_connection.info.host}"

    yield make
    for name in names:
        postgresql_connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgresql(new_database):
    return new_database()


@pytest.mark.slow
def test_postgresql_keeps_the_same_bits_through_kills(new_database, unbroken):
    for store in kill_and_resume(new_database, 50, 1):
        assert store.status("killed").done == 15
        assert bits(store, "killed") == unbroken
        store.close()


def test_postgresql_keeps_the_same_bits_as_sqlite(postgresql, unbroken):
    store = Store(postgresql)
    assert run(killable_study(), store).done == 15
    assert bits(store, "killed") == unbroken
    store.close()


class StoppingStore(Store):
    """A store whose server is stopped when five cells are finished."""

    stop_server = None
    finished = 0

    def finish(self, *arguments):
        super().finish(*arguments)
        self.finished += 1
        if self.finished == 5:
            self.stop_server()


@pytest.mark.slow
def test_a_server_that_stops_and_starts_again_loses_nothing(unbroken):
    study = killable_study()
    with postgresql_server() as server:
        connection = server.start()
        connection.execute("CREATE DATABASE studies")
        store = StoppingStore(f"postgresql+psycopg://tester@/studies?host={server.folder}")
        store.stop_server = server.stop
        with pytest.raises(StoreError, match=r"The store .* failed: .* resume the study"):
            run(study, store)
        with pytest.raises(StoreError, match="failed: "):
            run(study, store)
        connection.close()
        server.start().close()
        assert store.status("killed").done == 5
        assert run(study, store).done == 15
        assert bits(store, "killed") == unbroken
        store.close()


def test_a_lost_connection_is_an_error_and_the_store_resumes(postgresql, postgresql_connection):
    study = killable_study()
    store = Store(postgresql)
    study_id = store.register(study)
    claim = store.claim(study_id, "here:1:2")
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'tester' AND "

    def work_on_a_lost_connection():
        with store._transaction() as connection:
            postgresql_connection.execute(end + "pid <> pg_backend_pid()")
            connection.execute(sa.text("SELECT 1"))

    with pytest.raises(StoreError, match=r"failed: .* resume the study"):
        work_on_a_lost_connection()
    assert store.renew(claim, "here:1:2")
    store.close()


def test_a_process_that_was_interrupted_before_it_began_can_be_stopped(monkeypatch):
    study = small_study()
    executor = worker._Executor(study)

    def interrupted(process):
        raise KeyboardInterrupt

    monkeypatch.setattr(worker._PROCESSES.Process, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        executor.start(next(study.cells()))
    executor.stop()
