"""Where the cells of studies and their predictions are kept: SQLite, or PostgreSQL by its URL.

One transaction per cell. A worker claims a cell for a limited time, its lease, and renews it while
it works; the cells of a worker that died are open again when its lease ends.
"""

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError, MissingPackageError, SureleafError
from sureleaf.evaluation.labelled_table import Table
from sureleaf.studies.study import Cell, Study

try:
    import sqlalchemy as sa
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError
except ImportError:
    raise MissingPackageError(
        "sureleaf.studies needs SQLAlchemy, which is not installed. Install it with: "
        "pip install 'sureleaf[study]'"
    ) from None

__all__ = ["Claim", "Failure", "Predictions", "StatusCounts", "Store", "StoreError", "worker_name"]

VERSION = 2
LEASE_SECONDS = 60.0
MAX_ATTEMPTS = 3
"""A cell whose worker died this often in one run is a failure."""

_metadata = sa.MetaData()
_version = sa.Table("sureleaf_studies", _metadata, sa.Column("version", sa.Integer, nullable=False))
_studies = sa.Table(
    "studies",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("created", sa.Float, nullable=False),
)
_data_sets = sa.Table(
    "data_sets",
    _metadata,
    sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("facts", sa.Text, nullable=False),
    sa.Column("truth", sa.LargeBinary, nullable=False),
    sa.Column("weights", sa.LargeBinary),
    sa.Column("groups", sa.LargeBinary),
)
_cells = sa.Table(
    "cells",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("study_id", sa.Integer, sa.ForeignKey("studies.id"), nullable=False),
    sa.Column("data", sa.Text, nullable=False),
    sa.Column("learner", sa.Text, nullable=False),
    sa.Column("split", sa.Integer, nullable=False),
    sa.Column("key", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),  # open, running, done or failed
    sa.Column("worker", sa.Text),
    sa.Column("lease_until", sa.Float),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("seconds", sa.Float),
    sa.Column("failure", sa.Text),
    sa.Column("model_bytes", sa.BigInteger),  # since version 2
    sa.UniqueConstraint("study_id", "data", "learner", "split"),
    sa.Index("cells_by_state", "study_id", "state", "id"),
)
_predictions = sa.Table(
    "predictions",
    _metadata,
    sa.Column("cell_id", sa.Integer, sa.ForeignKey("cells.id"), primary_key=True),
    sa.Column("rows", sa.LargeBinary, nullable=False),
    sa.Column("classes", sa.LargeBinary, nullable=False),
    sa.Column("probabilities", sa.LargeBinary),
)

MIGRATIONS = {2: ("ALTER TABLE cells ADD COLUMN model_bytes BIGINT",)}
"""The statements that bring a store from the version before to each version."""


class StoreError(SureleafError, RuntimeError):
    """The store cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Claim:
    """A cell that a worker has claimed."""

    cell_id: int
    cell: Cell


@dataclass(frozen=True, eq=False)
class Predictions:
    """The outcome of a cell: what was predicted for the rows of the test part."""

    rows: NDArray[np.int64]
    classes: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None
    seconds: float = 0.0
    model_bytes: int | None = None


@dataclass(frozen=True)
class Failure:
    """A cell that could not be computed, and why."""

    data: str
    learner: str
    split: int
    reason: str


@dataclass(frozen=True)
class StatusCounts:
    """How far a study is."""

    name: str
    open: int
    running: int
    done: int
    failed: int
    workers: int
    mean_seconds: float | None

    @property
    def total(self) -> int:
        """All cells."""
        return self.open + self.running + self.done + self.failed

    @property
    def seconds_left(self) -> float | None:
        """What the open cells will take; None before the first cell is done."""
        left = self.open + self.running
        if not left:
            return 0.0
        if self.mean_seconds is None:
            return None
        return left * self.mean_seconds / max(self.workers, 1)


def worker_name() -> str:
    """Return a name by which a later run on this machine can tell that the worker has died."""
    return f"{socket.gethostname()}:{os.getpid()}:{_started(os.getpid())}"


def _started(pid: int) -> str:
    """Return when a process began, so that a later process of this number is another one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "?"


def _is_dead(worker: str) -> bool:
    host, pid, started = ["", "", *worker.rsplit(":", 2)][-3:]
    if host != socket.gethostname() or started == "?" or not pid.isdecimal():
        return False
    return _started(int(pid)) != started


class Store:
    """The cells and predictions of studies in one database.

    Parameters
    ----------
    url : str
        ``sqlite:///study.db``, or ``postgresql+psycopg://user@host/database``; a path alone is an
        SQLite file.
    lease : float
        Seconds for which a claim holds without a sign of life.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder + "/study.db")
    ...     store.names()
    []
    """

    def __init__(self, url: str | os.PathLike[str], *, lease: float = LEASE_SECONDS) -> None:
        self.url, self.lease = _url(url), lease
        try:
            self.engine = sa.create_engine(self.url, pool_pre_ping=True)
        except (SQLAlchemyError, ImportError) as problem:
            raise StoreError(
                f"--store must be the URL of a database, such as sqlite:///study.db or "
                f"postgresql+psycopg://user@host/database; got {url!r}: {problem}."
            ) from None
        if self.engine.dialect.name == "sqlite":
            sa.event.listen(self.engine, "connect", _prepare_sqlite)
            sa.event.listen(self.engine, "begin", _begin_at_once)
        self._prepare()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        try:
            with self.engine.begin() as connection:
                yield connection
        except DBAPIError as problem:
            raise StoreError(
                f"The store {self._shown} failed: {' '.join(str(problem.orig).split())}. What was "
                "complete is kept: correct the cause and resume the study."
            ) from problem
        except SQLAlchemyError as problem:  # a row too few or too many, or of another type
            raise self.damaged("a row", problem) from problem

    def damaged(self, what: str, problem: object) -> StoreError:
        """Return the error for contents that no study has written."""
        return StoreError(
            f"The store {self._shown} is damaged: {what} cannot be read ({str(problem)[:200]}). "
            "Restore it from a copy, or run the study with a new store."
        )

    @contextmanager
    def decoding(self, what: str) -> Iterator[None]:
        """Turn the errors of contents that cannot be decoded into one that names the store."""
        try:
            yield
        except SureleafError:
            raise
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
            raise self.damaged(what, problem) from problem
        except RecursionError as problem:
            raise self.damaged(what, "it is nested too deeply") from problem

    @property
    def _shown(self) -> str:
        return sa.make_url(self.url).render_as_string(hide_password=True)

    def _prepare(self) -> None:
        with self._transaction() as connection:
            if self.engine.dialect.name == "postgresql":  # one process at a time creates tables
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7353)"))
            if not sa.inspect(connection).has_table(_version.name):
                _metadata.create_all(connection)
                connection.execute(_version.insert().values(version=VERSION))
                return
            version = connection.execute(sa.select(_version.c.version)).scalar_one()
            if type(version) is not int or version < 1:
                raise self.damaged("its version", f"{version!r} is not one")
            if version > VERSION:
                raise StoreError(
                    f"The store {self._shown} has version {version}, and this Sureleaf reads "
                    f"versions up to {VERSION}. Use a newer Sureleaf, or another store."
                )
            for number in range(version + 1, VERSION + 1):
                for statement in MIGRATIONS[number]:
                    connection.execute(sa.text(statement))
            if version < VERSION:
                connection.execute(_version.update().values(version=VERSION))

    # ---- studies ---------------------------------------------------------------------------------

    def names(self) -> list[str]:
        """Return the names of all studies."""
        with self._transaction() as connection:
            return list(connection.execute(sa.select(_studies.c.name).order_by("id")).scalars())

    def study_id(self, name: str) -> int:
        """Return the number of a study, or raise an error that names those there are."""
        with self._transaction() as connection:
            study_id = connection.execute(
                sa.select(_studies.c.id).where(_studies.c.name == name)
            ).scalar()
        if study_id is None:
            raise InvalidArgumentError(
                f"the store {self._shown} has no study {name!r}; it has: "
                f"{', '.join(map(repr, self.names())) or 'none'}."
            )
        return int(study_id)

    def register(self, study: Study) -> int:
        """Store the cells of a study; for a known one, check that it is the same."""
        definition = study.definition()
        with self._transaction() as connection:
            row = connection.execute(
                sa.select(_studies.c.id, _studies.c.definition).where(_studies.c.name == study.name)
            ).one_or_none()
            if row is not None:
                with self.decoding(f"the definition of {study.name!r}"):
                    _check_same(study, json.loads(row.definition), definition)
                return int(row.id)
            options = {
                "measures": list(study.measures),
                "margin": study.margin,
                "design": study.design.to_dict(),
                "seeds": {one.name: study.split_seed(one) for one in study.data},
                "learners": [one.name for one in study.learners],
            }
            study_id = connection.execute(
                _studies.insert()
                .values(
                    name=study.name,
                    definition=json.dumps(definition),
                    options=json.dumps(options),
                    created=time.time(),
                )
                .returning(_studies.c.id)
            ).scalar_one()
            for data in study.data:
                row_of_data = _row_of(study_id, data.name, data.labelled_rows)
                connection.execute(_data_sets.insert().values(**row_of_data))
            cells = [
                {
                    "study_id": study_id,
                    "data": cell.data,
                    "learner": cell.learner,
                    "split": cell.split,
                    "key": cell.key,
                    "state": "open",
                    "attempts": 0,
                }
                for cell in study.cells()
            ]
            connection.execute(_cells.insert(), cells)
        return int(study_id)

    def options(self, study_id: int) -> dict[str, Any]:
        """Return the measures, the margin, the design and the names of a study."""
        with self._transaction() as connection:
            query = sa.select(_studies.c.options).where(_studies.c.id == study_id)
            text = connection.execute(query).scalar_one()
        with self.decoding("the options of the study"):
            options: dict[str, Any] = json.loads(text)
            _check_options(options)
        return options

    def data_set(self, study_id: int, name: str) -> dict[str, Any]:
        """Return the labels, weights and groups of a data set."""
        query = _data_sets.select().where(
            _data_sets.c.study_id == study_id, _data_sets.c.name == name
        )
        with self._transaction() as connection:
            row = connection.execute(query).one()
        with self.decoding(f"the data set {name!r}"):
            facts = json.loads(row.facts)
            table = {
                "classes": list(facts["classes"]),
                "positive": facts["positive"],
                "truth": np.frombuffer(row.truth, "<i8"),
                "weights": None if row.weights is None else np.frombuffer(row.weights, "<f8"),
                "groups": None if row.groups is None else np.frombuffer(row.groups, "<i8"),
            }
            for codes, limit in (
                (table["truth"], len(table["classes"])),
                (table["groups"], len(table["truth"])),
            ):
                if codes is not None and not (
                    len(codes) == len(table["truth"]) and 0 <= codes.min() <= codes.max() < limit
                ):
                    raise ValueError("a code out of range")
            return table

    # ---- cells -----------------------------------------------------------------------------------

    def claim(self, study_id: int, worker: str) -> Claim | None:
        """Claim the next open cell; None if there is none."""
        now = time.time()
        is_open = _cells.c.state == "open"
        has_ended = sa.and_(_cells.c.state == "running", _cells.c.lease_until < now)
        # One after the other: for both at once, SQLite would read all cells that are done.
        queries = [
            sa.select(_cells)
            .where(_cells.c.study_id == study_id, is_free)
            .order_by(_cells.c.id)
            .limit(1)
            for is_free in (has_ended, is_open)
        ]
        if self.engine.dialect.name != "sqlite":
            queries = [query.with_for_update(skip_locked=True) for query in queries]
        while True:
            with self._transaction() as connection:
                candidates = (connection.execute(query).one_or_none() for query in queries)
                row = next((row for row in candidates if row is not None), None)
                if row is None:
                    return None
                change = _cells.update().where(_cells.c.id == row.id)
                if row.attempts >= MAX_ATTEMPTS:
                    reason = f"its worker died {row.attempts} times"
                    connection.execute(change.values(state="failed", failure=reason, worker=None))
                    continue
                connection.execute(
                    change.values(
                        state="running",
                        worker=worker,
                        lease_until=now + self.lease,
                        attempts=row.attempts + 1,
                    )
                )
            return Claim(row.id, Cell(row.data, row.learner, row.split, row.key))

    def renew(self, claim: Claim, worker: str) -> bool:
        """Extend the lease; False if the cell belongs to another worker by now."""
        with self._transaction() as connection:
            done = connection.execute(
                self._own(claim, worker).values(lease_until=time.time() + self.lease)
            )
        return bool(done.rowcount)

    def _own(self, claim: Claim, worker: str) -> sa.Update:
        return _cells.update().where(
            _cells.c.id == claim.cell_id, _cells.c.state == "running", _cells.c.worker == worker
        )

    def finish(self, claim: Claim, worker: str, outcome: Predictions) -> bool:
        """Store the predictions of a cell; False if it belongs to another worker by now."""
        with self._transaction() as connection:
            values = {
                "state": "done",
                "worker": None,
                "lease_until": None,
                "seconds": outcome.seconds,
                "model_bytes": outcome.model_bytes,
            }
            if not connection.execute(self._own(claim, worker).values(**values)).rowcount:
                return False
            table = outcome.probabilities
            connection.execute(
                _predictions.insert().values(
                    cell_id=claim.cell_id,
                    rows=outcome.rows.astype("<i8").tobytes(),
                    classes=outcome.classes.astype("<i4").tobytes(),
                    probabilities=None if table is None else table.astype("<f8").tobytes(),
                )
            )
        return True

    def fail(self, claim: Claim, worker: str, reason: str, seconds: float) -> bool:
        """Store that a cell cannot be computed."""
        values = {"state": "failed", "worker": None, "failure": reason[:2000], "seconds": seconds}
        with self._transaction() as connection:
            done = connection.execute(self._own(claim, worker).values(**values))
        return bool(done.rowcount)

    def release(self, claim: Claim, worker: str) -> None:
        """Give a cell back, as if it had not been claimed."""
        values = {"state": "open", "worker": None, "attempts": _cells.c.attempts - 1}
        with self._transaction() as connection:
            connection.execute(self._own(claim, worker).values(**values))

    def release_dead(self, study_id: int, also: str | None = None) -> int:
        """Open the cells of workers of this machine that have died; return how many.

        ``also`` names a worker that lives and holds no cell any more.
        """
        where = (_cells.c.study_id == study_id, _cells.c.state == "running")
        with self._transaction() as connection:
            workers = connection.execute(sa.select(_cells.c.worker).where(*where).distinct())
            dead = [name for name in workers.scalars() if name and (name == also or _is_dead(name))]
            if not dead:
                return 0
            done = connection.execute(
                _cells.update()
                .where(*where, _cells.c.worker.in_(dead))
                .values(state="open", worker=None)
            )
        return int(done.rowcount)

    def count_attempts_anew(self, study_id: int) -> None:
        """Forget how often the workers of open cells died: whoever resumes a study has a reason."""
        with self._transaction() as connection:
            connection.execute(
                _cells.update()
                .where(_cells.c.study_id == study_id, _cells.c.state == "open")
                .values(attempts=0)
            )

    def reopen_failed(self, study_id: int) -> int:
        """Open all failed cells again; return how many."""
        with self._transaction() as connection:
            done = connection.execute(
                _cells.update()
                .where(_cells.c.study_id == study_id, _cells.c.state == "failed")
                .values(state="open", failure=None, attempts=0, worker=None)
            )
        return int(done.rowcount)

    # ---- results ---------------------------------------------------------------------------------

    def status(self, name: str) -> StatusCounts:
        """Count the cells of a study by their state."""
        study_id = self.study_id(name)
        where = _cells.c.study_id == study_id
        counts = sa.select(_cells.c.state, sa.func.count()).where(where).group_by(_cells.c.state)
        running = sa.select(sa.func.count(sa.distinct(_cells.c.worker))).where(
            where, _cells.c.state == "running"
        )
        mean = sa.select(sa.func.avg(_cells.c.seconds)).where(where, _cells.c.state == "done")
        with self._transaction() as connection:
            by_state = {state: int(n) for state, n in connection.execute(counts)}
            n_workers, seconds = (connection.execute(one).scalar() for one in (running, mean))
        is_known = isinstance(seconds, float) and 0 <= seconds < float("inf")
        return StatusCounts(
            name,
            open=by_state.get("open", 0),
            running=by_state.get("running", 0),
            done=by_state.get("done", 0),
            failed=by_state.get("failed", 0),
            workers=int(n_workers or 0),
            mean_seconds=seconds if is_known else None,
        )

    def failures(self, study_id: int) -> list[Failure]:
        """Return all failed cells."""
        query = (
            sa.select(_cells.c.data, _cells.c.learner, _cells.c.split, _cells.c.failure)
            .where(_cells.c.study_id == study_id, _cells.c.state == "failed")
            .order_by(_cells.c.id)
        )
        with self._transaction() as connection:
            return [
                Failure(str(row.data), str(row.learner), row.split, str(row.failure))
                for row in connection.execute(query)
            ]

    def outcomes(
        self, study_id: int, data: str, learner: str, n_classes: int
    ) -> list[tuple[int, Predictions | str]]:
        """Return the outcomes of a learner on a data set: predictions, or why there are none."""
        query = (
            sa.select(_cells, _predictions)
            .outerjoin(_predictions, _predictions.c.cell_id == _cells.c.id)
            .where(
                _cells.c.study_id == study_id,
                _cells.c.data == data,
                _cells.c.learner == learner,
                _cells.c.state.in_(("done", "failed")),
            )
            .order_by(_cells.c.split)
        )
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        with self.decoding(f"a prediction of {learner!r} for {data!r}"):
            return [(row.split, _outcome(row, n_classes)) for row in rows]

    def done(self, study_id: int) -> list[Claim]:
        """Return all cells that have predictions."""
        query = (
            sa.select(_cells)
            .where(_cells.c.study_id == study_id, _cells.c.state == "done")
            .order_by(_cells.c.id)
        )
        with self._transaction() as connection:
            rows = connection.execute(query).all()
        return [Claim(row.id, Cell(row.data, row.learner, row.split, row.key)) for row in rows]

    def raw(self, cell_id: int) -> tuple[bytes, bytes, bytes | None]:
        """Return the stored bytes of a cell's rows, classes and probabilities."""
        query = _predictions.select().where(_predictions.c.cell_id == cell_id)
        with self._transaction() as connection:
            row = connection.execute(query).one()
        return row.rows, row.classes, row.probabilities


def _outcome(row: Any, n_classes: int) -> Predictions | str:
    if row.state == "failed":
        return str(row.failure)
    raw, seconds = row.probabilities, float(row.seconds)
    if not 0 <= seconds < float("inf"):
        raise ValueError(f"it took {seconds} seconds")
    table = None if raw is None else np.frombuffer(raw, "<f8").reshape(-1, n_classes)
    return Predictions(
        np.frombuffer(row.rows, "<i8"),
        np.frombuffer(row.classes, "<i4").astype(np.int64),
        table,
        seconds,
        None if row.model_bytes is None else int(row.model_bytes),
    )


def _check_options(options: Any) -> None:
    """Raise a ValueError for options that no study has."""
    texts = (options["measures"], options["learners"], options["seeds"])
    has_names = all(part and all(isinstance(one, str) for one in part) for part in texts)
    are_lists = [type(part) for part in texts] == [list, list, dict]
    seeds_are_numbers = all(type(seed) is int and seed >= 0 for seed in texts[2].values())
    margin = options["margin"]
    has_margin = type(margin) in (int, float) and 0 <= margin < float("inf")
    has_design = isinstance(options["design"], dict)
    if not (are_lists and has_names and seeds_are_numbers and has_margin and has_design):
        raise ValueError("names, seeds or margin of another type")


def _row_of(study_id: int, name: str, table: Table) -> dict[str, Any]:
    classes = table.classes.tolist()
    if table.classes.dtype.kind in "mM" or not all(
        isinstance(label, str | int | float) for label in classes
    ):
        raise InvalidArgumentError(
            f"data set {name!r}: labels must be text, numbers or bools; got "
            f"{', '.join(map(str, table.classes[:3]))}. Convert them to text."
        )
    facts = {"classes": classes, "positive": table.positive}
    return {
        "study_id": study_id,
        "name": name,
        "facts": json.dumps(facts),
        "truth": table.codes.astype("<i8").tobytes(),
        "weights": None if table.weights is None else table.weights.astype("<f8").tobytes(),
        "groups": None if table.groups is None else table.groups.astype("<i8").tobytes(),
    }


def _check_same(study: Study, stored: dict[str, Any], now: dict[str, Any]) -> None:
    changed = [name for name, digest in now["data"].items() if stored["data"].get(name) != digest]
    if changed and set(stored["data"]) == set(now["data"]):
        raise InvalidArgumentError(
            f"the data set {changed[0]!r} has changed since the study {study.name!r} was begun. "
            "Restore it to resume the study, or give the study another name to begin a new one."
        )
    parts = [part for part in ("data", "learners", "design", "seed") if stored[part] != now[part]]
    if parts:
        raise InvalidArgumentError(
            f"the store has another study of the name {study.name!r}: its "
            f"{' and '.join(parts)} differ (a learner differs, too, if its library has another "
            "version). Give this study another name, or another store."
        )


def _url(url: str | os.PathLike[str]) -> str:
    text = os.fspath(url)
    return text if "://" in text else f"sqlite:///{Path(text)}"


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin by _begin_at_once
    cursor = connection.cursor()
    for pragma in ("busy_timeout = 60000", "journal_mode = WAL", "synchronous = FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_at_once(connection: Any) -> None:
    """Take SQLite's write lock first: a transaction that reads and then writes could fail."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")
