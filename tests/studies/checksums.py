"""A changed store whose checksums are right again."""

import contextlib
import json
import sqlite3
from pathlib import Path

from sureleaf.studies import store as stores

__all__ = ["sealed"]


def sealed(path: Path) -> None:
    """Correct all checksums, so that the checks behind them are met."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for table, key, query in (
            ("studies", "id", "SELECT id, name, definition, options FROM studies"),
            (
                "data_sets",
                "name",
                "SELECT data_sets.name, definition, facts, truth, weights, groups FROM data_sets "
                "JOIN studies ON study_id = studies.id",
            ),
            (
                "cells",
                "id",
                "SELECT id, key, state, failure, seconds, model_bytes, rows, classes, "
                "probabilities FROM cells LEFT JOIN predictions ON cell_id = id",
            ),
        ):
            for name, *parts in connection.execute(query).fetchall():
                if table == "data_sets":
                    parts[0] = json.loads(parts[0])["data"][name]
                seal = stores._checksum(*parts)
                connection.execute(f"UPDATE {table} SET checksum = ? WHERE {key} = ?", (seal, name))
