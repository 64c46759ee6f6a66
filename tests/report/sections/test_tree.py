"""The tree of the document: its nodes are those of the model, also where values are missing."""

import html
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sureleaf import TreeClassifier
from sureleaf.report.html import render_page
from sureleaf.report.sections.methods import _tree_definition
from tests.report.document_check import check_document, walk
from tests.report.tables import mixed, quick_report


def with_missing_values(n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    flag, age = rng.random(n) < 0.5, rng.normal(40, 10, size=n).round()
    color = rng.choice(["red", "blue", "green"], n)
    is_missing = rng.random((3, n)) < np.array([[0.2], [0.2], [0.6]])
    y = np.where(flag, age > 42, is_missing[2] | (color == "red")) ^ (rng.random(n) < 0.05)
    columns = {
        "age": age.tolist(),
        "color": color.tolist(),
        "score": [float(1 + i % 2) for i in range(n)],
        "flag": ["t" if one else None for one in flag],
    }
    for name, gone in zip(("age", "color", "score"), is_missing, strict=True):
        columns[name] = [None if g else v for v, g in zip(columns[name], gone, strict=True)]
    return pa.table(columns), np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return quick_report(*with_missing_values(), tree=TreeClassifier()).to_dict()


@pytest.fixture(scope="module")
def model() -> TreeClassifier:
    return TreeClassifier(weights="importance", random_state=0).fit(*with_missing_values())


def test_nodes_have_the_branch_of_missing_values(
    document: dict[str, Any], model: TreeClassifier
) -> None:
    check_document(document)
    nodes, tree = document["tree"]["nodes"], model.tree_
    expected = [None if branch < 0 else branch for branch in tree.missing_branch.tolist()]
    assert [node["missing_branch"] for node in nodes] == expected
    edges = [node["edge"] for node in nodes[1:]]
    assert any(edge.endswith(" is missing") for edge in edges)
    assert any(edge.endswith(" or missing") for edge in edges)
    is_leaf = tree.is_leaf.tolist()
    rules = [node["rule"] for node, leaf in zip(nodes, is_leaf, strict=True) if leaf]
    assert rules == model.leaves().rule.tolist()


def test_rows_with_missing_values_go_by_the_rules_of_the_document(
    document: dict[str, Any], model: TreeClassifier
) -> None:
    X, _ = with_missing_values()
    columns = document["tree"]["columns"]
    leaf_of = model.apply(X)
    for row, leaf in zip(X.to_pylist(), leaf_of.tolist(), strict=True):
        codes = [
            None
            if row[column["name"]] is None
            else column["categories"].index(row[column["name"]])
            if column["categories"]
            else row[column["name"]]
            for column in columns
        ]
        assert walk(document["tree"], codes) == {leaf: 1.0}


def test_sentences_say_what_happens_to_missing_values(document: dict[str, Any]) -> None:
    warning = next(w for w in document["data"]["warnings"] if w["kind"] == "missing")
    assert "every branch" not in warning["text"]
    assert warning["text"].endswith("which branch these rows take.")
    assert not any("missing" in note for note in document["tree"]["notes"])
    definition = next(one for one in document["methods"]["definitions"] if one["name"] == "tree")
    assert "Each test has learned which branch missing values take." in str(definition)


def test_the_tree_of_c45_is_described_as_such() -> None:
    text = _tree_definition(TreeClassifier.c45()).text
    assert text.startswith("A C4.5 tree: splits by gain ratio")
    assert "goes down every branch" in text
    assert "Its size is chosen by cross-validation" in _tree_definition(TreeClassifier()).text


def test_certificate_of_the_page_is_that_of_the_model(tmp_path: Path) -> None:
    X, y = with_missing_values()
    report = quick_report(X, y, tree=TreeClassifier(levels_from="honest", max_leaves=4))
    document = report.to_dict()
    check_document(document)
    written = document["tree"]["certificate"]
    fitted = TreeClassifier(
        levels_from="honest", max_leaves=4, weights="importance", random_state=0
    ).fit(X, y)
    certificate = fitted.certificate(alpha=0.05)
    assert written["fingerprint"] == certificate.fingerprint
    assert written["statements"] == certificate.statements
    assert (written["n_grown"], written["n_certifying"]) == (200, 200)
    for name in ("leaf", "n", "n_correct", "low", "high", "p_value", "certified"):
        expected = getattr(certificate.leaves, name).tolist()
        assert [leaf[name] for leaf in written["leaves"]] == expected
    report.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert all(html.escape(sentence) in page for sentence in certificate.statements)
    assert page.count('<h3 id="certificate">') == 1


@pytest.mark.parametrize(
    ("source", "estimate", "said", "unsaid"),
    [
        ("cross_fit", "shrinkage", "out-of-fold predictions", "too high for new rows"),
        ("honest", "averaging", "comes from rows that did not grow the tree", "out-of-fold"),
        ("training", "frequency", "too high for new rows", "out-of-fold"),
    ],
)
def test_statements_about_leaves_go_by_the_rows_of_their_levels_and_by_the_estimate(
    source: str, estimate: str, said: str, unsaid: str
) -> None:
    X, y = with_missing_values()
    tree = TreeClassifier(
        levels_from=source, leaf_estimate=estimate, pruning=None, max_leaves=4, min_samples_leaf=30
    )
    document = quick_report(X, y, tree=tree).to_dict()
    check_document(document)
    methods = {one["name"]: str(one) for one in document["methods"]["definitions"]}
    text = f"{document['tree']['terms']} {methods['numbers of a leaf']}"
    assert (said in text, unsaid in text) == (True, False)
    is_average = estimate == "averaging"
    assert ("ways to prune" in text, "Buntine" in text) == (is_average, is_average)
    assert ("trees grown without a fold" in str(methods)) == (source == "cross_fit")
    is_trained, paper = source == "training", document["paper"]["text"]
    assert not is_trained or not any(
        "By its leaves" in one for one in document["error"]["differences"]
    )
    assert ("correct for training rows" in render_page(document)) == is_trained
    trust = next(one for one in document["answer"]["sentences"] if one["topic"] == "trust")
    assert (trust["short"] == "Not known.") == is_trained
    assert ("itself is expected to predict" in paper) != is_trained
    assert ("one half grew it" in paper) == (source == "honest")


def test_levels_of_weighted_rows_are_not_called_those_of_new_rows() -> None:
    X, y = with_missing_values()
    document = quick_report(X, y, class_weight="balanced", max_depth=2).to_dict()
    check_document(document)
    assert document["tree"]["of_rows"] == "weighted rows"
    trust = next(one for one in document["answer"]["sentences"] if one["topic"] == "trust")
    assert (trust["short"], trust["tone"]) == ("Not known.", "warn")
    assert "itself is expected to predict" not in document["paper"]["text"]
    assert "correct for weighted rows" in render_page(document)


def test_at_costs_methods_and_notes_are_about_costs() -> None:
    X, y = mixed()
    labels = {"<bad>": "default", "good & fine": "paid"}
    document = quick_report(X, y, cost=[[0, 5], [1, 0]], labels=labels, unit="€").to_dict()
    assert ": default" in document["tree"]["rules"]
    assert "<bad>" not in document["tree"]["rules"]
    assert "Mean cost on unseen rows was €" in document["paper"]["text"]
    methods = {one["name"]: one["text"] for one in document["methods"]["definitions"]}
    numbers = methods["numbers of a leaf"]
    for text in ("never below one half", "predicted correctly", "raised to a tie"):
        assert text not in numbers
    assert "the decision is the one of least expected cost" in numbers.lower()
    share = float(np.mean(y == "<bad>"))
    per_row = f"€{0.01 * (5 * share + 1 - share):.2f}"
    margin = f"0.01 of what a wrong decision costs on average, so {per_row} per row"
    assert margin in methods["tree"]
    compared = methods["comparison of models"]
    part = f"{100 * document['models']['margin'] / min(5 * share, 1 - share):.1f} %"
    assert f"That is {part} of what the errors of the cheapest constant decision cost" in compared
    for text in (*document["tree"]["notes"], document["tree"]["stability"]["text"]):
        assert "accuracy" not in text or "standard error" in text


def test_rules_show_short_thresholds_that_separate_the_same_rows() -> None:
    X, y = mixed()
    tree = quick_report(X, y).to_dict()["tree"]
    size = np.array([np.nan if one is None else one for one in X["size"].to_pylist()])
    nodes = [node for node in tree["nodes"] if node["threshold_text"]]
    nodes = [node for node in nodes if tree["columns"][node["column"]]["name"] == "size"]
    assert nodes
    for node in nodes:
        short = node["threshold_text"]
        assert len(short.lstrip("-0.").replace(".", "")) <= 6
        assert ((size <= float(short)) == (size <= node["threshold"])).all()
        assert f"size <= {short}" in tree["rules"]
        assert f"size <= {short}" in tree["nodes"][node["children"][0]]["edge"]
