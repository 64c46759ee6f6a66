import sqlite3

import numpy as np
import pytest

import sureleaf
from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.cli.export import _SUFFIXES
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.exports import FORMATS, export
from sureleaf.levels.decisions import TIE
from tests.cli.command import sureleaf as sureleaf_command

MODEL = TreeClassifier.c45(levels_from="training").fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written_by_its_name(form):
    if form == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    written = export(MODEL, form)
    assert written == FORMATS[form](MODEL)
    assert isinstance(written, bytes if form == "onnx" else str)


def test_options_are_those_of_the_format():
    assert "SQLite" in export(MODEL, "sql", dialect="sqlite")
    for form, message in (
        ("sql", "'sql' must be one of dialect, table, keep; got 'colour'"),
        ("svg", "'svg' must be one of max_leaves, computes_levels; got 'colour'"),
        ("dot", "'dot' must be left out; got 'colour'"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            export(MODEL, form, colour="red")
    with pytest.raises(InvalidArgumentError, match="form must be one of rules, json, sql"):
        export(MODEL, "pmml")


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "json"])
def test_a_bag_is_an_error_that_names_the_alternative(form):
    if form == "onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    bag = BaggedTreesClassifier(n_estimators=2).fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    with pytest.raises(InvalidTypeError, match=r"'json' \(--to json\) or model.save\(path\)"):
        export(bag, form)


def test_every_format_has_a_suffix_on_the_command_line():
    assert set(_SUFFIXES.values()) == set(FORMATS)


def test_names_are_public():
    assert sureleaf.export is export
    assert export(MODEL, "text") == MODEL.rules()
    assert sureleaf.from_json(sureleaf.export(MODEL, "json")).levels() == MODEL.levels()


def test_the_command_lists_every_format():
    done = sureleaf_command("export", "--help", columns=200)
    assert f"{', '.join(list(FORMATS)[:-1])} or {list(FORMATS)[-1]}." in done.stdout


class NearlyEven:
    """A leaf estimate whose two classes differ by less than rounding."""

    def __call__(self, tree, counts):
        return np.tile([0.5, 0.5 + TIE / 3], (len(counts), 1))


def test_every_format_predicts_the_first_of_nearly_equal_classes():
    model = TreeClassifier.c45(levels_from="training", leaf_estimate=NearlyEven())
    model.fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert model.predict([[1.0]]).tolist() == [0]
    module = {}
    exec(export(model, "python"), module)
    assert module["predict"]({"x0": 1.0}) == 0
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE data (x0 REAL)")
    database.execute("INSERT INTO data VALUES (1.0)")
    assert database.execute(export(model, "sql", dialect="sqlite")).fetchone()[0] == 0
    database.close()
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = onnxruntime.InferenceSession(export(model, "onnx"))
    assert session.run(["label"], {"X": np.array([[1.0]])})[0].tolist() == [0]
