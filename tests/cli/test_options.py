"""The values of shared options are read, or are errors."""

from pathlib import Path

import numpy as np

from sureleaf.cli.options import read_cost


def test_a_cost_matrix_is_read_from_text_json_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text("0,2\n7,0\n")
    labels = np.array(["no", "yes"])
    assert read_cost(str(path), labels) == [[0, 2], [7, 0]]
    path.write_text("[[0, 2],\n [7, 0]]\n")
    assert read_cost(str(path), labels) == [[0, 2], [7, 0]]
    assert read_cost("0,2;7,0", labels) == read_cost("[[0,2],[7,0]]", labels) == [[0, 2], [7, 0]]
