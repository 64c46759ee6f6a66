import os
import re
import subprocess
import sys
import textwrap
import tracemalloc
from decimal import Decimal
from functools import partial

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
from sklearn.naive_bayes import GaussianNB

import sureleaf
from sureleaf import TreeClassifier, arguments, folds
from sureleaf.cli.options import TableOptions
from sureleaf.designs import KFold
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, MemoryLimitWarning
from sureleaf.files.csv_dialect import CsvFormat
from sureleaf.files.read_file import read_file
from sureleaf.model import cross_fitting, halves
from sureleaf.model.fitting import fit_model
from sureleaf.scale import Roles, coding, open_source, read_rows
from sureleaf.scale import batches as batches_module
from sureleaf.scale import training as training_module
from sureleaf.scale.training import memory_bytes
from tests.scale.tables import assert_same_tree, few_valued_table, in_parts

PRUNINGS = (None, "auto", "pessimistic", "cost_complexity", "reduced_error")


@pytest.fixture(scope="module")
def table():
    return few_valued_table(700)


@pytest.fixture
def small_memory(monkeypatch):
    """Spill every table, and finish no node in memory."""
    monkeypatch.setattr(training_module, "_LEAST_MEMORY", 1)
    monkeypatch.setattr(training_module, "say_what_fit_needs", lambda *_, **__: None)
    return 40_000


def tree_of(X, **parameters):
    weight = parameters.pop("sample_weight", None)
    memory = parameters.pop("memory", None)
    model = TreeClassifier(random_state=3, n_jobs=1, levels_from="training", **parameters)
    return model.fit(X, "class", weight, memory=memory).tree_


@pytest.mark.parametrize("pruning", PRUNINGS)
def test_a_fit_in_batches_gives_the_tree_of_the_fit_in_memory(table, pruning, small_memory):
    for weight in (None, "weight"):
        data = table if weight else table.drop_columns(["weight"])
        options = {"pruning": pruning, "sample_weight": weight}
        expected = tree_of(data, **options)
        for n_rows, memory in ((99, None), (700, None), (99, small_memory)):
            tree = tree_of(in_parts(data, n_rows), memory=memory, **options)
            assert_same_tree(tree, expected)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_the_order_of_rows_does_not_matter_where_no_row_is_drawn(table, criterion, small_memory):
    data = table.drop_columns(["weight", "close"])
    rng = np.random.default_rng(0)
    for pruning in (None, "pessimistic"):
        options = {"pruning": pruning, "criterion": criterion}
        expected = tree_of(data, **options)
        mixed = data.take(rng.permutation(data.num_rows))
        assert_same_tree(tree_of(in_parts(mixed, 150), **options), expected)
        assert_same_tree(tree_of(in_parts(mixed, 60), memory=small_memory, **options), expected)


def test_costs_class_weights_and_honest_levels_are_those_of_the_fit_in_memory(table, small_memory):
    data = table.drop_columns(["weight"])
    cost = [[0, 1, 4], [2, 0, 1], [1, 1, 0]]
    for options in (
        {"cost": cost},
        {"class_weight": "balanced", "pruning": None},
        {"class_weight": {"no": 3, "yes": 1, "maybe": 1}, "pruning": None},
        {"leaf_estimate": "laplace", "min_confidence": 0.9},
        {"max_leaves": 7, "categorical_split": "multiway", "pruning": None},
        {"min_samples_leaf": 0.05, "pruning": None},
    ):
        expected = tree_of(data, **options)
        assert_same_tree(tree_of(in_parts(data, 99), **options), expected)
        if options.get("class_weight") == "balanced":
            continue  # weights that are not whole numbers are rounded, see docs/scale.md
        assert_same_tree(tree_of(in_parts(data, 99), memory=small_memory, **options), expected)
    honest = {"levels_from": "honest", "random_state": 0, "n_jobs": 1}
    exact = TreeClassifier(**honest).fit(data, "class")
    spilled = TreeClassifier(**honest).fit(in_parts(data, 99), "class", memory=small_memory)
    assert_same_tree(spilled.tree_, exact.tree_)
    assert spilled.levels() == exact.levels()


def test_cross_fitted_levels_saved_models_and_reports_are_those_of_memory(table, tmp_path):
    data = table.drop_columns(["weight", "many"]).slice(0, 200)
    X = data.drop_columns(["class"])
    options = {"random_state": 0, "n_jobs": 1, "max_depth": 2, "cv": 3}
    exact = TreeClassifier(**options).fit(data, "class")
    streamed = TreeClassifier(**options).fit(in_parts(data, 99), "class")
    assert streamed.levels() == exact.levels()
    assert streamed.rules() == exact.rules()
    np.testing.assert_array_equal(streamed.leaves().confidence, exact.leaves().confidence)
    streamed.save(tmp_path / "model.sureleaf")
    loaded = sureleaf.load(tmp_path / "model.sureleaf")
    np.testing.assert_array_equal(loaded.predict_proba(X), exact.predict_proba(X))
    assert loaded.schema_ == exact.schema_


def test_files_lazy_frames_relations_and_streams_are_fitted(table, tmp_path):
    data = table.drop_columns(["weight", "size", "flag"])
    pq.write_table(data.slice(0, 300), tmp_path / "a.parquet")
    pq.write_table(data.slice(300), tmp_path / "b.parquet")
    expected = tree_of(data)
    connection = duckdb.connect()
    connection.register("arrow_table", data)
    for X in (
        tmp_path,
        str(tmp_path),
        [tmp_path / "a.parquet", tmp_path / "b.parquet"],
        pl.scan_parquet(tmp_path / "*.parquet"),
        connection.sql("select * from arrow_table"),
        data.to_reader(max_chunksize=50),
        (batch for batch in data.to_batches(max_chunksize=60)),
        pyarrow.dataset.dataset(data),
        lambda: data.to_batches(max_chunksize=200),
    ):
        assert_same_tree(tree_of(X), expected)


def test_columns_of_a_table_in_memory_can_be_given_by_name(table):
    X = table.drop_columns(["class", "weight"])
    expected = TreeClassifier(random_state=3, n_jobs=1, levels_from="training").fit(
        X, table["class"], table["weight"].to_numpy()
    )
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        assert_same_tree(tree_of(frame, sample_weight="weight"), expected.tree_)
    with pytest.raises(InvalidArgumentError, match=r"'clas' must be a column of X.*'class'"):
        TreeClassifier().fit(table, "clas")
    with pytest.raises(InvalidArgumentError, match="a table with names"):
        TreeClassifier().fit([[1.0], [2.0]], "class")


def test_an_evaluation_in_batches_is_that_of_the_table_in_memory(table):
    data = table.drop_columns(["weight"])
    X, y = data.drop_columns(["class"]), data["class"].to_numpy()
    options = {"design": KFold(3), "random_state": 0}
    model = TreeClassifier(n_jobs=1, levels_from="training", pruning=None)
    expected = sureleaf.evaluate(model, X, y, **options)
    for source in (in_parts(data, 99), data, data.to_pandas()):
        evaluation = sureleaf.evaluate(model, source, "class", **options)
        np.testing.assert_array_equal(evaluation.probabilities, expected.probabilities)
        assert evaluation.estimate("accuracy") == expected.estimate("accuracy")
    with pytest.raises(InvalidTypeError, match="if X is a data frame"):
        sureleaf.evaluate(GaussianNB(), in_parts(data, 99), "class")
    with pytest.raises(InvalidArgumentError, match="'clas' must be a column"):
        sureleaf.evaluate(GaussianNB(), data, "clas")


def test_groups_stay_together(table):
    groups = pa.array(np.arange(300) // 7)
    data = table.drop_columns(["weight", "many"]).slice(0, 300).append_column("group", groups)
    options = {"random_state": 3, "n_jobs": 1, "levels_from": "training", "max_depth": 4}
    streamed = TreeClassifier(**options).fit(in_parts(data, 99), "class", groups="group")
    X = data.drop_columns(["class", "group"])
    exact = TreeClassifier(**options).fit(X, data["class"], groups=np.asarray(groups))
    assert_same_tree(streamed.tree_, exact.tree_)


def test_bad_arguments_of_a_fit_in_batches_are_clear_errors(table):
    source = in_parts(table, 300)
    with pytest.raises(InvalidArgumentError, match="memory must be at least"):
        TreeClassifier().fit(source, "class", memory="1KB")
    with pytest.raises(InvalidArgumentError, match="sample_weight must be the name of a column"):
        TreeClassifier().fit(source, "class", np.ones(700))
    with pytest.raises(InvalidArgumentError, match="class_weight must be above 0"):
        TreeClassifier(class_weight={"no": 0}).fit(source, "class")
    with pytest.raises(InvalidArgumentError, match="continuous"):
        TreeClassifier().fit(source, "close")


def test_codes_are_spilled_if_they_need_too_much_memory(table, small_memory):
    source = in_parts(table.drop_columns(["weight"]), 99)
    in_memory, spilled = (
        read_rows(source, Roles("class"), memory=memory) for memory in ("1GB", small_memory // 10)
    )
    assert in_memory.store is None
    assert isinstance(spilled.table.columns.codes.base, np.memmap)
    np.testing.assert_array_equal(in_memory.table.columns.codes, spilled.table.columns.codes)


LIMITED_FIT = """
import resource, sys
import numpy as np
import sureleaf
from sureleaf.scale import batches, coding, training  # so that the limit is for the rows
from sureleaf.model import fitting
import pyarrow.parquet
import sklearn.utils.class_weight

folder, limit = sys.argv[1], int(sys.argv[2])
used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_DATA, (used + limit, used + limit))
try:
    np.ones(limit + (1 << 24), np.uint8)
    raise SystemExit("there is no limit")
except MemoryError:
    pass
model = sureleaf.TreeClassifier(
    pruning=None, levels_from="training", min_samples_leaf=50, n_jobs=1
).fit(folder, "y", memory=limit // 6)
print(model.tree_.n_leaves, model.tree_.class_counts[0].sum())
"""


def write_parts(folder, n_rows, n_columns, n_parts):
    rng = np.random.default_rng(0)
    for part in range(n_parts):
        X = rng.normal(size=(n_rows // n_parts, n_columns))
        y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
        columns = {f"x{j}": X[:, j] for j in range(n_columns)} | {"y": y}
        pq.write_table(pa.table(columns), folder / f"{part}.parquet", row_group_size=20_000)


@pytest.mark.slow
def test_data_of_four_times_the_memory_limit_is_fitted(tmp_path):
    n_rows, n_columns = 6_000_000, 30
    write_parts(tmp_path, n_rows, n_columns, 20)
    limit = n_rows * (n_columns + 1) * 8 // 4
    script = [sys.executable, "-c", textwrap.dedent(LIMITED_FIT), str(tmp_path), str(limit)]
    # Arrow's own allocator reserves a gigabyte of addresses at once, which the limit would count.
    environment = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}
    done = subprocess.run(script, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    n_leaves, n_counted = done.stdout.split()
    assert int(n_leaves) > 100
    assert float(n_counted) == n_rows


def test_what_a_fit_needs_beside_its_memory_is_said_before_it_grows_a_tree(monkeypatch):
    monkeypatch.setattr(training_module, "_LEAST_MEMORY", 1)
    monkeypatch.setattr(training_module, "CodeStore", lambda *_, **__: pytest.fail("it has begun"))
    source = in_parts(few_valued_table(400).drop_columns(["weight", "size"]), 100)
    with (
        pytest.warns(MemoryLimitWarning, match="400 rows of 3 classes will need up to about 0.33"),
        pytest.raises(pytest.fail.Exception, match="it has begun"),
    ):
        TreeClassifier().fit(source, "class", memory=40_000)
    plain = TreeClassifier(pruning=None, levels_from="training")
    with pytest.raises(pytest.fail.Exception, match="it has begun"):  # without a warning
        plain.fit(source, "class", memory=40_000)


# The peak of this process alone: ru_maxrss begins at that of the process that started it.
MEASURED_FIT = """
import sys
from pathlib import Path
from sureleaf.cli import main

try:
    main(["fit", sys.argv[1], "-t", "y", "-o", sys.argv[2], "--memory", "20MB", "--seed", "0"])
finally:
    status = Path("/proc/self/status").read_text()
    print(1024 * int(status.partition("VmHWM:")[2].split()[0]) / 1e9)
"""


def test_an_evaluation_says_what_the_trees_of_its_folds_need(tmp_path, monkeypatch):
    monkeypatch.setattr(arguments, "thread_count", lambda n_jobs: n_jobs or 2)
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(size=200_000), "y": rng.integers(0, 2, 200_000)}
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table(columns), path)
    options = TableOptions(CsvFormat())
    for workers, n_bytes in (({"threads": 1}, 280), ({"n_jobs": 1}, 592)):
        with pytest.warns(MemoryLimitWarning, match=f"{n_bytes * 200_000 / 1e9:.2g} GB for the"):
            options.read_batches(path, "y", memory="16MB", grows_large_trees=True, **workers)


@pytest.mark.slow
@pytest.mark.parametrize(("n_rows", "n_classes"), [(500_000, 2), (200_000, 10)])
def test_a_default_fit_and_its_saving_need_no_more_than_is_said_before(tmp_path, n_rows, n_classes):
    """Of labels without any pattern, for which trees are largest before they are pruned."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n_rows) for j in range(4)}
    table = pa.table(columns | {"y": rng.integers(0, n_classes, n_rows)})
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=50_000)
    script = [sys.executable, "-c", MEASURED_FIT, tmp_path / "rows.parquet", tmp_path / "model"]
    done = subprocess.run(script, capture_output=True, text=True, check=True)
    said = float(re.search(r"will need up to about ([\d.]+) GB", done.stderr)[1])
    assert 0.5 * said < float(done.stdout.split()[-1]) < said
    assert (tmp_path / "model").exists()


def test_saving_needs_no_more_memory_per_row_than_the_fit(monkeypatch):
    """Levels of large tables are cross-fitted on few rows, so all else is as in the fit."""
    for module in (folds, cross_fitting):
        monkeypatch.setattr(module, "ENOUGH_TESTED", 500)
    monkeypatch.setattr(halves, "MOST_WATCHED", 500)
    rng = np.random.default_rng(0)
    n = 100_000
    X = rng.integers(0, 20, (n, 4)).astype(float)
    y = ((X[:, 0] > 9) ^ (rng.random(n) < 0.2)).astype(int)
    table = pa.table({f"x{j}": X[:, j] for j in range(4)} | {"y": y})
    model = TreeClassifier(max_depth=2, random_state=0, n_jobs=1)
    model.fit(in_parts(table, 10_000), "y")
    rows = read_rows(in_parts(table, 10_000), Roles("y")).training_rows(None)
    peaks = []
    for step in (partial(fit_model, rows, model.classes_, model.settings()), model.complete_model):
        tracemalloc.start()
        step()
        peaks.append(tracemalloc.get_traced_memory()[1] / n)
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def mixed_rows(n, seed):
    """Numbers, text and missing values, of which few rows are equal; two classes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    gaps = pa.array(rng.normal(size=n), mask=rng.random(n) < 0.1)
    words = pa.array(rng.choice(["a", "b", "c"], n), mask=rng.random(n) < 0.1)
    label = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    return pa.table({"x": x, "gaps": gaps, "word": words, "class": label})


def in_batches(table, folder):
    """The same table as every kind of source that is read in batches."""
    for k in range(2):
        pq.write_table(table.slice(500 * k, 500), folder / f"{k}.parquet", row_group_size=200)
    yield folder
    yield table.to_reader(max_chunksize=77)
    yield lambda: table.to_batches(max_chunksize=300)
    yield in_parts(table, 150)


def test_rows_of_a_fit_in_batches_cannot_certify_its_tree(tmp_path):
    table, fresh = mixed_rows(1000, 0), mixed_rows(400, 1)
    half, labels = table.slice(200, 500).drop_columns(["class"]), table.slice(200, 500)["class"]
    known = TreeClassifier(levels_from="training", pruning=None).fit(table, "class").model_.seen
    for source in in_batches(table, tmp_path):
        model = TreeClassifier(levels_from="training", pruning=None).fit(source, "class")
        seen = model.model_.seen
        assert seen.to_plain() == known.to_plain()
        with pytest.raises(InvalidArgumentError, match="are equal to rows of its fit"):
            model.certificate(half, labels)
        certificate = model.certificate(fresh.drop_columns(["class"]), fresh["class"])
        assert (certificate.n_equal, certificate.stated_new) == (0, False)


def test_rows_of_weight_0_are_no_rows_of_a_fit_in_batches():
    table = mixed_rows(1000, 0)
    weight = pa.array((np.arange(1000) < 500).astype(float))
    weighted = table.append_column("w", weight)
    fits = [
        TreeClassifier(levels_from="training").fit(source, "class", "w").model_.seen.to_plain()
        for source in (weighted, in_parts(weighted, 300))
    ]
    alone = TreeClassifier(levels_from="training").fit(in_parts(table.slice(0, 500), 99), "class")
    assert fits[0] == fits[1] == alone.model_.seen.to_plain()


def large_integers(step):
    return pa.table({"i": 2**60 + step * np.arange(400), "class": np.arange(400) // 200})


def test_integers_that_float64_rounds_are_refused_in_batches_as_in_memory():
    """Neighbours are in different parts: only their sum shows that they are not told apart."""
    table = large_integers(1).take(np.argsort(np.arange(400) % 2, kind="stable"))
    messages = []
    for source in (table, in_parts(table, 200), table.to_reader(max_chunksize=7)):
        with pytest.raises(InvalidArgumentError, match="that float64 tells apart") as caught:
            TreeClassifier().fit(source, "class")
        messages.append(str(caught.value))
    assert len(set(messages)) == 1
    assert TreeClassifier().fit(in_parts(large_integers(1024), 70), "class").get_n_leaves() == 2
    decimals = table.set_column(0, "i", pa.array(list(map(Decimal, table["i"].to_pylist()))))
    with pytest.raises(InvalidArgumentError, match="that float64 tells apart"):
        TreeClassifier().fit(in_parts(decimals, 70), "class")


@pytest.mark.parametrize("first", [2**63, 10**22])
def test_a_csv_file_has_the_integers_that_float64_rounds(tmp_path, first):
    """Arrow reads integers of more than 64 bits as float64."""
    rows = [f"{first + one},{one // 20}" for one in range(40)]
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["i,class", *rows]))
    for source, target in ((file, "class"), (read_file(file).drop_columns("class"), [0, 1] * 20)):
        with pytest.raises(InvalidArgumentError, match=f"tells apart.*{first} and {first + 1}"):
            TreeClassifier().fit(source, target)
    file.write_text("\n".join(["i,class", *rows[::20], "1e300,1", ",0"]))
    assert TreeClassifier(pruning=None, min_samples_leaf=1).fit(file, "class").get_n_leaves() > 1


def test_of_many_large_integers_a_sample_shows_whether_float64_tells_them_apart(monkeypatch):
    monkeypatch.setattr(coding, "SAMPLE_ROWS", 50)
    TreeClassifier(levels_from="training").fit(in_parts(large_integers(1024), 70), "class")
    with pytest.raises(InvalidArgumentError, match="that float64 tells apart"):
        TreeClassifier().fit(in_parts(large_integers(1), 70), "class")


CATEGORIES = {
    "numbers": pa.array([10, 20, 30, 40]),
    "numbers with a null": pa.array([10, None, 30, 40]),
    "texts with a null": pa.array(["x", None, "z", "w"]),
}


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("name", CATEGORIES)
def test_categories_of_a_stream_that_is_read_once_stay_categories(name, ordered):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 4, 400)
    category = pa.DictionaryArray.from_arrays(
        code.astype(np.int32), CATEGORIES[name], ordered=ordered
    )
    label = np.where(np.isin(code, [0, 2]) ^ (rng.random(400) < 0.1), "yes", "no")
    table = pa.table({"category": category, "class": label})
    expected = TreeClassifier(levels_from="training", pruning=None).fit(table, "class")
    for source in (
        table.to_reader(max_chunksize=90),
        lambda: table.to_batches(max_chunksize=90),
        in_parts(table, 50),
    ):
        model = TreeClassifier(levels_from="training", pruning=None).fit(source, "class")
        assert model.schema_ == expected.schema_
        assert_same_tree(model.tree_, expected.tree_)


def test_a_long_stream_of_categories_is_several_parts(monkeypatch):
    monkeypatch.setattr(batches_module, "_PART_ROWS", 100)
    word = pa.array(["a", "b", "c"] * 100).dictionary_encode()
    table = pa.table({"word": word, "class": ["no", "yes", "yes"] * 100})
    source = open_source(table.to_reader(max_chunksize=60))
    assert [part.n_rows for part in source.parts] == [120, 120, 60]
    model = TreeClassifier(levels_from="training").fit(source, "class")
    assert model.tree_.class_counts[0].tolist() == [100, 200]


class Changing:
    """Batches of one table, then of another one: the columns, the summary and the codes."""

    def __init__(self, table, other, n_before):
        self.tables, self.n_opened, self.n_before = (table, other), 0, n_before

    def __call__(self):
        self.n_opened += 1
        return self.tables[self.n_opened > self.n_before].to_batches()


def changed_tables(table):
    other = mixed_rows(300, 1)
    words = pa.array(["new"] * 300)
    return {
        "other rows": other,
        "fewer rows": table.slice(0, 200),
        "more rows": pa.concat_tables([table, other]),
        "another class": table.set_column(3, "class", pa.array(["maybe"] * 300)),
        "another text": table.set_column(2, "word", words),
        "classes in another order": table.set_column(3, "class", table["class"][::-1]),
    }


@pytest.mark.parametrize("name", changed_tables(mixed_rows(300, 0)))
def test_a_source_that_changes_between_the_passes_is_an_error(name):
    table = mixed_rows(300, 0)
    changing = Changing(table, changed_tables(table)[name], 2)
    model = TreeClassifier(levels_from="training", n_jobs=1)
    with pytest.raises(InvalidArgumentError, match="the batches must not change while"):
        model.fit(changing, "class")


@pytest.mark.parametrize("column", [0, 2])
def test_cells_that_change_places_in_a_table_without_numbers_are_an_error(column):
    rng = np.random.default_rng(0)
    words = {name: rng.choice(["a", "b"], 300) for name in ("first", "second", "class")}
    table = pa.table(words)
    name = table.column_names[column]
    other = table.set_column(column, name, table[name].take(rng.permutation(300)))
    with pytest.raises(InvalidArgumentError, match="the batches must not change while"):
        TreeClassifier(levels_from="training").fit(Changing(table, other, 2), "class")


def test_rows_in_another_order_are_no_change(table):
    data = few_valued_table(300).drop_columns(["weight", "size"])
    mixed = data.take(np.random.default_rng(0).permutation(300))
    TreeClassifier(levels_from="training").fit(Changing(data, mixed, 2), "class")


def test_a_file_that_is_written_during_a_fit_is_an_error(tmp_path):
    table = mixed_rows(1000, 0)
    for kind, write in (("parquet", pq.write_table), ("arrow", pa.feather.write_feather)):
        path = tmp_path / f"rows.{kind}"
        write(table, path)
        source = open_source(path)
        write(mixed_rows(1000, 1), path)
        with pytest.raises(InvalidArgumentError, match=rf"rows\.{kind} must not change while"):
            TreeClassifier().fit(source, "class")


def test_a_column_without_a_value_in_batches_accepts_anything_later():
    table = mixed_rows(200, 0).append_column("empty", pa.nulls(200))
    rows = table.drop_columns(["class"])
    fits = [
        TreeClassifier(levels_from="training").fit(source, "class")
        for source in (table, in_parts(table, 60), table.to_reader())
    ]
    for model in fits:
        assert_same_tree(model.tree_, fits[0].tree_)
        expected = model.predict(rows)
        for values in (["text"] * 200, [1.5] * 200, [True] * 200):
            given = rows.set_column(3, "empty", pa.array(values))
            # No warning: no test of the tree reads the column.
            np.testing.assert_array_equal(model.predict(given), expected)


def test_many_coded_rows_take_the_branches_of_their_values():
    """Large tables of numbers are routed in a way of their own, which codes must not take."""
    rng = np.random.default_rng(3)
    values = rng.integers(-100, 100, size=(20_000, 2)) / 8
    y = (values.sum(axis=1) + rng.normal(size=20_000) > 0).astype(int)
    table = pa.table({"a": values[:, 0], "b": values[:, 1], "y": y})
    here, streamed = (
        TreeClassifier(levels_from="training", random_state=0).fit(source, "y")
        for source in (table, table.to_reader())
    )
    assert here.tree_.n_leaves > 5
    assert_same_tree(streamed.tree_, here.tree_)


@pytest.mark.parametrize("memory", ["inf", "infGB", "nan", float("nan"), "x", "15MB", -1, True])
def test_memory_that_is_not_a_size_is_named(memory):
    with pytest.raises(InvalidArgumentError, match=r"memory must be at least 16 MB, .*; got"):
        memory_bytes(memory)
    assert [memory_bytes(one) for one in ("16MB", "1.5 gb", 2**30)] == [16e6, 15e8, 2**30]
    assert memory_bytes(None) >= 1 << 24
