"""X may be a table of many libraries; other objects are errors that say what to do."""

import datetime
import warnings
from collections import UserDict
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.table import encode, encode_labels, read_table
from sureleaf.table.encoded_table import MatrixColumns
from sureleaf.table.frames import array_of_numbers
from tests.table.test_libraries import OnlyAStream


def as_column(values: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series(values, dtype=object)})


MATRIX = np.arange(12, dtype=np.float64).reshape(4, 3)


@pytest.mark.parametrize("X", [MATRIX, np.asfortranarray(MATRIX), MATRIX[::-2, ::2], MATRIX.T])
def test_a_float64_array_of_any_stride_is_not_copied(X: np.ndarray) -> None:
    for index, column in enumerate(read_table(X).columns):
        assert np.shares_memory(column, X)
        np.testing.assert_array_equal(column, X[:, index])


def test_float64_columns_of_data_frames_without_nulls_are_not_copied() -> None:
    for X in (pd.DataFrame(MATRIX), pd.DataFrame({"a": MATRIX[:, 0].copy()})):
        for index, column in enumerate(read_table(X).columns):
            assert np.shares_memory(column, X.iloc[:, index].to_numpy())
    series = pl.Series("a", [1.5, 2.5])
    assert np.shares_memory(read_table(series.to_frame()).columns[0], series.to_numpy())
    array = pa.array([1.5, 2.5])
    assert np.shares_memory(read_table(pa.table({"a": array})).columns[0], array.to_numpy())


@pytest.mark.parametrize(
    ("dtype", "encoded"),
    [
        *[(name, name) for name in ("int8", "uint8", "int16", "int32", "int64", "float32")],
        *[(name, "float64") for name in ("uint16", "uint64", "float16", "longdouble", ">f8")],
    ],
)
def test_numbers_that_the_kernel_does_not_read_become_float64(dtype: str, encoded: str) -> None:
    table = read_table(MATRIX.astype(dtype))
    for index, column in enumerate(table.columns):
        assert column.dtype == encoded
        assert column.dtype.isnative
        np.testing.assert_array_equal(column, MATRIX[:, index])


def test_integers_beyond_float64_are_different_categories() -> None:
    X = np.array([[2**53, 0], [2**53 + 1, 0], [-(2**60) - 1, 0]])
    table = read_table(X, categorical_features=[0])
    assert table.schema.columns[0].categories == (-(2**60) - 1, 2**53, 2**53 + 1)


def test_unaligned_numbers_are_copied() -> None:
    raw = np.zeros(8 * 4 + 1, np.uint8)[1:].view(np.float64)
    assert read_table(raw.reshape(4, 1)).columns[0].flags.aligned


def test_infinite_and_extreme_numbers_are_numbers() -> None:
    values = [np.inf, -np.inf, 5e-324, -1.7976931348623157e308, np.nan]
    np.testing.assert_array_equal(read_table(np.array([values]).T).columns[0], values)
    objects = [[10**400], [-(10**400)], [2**70], [None]]
    np.testing.assert_array_equal(
        read_table(objects).columns[0], [np.inf, -np.inf, 2.0**70, np.nan]
    )


def test_masked_values_are_missing_in_arrays_of_every_kind() -> None:
    mask = [[True], [False]]
    for data, expected in (
        ([[1], [2]], [np.nan, 2.0]),
        ([[1.5], [2.5]], [np.nan, 2.5]),
        ([[True], [False]], [-1, 0]),
        ([["a"], ["b"]], [-1, 0]),
    ):
        masked = np.ma.MaskedArray(data, mask)
        np.testing.assert_array_equal(read_table(masked).columns[0], expected)
        unmasked = np.ma.MaskedArray(data)
        assert not np.any(read_table(unmasked).columns[0] == -1)


def test_every_kind_of_missing_value_is_missing() -> None:
    missing_values = [None, float("nan"), np.float64("nan"), pd.NA, pd.NaT, np.float32("nan")]
    for first, missing in ((1.5, np.nan), ("a", -1), (True, -1), (pd.Timestamp("1970"), np.nan)):
        objects = np.empty((7, 1), dtype=object)
        objects[:, 0] = [first, *missing_values]
        for X in (objects, pd.DataFrame(objects, columns=["a"]), objects.tolist()):
            column = read_table(X).columns[0]
            np.testing.assert_array_equal(column[1:], np.full(6, missing))
    both = pl.DataFrame({"a": [1.0, None, float("nan")]})
    np.testing.assert_array_equal(read_table(both).columns[0], [1.0, np.nan, np.nan])
    assert read_table(both, categorical_features=["a"]).columns[0].tolist() == [0, -1, -1]


@pytest.mark.parametrize("scalar", [np.datetime64, np.timedelta64])
def test_numpy_times_among_objects_may_be_missing(scalar: Any) -> None:
    times = np.array([[scalar(1, "D")], [scalar("NaT", "D")], [None], [pd.NaT]], dtype=object)
    table = read_table(times)
    assert table.schema.columns[0].kind == "date"
    assert np.isnan(table.columns[0]).tolist() == [False, True, True, True]
    check_error(np.array([[scalar(1, "D")], [2]], dtype=object), InvalidTypeError, "of one type")


def test_a_missing_value_does_not_turn_dates_into_timestamps() -> None:
    days = [datetime.date(2024, 2, 29), pd.NaT, datetime.date(2023, 1, 1)]
    assert read_table(as_column(days)).schema.columns[0].temporal == "date"
    days.append(datetime.datetime(2024, 2, 29, 12))
    assert read_table(as_column(days)).schema.columns[0].temporal == "timestamp"


def test_times_with_and_without_a_time_zone_in_one_column_are_an_error() -> None:
    east = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    times = [None, east, east.astimezone(datetime.UTC)]
    assert read_table(as_column(times)).columns[0][1:].tolist() == [1709200800000000.0] * 2
    times.append(datetime.datetime(2024, 2, 29, 12))
    check_error(
        as_column(times), InvalidTypeError, r"time zone.*\+00:00 in row 2.* in row 3.*to_datetime"
    )


def test_an_empty_text_is_a_value() -> None:
    assert read_table([[""], ["a"], [None]]).schema.columns[0].categories == ("", "a")


def test_every_value_is_unseen_in_a_column_that_had_none() -> None:
    for X in (
        pd.DataFrame({"a": [None, None]}, dtype=object),
        pd.DataFrame({"a": [None, None]}, dtype="str"),
        pa.table({"a": [None, None]}),
        pl.DataFrame({"a": [None, None]}),
    ):
        table = read_table(X)
        assert table.schema.columns[0].categories == ()
        assert table.columns[0].tolist() == [-1, -1]
        for values in (["x", None], [1.5, None], [True, None]):
            later = encode(pd.DataFrame({"a": values}, dtype=object), table.schema)
            assert later.columns[0].tolist() == [-2, -1]


@pytest.mark.parametrize(
    "values",
    [
        pd.array([1, None], "Int64"),
        pd.array([1.0, None], "Float32"),
        pd.array([1, None], pd.ArrowDtype(pa.decimal128(5, 2))),
        pd.arrays.SparseArray([1.0, np.nan]),
    ],
)
def test_numbers_of_pandas_extension_types_are_numeric(values: Any) -> None:
    column = read_table(pd.DataFrame({"a": values})).columns[0]
    np.testing.assert_array_equal(column, [1.0, np.nan])


def test_decimals_and_half_floats_of_arrow_are_numeric() -> None:
    halves = pa.array([np.float16(1), None], pa.float16())
    kinds = (pa.decimal128(5, 2), pa.decimal256(50, 2), pa.uint64())
    for array in (halves, *(pa.array([1, None], kind) for kind in kinds)):
        column = read_table(pa.table({"a": array})).columns[0]
        np.testing.assert_array_equal(column, [1.0, np.nan])


@pytest.mark.parametrize(
    "arrow_type",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(1), pa.large_binary(),
     pa.run_end_encoded(pa.int32(), pa.string())],
)  # fmt: skip
def test_text_of_every_arrow_type_is_categorical(arrow_type: Any) -> None:
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(arrow_type):
        values = pc.run_end_encode(pa.array(["b", "a", None]))
    else:
        texts = ["b", "a", None] if arrow_type != pa.binary(1) else [b"b", b"a", None]
        values = pa.array(texts, arrow_type)
    table = read_table(pa.table({"a": values}))
    assert table.schema.columns[0].categories == ("a", "b")
    assert table.columns[0].tolist() == [1, 0, -1]


@pytest.mark.parametrize("dtype", ["U1", "S1", np.dtypes.StringDType()])
def test_text_of_every_numpy_type_is_categorical(dtype: Any) -> None:
    table = read_table(np.array([["b"], ["a"]], dtype=dtype))
    assert table.schema.columns[0].categories == ("a", "b")
    assert table.columns[0].tolist() == [1, 0]


class Dataset(UserDict[str, Any]):
    """Offers what a Dataset of xarray offers: variables by name, and no conversion to one array."""

    def __array__(self, *_: Any) -> Any:
        raise TypeError("cannot directly convert an xarray.Dataset into a numpy array")

    def to_dataframe(self) -> pd.DataFrame:
        return pd.DataFrame(self.data)


def check_error(X: Any, error: type[SureleafError], message: str) -> None:
    with pytest.raises(error, match=message):
        read_table(X)


def test_an_object_that_is_not_a_table_is_an_error_that_says_what_to_do() -> None:
    check_error(
        np.zeros(3), InvalidArgumentError, r"Expected 2D array, got 1D array instead(.|\n)*resh"
    )
    check_error([1, 2], InvalidArgumentError, "Expected 2D array, got 1D array instead")
    check_error(5, InvalidArgumentError, "Expected 2D array, got scalar array instead")
    check_error(np.zeros((2, 2, 2)), InvalidArgumentError, "Found array with dim 3")
    check_error([[[1], [2]], [[3], [4]]], InvalidArgumentError, "Found array with dim 3")
    check_error([[1, 2], [3]], InvalidArgumentError, "must all have 2 values.*got 1 in row 1")
    check_error([[1, 2], 3], InvalidArgumentError, "must all have 2 values.*got 0 in row 1")
    check_error(
        [np.zeros(2), np.zeros(3)], InvalidArgumentError, "must all have 2 values.*got 3 in row 1"
    )
    check_error("text", InvalidArgumentError, "Expected 2D array, got scalar array instead")
    check_error({"a": [1]}, InvalidTypeError, r"got dict\. Use pandas.DataFrame\(X\) or pyarrow")
    check_error(Dataset(a=[1]), InvalidTypeError, r"got Dataset\. Call its method to_dataframe\(\)")
    check_error(None, InvalidTypeError, "got NoneType")
    for series in (pd.Series([1]), pl.Series([1]), pa.array([1]), pa.chunked_array([[1]])):
        check_error(series, InvalidArgumentError, "Expected a 2-dimensional container")
    check_error(pl.LazyFrame({"a": [1]}), InvalidTypeError, r"lazy.*method collect\(\) first")
    check_error(np.zeros(2, dtype=[("a", "f8")]), InvalidTypeError, r"structured.*DataFrame\(X\)")
    check_error(np.zeros((2, 1), dtype=[("a", "f8")]), InvalidTypeError, "structured")


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.coo_matrix])
def test_sparse_arrays_are_read_as_dense_ones(make: Any) -> None:
    X = np.random.default_rng(0).poisson(0.3, (200, 4)).astype(np.float32)
    y = X[:, 1] + X[:, 2] > 0
    model = TreeClassifier.c45().fit(make(X), y)
    assert model.rules() == TreeClassifier.c45().fit(X, y).rules()
    np.testing.assert_array_equal(model.predict(make(X)), model.predict(X))
    listed = read_table(make(X), categorical_features=[1])
    assert listed.schema.columns[1].kind == "categorical"


def test_a_list_of_dicts_is_a_table_with_names() -> None:
    table = read_table([{"a": 1, "b": "x"}, {"b": "y", "c": True}])
    assert table.schema.names == ("a", "b", "c")
    assert [column.kind for column in table.schema] == ["numeric", "categorical", "categorical"]
    assert table.is_missing(0).tolist() == [False, True]
    assert table.is_missing(2).tolist() == [True, False]


def test_the_levels_of_column_labels_are_joined_to_names() -> None:
    labels = pd.MultiIndex.from_tuples([("a", 1), ("a", "y")])
    frame = pd.DataFrame(np.arange(6).reshape(3, 2), columns=labels)
    schema = read_table(frame).schema
    assert schema.names == ("a.1", "a.y")
    table = encode(frame[[("a", "y"), ("a", 1)]], schema)
    np.testing.assert_array_equal(table.columns[0], [0, 2, 4])
    same = pd.MultiIndex.from_tuples([("a.b", "c"), ("a", "b.c")])
    check_error(frame.set_axis(same, axis=1), InvalidArgumentError, "'a.b.c' more than once")


def test_a_reader_that_was_read_before_is_no_table_without_rows() -> None:
    table = pa.table({"a": [1.0, 2.0, 3.0, 4.0]})
    model = TreeClassifier(pruning=None).fit(table, [0, 0, 1, 1])
    reader = table.to_reader()
    assert model.predict(reader).tolist() == [0, 0, 1, 1]
    with pytest.raises(InvalidArgumentError, match="only once: keep them with table"):
        model.predict(reader)
    check_error(reader, InvalidArgumentError, r"only once: keep them with table = reader.read_all")


def test_an_xarray_is_rows_and_columns_not_one_row_per_cell() -> None:
    xarray = pytest.importorskip("xarray")
    named = xarray.DataArray(MATRIX, dims=("row", "col"), coords={"col": ["a", "b", "c"]})
    table = read_table(named)
    assert table.schema.names == ("a", "b", "c")
    assert table.n_rows == 4
    np.testing.assert_array_equal(np.column_stack(list(table.columns)), MATRIX)
    assert read_table(xarray.DataArray(MATRIX)).schema.names == ("x0", "x1", "x2")
    with pytest.raises(InvalidArgumentError, match="dim 3"):
        read_table(xarray.DataArray(np.ones((4, 2, 2))))


def test_a_list_of_rows_of_numbers_is_read_as_one_array() -> None:
    table = read_table([[1, 2.5], [float("nan"), -4]])
    assert isinstance(table.columns, MatrixColumns)  # not one column of objects after the other
    np.testing.assert_array_equal(np.column_stack(list(table.columns)), [[1, 2.5], [np.nan, -4]])
    for cell in (None, True, "red", 2**53 + 1):
        assert array_of_numbers([[1, cell]]) is None
    assert array_of_numbers([[1, 2], [3]]) is array_of_numbers([]) is None


def test_a_list_of_numbers_is_refused_without_printing_all_of_it() -> None:
    with pytest.raises(InvalidArgumentError) as problem:
        read_table(list(range(1000)))
    assert "got 1D array instead: [0, 1, 2, 3, ...]. Reshape your data" in str(problem.value)


def test_numbers_given_as_text_are_a_warning() -> None:
    ages = [str(age) for age in range(30, 50)]
    days = [f"2024-03-{day:02}" for day in range(1, 22)]
    for values, note in (
        ([*ages, "?"], "'age' .* 20 of its 21 .* are numbers; the others are '?'"),
        ([*ages, "1.5"], "21 of its 21 different values are numbers. If"),
        ([*(f"{age},5" for age in ages), "17"], r"are numbers with commas.*replace\(',', '.'\)"),
        ([*days, "?"], r"21 of its 22 .* are dates; .* pandas.to_datetime"),
    ):
        with pytest.warns(UserWarning, match=note):
            read_table(pd.DataFrame({"age": values}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(pd.DataFrame({"age": ages}))  # few enough to be meant as categories
        read_table(pd.DataFrame({"age": [*ages, "?"]}), categorical_features=["age"])
        read_table(pd.DataFrame({"age": [*ages, "?"]}, dtype="category"))
        read_table(pd.DataFrame({"age": [*ages, "a", "b", "c", "d"]}))


def test_empty_tables_have_the_error_of_scikit_learn() -> None:
    zero_rows = r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is"
    check_error(np.empty((0, 3)), InvalidArgumentError, zero_rows)
    check_error(pd.DataFrame({"a": [], "b": [], "c": []}), InvalidArgumentError, zero_rows)
    zero_columns = r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1 is required\."
    check_error(np.empty((12, 0)), InvalidArgumentError, zero_columns)
    check_error(pd.DataFrame(index=range(12)), InvalidArgumentError, zero_columns)
    check_error([], InvalidArgumentError, "Expected 2D array, got 1D array")


def test_repeated_or_mixed_column_names_are_an_error_and_numbers_are_not_names() -> None:
    twice = pd.DataFrame(np.zeros((2, 3)), columns=["a", "b", "a"])
    check_error(twice, InvalidArgumentError, "'a' more than once")
    arrow_twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    check_error(arrow_twice, InvalidArgumentError, "'a' more than once")
    mixed = pd.DataFrame(np.zeros((2, 2)), columns=["a", 1])
    check_error(mixed, InvalidTypeError, r"only supported if all input .* string names.*'int'")
    schema = read_table(pd.DataFrame(np.zeros((2, 2)), columns=[5, 7])).schema
    assert (schema.names, schema.named) == (("x0", "x1"), False)


def test_values_that_are_not_numbers_text_or_dates_are_an_error_with_their_column() -> None:
    check_error(np.ones((2, 2), complex), InvalidArgumentError, "Complex data not supported.*'x0'")
    check_error([[1j]], InvalidArgumentError, "Complex data not supported.*'x0'.*1j in row 0")
    # the message that scikit-learn's check_dtype_object looks for
    check_error([[1.5], [{"foo": "bar"}]], InvalidTypeError, "argument must be .* string.* number")
    check_error([[1.5], ["a"]], InvalidTypeError, "'x0'.*float 1.5 in row 0, str 'a' in row 1")
    check_error([["\ud800"]], InvalidTypeError, "'x0'.*surrogates")
    check_error(pa.table({"a": [[1]]}), InvalidTypeError, "'a' must hold .*list")
    check_error(pl.DataFrame({"a": [{"b": 1}]}), InvalidTypeError, "'a' must hold .*struct")
    check_error(pa.table({"a": [b"\xff"]}), InvalidTypeError, "'a' must hold .*not UTF-8")
    period = pd.DataFrame({"a": pd.period_range("2024", periods=2, freq="M")})
    check_error(period, InvalidTypeError, "'a' must hold .*period")
    mixed = pd.DataFrame({"a": pd.Categorical([1, "b"])})
    check_error(mixed, InvalidTypeError, "'a' must hold .*category")


def test_a_numpy_matrix_is_an_array() -> None:
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix([[1.0, 2.0], [3.0, 4.0]])
    assert [column.tolist() for column in read_table(matrix).columns] == [[1.0, 3.0], [2.0, 4.0]]


def test_a_lazy_table_with_an_arrow_stream_is_read() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()  # older versions close it with its last name
    relation = connection.sql(
        "select range::hugeint as n, if(range % 2 = 0, 'a', 'b') as t from range(3)"
    )
    table = read_table(relation)
    assert [column.tolist() for column in table.columns] == [[0.0, 1.0, 2.0], [0, 1, 0]]
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    check_error(OnlyAStream(twice), InvalidArgumentError, "'a' more than once")


def test_polars_types_that_arrow_lacks_are_read() -> None:
    wide = pl.DataFrame({"n": pl.Series([1, None, 2**100], dtype=pl.Int128)})
    np.testing.assert_array_equal(read_table(wide).columns[0], [1.0, np.nan, 2.0**100])
    labels = pl.Series([7, 5, 7], dtype=pl.Int128)
    assert encode_labels(labels)[1].tolist() == [5, 7]
    objects = pl.DataFrame({"o": pl.Series(["b", None, "a"], dtype=pl.Object)})
    assert read_table(objects).columns[0].tolist() == [1, -1, 0]
    check_error(
        pl.DataFrame({"o": pl.Series([{1}], dtype=pl.Object)}), InvalidTypeError, "'o'.*list"
    )


def test_an_array_like_of_an_unknown_library_is_a_table() -> None:
    class NotAnArray:
        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return MATRIX

    np.testing.assert_array_equal(np.column_stack(read_table(NotAnArray()).columns), MATRIX)


def test_importing_the_package_imports_no_data_frame_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, sureleaf.table\n"
        "print({'pandas', 'polars', 'pyarrow', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("n_chunks", [1, 2])
def test_categories_that_are_structs_or_lists_are_refused(n_chunks):
    codes = pa.array([0, 0], pa.int8())
    for categories in (pa.array([{}], pa.struct([])), pa.array([[1]])):
        chunk = pa.DictionaryArray.from_arrays(codes, categories)
        column = pa.chunked_array([chunk] * n_chunks)
        with pytest.raises(InvalidTypeError, match=r"'a' must hold numbers.*got type dictionary"):
            read_table(pa.table({"a": column}))
