"""Working through the cells of a study, on one or more processes, with limits of time and memory.

A worker asks the store for a cell, has it computed by a process of its own, renews its lease
meanwhile, and stores the outcome. A learner that raises, takes too long, needs too much memory or
crashes is an outcome, too.
"""

import contextlib
import os
import pickle
import resource
import signal
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from joblib.externals.loky.backend.context import get_context

from sureleaf.errors import SureleafError
from sureleaf.evaluation.evaluator import Fitter, fit_split, make_fitter
from sureleaf.studies.store import Claim, FitOutcome, StatusCounts, Store, StoreError, worker_name
from sureleaf.studies.study import Cell, Limits, Study

# Unlike multiprocessing's own, these processes do not import the user's main module again, which
# would run a script without a guard a second time.
_PROCESSES = get_context("loky")
_WAIT = 0.2
"""Seconds between two looks at the store while other workers hold the last cells."""


class Calculator:
    """Computes cells one after the other, and keeps the table and learner of the last one."""

    def __init__(self, study: Study) -> None:
        self._data = {one.name: one for one in study.data}
        self._learners = {one.name: one for one in study.learners}
        self._splits = lru_cache(1)(lambda data: study.splits(self._data[data]))
        self._fitter = lru_cache(1)(self._make_fitter)

    def compute(self, cell: Cell) -> FitOutcome | str:
        """Return the predictions of a cell, or the error of the learner."""
        started = time.perf_counter()
        try:
            split = self._splits(cell.data)[cell.split]
            fitter = replace(self._fitter(cell.data, cell.learner), seed=cell.seed)
        except Exception as problem:  # a learner that cannot be made is an outcome, too
            return f"{type(problem).__name__}: {problem}"
        outcome = fit_split(fitter, split, 0, keep_model=True)
        if outcome.failure is not None:
            return outcome.failure
        return FitOutcome(
            rows=np.asarray(split.test, dtype=np.int64),
            classes=np.asarray(outcome.prediction, dtype=np.int64),
            probabilities=outcome.probabilities,
            seconds=time.perf_counter() - started,
            model_bytes=_size(outcome.model),
        )

    def _make_fitter(self, data: str, learner: str) -> Fitter:
        rows = self._data[data].labelled_rows
        return make_fitter(self._learners[learner].estimator(rows), rows, seed=0)


def _size(model: Any) -> int | None:
    """Return the bytes of a pickled model; None if it cannot be pickled."""
    try:
        return len(pickle.dumps(model, protocol=5))
    except Exception:  # any object of another library
        return None


def _serve(study: Study, limits: Limits, pipe: Connection) -> None:
    """Compute the cells that come through the pipe, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker decides when to stop
    warnings.filterwarnings("ignore", message="Loky-backed parallel loops")  # one core is meant
    if limits.memory_mb is not None:  # besides the data that the process has now
        with open("/proc/self/status", encoding="ascii") as lines:
            now = next(int(line.split()[1]) for line in lines if line.startswith("VmData:"))
        size = (now << 10) + int(limits.memory_mb * (1 << 20))
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    calculator = Calculator(study)
    with contextlib.suppress(EOFError, BrokenPipeError):
        pipe.send("ready")
        while True:
            pipe.send(calculator.compute(pipe.recv()))


class _Executor:
    """A process that computes cells; it is replaced after it was stopped or has died."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._process: Any = None
        self._pipe: Any = None

    def start(self, cell: Cell) -> None:
        if self._process is None or not self._process.is_alive():
            self._pipe, theirs = _PROCESSES.Pipe()
            self._process = _PROCESSES.Process(
                target=_serve, args=(self._study, self._study.limits, theirs), daemon=True
            )
            self._process.start()
            theirs.close()
            try:
                self._pipe.recv()  # the limit of time begins when the process has begun
            except EOFError:
                raise StoreError(
                    "a process for the learners could not be started: it ended before its first "
                    "cell. If the study is made by a script, guard it with "
                    "if __name__ == '__main__'."
                ) from None
        self._pipe.send(cell)

    def wait(self, seconds: float) -> FitOutcome | str | None:
        """Return the outcome; None if there is none after so many seconds."""
        try:
            if not self._pipe.poll(seconds):
                return None
            outcome: FitOutcome | str = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            code = self._process.exitcode
            self.stop()
            why = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            return f"the process of the learner ended ({why})"
        if isinstance(outcome, str) and self._study.limits.memory_mb is not None:
            self.stop()  # it may be out of memory, and what is left of it in pieces
        return outcome

    def stop(self) -> None:
        if self._process is not None:
            if self._process.pid is not None:  # Ctrl-C may come before it has begun
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGKILL)
                self._process.join()
            self._pipe.close()
        self._process = self._pipe = None


def work(
    study: Study,
    store: Store,
    study_id: int,
    report_progress: Callable[[StatusCounts], None] | None = None,
) -> None:
    """Compute cells until all are done or failed."""
    worker, executor = worker_name(), _Executor(study)
    reported = 0.0

    def report() -> None:
        nonlocal reported
        if report_progress is not None and time.monotonic() - reported >= 1.0:
            report_progress(store.status(study.name))
            reported = time.monotonic()

    claim: Claim | None = None
    try:
        while True:
            store.release_dead(study_id)
            claim = store.claim(study_id, worker)
            if claim is None:
                status = store.status(study.name)
                if not status.running and not status.open:
                    return
                time.sleep(_WAIT)
                continue
            _one_cell(store, claim, worker, executor, study.limits, report)
            claim = None
            report()
    finally:
        executor.stop()
        if claim is not None:
            with contextlib.suppress(SureleafError):
                store.release(claim, worker)


def _one_cell(
    store: Store,
    claim: Claim,
    worker: str,
    executor: _Executor,
    limits: Limits,
    report: Callable[[], None],
) -> None:
    executor.start(claim.cell)
    started = time.monotonic()
    end = started + limits.seconds
    while True:
        left = max(end - time.monotonic(), 0.0)
        outcome = executor.wait(min(left, store.lease / 3, 1.0))
        if outcome is None and time.monotonic() >= end:
            executor.stop()
            outcome = f"it took more than the limit of {limits.seconds:g} seconds"
        if isinstance(outcome, str):
            store.fail(claim, worker, outcome, time.monotonic() - started)
            return
        if outcome is not None:
            store.finish(claim, worker, outcome)
            return
        if not store.renew(claim, worker):  # another worker computes the same bits
            executor.stop()
            return
        report()


def begin(study: Study, store: Store) -> int:
    """Store the cells of a study, or open those again that dead workers held; return its number."""
    study_id = store.register(study)
    store.release_dead(study_id, also=worker_name())
    store.count_attempts_anew(study_id)
    return study_id


def _worker(study: Study, url: str, lease: float, study_id: int, problems: Connection) -> None:
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        work(study, Store(url, lease=lease), study_id)
    except KeyboardInterrupt:
        pass
    except SureleafError as problem:  # the parent shows it
        problems.send(str(problem))


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt


def run(
    study: Study,
    store: Store,
    *,
    n_jobs: int = 1,
    retry_failed: bool = False,
    report_progress: Callable[[StatusCounts], None] | None = None,
) -> StatusCounts:
    """Compute all cells of a study that the store does not have yet, and return its status.

    Several processes, on several machines, may work on the same study at the same time; here,
    ``n_jobs`` do. `report_progress` is called with the status about once in a second.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.designs import KFold
    >>> from sureleaf.studies import DataSet, Learner, Study
    >>> X, y = load_iris(return_X_y=True)
    >>> data, learner = DataSet("iris", X=X, y=y), Learner("bayes", GaussianNB())
    >>> study = Study("flowers", [data], [learner], KFold(2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run(study, Store(folder + "/study.db")).done
    2
    """
    study_id = begin(study, store)
    if retry_failed:
        store.reopen_failed(study_id)
    before = store.status(study.name)
    if n_jobs <= 1:
        work(study, store, study_id, report_progress)
    elif before.open or before.running:
        _run_here(study, store, study_id, n_jobs, report_progress)
    return store.status(study.name)


def _run_here(
    study: Study,
    store: Store,
    study_id: int,
    n_workers: int,
    report_progress: Callable[[StatusCounts], None] | None,
) -> None:
    """Have processes of this machine work on the study."""
    problems, theirs = _PROCESSES.Pipe(duplex=False)
    arguments = (study, store.url, store.lease, study_id, theirs)
    workers = [_PROCESSES.Process(target=_worker, args=arguments) for _ in range(n_workers)]
    for process in workers:
        process.start()
    try:
        while any(process.is_alive() for process in workers):
            workers[0].join(1.0 if workers[0].is_alive() else 0.05)
            if report_progress is not None:
                report_progress(store.status(study.name))
    finally:
        for process in workers:
            if process.is_alive():
                process.terminate()
        for process in workers:
            process.join()
    if problems.poll():
        raise StoreError(problems.recv())
    status = store.status(study.name)
    died = [process.exitcode for process in workers if process.exitcode]
    if died and (status.open or status.running):
        why = f"signal {-died[0]}" if died[0] < 0 else f"exit code {died[0]}"
        raise StoreError(
            f"{len(died)} of {n_workers} workers ended ({why}) with "
            f"{status.open + status.running:,} fits to do. What was complete is kept: resume the "
            "study."
        )


def verify(study: Study, store: Store, *, sample: int = 20, seed: int = 0) -> list[Cell]:
    """Compute a random sample of the stored cells again; return those whose bits differ."""
    study_id = store.find(study)
    done = store.done(study_id)
    picked = np.random.default_rng(seed).permutation(len(done))[:sample]
    calculator, different = Calculator(study), []
    for index in sorted(picked.tolist()):
        claim = done[index]
        outcome = calculator.compute(claim.cell)
        if isinstance(outcome, str) or store.raw(claim.cell_id) != outcome.blobs():
            different.append(claim.cell)
    return different
