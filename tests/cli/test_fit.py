"""sureleaf fit saves the model that the library fits."""

import json
import warnings

import pyarrow.parquet as pq

import sureleaf
from sureleaf import TreeClassifier
from tests.cli.command import refused, run
from tests.cli.fitted_rows import make_rows
from tests.scale.tables import few_valued_table


def test_fit_saves_the_model_that_the_library_fits(folder, tmp_path, capsys):
    options = ["--drop", "id"]
    for setting in (
        *("c45", "max_depth=3", "criterion=gini", "min_samples_leaf=9", "pruning=none"),
        *("leaf_estimate=laplace", "categorical_split=subset"),
    ):
        options += ["--tree", setting]
    path = tmp_path / "m.sureleaf"
    code, out, _ = run(
        capsys, "fit", folder / "rows.csv", "-t", "class", "-o", path, *options, "--json"
    )
    rows = make_rows()
    expected = sureleaf.TreeClassifier.c45(
        criterion="gini",
        max_depth=3,
        min_samples_leaf=9,
        pruning=None,
        leaf_estimate="laplace",
        categorical_split="subset",
        random_state=0,
    ).fit(rows.drop_columns(["id", "class"]), rows["class"])
    assert code == 0
    assert sureleaf.load(path).rules() == expected.rules()
    result = json.loads(out)
    assert result["leaves"] == expected.tree_.n_leaves
    assert result["utility"] == expected.levels().utility
    assert result["saved"] == str(path)
    assert result["columns"] == ["size", "code", "late"]


def test_fit_prints_a_summary(folder, tmp_path, capsys):
    arguments = ["fit", folder / "rows.csv", "-t", "class", "--drop", "id", "-o", tmp_path / "m"]
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert "trained on 2,000 rows and 3 columns to predict class" in out
    assert "expected to predict" in out
    code, out, _ = run(capsys, *arguments, "--levels-from", "training")
    assert "training levels" in out
    assert "expected to predict" not in " ".join(out.split())
    code, out, _ = run(capsys, *arguments, "--tree", "class_weight=balanced")
    assert "of unseen rows, weighted by their class, correctly" in " ".join(out.split())
    code, out, _ = run(capsys, "leaves", tmp_path / "m")
    assert "not of rows as they come" in " ".join(out.split())
    code, out, _ = run(capsys, *arguments, "--bagged", "3")
    assert "3 bagged trees, trained on 2,000 rows" in out
    assert "They are expected to predict" in out
    assert "To predict with them" in out
    assert len(sureleaf.load(tmp_path / "m").trees_) == 3


def test_fit_reads_a_folder_in_batches_and_predict_reads_it_too(tmp_path, capsys):
    rows = few_valued_table(300)
    (tmp_path / "parts").mkdir()
    for start in (0, 200):
        pq.write_table(rows.slice(start, 200), tmp_path / "parts" / f"{start}.parquet")
    model, predictions = tmp_path / "m.sureleaf", tmp_path / "p.parquet"
    code, out, _ = run(
        capsys, "fit", tmp_path / "parts", "-t", "class", "-o", model, "--weight", "weight",
        "--drop", "many", "--categorical", "close", "--json",
    )  # fmt: skip
    assert code == 0
    X = rows.drop_columns(["class", "weight", "many"])
    exact = TreeClassifier(categorical_features={"close": "categorical"}, random_state=0)
    exact.fit(X, rows["class"], rows["weight"].to_numpy())
    assert json.loads(out)["leaves"] == exact.tree_.n_leaves
    assert sureleaf.load(model).rules() == exact.rules()
    code, _, _ = run(capsys, "predict", model, tmp_path / "parts", "-o", predictions)
    assert code == 0
    assert pq.read_table(predictions)["prediction"].to_pylist() == exact.predict(X).tolist()


def test_memory_and_bad_options_of_a_fit_in_batches(folder, tmp_path, capsys):
    path = tmp_path / "m.sureleaf"
    start = ("fit", folder / "rows.csv", "-t", "class", "-o", path)
    code, _, _ = run(capsys, *start, "--memory", "1GB", "--tree", "c45")
    assert code == 0
    assert path.exists()
    for options, message in (
        (("--memory", "much"), "memory must be at least"),
        (("--memory", "1GB", "--bagged", "3"), "--bagged needs a table in memory"),
        (("--memory", "1GB", "--cost", "0,1,1;1,0,1;1,1,0"), "cost"),
    ):
        assert message in refused(capsys, *start, *options)


def test_german_numbers_are_read_and_a_target_with_spaces_is_quoted(tmp_path, capsys):
    path = tmp_path / "customers.csv"
    rows = [f"{1 + i // 10}.{100 + i},50;{'yes' if i < 30 else 'no'}" for i in range(60)]
    path.write_text("\n".join(["sum;good customer?", *rows, ""]))
    arguments = ("fit", path, "-t", "good customer?", "-o", tmp_path / "m.sureleaf")
    with warnings.catch_warnings(action="always"):
        _, _, err = run(capsys, *arguments)
    assert err.startswith(
        "sureleaf: note: column 'sum' of customers.csv is text, because '1.100,50'"
    )
    assert "--csv thousands=point" in err
    code, out, err = run(capsys, *arguments, "--csv", "thousands=point")
    assert (code, err) == (0, "")
    assert "A tree with 2 leaves" in out
    assert "to predict 'good customer?'." in " ".join(out.split())
