"""Texts get the codes that a Python dict would give them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sureleaf.table import encode, read_table
from sureleaf.table.categories import encode_texts


def naive_codes(texts):
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    return [-1 if text is None else distinct.index(text) for text in texts], distinct


def draw_texts(rng, n):
    """Texts of lengths around 8 and 16 bytes, which are compared first."""
    stems = ["", "a", "ab", "é", "12345678", "1234567é", "123456789012345678901234", "\0", "\0\0"]
    texts = [
        stem + "x" * k + end for stem in stems for k in (0, 1, 7, 8, 9, 16, 17) for end in "yz"
    ]
    drawn = [texts[i] for i in rng.integers(0, len(texts), n)]
    return [None if rng.random() < 0.1 else text for text in drawn]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_codes_are_those_of_a_python_dict(kind, seed) -> None:
    texts = draw_texts(np.random.default_rng(seed), 700)
    expected, distinct = naive_codes(texts)
    whole = pa.array(texts, kind)
    for array in (whole, pa.chunked_array([texts[:5], [], texts[5:400], texts[400:]], kind)):
        codes, values = encode_texts(array)
        assert (codes.tolist(), values.to_pylist()) == (expected, distinct)
    codes, values = encode_texts(whole[13:500])  # a slice of the memory, with a bit offset
    assert (codes.tolist(), values.to_pylist()) == naive_codes(texts[13:500])


def test_long_texts_with_equal_beginning_and_end_are_distinguished() -> None:
    texts = [f"the same beginning {i:06} the same end" for i in range(5000)] * 2
    codes, values = encode_texts(pa.array(texts))
    assert codes.tolist() == [*range(5000), *range(5000)]
    assert len(values) == 5000


@pytest.mark.parametrize("texts", [[], [None], [""], [None, "", None, ""]])
def test_few_or_empty_texts_have_the_codes_of_a_python_dict(texts) -> None:
    codes, values = encode_texts(pa.array(texts, pa.string()))
    assert (codes.tolist(), values.to_pylist()) == naive_codes(texts)


@pytest.mark.parametrize("n_categories", [3, 99, 100, 101, 500])
def test_few_and_many_categories_are_matched_equally(n_categories) -> None:
    rng = np.random.default_rng(n_categories)
    words = [f"w{i:03}" for i in range(n_categories)]
    seen = pd.Series(rng.permutation(words * 2))
    now = pd.Series([None, "other", *rng.permutation([*words, "more"])])
    schema = read_table(pd.DataFrame({"x": seen})).schema
    expected = [-1, -2, *(int(word[1:]) if word != "more" else -2 for word in now[2:])]
    for column in (now, now.astype("category"), now.astype(object)):
        table = encode(pd.DataFrame({"x": column}), schema)
        assert table.columns[0].tolist() == expected
        assert table.unseen_counts == {"x": 2}


def test_unused_pandas_categories_are_dropped_unless_they_are_ordered() -> None:
    column = pd.Categorical(["b", None, "a", "b"], categories=["z", "b", "a"])
    table = read_table(pd.DataFrame({"x": column, "o": column.as_ordered()}))
    assert table.columns[0].tolist() == [1, -1, 0, 1]
    assert table.schema.columns[0].categories == ("a", "b")
    assert table.columns[1].tolist() == [1, -1, 2, 1]
    assert table.schema.columns[1].categories == ("z", "b", "a")
