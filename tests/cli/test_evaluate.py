"""sureleaf evaluate, run in this process on a small table."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.command import refused, run
from tests.scale.tables import few_valued_table


def columns(data: Path) -> list[str]:
    return [str(data), "--target", "class", "--group", "site", "--weight", "mass"]


def test_evaluate_shows_intervals_bars_and_the_number_of_rows_left_out(data, capsys):
    code, out, _ = run(capsys, "evaluate", data, "--target", "class")
    assert code == 0
    text = " ".join(out.split())
    assert re.search(r"TreeClassifier\(\) is expected to predict \d\d\.\d % of unseen rows", text)
    assert "198 rows, 2 classes, positive class 'yes', 10 folds, seed 0" in text
    assert "●" in out
    assert "majority class" in out
    assert "2 rows without a label are left out" in out


def test_the_json_of_evaluate_has_every_measure(data, capsys):
    _, out, _ = run(
        capsys, "evaluate", *columns(data), "--positive", "no", "--cost", "0,1;5,0", "--json"
    )
    result = json.loads(out)
    assert result["positive"] == "no"
    assert {"accuracy", "auc", "cost", "recall"} <= set(result["estimates"])
    accuracy = result["estimates"]["accuracy"]
    assert accuracy["low"] < accuracy["value"] < accuracy["high"]


@pytest.mark.parametrize("design", ["holdout", "repeated", "leave-one-out", "bootstrap"])
def test_every_design_can_be_chosen(design, data, capsys):
    arguments = ["--design", design, "--folds", 3, "--repeats", 3, "--json"]
    if design == "leave-one-out":
        arguments += ["--group", "site"]
    code, out, _ = run(
        capsys, "evaluate", data, "-t", "class", "-m", "sklearn.naive_bayes.GaussianNB", *arguments
    )
    assert code == 0
    assert json.loads(out)["estimator"] == "GaussianNB()"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("evaluate DATA -t class --cost a", "--cost must have one row per actual class"),
        ("evaluate DATA -t class --cost 0,1,2;3", "--cost needs 2 rows of 2 numbers"),
        ("evaluate DATA -t class --save -", "written to a file"),
        ("evaluate DATA -t class --repeats 0", "repeats must be"),
        (f"evaluate DATA -t class --repeats {10**23}", "repeats must be at most 100,000; got 100,"),
        (
            f"evaluate DATA -t class --repeats {10**23} --design bootstrap",
            "n_bootstraps must be at most",
        ),
        (f"evaluate DATA -t class --folds {10**23}", "00 folds needs at least 1"),
        ("fit DATA -t class --bagged 1000001 -o never", "at most 1000000; got 1000001"),
        (
            "evaluate DATA -t class -m TreeClassifier --tree max_leaves=3",
            "--tree cannot be used with --model",
        ),
        (
            "evaluate DATA -t class -m Nope",
            "--model must be a classifier with its parameters, such as TreeClassifier",
        ),
        (
            "evaluate DATA -t class --design kfold=0.2",
            "--design kfold has no share of test rows; got 'kfold=0.2'",
        ),
        ("evaluate nowhere.csv -t class", "there is no file 'nowhere.csv'"),
        (
            "compare DATA -t class -m TreeClassifier",
            "compare needs a table with --target and --model twice, or two saved evaluations or "
            "reports; got 1 file, 1 model and a target.",
        ),
        ("compare a.json b.json --design holdout", "--design goes with a table"),
        ("compare a.eval b.eval -t class", "--target goes with a table"),
        ("compare a.eval b.eval -m x", "--model goes with a table"),
        ("compare a.eval b.eval --folds 5", "--folds goes with a table"),
        ("curve DATA -t class --measure cost", "The measure 'cost' needs a cost matrix"),
        ("curve DATA -t class --sizes 9999x2", "start must be at most"),
        ("curve DATA -t class --sizes 1x2", "start must be at least 2"),
        (
            "curve DATA -t class --sizes 50",
            "--sizes must be the rows of the first sample with a factor or a step",
        ),
    ],
)
def test_errors_of_evaluate_compare_and_curve_are_one_line(arguments, message, data, capsys):
    words = [str(data) if word == "DATA" else word for word in arguments.split()]
    assert message in refused(capsys, *words)


def test_a_table_is_evaluated_in_batches_as_in_memory(tmp_path, capsys):
    rows = few_valued_table(150).drop_columns(["size", "many"])
    pq.write_table(rows.slice(0, 100), tmp_path / "a.parquet")
    pq.write_table(rows.slice(100), tmp_path / "b.parquet")
    pq.write_table(rows, tmp_path.with_suffix(".parquet"))
    options = ("-t", "class", "--weight", "weight", "--folds", 3, "--json")
    outputs = []
    for path in (tmp_path.with_suffix(".parquet"), tmp_path):
        code, out, _ = run(capsys, "evaluate", path, *options)
        assert code == 0
        outputs.append(json.loads(out))
    assert outputs[0] == outputs[1]
    bootstrap = ("evaluate", tmp_path, "-t", "class", "--design", "bootstrap")
    assert "not by bootstrap" in refused(capsys, *bootstrap)
