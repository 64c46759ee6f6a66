"""Where the cells of studies and their predictions are kept: SQLite, or PostgreSQL by its URL.

One transaction per cell. A worker claims a cell for a limited time, its lease, and renews it while
it works; the cells of a worker that died are open again when its lease ends.

What is written gets a checksum, and what is read is compared with it.
"""

import hashlib
import json
import math
import os
import socket
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import check_number
from sureleaf.errors import InvalidArgumentError, MissingPackageError, SureleafError
from sureleaf.evaluation.designs import count_units, from_dict
from sureleaf.evaluation.labelled_table import LabelledTable
from sureleaf.evaluation.measures.named import find_measure
from sureleaf.formatting import visible
from sureleaf.studies.study import Cell, Definition, Study

try:
    import sqlalchemy as sa
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError
except ImportError:
    raise MissingPackageError(
        "sureleaf.studies needs SQLAlchemy, which is not installed. Install it with: "
        "pip install 'sureleaf[study]'"
    ) from None

VERSION = 1
LEASE_SECONDS = 60.0
LOCK_SECONDS = 60
"""How long SQLite waits for another connection."""
MAX_ATTEMPTS = 3
"""A cell whose worker died this often in one run is a failure."""
LONGEST_REASON = 2000
_SQLITE = b"SQLite format 3\0"
"""How every database of SQLite begins."""

_metadata = sa.MetaData()
_version = sa.Table("sureleaf_studies", _metadata, sa.Column("version", sa.Integer, nullable=False))
_studies = sa.Table(
    "studies",
    _metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("definition", sa.Text, nullable=False),
    sa.Column("options", sa.Text, nullable=False),
    sa.Column("checksum", sa.Text, nullable=False),
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
    sa.Column("checksum", sa.Text, nullable=False),
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
    sa.Column("model_bytes", sa.BigInteger),
    sa.Column("checksum", sa.Text),  # of the outcome and its predictions
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


class StoreError(SureleafError, RuntimeError):
    """The store cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Claim:
    """A cell that a worker has claimed."""

    cell_id: int
    cell: Cell


@dataclass(frozen=True, eq=False)
class FitOutcome:
    """The outcome of a cell: what was predicted for the rows of the test part."""

    rows: NDArray[np.int64]
    classes: NDArray[np.int64]
    probabilities: NDArray[np.float64] | None
    seconds: float = 0.0
    model_bytes: int | None = None

    def blobs(self) -> tuple[bytes, bytes, bytes | None]:
        """Return rows, classes and probabilities as bytes."""
        table = None if self.probabilities is None else _bytes(self.probabilities, "<f8")
        return _bytes(self.rows, "<i8"), _bytes(self.classes, "<i4"), table


@dataclass(frozen=True, eq=False)
class StoredStudy:
    """What the store knows of a study: its definition, and how results are shown."""

    study_id: int
    definition: Definition
    measures: tuple[str, ...]
    margin: float


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The labels, weights and groups of a data set."""

    classes: list[Any]
    positive: int
    truth: NDArray[np.int64]
    weights: NDArray[np.float64] | None
    groups: NDArray[np.int64] | None


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
        if left and self.mean_seconds is None:
            return None
        return left * (self.mean_seconds or 0.0) / max(self.workers, 1)


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

    The URL is ``sqlite:///study.db`` or ``postgresql+psycopg://user@host/database``; a path alone
    is an SQLite file. A claim holds for the seconds of the lease without a sign of life. Without
    ``create``, a store that is not there is an error, and nothing is written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder + "/study.db")
    ...     store.names()
    []
    """

    def __init__(
        self, url: str | os.PathLike[str], *, lease: float = LEASE_SECONDS, create: bool = True
    ) -> None:
        text = os.fspath(url)
        self.url, self.lease = text if "://" in text else f"sqlite:///{Path(text)}", lease
        try:
            self.engine = sa.create_engine(self.url, pool_pre_ping=True)
        except (SQLAlchemyError, ImportError) as problem:
            raise StoreError(
                f"--store must be the URL of a database, such as sqlite:///study.db or "
                f"postgresql+psycopg://user@host/database; got {url!r}: {problem}."
            ) from None
        self._is_sqlite = self.engine.dialect.name == "sqlite"
        if self._is_sqlite:
            sa.event.listen(self.engine, "connect", _prepare_sqlite)
            # The write lock first: a transaction that reads and then writes could fail.
            sa.event.listen(
                self.engine, "begin", lambda own: own.exec_driver_sql("BEGIN IMMEDIATE")
            )
        try:
            self._open(create)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    @contextmanager
    def _transaction(self, *, alone: bool = False) -> Iterator[sa.Connection]:
        """Begin a transaction; one that is alone waits until no other such one is under way.

        In SQLite, all are.
        """
        try:
            with self.engine.begin() as connection:
                if alone and self.engine.dialect.name == "postgresql":
                    connection.execute(sa.text("SELECT pg_advisory_xact_lock(7353)"))
                yield connection
        except DBAPIError as problem:
            raise self._error(
                f"failed: {' '.join(str(problem.orig).split())}. What was complete is kept: "
                "correct the cause and resume the study."
            ) from problem
        except SQLAlchemyError as problem:  # a row too few or too many, or of another type
            raise self.damaged("a row", problem) from problem
        except UnicodeDecodeError as problem:
            raise self.damaged("a text", problem) from problem

    def damaged(self, what: str, problem: object) -> StoreError:
        """Return the error for contents that no study has written."""
        return self._error(
            f"is damaged: {what} cannot be read ({str(problem)[:200]}). Restore it from a copy, or "
            "run the study with a new store."
        )

    def _error(self, problem: str) -> StoreError:
        return StoreError(f"The store {self._shown} {problem}")

    @contextmanager
    def decoding(self, what: str) -> Iterator[None]:
        """Turn the errors of contents that cannot be decoded into one that names the store."""
        try:
            yield
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as problem:
            raise self.damaged(what, problem) from problem
        except RecursionError as problem:
            raise self.damaged(what, "it is nested too deeply") from problem

    @property
    def _shown(self) -> str:
        return sa.make_url(self.url).render_as_string(hide_password=True)

    def _open(self, create: bool) -> None:
        """Check that the database is a store, or make it one."""
        if self._has_file() or create:
            with self._transaction() as connection:
                if self._has_tables(connection):
                    return
        if not create:
            raise self._error("does not exist: nothing was begun. Begin with: sureleaf study run")
        if self._is_sqlite:  # not within a transaction
            self._keep_log()
        with self._transaction(alone=True) as connection:
            if not self._has_tables(connection):
                _metadata.create_all(connection)
                connection.execute(_version.insert().values(version=VERSION))

    def _has_file(self) -> bool:
        """Whether SQLite, which makes a file when it is asked for one, has it already."""
        name = str(sa.make_url(self.url).database)
        if not self._is_sqlite or name.startswith((":", "file:")):
            return True
        try:
            with open(name, "rb") as file:
                start = file.read(len(_SQLITE))
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise self._error(
                f"cannot be read: {problem.strerror}. Give another --store."
            ) from None
        if start not in (b"", _SQLITE):
            raise self._error("is a file, but not a database of SQLite. Give another --store.")
        return bool(start)

    def _keep_log(self) -> None:
        """Have SQLite write ahead, so that one process can read while another one writes.

        SQLite does not wait for other connections before this change, whatever its timeout is.
        """
        give_up = time.monotonic() + LOCK_SECONDS
        with self.engine.connect() as connection:
            cursor = connection.connection.cursor()
            while True:
                try:
                    cursor.execute("PRAGMA journal_mode = WAL")
                except sqlite3.OperationalError as problem:
                    is_busy = problem.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # or extended
                    if not is_busy or time.monotonic() > give_up:
                        raise self._error(f"failed: {problem}.") from problem
                    time.sleep(0.02)
                else:
                    return

    def _has_tables(self, connection: sa.Connection) -> bool:
        """Whether the database is a store of this version; raise if it is something else."""
        names = set(sa.inspect(connection).get_table_names())
        if _version.name not in names:
            # A file is a store or nothing; a server's database may have other tables beside.
            foreign = names if self._is_sqlite else names & set(_metadata.tables)
            if foreign:
                raise self._error(
                    f"is a database of another program, with the table {min(foreign)!r}. Give "
                    "another --store."
                )
            return False
        version = connection.execute(sa.select(_version.c.version)).scalar_one()
        if type(version) is not int or version < 1:
            raise self.damaged("its version", f"{version!r} is not one")
        if version > VERSION:
            raise self._error(
                f"has version {version}, and this Sureleaf reads version {VERSION}. Use a newer "
                "Sureleaf, or another store."
            )
        return True

    def _rows(self, query: sa.Select[Any]) -> Sequence[sa.Row[Any]]:
        with self._transaction() as connection:
            return connection.execute(query).all()

    def _row(self, query: sa.Select[Any]) -> sa.Row[Any]:
        with self._transaction() as connection:
            return connection.execute(query).one()

    def _change(self, change: sa.Update, *, alone: bool = False) -> int:
        """Change cells, and return how many."""
        with self._transaction(alone=alone) as connection:
            return int(connection.execute(change).rowcount)

    def names(self) -> list[str]:
        """Return the names of all studies."""
        return [row.name for row in self._rows(sa.select(_studies.c.name).order_by("id"))]

    def study_id(self, name: str) -> int:
        """Return the number of a study, or raise an error that names those there are."""
        found = self._rows(sa.select(_studies.c.id).where(_studies.c.name == name))
        if not found:
            raise InvalidArgumentError(
                f"the store {self._shown} has no study {name!r}; it has: "
                f"{', '.join(map(repr, self.names())) or 'none'}."
            )
        return int(found[0].id)

    def find(self, study: Study) -> int:
        """Return the number of a study; raise if the store has another one of its name, or none."""
        with self._transaction() as connection:
            known = self._known(connection, study)
        return self.study_id(study.name) if known is None else known

    def register(self, study: Study) -> int:
        """Store the cells of a study; for a known one, check that it is the same."""
        with self._transaction() as connection:
            known = self._known(connection, study)
        if known is not None:
            return known
        study.check()
        rows = [_row_of(data.name, data.digest, data.labelled_rows) for data in study.data]
        cells = [{**vars(cell), "state": "open", "attempts": 0} for cell in study.cells()]
        written = json.dumps(study.definition.to_dict())
        options = json.dumps({"measures": list(study.measures), "margin": study.margin})
        with self._transaction(alone=True) as connection:
            known = self._known(connection, study)
            if known is not None:
                return known
            query = _studies.insert().values(
                name=study.name,
                definition=written,
                options=options,
                checksum=_checksum(study.name, written, options),
            )
            study_id = int(connection.execute(query.returning(_studies.c.id)).scalar_one())
            for table, of_table in ((_data_sets, rows), (_cells, cells)):
                listed = [{"study_id": study_id, **row} for row in of_table]
                connection.execute(table.insert(), listed)
        return study_id

    def _known(self, connection: sa.Connection, study: Study) -> int | None:
        """Return the number of a study that the store has; raise if it is another one."""
        row = connection.execute(
            sa.select(_studies.c.id, _studies.c.definition).where(_studies.c.name == study.name)
        ).one_or_none()
        if row is None:
            return None
        definition = study.definition.to_dict()
        with self.decoding(f"the definition of {study.name!r}"):
            stored = json.loads(row.definition)
            changed = [part for part in definition if stored[part] != definition[part]]
            data, now = stored["data"], definition["data"]
            changed_data = [name for name, digest in now.items() if data.get(name) != digest]
            has_same_names = set(data) == set(now)
        if changed_data and has_same_names:
            raise InvalidArgumentError(
                f"the data set {changed_data[0]!r} has changed since the study {study.name!r} was "
                "begun. Restore it to resume the study, or give the study another name to begin a "
                "new one."
            )
        if changed:
            raise InvalidArgumentError(
                f"the store has another study of the name {study.name!r}: its "
                f"{' and '.join(changed)} differ (a learner differs, too, if its library has "
                "another version). Give this study another name, or another store."
            )
        return int(row.id)

    def study(self, name: str) -> StoredStudy:
        """Return what a study consists of, and how its results are shown."""
        row = self._row(_studies.select().where(_studies.c.id == self.study_id(name)))
        with self.decoding(f"the study {name!r}"):
            _compare(row.checksum, row.name, row.definition, row.options)
            definition, options = json.loads(row.definition), json.loads(row.options)
            for measure in options["measures"]:
                find_measure(measure)
            check_number("margin", options["margin"], low=0)
            if not (options["measures"] and definition["data"] and definition["learners"]):
                raise ValueError("it has no measures, data or learners")
            data, learners = dict(definition["data"]), dict(definition["learners"])
            design, seed = from_dict(definition["design"]), definition["seed"]
            of_results = Definition(data, learners, design, seed)
            return StoredStudy(row.id, of_results, tuple(options["measures"]), options["margin"])

    def rows_of(self, study: StoredStudy, name: str) -> StoredRows:
        """Return the labels, weights and groups of a data set; all of its cells must be there."""
        of_data_set = (_data_sets.c.study_id == study.study_id, _data_sets.c.name == name)
        row = self._row(_data_sets.select().where(*of_data_set))
        of_cells = (_cells.c.study_id == study.study_id, _cells.c.data == name)
        cells = self._rows(_cells.select().where(*of_cells))
        with self.decoding(f"the data set {name!r}"):
            facts, blobs = json.loads(row.facts), (row.truth, row.weights, row.groups)
            _compare(row.checksum, study.definition.data[name], row.facts, *blobs)
            rows = StoredRows(
                facts["classes"],
                facts["positive"],
                np.frombuffer(row.truth, "<i8"),
                None if row.weights is None else np.frombuffer(row.weights, "<f8"),
                None if row.groups is None else np.frombuffer(row.groups, "<i8"),
            )
            n_units = count_units(len(rows.truth), rows.groups)
            expected = study.definition.cells(name, n_units)
            if {_claim_of(one).cell for one in cells} != set(expected):
                raise ValueError("its fits are not those of the study")
        return rows

    def claim(self, study_id: int, worker: str) -> Claim | None:
        """Claim the next open cell; None if there is none."""
        now = time.time()
        has_ended = (*_in_state(study_id, "running"), _cells.c.lease_until < now)
        # One after the other: for both at once, SQLite would read all cells that are done.
        queries = [
            _cells.select().where(*is_free).order_by(_cells.c.id).limit(1)
            for is_free in (has_ended, _in_state(study_id, "open"))
        ]
        if not self._is_sqlite:
            queries = [query.with_for_update(skip_locked=True) for query in queries]
        while True:
            with self._transaction() as connection:
                candidates = (connection.execute(query).one_or_none() for query in queries)
                row = next((row for row in candidates if row is not None), None)
                if row is None:
                    return None
                is_lost = row.attempts >= MAX_ATTEMPTS
                values = (
                    _failed(row.key, f"its worker died {row.attempts} times", None)
                    if is_lost
                    else {
                        "state": "running",
                        "worker": worker,
                        "lease_until": now + self.lease,
                        "attempts": row.attempts + 1,
                    }
                )
                connection.execute(_cells.update().where(_cells.c.id == row.id).values(values))
            if not is_lost:
                return _claim_of(row)

    def renew(self, claim: Claim, worker: str) -> bool:
        """Extend the lease; False if the cell belongs to another worker by now."""
        until = time.time() + self.lease
        return bool(self._change(_own(claim, worker).values(lease_until=until)))

    def finish(self, claim: Claim, worker: str, outcome: FitOutcome) -> bool:
        """Store the predictions of a cell; False if it belongs to another worker by now."""
        blobs, seconds, size = outcome.blobs(), float(outcome.seconds), outcome.model_bytes
        checksum = _checksum(claim.cell.key, "done", None, seconds, size, *blobs)
        cell = {"state": "done", "worker": None, "lease_until": None, "checksum": checksum}
        change = _own(claim, worker).values(seconds=seconds, model_bytes=size, **cell)
        with self._transaction() as connection:
            if not connection.execute(change).rowcount:
                return False
            connection.execute(_predictions.insert().values((claim.cell_id, *blobs)))
        return True

    def fail(self, claim: Claim, worker: str, reason: str, seconds: float) -> bool:
        """Store that a cell cannot be computed."""
        values = _failed(claim.cell.key, reason, seconds)
        return bool(self._change(_own(claim, worker).values(values)))

    def release(self, claim: Claim, worker: str) -> None:
        """Give a cell back, as if it had not been claimed."""
        values = {"state": "open", "worker": None, "attempts": _cells.c.attempts - 1}
        self._change(_own(claim, worker).values(values))

    # Changes of several cells are alone, because two of them could wait for each other.

    def release_dead(self, study_id: int, also: str | None = None) -> int:
        """Open the cells of workers of this machine that have died; return how many.

        ``also`` names a worker that lives and holds no cell any more.
        """
        where = _in_state(study_id, "running")
        rows = self._rows(sa.select(_cells.c.worker).where(*where).distinct())
        dead = [name for (name,) in rows if name and (name == also or _is_dead(name))]
        if not dead:
            return 0
        change = _cells.update().where(*where, _cells.c.worker.in_(dead))
        return self._change(change.values(state="open", worker=None), alone=True)

    def count_attempts_anew(self, study_id: int) -> None:
        """Forget how often the workers of open cells died: whoever resumes a study has a reason."""
        change = _cells.update().where(*_in_state(study_id, "open"))
        self._change(change.values(attempts=0), alone=True)

    def reopen_failed(self, study_id: int) -> int:
        """Open all failed cells again; return how many."""
        change = _cells.update().where(*_in_state(study_id, "failed"))
        values = {"state": "open", "failure": None, "attempts": 0, "worker": None}
        return self._change(change.values(values), alone=True)

    def status(self, name: str) -> StatusCounts:
        """Count the cells of a study by their state."""
        rows = self._rows(
            sa.select(
                _cells.c.state,
                sa.func.count().label("n"),
                sa.func.count(sa.distinct(_cells.c.worker)).label("workers"),
                sa.func.avg(_cells.c.seconds).label("seconds"),
            )
            .where(_cells.c.study_id == self.study_id(name))
            .group_by(_cells.c.state)
        )
        counts = {row.state: int(row.n) for row in rows}
        workers = sum(row.workers for row in rows if row.state == "running")
        means = [row.seconds for row in rows if row.state == "done"]
        known = [one for one in means if isinstance(one, float) and 0 <= one < math.inf]
        counted = {state: counts.get(state, 0) for state in ("open", "running", "done", "failed")}
        mean_seconds = known[0] if known else None
        return StatusCounts(name, workers=workers, mean_seconds=mean_seconds, **counted)

    def failures(self, study_id: int) -> list[Failure]:
        """Return all failed cells."""
        return [
            Failure(str(row.data), str(row.learner), row.split, str(row.failure))
            for row in self._rows(
                _cells.select().where(*_in_state(study_id, "failed")).order_by(_cells.c.id)
            )
        ]

    def outcomes(
        self, study_id: int, data: str, learner: str, n_classes: int
    ) -> list[tuple[int, FitOutcome | str]]:
        """Return the outcomes of a learner on a data set: predictions, or why there are none."""
        rows = self._rows(
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
        with self.decoding(f"a prediction of {learner!r} for {data!r}"):
            return [(row.split, _outcome(row, n_classes)) for row in rows]

    def done(self, study_id: int) -> list[Claim]:
        """Return all cells that have predictions."""
        done = _cells.select().where(*_in_state(study_id, "done")).order_by(_cells.c.id)
        return [_claim_of(row) for row in self._rows(done)]

    def raw(self, cell_id: int) -> tuple[bytes, bytes, bytes | None]:
        """Return the stored bytes of a cell's rows, classes and probabilities."""
        row = self._row(_predictions.select().where(_predictions.c.cell_id == cell_id))
        return row.rows, row.classes, row.probabilities


def _in_state(study_id: int, state: str) -> tuple[sa.ColumnElement[bool], ...]:
    return _cells.c.study_id == study_id, _cells.c.state == state


def _own(claim: Claim, worker: str) -> sa.Update:
    """Return a change of a cell that the worker still has."""
    is_own = (_cells.c.state == "running", _cells.c.worker == worker)
    return _cells.update().where(_cells.c.id == claim.cell_id, *is_own)


def _claim_of(row: Any) -> Claim:
    return Claim(row.id, Cell(row.data, row.learner, row.split, row.key))


def _bytes(array: Any, kind: str) -> bytes:
    return bytes(np.asarray(array).astype(kind).tobytes())


def _checksum(*parts: bytes | str | float | None) -> str:
    """Return a hash of the parts and their types, in this order."""
    content = hashlib.sha256()
    for part in parts:
        raw = part if isinstance(part, bytes) else repr(part).encode()
        content.update(f"{type(part).__name__} {len(raw)} ".encode())
        content.update(raw)
    return content.hexdigest()


def _compare(checksum: str, *parts: bytes | str | float | None) -> None:
    if checksum != _checksum(*parts):
        raise ValueError("its checksum is wrong")


def _failed(key: str, reason: str, seconds: float | None) -> dict[str, Any]:
    """Return the values of a cell that has failed."""
    # A database may not take NUL or half characters, and they would hide in the page.
    text = visible(reason[:LONGEST_REASON], keep="\n\t")
    return {
        "state": "failed",
        "worker": None,
        "failure": text,
        "seconds": seconds,
        "model_bytes": None,
        "checksum": _checksum(key, "failed", text, seconds, None, None, None, None),
    }


def _outcome(row: Any, n_classes: int) -> FitOutcome | str:
    blobs = (row.rows, row.classes, row.probabilities)
    _compare(row.checksum, row.key, row.state, row.failure, row.seconds, row.model_bytes, *blobs)
    if row.state == "failed":
        return str(row.failure)
    if not 0 <= row.seconds < math.inf or not isinstance(row.model_bytes, int | None):
        raise ValueError(f"it took {row.seconds} seconds and {row.model_bytes} bytes")
    table = row.probabilities
    return FitOutcome(
        np.frombuffer(row.rows, "<i8"),
        np.frombuffer(row.classes, "<i4").astype(np.int64),
        None if table is None else np.frombuffer(table, "<f8").reshape(-1, n_classes),
        row.seconds,
        row.model_bytes,
    )


def _row_of(name: str, digest: str, table: LabelledTable) -> dict[str, Any]:
    classes = table.classes.tolist()
    if table.classes.dtype.kind in "mM" or not all(
        isinstance(label, str | int | float) for label in classes
    ):
        raise InvalidArgumentError(
            f"data set {name!r}: labels must be text, numbers or bools; got "
            f"{', '.join(map(str, table.classes[:3]))}. Convert them to text."
        )
    facts = json.dumps({"classes": classes, "positive": table.positive})
    blobs = {
        "truth": _bytes(table.codes, "<i8"),
        "weights": None if table.weights is None else _bytes(table.weights, "<f8"),
        "groups": None if table.groups is None else _bytes(table.groups, "<i8"),
    }
    checksum = _checksum(digest, facts, *blobs.values())
    return {"name": name, "facts": facts, "checksum": checksum, **blobs}


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # the store begins transactions itself
    cursor = connection.cursor()
    for pragma in (f"busy_timeout = {1000 * LOCK_SECONDS}", "synchronous = FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
