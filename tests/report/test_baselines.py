"""What classifiers of other libraries get."""

import numpy as np
import pyarrow as pa
import pytest

from sureleaf.report import baselines
from sureleaf.report.baselines import max_categories, numeric_matrix
from sureleaf.table import read_table


def test_only_the_most_frequent_of_many_categories_get_a_column() -> None:
    words = [f"w{i % 60:02}" for i in range(100)]  # w00 to w39 come twice
    numbers = numeric_matrix(read_table(pa.table({"word": words})))
    assert numbers.shape == (100, baselines.MAX_CATEGORIES)
    assert numbers[:, :40].sum(axis=0).tolist() == [2.0] * 40


def test_infinite_and_huge_numbers_become_what_scikit_learn_takes() -> None:
    column = pa.table({"x": [np.inf, -1e300, 0.5, None]})
    numbers = numeric_matrix(read_table(column))[:, 0]
    assert np.isfinite(numbers[:3]).all()
    assert np.isnan(numbers[3])


def test_a_table_of_many_rows_keeps_within_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_table(pa.table({"a": ["x", "y"] * 500, "b": ["u", "v"] * 500}))
    monkeypatch.setattr(baselines, "MAX_CELLS", 20_000)
    assert max_categories(table) == 10
