"""Recoded rows are encoded as if they had been read alone."""

import numpy as np
import pandas as pd
import pyarrow
import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.table import encode, read_table
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


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_an_encoded_table_are_encoded_as_if_they_had_been_read_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    letters = rng.choice(["a", "b", "c", "d", None], 30)
    frame = pd.DataFrame({"letter": letters, "number": rng.normal(size=30)})
    table, rows = read_table(frame), rng.integers(0, 30, 6)
    part, alone = read_table(table[rows]), read_table(frame.take(rows))
    assert part.schema == alone.schema
    assert part.shape == (6, 2)
    whole, expected = encode(table, part.schema), encode(frame, alone.schema)
    assert whole.unseen_counts == expected.unseen_counts
    for ours, theirs in zip(
        [*part.columns, *whole.columns], [*alone.columns, *expected.columns], strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_an_encoded_table_of_other_columns_is_an_error() -> None:
    table = read_table([["a"], ["b"]])
    for other in (read_table([["a", 1.0]]), read_table([[1.0]])):
        with pytest.raises(InvalidArgumentError, match="X must have the columns of the training"):
            encode(table, other.schema)
