import ast
import csv
import datetime
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sureleaf import TreeClassifier, UnseenCategoryWarning
from sureleaf.exports.python import to_python
from sureleaf.files import read_file
from tests.exports.hard_rows import (
    NAMES,
    fitted,
    frame,
    hard_rows,
    plain_rows,
    rows_with_tests_for_missing_values,
)


def module_of(model):
    module = {}
    exec(compile(to_python(model), "exported", "exec"), module)
    return module


def check(module, model, rows, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        stated, predicted = model.predict_proba(X), model.predict(X)
    found = [module["predict_proba"](row) for row in rows]
    assert all(list(line) == model.classes_.tolist() for line in found)
    np.testing.assert_array_equal(np.array([list(line.values()) for line in found]), stated)
    assert [module["predict"](row) for row in rows] == predicted.tolist()


@pytest.mark.parametrize("unseen", ["mixture", "stop"])
@pytest.mark.parametrize("split", ["multiway", "subset"])
@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_a_module_returns_the_same_floats_as_the_model(unseen, split, missing):
    plain, y = plain_rows()
    model = fitted(plain, y, unseen=unseen, categorical_split=split, missing=missing)
    rows = hard_rows(model, plain)
    named = [{NAMES[name]: value for name, value in row.items()} for row in rows]
    check(module_of(model), model, named, frame(rows))


def test_a_module_tests_for_missing_values():
    X, y, rows, X_new = rows_with_tests_for_missing_values()
    model = TreeClassifier(pruning=None, levels_from="training").fit(X, y)
    assert np.isinf(model.tree_.threshold).any()
    check(module_of(model), model, rows, X_new)


def test_none_nan_and_absent_are_missing_values():
    plain, y = plain_rows()
    module = module_of(fitted(plain, y))
    row = {NAMES[name]: value for name, value in plain[3].items()}
    size = NAMES["size"]
    results = [module["predict_proba"]({**row, size: value}) for value in (None, float("nan"))]
    row.pop(size)
    assert results == [module["predict_proba"](row)] * 2


def test_where_the_model_raises_for_unseen_categories_so_does_the_module():
    plain, y = plain_rows()
    module = module_of(fitted(plain, y, unseen="error"))
    row = {NAMES[name]: value for name, value in plain[3].items()}
    with pytest.raises(ValueError, match="unseen category 'never'"):
        module["predict"]({**row, NAMES["kind"]: "never"})
    with pytest.raises(TypeError, match="must be a number; got the text 'five'"):
        module["predict"]({**row, NAMES["size"]: "five"})


def test_an_unseen_category_of_a_column_that_is_not_tested_raises_too():
    X = pd.DataFrame({"a": [1.0, 2.0] * 20, "z": (["u", "v", None] * 14)[:40]})
    model = TreeClassifier.c45(levels_from="training", unseen="error").fit(X, [0, 1] * 20)
    module = module_of(model)
    assert module["predict"]({"a": 1.0, "z": None}) == 0
    with pytest.raises(ValueError, match="z has the unseen category 'new'"):
        module["predict"]({"a": 1.0, "z": "new"})


def test_rows_of_text_from_a_csv_reader_get_the_predictions_of_the_model(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.csv"
    lines = ["months,size,owner,colour,y"]
    for size in rng.normal(size=400):
        months, owner = int(rng.integers(1, 60)), bool(rng.random() < 0.5)
        label = "good" if (size > 0) == owner or months > 40 else "bad"
        colour = ("red", "blue")[int(rng.random() < (0.8 if label == "bad" else 0.2))]
        text = [str(months), repr(float(size)), str(owner).lower(), colour]
        lines.append(",".join("" if rng.random() < 0.05 else cell for cell in text) + f",{label}")
    path.write_text("\n".join(lines) + "\n")
    table = read_file(path)
    assert table.schema.types[:3] == [pa.int64(), pa.float64(), pa.bool_()]
    X = table.drop_columns(["y"])
    model = TreeClassifier.c45(pruning=None).fit(X, table["y"])
    tested = {int(index) for index in model.tree_.feature if index >= 0}
    assert tested == {0, 1, 2, 3}
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    check(module_of(model), model, rows, X)


def test_a_module_imports_only_the_standard_library_and_runs_without_anything_else(tmp_path):
    plain, y = plain_rows()
    text = to_python(fitted(plain, np.array(["it's", 'a "b"', "\n\\"])[y]))
    imported = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import)]
    assert [name.name for node in imported for name in node.names] == ["datetime"]
    (tmp_path / "tree.py").write_text(text, encoding="utf-8")
    code = "import tree; print(tree.predict({'count': 3}) in tree.CLASSES)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


HOSTILE = [
    '"""\nraise SystemExit(3)\n"""',
    "'; raise SystemExit(3) #",
    "\\",
    "{0} %s",
    "\u2028raise SystemExit(3)",
    "a\nb",
]


def test_hostile_names_categories_and_labels_stay_text():
    n = 120
    rng = np.random.default_rng(0)
    kinds = np.array(HOSTILE, dtype=object)
    X = pd.DataFrame({name: rng.normal(size=n) for name in HOSTILE})
    X["kind"] = kinds[np.arange(n) % len(kinds)]
    y = kinds[(X[HOSTILE[0]] > 0).to_numpy() * 1 + (X[HOSTILE[1]] > 0.5) * 2]
    model = TreeClassifier.c45(levels_from="training", pruning=None).fit(X, y)
    check(module_of(model), model, X.to_dict("records"), X)


def test_labels_and_columns_of_dates_and_times():
    n = 60
    start = datetime.datetime(2024, 1, 1)
    moments = [start + datetime.timedelta(hours=7 * i, microseconds=i) for i in range(n)]
    columns = {
        "stamp": moments,
        "zoned": [moment.replace(tzinfo=datetime.UTC) for moment in moments],
        "day": [moment.date() for moment in moments],
        "clock": [moment.time() for moment in moments],
        "span": [moment - start for moment in moments],
    }
    y = np.repeat(np.array(["2024-02-29", "2025-01-01", "2026-01-01"], dtype="M8[D]"), n // 3)
    for name, values in columns.items():
        X = pa.table({name: values})
        key = np.argsort(np.argsort(values))
        model = TreeClassifier.c45(levels_from="training").fit(X, y[key])
        assert model.tree_.n_leaves == 3, name
        check(module_of(model), model, [{name: value} for value in values], X)


def test_a_tree_of_one_leaf():
    model = TreeClassifier.c45(max_depth=0, levels_from="training").fit(
        [[1.0], [2.0]], [True, False]
    )
    assert module_of(model)["predict_proba"]({}) == {False: 0.5, True: 0.5}


def test_a_module_compares_integers_beyond_2_53_exactly():
    X = np.array([[0], [512], [1024], [2048]]) + 2**60
    model = TreeClassifier(pruning=None, min_samples_leaf=1, levels_from="training")
    model = model.fit(X, [0, 0, 1, 1])
    module = module_of(model)
    rows = np.arange(400, 1100) + 2**60
    expected = model.predict(rows[:, None]).tolist()
    assert [module["predict"]({"x0": int(value)}) for value in rows] == expected
    assert [module["predict"]({"x0": value}) for value in rows] == expected


def test_labels_that_differ_by_a_nanosecond_stay_apart():
    times = np.array([1, 2, 1, 2], "M8[ns]")
    model = TreeClassifier(max_depth=0, levels_from="training").fit([[1], [2], [3], [4]], times)
    labels = list(module_of(model)["predict_proba"]({}))
    assert labels == ["1970-01-01T00:00:00.000000001", "1970-01-01T00:00:00.000000002"]
