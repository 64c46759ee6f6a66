"""What some rows of a table would have been had they been read alone."""

import numpy as np
import pyarrow
import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.table import encode, read_table
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


def test_rows_of_an_encoded_table_are_read_as_if_they_had_been_read_alone() -> None:
    rows = np.array([["a", 1.5], ["b", None], ["c", 2.5], ["c", 0.5]], dtype=object)
    table, some = read_table(rows), np.array([3, 0])
    again, alone = read_table(table[some]), read_table(rows[some])
    assert again.schema == alone.schema
    for column, expected in zip(again.columns, alone.columns, strict=True):
        np.testing.assert_array_equal(column, expected)
    encoded, expected_table = encode(table, alone.schema), encode(rows, alone.schema)
    for column, expected in zip(encoded.columns, expected_table.columns, strict=True):
        np.testing.assert_array_equal(column, expected)
    assert encoded.unseen_counts == expected_table.unseen_counts == {"x0": 1}


def test_an_encoded_table_with_other_columns_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="with other columns"):
        encode(read_table([["a"], ["b"]]), read_table([["a", 1], ["b", 2]]).schema)
