"""Labels of every type get the codes of numpy.unique."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from sureleaf import TreeClassifier
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.table import encode_labels

labels = st.one_of(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\x00")), min_size=1),
    st.lists(st.integers(-(2**62), 2**62), min_size=1),
    st.lists(st.integers(-5, 5), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.integers(-(2**60), 2**60).map(float), min_size=1),
)
SPELLINGS: dict[str, Any] = {
    "list": list,
    "NumPy": np.array,
    "NumPy objects": lambda values: np.array(values, dtype=object),
    "pandas": pd.Series,
    "pandas objects": lambda values: pd.Series(values, dtype=object),
    "pandas nullable": lambda values: pd.Series(values).convert_dtypes(),
    "pandas category": lambda values: pd.Series(pd.Categorical(values)),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda values: (
        pa.chunked_array([values[:1], values[1:]])
        if len(values) > 1
        else pa.chunked_array([values])
    ),
    "arrow category": lambda values: pa.array(values).dictionary_encode(),
}


@settings(max_examples=60)
@given(labels)
def test_codes_and_classes_are_those_of_numpy_unique_in_every_library(values: list[Any]) -> None:
    expected, expected_codes = np.unique(np.array(values), return_inverse=True)
    for label, spelling in SPELLINGS.items():
        codes, classes = encode_labels(spelling(values))
        assert codes.dtype == np.int32, label
        assert classes.tolist() == expected.tolist(), label
        np.testing.assert_array_equal(codes, expected_codes, err_msg=label)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "bool", "U2"])
def test_classes_keep_the_dtype_of_the_labels(dtype: str) -> None:
    labels = np.array([1, 0, 1]).astype(dtype)
    assert encode_labels(labels)[1].dtype == np.dtype(dtype).type(0).dtype


def test_text_of_data_frames_has_classes_of_python_text() -> None:
    for y in (pd.Series(["b", "a"]), pl.Series(["b", "a"]), pa.array(["b", "a"])):
        assert encode_labels(y)[1].dtype == object


def test_dates_may_be_labels() -> None:
    days = [datetime.date(2024, 1, 2), datetime.date(2024, 1, 1)]
    codes, classes = encode_labels(days)
    assert codes.tolist() == [1, 0]
    assert classes.tolist() == days[::-1]


def test_declared_categories_without_rows_are_not_classes() -> None:
    y = pd.Series(pd.Categorical(["b", "b"], categories=["c", "b", "a"]))
    codes, classes = encode_labels(y)
    assert (codes.tolist(), classes.tolist()) == ([0, 0], ["b"])


@pytest.mark.parametrize(
    "y",
    [
        [0.0, 1.0, np.nan, np.nan],
        ["a", "b", None, np.nan],
        ["a", "b", np.nan, np.nan],
        pd.Series([True, False, None, None]),
        pd.Series([1, 2, None, None], dtype="Int64"),
        pd.Series(pd.Categorical(["a", "b", None, None])),
        pl.Series([1.0, 2.0, None, float("nan")]),
        pa.array(["a", "b", None, None]),
        np.ma.MaskedArray([1, 2, 3, 4], [False, False, True, True]),
    ],
)
def test_a_missing_label_is_an_error_with_count_and_first_row(y: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"Input y contains NaN.*2 missing.*in row 2"):
        encode_labels(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5, 1.0], r"Unknown label type: continuous\. Maybe you are trying .*got 0.5 in row 0"),
        ([0.0, np.inf], r"Input y contains infinity or a value too large for dtype\('float64'\)"),
        ([], "y must have at least one label"),
        (None, "requires y to be passed, but the target y is None"),
        (np.zeros((3, 2)), r"y should be a 1d array, got an array of shape \(3, 2\) instead"),
        (np.zeros((3, 2, 2)), "y should be a 1d array"),
        ([[1], [1, 2]], "y should be a 1d array"),
        (5, "y should be a 1d array"),
        (pd.DataFrame({"a": [1], "b": [2]}), r"y should be a 1d array.*\(1, 2\)"),
    ],
)
def test_impossible_labels_have_the_error_of_scikit_learn(y: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        encode_labels(y)


def test_labels_of_mixed_types_or_bytes_are_an_error() -> None:
    for y in ([1, "a"], np.array([1, "a"], dtype=object), [{"a": 1}, 2]):
        with pytest.raises(InvalidTypeError, match="'y' must hold values of one type"):
            encode_labels(y)
    with pytest.raises(InvalidTypeError, match="got bytes"):
        encode_labels([b"a", b"b"])
    with pytest.raises(InvalidArgumentError, match="Complex data not supported"):
        encode_labels(np.array([1j]))


@pytest.mark.parametrize(
    "y", [np.array([[1], [0]]), pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]})]
)
def test_a_column_of_labels_is_read_with_the_warning_of_scikit_learn(y: Any) -> None:
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert encode_labels(y)[0].tolist() == [1, 0]


def test_objects_that_are_not_plain_text_are_encoded_too():
    class Word(str):
        pass

    words = np.empty(3, dtype=object)
    words[:] = [Word("b"), "a", np.str_("b")]
    codes, classes = encode_labels(words)
    assert codes.tolist() == [1, 0, 1]
    assert classes.tolist() == ["a", "b"]
    with pytest.raises(InvalidArgumentError, match="first in row 1"):
        encode_labels(np.array(["a", None, "b"], dtype=object))
    masked = np.ma.MaskedArray(np.array(["a", "b"], dtype=object), [False, True])
    with pytest.raises(InvalidArgumentError, match="first in row 1"):
        encode_labels(masked)


@pytest.mark.parametrize("spelling", [np.array, pd.Series])
def test_a_strided_view_of_objects_is_encoded(spelling):
    words = np.array(["b", "x", "ä", "x", "b", "x"] * 50, dtype=object)
    codes, classes = encode_labels(spelling(words)[::2])
    assert classes.tolist() == ["b", "ä"]
    assert codes.tolist() == [0, 1, 0] * 50
    assert classes.dtype == object


def test_texts_that_share_their_beginning_or_end_are_distinguished_at_every_length() -> None:
    texts = ["", *(("abcdefghi" * 2)[:size] for size in range(1, 18))]
    texts += [text[:i] + "#" + text[i + 1 :] for text in texts for i in range(len(text))]
    y = np.array(texts * 2, dtype=object)
    codes, classes = encode_labels(y)
    assert classes.tolist() == sorted(set(texts))
    assert classes[codes].tolist() == y.tolist()


LARGE = [2**70, 2**70 + 1, 5, 2**70]


@pytest.mark.parametrize(
    "spelling",
    [
        list,
        lambda labels: np.array(labels, dtype=object),
        lambda labels: pd.Series(labels, dtype=object),
        lambda labels: pl.Series(labels, dtype=pl.Int128),
        lambda labels: pa.array(labels, pa.decimal128(38)),
    ],
)
def test_integers_beyond_64_bits_are_different_classes(spelling: Any) -> None:
    codes, classes = encode_labels(spelling(LARGE))
    assert classes.tolist() == [5, 2**70, 2**70 + 1]
    assert codes.tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ([2**53, 2**53 + 1, 1.0], np.int64),
        ([2**64 - 1, 2**64 - 2, 2**63], np.uint64),
        ([2**63, -1, 2**63 + 1], object),
    ],
)
def test_integers_that_float64_would_merge_stay_apart(labels: list[Any], dtype: Any) -> None:
    codes, classes = encode_labels(labels)
    assert classes.dtype == dtype
    assert classes[codes].tolist() == labels


def test_uint64_labels_beyond_the_range_of_int64_are_coded() -> None:
    labels = np.array([2**63 + 5, 2**63 + 1, 2**64 - 1], np.uint64)
    for part in (labels, labels[:2]):  # a wide range is sorted, a narrow one is counted
        codes, classes = encode_labels(part)
        assert classes.dtype == np.uint64
        assert classes[codes].tolist() == part.tolist()


def test_times_that_differ_by_a_nanosecond_stay_apart_in_every_spelling() -> None:
    texts = ["2024-01-01T00:00:00.000000002", "2024-01-01T00:00:00.000000001"]
    stamps, expected = [pd.Timestamp(text) for text in texts], np.array(texts[::-1], "M8[ns]")
    for y in (
        stamps,
        np.array(stamps, dtype=object),
        pd.Series(stamps, dtype=object),
        pd.Series(stamps),
        np.array(texts, "M8[ns]"),
        pa.array(stamps, pa.timestamp("ns")),
        [stamp.tz_localize("UTC") for stamp in stamps],
    ):
        codes, classes = encode_labels(y)
        assert codes.tolist() == [1, 0]
        np.testing.assert_array_equal(classes, expected)
    durations = np.array([pd.Timedelta(2, "ns"), pd.Timedelta(1, "ns")], dtype=object)
    assert encode_labels(durations)[1].astype(int).tolist() == [1, 2]


def test_labels_of_numpys_variable_width_text_can_be_scored() -> None:
    X, y = np.arange(40.0)[:, None], np.repeat(["a", "b"], 20).astype(np.dtypes.StringDType())
    model = TreeClassifier(pruning=None).fit(X, y)
    assert model.score(X, y) == 1.0  # scikit-learn's accuracy_score refuses this type
