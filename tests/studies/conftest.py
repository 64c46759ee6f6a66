"""A real PostgreSQL server for the tests of the store."""

from tests.exports.databases import postgresql_connection

__all__ = ["postgresql_connection"]
