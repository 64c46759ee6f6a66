"""Recoded rows are encoded as if they had been read alone."""

import numpy as np
import pyarrow
import pytest

from sureleaf.table import read_table
from sureleaf.table.encoded_table import Recoding, Recodings


@pytest.mark.parametrize("seed", range(20))
def test_recodings_from_listed_rows_equal_those_from_all_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    letters = rng.choice(list("abcdefgh"), n, p=[0.6, 0.3, 0.05, 0.02, 0.01, 0.01, 0.005, 0.005])
    cells = letters.astype(object)
    cells[rng.random(n) < 0.1] = None
    table = read_table(pyarrow.table({"letter": cells.tolist(), "number": rng.normal(size=n)}))
    recodings = Recodings(table)
    for share in (0.05, 0.3, 0.63, 1.0):
        row_counts = rng.poisson(share, n)
        expected = Recoding.of(table, np.flatnonzero(row_counts))
        recoding = recodings.of(row_counts)
        assert recoding.schema == expected.schema
        assert recoding.codes.keys() == expected.codes.keys()
        for index, codes in expected.codes.items():
            np.testing.assert_array_equal(recoding.codes[index], codes)


def test_a_frequent_category_is_kept_even_if_none_of_its_listed_rows_is_in_the_part() -> None:
    table = read_table([["a"]] * 40 + [["b"]])
    row_counts = np.r_[np.zeros(39, int), 1, 1]
    assert Recodings(table).of(row_counts).schema.columns[0].categories == ("a", "b")
    assert Recodings(table).of(np.r_[np.zeros(40, int), 1]).schema.columns[0].categories == ("b",)
