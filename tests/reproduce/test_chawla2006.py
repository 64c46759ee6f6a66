"""The experiment of Chawla and Cieslak, on small tables that are made here."""

import io
import json
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

from sureleaf import BaggedTreesClassifier, InvalidArgumentError, TreeClassifier, measures
from sureleaf.reproduce import Basis, chawla2006
from sureleaf.reproduce.chawla2006 import text
from sureleaf.reproduce.chawla2006.experiment import (
    BASELINE,
    FLOOR,
    MEASURES,
    METHODS,
    PAIRS,
    SMOOTHED,
    TEST_SHARE,
    run_experiment,
)
from sureleaf.reproduce.chawla2006.printed import DATASETS, TABLE_3, read_dataset
from sureleaf.studies import Store, StudyResults
from tests.cli.command import sureleaf_here


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
def store(directory):
    return directory / "run.db"


@pytest.fixture(scope="module")
def replication(directory, store):
    return chawla2006.reproduce(directory, partial(run_experiment, repeats=2, seed=1, store=store))


@pytest.fixture(scope="module")
def experiment(replication):
    return replication.experiment


def test_every_method_is_evaluated_on_every_data_set(experiment):
    assert [(result.dataset, result.method) for result in experiment.results] == [
        (name, method) for name in DATASETS for method in METHODS
    ]
    for result in experiment.results:
        assert 0 <= result.auc_low <= result.auc <= result.auc_high <= 1
        assert 0 <= result.error <= 1
        assert 0 <= result.ql <= 2
        assert sum(result.histogram) == pytest.approx(1.0)
        if "Laplace" in result.method or "m-estimate" in result.method:
            assert result.zeros == 0


@pytest.mark.parametrize("method", [BASELINE, "bagged, Laplace", "pruned, m-estimate"])
def test_the_measures_are_those_of_trees_fitted_by_hand(experiment, directory, method):
    data = read_dataset("phoneme", directory)
    X, y = data.X.to_pandas(), np.array(data.y)
    growing, _, estimate = method.partition(", ")
    estimate = {"": "frequency", "m-estimate": "m_estimate"}.get(estimate, estimate.lower())
    tree = TreeClassifier.c45(
        pruning="pessimistic" if growing == "pruned" else None, leaf_estimate=estimate
    )
    if growing == "bagged":
        tree = BaggedTreesClassifier(estimator=tree, n_estimators=30, random_state=0)
    store = Store(directory / "run.db", create=False)
    rows = StudyResults(store).evaluation("phoneme", method).predictions
    values = []
    for split in (0, 1):
        test = rows.row[rows.split == split]
        assert len(test) == round(TEST_SHARE * len(y))
        train = np.setdiff1d(np.arange(len(y)), test)
        p = tree.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
        others = (measures.quadratic_loss, measures.zero_one_loss, measures.auc)
        nce = measures.nce(y[test], p, floor=FLOOR)
        values.append([nce, *(measure(y[test], p) for measure in others)])
    found = experiment.result("phoneme", method)
    assert [found.measure(name) for name in MEASURES] == pytest.approx(np.mean(values, axis=0))


def test_relative_differences_are_to_the_unsmoothed_unpruned_tree(experiment):
    base = experiment.result("adult", BASELINE)
    found = experiment.relative("adult", "bagged", "QL")
    assert found == pytest.approx((experiment.result("adult", "bagged").ql - base.ql) / base.ql)
    assert experiment.relative("adult", BASELINE, "AUC") == 0


def test_correlations_are_over_methods_and_data_sets(experiment):
    values = np.array(
        [
            [experiment.result(name, method).measure(m) for m in MEASURES]
            for name in DATASETS
            for method in (BASELINE, *SMOOTHED)
        ]
    )
    assert experiment.correlations()["NCE", "AUC"] == pytest.approx(np.corrcoef(values.T)[0, 3])
    ranks = experiment.correlations(ranks=True)
    assert ranks["QL", "01L"] == pytest.approx(stats.spearmanr(values[:, 1], values[:, 2])[0])
    assert set(experiment.correlations(relative=True)) == set(PAIRS)


def test_a_zero_counted_as_implied_gives_the_printed_figure(replication):
    result = replication.experiment.result("phoneme", BASELINE)
    implied = replication.implied_floor("phoneme", BASELINE)
    finite = result.nce + result.zeros * math.log(FLOOR)
    nats = finite - result.zeros * math.log(implied)
    assert nats == pytest.approx(max(TABLE_3["phoneme", "NCE", BASELINE] * math.log(10), finite))
    assert replication.implied_floor("phoneme", "unpruned, Laplace") is None


def test_the_printed_areas_are_compared_on_two_scales(replication):
    scale = next(one for one in replication.auc_scales if one.dataset == "covtype")
    methods = [method for name, measure, method in TABLE_3 if (name, measure) == ("covtype", "AUC")]
    found = [replication.experiment.result("covtype", method) for method in methods]
    printed = [TABLE_3["covtype", "AUC", method] for method in methods]
    pairs = list(zip(printed, found, strict=True))
    assert scale.difference_as_auc == pytest.approx(
        np.mean([abs(figure - one.auc) for figure, one in pairs])
    )
    assert scale.difference_as_2_auc_minus_1 == pytest.approx(
        np.mean([abs(figure - (2 * one.auc - 1)) for figure, one in pairs])
    )
    assert scale.inside_as_2_auc_minus_1 == sum(
        2 * one.auc_low - 1 <= figure <= 2 * one.auc_high - 1 for figure, one in pairs
    )


def test_forty_orders_six_statements_and_six_signs_are_compared(replication):
    assert len(replication.claims) == 52
    assert sum(claim.where == "table 3" for claim in replication.claims) == 40
    assert repr(replication).endswith("of 52 directions agree)")


def test_a_sign_that_agrees_says_how_far_the_correlation_is_off(replication):
    found = replication.experiment.correlations()["QL", "01L"]
    claim = next(c for c in replication.claims if "QL and 01L" in c.printed)
    sign = "the same" if found > 0 else "the other"
    assert claim.computed == f"{found:.2f}: {sign} sign, {abs(found - 0.8245):.2f} away"


def test_a_run_goes_on_where_it_was_interrupted(replication, directory, store):
    """Everything is in the store, so nothing is fitted again."""
    began = []
    run = partial(run_experiment, repeats=2, seed=1, store=store, report_progress=began.append)
    again = chawla2006.reproduce(directory, run)
    assert began == []
    assert again.experiment.results == replication.experiment.results


def test_the_text_has_every_table_and_figure(replication):
    shown = "\n".join(str(part) for part in text.replication_text(replication))
    assert "52 directions computed by this library's trees" in shown
    assert "15 figures of table 1 are counts of the data files" in shown
    for title in ("Table 1", "Table 2", "Table 3", "Figure 2", "Figure 3", "Hypothesis 1"):
        assert title in shown
    assert "As an AUC, 0.3975 would be below chance" in shown
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(*text.replication_text(replication))
    assert "…" not in console.export_text()


def test_one_repeat_has_no_range(replication):
    once = replace(replication, experiment=replace(replication.experiment, repeats=1))
    for found, has_range in ((replication, True), (once, False)):
        shown = "\n".join(str(part) for part in text.replication_text(found))
        assert ("inside the range of our 2 repeats" in shown) == has_range
        assert ("inside the range" in shown) == has_range


def test_the_json_is_complete(replication):
    found = json.loads(json.dumps(replication.to_dict()))
    assert len(found["results"]) == 40
    assert len(found["relative_differences"]) == 5 * len(SMOOTHED)
    assert len(found["table_3"]) == 40
    assert len(found["auc_scales"]) == 5
    assert found["unit"] == "nats"
    assert {cell["basis"] for cell in found["table_1"]["cells"]} == {str(Basis.ARITHMETIC)}


def test_a_missing_directory_or_file_is_named(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"got nothing\. Name the directory with --data"):
        chawla2006.reproduce(None)
    with pytest.raises(InvalidArgumentError, match=r"got one without phoneme\.csv"):
        chawla2006.reproduce(tmp_path)


# ---- tables of one's own -------------------------------------------------------------------------


def test_the_experiment_runs_on_tables_of_ones_own(directory, tmp_path):
    done = sureleaf_here(
        *("reproduce", "chawla2006", "--tables", str(directory / "phoneme.csv")),
        *("--target", "target", "--repeats", "1", "--figures", str(tmp_path), "--json"),
    )
    found = json.loads(done.stdout)
    assert [one["dataset"] for one in found["results"]] == ["phoneme"] * len(METHODS)
    names = {path.rpartition("/")[2] for path in found["figures"]}
    assert names == {
        f"chawla2006-figure-{figure}.{kind}"
        for figure in ("2-phoneme", "3")
        for kind in ("svg", "png")
    }
    correlation = found["correlations"][0]
    assert {"pair", "of_measures", "of_their_ranks"} < set(correlation)


def test_the_rarer_class_is_positive(directory):
    (table,) = chawla2006.read_tables([directory / "adult.csv"], ["target"])
    labels, counts = np.unique(table.y, return_counts=True)
    assert table.positive == labels[counts.argmin()]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Name the directory with --data, or tables of your own"),
        (("--tables", "a.csv"), "--tables and --target go together"),
        (("--data", ".", "--tables", "a.csv"), "--data and --tables do not go together"),
        (("--part", "table 1"), "--part does not go with chawla2006"),
    ],
)
def test_what_does_not_go_together_is_one_line(arguments, message):
    done = sureleaf_here("reproduce", "chawla2006", *arguments, columns=200)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_options_of_the_experiment_are_refused_for_other_documents():
    done = sureleaf_here("reproduce", "aw", "--store", "a.db", columns=200)
    assert (done.returncode, "--store goes with chawla2006 only" in done.stderr) == (2, True)


def test_a_table_of_three_classes_is_refused(tmp_path):
    pd.DataFrame({"a": [1, 2, 3], "y": ["x", "y", "z"]}).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InvalidArgumentError, match="must have two classes"):
        chawla2006.read_tables([tmp_path / "t.csv"], ["y"])
    with pytest.raises(InvalidArgumentError, match="once, or once per table"):
        chawla2006.read_tables([tmp_path / "t.csv"], ["y", "a"])
