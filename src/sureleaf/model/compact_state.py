"""The state of a model in few bytes, as pickles hold it.

A model file stores every number plainly, so that other programs can read it. A pickle is read by
Sureleaf only. So it leaves out arrays that follow from others, if computing them gives the same
bits; whole numbers take as few bytes as they need; and all is compressed by zlib.
"""

import base64
import json
import struct
import zlib
from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.files.state_file import Damaged, State
from sureleaf.model.node_levels import accuracy_counts, other_shares
from sureleaf.model.plain_values import pack_array, unpack_array

__all__ = ["compact_state", "state_from_compact"]

Arrays = dict[str, NDArray[Any]]
FloatArray = NDArray[np.float64]

_LENGTH: Final = struct.Struct("<Q")
_FAST_FROM: Final = 1 << 20
"""More bytes are compressed by zlib's fastest level: a tenth larger, in a third of the time."""


def compact_state(state: State) -> bytes:
    """Return the state in few bytes; `state_from_compact` gives it back bit by bit.

    Examples
    --------
    >>> state = State({"n_trees": 1}, {"tree/threshold": np.arange(500.0)})
    >>> content = compact_state(state)
    >>> len(content) < 500
    True
    >>> state_from_compact(content).arrays["tree/threshold"][-1]
    np.float64(499.0)
    """
    arrays = dict(state.arrays)
    header = _without_lists(state.header, arrays)
    for name, follows in _DERIVED.items():
        if name in arrays and _is_same(arrays[name], follows, state.arrays):
            del arrays[name]
            header.setdefault("derived", []).append(name)
    listed: list[Any] = []
    parts: list[bytes] = []
    for name, array in arrays.items():
        packed = pack_array(array)
        values, codes = packed["values"], packed.get("codes")
        entry = [name, packed["dtype"], list(array.shape), values.dtype.str]
        parts.append(_by_significance(values))
        if codes is not None:
            entry += [len(values), codes.dtype.str]
            parts.append(_by_significance(codes))
        listed.append(entry)
    text = json.dumps({**header, "arrays": listed}, separators=(",", ":")).encode()
    content = b"".join((_LENGTH.pack(len(text)), text, *parts))
    press = zlib.compressobj(1 if len(content) > _FAST_FROM else 9, zdict=_USUAL_TEXT)
    return press.compress(content) + press.flush()


def state_from_compact(content: bytes) -> State:
    """Return the state of `compact_state`."""
    plain = zlib.decompressobj(zdict=_USUAL_TEXT).decompress(content)
    (length,) = _LENGTH.unpack_from(plain)
    start = _LENGTH.size + length
    header = json.loads(plain[_LENGTH.size : start])
    arrays: Arrays = {}
    for name, dtype, shape, stored, *coded in header.pop("arrays"):
        n_values = coded[0] if coded else int(np.prod(shape))
        values, start = _from_significance(plain, start, stored, n_values)
        packed: dict[str, Any] = {"dtype": dtype, "values": values}
        if coded:
            packed["codes"], start = _from_significance(plain, start, coded[1], int(np.prod(shape)))
        arrays[name] = unpack_array(packed).reshape(shape)
    for name in header.pop("derived", []):
        if name not in _DERIVED:
            raise Damaged(f"it leaves out {name[:80]!r}, which only a newer Sureleaf can compute")
        arrays[name] = _DERIVED[name](arrays)
    return State(_with_lists(header, arrays), arrays)


def _by_significance(array: NDArray[Any]) -> bytes:
    """Return the first bytes of all numbers, then the second ones: alike bytes are neighbours."""
    flat = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(-1)
    return flat.view(np.uint8).reshape(len(flat), array.itemsize).T.tobytes()


def _from_significance(content: bytes, start: int, dtype: str, n: int) -> tuple[NDArray[Any], int]:
    kind = np.dtype(dtype).newbyteorder("<")
    flat = np.frombuffer(content, np.uint8, n * kind.itemsize, start)
    values = np.ascontiguousarray(flat.reshape(kind.itemsize, n).T).reshape(-1).view(kind)
    return values.astype(kind.newbyteorder("="), copy=False), start + n * kind.itemsize


# ---- what the header has as lists and text -------------------------------------------------------

_LISTS: Final = ("splits", "predictions")


def _without_lists(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Move numbers per node, and fingerprints, from the header to the arrays."""
    header = dict(header)
    levels, seen, schema = header.get("levels"), header.get("seen"), header.get("schema")
    if schema and [each["name"] for each in schema["columns"]] == _names(len(schema["columns"])):
        kinds = [{k: v for k, v in each.items() if k != "name"} for each in schema["columns"]]
        runs = [[len(list(run)), kind] for kind, run in groupby(kinds)]
        header["schema"] = {"named": schema["named"], "runs": runs}
    if levels and levels.get("stability"):
        stability = dict(levels["stability"])
        for name in _LISTS:
            arrays[f"stability/{name}"] = np.array(stability.pop(name), dtype=float)
        header["levels"] = {**levels, "stability": stability}
    if seen:
        prints = np.frombuffer(base64.b64decode(seen["fingerprints"]), dtype="<u8")
        # Fingerprints ascend, so their differences are smaller.
        arrays["seen/steps"] = np.diff(prints, prepend=np.uint64(0))
        header["seen"] = {name: value for name, value in seen.items() if name != "fingerprints"}
    return header


def _with_lists(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    if "runs" in header.get("schema", ()):
        kinds = [kind for length, kind in header["schema"].pop("runs") for _ in range(length)]
        names = _names(len(kinds))
        header["schema"]["columns"] = [
            {"name": name, **kind} for name, kind in zip(names, kinds, strict=True)
        ]
    if "stability/splits" in arrays:
        for name in _LISTS:
            values = arrays.pop(f"stability/{name}").tolist()
            header["levels"]["stability"][name] = [None if v != v else v for v in values]
    if "seen/steps" in arrays:
        prints = np.cumsum(arrays.pop("seen/steps"), dtype=np.uint64).astype("<u8")
        header["seen"]["fingerprints"] = base64.b64encode(prints.tobytes()).decode()
    return header


def _names(n_columns: int) -> list[str]:
    """Return the names that columns without names have."""
    return [f"x{index}" for index in range(n_columns)]


# ---- arrays that follow from others --------------------------------------------------------------


def _is_same(
    array: NDArray[Any], follows: Callable[[Arrays], NDArray[Any]], arrays: Arrays
) -> bool:
    try:
        other = follows(arrays)
    except KeyError:  # what it follows from is not known
        return False
    return (
        other.dtype == array.dtype
        and other.shape == array.shape
        and np.ascontiguousarray(other).tobytes() == np.ascontiguousarray(array).tobytes()
    )


def _leaf_counts(arrays: Arrays) -> FloatArray:
    return arrays["tree/class_counts"][arrays["tree/feature"] < 0]


def _two_branches(arrays: Arrays) -> NDArray[np.int64]:
    n_branches = np.where(arrays["tree/feature"] < 0, 0, 2)
    return np.concatenate(([0], np.cumsum(n_branches))).astype(np.int64)


def _no_categories(arrays: Arrays) -> NDArray[np.int64]:
    return np.zeros(len(arrays["tree/feature"]) + 1, dtype=np.int64)


def _shares(arrays: Arrays) -> FloatArray:
    n, children = arrays["tree/class_counts"].sum(axis=1), arrays["tree/children"]
    above = np.repeat(np.arange(len(n)), np.diff(arrays["tree/child_offset"]))
    with np.errstate(all="ignore"):
        shares: FloatArray = n[children] / n[above]
    return shares


def _predicted(arrays: Arrays) -> NDArray[np.int32]:
    predicted: NDArray[np.intp] = np.argmax(arrays["probabilities"], axis=1)
    return predicted.astype(np.int32)


def _counts_of(part: int) -> Callable[[Arrays], FloatArray]:
    def follows(arrays: Arrays) -> FloatArray:
        return accuracy_counts(arrays["levels/accuracy"], arrays["levels/strength"])[part]

    return follows


# In the order in which they are computed: an array may follow from arrays above it.
_DERIVED: Final[dict[str, Callable[[Arrays], NDArray[Any]]]] = {
    "tree/child_offset": _two_branches,
    "tree/category_offset": _no_categories,
    "tree/branch_share": _shares,
    "leaf_counts/counts": _leaf_counts,
    "leaf_counts/squares": lambda arrays: _leaf_counts(arrays).sum(axis=1),
    "levels/n": lambda arrays: arrays["tree/class_counts"].sum(axis=1),
    "levels/predicted": _predicted,
    "levels/others": lambda arrays: other_shares(
        arrays["tree/class_counts"], arrays["levels/predicted"]
    ),
    "levels/utility": lambda arrays: arrays["levels/accuracy"],
    "levels/successes": _counts_of(0),
    "levels/trials": _counts_of(1),
}
"""Levels themselves are not among them: a later version may compute them by another formula."""


# ---- the text that compression knows beforehand -------------------------------------------------

_USUAL_TEXT: Final = b"".join(
    (
        b'"dtype":"text","values":["no","yes"],"categories":["kind":"categorical","kind":"ordered",',
        b'"kind":"date","has_missing":true"criterion":"gini","weights":"importance","cost":[[,',
        b'"levels":null,"levels_from":"honest","levels_from":"training""held_out":{"n_grown":,',
        b'"counts":[[,"named_before":true,"problem":null,"n_compared":0,',
        b'"n_equal":0}"arrays":[["trees/0/feature","trees/0/threshold","trees/0/probabilities",',
        b'"hit_rates/lowest","calibration/0"{"classes":{"dtype":"<i8","values":[0,1]},',
        b'"classes":{"dtype":"text objects","values":["schema":{"named":true,"columns":[',
        b'{"name":"x0",',
        b'"kind":"numeric"},{"name":""fitted":{"criterion":"entropy","unseen":"mixture",',
        b'"weights":"counts","levels_from":"cross_fit","leaf_estimate":{"estimate":"KeepMajority",',
        b'"parameters":{"estimate":{"estimate":"Shrinkage","parameters":{"strength":3.0}}}}},',
        b'"levels":{"from_counts":true,"rounds":1,"tree_strength":null},"levels":{"from_counts":false,',
        b'"rounds":40,"tree_strength":74.0,"stability":{"n_trees":24,"rival":{"column":3,',
        b'"test":" <= 0.6","difference":0.0,"low":-0.02,"high":0.02}}},"seen":{"n_sampled":150,',
        b'"n_twins":5,"is_complete":true,"n_dropped_bits":32},',
        b'"parameters":{"categorical_features":"auto","categorical_split":"subset",',
        b'"category_penalty":1.0,"ccp_alpha":0.0,"class_weight":null,"collapse":false,',
        b'"confidence_factor":0.25,"cost":null,"criterion":"entropy","cv":10,"leaf_estimate":"auto",',
        b'"levels_from":"cross_fit","margin":0.01,"max_depth":null,"max_features":null,',
        b'"max_leaves":null,"min_confidence":null,"min_impurity_decrease":0.0,"min_samples_leaf":2,',
        b'"min_samples_split":2,"missing":"branch","monotone":null,"n_jobs":null,"pruning":"auto",',
        b'"random_state":0,"unseen":"mixture","weights":"counts"},"derived":["tree/child_offset",',
        b'"tree/category_offset","tree/branch_share","leaf_counts/counts","leaf_counts/squares",',
        b'"levels/n","levels/predicted","levels/others","levels/utility","levels/successes",',
        b'"levels/trials"],"arrays":[["tree/feature","<i4",[9],"|i1"],["tree/threshold","<f8",[9],"<f8",',
        b'5,"|u1"],["tree/children","<i4",[8],"|u1"],["tree/category_branch","<i4",[0],"<i4"],',
        b'["tree/class_counts","<f8",[9,3],"|u1"],["tree/missing_branch","<i4",[9],"|i1"],',
        b'["probabilities","<f8",[9,3],"<f8",22,"|u1"],["levels/probability","<f8",[9],"<f8"],',
        b'["levels/confidence","<f8",[9],"<f8"],["levels/below","|u1",[9],"|u1"],["levels/accuracy",',
        b'"<f8",[9],"<f8"],["levels/strength","<f8",[9],"<f8"],["levels/ties","<f8",[9],"<f8",5,"|u1"],',
        b'["levels/confidence_error","<f8",[9],"<f8"],["stability/splits","<f8",[9],"<f8",5,"|u1"],',
        b'["stability/predictions","<f8",[9],"<f8",6,"|u1"],["seen/steps","<u8",[147],"<u4"]]}',
    )
)
"""What headers usually say, most frequent last, so that they take few bytes. It must never change:
without the very same text a pickle cannot be read."""
