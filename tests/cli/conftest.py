"""Tables and a model that the tests of several commands share."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

from sureleaf.cli import main
from tests.cli.fitted_rows import make_rows


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A number, a text with missing values, groups, weights, and labels, two of them missing."""
    rng = np.random.default_rng(0)
    lines = ["size,colour,site,mass,class"]
    for i in range(200):
        label = int(rng.random() < 0.5)
        size = rng.normal() + 2 * label
        colour = "" if i % 17 == 0 else ("red", "blue")[int(rng.random() < 0.3 + 0.3 * label)]
        shown = "" if i in (5, 6) else ("no", "yes")[label]
        lines.append(f"{size:.3f},{colour},s{i // 4},{1 + i % 2},{shown}")
    path = tmp_path_factory.mktemp("evaluation") / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, rows.csv, and a model fitted to it, m."""
    path = tmp_path_factory.mktemp("fit")
    pa.csv.write_csv(make_rows(), path / "rows.csv")
    with pytest.raises(SystemExit):
        main(["fit", str(path / "rows.csv"), "-t", "class", "--drop", "id", "-o", str(path / "m")])
    return path


@pytest.fixture(scope="module", autouse=True)
def _little_work(few_rounds: None, small_budget: None) -> None:
    """A command states what the library states, however much work that is."""
