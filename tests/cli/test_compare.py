"""sureleaf compare, run in this process on a small table."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier, bootstrap_error
from sureleaf.cli.compare import _short_names
from sureleaf.comparison import compare, compare_many
from sureleaf.evaluation.evaluation import Evaluation
from tests.cli.command import refused, run


def test_saved_evaluations_are_compared(data, tmp_path, capsys):
    paths = [tmp_path / "first.eval", tmp_path / "second.eval"]
    for model, path in zip(("TreeClassifier", "TreeClassifier(max_depth=1)"), paths, strict=True):
        run(capsys, "evaluate", data, "-t", "class", "-m", model, "--save", path)
    _, out, _ = run(capsys, "compare", *paths, "--margin", "0.1", "--json")
    expected = compare(*(Evaluation.load(path) for path in paths), margin=0.1)
    result = json.loads(out)
    assert result["difference"] == expected.difference
    assert result["verdict"] == expected.verdict
    assert result["sentence"] == expected.sentence
    floored = run(capsys, "compare", *paths, "--measure", "nce(floor=0.01)", "--json")[1]
    assert json.loads(floored)["measure"] == "nce(floor=0.01)"


def test_two_models_are_compared_by_cost(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = ["-m", "TreeClassifier", "-m", "sklearn.dummy.DummyClassifier(strategy='prior')"]
    arguments = ["compare", data, "-t", "class", *models, "--cost", "0,1;9,0", "--json"]
    result = json.loads(run(capsys, *arguments)[1])
    assert result["measure"] == "decided_cost"
    n_no = sum(line.endswith(",no") for line in data.read_text(encoding="utf-8").splitlines())
    always_yes = n_no / 198  # has the least cost
    assert result["values"][1] == pytest.approx(always_yes, abs=0.01)
    as_predicted = json.loads(run(capsys, *arguments, "--measure", "cost")[1])
    assert as_predicted["values"][1] > result["values"][1]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("tables")
    paths = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        code = rng.integers(1, 7, 80)
        x = rng.normal(size=80)
        kind = np.where((code % 2 == 0) ^ (x + rng.normal(size=80) > 2), "no", "yes")
        lines = [f"{a},{b:.3f},{c}" for a, b, c in zip(code, x, kind, strict=True)]
        paths.append(folder / f"table{seed}.csv")
        paths[-1].write_text("\n".join(["code,x,kind", *lines]) + "\n")
    return paths


NAMES = ["TreeClassifier", "TreeClassifier(max_depth=1)", "sklearn.naive_bayes.GaussianNB"]


def test_several_tables_are_compared_by_ranks(tables, capsys):
    arguments = ["compare", *tables, "-t", "kind", "--folds", 3]
    arguments += [part for name in NAMES for part in ("-m", name)]
    result = json.loads(run(capsys, *arguments, "--json")[1])
    scores = [list(result["scores"][path.name].values()) for path in tables]
    expected = compare_many(scores, names=NAMES)
    assert result["average_ranks"] == dict(zip(expected.names, expected.average_ranks, strict=True))
    assert result["p_value"] == expected.p_value
    assert result["critical_difference"] == expected.critical_difference
    _, out, _ = run(capsys, *arguments)
    text = " ".join(out.split())
    assert f"Friedman's test, p = {expected.p_value:.4g}" in text
    assert "Nemenyi's critical difference" in text
    assert "With 5 tables, p by Holm is at least 0.19" in text  # 3 pairs x 2 / 2^5
    assert "it needs 7 tables or more" in text
    assert "…" not in out
    losses = json.loads(run(capsys, *arguments, "--measure", "error", "--json")[1])
    assert losses["average_ranks"] == result["average_ranks"]


def test_several_models_on_one_table_are_compared_with_the_first_at_a_stricter_level(
    tables, capsys
):
    arguments = ["compare", tables[0], "-t", "kind", "--folds", 3, "--json"]
    result = json.loads(run(capsys, *arguments, *[p for n in NAMES for p in ("-m", n)])[1])
    assert result["first"] == NAMES[0]
    assert list(result["comparisons"]) == NAMES[1:]
    assert all(each["level"] == 0.975 for each in result["comparisons"].values())


def test_codes_are_categories_on_request_and_in_later_files(tables, tmp_path, capsys):
    path = tmp_path / "model.sureleaf"
    code, _, _ = run(capsys, "fit", tables[0], "-t", "kind", "-o", path, "--categorical", "code")
    assert code == 0
    assert "code in {1, 3, 5}" in run(capsys, "leaves", path)[1]
    assert run(capsys, "predict", path, tables[1])[0] == 0
    header = "@relation r\n@attribute code {1,2,3,4,5,6}\n@attribute x real\n"
    rows = tables[0].read_text().partition("\n")[2]
    arff = tmp_path / "table.arff"
    arff.write_text(header + "@attribute kind {no,yes}\n@data\n" + rows)
    run(capsys, "fit", arff, "-t", "kind", "-o", tmp_path / "arff.sureleaf")
    of_arff = run(capsys, "predict", tmp_path / "arff.sureleaf", arff)[1]
    assert of_arff == run(capsys, "predict", path, tables[0])[1]
    err = refused(capsys, "fit", tables[0], "-t", "kind", "-o", path, "--categorical", "cod")
    assert "--categorical must be a column of table0.csv; got 'cod'. Did you mean 'code'?" in err


def test_an_evaluation_by_bootstrap_shows_every_bootstrap_error(tables, capsys):
    arguments = ["evaluate", tables[0], "-t", "kind", "-m", "TreeClassifier(max_depth=2)"]
    arguments += ["--design", "bootstrap", "--repeats", 10, "--seed", 3]
    found = json.loads(run(capsys, *arguments, "--json")[1])["bootstrap_error"]
    frame, tree = pd.read_csv(tables[0]), TreeClassifier(max_depth=2)
    X, y = frame[["code", "x"]], frame["kind"]
    expected = bootstrap_error(tree, X, y, n_bootstraps=10, random_state=3)
    text = run(capsys, *arguments)[1]
    for name in ("training", "plain", "leave_one_out", "e632", "e632_plus"):
        assert found[name] == pytest.approx(getattr(expected, name), abs=1e-12)
        assert f" {found[name]:.4f} " in text
    assert f"{expected.standard_errors['plain']:.4f}" in text


def test_every_table_may_have_a_target_of_its_own(data, tmp_path, capsys):
    header, rows = data.read_text(encoding="utf-8").split("\n", 1)
    other = tmp_path / "other.csv"
    other.write_text(f"{header.replace('class', 'kind')}\n{rows}", encoding="utf-8")
    models = ["-m", "TreeClassifier(max_depth=1)", "-m", "sklearn.dummy.DummyClassifier"]
    code, out, _ = run(capsys, "compare", data, other, "-t", "class", "-t", "kind", *models)
    assert code == 0
    assert re.search(r"accuracy +TreeClassifier +DummyClassifier\n", out)
    err = refused(capsys, "compare", data, *["-t", "class"] * 2, *models)
    assert "once per table in their order; got 2 targets for 1 table." in err


@pytest.mark.parametrize(
    ("models", "names"),
    [
        (["TreeClassifier.c45", "sklearn.svm.SVC(C=2)"], ["TreeClassifier.c45", "SVC"]),
        (["sklearn.svm.SVC(C=1)", "sklearn.svm.SVC(C=2)"], ["SVC(C=1)", "SVC(C=2)"]),
        (["a.Tree", "b.Tree"], ["a.Tree", "b.Tree"]),
    ],
)
def test_names_are_short_as_far_as_they_differ(models: list[str], names: list[str]) -> None:
    assert _short_names(models) == names
