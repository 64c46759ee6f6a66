"""Pickles hold the state of a model in few bytes, and give it back bit by bit."""

import pickle
import zlib
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.estimators.base import compact_bytes
from sureleaf.files.state_file import Damaged, State
from sureleaf.model.compact_state import compact_state, state_from_compact
from sureleaf.model.plain_values import estimate_to_plain, pack_array

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


def frame(X, n_words=0):
    """Named columns, the last ones of words."""
    table = pd.DataFrame(X, columns=[f"feature {i}" for i in range(X.shape[1])])
    for name in table.columns[X.shape[1] - n_words :]:
        table[name] = np.array(["low", "middle", "high"])[np.digitize(table[name], [-1, 1])]
    return table


def assert_small(model, peer):
    """A pickle of any protocol that has binary values is at most as large as the peer's."""
    for protocol in (2, 3, 4, 5):
        sizes = [len(pickle.dumps(each, protocol=protocol)) for each in (model, peer)]
        assert sizes[0] <= sizes[1], (protocol, model)


def peer_of(model, X, y):
    if model.tree_.n_leaves == 1:
        return DecisionTreeClassifier(min_samples_leaf=len(y)).fit(X, y)
    n_leaves = model.tree_.n_leaves
    # Random thresholds, because few rows may need fewer leaves if thresholds are the best ones.
    peer = DecisionTreeClassifier(splitter="random", max_leaf_nodes=n_leaves, random_state=0)
    assert peer.fit(X, y).get_n_leaves() == n_leaves
    return peer


@pytest.mark.parametrize("levels_from", ["cross_fit", "training", "honest"])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("n_rows", [100, 1500])
def test_a_pickle_is_no_larger_than_that_of_a_scikit_learn_tree_of_as_many_leaves(
    levels_from, n_classes, n_rows
):
    X, y = make_classification(
        n_rows, 12, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=0
    )
    for limits in ({}, {"pruning": None}, {"max_depth": 0}, {"max_depth": 1}):
        model = TreeClassifier(random_state=0, levels_from=levels_from, **limits).fit(X, y)
        assert_small(model, peer_of(model, X, y))


def test_a_pickle_of_named_columns_or_words_is_no_larger_than_that_of_scikit_learn():
    X, y = make_classification(1500, 12, flip_y=0.1, random_state=0)
    for n_words in (0, 4):
        table, labels = frame(X, n_words), np.array(["no", "yes"])[y]
        for limits in ({}, {"max_depth": 1}):
            model = TreeClassifier(random_state=0, **limits).fit(table, labels)
            assert_small(model, peer_of(model, frame(X), labels))


def test_a_pickle_of_many_columns_without_names_is_no_larger_than_that_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(400, 600))
    y = (X[:, 0] > 0).astype(int)
    X[::2, 5] = np.nan
    model = TreeClassifier(random_state=0, max_depth=1, levels_from="training").fit(X, y)
    assert_small(model, peer_of(model, X, y))
    assert pickle.loads(pickle.dumps(model)).model_.schema == model.model_.schema


def test_a_pickle_of_a_bag_is_no_larger_than_that_of_scikit_learn():
    """scikit-learn's forest holds no out-of-bag probabilities by default; this one does."""
    for n_rows, n_classes, n_trees in ((100, 2, 1), (600, 10, 2), (2000, 3, 5)):
        X, y = make_classification(
            n_rows, 12, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=0
        )
        model = BaggedTreesClassifier(n_estimators=n_trees, random_state=0).fit(X, y)
        peer = RandomForestClassifier(n_estimators=n_trees, random_state=0).fit(X, y)
        n_nodes = sum(each.tree_.node_count for each in peer.estimators_)
        assert sum(tree.n_nodes for tree in model.trees_) > 0.95 * n_nodes
        assert_small(model, peer)


def test_fingerprints_of_rows_take_less_than_a_kilobyte():
    X, y = make_classification(2000, flip_y=0.1, random_state=0)
    model = TreeClassifier(random_state=0, max_depth=1).fit(X, y)
    without = TreeClassifier.around(model.complete_model().with_seen(None), model)
    assert len(pickle.dumps(without)) < 700
    assert len(pickle.dumps(model)) < len(pickle.dumps(without)) + 700


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_a_pickle_of_any_protocol_gives_the_model_back(protocol):
    X, y = mixed_table()
    tree = TreeClassifier(random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(tree, protocol=protocol))
    pd.testing.assert_frame_equal(again.leaves().to_pandas(), tree.leaves().to_pandas())
    bag = BaggedTreesClassifier(n_estimators=3, random_state=0, cost=np.ones((3, 3)) - np.eye(3))
    again = pickle.loads(pickle.dumps(bag.fit(X, y), protocol=protocol))
    assert repr(again.estimator_) == repr(bag.estimator_)
    assert np.array_equal(again.oob_proba_, bag.oob_proba_, equal_nan=True)
    twice = pickle.loads(pickle.dumps(again, protocol=protocol))
    assert np.array_equal(twice.oob_proba_, bag.oob_proba_, equal_nan=True)
    unfitted = pickle.loads(pickle.dumps(BaggedTreesClassifier(n_estimators=7), protocol=protocol))
    assert unfitted.n_estimators == 7


def test_the_end_of_compact_bytes_is_kept_in_a_whole_number():
    """The content may end with zeros, which a number alone would lose."""
    for content in (b"", b"\0", b"ab\0\0", b"\xff" * 5):
        assert compact_bytes(int.from_bytes(content + b"\1", "little")) == content


def test_bags_of_earlier_versions_can_be_read():
    X, y = mixed_table()
    bag = BaggedTreesClassifier(n_estimators=3, random_state=0).fit(X, y)
    state = bag.__getstate__()
    del state["bag_state_"]
    parameters = bag.estimator_.get_params()
    parameters["leaf_estimate"] = estimate_to_plain(parameters["leaf_estimate"])
    sums = {each.name: getattr(bag._sums, each.name) for each in fields(bag._sums)}
    earlier = BaggedTreesClassifier.__new__(BaggedTreesClassifier)
    earlier.__setstate__({**state, "sums_state_": sums, "template_state_": parameters})
    for again in (earlier, pickle.loads(pickle.dumps(earlier))):
        assert np.array_equal(again.oob_proba_, bag.oob_proba_, equal_nan=True)
        assert repr(again.estimator_) == repr(bag.estimator_)


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
