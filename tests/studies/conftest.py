"""Processes that begin at once, and a real PostgreSQL server for the tests of the store."""

import multiprocessing
from collections.abc import Iterator

import pytest

from sureleaf.studies import worker
from tests.exports.databases import postgresql_connection

__all__ = ["postgresql_connection"]


@pytest.fixture(scope="module", autouse=True)
def quick_processes() -> Iterator[None]:
    """Processes that have imported what they need: an import takes longer than a small study.

    Tests that are about the processes of users ask for `users_processes`.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sureleaf.studies.worker", "tests.studies.learners"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "_PROCESSES", context)
        yield


@pytest.fixture
def users_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_PROCESSES", worker.get_context("loky"))
