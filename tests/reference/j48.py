"""The trees that J48 printed as data, and the tables that they were grown on."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from tests.naive.tree import Table, table
from tests.shared_files import SHARED

LEAF = re.compile(r": (?P<label>.*) \((?P<weight>[\d.E-]+)(?:/(?P<errors>[\d.E-]+))?\)$")
FIXTURES = SHARED / "fixtures" / "j48"
DATA_SETS = sorted(path.name.removesuffix(".pruned.txt") for path in FIXTURES.glob("*.pruned.txt"))


@dataclass(frozen=True)
class Line:
    """One printed branch, with the label, weight and errors of its leaf if it ends in one."""

    depth: int
    attribute: str
    operator: str  # "<=", ">" or "="
    value: str
    label: str | None
    weight: float | None
    errors: float | None


@dataclass(frozen=True)
class PrintedTree:
    """The printed branches in their order; a tree of a single leaf has one line of depth -1."""

    lines: tuple[Line, ...]
    n_leaves: int
    n_nodes: int
    training_hits: int | None


@dataclass(frozen=True)
class Named:
    """A table with the texts that its codes stand for."""

    data: Table
    columns: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]  # () for a numeric column
    labels: tuple[str, ...]


def parse(text: str, columns: tuple[str, ...]) -> PrintedTree:
    """Parse the output of J48; column names may be any text, so they must be given."""
    body = text.split("------------------\n", 1)[1].split("Number of Leaves", 1)[0]
    lines = tuple(parse_line(line, columns) for line in body.splitlines() if line.strip())
    hits = re.search(r"Correctly Classified Instances +(\d+)", text)
    return PrintedTree(
        lines,
        int(re.search(r"Number of Leaves  : \t(\d+)", text)[1]),
        int(re.search(r"Size of the tree : \t(\d+)", text)[1]),
        int(hits[1]) if hits else None,
    )


def parse_line(line: str, columns: tuple[str, ...]) -> Line:
    leaf = LEAF.search(line)
    ending = (None, None, None)
    if leaf:
        ending = leaf["label"], float(leaf["weight"]), float(leaf["errors"] or 0)
        line = line[: leaf.start()]
    if not line:
        return Line(-1, "", "", "", *ending)
    bars = re.match(r"(?:\|   )*", line)[0]
    for attribute in sorted(columns, key=len, reverse=True):
        test = re.fullmatch(rf"{re.escape(attribute)} (<=|>|=) (.*)", line[len(bars) :])
        if test:
            return Line(len(bars) // 4, attribute, test[1], test[2], *ending)
    raise ValueError(f"this line does not start with the name of a column: {line!r}")


@lru_cache(maxsize=2)
def load_table(name: str) -> Named:
    """Load a data set: empty cells are missing, categories and labels are sorted as text."""
    directory = SHARED / "data"
    schema = json.loads((directory / f"{name}.schema.json").read_text())
    with Path(directory / f"{name}.csv").open(newline="") as file:
        header, *rows = list(csv.reader(file))
    cells = dict(zip(header, zip(*rows, strict=True), strict=True))
    target = cells.pop(schema["target"])
    return named_table(cells, set(schema["numeric"]), target)


def named_table(cells: dict[str, Sequence[str]], numeric: set[str], target: Sequence[str]) -> Named:
    """Make a table from the text of its cells; empty cells are missing."""
    labels = tuple(sorted(set(target)))
    columns, values = [], []
    for column, texts in cells.items():
        if column in numeric:
            values.append(())
            columns.append([float(text) if text else np.nan for text in texts])
        else:
            values.append(tuple(sorted(set(texts) - {""})))
            code = {text: code for code, text in enumerate(values[-1])} | {"": -1}
            columns.append([code[text] for text in texts])
    counts = [len(texts) for texts in values]
    code = {label: code for code, label in enumerate(labels)}
    data = table(columns, counts, [code[label] for label in target], len(labels))
    return Named(data, tuple(cells), tuple(values), labels)


def load_printed(name: str, kind: str, columns: tuple[str, ...]) -> PrintedTree:
    """Load the printed tree of a data set; `kind` is "pruned" or "unpruned"."""
    return parse((FIXTURES / f"{name}.{kind}.txt").read_text(), columns)


def load_random_trees() -> list[dict]:
    """Load the random tables and their J48 trees that `make_j48_trees` wrote."""
    return json.loads(Path(__file__).with_name("j48_random_trees.json").read_text())


def random_named(stored: dict) -> Named:
    cells = {column["name"]: column["cells"].split(",") for column in stored["columns"]}
    numeric = {column["name"] for column in stored["columns"] if column["kind"] == "numeric"}
    return named_table(cells, numeric, stored["labels"].split(","))
