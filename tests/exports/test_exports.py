import pytest

import sureleaf
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.exports import EXPORTS, export

MODEL = TreeClassifier(levels_from="training").fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])


@pytest.mark.parametrize("form", EXPORTS)
def test_every_format_is_written_by_its_name(form):
    if form == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    found = export(MODEL, form)
    assert found == EXPORTS[form](MODEL)
    assert isinstance(found, bytes if form == "onnx" else str)


def test_text_is_the_rules():
    assert export(MODEL, "text") == MODEL.rules()


def test_options_are_those_of_the_format():
    assert "SQLite" in export(MODEL, "sql", dialect="sqlite")
    with pytest.raises(InvalidArgumentError, match="'sql' has the options dialect, table, keep"):
        export(MODEL, "sql", colour="red")
    with pytest.raises(InvalidArgumentError, match="'svg' has no options"):
        export(MODEL, "svg", colour="red")
    with pytest.raises(InvalidArgumentError, match="form must be one of rules, text, json"):
        export(MODEL, "pmml")


@pytest.mark.parametrize("form", [form for form in EXPORTS if form != "json"])
def test_a_bag_is_refused_with_the_alternative(form):
    if form == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    bag = BaggedTreesClassifier(n_estimators=2).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(InvalidTypeError, match=r"'json' \(--to json\) or model.save\(path\)"):
        export(bag, form)


def test_names_are_public():
    assert sureleaf.export is export
    assert sureleaf.from_json(sureleaf.export(MODEL, "json")).levels() == MODEL.levels()
