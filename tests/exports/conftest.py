"""Databases for the tests of exports."""

from tests.exports.databases import database, postgresql_connection

__all__ = ["database", "postgresql_connection"]
