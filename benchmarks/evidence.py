"""The record of everything that benchmarks and simulations measured, and the pages made from it.

``docs/evidence/record.json`` has two parts: the runs of benchmarks (`benchmarks.running`) and the
promises (`benchmarks.quality.promises`). Pages mark the place of a table by a line such as
``<!-- run: python -m benchmarks.speed tree -->``. `make docs` writes the tables, so nobody types a
figure and no table stands in the repository twice.
"""

import json
from pathlib import Path
from typing import Any

RECORD = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "record.json"
_WIDTH = 200


def read_part(name: str, path: Path = RECORD) -> Any:
    """Return a part of the record; None if it has none."""
    return json.loads(path.read_text(encoding="utf-8")).get(name) if path.exists() else None


def write_part(name: str, value: Any, path: Path = RECORD) -> None:
    """Replace a part of the record."""
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record[name] = value
    path.write_text(_compact(record) + "\n", encoding="utf-8")


def _compact(value: Any, indent: str = "") -> str:
    """Return JSON with one line per value that fits a line, so that changes can be read."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= _WIDTH or not isinstance(value, dict | list):
        return line
    inner = indent + " "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_compact(one, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(inner + part for part in parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + _compact(one, inner) for one in value) + f"\n{indent}]"
