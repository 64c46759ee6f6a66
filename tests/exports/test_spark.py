"""Spark: the SQL export runs there, batches of rows are scored there, and its tables train."""

import os
import shutil
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier, UnseenCategoryWarning
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.sql import to_sql
from sureleaf.exports.sql_dialects import DIALECTS
from tests.exports.hard_rows import COLUMN_TYPES, fitted, frame, hard_rows, plain_rows
from tests.exports.test_sql import renamed

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
TYPES = {
    "float": "DOUBLE",
    "int": "BIGINT",
    "text": "STRING",
    "bool": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
}


@pytest.fixture(scope="module")
def spark():
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java, which Spark needs, is not installed")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # of its workers
    builder = pyspark.SparkSession.builder.master("local[1]")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.session.timeZone": "America/New_York",  # of which nothing may depend
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def fill(spark, rows, types):
    columns = [f"{DIALECTS['spark'].name_of(name)} {TYPES[kind]}" for name, kind in types.items()]
    lines = [(i, *(row[name] for name in types)) for i, row in enumerate(rows)]
    table = spark.createDataFrame(lines, ", ".join(["row_id INT", *columns]))
    table.createOrReplaceTempView("data")
    return table


def answers(spark, model, rows, types):
    """Return the prediction and the probabilities of each row."""
    fill(spark, rows, types)
    found = spark.sql(to_sql(model, dialect="spark", keep=["row_id"])).collect()
    return [tuple(row)[1:] for row in sorted(found)]


@pytest.mark.parametrize(
    ("options", "forms"),
    [
        ({"missing": "branch", "unseen": "stop"}, "nested CASE"),
        ({"missing": "fraction", "unseen": "stop", "min_samples_leaf": 30}, "shares"),
        ({"missing": "branch", "unseen": "mixture"}, "union"),
    ],
)
def test_spark_returns_the_predictions_of_the_model(spark, options, forms):
    plain, y = plain_rows()
    model = fitted(plain, y, **options)
    query = to_sql(model, dialect="spark")
    form = "union" if "UNION ALL" in query else "shares" if "w0" in query else "nested CASE"
    assert form == forms
    rows = hard_rows(model, plain)
    found = answers(spark, model, renamed(rows), COLUMN_TYPES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        stated = model.predict_proba(frame(rows))
        one = np.diff(model.leaf_shares(frame(rows)).indptr) == 1
    probabilities = np.array([row[1:] for row in found], dtype=float)
    np.testing.assert_array_equal(probabilities[one], stated[one])
    np.testing.assert_allclose(probabilities, stated, rtol=0, atol=1e-15)
    predicted = np.array([row[0] for row in found])
    np.testing.assert_array_equal(predicted[one], model.classes_[stated.argmax(axis=1)][one])


HOSTILE = ["it's", "back\\", "\\'", "$x", "${env:HOME}", "a\0b", "\\u0041", "line\nend", "--", "`"]


def test_text_of_every_kind_is_the_category_that_it_is(spark):
    X = pd.DataFrame({"k`1": HOSTILE * 20})
    labels = np.arange(len(HOSTILE)).astype(str).tolist()
    model = TreeClassifier(levels_from="training", pruning=None).fit(X, labels * 20)
    found = answers(spark, model, X[: len(HOSTILE)].to_dict("records"), {"k`1": "text"})
    assert [row[0] for row in found] == labels
    for name in ("${env:HOME}", "a\0"):
        with pytest.raises(InvalidArgumentError, match=r"a name in .*SQL must not.*Rename"):
            to_sql(model, dialect="spark", keep=[name])


def test_times_of_other_kinds_are_read_or_refused(spark):
    ticks = np.random.default_rng(3).integers(-(10**15), 10**15, 80)
    y = np.argsort(np.argsort(ticks)) // 16 % 2
    columns = {
        "TIMESTAMP": pd.to_datetime(ticks, unit="us", utc=True),
        "INTERVAL DAY TO SECOND": pd.to_timedelta(ticks, unit="us"),
    }
    for kind, values in columns.items():
        X = pd.DataFrame({"t": values})
        model = TreeClassifier(levels_from="training", pruning=None).fit(X, y)
        lines = [(i, value.to_pytimedelta() if "DAY" in kind else value.to_pydatetime())
                 for i, value in enumerate(values)]  # fmt: skip
        spark.createDataFrame(lines, f"row_id INT, t {kind}").createOrReplaceTempView("data")
        found = spark.sql(to_sql(model, dialect="spark", keep=["row_id"])).collect()
        assert [row[1] for row in sorted(found)] == model.predict(X).tolist()
    clock = pd.DataFrame({"t": [value.time() for value in columns["TIMESTAMP"]]})
    model = TreeClassifier(levels_from="training", pruning=None).fit(
        clock, clock["t"] > clock["t"][0]
    )
    with pytest.raises(InvalidArgumentError, match="must not test a time of day for an export"):
        to_sql(model, dialect="spark")


def test_batches_of_arrow_rows_are_scored_as_here(spark):
    """What docs/howto/serving.md shows."""
    import pyarrow as pa

    plain, y = plain_rows()
    model = fitted(plain, y, missing="branch")
    rows = fill(spark, renamed(plain), COLUMN_TYPES)
    names, classes = list(COLUMN_TYPES), [f"p_{label}" for label in model.classes_]

    def score(batches):
        for batch in batches:
            table = pa.Table.from_batches([batch])
            probabilities = model.predict_proba(table.select(names))
            columns = dict(zip(classes, probabilities.T, strict=True))
            yield pa.RecordBatch.from_pydict({"row_id": batch["row_id"], **columns})

    schema = "row_id INT, " + ", ".join(f"{name} DOUBLE" for name in classes)
    found = np.array(sorted(map(tuple, rows.mapInArrow(score, schema).collect())))
    np.testing.assert_array_equal(found[:, 1:], model.predict_proba(rows.toArrow().select(names)))


def test_a_table_of_spark_is_fitted_by_its_arrow_rows_or_its_files(spark, tmp_path):
    plain, y = plain_rows()
    rows = [{**row, "class": int(label)} for row, label in zip(renamed(plain), y, strict=True)]
    table = fill(spark, rows, COLUMN_TYPES | {"class": "int"}).drop("row_id")
    model = TreeClassifier(levels_from="training").fit(table.toArrow(), "class")
    table.write.parquet(str(tmp_path / "rows"))
    by_file = TreeClassifier(levels_from="training").fit(tmp_path / "rows", "class")
    assert model.get_n_leaves() > 1
    assert by_file.classes_.tolist() == model.classes_.tolist()
    if hasattr(table, "__arrow_c_stream__"):  # newer versions of Spark give their rows
        by_stream = TreeClassifier(levels_from="training").fit(table.drop("class"), y)
        assert by_stream.get_n_leaves() == model.get_n_leaves()
        return
    with pytest.raises(TypeError, match=r"lazy .*DataFrame. Call its method toArrow\(\) first"):
        TreeClassifier().fit(table.drop("class"), y)
