"""Pickles hold the state of a model in few bytes, and give it back bit by bit."""

import pickle
import zlib

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier

from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.files.state_file import Damaged, State
from sureleaf.model.compact_state import compact_state, state_from_compact
from sureleaf.model.plain_values import pack_array

pytestmark = pytest.mark.usefixtures("few_rounds")


def mixed_table(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=n), "kind": rng.choice(list("uvwx"), n)})
    y = np.array(["a", "b", "c"])[(X["size"] > 0) + 1 * (X["kind"] == "u")]
    y[rng.random(n) < 0.2] = "a"
    X.loc[rng.random(n) < 0.1, "size"] = np.nan
    return X, y


TREES = {
    "cross-fitted": {},
    "training": {"levels_from": "training"},
    "honest": {"levels_from": "honest"},
    "weights": {"weights": "importance"},
    "cost": {"cost": [[0, 1, 5], [1, 0, 1], [1, 2, 0]]},
    "one leaf": {"max_depth": 0},
    "missing values take all branches": {"missing": "fraction", "pruning": None},
}


def fitted(name):
    X, y = mixed_table()
    if name == "bag":
        return BaggedTreesClassifier(n_estimators=3, random_state=0).fit(X, y)
    if name == "one class":
        return TreeClassifier().fit([[1], [2]], [1, 1])
    weights = np.random.default_rng(1).random(len(y)) if name == "weights" else None
    model = TreeClassifier(random_state=0, **TREES[name]).fit(X, y, sample_weight=weights)
    model.levels()
    return model


@pytest.mark.parametrize("name", [*TREES, "one class", "bag"])
def test_a_compact_state_is_given_back_bit_by_bit(name):
    state = fitted(name).model_.to_state()
    again = state_from_compact(compact_state(state))
    assert again.header == state.header
    assert again.arrays.keys() == state.arrays.keys()
    for each, array in state.arrays.items():
        assert again.arrays[each].dtype == array.dtype
        assert again.arrays[each].tobytes() == np.ascontiguousarray(array).tobytes(), each


def test_what_does_not_follow_from_other_arrays_is_kept():
    state = TreeClassifier(random_state=0).fit(*mixed_table()).model_.to_state()
    changed = {**state.arrays, "tree/branch_share": state.arrays["tree/branch_share"] / 3}
    again = state_from_compact(compact_state(State(state.header, changed)))
    assert np.array_equal(again.arrays["tree/branch_share"], changed["tree/branch_share"])


def test_an_array_that_only_a_newer_version_can_compute_is_an_error():
    content = compact_state(State({"derived": ["levels/later"]}, {}))
    with pytest.raises(Damaged, match="levels/later"):
        state_from_compact(content)


@pytest.mark.parametrize("levels_from", ["cross_fit", "training", "honest"])
def test_a_pickle_is_no_larger_than_that_of_a_scikit_learn_tree_of_as_many_leaves(levels_from):
    iris, noisy = load_iris(return_X_y=True), make_classification(2000, flip_y=0.1, random_state=0)
    for (X, y), pruning in ((iris, "auto"), (iris, None), (noisy, None)):
        model = TreeClassifier(random_state=0, pruning=pruning, levels_from=levels_from).fit(X, y)
        n_leaves = model.tree_.n_leaves
        peer = DecisionTreeClassifier(random_state=0, max_leaf_nodes=n_leaves).fit(X, y)
        assert peer.get_n_leaves() == n_leaves
        assert len(pickle.dumps(model)) <= len(pickle.dumps(peer)), (len(X), pruning)


def test_a_pickle_of_few_leaves_is_mostly_fingerprints_of_rows():
    X, y = make_classification(2000, flip_y=0.1, random_state=0)
    model = TreeClassifier(random_state=0, max_depth=1).fit(X, y)
    without = TreeClassifier.around(model.complete_model().with_seen(None), model)
    assert len(pickle.dumps(without)) < 1000
    assert len(pickle.dumps(model)) < len(pickle.dumps(without)) + 4 * 1024


def test_pickles_of_earlier_versions_can_be_read():
    X, y = mixed_table()
    model = TreeClassifier(random_state=3).fit(X, y)
    table = model.leaves().to_pandas()
    plain = model.model_.to_state()
    plain.header["seen"].pop("n_dropped_bits")
    packed = {name: pack_array(array) for name, array in plain.arrays.items()}
    earlier = {
        **model.get_params(),
        "n_features_in_": 2,
        "model_state_": {"header": plain.header, "packed": packed},
    }
    again = TreeClassifier.__new__(TreeClassifier)
    again.__setstate__(earlier)
    assert again.get_params() == model.get_params()
    pd.testing.assert_frame_equal(again.leaves().to_pandas(), table)


def test_the_text_that_compression_knows_never_changes():
    """A pickle cannot be read without the very same text."""
    from sureleaf.model import compact_state as module

    assert zlib.crc32(module._USUAL_TEXT) == 641994198
