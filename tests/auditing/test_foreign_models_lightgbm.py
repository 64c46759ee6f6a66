import re

import numpy as np
import pytest

from sureleaf.auditing.foreign_models import check_lightgbm_text

lightgbm = pytest.importorskip("lightgbm")

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(300, 2)), RNG.integers(0, 40, 300)])
Y = (X[:, 0] + (X[:, 2] % 3 == 1) > 0.3).astype(int)
Y3 = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
PARAMETERS = {"verbose": -1, "num_threads": 1, "seed": 0}


def text_of(labels=Y, categorical=(), **parameters):
    data = lightgbm.Dataset(X, labels, categorical_feature=list(categorical))
    parameters = PARAMETERS | {"objective": "binary"} | parameters
    return lightgbm.train(parameters, data, 3).model_to_string()


@pytest.fixture(scope="module")
def text():
    """A model with categorical splits."""
    return text_of(categorical=[2], min_data_per_group=5, cat_smooth=1)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"labels": Y3, "objective": "multiclass", "num_class": 3},
        {"linear_tree": True},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
        {"min_data_in_leaf": 300},
        {"objective": "regression", "monotone_constraints": [1, 0, 0]},
    ],
    ids=["binary", "multiclass", "linear", "rf", "one leaf", "regression"],
)
def test_what_lightgbm_writes_is_accepted(parameters):
    check_lightgbm_text(text_of(**parameters).encode())


def test_categorical_splits_are_accepted(text):
    assert re.search(r"num_cat=[1-9]", text)
    check_lightgbm_text(text.encode())


def sub(pattern, replacement):
    return lambda text: re.sub(pattern, replacement, text, count=1)


DAMAGES = {
    "a zero byte": (lambda text: text[:500] + "\0" + text[500:], "control characters"),
    "cut": (lambda text: text[: text.index("end of trees")], "'end of trees' is missing"),
    "no trees": (lambda text: text.replace("Tree=", "Three="), "no trees"),
    "classes": (sub(r"num_class=1", "num_class=2"), "num_tree_per_iteration differs"),
    "objective": (sub(r"objective=.*", "objective=multiclass num_class:5"), "another num_class"),
    "names": (sub(r"feature_names=.*", "feature_names=a b"), "feature_names must have 3"),
    "ranges": (sub(r"\[(\S+):", r"[\1."), "feature_infos must be ranges and categories"),
    "no sign": (sub(r"shrinkage=", "shrinkage"), "is not a line with a name and a value"),
    "shrinkage": (sub(r"shrinkage=\S+", "shrinkage=?"), "shrinkage must be numbers"),
    "no shrinkage": (sub(r"shrinkage=\S+", ""), "shrinkage must be a number"),
    "sizes": (sub(r"tree_sizes=\d+", "tree_sizes=99999"), "tree_sizes does not agree"),
    "twice": (sub(r"(\nlabel_index=.*)", r"\1\1"), "'label_index' comes twice"),
    "leaves": (sub(r"num_leaves=\d+", "num_leaves=400"), "tree 0: split_feature must"),
    "values": (sub(r"leaf_value=\S+ ", "leaf_value="), "leaf_value must have"),
    "huge": (sub(r"left_child=\S+", "left_child=" + "9" * 30), "left_child must be numbers"),
    "children": (sub(r"left_child=\S+", "left_child=77"), "not those of a tree"),
    "circle": (sub(r"left_child=(\S+) (\S+)", r"left_child=\2 \1"), "lead in a circle"),
    "feature": (sub(r"split_feature=\S+", "split_feature=3"), "split_feature must be from 0"),
    "type": (sub(r"decision_type=\S+", "decision_type=99"), "decision_type must be from 0"),
    "bounds": (sub(r"cat_boundaries=0", "cat_boundaries=5"), "cat_boundaries must be"),
    "groups": (sub(r"cat_threshold=\S+", "cat_threshold="), "cat_threshold must have"),
    "no groups": (sub(r"num_cat=[1-9]\d*", "num_cat=0"), "num_cat is 0"),
    "parameters": (sub(r"\[boosting: ", "[boosting "), "is not a line of parameters"),
    "no end": (sub("end of parameters", "end of parameter"), "'end of parameters' is missing"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_named(text, name):
    damage, message = DAMAGES[name]
    damaged = damage(text)
    if name not in ("sizes", "cut", "no trees"):
        damaged = re.sub(r"\ntree_sizes=.*", "", damaged)
    with pytest.raises(ValueError, match=re.escape(message)):
        check_lightgbm_text(damaged.encode())


def test_trees_of_classes_must_be_complete():
    text = text_of(Y3, objective="multiclass", num_class=3)
    text = re.sub(r"\ntree_sizes=.*", "", text.replace("Tree=8", "end of trees\nTree=8"))
    with pytest.raises(ValueError, match="not a multiple of num_class"):
        check_lightgbm_text(text.encode())


def test_damaged_linear_models_are_named():
    text = re.sub(r"\ntree_sizes=.*", "", text_of(linear_tree=True))
    for pattern, message in (
        (r"leaf_features=\S+", "leaf_features must have the length that num_features states"),
        (r"leaf_coeff=\S+", "leaf_coeff must have the length that num_features states"),
    ):
        with pytest.raises(ValueError, match=message):
            check_lightgbm_text(re.sub(pattern, pattern.partition("=")[0] + "=", text).encode())
