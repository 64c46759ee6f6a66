import json
import warnings

import numpy as np
import pytest

from sureleaf import BaggedTreesClassifier, TreeClassifier, UnseenCategoryWarning
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.exports.json_text import from_json, to_json
from tests.exports.hard_rows import NAMES, fitted, frame, hard_rows, plain_rows


@pytest.fixture(scope="module")
def rows():
    return plain_rows()


def same(model, again, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        np.testing.assert_array_equal(model.predict_proba(X), again.predict_proba(X))
        ours, theirs = model.predict_levels(X), again.predict_levels(X)
    for name, column in ours.columns().items():
        np.testing.assert_array_equal(column, theirs.columns()[name], name)


@pytest.mark.parametrize("unseen", ["mixture", "stop"])
@pytest.mark.parametrize("source", ["training", "cross_fit"])
@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_a_tree_comes_back_from_json(rows, unseen, source, missing):
    plain, y = rows
    model = fitted(plain, y, unseen=unseen, levels_from=source, missing=missing, random_state=0)
    again = from_json(to_json(model))
    np.testing.assert_array_equal(again.tree_.missing_branch, model.tree_.missing_branch)
    assert again.rules() == model.rules()
    same(model, again, frame(hard_rows(model, plain)))
    assert again.levels() == model.levels()
    assert again.get_params() == model.get_params()
    assert to_json(again) == to_json(model)
    assert to_json(from_json(to_json(model, indent=2).encode())) == to_json(model)


@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
def test_bags_come_back_from_json(rows, calibration):
    plain, y = rows
    model = BaggedTreesClassifier(n_estimators=3, calibration=calibration, random_state=0)
    model.fit(frame(plain), y)
    again = from_json(to_json(model))
    same(model, again, frame(plain))
    assert again.oob_levels_ == model.oob_levels_


def walk(written, row):
    """Predict from the JSON alone, by what docs/exports.md says; a slow twin of the model."""
    nodes = written["nodes"]
    columns = {column["name"]: column for column in written["schema"]["columns"]}
    found = np.zeros(len(written["classes"]["values"]))

    def go(node, share):
        if "column" not in nodes[node]:
            return found.__iadd__(share * np.array(nodes[node]["probabilities"]))
        branches, value = nodes[node]["branches"], row[nodes[node]["column"]]
        if columns[nodes[node]["column"]]["kind"] == "ordered" and value is not None:
            value = columns[nodes[node]["column"]]["categories"].index(value)
        if value is not None and "threshold" in nodes[node]:
            bound = nodes[node]["threshold"]
            bound = float(bound["float"]) if isinstance(bound, dict) else bound
            return go(branches[int(value > bound)]["node"], share)
        for branch in branches:
            if value is not None and value in branch["categories"]:
                return go(branch["node"], share)
        if value is None and "missing_branch" in nodes[node]:
            return go(branches[nodes[node]["missing_branch"]]["node"], share)
        for branch in branches:
            go(branch["node"], share * branch["share"])
        return None

    go(0, 1.0)
    return found


@pytest.mark.parametrize("missing", ["fraction", "branch"])
def test_the_schema_is_enough_to_predict(rows, missing):
    plain, y = rows
    used = [{**row, "day": None, "stamp": None} for row in plain]
    model = fitted(used, y, missing=missing)
    written = json.loads(to_json(model))
    found = [walk(written, {NAMES[name]: v for name, v in row.items()}) for row in used]
    np.testing.assert_allclose(found, model.predict_proba(frame(used)), rtol=0, atol=1e-14)


def spoilt(written, *path, to):
    copy = json.loads(json.dumps(written))
    part = copy
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = to
    return json.dumps(copy)


def test_text_that_is_not_a_model_is_an_error(rows):
    plain, y = rows
    written = json.loads(to_json(fitted(plain, y)))
    index = next(i for i, node in enumerate(written["nodes"]) if "threshold" not in node
                 and "column" in node)  # fmt: skip
    texts = [
        "", "{", "[]", "{}", "[" * 100_000, '{"format": "sureleaf model"}', b"\xff",
        spoilt(written, "nodes", to=[]),
        spoilt(written, "nodes", to=7),
        spoilt(written, "nodes", 0, to=[]),
        spoilt(written, "nodes", 0, "node", to=5),
        spoilt(written, "nodes", 0, "column", to="nowhere"),
        spoilt(written, "nodes", 0, "threshold", to="high"),
        spoilt(written, "nodes", 0, "branches", 0, "node", to=0),
        spoilt(written, "nodes", 0, "branches", 0, "node", to=2**40),
        spoilt(written, "nodes", 0, "branches", 0, "share", to=1e999),
        spoilt(written, "nodes", 0, "missing_branch", to=2),
        spoilt(written, "nodes", 0, "missing_branch", to="left"),
        spoilt(written, "nodes", 0, "probabilities", to=[1.0]),
        spoilt(written, "nodes", 0, "counts", to=["a", "b", "c"]),
        spoilt(written, "nodes", 0, "levels", to={}),
        spoilt(written, "nodes", index, "branches", 0, "categories", to=["never"]),
        spoilt(written, "nodes", index, "branches", 0, "categories", to=[[]]),
        spoilt(written, "classes", to=[]),
        spoilt(written, "schema", "columns", to=[]),
        spoilt(written, "parameters", "criterion", to="best"),
    ]  # fmt: skip
    for text in texts:
        with pytest.raises(InvalidArgumentError, match=r"the text is (damaged|not a model)"):
            from_json(text)


def test_json_of_a_newer_version_says_upgrade(rows):
    plain, y = rows
    written = json.loads(to_json(fitted(plain, y)))
    for text in (spoilt(written, "version", to=2), spoilt(written, "model", to="Forest")):
        with pytest.raises(InvalidArgumentError, match=r"newer Sureleaf.*Upgrade"):
            from_json(text)


def test_other_estimators_are_errors():
    with pytest.raises(InvalidTypeError, match="must be a TreeClassifier"):
        to_json(3)


def test_half_of_a_character_is_damage():
    model = TreeClassifier(pruning=None).fit([[1.0], [2.0]] * 20, ["no", "yes"] * 20)
    with pytest.raises(InvalidArgumentError, match="half of a character"):
        from_json(to_json(model).replace("yes", "\\ud800"))
