"""Real databases that hold a table for a test: DuckDB, SQLite, PostgreSQL."""

import contextlib
import datetime
import glob
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

KINDS = ("float", "int", "text", "bool", "date", "timestamp")
TYPES = {
    dialect: dict(zip(KINDS, types.split(", "), strict=True))
    for dialect, types in {
        "duckdb": "DOUBLE, BIGINT, VARCHAR, BOOLEAN, DATE, TIMESTAMP",
        "sqlite": "REAL, INTEGER, TEXT, INTEGER, TEXT, TEXT",
        "postgresql": "double precision, bigint, text, boolean, date, timestamp",
    }.items()
}


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Database:
    """A database with a table `data` in it: makes the table, asks a query."""

    def __init__(self, dialect, connection):
        self.dialect, self.connection = dialect, connection

    def fill(self, rows, types):
        """Make the table anew; rows are dicts, columns have the types float, text and so on."""
        columns = ", ".join(
            f"{quoted(name)} {TYPES[self.dialect][kind]}" for name, kind in types.items()
        )
        self.run("DROP TABLE IF EXISTS data")
        self.run(f"CREATE TABLE data (row_id INTEGER, {columns})")
        values = [[i, *(row[name] for name in types)] for i, row in enumerate(rows)]
        getattr(self, f"_fill_{self.dialect}")(values)

    def run(self, query):
        return self.connection.execute(query)

    def ask(self, query):
        """Give the rows and the names of the columns of a query's result."""
        cursor = self.run(query)
        return cursor.fetchall(), [column[0] for column in cursor.description]

    def _fill_duckdb(self, values):
        import pyarrow

        columns = list(zip(*values, strict=True))
        table = pyarrow.table([pyarrow.array(c, from_pandas=False) for c in columns],
                              [f"c{i}" for i in range(len(columns))])  # fmt: skip
        self.connection.register("given", table)
        self.run("INSERT INTO data SELECT * FROM given")
        self.connection.unregister("given")

    def _fill_sqlite(self, values):
        marks = ", ".join("?" for _ in values[0])
        converted = [[_sqlite_value(value) for value in row] for row in values]
        self.connection.executemany(f"INSERT INTO data VALUES ({marks})", converted)

    def _fill_postgresql(self, values):
        with self.connection.cursor().copy("COPY data FROM STDIN") as copy:
            for row in values:
                copy.write_row(row)


def _sqlite_value(value):
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return value.isoformat() if isinstance(value, datetime.date) else value


class PostgresqlServer:
    """A server of its own, in a folder of its own, run by a user without rights."""

    def __init__(self, programs):
        self._programs, self._server = programs, None
        self._as_user = {}
        if os.geteuid() == 0:  # as which PostgreSQL refuses to run
            self._as_user = {"user": "postgres" if _is_user("postgres") else "nobody"}
        self.folder = Path(tempfile.mkdtemp(prefix="pg"))  # short: it holds a socket
        if self._as_user:
            shutil.chown(self.folder, self._as_user["user"])
        subprocess.run(
            [programs / "initdb", "-D", self.folder / "data", "-U", "tester", "-A", "trust",
             "-E", "UTF8", "--no-locale", "--no-sync"],
            check=True, capture_output=True, cwd=self.folder, **self._as_user,
        )  # fmt: skip

    def start(self):
        self._server = subprocess.Popen(
            [self._programs / "postgres", "-D", self.folder / "data", "-k", self.folder,
             "-c", "listen_addresses=", "-F"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder, **self._as_user,
        )  # fmt: skip
        return _connected(pytest.importorskip("psycopg"), self.folder, self._server)

    def stop(self):
        """End the server and all its connections at once."""
        self._server.send_signal(signal.SIGINT)
        self._server.wait(60)

    def remove(self):
        if self._server is not None and self._server.poll() is None:
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def postgresql_server():
    """Make a server, not started yet, and remove it in the end."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    folders = [
        Path(found).parent for found in sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    ]
    if shutil.which("initdb"):
        folders.append(Path(shutil.which("initdb")).parent)
    if not folders:
        pytest.skip("no PostgreSQL server is installed (apt-get install postgresql)")
    server = PostgresqlServer(folders[-1])
    try:
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgresql_connection():
    """Connect to a server that all tests share."""
    with postgresql_server() as server, server.start() as connection:
        yield connection


def _is_user(name):
    import pwd

    return any(entry.pw_name == name for entry in pwd.getpwall())


def _connected(psycopg, folder, server):
    for _ in range(600):
        try:
            return psycopg.connect(
                host=str(folder), user="tester", dbname="postgres", autocommit=True
            )
        except psycopg.OperationalError:
            assert server.poll() is None, "the PostgreSQL server has ended"
            time.sleep(0.1)
    raise AssertionError("the PostgreSQL server does not answer")


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def database(request):
    """Each database in turn."""
    if request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
        with duckdb.connect() as connection:
            yield Database("duckdb", connection)
    elif request.param == "sqlite":
        connection = sqlite3.connect(":memory:")
        yield Database("sqlite", connection)
        connection.close()
    else:
        yield Database("postgresql", request.getfixturevalue("postgresql_connection"))
