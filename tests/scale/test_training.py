import os
import subprocess
import sys
import textwrap

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.naive_bayes import GaussianNB

import sureleaf
from sureleaf import TreeClassifier
from sureleaf.designs import KFold
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.scale import Roles, read_rows
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
        {"class_weight": {"no": 3, "yes": 1, "maybe": 1}},
        {"leaf_estimate": "laplace", "min_confidence": 0.9},
        {"max_leaves": 7, "categorical_split": "multiway"},
        {"min_samples_leaf": 0.05},
    ):
        expected = tree_of(data, **options)
        assert_same_tree(tree_of(in_parts(data, 99), **options), expected)
        if options.get("class_weight") == "balanced":
            continue  # weights that are not whole numbers are rounded, see docs/scale.md
        assert_same_tree(tree_of(in_parts(data, 99), memory=small_memory, **options), expected)
    models = [
        TreeClassifier(levels_from="honest", random_state=0, n_jobs=1).fit(
            X, "class", memory=memory
        )
        for X, memory in ((data, None), (in_parts(data, 99), small_memory))
    ]
    assert_same_tree(models[1].tree_, models[0].tree_)
    assert models[1].levels() == models[0].levels()


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
    model = TreeClassifier(n_jobs=1, levels_from="training")
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
    models = [
        TreeClassifier(random_state=3, n_jobs=1, levels_from="training", max_depth=4)
        for _ in range(2)
    ]
    models[0].fit(in_parts(data, 99), "class", groups="group")
    X = data.drop_columns(["class", "group"])
    models[1].fit(X, data["class"], groups=np.asarray(groups))
    assert_same_tree(models[0].tree_, models[1].tree_)


def test_bad_arguments_of_a_fit_in_batches_are_clear_errors(table):
    source = in_parts(table, 300)
    for memory in ("2 apples", -1, True, "1KB"):
        with pytest.raises(InvalidArgumentError, match="memory must be at least"):
            TreeClassifier().fit(source, "class", memory=memory)
    with pytest.raises(InvalidArgumentError, match="sample_weight must be the name of a column"):
        TreeClassifier().fit(source, "class", np.ones(700))
    with pytest.raises(InvalidArgumentError, match="class_weight must be above 0"):
        TreeClassifier(class_weight={"no": 0}).fit(source, "class")
    with pytest.raises(InvalidArgumentError, match="continuous"):
        TreeClassifier().fit(source, "close")


def test_memory_is_read_from_numbers_and_text():
    assert memory_bytes("1.5 gb") == 1_500_000_000
    assert memory_bytes("300M") == 300_000_000
    assert memory_bytes(2**30) == 2**30
    assert memory_bytes(None) >= 1 << 24


def test_codes_are_spilled_if_they_need_too_much_memory(table, small_memory):
    source = in_parts(table.drop_columns(["weight"]), 99)
    in_memory, spilled = (
        read_rows(source, Roles("class"), memory=memory) for memory in ("1GB", small_memory // 10)
    )
    assert (in_memory.is_spilled, spilled.is_spilled) == (False, True)
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


@pytest.mark.parametrize("memory", ["inf", "infGB", "nan", float("inf"), float("nan"), "x", "15MB"])
def test_memory_that_is_not_a_size_is_named(memory):
    with pytest.raises(InvalidArgumentError, match=r"memory must be at least 16 MB, .*; got"):
        memory_bytes(memory)
    assert memory_bytes("16MB") == 16_000_000
