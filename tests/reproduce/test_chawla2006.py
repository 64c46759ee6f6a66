"""The study of Chawla and Cieslak, on small tables that are made here."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from sureleaf import InvalidArgumentError
from sureleaf.reproduce import Basis, Verdict, chawla2006
from sureleaf.reproduce.chawla2006.study import (
    CORRELATIONS,
    DATASETS,
    MEASURES,
    METHODS,
    SMOOTHED,
    TABLE_3,
    TABLE_3_COLUMNS,
    read_dataset,
    table_1,
)
from sureleaf.reproduce.chawla2006.text import study_text
from tests.cli.command import sureleaf_here
from tests.shared_files import SHARED, needs_shared


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Five tables of 300 rows with the printed number of features."""
    directory = tmp_path_factory.mktemp("data")
    for seed, (name, described) in enumerate(DATASETS.items()):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, described.n_features)).round(2)
        chance = 1 / (1 + np.exp(1.5 - 2 * X[:, 0]))
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        table["town"] = rng.choice(["Rome", "Oslo"], 300)
        table.pop("x4")
        table["target"] = np.where(rng.random(300) < chance, "yes", "no")
        table.to_csv(directory / f"{name}.csv", index=False)
        (directory / f"{name}.schema.json").write_text(
            json.dumps({"target": "target", "positive": "yes", "categorical": ["town"]})
        )
    return directory


@pytest.fixture(scope="module")
def study(directory):
    return chawla2006.reproduce(directory, repeats=2, seed=1)


def test_every_method_is_evaluated_on_every_data_set(study):
    assert [(result.dataset, result.method) for result in study.results] == [
        (name, method) for name in DATASETS for method in METHODS
    ]
    for result in study.results:
        assert 0 <= result.auc <= 1
        assert 0 <= result.error <= 1
        assert 0 <= result.ql <= 2
        assert result.nce == pytest.approx(result.finite_nce - result.zeros * math.log(study.zero))
        assert sum(result.histogram) == pytest.approx(1.0)
        if "Laplace" in result.method or "m-estimate" in result.method:
            assert result.zeros == 0


def test_relative_differences_are_to_the_unsmoothed_unpruned_tree(study):
    base = study.result("adult", "unpruned, frequency")
    found = study.relative("adult", "bagged", "QL")
    assert found == pytest.approx((study.result("adult", "bagged").ql - base.ql) / base.ql)
    assert study.relative("adult", "unpruned, frequency", "AUC") == 0


def test_correlations_are_over_methods_and_data_sets(study):
    raw = study.correlations()
    values = np.array(
        [
            [study.result(name, method).measure(m) for m in MEASURES]
            for name in DATASETS
            for method in METHODS[:5]
        ]
    )
    expected = np.corrcoef(values.T)
    assert raw["NCE", "AUC"] == pytest.approx(expected[0, 3])
    assert set(study.correlations(relative=True)) == set(CORRELATIONS)


def test_a_zero_counted_as_implied_gives_the_printed_figure(study):
    result = study.result("phoneme", "unpruned, frequency")
    zero = study.implied_zero("phoneme", "unpruned, frequency")
    printed = TABLE_3["phoneme"][TABLE_3_COLUMNS.index(("NCE", "unpruned, frequency"))]
    nats = result.finite_nce - result.zeros * math.log(zero)
    assert nats == pytest.approx(max(printed * math.log(10), result.finite_nce))
    assert study.implied_zero("phoneme", "unpruned, Laplace") is None


def test_forty_orders_six_statements_and_six_correlations_are_compared(study):
    claims = study.claims()
    assert len(claims) == 52
    assert sum(claim.where == "table 3" for claim in claims) == 40
    assert repr(study).startswith("Study('chawla2006': 5 data sets, ")


def test_the_same_seed_gives_the_same_study(study, directory):
    again = chawla2006.reproduce(directory, repeats=2, seed=1)
    assert again.results == study.results


def test_the_text_has_every_table_and_figure(study):
    shown = "\n".join(str(part) for part in study_text(study))
    assert "52 directions computed by this library's trees" in shown
    assert "15 figures of table 1 are counts of the data files" in shown
    for title in ("Table 1", "Table 2", "Table 3", "Figure 2", "Figure 3"):
        assert title in shown


def test_the_json_is_complete(study):
    found = json.loads(json.dumps(study.to_dict()))
    assert len(found["results"]) == 40
    assert len(found["relative_differences"]) == 5 * len(SMOOTHED)
    assert len(found["table_3"]) == 40
    assert found["unit"] == "nats"
    assert {cell["basis"] for cell in found["table_1"]["cells"]} == {str(Basis.ARITHMETIC)}


def test_figures_are_drawn(study, tmp_path):
    paths = list(chawla2006.draw_figures(tmp_path / "new", study))
    assert [path.name for path in paths] == [
        "figure-2.svg",
        "figure-2.png",
        "figure-3.svg",
        "figure-3.png",
    ]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_without_a_schema_the_last_columns_rarer_label_is_positive(tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "y"]}).to_csv(tmp_path / "adult.csv", index=False)
    assert read_dataset("adult", tmp_path).y.tolist() == [True, False, False]


def test_a_missing_directory_or_file_is_named(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"got nothing\. Name the directory with --data"):
        chawla2006.reproduce(None)
    with pytest.raises(InvalidArgumentError, match=r"got one without phoneme\.csv"):
        chawla2006.reproduce(tmp_path)


def test_the_command_asks_for_the_data_on_one_line():
    done = sureleaf_here("reproduce", "chawla2006")
    assert done.returncode == 2
    assert "Name the directory with --data" in done.stderr.replace("\n", " ")
    assert "Traceback" not in done.stderr


@needs_shared
def test_table_1_agrees_with_the_files():
    part = table_1([read_dataset(name, SHARED / "data") for name in DATASETS])
    assert part.counts[Verdict.AGREES] == len(part.cells) == 15
