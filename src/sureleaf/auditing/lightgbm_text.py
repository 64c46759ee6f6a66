"""Whether the text of a LightGBM model is one that LightGBM can read.

LightGBM trusts its text: it reads as many numbers as the text announces, follows the children of a
node wherever they lead, and expects a colon in each line of parameters. A damaged text makes it
read foreign memory, which ends the process at once, later, or not at all. So everything that it
uses as a length or as an index is checked here first.
"""

import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_CONTROL: Final = re.compile(rb"[\x00-\x09\x0b-\x1f]")
_TREE: Final = re.compile(rb"^Tree=", re.MULTILINE)
_PARAMETER: Final = re.compile(r"\[[^:\[\]]+: .*\]")
_NUMBER: Final = r"[-+.0-9eEinfa]+"
_RANGE: Final = re.compile(rf"none|\[{_NUMBER}:{_NUMBER}\]|-?\d+(:-?\d+)*")

_PER_NODE: Final = (
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "internal_value",
    "internal_weight",
    "internal_count",
)
_PER_LEAF: Final = ("leaf_value", "leaf_weight", "leaf_count", "leaf_const", "num_features")
_NEEDED: Final = _PER_NODE[:6]


def check_lightgbm_text(content: bytes) -> None:
    """Raise a ValueError that says what is wrong, if the text of a model is damaged.

    That is a length, an index or a line that LightGBM does not write. Wrong values of thresholds
    and leaves cannot be noticed.
    """
    if _CONTROL.search(content):
        raise ValueError("it contains control characters")
    end = content.find(b"\nend of trees\n")
    if end < 0:
        raise ValueError("the line 'end of trees' is missing")
    starts = [match.start() for match in _TREE.finditer(content, 0, end)]
    if not starts:
        raise ValueError("it has no trees")
    header = _fields(content[: starts[0]])
    n_features = _check_header(header, np.diff([*starts, end + 1]))
    for number, (start, stop) in enumerate(zip(starts, [*starts[1:], end], strict=True)):
        try:
            _check_tree(_fields(content[start:stop]), n_features)
        except ValueError as error:
            raise ValueError(f"tree {number}: {error}") from None
    _check_parameters(content[end:].decode("utf-8", "replace"))


def _fields(block: bytes) -> dict[str, str]:
    """Return what follows each name; two lines of the header are only a word."""
    fields: dict[str, str] = {}
    for line in block.decode("utf-8", "replace").split("\n"):
        name, sign, value = line.partition("=")
        if not sign and name not in ("", "tree", "average_output"):
            raise ValueError(f"{name[:80]!r} is not a line with a name and a value")
        if name and name in fields:
            raise ValueError(f"{name[:80]!r} comes twice")
        fields[name] = value
    return fields


def _check_header(header: dict[str, str], lengths: NDArray[np.int64]) -> int:
    """Check the lines before the trees, and return the number of features."""
    n_classes = _whole(header, "num_class", 1)
    if _whole(header, "num_tree_per_iteration", 1) != n_classes:
        raise ValueError("num_tree_per_iteration differs from num_class")
    stated = re.search(r"num_class:(\S+)", header.get("objective", ""))
    if stated and stated[1] != str(n_classes):
        raise ValueError("the objective has another num_class")
    n_features = _whole(header, "max_feature_idx", 0) + 1
    for name in ("feature_names", "feature_infos"):
        if len(header.get(name, "").split()) != n_features:
            raise ValueError(f"{name} must have {n_features:,} entries")
    for text in header["feature_infos"].split():
        if not _RANGE.fullmatch(text):
            raise ValueError(f"feature_infos must be ranges and categories; got {text[:80]!r}")
    if len(lengths) % n_classes:
        raise ValueError("the number of trees is not a multiple of num_class")
    if "tree_sizes" in header and not np.array_equal(_whole_numbers(header, "tree_sizes"), lengths):
        raise ValueError("tree_sizes does not agree with the trees")
    return n_features


def _check_tree(tree: dict[str, str], n_features: int) -> None:
    n_leaves = _whole(tree, "num_leaves", 1)
    n_nodes = n_leaves - 1
    if len(_numbers(tree, "shrinkage")) != 1:
        raise ValueError("shrinkage must be a number")
    is_linear = tree.get("is_linear", "0") == "1"
    needed = ["leaf_value", *(_NEEDED if n_nodes else ())]
    if is_linear:
        needed += ["leaf_const", "num_features"]
    for names, length in ((_PER_NODE, n_nodes), (_PER_LEAF, n_leaves)):
        for name in names:
            if (tree.get(name) or name in needed) and len(_numbers(tree, name)) != length:
                raise ValueError(f"{name} must have {length:,} entries")
    if n_nodes:
        _check_children(tree, n_leaves)
        _check_range(_whole_numbers(tree, "split_feature"), n_features, "split_feature")
        _check_categories(tree)
    if is_linear:
        _check_linear(tree, n_features)


def _check_children(tree: dict[str, str], n_leaves: int) -> None:
    """Every node but the root, and every leaf, must be the child of one node before it."""
    left, right = (_whole_numbers(tree, name) for name in ("left_child", "right_child"))
    children = np.concatenate([left, right])
    # A leaf k is written as -k - 1, so the children of a whole tree are these numbers, each once.
    expected = np.array([*range(-n_leaves, 0), *range(1, n_leaves - 1)])
    if not np.array_equal(np.sort(children), expected):
        raise ValueError("left_child and right_child are not those of a tree")
    parents = np.tile(np.arange(n_leaves - 1), 2)
    if np.any((children >= 0) & (children <= parents)):
        raise ValueError("left_child and right_child lead in a circle")


def _check_categories(tree: dict[str, str]) -> None:
    """Check the groups of categories, which thresholds of categorical splits refer to."""
    n_groups = _whole(tree, "num_cat", 0)
    types = _whole_numbers(tree, "decision_type")
    _check_range(types, 16, "decision_type")
    is_categorical = types % 2 == 1
    if n_groups:
        bounds = _whole_numbers(tree, "cat_boundaries")
        if len(bounds) != n_groups + 1 or bounds[0] != 0 or np.any(np.diff(bounds) < 0):
            raise ValueError("cat_boundaries must be increasing and fit num_cat")
        if len(_whole_numbers(tree, "cat_threshold")) != bounds[-1]:
            raise ValueError("cat_threshold must have the length that cat_boundaries state")
    elif is_categorical.any():
        raise ValueError("num_cat is 0, and there are categorical splits")
    _check_range(_numbers(tree, "threshold")[is_categorical], n_groups, "threshold")


def _check_linear(tree: dict[str, str], n_features: int) -> None:
    """Check the linear models of the leaves."""
    lengths = _whole_numbers(tree, "num_features")
    _check_range(lengths, n_features + 1, "num_features")
    for name in ("leaf_features", "leaf_coeff"):
        if len(_numbers(tree, name)) != lengths.sum():
            raise ValueError(f"{name} must have the length that num_features states")
    _check_range(_whole_numbers(tree, "leaf_features"), n_features, "leaf_features")


def _check_parameters(text: str) -> None:
    """Each line between 'parameters:' and 'end of parameters' must be ``[name: value]``."""
    _, found, rest = text.partition("\nparameters:\n")
    if not found:
        return
    lines, found, _ = rest.partition("\nend of parameters\n")
    if not found:
        raise ValueError("the line 'end of parameters' is missing")
    for line in lines.split("\n"):
        if line and not _PARAMETER.fullmatch(line):
            raise ValueError(f"{line[:80]!r} is not a line of parameters")


def _whole(fields: dict[str, str], name: str, least: int) -> int:
    text = fields.get(name, "")
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {text[:80]!r}")
    return int(text)


def _whole_numbers(fields: dict[str, str], name: str) -> NDArray[np.int64]:
    return _array(fields, name, re.compile(r"[-0-9 ]*"), np.int64)


def _numbers(fields: dict[str, str], name: str) -> NDArray[np.float64]:
    return _array(fields, name, re.compile(r"[-+.0-9eEinfa ]*"), np.float64)


def _array(fields: dict[str, str], name: str, allowed: re.Pattern[str], kind: type) -> NDArray[Any]:
    text = fields.get(name, "")
    try:
        if allowed.fullmatch(text):
            return np.array(text.split(), dtype=kind)
    except (ValueError, OverflowError):
        pass
    raise ValueError(f"{name} must be numbers")


def _check_range(values: NDArray[Any], stop: int, name: str) -> None:
    if np.any((values < 0) | (values >= stop)):
        raise ValueError(f"{name} must be from 0 to {stop - 1}")
