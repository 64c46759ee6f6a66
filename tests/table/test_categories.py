"""Texts become the codes that Python's own dictionary would give them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sureleaf.table import encode, read_table
from sureleaf.table.categories import code_texts


def code_slowly(texts):
    distinct = list(dict.fromkeys(text for text in texts if text is not None))
    return [-1 if text is None else distinct.index(text) for text in texts], distinct


def draw_texts(rng, n):
    """Texts of every length around the eight and sixteen bytes that are looked at first."""
    stems = ["", "a", "ab", "é", "12345678", "1234567é", "123456789012345678901234", "\0", "\0\0"]
    texts = [
        stem + "x" * k + end for stem in stems for k in (0, 1, 7, 8, 9, 16, 17) for end in "yz"
    ]
    drawn = [texts[i] for i in rng.integers(0, len(texts), n)]
    return [None if rng.random() < 0.1 else text for text in drawn]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_codes_are_those_of_a_dictionary(kind, seed) -> None:
    texts = draw_texts(np.random.default_rng(seed), 700)
    expected, distinct = code_slowly(texts)
    whole = pa.array(texts, kind)
    for given in (whole, pa.chunked_array([texts[:5], [], texts[5:400], texts[400:]], kind)):
        codes, found = code_texts(given)
        assert (codes.tolist(), found.to_pylist()) == (expected, distinct)
    codes, found = code_texts(whole[13:500])  # a part of Arrow's memory, with its own marks
    assert (codes.tolist(), found.to_pylist()) == code_slowly(texts[13:500])


def test_many_long_texts_that_begin_and_end_alike() -> None:
    texts = [f"the same beginning {i:06} the same end" for i in range(5000)] * 2
    codes, found = code_texts(pa.array(texts))
    assert codes.tolist() == [*range(5000), *range(5000)]
    assert len(found) == 5000


@pytest.mark.parametrize("texts", [[], [None], [""], [None, "", None, ""]])
def test_few_or_empty_texts(texts) -> None:
    codes, found = code_texts(pa.array(texts, pa.string()))
    assert (codes.tolist(), found.to_pylist()) == code_slowly(texts)


@pytest.mark.parametrize("n_categories", [3, 99, 100, 101, 500])
def test_many_and_few_categories_are_matched_alike(n_categories) -> None:
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


def test_pandas_categories_keep_their_codes_with_and_without_rows() -> None:
    column = pd.Categorical(["b", None, "a", "b"], categories=["z", "b", "a"])
    table = read_table(pd.DataFrame({"x": column, "o": column.as_ordered()}))
    assert table.columns[0].tolist() == [1, -1, 0, 1]
    assert table.schema.columns[0].categories == ("a", "b")
    assert table.columns[1].tolist() == [1, -1, 2, 1]
    assert table.schema.columns[1].categories == ("z", "b", "a")
