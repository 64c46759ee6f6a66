"""Grow J48 trees of small random tables with Weka, and store them in j48_random_trees.json.

Weka is used as a black box: `apt-get install weka`, then
`python -m tests.reference.make_j48_trees path/to/weka.jar`.
Tables are stored as the text of their cells, so no random generator is needed to read them.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

OUT = Path(__file__).with_name("j48_random_trees.json")
N_TABLES = 60
N_WITH_PROBABILITIES = 12


def random_table(seed: int) -> dict:
    """Return columns of text that depend on the labels, with ties, near-ties and missing values."""
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(20, 301))
    n_classes = int(random.integers(2, 6))
    labels = random.choice(n_classes, n_rows, p=random.dirichlet(np.full(n_classes, 3.0)))
    columns = []
    for number in range(int(random.integers(2, 8))):
        strength = random.choice([0.0, 0.4, 1.0])
        make = random_categories if random.random() < 0.45 else random_numbers
        cells = make(random, labels, strength)
        is_missing = random.random(n_rows) < random.choice([0, 0, 0.05, 0.3])
        kind = "categorical" if make is random_categories else "numeric"
        cells = ["" if missing else cell for cell, missing in zip(cells, is_missing, strict=True)]
        columns.append({"name": f"a{number}", "kind": kind, "cells": ",".join(cells)})
    chosen = {"confidence_factor": 0.25, "min_samples_leaf": 2}  # the defaults, for two of three
    if seed % 3 == 2:
        chosen = {
            "confidence_factor": float(random.choice([0.1, 0.4])),
            "min_samples_leaf": int(random.choice([1, 3, 8])),
        }
    names = ",".join(f"c{label}" for label in labels)
    return {"seed": seed, **chosen, "columns": columns, "labels": names}


def random_categories(random, labels, strength: float) -> list[str]:
    few, many = int(random.integers(2, 9)), int(0.35 * len(labels))
    n_values = many if random.random() < 0.05 else few  # 0.3 of the rows is a limit of rule 5
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
    labels = table["labels"].split(",")
    lines = ["@relation random"]
    for column in table["columns"]:
        values = sorted(set(column["cells"].split(",")) - {""})
        kind = "numeric" if column["kind"] == "numeric" else "{" + ",".join(values) + "}"
        lines.append(f"@attribute {column['name']} {kind}")
    lines.append("@attribute class {" + ",".join(sorted(set(labels))) + "}")
    lines.append("@data")
    cells = [column["cells"].split(",") for column in table["columns"]]
    rows = zip(*cells, labels, strict=True)
    lines += [",".join(cell or "?" for cell in row) for row in rows]
    return "\n".join(lines) + "\n"


def run_j48(jar: str, table: dict, options: list[str]) -> str:
    """Return the output of J48 after training and testing on the same table."""
    with tempfile.TemporaryDirectory() as directory:
        path = str(Path(directory, "table.arff"))
        Path(path).write_text(arff(table))
        command = ["java", "-cp", jar, "weka.classifiers.trees.J48", "-t", path, "-T", path]
        run = subprocess.run([*command, *options], check=True, capture_output=True, text=True)
        return run.stdout


def print_tree(jar: str, table: dict, options: list[str]) -> str:
    """Return the tree, its size and the number of correct training predictions, as printed."""
    text = run_j48(jar, table, options)
    hits = re.search(r"Correctly Classified Instances +\d+", text)[0]
    return "J48" + text.split("J48", 1)[1].split("\n\n\nTime taken", 1)[0] + f"\n\n{hits}\n"


def print_probabilities(jar: str, table: dict, options: list[str]) -> list[str]:
    """Return one text per row, with three decimals per class."""
    text = run_j48(jar, table, [*options, "-p", "0", "-distribution"])
    return [row.replace("*", "") for row in re.findall(r"^ +\d+ .* (\S+) *$", text, re.MULTILINE)]


def with_trees(jar: str, table: dict) -> dict:
    least = ["-M", str(table["min_samples_leaf"])]
    pruned = ["-C", str(table["confidence_factor"]), *least]
    unpruned = ["-U", *least]
    trees = {
        "pruned": print_tree(jar, table, pruned),
        "unpruned": print_tree(jar, table, unpruned),
    }
    if table["seed"] >= N_WITH_PROBABILITIES:
        return table | {"trees": trees}
    probabilities = {
        "pruned": print_probabilities(jar, table, pruned),
        "unpruned-laplace": print_probabilities(jar, table, [*unpruned, "-A"]),
    }
    return table | {"trees": trees, "probabilities": probabilities}


def main(jar: str) -> None:
    tables = [random_table(seed) for seed in range(N_TABLES)]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda table: with_trees(jar, table), tables))
    OUT.write_text(json.dumps(done, indent=0, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
