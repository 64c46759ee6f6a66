import re
import shutil
import subprocess
import warnings
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier
from sureleaf.exports.drawings import draw_tree, node_texts, to_dot, to_svg
from sureleaf.exports.tree_view import printable
from tests.exports.hard_rows import fitted, plain_rows

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def models():
    plain, y = plain_rows()
    hard = fitted(plain, y)
    one = TreeClassifier.c45(max_depth=0).fit([[1], [2]], ["a<b&c", 'd"'])
    names = ["<script>alert(1)</script>", 'say "]]>"\\', "&amp;\x0b\x00"]
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=90) for name in names})
    X[names[2]] = np.array(["</g>", '\\"', "\u202e\x01"])[rng.integers(0, 3, 90)]
    y = np.array(["</text>", '"\\', "\x00\u2028"])[
        1 * (X[names[0]] > 0) + 1 * (X[names[2]] == "</g>")
    ]
    hostile = TreeClassifier.c45(levels_from="training", pruning=None).fit(X, y)
    assert hostile.tree_.n_leaves > 3
    return {"hard": hard, "one": one, "hostile": hostile}


@pytest.mark.parametrize("name", ["hard", "one", "hostile"])
def test_a_drawing_is_xml_and_has_every_node(models, name):
    model = models[name]
    root = ElementTree.fromstring(to_svg(model))
    assert root.tag == f"{SVG}svg"
    boxes = root.findall(f"{SVG}g")
    assert len(boxes) == model.tree_.n_nodes
    tooltips = [box.find(f"{SVG}title").text for box in boxes]
    expected = [printable(text.tooltip) for text in node_texts(model, "SVG")]
    assert tooltips == expected
    assert ("by Zhang (2024)" in "".join(tooltips)) == (model.levels_from == "training")
    assert len(root.findall(f"{SVG}path")) == model.tree_.n_nodes - 1
    assert {element.tag for element in root.iter()} <= {
        f"{SVG}{tag}" for tag in ("svg", "title", "rect", "text", "g", "path")
    }


@pytest.mark.parametrize("name", ["hard", "one", "hostile"])
def test_boxes_lie_within_the_drawing_and_do_not_overlap(models, name):
    drawing = draw_tree(models[name])
    spots = [
        (box.left, box.right, box.middle - box.height / 2, box.middle + box.height / 2)
        for box in drawing.boxes
    ]
    for left, right, top, bottom in spots:
        assert 0 < left < right < drawing.width
        assert 0 < top < bottom < drawing.height
    for i, (left, right, top, bottom) in enumerate(spots):
        for other in spots[i + 1 :]:
            assert right < other[0] or other[1] < left or bottom < other[2] or other[3] < top
    for box in drawing.boxes:
        for child in box.text.children:
            assert drawing.boxes[child].left > box.right


def test_a_leaf_shows_its_class_probability_rows_and_confidence(models):
    model = models["hard"]
    texts = node_texts(model, "SVG")
    table = model.leaves(confidence=None)
    for leaf, n, confidence in zip(table.leaf, table.n, table.confidence, strict=True):
        first, second = texts[leaf].lines
        probabilities = model.model_.probabilities[leaf]
        predicted = model.classes_[probabilities.argmax()]
        assert first == f"{predicted} {100 * probabilities.max():.0f} %"
        assert float(second.split(" ")[0]) == pytest.approx(n, abs=0.05)
        level = second.split("confidence ")[1]
        assert 0.995 <= confidence < 1 if level == ">0.99" else level == f"{confidence:.2f}"


def test_flagged_leaves_are_dashed_and_marked_also_where_a_drawing_ends_above_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] > 0.5) ^ (rng.random(300) < 0.3)
    model = TreeClassifier(pruning=None, max_leaves=9, random_state=0).fit(X, y)
    table = model.leaves()
    flagged = int(table.flagged.sum())
    assert 0 < flagged < len(table)
    texts = node_texts(model, "SVG")
    assert {text.node for text in texts if text.flagged} == set(table.leaf[table.flagged].tolist())
    assert to_svg(model).count("stroke-dasharray") == to_svg(model).count(">!</text>") == flagged
    assert to_dot(model).count('style="rounded,filled,dashed"') == flagged
    told = re.findall(r"leaves below, (\d) flagged", to_svg(model, max_leaves=4))
    marked = to_svg(model, max_leaves=4).count(">!</text>")
    assert told
    assert sum(map(int, told)) + marked - len(told) == flagged


def test_the_surer_leaf_has_the_stronger_colour():
    X = np.arange(80.0).reshape(-1, 1)
    model = TreeClassifier.c45(levels_from="training", leaf_estimate="laplace", min_samples_leaf=5)
    model.fit(X, np.r_[np.zeros(60), np.ones(20)])
    drawn = to_svg(model)
    fills = re.findall(r'rx="5" fill="#(\w+)"', drawn)
    assert len(set(fills)) == 3  # white for the root, and one for each leaf
    assert [text.strength for text in node_texts(model, "SVG")][1:] == [
        pytest.approx(2 * 61 / 62 - 1),
        pytest.approx(2 * 21 / 22 - 1),
    ]


@pytest.mark.parametrize("name", ["hard", "one", "hostile"])
def test_graphviz_reads_what_is_written_for_it(models, name):
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed (apt-get install graphviz)")
    model = models[name]
    done = subprocess.run(
        ["dot", "-Tplain"], input=to_dot(model), capture_output=True, text=True, check=True
    )
    lines = [line.split(" ")[0] for line in done.stdout.splitlines()]
    assert lines.count("node") == model.tree_.n_nodes
    assert lines.count("edge") == model.tree_.n_nodes - 1


def test_a_model_without_levels_is_drawn_without_them():
    model = TreeClassifier.c45().fit([[i] for i in range(40)], [0] * 20 + [1] * 20).forget_rows()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "confidence" not in to_svg(model)


def test_branches_say_where_missing_values_go():
    X = pd.DataFrame(
        {
            "age": [1.0, 2.0, 3.0, 4.0, None, None],
            "color": ["a", "b", "c", None, "a", "b"],
            "size": pd.Categorical(["s", "m", "m", None, None, "s"], ["s", "m"], ordered=True),
        }
    )
    settings = {"pruning": None, "min_samples_leaf": 1, "levels_from": "training"}
    for name, y, expected in (
        ("age", [0, 0, 1, 1, 1, 1], ["≤ 2", "> 2 or missing"]),
        ("age", [0, 0, 0, 0, 1, 1], ["known", "missing"]),
        ("color", [0, 0, 1, 0, 0, 0], ["a | b or missing", "= c"]),
        ("color", [0, 0, 0, 1, 0, 0], ["a | b | c", "missing"]),
        ("size", [0, 1, 1, 0, 0, 0], ["≤ s or missing", "> s"]),
        ("size", [0, 0, 0, 1, 1, 0], ["known", "missing"]),
    ):
        model = TreeClassifier(**settings).fit(X[[name]], y)
        assert [text.branch for text in node_texts(model, "DOT")[1:]] == expected
    known = TreeClassifier(**settings).fit([[1.0], [2.0]], [0, 1])
    assert [text.branch for text in node_texts(known, "DOT")[1:]] == ["≤ 1", "> 1"]


def test_graphviz_gets_no_text_that_it_refuses():
    rows = pd.DataFrame({"x" * 20_000: [1.0, 2.0, 3.0, 4.0] * 5})
    model = TreeClassifier.c45(levels_from="training").fit(rows, ["no", "no", "yes", "yes"] * 5)
    assert max(map(len, to_dot(model).split('"'))) < 16_384
