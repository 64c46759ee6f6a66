"""What some rows of a table would have been had they been read alone."""

import numpy as np
import pyarrow
import pytest

from sureleaf.table import read_table
from sureleaf.table.encoded_table import Recoding, Recodings


@pytest.mark.parametrize("seed", range(20))
def test_listed_rows_tell_the_same_as_all_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    letters = rng.choice(list("abcdefgh"), n, p=[0.6, 0.3, 0.05, 0.02, 0.01, 0.01, 0.005, 0.005])
    cells = letters.astype(object)
    cells[rng.random(n) < 0.1] = None
    table = read_table(pyarrow.table({"letter": cells.tolist(), "number": rng.normal(size=n)}))
    recodings = Recodings(table)
    for share in (0.05, 0.3, 0.63, 1.0):
        times = rng.poisson(share, n)
        expected = Recoding.of(table, np.flatnonzero(times))
        found = recodings.of(times)
        assert found.schema == expected.schema
        assert found.codes.keys() == expected.codes.keys()
        for place, codes in expected.codes.items():
            np.testing.assert_array_equal(found.codes[place], codes)


def test_a_common_category_of_which_no_listed_row_is_there() -> None:
    table = read_table([["a"]] * 40 + [["b"]])
    times = np.r_[np.zeros(39, int), 1, 1]
    assert Recodings(table).of(times).schema.columns[0].categories == ("a", "b")
    assert Recodings(table).of(np.r_[np.zeros(40, int), 1]).schema.columns[0].categories == ("b",)
