import datetime
import sqlite3
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sureleaf import BaggedTreesClassifier, TreeClassifier, UnseenCategoryWarning
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.exports import sql
from sureleaf.exports.sql import to_sql
from sureleaf.exports.sql_dialects import DIALECTS
from tests.exports.databases import Database
from tests.exports.hard_rows import (
    COLUMN_TYPES,
    NAMES,
    fitted,
    frame,
    hard_rows,
    plain_rows,
    rows_with_tests_for_missing_values,
)


def renamed(rows):
    return [{NAMES[name]: value for name, value in row.items()} for row in rows]


def check(database, model, rows, X, types, *, least_mixed=21):
    """Every row's probabilities and prediction are the model's.

    `least_mixed` is the least number of rows that end in several nodes.
    """
    database.fill(rows, types)
    query = to_sql(model, dialect=database.dialect, keep=["row_id"])
    has_shares = "AS w0" in query
    assert has_shares == (least_mixed > 0)
    found, names = database.ask(query)
    found.sort(key=lambda row: row[0])
    assert [row[0] for row in found] == list(range(len(rows)))
    assert names[:2] == ["row_id", "prediction"]
    assert names[2:] == [f"p_{label}" for label in model.classes_.tolist()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        stated, n_ends = model.predict_proba(X), np.diff(model.leaf_shares(X).indptr)
    probabilities = np.array([row[2:] for row in found], dtype=float)
    one = n_ends == 1
    np.testing.assert_array_equal(probabilities[one], stated[one])
    np.testing.assert_allclose(probabilities, stated, rtol=0, atol=1e-15)
    predicted = np.array([row[1] for row in found])
    ordered = np.sort(stated, axis=1)
    is_clear = one | (ordered[:, -1] - ordered[:, -2] > 1e-12)
    assert is_clear.mean() > 0.9
    np.testing.assert_array_equal(
        predicted[is_clear], model.classes_[stated.argmax(axis=1)][is_clear]
    )
    assert (~one).sum() >= least_mixed


@pytest.fixture(params=["all rows by shares", "only rows of several nodes by shares"])
def form(request, monkeypatch):
    """The two forms of queries for rows that may end in several nodes."""
    if request.param.startswith("only"):
        monkeypatch.setattr(sql, "_FEW_LEAVES", 0)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("unseen", ["mixture", "stop"])
@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_a_query_returns_the_predictions_of_the_model(database, unseen, split, missing):
    plain, y = plain_rows()
    model = fitted(
        plain, y, criterion="gain_ratio", unseen=unseen, categorical_split=split, missing=missing
    )
    tested = {model.schema_.columns[index].name for index in model.tree_.feature if index >= 0}
    assert tested == set(NAMES.values())  # of every kind of column
    rows = hard_rows(model, plain)
    least_mixed = 21 if missing == "fraction" else 10 if unseen == "mixture" else 0
    check(database, model, renamed(rows), frame(rows), COLUMN_TYPES, least_mixed=least_mixed)


@pytest.mark.usefixtures("form")
def test_a_query_tests_for_missing_values(database):
    X, y, rows, X_new = rows_with_tests_for_missing_values()
    for unseen, least_mixed in (("mixture", 3), ("stop", 0)):
        model = TreeClassifier(pruning=None, levels_from="training", unseen=unseen).fit(X, y)
        assert np.isinf(model.tree_.threshold).any()
        types = {"flag": "text", "age": "float"}
        check(database, model, rows, X_new, types, least_mixed=least_mixed)


def test_a_query_of_thresholds_is_a_nested_case():
    X = np.array([[1.0], [2.0], [3.0], [4.0], [np.nan]] * 5)
    model = TreeClassifier(pruning=None, levels_from="training", leaf_estimate="frequency")
    query = to_sql(model.fit(X, ["no", "no", "yes", "yes", "no"] * 5), table="people")
    assert (
        query.split("\n", 1)[1]
        == """\
WITH s0 AS MATERIALIZED (
  SELECT
    NULLIF(CAST(t."x0" AS DOUBLE), CAST('nan' AS DOUBLE)) AS v0,
    0 AS node
  FROM "people" AS t
),
s1 AS MATERIALIZED (
  SELECT
    v0,
    CASE
      WHEN v0 > 2.0e0 THEN 2
      ELSE 1
    END AS node
  FROM s0
),
ends(node, prediction, p0, p1) AS (
  VALUES
    (1, 'no', 1.0e0, 0.0e0),  -- x0 <= 2 or missing
    (2, 'yes', 0.0e0, 1.0e0)  -- x0 > 2
)
SELECT
  prediction,
  p0 AS "p_no",
  p1 AS "p_yes"
FROM s1 LEFT JOIN ends ON ends.node = s1.node
"""
    )


@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_not_a_number_is_missing_like_null(database, missing):
    plain, y = plain_rows()
    model = fitted(plain, y, missing=missing, unseen="stop")
    rows = [{**row, "size": np.nan if i % 2 else row["size"]} for i, row in enumerate(plain)]
    least_mixed = 21 if missing == "fraction" else 0
    check(database, model, renamed(rows), frame(rows), COLUMN_TYPES, least_mixed=least_mixed)


@pytest.mark.parametrize("shape", ["more than 400 leaves", "a depth of more than 100"])
@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_a_large_or_deep_tree(database, shape, missing):
    grown = {"criterion": "gini", "min_samples_leaf": 1, "pruning": None, "collapse": False}
    model = TreeClassifier.c45(levels_from="training", missing=missing, **grown)
    if shape == "more than 400 leaves":
        rng = np.random.default_rng(2)
        X = rng.normal(size=(1500, 4))
        assert model.fit(X, rng.integers(0, 3, 1500)).tree_.n_leaves > 400
        X = np.where(rng.random((200, 4)) < 0.2, np.nan, X[:200])
    else:
        X = np.arange(240.0).reshape(-1, 1)
        assert model.fit(X, np.arange(240) // 2 % 2).tree_.depth > 100
        X = np.r_[X, X + 0.5, np.full((30, 1), np.nan)]
    rows = [
        {f"x{j}": None if np.isnan(value) else float(value) for j, value in enumerate(line)}
        for line in X
    ]
    least_mixed = 21 if missing == "fraction" else 0
    check(database, model, rows, X, dict.fromkeys(rows[0], "float"), least_mixed=least_mixed)


@pytest.mark.parametrize(
    ("unseen", "missing"), [("mixture", "branch"), ("stop", "fraction"), ("stop", "branch")]
)
def test_a_tree_of_more_leaves_than_a_query_has_columns(unseen, missing):
    """The tree is taken in groups of subtrees, whose order is the model's."""
    rng = np.random.default_rng(4)
    n = 6000
    X = pd.DataFrame(
        {"a": rng.normal(size=n), "k": np.array(list("abcdef"))[rng.integers(0, 6, n)]}
    )
    X["b"] = rng.normal(size=n)
    grown = {"criterion": "gini", "min_samples_leaf": 1, "categorical_split": "multiway"}
    given = {"pruning": None, "levels_from": "training", "unseen": unseen, "missing": missing}
    model = TreeClassifier.c45(**grown, **given).fit(X, rng.integers(0, 2, n))
    assert model.tree_.n_leaves > 1900
    X = X[:80].astype({"k": object})
    X.loc[::5, "a"], X.loc[1::5, "k"], X.loc[2::5, "k"] = None, None, "unseen"
    rows = X.astype(object).where(X.notna(), None).to_dict("records")
    connection = sqlite3.connect(":memory:")
    types = {"a": "float", "k": "text", "b": "float"}
    least_mixed = 21 if missing == "fraction" else 10 if unseen == "mixture" else 0
    check(Database("sqlite", connection), model, rows, X, types, least_mixed=least_mixed)
    connection.close()


def test_a_node_of_more_branches_than_a_query_has_columns_is_an_error_with_a_next_step():
    X = pd.DataFrame({"k": [f"k{i % 1700}" for i in range(3400)]})
    model = TreeClassifier.c45(
        levels_from="training", criterion="gini", pruning=None, collapse=False
    )
    model.fit(X, [i % 1700 % 2 for i in range(3400)])
    assert model.tree_.n_leaves == 1700
    with pytest.raises(InvalidArgumentError, match=r"Export to 'python', or prune"):
        to_sql(model)


@pytest.mark.usefixtures("form")
def test_where_the_model_raises_for_unseen_categories_the_row_is_null(database):
    plain, y = plain_rows()
    model = fitted(plain, y, unseen="error")
    rows = [*plain[:50], {**plain[0], "kind": "never seen"}, {**plain[1], "plan": 77.0}]
    database.fill(renamed(rows), COLUMN_TYPES)
    found, _ = database.ask(to_sql(model, dialect=database.dialect, keep=["row_id"]))
    found.sort()
    assert [row[1:] for row in found[50:]] == [(None,) * 4] * 2
    stated = np.array([row[2:] for row in found[:50]], dtype=float)
    np.testing.assert_allclose(stated, model.predict_proba(frame(plain[:50])), rtol=0, atol=1e-15)


LABELS = {
    "text": np.array(["it's", 'a "b"; --', "c\\"]),
    "int": np.array([-1, 0, 7]),
    "bool": np.array([False, True]),
    "float": np.array([1.0, 2.0, 3.0]),
    "day": np.array(["2024-02-29", "2024-03-01"], dtype="datetime64[D]"),
    "case": np.array(["A", "a"]),
    "long": np.array(["x" * 99, "y" * 99]),
}


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_type(database, kind):
    labels = LABELS[kind]
    X = np.arange(20.0 * len(labels)).reshape(-1, 1)
    model = TreeClassifier.c45(levels_from="training").fit(X, np.repeat(labels, 20))
    database.fill([{"x0": value} for value in X[:, 0].tolist()], {"x0": "float"})
    found, names = database.ask(to_sql(model, dialect=database.dialect, keep=["row_id"]))
    predicted = [row[1] for row in sorted(found, key=lambda row: row[0])]
    expected = model.predict(X)
    assert predicted == (expected.astype(str) if kind == "day" else expected).tolist()
    if kind in ("case", "long"):
        assert names[2:] == ["p_0", "p_1"]


def test_a_tree_of_one_leaf_and_of_one_class(database):
    database.fill([{"x0": 1.0}, {"x0": None}], {"x0": "float"})
    model = TreeClassifier.c45(max_depth=0, levels_from="training")
    for y in (["a", "b", "b"], ["a", "a", "a"]):
        model.fit([[1.0], [2.0], [3.0]], y)
        found, _ = database.ask(to_sql(model, dialect=database.dialect))
        assert found == [(model.predict([[1.0]])[0], *model.predict_proba([[1.0]])[0].tolist())] * 2


@pytest.mark.usefixtures("form")
def test_a_query_reads_a_table_of_a_schema_and_can_be_a_view(database):
    model = TreeClassifier.c45(levels_from="training").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    database.fill([{"x0": 1}, {"x0": 4}], {"x0": "int"})
    schema = "public" if database.dialect == "postgresql" else "main"
    query = to_sql(model, dialect=database.dialect, table=f"{schema}.data", keep=["row_id"])
    database.run("DROP VIEW IF EXISTS scored")
    database.run(f"CREATE VIEW scored AS {query}")
    found, _ = database.ask("SELECT row_id, prediction FROM scored ORDER BY row_id")
    assert found == [(0, 0), (1, 1)]
    database.run("DROP VIEW scored")


# ---- SQLite ---------------------------------------------------------------------------------


def test_sqlite_reads_every_number_exactly():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, 3000, dtype=np.uint64).view(np.float64)
    short = np.round(rng.normal(size=2000) * 10.0 ** rng.integers(-8, 9, 2000), 6)
    numbers = [*bits[np.isfinite(bits)].tolist(), *short.tolist(), *rng.random(2000).tolist()]
    numbers += [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, 1e16, 2.0**53 + 2, np.inf, -np.inf]
    database = sqlite3.connect(":memory:")
    for number in numbers:
        written = DIALECTS["sqlite"].number(number)
        assert database.execute(f"SELECT {written}").fetchone() == (number,), written
    database.close()


def test_sqlite_reads_a_table_of_text_from_a_csv_import():
    plain, y = plain_rows()
    model = fitted(plain, y)
    database = sqlite3.connect(":memory:")
    columns = ", ".join(
        '"' + name.replace('"', '""') + '" TEXT COLLATE NOCASE' for name in COLUMN_TYPES
    )
    database.execute(f"CREATE TABLE data ({columns})")
    text_rows = [
        ["" if value is None and name != "kind" and name != "grade" else value
         if value is None or isinstance(value, str)
         else repr(value) if isinstance(value, float) else str(value)
         for name, value in row.items()]
        for row in plain
    ]  # fmt: skip
    database.executemany(f"INSERT INTO data VALUES ({', '.join('?' * 8)})", text_rows)
    found = np.array(database.execute(to_sql(model, dialect="sqlite")).fetchall())[:, 1:]
    # SQLite's own reading of 17 digits may be a unit beside, which changes no row here.
    np.testing.assert_allclose(found.astype(float), model.predict_proba(frame(plain)), atol=1e-15)
    database.close()


def test_sqlite_compares_text_exactly_in_any_collation():
    X = pd.DataFrame({"k": ["a", "A", "b"] * 20})
    model = TreeClassifier.c45(levels_from="training").fit(X, ["low", "up", "b"] * 20)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (k TEXT COLLATE NOCASE)")
    database.executemany("INSERT INTO data VALUES (?)", [("a",), ("A",), ("b",)])
    found = [row[0] for row in database.execute(to_sql(model, dialect="sqlite"))]
    assert found == ["low", "up", "b"]
    database.close()


def test_sqlite_reports_a_missing_column():
    model = TreeClassifier.c45(levels_from="training").fit(
        pd.DataFrame({"size": [1, 2, 3, 4]}), [0, 0, 1, 1]
    )
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (other REAL)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.execute(to_sql(model, dialect="sqlite"))
    database.close()


def test_times_of_day_zones_and_durations(database):
    ticks = np.random.default_rng(3).integers(0, 86_400_000_000, 80).tolist()
    base = datetime.datetime(2024, 3, 1, tzinfo=datetime.UTC)
    midnight = datetime.datetime(2000, 1, 1)
    values = {
        "clock": [(midnight + datetime.timedelta(microseconds=t)).time() for t in ticks],
        "zoned": [base + datetime.timedelta(microseconds=7 * t) for t in ticks],
        "span": [datetime.timedelta(microseconds=t) for t in ticks],
    }
    kinds = {
        "clock": {"duckdb": "TIME", "postgresql": "time", "sqlite": "TEXT"},
        "zoned": {"duckdb": "TIMESTAMPTZ", "postgresql": "timestamptz", "sqlite": "TEXT"},
        "span": {"duckdb": "INTERVAL", "postgresql": "interval"},
    }
    y = (np.argsort(np.argsort(ticks)) // 16) % 2
    for name, column in values.items():
        X = pa.table({name: column})
        model = TreeClassifier.c45(levels_from="training", min_samples_leaf=1, pruning=None)
        model.fit(X, y)
        assert model.tree_.n_leaves > 2
        if name == "span" and database.dialect == "sqlite":
            with pytest.raises(InvalidArgumentError, match=r"no durations.*Export to Python"):
                to_sql(model, dialect="sqlite")
            continue
        database.run("DROP TABLE IF EXISTS data")
        database.run(f"CREATE TABLE data (row_id INTEGER, {name} {kinds[name][database.dialect]})")
        for i, value in enumerate(column):
            text = f"{value}"
            if name == "span":
                text = f"{value // datetime.timedelta(microseconds=1)} microseconds"
            database.run(f"INSERT INTO data VALUES ({i}, '{text}')")
        found, _ = database.ask(to_sql(model, dialect=database.dialect, keep=["row_id"]))
        found.sort()
        assert [row[1] for row in found] == model.predict(X).tolist(), name


# ---- arguments ------------------------------------------------------------------------------


def test_invalid_arguments_are_errors():
    model = TreeClassifier.c45(levels_from="training").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    with pytest.raises(InvalidArgumentError, match="dialect must be one of duckdb, sqlite"):
        to_sql(model, dialect="oracle")
    with pytest.raises(InvalidArgumentError, match=r"Did you mean \['id'\]"):
        to_sql(model, keep="id")
    with pytest.raises(InvalidArgumentError, match="empty or have a NUL"):
        to_sql(model, table="a\0b")
    bag = BaggedTreesClassifier(n_estimators=2).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    with pytest.raises(InvalidTypeError, match=r"bag of 2 trees.*'json'.*estimators_\[0\]"):
        to_sql(bag)
    assert "WITH" in to_sql(bag.estimators_[0])


def test_shares_of_a_large_tree_are_computed_only_for_rows_that_need_them():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.random(900), "k": np.array(list("abc"))[rng.integers(0, 3, 900)]})
    y = rng.random(900) < 0.5
    model = TreeClassifier(pruning=None, min_samples_leaf=1, random_state=0).fit(X, y)
    assert model.get_n_leaves() > 100
    query = to_sql(model)
    assert "WHERE node = -1" in query
    few = TreeClassifier(pruning=None, max_leaves=5, random_state=0).fit(X, y)
    assert "WHERE node" not in to_sql(few)


def answers(database, model, rows, types):
    """Return the probabilities of each row."""
    database.fill(rows, types)
    found, _ = database.ask(to_sql(model, dialect=database.dialect, keep=["row_id"]))
    return [row[2:] for row in sorted(found)]


def test_a_category_or_label_with_nul_is_the_same_or_refused(database):
    X = pd.DataFrame({"k": ["a\0b", "ab", "c"] * 20})
    model = TreeClassifier.c45(levels_from="training").fit(X, ["x\0y", "xy", "z"] * 20)
    rows = X[:3].to_dict("records")
    if database.dialect == "postgresql":  # its text has no NUL
        with pytest.raises(InvalidArgumentError, match=r"have no NUL .* got 'a\\x00b'. Export for"):
            to_sql(model, dialect="postgresql")
        return
    expected = [tuple(row) for row in model.predict_proba(X[:3]).tolist()]
    assert answers(database, model, rows, {"k": "text"}) == expected


@pytest.mark.parametrize(
    ("values", "kind"),
    [([2.0**53 + 2, 2.0**60, 1.5], "float"), ([2**53 + 1, 2**53, 2**62 + 1], "int")],
)
@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_categories_beyond_the_whole_numbers_of_float64(database, values, kind, missing):
    dtype = {"float": "float64", "int": "Int64"}[kind]
    X = pd.DataFrame({"k": pd.array([*values, values[2]] * 20, dtype=dtype)})
    model = TreeClassifier.c45(
        levels_from="training", categorical_features=["k"], unseen="stop", missing=missing
    ).fit(X, [0, 1, 2, 2] * 20)
    assert model.schema_.columns[0].category_family == "number"
    absent = float("nan") if kind == "float" else None
    new = pd.DataFrame({"k": pd.array([*values, absent, 7], dtype=dtype)})
    found = answers(database, model, [{"k": v} for v in [*values, absent, 7]], {"k": kind})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        np.testing.assert_allclose(found, model.predict_proba(new), rtol=0, atol=1e-15)


def test_whole_numbers_that_a_database_would_round_are_refused():
    labels = [2**63 + 1, 2**63, 5] * 20
    X = pd.DataFrame({"k": np.array(labels, np.uint64)})
    by_category = TreeClassifier.c45(levels_from="training", categorical_features=["k"])
    by_label = TreeClassifier.c45(levels_from="training")
    for model in (by_category.fit(X, [0, 1, 2] * 20), by_label.fit([[1], [2], [3]] * 20, labels)):
        with pytest.raises(InvalidArgumentError, match="of 64 bits for an export to SQLite; got 9"):
            to_sql(model, dialect="sqlite")
        assert "9223372036854775809" in to_sql(model, dialect="postgresql")


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("missing", ["fraction", "branch"])
@pytest.mark.parametrize("max_depth", [0, None])
def test_an_unseen_category_of_a_column_that_is_not_tested_is_an_error_too(
    database, missing, max_depth
):
    X = pd.DataFrame({"a": [1.0, 2.0] * 20, "z": (["u", "v", None] * 14)[:40]})
    model = TreeClassifier.c45(
        levels_from="training", unseen="error", missing=missing, max_depth=max_depth
    ).fit(X, [0, 1] * 20)
    rows = [{"a": 1.0, "z": z} for z in ("u", None, "new")]
    found = answers(database, model, rows, {"a": "float", "z": "text"})
    expected = model.predict_proba(pd.DataFrame(rows[:2])).tolist()
    np.testing.assert_array_equal(np.array(found[:2], dtype=float), expected)
    assert found[2] == (None, None)


def test_columns_to_keep_have_names_of_their_own():
    model = TreeClassifier.c45(levels_from="training").fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    for keep in (["prediction"], ["id", "p_1"], ["id", "id"]):
        for dialect in DIALECTS:
            with pytest.raises(InvalidArgumentError, match=r"keep must name .* prediction\."):
                to_sql(model, dialect=dialect, keep=keep)
    with pytest.raises(InvalidArgumentError, match="got 'Prediction'"):
        to_sql(model, dialect="sqlite", keep=["Prediction"])
    assert '"Prediction"' in to_sql(model, dialect="postgresql", keep=["Prediction"])
