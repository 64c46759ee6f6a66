"""Numbers are read where they are; recoded rows are encoded as if they had been read alone."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from sureleaf import TreeClassifier, rank_columns
from sureleaf.errors import InvalidArgumentError
from sureleaf.table import encode, read_table
from sureleaf.table.encoded_table import recode


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_an_encoded_table_are_encoded_as_if_they_had_been_read_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    letters = rng.choice(["a", "b", "c", "d", None], 30)
    frame = pd.DataFrame({"letter": letters, "number": rng.normal(size=30)})
    table, rows = read_table(frame), rng.integers(0, 30, 6)
    part, alone = read_table(table[rows]), read_table(frame.take(rows))
    assert part.schema == alone.schema
    assert part.shape == (6, 2)
    whole, expected = recode(table, part.schema), encode(frame, alone.schema)
    assert whole.unseen_counts == expected.unseen_counts
    for ours, theirs in zip(
        [*part.columns, *whole.columns], [*alone.columns, *expected.columns], strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_an_encoded_table_of_other_columns_is_an_error() -> None:
    table = read_table([["a"], ["b"]])
    for other in (read_table([["a", 1.0]]), read_table([[1.0]])):
        with pytest.raises(InvalidArgumentError, match="X must have the columns of the training"):
            recode(table, other.schema)


DTYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint8]
OTHER_DTYPES = [np.float16, np.longdouble, np.uint16, np.uint32, np.uint64, ">f8", ">i4"]


def _numbers(n_rows: int, dtype: Any, order: Any = "C") -> tuple[NDArray[Any], NDArray[np.intp]]:
    rng = np.random.default_rng(3)
    numbers = rng.integers(0 if np.dtype(dtype).kind == "u" else -90, 100, (n_rows, 5))
    numbers[:, 0] = rng.integers(0, 3, n_rows)
    y = (numbers[:, 1] + numbers[:, 2] * (numbers[:, 0] == 1) > 40).astype(np.intp)
    return np.array(numbers, dtype=dtype, order=order), y


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES + OTHER_DTYPES)
def test_numbers_of_any_dtype_give_the_tree_and_predictions_of_float64(dtype, order) -> None:
    X, y = _numbers(3000, dtype, order)
    expected = TreeClassifier.c45(levels_from="training").fit(X.astype(float), y)
    model = TreeClassifier.c45(levels_from="training").fit(X, y)
    assert model.rules() == expected.rules()
    for rows in (X, X[:1], X[::-2], X[5:9, ::1]):
        wide = rows.astype(float)
        np.testing.assert_array_equal(model.predict_proba(rows), expected.predict_proba(wide))
        np.testing.assert_array_equal(model.apply(rows), expected.apply(wide))
    assert model.leaves().to_pandas().equals(expected.leaves().to_pandas())


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_kernel_reads_numbers_where_they_are(dtype: Any) -> None:
    X, _ = _numbers(20, dtype)
    table = read_table(X)
    assert np.shares_memory(encode(X, table.schema).columns[2], X)
    assert np.shares_memory(table.columns[2], X)
    assert [len(column) for column in table.columns] == [20] * 5


@pytest.mark.usefixtures("few_rounds")
def test_float32_rows_with_missing_values_reach_the_leaves_of_float64_rows() -> None:
    X, y = _numbers(2000, np.float32)
    X[np.random.default_rng(4).random(X.shape) < 0.1] = np.nan
    for missing in ("fraction", "branch"):
        tree = TreeClassifier.c45(missing=missing, random_state=0)
        model, expected = clone(tree).fit(X, y), clone(tree).fit(X.astype(float), y)
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
        assert model.levels() == expected.levels()


def test_a_frame_of_one_number_dtype_is_one_array_and_keeps_its_names() -> None:
    X, y = _numbers(500, np.float32)
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = TreeClassifier.c45().fit(frame, y)
    expected = model.predict_proba(frame.astype(object).astype(float))
    np.testing.assert_array_equal(model.predict_proba(frame), expected)
    np.testing.assert_array_equal(model.predict_proba(frame[list("ecbda")]), expected)
    for other in (frame.drop(columns="e"), frame.rename(columns={"e": "f"})):
        with pytest.raises(InvalidArgumentError, match="yet now missing:\n- e"):
            model.predict_proba(other)


def test_negative_whole_numbers_are_not_missing() -> None:
    X, y = _numbers(400, np.int32)
    table = read_table(X)
    assert not table.is_missing(1).any()
    assert not table.schema_with_missing().columns[1].has_missing
    ranking, expected = rank_columns(X, y), rank_columns(X.astype(float), y)
    assert ranking.to_pandas().equals(expected.to_pandas())
