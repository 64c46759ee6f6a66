import numpy as np
import pandas as pd
import pytest

from sureleaf import _kernel
from sureleaf.files.state_file import Damaged
from sureleaf.model import seen_rows as module
from sureleaf.model.seen_rows import SeenRows, seen_rows
from sureleaf.table import read_table
from sureleaf.tree import TrainingRows

RNG = np.random.default_rng(0)
N = 3000


def fingerprints(rows):
    """What row_fingerprints must give: model files keep these numbers."""
    prints = np.full(len(rows.labels), np.uint64(0x9E3779B97F4A7C15))
    for values in (rows.labels, *rows.table.columns):
        numbers = np.array([comparable(x) for x in np.asarray(values).astype(np.float64)])
        bits = np.where(np.isnan(numbers), np.uint64(0x7FF8000000000000), numbers.view(np.uint64))
        prints = (prints ^ bits) * np.uint64(0xBF58476D1CE4E5B9)
        prints ^= prints >> np.uint64(29)
    return prints


def comparable(x):
    """A whole number as it is, another one as float32 with 17 binary digits; -0 is 0."""
    if np.isnan(x) or x == np.round(x):
        return x + 0.0
    mantissa, exponent = np.frexp(float(np.float32(x)))
    return float(np.ldexp(np.sign(x) * np.floor(abs(mantissa) * 2**17 + 0.5), exponent - 17)) + 0.0


def rows_of(X, y=None, weights=None):
    table = read_table(X)
    labels = RNG.integers(0, 3, table.n_rows) if y is None else np.asarray(y)
    return TrainingRows(table, labels.astype(np.int32), 3, weights)


def mixed_frame():
    numbers = RNG.normal(size=N).round(1)
    numbers[RNG.random(N) < 0.1] = np.nan
    words = RNG.choice(["a", "b", "c"], N).astype(object)
    words[RNG.random(N) < 0.1] = None
    return pd.DataFrame({"number": numbers, "word": words, "zero": RNG.choice([0.0, -0.0], N)})


TABLES = {
    "by rows": RNG.normal(size=(N, 5)),
    "by columns": np.asfortranarray(RNG.normal(size=(N, 5))),
    "float32": RNG.normal(size=(N, 3)).astype(np.float32),
    "int64": RNG.integers(-(2**62), 2**62, (N, 3)),
    "int8": RNG.integers(-9, 9, (N, 3)).astype(np.int8),
    "bool": RNG.random((N, 2)) < 0.5,
    "mixed": mixed_frame(),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("n_threads", [1, 3])
def test_fingerprints_follow_from_the_cells(name, n_threads):
    rows = rows_of(TABLES[name])
    prints = _kernel.row_fingerprints(rows.kernel, rows.labels, n_threads)
    assert np.array_equal(prints, fingerprints(rows))


@pytest.mark.parametrize("way", ["float32", "%.6g", "%.9g", "%.6f"])
def test_rows_that_came_through_float32_or_text_are_recognised(way):
    X, y = RNG.normal(size=(3000, 10)), RNG.integers(0, 3, 3000)
    X[:, 0] = np.exp(5 * X[:, 0])
    seen = seen_rows(rows_of(X[:2000], y[:2000]))
    turned = X.astype(np.float32) if way == "float32" else np.char.mod(way, X).astype(float)
    assert not seen.is_chance(seen.compare(rows_of(turned[:1000], y[:1000])))
    assert seen.compare(rows_of(turned[2000:], y[2000:])).n_equal == 0


def test_whole_numbers_are_compared_exactly():
    X, y = 10_000_000 + np.arange(4000.0).reshape(-1, 1), np.zeros(4000, dtype=int)
    seen = seen_rows(rows_of(X[:2000], y[:2000]))
    assert (seen.n_twins, seen.compare(rows_of(X[2000:], y[2000:])).n_equal) == (0, 0)


def test_a_fingerprint_needs_its_label():
    rows = rows_of(TABLES["int8"])
    with pytest.raises(ValueError, match="labels differ in length"):
        _kernel.row_fingerprints(rows.kernel, rows.labels[1:], 1)


@pytest.mark.parametrize("name", ["by rows", "int8", "mixed"])
def test_the_smallest_fingerprints_are_kept(name):
    rows = rows_of(np.tile(TABLES["int8"], (4, 1)) if name == "int8" else TABLES[name])
    distinct, counts = np.unique(fingerprints(rows), return_counts=True)
    seen = seen_rows(rows, n_threads=2)
    kept = distinct[: module.KEPT]
    assert seen.n_dropped_bits == max(int(kept[-1]).bit_length() - 24, 0)
    assert seen.fingerprints.tolist() == [int(each) >> seen.n_dropped_bits for each in kept]
    sampled = counts[: module.SAMPLED]
    assert (seen.n_sampled, seen.n_twins) == (sampled.sum(), sampled[sampled > 1].sum())
    assert seen.is_complete == (len(distinct) <= module.KEPT)


def test_twins_of_large_tables_are_counted_by_a_sample(monkeypatch):
    monkeypatch.setattr(module, "SAMPLED", 500)
    rows = rows_of(np.repeat(TABLES["by rows"], 2, axis=0), np.zeros(2 * N, dtype=int))
    seen = seen_rows(rows)
    assert (len(seen.fingerprints), seen.n_sampled, seen.n_twins) == (module.KEPT, 1000, 1000)


def test_three_equal_rows_of_few_are_more_than_chance():
    """A limit by the kept rows alone would need four."""
    seen = seen_rows(rows_of(RNG.normal(size=(5000, 2)), np.zeros(5000, dtype=int)))
    assert seen.expected_share() < 0.0018
    assert not seen.is_chance(module.EqualRows(11, 3, 11, 3))
    assert seen.is_chance(module.EqualRows(12, 3, 12, 3))
    assert seen.is_chance(module.EqualRows(2, 2, 2, 2))


def test_wrong_matches_are_as_rare_as_stated():
    """A fresh row has the kept bits of a row of the fit once in 33,000 to 65,000 rows."""
    rng = np.random.default_rng(5)
    wrong = compared = 0
    for _ in range(20):
        X = rng.normal(size=(100_256, 2))
        y = np.zeros(len(X), dtype=int)
        seen = seen_rows(rows_of(X[:256], y[:256]))
        found = seen.compare(rows_of(X[256:], y[256:]))
        wrong, compared = wrong + found.n_equal, compared + found.n_compared
    assert compared == 2_000_000
    assert 12 < wrong < 60  # expected: 31, as the largest of 256 fingerprints has all 64 bits


def test_fingerprints_without_bits_are_refused():
    written = seen_rows(rows_of(TABLES["by rows"])).to_plain()
    with pytest.raises(Damaged, match="bits"):
        SeenRows.from_plain({**written, "n_dropped_bits": 64})


def test_many_rows_of_few_kinds_are_all_kept():
    y = RNG.integers(0, 3, 50_000)
    rows = rows_of(y.reshape(-1, 1) % 2, y)
    seen = seen_rows(rows)
    assert (len(seen.fingerprints), seen.n_sampled, seen.is_complete) == (3, 50_000, True)


def test_rows_without_weight_are_not_seen():
    X, y = TABLES["by rows"], RNG.integers(0, 3, N)
    weights = (np.arange(N) < 100).astype(float)
    seen = seen_rows(rows_of(X, y, weights))
    assert seen.compare(rows_of(X[:100], y[:100]))[:2] == (100, 100)
    assert seen.compare(rows_of(X[100:], y[100:])).n_equal == 0
