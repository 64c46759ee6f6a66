"""Print J48's trees of small random tables with Weka, into j48_random_trees.json beside this file.

Weka is used as a black box: `apt-get install weka`, then
`python -m tests.reference.make_j48_trees /usr/share/java/weka.jar`.
Tables are stored as the text of their cells: no random generator is needed to read them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

OUT = Path(__file__).with_name("j48_random_trees.json")
N_TABLES = 60
KINDS = {"pruned": [], "unpruned": ["-U"]}


def random_table(seed: int) -> dict:
    """Columns of text ("" is missing) that lean on the labels, with ties, near-ties and holes."""
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(20, 301))
    n_classes = int(random.integers(2, 6))
    labels = random.choice(n_classes, n_rows, p=random.dirichlet(np.full(n_classes, 3.0)))
    columns = []
    for number in range(int(random.integers(2, 8))):
        strength = random.choice([0.0, 0.4, 1.0])
        make = random_categories if random.random() < 0.45 else random_numbers
        cells = make(random, labels, strength)
        holes = random.random(n_rows) < random.choice([0, 0, 0.05, 0.3])
        kind = "categorical" if make is random_categories else "numeric"
        cells = ["" if hole else cell for cell, hole in zip(cells, holes, strict=True)]
        columns.append({"name": f"a{number}", "kind": kind, "cells": cells})
    return {"seed": seed, "columns": columns, "labels": [f"c{label}" for label in labels]}


def random_categories(random, labels, strength: float) -> list[str]:
    n_values = int(random.integers(2, 9))
    noise = random.choice(n_values, len(labels), p=random.dirichlet(np.full(n_values, 1.5)))
    leaning = random.random(len(labels)) < strength * 0.6
    return [f"v{code}" for code in np.where(leaning, labels % n_values, noise)]


def random_numbers(random, labels, strength: float) -> list[str]:
    values = random.normal(size=len(labels)) + strength * labels
    style = random.choice(["continuous", "rounded", "integers", "near ties", "noise", "skewed"])
    if style == "rounded":
        return [f"{value:.1f}" for value in values]
    if style == "integers":
        return [f"{3 * value:.0f}" for value in values]
    if style == "near ties":  # neighbours 0.2e-5 to 2e-5 apart
        steps = random.choice([2e-6, 5e-6, 1e-5], len(labels)) * random.integers(-2, 3, len(labels))
        return [f"{value:.6f}" for value in np.round(values, 1) + steps]
    if style == "noise":  # closer than any tolerance, as computed columns are
        noise = random.choice([1e-16, 1e-7], len(labels)) * random.integers(-2, 3, len(labels))
        return [repr(value) for value in (np.round(values, 1) + noise).tolist()]
    if style == "skewed":
        return [f"{value:.3g}" for value in np.exp(3 * values)]
    return [f"{value:.4f}" for value in values]


def arff(table: dict) -> str:
    lines = ["@relation random"]
    for column in table["columns"]:
        values = sorted(set(column["cells"]) - {""})
        kind = "numeric" if column["kind"] == "numeric" else "{" + ",".join(values) + "}"
        lines.append(f"@attribute {column['name']} {kind}")
    lines.append("@attribute class {" + ",".join(sorted(set(table["labels"]))) + "}")
    lines.append("@data")
    rows = zip(*(column["cells"] for column in table["columns"]), table["labels"], strict=True)
    lines += [",".join(cell or "?" for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def print_tree(jar: str, table: dict, options: list[str]) -> str:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "table.arff")
        path.write_text(arff(table))
        command = ["java", "-cp", jar, "weka.classifiers.trees.J48", "-t", str(path), "-no-cv"]
        return subprocess.run(
            [*command, *options], check=True, capture_output=True, text=True
        ).stdout


def with_trees(jar: str, table: dict) -> dict:
    """The table and what J48 prints up to the number of training hits."""
    trees = {}
    for kind, options in KINDS.items():
        head = print_tree(jar, table, options).split("Incorrectly Classified", 1)[0]
        trees[kind] = "J48" + head.split("J48", 1)[1]
    return table | {"trees": trees}


def main(jar: str) -> None:
    tables = [random_table(seed) for seed in range(N_TABLES)]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda table: with_trees(jar, table), tables))
    OUT.write_text(json.dumps(done, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
