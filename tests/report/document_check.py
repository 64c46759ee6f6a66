"""A whole report against its JSON schema, which follows from the types, and what must add up."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from sureleaf.report import json_schema

Document = dict[str, Any]
VERDICTS = ("better", "worse", "equivalent", "undecided")
TYPES: dict[str, tuple[type, ...]] = {
    "null": (type(None),),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
}


def check_document(document: Document) -> None:
    """Assert that a document is what the page may rely on."""
    check_schema(document, json_schema())
    _check_answer(document)
    _check_data(document["data"])
    _check_tree(document)
    _check_quality(document)
    _check_error(document["error"])
    _check_models(document["models"], document["data"]["rows"])
    _check_simplicity(document)


def check_schema(value: Any, schema: Document, root: Document | None = None, at: str = "$") -> None:
    """Assert that plain values follow a JSON schema; only what ours uses is known here."""
    root = schema if root is None else root
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return check_schema(value, root["$defs"][name], root, at)
    if "anyOf" in schema:
        return _check_any(value, schema["anyOf"], root, at)
    if "enum" in schema:
        assert value in schema["enum"], (at, value)
        return None
    assert type(value) in TYPES[schema["type"]], (at, value)
    assert type(value) is not float or math.isfinite(value), at
    if schema["type"] == "array":
        for index, one in enumerate(value):
            check_schema(one, schema["items"], root, f"{at}[{index}]")
    if schema["type"] == "object":
        properties, more = schema.get("properties", {}), schema["additionalProperties"]
        assert not set(schema.get("required", [])) - set(value), (at, "lacks a key")
        for key, one in value.items():
            assert key in properties or more, (at, key)
            check_schema(one, properties.get(key, more), root, f"{at}.{key}")
    return None


def _check_any(value: Any, schemas: list[Document], root: Document, at: str) -> None:
    problems = []
    for one in schemas:
        try:
            return check_schema(value, one, root, at)
        except AssertionError as problem:
            problems.append(str(problem))
    raise AssertionError(problems)


def check_estimate(value: Document | None, *, low: float = -math.inf) -> None:
    """Assert that it is an estimate, and that the interval holds the value."""
    assert value is not None
    assert value["value"] >= low
    assert 0 < value["level"] < 1
    assert (value["low"] is None) == (value["high"] is None)
    if value["low"] is not None:
        assert value["low"] <= value["value"] <= value["high"]
        assert value["low"] < value["high"], "an interval without width claims to know it all"


def _check_answer(document: Document) -> None:
    answer = document["answer"]
    assert answer["headline"].endswith(".")
    check_estimate(answer["accuracy"], low=0)
    shares = [one["share"] for one in document["data"]["classes"]]
    assert answer["baseline"] == max(shares)
    assert answer["emphasis"] in answer["headline"]
    assert [one["topic"] for one in answer["sentences"]] == ["good", "trust", "next"]
    _check_lead(document)
    for one in answer["sentences"]:
        assert one["see"] in ("quality", "leaves", "error", "models", "data")
        assert one["short"].endswith(".")
        assert one["text"].endswith(".")
        assert "nan" not in one["text"].lower().split()


def _check_lead(document: Document) -> None:
    """The number that the report leads with is that of the measures, and what it names is right."""
    answer, quality = document["answer"], document["quality"]
    lead, measures = answer["lead"], {one["name"]: one for one in quality["measures"]}
    check_estimate(lead)
    assert lead["measure"] == document["models"]["measure"] == document["simplicity"]["measure"]
    own = measures[lead["measure"]]
    assert {key: lead[key] for key in ("value", "low", "high", "level")} == {
        key: own[key] for key in ("value", "low", "high", "level")
    }
    counts = np.array([one["count"] for one in document["data"]["classes"]])
    constants = counts @ np.array(quality["cost"]) / counts.sum()
    np.testing.assert_allclose([one["cost"] for one in quality["constants"]], constants)
    if lead["measure"] == "cost":
        assert math.isclose(lead["baseline"], constants.min())


def _check_simplicity(document: Document) -> None:
    simplicity = document["simplicity"]
    sizes = [one["leaves"] for one in simplicity["sizes"]]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 1
    for one in simplicity["sizes"] + simplicity["marks"]:
        check_estimate(one)
    assert simplicity["text"].endswith(".")


def _check_data(data: Document) -> None:
    assert math.isclose(sum(one["share"] for one in data["classes"]), 1.0)
    assert len({one["label"] for one in data["classes"]}) == len(data["classes"])
    for column in data["columns"]:
        if column["kind"] == "left out":
            continue
        known = data["rows"] - column["missing"]
        assert 0 <= known <= data["rows"]
        assert column["distinct"] <= known
        counts = [one["count"] for one in column["categories"]]
        assert counts == sorted(counts, reverse=True)
        assert len(counts) <= 12
        assert sum(counts) <= known
        if column["bins"] is not None:
            assert len(column["bins"]) == 20
            assert sum(column["bins"]) <= known
    for warning in data["warnings"]:
        assert warning["text"].endswith(".")


def _check_tree(document: Document) -> None:
    tree, k = document["tree"], len(document["data"]["classes"])
    assert all(text.endswith(".") for text in tree["terms"].values())
    nodes = tree["nodes"]
    assert [node["id"] for node in nodes] == list(range(len(nodes)))
    leaves = [node for node in nodes if node["column"] is None]
    assert len(leaves) == tree["n_leaves"]
    assert max(node["depth"] for node in nodes) == tree["depth"]
    for node in nodes:
        _check_node(node, nodes, tree["columns"], k, tree["at_costs"])
    used = {node["column"] for node in nodes if node["column"] is not None}
    assert used == set(range(len(tree["columns"])))
    _check_examples(document)


def _check_node(
    node: Document, nodes: list[Document], columns: list[Document], k: int, at_costs: bool
) -> None:
    if node["id"]:
        parent = nodes[node["parent"]]
        assert parent["id"] < node["id"]
        assert node["id"] in parent["children"]
        assert type(node["edge"]) is str
        assert node["depth"] == parent["depth"] + 1
    else:
        assert node["parent"] is None
        assert node["edge"] is None
    assert len(node["counts"]) == len(node["probabilities"]) == k
    assert math.isclose(sum(node["counts"]), node["n"], abs_tol=1e-9)
    assert math.isclose(sum(node["probabilities"]), 1.0, abs_tol=1e-9)
    assert at_costs or node["probabilities"][node["prediction"]] == max(node["probabilities"])
    own = ["rule", "low", "high", "confidence", "utility", "flagged"]
    if node["column"] is None:
        assert node["children"] == []
        assert all(node[key] is not None for key in own)
        assert node["low"] <= node["probability"] <= node["high"]
        assert 0 <= node["confidence"] <= 1
        assert 0 <= node["utility"] <= 1
        assert bool(node["repair"]) == node["flagged"]
        return
    assert all(node[key] is None for key in own)
    children = [nodes[child] for child in node["children"]]
    assert len(children) == len(node["shares"])
    assert math.isclose(sum(node["shares"]), 1.0, abs_tol=1e-9)
    assert math.isclose(sum(child["n"] for child in children), node["n"], rel_tol=1e-9)
    column = columns[node["column"]]
    if node["branch_of_category"] is None:
        assert len(children) == 2
        if node["threshold"] is None:  # is it missing?
            assert node["threshold_text"] is None
            assert node["missing_branch"] == 1
        else:
            assert type(node["threshold_text"]) is str
    else:
        assert node["threshold"] is None
        assert len(node["branch_of_category"]) == len(column["categories"])
        branches = {*node["branch_of_category"], node["missing_branch"]} - {-1, None}
        assert branches == set(range(len(children)))
    assert node["missing_branch"] is None or 0 <= node["missing_branch"] < len(children)


UNSEEN = -2
"""The code of a category that was not in the training rows."""


def walk(
    tree: Document, codes: list[float | None], number: int = 0, share: float = 1.0
) -> dict[int, float]:
    """Say where a row ends and with which shares, by the rules of docs/report-json.md."""
    node = tree["nodes"][number]
    if not node["children"]:
        return {number: share}
    code, branches = codes[node["column"]], node["branch_of_category"]
    if code is None:
        taken = node["missing_branch"]
    elif branches is not None:
        taken = branches[int(code)] if code != UNSEEN else -1
    elif node["threshold_text"] is None:  # is it missing?
        taken = 0
    else:
        taken = 0 if code <= node["threshold"] else 1
    if taken is not None and taken >= 0:
        return walk(tree, codes, node["children"][taken], share)
    if taken == -1 and tree["unseen"] == "stop":
        return {number: share}
    found: dict[int, float] = {}
    for child, part in zip(node["children"], node["shares"], strict=True):
        if part > 0:
            found |= walk(tree, codes, child, share * part)
    return found


def _check_examples(document: Document) -> None:
    tree = document["tree"]
    examples = tree["example_rows"]
    assert 0 < len(examples) <= 40
    assert [one["row"] for one in examples] == sorted({one["row"] for one in examples})
    labels = [one["label"] for one in document["data"]["classes"]]
    for one in examples:
        assert len(one["values"]) == len(one["codes"]) == len(tree["columns"])
        assert one["truth"] in labels
        for value, code, column in zip(one["values"], one["codes"], tree["columns"], strict=True):
            assert (value is None) == (code is None)
            if code is not None and column["categories"] is not None:
                assert column["categories"][int(code)] == value
        reached = walk(tree, one["codes"])
        assert math.isclose(sum(reached.values()), 1.0)
        assert math.isclose(reached[one["leaf"]], max(reached.values()))


def _check_quality(document: Document) -> None:
    quality, data = document["quality"], document["data"]
    labels = [one["label"] for one in data["classes"]]
    k, counts = len(labels), np.array([one["count"] for one in data["classes"]])
    assert quality["labels"] == labels
    assert 0 <= quality["positive"] < k
    confusion = np.array(quality["confusion"])
    assert confusion.shape == (k, k)
    np.testing.assert_allclose(confusion.sum(axis=1), counts, rtol=1e-6)
    for measure in quality["measures"]:
        check_estimate(measure)
    assert [one["class"] for one in quality["by_class"]] == list(range(k))
    for one in quality["by_class"]:
        hits = confusion[one["class"], one["class"]]
        for name, axis in (("recall", 1), ("precision", 0)):
            total = confusion.sum(axis=axis)[one["class"]]
            assert (one[name] is None) == (total == 0)
            if one[name] is not None:
                check_estimate(one[name], low=0)
                assert math.isclose(one[name]["value"], hits / total, abs_tol=1e-6)
    rates = {one["name"]: one for one in quality["measures"]}
    for name in {"recall", "precision"} & set(rates):  # said twice, and the same both times
        again = quality["by_class"][quality["positive"]][name]
        assert again == {key: rates[name][key] for key in again}
    _check_roc(quality["roc"], quality["positive"])
    _check_decision(quality, counts)
    correct = np.trace(confusion) / confusion.sum()
    assert math.isclose(rates["accuracy"]["value"], correct, abs_tol=1e-6)
    if quality["cost_given"]:
        paid = (confusion * quality["cost"]).sum() / confusion.sum()
        assert math.isclose(rates["cost"]["value"], paid, rel_tol=1e-6)


def _check_roc(roc: Document | None, positive: int) -> None:
    if roc is None:
        return
    assert roc["class"] == positive
    x, y = roc["false_positive_rate"], roc["true_positive_rate"]
    assert len(x) == len(y) == len(roc["low"]) == len(roc["high"]) <= 400
    assert (x[0], y[0], x[-1], y[-1]) == (0, 0, 1, 1)
    assert all(a <= b for a, b in pairwise(x))
    assert all(a <= b for a, b in pairwise(y))
    assert all(
        low <= rate <= high for low, rate, high in zip(roc["low"], y, roc["high"], strict=True)
    )
    check_estimate(roc["area"], low=0)


def _check_decision(quality: Document, counts: Any) -> None:
    scores, cost = quality["scores"], np.array(quality["cost"])
    assert cost.shape == (len(counts), len(counts))
    if scores["kind"] == "binary":
        assert scores["score"] == sorted(set(scores["score"]))
        p = quality["positive"]
        assert math.isclose(sum(scores["positive"]), counts[p], rel_tol=1e-6)
        assert math.isclose(sum(scores["negative"]), counts[1 - p], rel_tol=1e-6)
    else:
        rows = scores["rows"]
        assert len(rows) <= 4000
        assert math.isclose(sum(row["weight"] for row in rows), counts.sum(), rel_tol=1e-6)
    decision = quality["decision"]
    table = np.array(decision["confusion"])
    assert math.isclose(
        decision["cost_per_row"], float((table * cost).sum() / table.sum()), abs_tol=1e-12
    )


def _check_error(error: Document) -> None:
    check_estimate(error["cross_validation"], low=0)
    for name in ("bootstrap", "curve"):
        assert (error[name] is None) == (type(error[f"{name}_note"]) is str)
    if error["bootstrap"] is not None:
        found = error["bootstrap"]
        if found["low"] is None:
            assert found["high"] is None
            assert found["method"].startswith("no interval")
        else:
            assert 0 <= found["low"] <= found["e632_plus"] <= found["high"] <= 1
    if error["curve"] is not None:
        curve = error["curve"]
        assert len({len(curve[key]) for key in ("sizes", "values", "low", "high")}) == 1
        assert curve["sizes"] == sorted(set(curve["sizes"]))
        assert curve["text"].endswith(".")


def _check_models(models: Document, n_rows: int) -> None:
    names = [row["name"] for row in models["rows"]]
    assert len(set(names)) == len(names)
    assert models["rows"][0]["comparison"] is None
    assert set(models["verdicts"]) == set(VERDICTS)
    for row in models["rows"]:
        check_estimate(row["accuracy"], low=0)
        found = row["comparison"]
        if found is None:
            continue
        assert found["low"] <= found["difference"] <= found["high"]
        own, reference = (one[models["measure"]]["value"] for one in (row, models["rows"][0]))
        size = 1 if models["measure"] != "cost" else max(abs(own), abs(reference), 1)
        assert math.isclose(found["difference"], own - reference, abs_tol=0.02 * size)
        low, high = found["low"], found["high"]
        if models["measure"] == "cost":
            low, high = -high, -low
        if found["verdict"] == "better":
            assert low > models["margin"]
        if found["verdict"] == "worse":
            assert high < -models["margin"]
        # "About 12,118 rows would decide" of 30,000 rows that do not decide is a contradiction.
        assert found["rows_needed"] is None or found["rows_needed"] > n_rows
