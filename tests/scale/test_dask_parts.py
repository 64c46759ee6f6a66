import dataclasses
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import dask
import dask.dataframe as dd
import distributed
import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from joblib._parallel_backends import LokyBackend
from sklearn.naive_bayes import GaussianNB

import sureleaf
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.arguments import runs_elsewhere
from sureleaf.designs import KFold
from sureleaf.errors import ClusterError, InvalidArgumentError, InvalidTypeError
from sureleaf.scale import coding, dask_parts, growing
from sureleaf.scale import training as training_module
from sureleaf.scale.dask_parts import Cluster, DaskParts
from tests.scale.tables import assert_same_tree, few_valued_table

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def table():
    return few_valued_table(200).drop_columns(["weight"])


@pytest.fixture
def by_levels(monkeypatch):
    """Finish no node here: every level is counted on the workers."""
    monkeypatch.setattr(training_module, "_LEAST_MEMORY", 1)
    return 10_000


def delayed_parts(table, bounds):
    pieces = [table.slice(a, b - a) for a, b in pairwise(bounds)]
    return [dask.delayed(piece) for piece in pieces]


def tree_of(X, client=None, memory=None, weight=None, **parameters):
    quick = {"pruning": None, "cv": 2, "levels_from": "training"}
    parameters = {"random_state": 3, "n_jobs": 1} | quick | parameters
    return TreeClassifier(**parameters).fit(X, "class", weight, memory=memory, client=client)


def assert_same_model(got, expected):
    states = [model.model_.to_state() for model in (got, expected)]
    assert states[0].header == states[1].header
    assert states[0].arrays.keys() == states[1].arrays.keys()
    for name, array in states[0].arrays.items():
        np.testing.assert_array_equal(array, states[1].arrays[name], err_msg=name)


# ---- the same model as on one machine ------------------------------------------------------------


@pytest.mark.parametrize("pruning", [None, "auto", "pessimistic"])
def test_a_fit_on_a_cluster_gives_the_model_of_one_machine(client, table, pruning, by_levels):
    expected = tree_of(table.to_reader(), pruning=pruning)
    parts = delayed_parts(table, [0, 45, 125, 200])
    assert_same_model(tree_of(parts, client, by_levels, pruning=pruning), expected)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 300), "b": rng.choice(list("xyz"), 300)})
    return frame.assign(**{"class": np.where((frame["a"] > 4) ^ (rng.random(300) < 0.2), "y", "n")})


def test_dask_data_frames_delayed_partitions_and_files_give_the_same_model(client, frame, tmp_path):
    expected = tree_of(pa.Table.from_pandas(frame).to_reader())
    assert expected.model_.tree.n_leaves > 1
    assert_same_model(tree_of(dd.from_pandas(frame, npartitions=4)), expected)
    assert_same_model(tree_of([dask.delayed(pl.from_pandas(frame))]), expected)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=100)
    assert_same_model(tree_of(tmp_path / "rows.parquet", client), expected)


def test_the_labels_and_weights_of_a_dask_table_may_be_series_beside_it(client, frame):
    ddf = dd.from_pandas(frame.assign(w=1 + np.arange(300) % 2), npartitions=3)
    options = {"random_state": 3, "pruning": None, "levels_from": "training"}
    expected = TreeClassifier(**options).fit(ddf, "class", "w")
    X, w = ddf[["a", "b"]], ddf["w"].rename("a")  # a name that the table has
    assert_same_model(TreeClassifier(**options).fit(X, ddf["class"], w), expected)


def test_rows_of_a_fit_on_a_cluster_cannot_certify_its_tree(client):
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    rows = pa.table({"x": x, "class": (x + rng.normal(size=600) > 0).astype(int)})
    model = tree_of(delayed_parts(rows, [0, 250, 600]), client)
    part = rows.slice(200, 300)
    with pytest.raises(InvalidArgumentError, match="are equal to rows of its fit"):
        model.certificate(part.drop_columns(["class"]), part["class"])


def test_integers_that_float64_rounds_are_refused_on_a_cluster(client):
    label = (np.arange(200) > 99).astype(int)
    rows = pa.table({"i": 2**60 + np.arange(200), "class": label})
    with pytest.raises(InvalidArgumentError, match="that float64 tells apart"):
        tree_of(delayed_parts(rows, [0, 120, 200]), client)


def test_a_partition_that_changes_between_the_passes_is_named(client):
    table = few_valued_table(200).drop_columns(["weight"])
    parts, source = delayed_parts(table, [0, 120, 200]), dask_parts.summarize_parts

    def summarize_others(parts, plan, n_rows):
        summary = source(parts, plan, n_rows)
        return dataclasses.replace(summary, digests=summary.digests | {1: coding.Digest(80, 7)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_parts, "summarize_parts", summarize_others)
        with pytest.raises(InvalidArgumentError, match="partition 1 must not change while"):
            tree_of(parts, client)


def test_weights_and_divided_rows_are_those_of_one_machine(client):
    table = few_valued_table(300)
    parts = delayed_parts(table, [0, 120, 300])
    here = tree_of(table.to_reader(), weight="weight")
    assert_same_model(tree_of(parts, client, weight="weight"), here)
    plain = table.drop_columns(["weight"])
    there = tree_of(delayed_parts(plain, [0, 120, 300]), client, missing="fraction")
    assert_same_model(there, tree_of(plain.to_reader(), missing="fraction"))


def test_at_costs_the_tree_is_that_of_one_machine_but_for_rounded_shares(client, table):
    # Splits are chosen by weights that are not whole numbers: see docs/scale.md.
    cost = [[0, 1, 4], [2, 0, 1], [1, 1, 0]]
    there = tree_of(delayed_parts(table, [0, 60, 200]), client, cost=cost).model_.tree
    here = tree_of(table.to_reader(), cost=cost).model_.tree
    np.testing.assert_allclose(there.branch_share, here.branch_share, rtol=1e-12)
    assert_same_tree(dataclasses.replace(there, branch_share=here.branch_share), here)


@pytest.mark.slow
def test_cross_fitted_levels_are_those_of_one_machine(client):
    table = few_valued_table(300)
    parts = delayed_parts(table, [0, 120, 300])
    options = {"levels_from": "cross_fit", "pruning": "auto"}
    here = tree_of(table.to_reader(), weight="weight", **options)
    there = tree_of(parts, client, weight="weight", **options)
    counted = table.filter(pc.greater(table["weight"], 0))  # others may have unseen categories
    rows = counted.drop_columns(["weight", "class"])
    assert str(there.predict_levels(rows)) == str(here.predict_levels(rows))
    assert_same_model(there, here)


# ---- what has broken other libraries -------------------------------------------------------------


def test_a_worker_without_data_and_empty_partitions_change_nothing(client, table):
    expected = tree_of(table.to_reader())
    assert_same_model(tree_of(delayed_parts(table, [0, 200]), client), expected)
    assert_same_model(tree_of(delayed_parts(table, [0, 0, 100, 100, 200, 200]), client), expected)


def test_sorted_and_very_uneven_partitions_give_the_model_of_one_machine(client, table, by_levels):
    ordered = table.sort_by("class")
    expected = tree_of(ordered.to_reader())
    # Each of the classes is in one partition alone, and so are most categories.
    parts = delayed_parts(ordered, [0, 1, 2, 190, 200])
    for memory in (None, by_levels):
        assert_same_model(tree_of(parts, client, memory), expected)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda frame: frame.assign(a=frame["a"] + 0.5), "double in column 'a'"),
        (lambda frame: frame[["b", "a", "class"]], "the columns in another order"),
        (lambda frame: frame.drop(columns="b"), "no column 'b'"),
        (lambda frame: frame.assign(a=[{}, 1]), "partition 1 must be a table whose columns"),
        (lambda frame: frame["a"], "partition 1 must be a pandas, polars or Arrow table"),
    ],
)
def test_a_partition_with_other_columns_is_named(client, change, problem):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "class": ["no", "yes"]})
    parts = [dask.delayed(piece) for piece in (frame, change(frame))]
    with pytest.raises((InvalidArgumentError, InvalidTypeError), match=problem) as caught:
        tree_of(parts, client)
    assert "partition 1" in str(caught.value)


def test_a_partition_that_fails_to_compute_is_named(client):
    def fail():
        raise FileNotFoundError("no such disk")

    frame = pd.DataFrame({"a": [1, 2], "class": ["no", "yes"]})
    with pytest.raises(InvalidArgumentError, match="partition 1 cannot be read: FileNotFound"):
        tree_of([dask.delayed(frame), dask.delayed(fail)()], client)


def test_two_fits_at_the_same_time_do_not_disturb_each_other(client, table, by_levels):
    parts = delayed_parts(table, [0, 75, 200])
    criteria = ("gini", "entropy")
    with ThreadPoolExecutor(2) as threads:
        fits = [
            threads.submit(tree_of, parts, client, by_levels, criterion=criterion)
            for criterion in criteria
        ]
        for criterion, fit in zip(criteria, fits, strict=True):
            assert_same_model(fit.result(), tree_of(table.to_reader(), criterion=criterion))


def test_workers_killed_during_the_fit_change_nothing(client, table, by_levels, monkeypatch):
    expected = tree_of(table.to_reader())
    submit, submitted, killed = Cluster.submit, [], []

    def submit_and_kill(self, function, *args, **options):
        submitted.append(getattr(args[0], "__name__", "") if args else "")
        future = submit(self, function, *args, **options)
        # In the middle of the levels, and while a worker has the rows of small nodes.
        if len(submitted) == 35 or submitted.count("finish_group") == len(killed) == 1:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[-1], signal.SIGKILL)
        return future

    monkeypatch.setattr(Cluster, "submit", submit_and_kill)
    got = tree_of(delayed_parts(table, [0, 45, 125, 200]), client, by_levels)
    assert len(killed) == 2
    assert_same_model(got, expected)
    client.wait_for_workers(2, timeout=60)


def test_nodes_are_finished_on_the_workers(client, table, by_levels, monkeypatch):
    monkeypatch.setattr(growing, "_grow_below", None)  # here, and not on the workers
    monkeypatch.setattr(growing, "_SMALL_GROUP", 20)
    before = n_steps(client)
    got = tree_of(delayed_parts(table, [0, 45, 125, 200]), client)
    monkeypatch.undo()
    assert n_steps(client) > before
    assert_same_model(got, tree_of(table.to_reader()))


def test_a_scheduler_that_goes_away_ends_the_fit_with_an_error(table, by_levels, monkeypatch):
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    )
    client = distributed.Client(cluster.scheduler_address, timeout=2, set_as_default=False)
    submit, n_submitted = Cluster.submit, []

    def submit_and_stop(self, *args, **options):
        n_submitted.append(None)
        if len(n_submitted) == 25:
            cluster.close()
        return submit(self, *args, **options)

    monkeypatch.setattr(Cluster, "submit", submit_and_stop)
    try:
        with pytest.raises(ClusterError, match=r"scheduler at .* has gone away"):
            tree_of(delayed_parts(table, [0, 100, 200]), client, by_levels)
    finally:
        client.close(timeout=1)
        cluster.close()


def test_bad_arguments_are_refused(client, table, tmp_path):
    parts = delayed_parts(table, [0, 200])
    with pytest.raises(InvalidArgumentError, match="y must be the name of a column"):
        TreeClassifier().fit(parts, np.zeros(200))
    with pytest.raises(InvalidTypeError, match=r"client must be a distributed.Client"):
        tree_of(parts, client="tcp://127.0.0.1:1")
    (tmp_path / "rows.csv").write_text("a,class\n1,no\n2,yes\n")
    with pytest.raises(InvalidArgumentError, match="a cluster reads Parquet and Arrow files"):
        tree_of(tmp_path / "rows.csv", client)


def test_sums_of_parts_are_added_on_the_workers(client):
    cluster = Cluster(client)
    parts = DaskParts(cluster, tuple(client.map(abs, range(20))), ("part",) * 20)
    assert parts.total(pow, 2) == sum(i**2 for i in range(20))
    assert list(parts.map(pow, 2).results(max, each=[50] * 20))[:9] == [50] * 8 + [64]


def test_large_tasks_cause_no_warning_of_dask(client, recwarn, tmp_path):
    frame = pd.DataFrame({"x": np.arange(8000.0)})
    frame["class"] = (frame["x"] % 7 > 3).astype(int)
    frame.to_parquet(tmp_path / "rows.parquet")
    X, y = frame[["x"]].to_numpy(), frame["class"].to_numpy()
    with (
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "50kB"}),
        joblib.parallel_backend("dask", client=client),
    ):
        tree_of(dd.read_parquet(tmp_path / "rows.parquet"), pruning="auto")
        sureleaf.evaluate(GaussianNB(), X, y, design=KFold(3), random_state=0)
        BaggedTreesClassifier(n_estimators=2, random_state=0).fit(X, y)
    assert [str(one.message) for one in recwarn if "large graph" in str(one.message)] == []


# ---- folds and bags on the cluster ---------------------------------------------------------------


def n_steps(client):
    """The scheduler's steps so far, which grow with every task."""
    return client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.transition_counter)


@pytest.fixture(scope="module")
def labelled():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (90, 3)).astype(float)
    return X, (X[:, 0] > 4) ^ (rng.random(90) < 0.2)


@pytest.mark.parametrize("estimator", [GaussianNB(), TreeClassifier(random_state=0)])
def test_evaluate_places_folds_on_the_cluster(client, labelled, estimator):
    here = sureleaf.evaluate(estimator, *labelled, design=KFold(3), random_state=0)
    before = n_steps(client)
    with joblib.parallel_backend("dask", client=client):
        there = sureleaf.evaluate(estimator, *labelled, design=KFold(3), random_state=0)
    assert n_steps(client) > before
    np.testing.assert_array_equal(there.prediction, here.prediction)
    np.testing.assert_array_equal(there.probabilities, here.probabilities)


def test_bags_are_grown_on_the_cluster(client, labelled):
    here = BaggedTreesClassifier(n_estimators=6, random_state=0).fit(*labelled)
    before = n_steps(client)
    with joblib.parallel_backend("dask", client=client):
        there = BaggedTreesClassifier(n_estimators=6, random_state=0).fit(*labelled)
    assert n_steps(client) > before
    for got, expected in zip(there.model_.trees, here.model_.trees, strict=True):
        assert_same_tree(got, expected)


# ---- and on a back end that refuses generators, as Ray's does ------------------------------------


class WithoutGenerators(LokyBackend):
    """Processes, which give their results together at the end."""

    supports_return_generator = False


def test_folds_and_bags_need_no_generators(labelled):
    def fits():
        models = (GaussianNB(), TreeClassifier(random_state=0, cv=3))
        folds = [sureleaf.evaluate(m, *labelled, design=KFold(3), random_state=0) for m in models]
        return folds, BaggedTreesClassifier(n_estimators=6, random_state=0).fit(*labelled)

    here, bag = fits()
    joblib.register_parallel_backend("without generators", WithoutGenerators)
    with joblib.parallel_config(backend="without generators", n_jobs=2):
        assert runs_elsewhere()
        there, other = fits()
    for got, expected in zip(there, here, strict=True):
        np.testing.assert_array_equal(got.probabilities, expected.probabilities)
    for got, expected in zip(other.model_.trees, bag.model_.trees, strict=True):
        assert_same_tree(got, expected)
