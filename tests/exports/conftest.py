"""Databases for the tests of exports."""

import pytest

from tests.exports.databases import database, postgresql_connection

__all__ = ["database", "postgresql_connection"]


@pytest.fixture(scope="module", autouse=True)
def _few_rounds(few_rounds: None) -> None:
    """An export has the numbers of its model, whatever the rounds."""
