"""Files that are not what they seem get a clear error, in little time and memory."""

import hashlib
import json
import os
import pathlib
import resource
import struct
import subprocess
import sys

import numpy as np
import pytest

from sureleaf import BaggedTreesClassifier, TreeClassifier, evaluate, load
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators.saving import estimator_state
from sureleaf.files.state_file import MODEL, State, write_state


def rows(n=120):
    rng = np.random.default_rng(5)
    X = [
        [float(a), "uvw"[b], None if a > 1.5 else "t"]
        for a, b in zip(rng.normal(size=n), rng.integers(0, 3, n), strict=True)
    ]
    return X, [int(row[0] > 0) + (row[1] == "u") for row in X]


@pytest.fixture(scope="module")
def tree():
    return TreeClassifier.c45(levels_from="training", random_state=0).fit(*rows())


@pytest.fixture(scope="module")
def bag():
    return BaggedTreesClassifier(n_estimators=3, calibration="isotonic", random_state=0).fit(
        *rows()
    )


def content_of(model, folder):
    model.save(folder / "good")
    return (folder / "good").read_bytes()


def with_checksum(content):
    return content + hashlib.sha256(content).digest()


def refused(path, content, match):
    path.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=match) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def changed(state, header=None, arrays=None):
    return State({**state.header, **(header or {})}, {**state.arrays, **(arrays or {})})


# ---- bytes ----------------------------------------------------------------------------------


def test_a_file_cut_anywhere_is_refused(tmp_path, tree):
    content = content_of(tree, tmp_path)
    n_header = struct.unpack_from("<Q", content, 24)[0]
    edges = [0, 16, 24, 32, 32 + n_header, len(content) - 32, len(content)]
    places = {edge + shift for edge in edges for shift in (-9, -8, -1, 0, 1, 7)}
    places |= set(range(1, len(content), 97))
    for place in sorted(place for place in places if 0 <= place < len(content)):
        refused(tmp_path / "cut", content[:place], "is damaged|is not a model")


def test_every_kind_of_changed_byte_is_noticed(tmp_path, tree):
    content = content_of(tree, tmp_path)
    for place in {*range(40), *range(40, len(content), 61), len(content) - 1}:
        spoilt = bytearray(content)
        spoilt[place] ^= 1 << place % 8
        refused(tmp_path / "spoilt", bytes(spoilt), "is damaged|is not a model|newer Sureleaf")


# A letter changed in a category makes the rows that have it unseen.
@pytest.mark.filterwarnings("ignore::sureleaf.UnseenCategoryWarning")
def test_random_bytes_with_a_right_checksum_are_refused_or_harmless(tmp_path, bag):
    """The checksum is of no use against somebody who computes it, so everything is checked."""
    content = content_of(bag, tmp_path)[:-32]
    X, _ = rows()
    rng = np.random.default_rng(0)
    n_read = 0
    for _ in range(400):
        spoilt = bytearray(content)
        for place in rng.integers(32, len(content), rng.integers(1, 4)):
            spoilt[place] = rng.integers(0, 256)
        path = tmp_path / "spoilt"
        path.write_bytes(with_checksum(bytes(spoilt)))
        try:
            found = load(path)
        except InvalidArgumentError:
            continue
        n_read += 1
        probabilities = found.predict_proba(X)
        assert np.all((probabilities >= 0) & (probabilities <= 1 + 1e-5))
    assert n_read  # a count changed by a little makes another model, not a broken one


@pytest.mark.parametrize("more", [b"\0", b"\0" * 8, b" " * 4096])
def test_bytes_after_the_end_are_noticed(tmp_path, tree, more):
    content = content_of(tree, tmp_path)
    refused(tmp_path / "longer", content + more, "checksum is wrong")
    refused(tmp_path / "longer", with_checksum(content[:-32] + more), "bytes from where")


def test_a_newer_version_says_upgrade(tmp_path, tree):
    content = content_of(tree, tmp_path)
    newer = content[:16] + struct.pack("<Q", 2) + content[24:]
    refused(tmp_path / "newer", newer, "made by a newer Sureleaf .*format 2.* Upgrade: pip install")
    older = content[:16] + struct.pack("<Q", 0) + content[24:-32]
    refused(tmp_path / "older", with_checksum(older), "is damaged")


def test_parts_of_a_newer_version_say_upgrade(tmp_path, tree):
    state = estimator_state(tree)
    parameters = {**state.header["parameters"], "max_splinters": 3}
    for header in ({"parameters": parameters}, {"model": "BoostedTreesClassifier"}):
        write_state(changed(state, header), tmp_path / "newer")
        with pytest.raises(InvalidArgumentError, match=r"newer Sureleaf .*max_splinters|Boosted"):
            load(tmp_path / "newer")


def test_what_is_no_model_is_said(tmp_path):
    for content in (b"", b"a,b\n1,2\n", b"PK\3\4" + b"\0" * 100, b"\x80\x04\x95." + b"\0" * 99):
        refused(tmp_path / "other", content, "is not a model that Sureleaf saved")
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        load(tmp_path)
    with pytest.raises(InvalidArgumentError, match="cannot be read"):
        load(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidArgumentError, match="not a regular file"):
        load(tmp_path / "pipe")
    with pytest.raises(InvalidArgumentError, match="not a regular file"):
        load("/dev/zero")


# ---- headers --------------------------------------------------------------------------------


def with_header(text, arrays=b""):
    return with_checksum(MODEL.magic + struct.pack("<QQ", 1, len(text)) + text + arrays)


HEADERS = {
    "no JSON": (b"{" * 8, "is damaged"),
    "no UTF-8": (b'{"model": "\xff"}', "is damaged"),
    "nested lists": (b"[" * 200_000 + b"]" * 200_000, "nested too deeply|is damaged"),
    "nested objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply|is damaged"),
    "a number of many digits": (b'{"arrays": ' + b"9" * 100_000 + b"}", "is damaged"),
    "not a number": (b'{"arrays": [], "x": NaN}', "number NaN"),
    "no object": (b"[]", "lists no arrays"),
    "no arrays": (b'{"model": "TreeClassifier"}', "lists no arrays"),
    "arrays that are none": (b'{"arrays": [1]}', "something else"),
    "no model": (b'{"arrays": []}', "does not say what model"),
    "no parameters": (b'{"arrays": [], "model": "TreeClassifier"}', "no parameters"),
}


@pytest.mark.parametrize("case", HEADERS)
def test_headers_that_are_none_are_refused(tmp_path, case):
    text, match = HEADERS[case]
    refused(tmp_path / "model", with_header(text), match)


ENTRIES = {
    "a giant": {"name": "a", "dtype": "<f8", "shape": [2**60]},
    "a giant of two axes": {"name": "a", "dtype": "<f8", "shape": [2**40, 2**40]},
    "a giant without lines": {"name": "a", "dtype": "<f8", "shape": [0, 2**70]},
    "a negative length": {"name": "a", "dtype": "<f8", "shape": [-1]},
    "a fractional length": {"name": "a", "dtype": "<f8", "shape": [1.0]},
    "a true length": {"name": "a", "dtype": "<f8", "shape": [True]},
    "three axes": {"name": "a", "dtype": "<f8", "shape": [1, 1, 1]},
    "no axis": {"name": "a", "dtype": "<f8", "shape": []},
    "objects": {"name": "a", "dtype": "|O", "shape": [1]},
    "a record": {"name": "a", "dtype": "i4,(99999,99999)f8", "shape": [1]},
    "no name": {"dtype": "<f8", "shape": [1]},
    "a name that is none": {"name": ["a"], "dtype": "<f8", "shape": [1]},
    "the same twice": [{"name": "a", "dtype": "<f8", "shape": [1]}] * 2,
}


@pytest.mark.parametrize("case", ENTRIES)
def test_arrays_that_cannot_be_are_refused(tmp_path, case):
    entries = [ENTRIES[case]] if isinstance(ENTRIES[case], dict) else ENTRIES[case]
    text = json.dumps({"model": "TreeClassifier", "arrays": entries}).encode()
    refused(tmp_path / "model", with_header(text, b"\0" * 8 * len(entries)), "is damaged")


PARTS = {
    "parameters": [[], {"criterion": "best"}, {"max_depth": {"float": "big"}}, {"cv": {"a": 1}},
                   {"leaf_estimate": {"estimate": "system", "parameters": {}}},
                   {"leaf_estimate": {"estimate": "Shrinkage", "parameters": {"strength": -1}}},
                   {"leaf_estimate": {"estimate": "Shrinkage", "parameters": {"weak": 1}}},
                   {"leaf_estimate": 7}, {"n_jobs": 0}, {"random_state": "x"}],
    "classes": [None, {}, {"dtype": "text", "values": []}, {"dtype": "text", "values": ["a", "a"]},
                {"dtype": "text", "values": [1, 2, 3]}, {"dtype": "|O", "values": [1, 2, 3]},
                {"dtype": "|i1", "values": [1, 2, 300]}, {"dtype": "<i8", "values": [1.5, 2, 3]},
                {"dtype": "<U999999999", "values": ["a", "b", "c"]},
                {"dtype": "text", "values": ["a", "b"]}, {"dtype": "times", "values": ["x", "y"]}],
    "schema": [None, {"named": True}, {"named": True, "columns": [1]},
               {"named": True, "columns": [{"name": 1, "kind": "numeric"}]},
               {"named": True, "columns": [{"name": "a", "kind": "strange"}]},
               {"named": True, "columns": [{"name": "a", "kind": "numeric"}] * 2},
               {"named": True, "columns": []},
               {"named": True, "columns": [{"name": "a", "kind": "categorical",
                                            "categories": [["b"]]}]},
               {"named": True, "columns": [{"name": "a", "kind": "numeric", "categories": 3}]}],
}  # fmt: skip


@pytest.mark.parametrize("part", ["parameters", "classes", "schema"])
def test_parts_that_cannot_be_are_refused(tmp_path, tree, part):
    state = estimator_state(tree)
    for value in PARTS[part]:
        write_state(changed(state, {part: value}), tmp_path / "model")
        with pytest.raises(InvalidArgumentError, match="is damaged"):
            load(tmp_path / "model")


# ---- trees ----------------------------------------------------------------------------------


def spoil(state, name, place, value):
    array = state.arrays[name].copy()
    array[place] = value
    return changed(state, arrays={name: array})


SPOILT = {
    "a circle": ("tree/children", 0, 0),
    "a node with two parents": ("tree/children", 1, 1),
    "a child beyond the last": ("tree/children", -1, 10_000),
    "a child before the first": ("tree/children", -1, -5),
    "a column beyond the last": ("tree/feature", 0, 99),
    "a column before the first": ("tree/feature", -1, -2),
    "an offset that goes back": ("tree/child_offset", 1, 10_000),
    "offsets that do not end": ("tree/child_offset", -1, 2**62),
    "a threshold that is not a number": ("tree/threshold", 0, np.nan),
    "a threshold of a leaf": ("tree/threshold", -1, 0.5),
    "a negative share": ("tree/branch_share", 0, -0.1),
    "a share that is not a number": ("tree/branch_share", 0, np.nan),
    "shares above 1": ("tree/branch_share", 0, 1.0),
    "a category of no branch": ("tree/category_branch", 0, 7),
    "a category before the first": ("tree/category_branch", 0, -2),
    "categories that go on": ("tree/category_offset", -1, 2**40),
    "a negative count": ("tree/class_counts", (0, 0), -1.0),
    "an infinite count": ("tree/class_counts", (0, 0), np.inf),
    "a probability that is not a number": ("probabilities", (0, 0), np.nan),
    "a negative probability": ("probabilities", (0, 0), -0.5),
    "probabilities above 1": ("probabilities", (0, 0), 0.99),
    "a negative leaf count": ("leaf_counts/counts", (0, 0), -1.0),
    "a leaf's squares": ("leaf_counts/squares", 0, np.nan),
    "a class beyond the last": ("levels/predicted", 0, 9),
    "a class before the first": ("levels/predicted", 0, -1),
    "a confidence above 1": ("levels/confidence", 0, 1.5),
    "a utility that is not a number": ("levels/utility", 0, np.nan),
    "more successes than trials": ("levels/successes", 0, 1e9),
    "negative trials": ("levels/trials", 0, -1.0),
    "others above 1": ("levels/others", (0, 0), np.inf),
    "below what": ("levels/below", 0, 9),
}


@pytest.fixture(scope="module")
def threshold_first(tree):
    """A tree whose root tests a threshold, and that has categories below."""
    state = estimator_state(tree)
    assert not np.isnan(state.arrays["tree/threshold"][0])
    assert len(state.arrays["tree/category_branch"])
    return state


@pytest.mark.parametrize("case", SPOILT)
def test_arrays_that_make_no_tree_are_refused(tmp_path, threshold_first, case):
    write_state(spoil(threshold_first, *SPOILT[case]), tmp_path / "model")
    with pytest.raises(InvalidArgumentError, match="is damaged"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["tree/feature", "probabilities", "levels/n", "levels/others"])
def test_arrays_that_are_missing_or_of_another_length_or_type_are_refused(
    tmp_path, threshold_first, name
):
    array = threshold_first.arrays[name]
    for other in (
        array[:-1],
        array[:0],
        array.astype("u1"),
        array[np.newaxis][:, :1].reshape(1, -1),
    ):
        write_state(changed(threshold_first, arrays={name: other}), tmp_path / "model")
        with pytest.raises(InvalidArgumentError, match="is damaged"):
            load(tmp_path / "model")
    kept = {key: value for key, value in threshold_first.arrays.items() if key != name}
    write_state(State(threshold_first.header, kept), tmp_path / "model")
    with pytest.raises(InvalidArgumentError, match="it has no array"):
        load(tmp_path / "model")


BAGS = {
    "too few trees": {"n_trees": 2**40},
    "no trees": {"n_trees": 0},
    "half a tree": {"n_trees": 1.5},
    "no seed": {"seed": None},
    "a calibration by magic": {"calibration": "magic"},
    "a calibration of another kind": {"calibration": "sigmoid"},
    "levels that are none": {"out_of_bag": {"utility": 1}},
    "levels of text": {"out_of_bag": dict.fromkeys(
        ("agreement", "utility", "low", "high", "n_rows", "n_in_every_bag"), "a")},
    "no parameters": {"tree_parameters": 3},
    "a tree that is none": {"parameters": {"estimator": 3}},
    "a number of trees": {"parameters": {"n_estimators": -1}},
}  # fmt: skip


@pytest.mark.parametrize("case", BAGS)
def test_bags_that_cannot_be_are_refused(tmp_path, bag, case):
    write_state(changed(estimator_state(bag), BAGS[case]), tmp_path / "model")
    with pytest.raises(InvalidArgumentError, match="is damaged"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("hit_rates/n", 0, -1.0),
        ("hit_rates/hits", 0, 1e9),
        ("calibration/0", (0, 0), 2.0),
        ("calibration/1", (1, 0), np.nan),
        ("trees/2/feature", 0, 1000),
        ("trees/1/probabilities", (0, 0), 3.0),
    ],
)
def test_arrays_of_bags_that_cannot_be_are_refused(tmp_path, bag, name, place, value):
    write_state(spoil(estimator_state(bag), name, place, value), tmp_path / "model")
    with pytest.raises(InvalidArgumentError, match="is damaged"):
        load(tmp_path / "model")


# ---- bounds ---------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_hostile_files_are_refused_within_little_memory(tmp_path):
    """In a process that may use 300 MB more than importing takes, a giant must not be tried."""
    (tmp_path / "giant").write_bytes(
        with_header(
            json.dumps({"arrays": [{"name": "a", "dtype": "<f8", "shape": [2**40]}]}).encode()
        )
    )
    (tmp_path / "deep").write_bytes(with_header(b"[" * 3_000_000))
    for name, start in (("hole", b""), ("start", MODEL.magic + struct.pack("<QQ", 1, 2**39))):
        with (tmp_path / name).open("wb") as file:  # 1 TB that takes no room on the disk
            file.write(start)
            file.truncate(2**40)
    code = f"""
import resource, sys
import sureleaf
from sureleaf.estimators import saving
used = int(open("/proc/self/statm").read().split()[0]) * {resource.getpagesize()}
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
for name in ("giant", "deep", "hole", "start"):
    try:
        sureleaf.load(sys.argv[1] + "/" + name)
    except sureleaf.InvalidArgumentError as error:
        print(name, "refused")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    told = ["giant refused", "deep refused", "hole refused", "start refused"]
    assert done.stdout.splitlines() == told, done.stderr[-500:]


def test_labels_beyond_64_bits_are_saved_and_evaluated_exactly(tmp_path: pathlib.Path) -> None:
    X, y = [[i] for i in range(40)], [2**70] * 20 + [2**70 + 1] * 20
    model = TreeClassifier().fit(X, y)
    model.save(tmp_path / "large.sureleaf")
    loaded = load(tmp_path / "large.sureleaf")
    assert loaded.classes_.tolist() == [2**70, 2**70 + 1]
    assert loaded.predict(X).tolist() == y
    assert evaluate(model, X, y, random_state=0).classes.tolist() == [2**70, 2**70 + 1]
