"""The document and the page of an audit: what they say is what the audit found."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

import sureleaf
from sureleaf import Audit, audit
from sureleaf.errors import InvalidArgumentError
from sureleaf.report.audit_report import audit_document, write_audit
from sureleaf.report.html import render_audit
from sureleaf.report.request import Origin
from tests.report.audited_models import booster_audit, forest_audit, tree_audit
from tests.report.test_html import assert_asks_no_server

AUDITS = {"tree": tree_audit, "forest": lambda: forest_audit(5), "booster": booster_audit}


@pytest.fixture(params=list(AUDITS))
def found(request: pytest.FixtureRequest) -> Audit:
    made: Audit = AUDITS[request.param]()
    return made


def sentences(document: dict[str, object]) -> dict[str, tuple[str, str]]:
    answer = document["answer"]
    return {one["topic"]: (one["tone"], one["text"]) for one in answer["sentences"]}


def test_a_document_holds_the_audit_and_adds_up(found: Audit) -> None:
    document = audit_document(found, Origin("kind", source="rows.csv"))
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    numbers = found.to_dict()
    assert {name: document[name] for name in numbers} == numbers
    confusion = np.array(document["confusion"])
    assert confusion.trace() / confusion.sum() == pytest.approx(found.accuracy.value)
    assert [one["count"] for one in document["data"]["classes"]] == confusion.sum(axis=1).tolist()
    assert document["wanted"] == {"level": 0.95, "confidence": 0.95, "utility": None}


def test_a_page_is_whole_offline_and_draws_the_documents_numbers(found: Audit) -> None:
    document = audit_document(found, Origin("kind"))
    page = render_audit(json.loads(json.dumps(document)))
    assert page == render_audit(document)
    assert_asks_no_server(page)
    linked = re.findall(r'<li><a href="#(\w+)">', page)
    assert linked == re.findall(r'<section id="(\w+)"', page)
    embedded = re.search(r'id="document">(.*?)</script>', page)
    bins = json.loads(embedded.group(1))["bins"]
    assert bins["low"] == found.bins.low.tolist()
    assert bins["stated"] == found.bins.stated.tolist()


def test_the_answer_says_what_was_found() -> None:
    found = tree_audit()
    document = audit_document(found, Origin("diagnosis"))
    right = f"{100 * found.accuracy.value:.1f} %"
    assert document["answer"]["headline"].startswith(
        f"This DecisionTreeClassifier predicts “diagnosis” correctly for {right} of 284 unseen rows"
    )
    told = sentences(document)
    weak, total = int(found.leaves.flagged.sum()), len(found.leaves)
    assert f"Do not rely on {weak} of the {total} leaves" in told["groups"][1]
    assert found.stated > found.accuracy.high
    assert told["claims"][0] == "bad"
    assert "The model is overconfident" in told["claims"][1]
    assert told["baseline"][0] == "good"
    modest = audit_document(replace(found, stated=found.accuracy.low - 0.1), Origin())
    assert "The model is underconfident" in sentences(modest)["claims"][1]
    true = audit_document(replace(found, stated=found.accuracy.value), Origin())
    assert "within chance" in sentences(true)["claims"][1]


def test_flagged_groups_of_an_audit_are_defined_as_they_are_computed(found: Audit) -> None:
    """An interval that reaches a tie does not flag a group of rows that did not choose it."""
    document = audit_document(found, Origin("diagnosis"))
    page = render_audit(document)
    assert "or another class is more frequent in it" in page
    assert "reaches a tie" not in page
    assert "reaches a tie" not in sentences(document)["groups"][1]
    table = found.bins
    counts = np.asarray(table.counts)
    own = counts[np.arange(len(table)), np.searchsorted(found.classes, table.prediction)]
    is_less = counts.max(axis=1) > own
    expected = is_less | (table.n <= 0) | (table.confidence < 0.95)
    np.testing.assert_array_equal(table.flagged, expected)


def test_training_rows_are_never_called_good() -> None:
    document = audit_document(tree_audit("training"), Origin("diagnosis"))
    told = sentences(document)
    assert told["training"][0] == "bad"
    assert "good" not in {tone for tone, _ in told.values()}
    assert "training rows" in document["answer"]["headline"]
    assert document["data"]["rows"] == document["n_rows"]
    assert "Audit it with rows that it was not trained on" in render_audit(document)


def test_of_many_leaves_the_largest_are_drawn_and_the_page_says_so() -> None:
    found = forest_audit()
    assert len(found.leaves) > 600
    page = render_audit(audit_document(found, Origin("diagnosis")))
    assert f"500 of {len(found.leaves)} leaves are on this page" in page
    table = page[page.index('id="leaf-table"') :]
    lines = re.findall(r"<tr data-at.*?</tr>", table)
    assert len(lines) == 500
    cells = r'<tr data-at.*?data-label="tree">(\d+).*?data-label="leaf">(\d+)</td>'
    drawn = [(int(tree), int(leaf)) for tree, leaf in re.findall(cells, table)]
    leaves = zip(found.leaves.tree.tolist(), found.leaves.leaf.tolist(), strict=True)
    rows = dict(zip(leaves, found.leaves.n.tolist(), strict=True))
    others = [n for leaf, n in rows.items() if leaf not in set(drawn)]
    assert min(rows[leaf] for leaf in drawn) >= max(others)


def test_a_notebook_gets_text_not_markup() -> None:
    found = replace(tree_audit(), model="<img src=x onerror=alert(1)>")
    shown = found._repr_html_()
    assert "<img" not in shown
    assert "&lt;img" in shown


def test_the_page_is_written(tmp_path: Path) -> None:
    document = audit_document(tree_audit(), Origin("diagnosis", title="My <model>"))
    write_audit(document, tmp_path / "audit.html")
    page = (tmp_path / "audit.html").read_text(encoding="utf-8")
    assert "<title>My &lt;model&gt; \u2013 Sureleaf audit</title>" in page
    assert [file.name for file in tmp_path.iterdir()] == ["audit.html"]


def test_a_report_is_no_audit() -> None:
    with pytest.raises(InvalidArgumentError, match="schema must be 'sureleaf-audit/1'"):
        render_audit({"schema": "sureleaf-report/2"})


def test_a_long_rule_is_told_by_its_end_and_a_small_chance_is_not_none() -> None:
    made = audit_document(tree_audit(max_depth=12), Origin("kind"))
    _, text = sentences(made)["groups"]
    named = re.findall(r"leaf (\d+), (.*?): (?:bad|good) \(", text)
    rules = {leaf["leaf"]: leaf["rule"] for leaf in made["leaves"]}
    assert named
    for leaf, told in named:
        assert rules[int(leaf)].endswith(told.removeprefix("… "))
        assert told.startswith("… ") == (len(rules[int(leaf)]) > 140)
    assert "confidence 0 %" not in text


# ---- costs ---------------------------------------------------------------------------------------


def rows_of_two_leaves() -> tuple[np.ndarray, np.ndarray]:
    """1,000 rows of which 2 % are ones, and 3,064 of which 18.5 % are: at 5 to 1 they are ones."""
    x = np.repeat([0.0, 1.0], [1000, 3064])
    y = np.concatenate([np.repeat([0, 1], [980, 20]), np.repeat([0, 1], [2497, 567])])
    return x[:, np.newaxis], y


COST = [[0, 1], [5, 0]]


def test_an_audit_at_costs_says_nothing_about_majorities_or_accuracy() -> None:
    X, y = rows_of_two_leaves()
    tree = sureleaf.TreeClassifier(cost=COST, levels_from="training", random_state=0).fit(X, y)
    found = audit(tree, X - 0.1, y, rows="unseen")
    assert found.leaves.prediction.tolist() == [0, 1]
    assert found.leaves.counts[1].tolist() == [2497, 567]
    assert not found.leaves.flagged.any()
    assert found.leaves.cost == pytest.approx([0.1, 2497 / 3064])
    document = audit_document(found, Origin("y"))
    told = sentences(document)
    paid = (5 * 20 + 2497) / 4064
    assert found.cost.value == pytest.approx(paid)
    assert document["answer"]["headline"].startswith(
        f"At the costs that it was fitted with, this TreeClassifier costs {paid:.3f} per row on "
        "4,064 unseen rows (95 % interval"
    )
    lead = document["answer"]["lead"]
    assert (lead["measure"], lead["baseline"]) == ("cost", pytest.approx(5 * 587 / 4064))
    assert told["baseline"][0] == "good"
    assert "always deciding 0, the cheapest constant, costs 0.722 per row" in told["baseline"][1]
    assert "the model is cheaper than the baseline" in told["baseline"][1]
    assert told["groups"] == (
        "good",
        "All 2 leaves reach the wanted level: the confidence that each makes the cheapest decision "
        "is at least 95 %.",
    )
    for text in (render_audit(document), str(sorted(told.items())), repr(found.notes())):
        assert "majority" not in text
        assert "more frequent" not in text
        assert "worse than the baseline" not in text


def test_costs_that_are_given_are_those_of_every_sentence_and_flag() -> None:
    """A tree that was fitted without costs: its majorities are certain, its decisions expensive."""
    X, y = rows_of_two_leaves()
    model = DecisionTreeClassifier(max_depth=1).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    plain, found = (audit(model, X, y, cost=cost) for cost in (None, COST))
    assert plain.leaves.flagged.tolist() == [False, False]
    assert found.leaves.flagged.tolist() == [False, True]
    assert found.leaves.confidence[1] < 0.01
    told = sentences(audit_document(found, Origin("y")))
    assert told["baseline"][0] == "bad"
    assert "do not show that the model is cheaper than the baseline" in told["baseline"][1]
    assert "another decision is cheaper for its rows" in told["groups"][1]
    assert found.measures.measure[0] == "cost"
    equal = audit(model, X, y, cost=[[0, 3], [3, 0]])
    assert equal.leaves.confidence.tolist() == plain.leaves.confidence.tolist()
    assert equal.utility == plain.utility


def test_a_forest_at_costs_is_described_by_what_its_trees_cost() -> None:
    X, codes = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(5, random_state=0).fit(X[::2], codes[::2])
    found = audit(forest, X[1::2], codes[1::2], cost=COST)
    told = sentences(audit_document(found, Origin("diagnosis")))
    truth = codes[1::2]
    costs = [
        np.where(tree.predict(X[1::2]) == truth, 0, np.where(truth == 1, 5, 1)).mean()
        for tree in forest.estimators_
    ]
    assert found.trees.cost == pytest.approx(costs)
    assert f"alone costs {np.mean(costs):.3f} per row on average" in told["trees"][1]


def test_decisions_by_cost_do_not_look_like_swapped_classes() -> None:
    """At 50 to 1 a tree decides for the rare class nearly everywhere, and is right to do so."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 1))
    y = (random.random(2000) < 0.1).astype(int)
    costs = [[0, 1], [50, 0]]
    tree = sureleaf.TreeClassifier(cost=costs, levels_from="training").fit(X[:1000], y[:1000])
    found = audit(tree, X[1000:], y[1000:])
    assert found.accuracy.value < 0.2
    assert found.remarks == ()
