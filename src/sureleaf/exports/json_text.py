"""A fitted model as JSON with one object per node; docs/exports.md describes the format."""

import json
from math import isnan
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.estimators.saving import UnknownPart, estimator_from_state, estimator_state
from sureleaf.files.state_file import Damaged, State, decoding, has_half_characters, newer
from sureleaf.model.state import ALL_LEVELS, SOME_LEVELS, from_plain, schema_from_plain, to_plain
from sureleaf.table import Column, Schema

FORMAT: Final = "sureleaf model"
VERSION: Final = 1


Record = dict[str, Any]
"""An object of the file: the model, a node, or a branch of a node."""


def to_json(model: Any, *, indent: int | None = None) -> str:
    """Write a fitted tree, or bagged trees, as JSON.

    It is strict JSON, which `from_json` turns into the same model, bit for bit. Levels that are not
    known yet are computed. `indent` are the spaces per level of nesting; by default there is one
    line per node.

    Examples
    --------
    >>> import json
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(pruning=None).fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> root = json.loads(to_json(model))["nodes"][0]
    >>> root["column"], root["threshold"]
    ('x0', 2.0)
    >>> from_json(to_json(model)).predict([[1], [4]]).tolist()
    ['no', 'yes']
    """
    state = estimator_state(model)
    header = dict(state.header)
    schema = model.schema_
    written: Record = {"format": FORMAT, "version": VERSION, **header}
    if isinstance(model, TreeClassifier):
        written["nodes"] = _nodes(state, schema, "tree/", "probabilities")
        _add_leaf_counts(written["nodes"], state)
        if header["levels"] is not None:
            _add_levels(written["nodes"], state)
    else:
        prefixes = [f"trees/{index}/" for index in range(header["n_trees"])]
        written["trees"] = [
            {"nodes": _nodes(state, schema, prefix, f"{prefix}probabilities")}
            for prefix in prefixes
        ]
        written["arrays"] = {
            name: array.tolist()
            for name, array in state.arrays.items()
            if not name.startswith("trees/")
        }
    if indent is not None:
        return json.dumps(written, indent=indent, allow_nan=False)
    return _one_line_per_node(written)


def _one_line_per_node(written: Record) -> str:
    lines = []
    for key, value in written.items():
        if key == "nodes":
            nodes = written["nodes"]
            listed = ",\n".join(f"  {json.dumps(node, allow_nan=False)}" for node in nodes)
            lines.append(f'"nodes": [\n{listed}\n]')
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _nodes(state: State, schema: Schema, prefix: str, probabilities: str) -> list[Record]:
    """Return the nodes of the tree whose arrays have names with this prefix."""
    arrays = {
        name.removeprefix(prefix): array
        for name, array in state.arrays.items()
        if name.startswith(prefix)
    }
    of_node = state.arrays[probabilities].tolist()
    counts = arrays["class_counts"].tolist()
    missing_branch = arrays["missing_branch"].tolist() if "missing_branch" in arrays else None
    nodes: list[Record] = []
    for node, feature in enumerate(arrays["feature"].tolist()):
        record: Record = {"node": node}
        if feature >= 0:
            column = schema.columns[feature]
            record["column"] = column.name
            if column.kind != "categorical":
                record["threshold"] = to_plain("threshold", float(arrays["threshold"][node]))
            if missing_branch is not None:
                record["missing_branch"] = missing_branch[node]
            record["branches"] = _branches(arrays, node, column)
        record["counts"], record["probabilities"] = counts[node], of_node[node]
        nodes.append(record)
    return nodes


def _branches(arrays: dict[str, NDArray[Any]], node: int, column: Column) -> list[Record]:
    """Return the branches of a node, with their categories if it tests categories."""
    span = slice(*arrays["child_offset"][node : node + 2].tolist())
    targets = zip(
        arrays["children"][span].tolist(), arrays["branch_share"][span].tolist(), strict=True
    )
    branches: list[Record] = [{"node": child, "share": share} for child, share in targets]
    if column.kind == "categorical":
        for branch in branches:
            branch["categories"] = []
        codes = slice(*arrays["category_offset"][node : node + 2].tolist())
        for code, index in enumerate(arrays["category_branch"][codes].tolist()):
            if index >= 0:
                category = to_plain("categories", column.categories[code])
                branches[index]["categories"].append(category)
    return branches


def _add_leaf_counts(nodes: list[Record], state: State) -> None:
    leaves = (node for node in nodes if "column" not in node)
    counts, squares = (state.arrays[f"leaf_counts/{name}"] for name in ("counts", "squares"))
    for node, of_leaf, square in zip(leaves, counts.tolist(), squares.tolist(), strict=True):
        node["leaf_counts"], node["leaf_squares"] = of_leaf, square


def _add_levels(nodes: list[Record], state: State) -> None:
    known = [name for name in SOME_LEVELS if f"levels/{name}" in state.arrays]
    names = (*ALL_LEVELS, *known, "others", "predicted", "below")
    columns = [state.arrays[f"levels/{name}"].tolist() for name in names]
    for node, *values in zip(nodes, *columns, strict=True):
        node["levels"] = dict(zip(names, values, strict=True))
        node["levels"]["below"] = bool(node["levels"]["below"])


# ---- from JSON ---------------------------------------------------------------------------------


def from_json(text: str | bytes) -> TreeClassifier | BaggedTreesClassifier:
    """Load a model that `to_json` wrote, as `sureleaf.load` loads a file.

    Text that is not such JSON, is damaged, or was written by a newer Sureleaf is an error.

    Examples
    --------
    >>> from_json("[]")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: the text is not a model that Sureleaf wrote as JSON. Pass
    what to_json() returned.
    """
    what = "the text"
    try:
        with decoding(what):
            written = json.loads(text)
            if not isinstance(written, dict) or written.get("format") != FORMAT:
                raise InvalidArgumentError(
                    "the text is not a model that Sureleaf wrote as JSON. Pass what to_json() "
                    "returned."
                )
            if has_half_characters(written):
                raise Damaged("one of its texts has half of a character")
            version = written.get("version")
            if type(version) is int and version > VERSION:
                raise newer(what, f"format {version}, and this one reads up to {VERSION}")
            return estimator_from_state(_state(written))
    except UnknownPart as problem:
        raise newer(what, f"this one does not know {problem}") from None


def _state(written: Record) -> State:
    header = {
        key: value for key, value in written.items() if key not in ("nodes", "trees", "arrays")
    }
    schema = schema_from_plain(written.get("schema"))
    if "nodes" in written:
        arrays = _tree_arrays(written["nodes"], schema, "tree/", "probabilities")
        leaves = [node for node in written["nodes"] if node.get("column") is None]
        arrays["leaf_counts/counts"] = _column(leaves, "leaf_counts")
        arrays["leaf_counts/squares"] = _column(leaves, "leaf_squares")
        if header.get("levels") is not None:
            arrays |= _level_arrays(written["nodes"])
        return State(header, arrays)
    arrays = {
        str(name): np.array(values, dtype=np.float64) for name, values in written["arrays"].items()
    }
    for index, tree in enumerate(written["trees"]):
        prefix = f"trees/{index}/"
        arrays |= _tree_arrays(tree["nodes"], schema, prefix, f"{prefix}probabilities")
    return State(header, arrays)


def _tree_arrays(
    nodes: list[Record], schema: Schema, prefix: str, probabilities: str
) -> dict[str, NDArray[Any]]:
    index_of = {name: index for index, name in enumerate(schema.names)}
    feature, threshold, missing_branch, children, shares = [], [], [], [], []
    child_offset, category_offset, category_branch = [0], [0], []
    for expected, node in enumerate(nodes):
        if node["node"] != expected:
            raise Damaged("its nodes are not in the order of their numbers")
        column = node.get("column")
        feature.append(-1 if column is None else index_of[column])
        missing_branch.append(node.get("missing_branch", -1))
        branches = node.get("branches", [])
        children += [branch["node"] for branch in branches]
        shares += [branch["share"] for branch in branches]
        child_offset.append(len(children))
        is_categorical = column is not None and "threshold" not in node
        threshold.append(np.nan if is_categorical or column is None else _number(node["threshold"]))
        if is_categorical:
            category_branch += _category_branches(branches, schema, feature[-1])
        category_offset.append(len(category_branch))
    return {
        f"{prefix}feature": np.array(feature, dtype=np.int32),
        f"{prefix}threshold": np.array(threshold, dtype=np.float64),
        f"{prefix}child_offset": np.array(child_offset, dtype=np.int64),
        f"{prefix}children": np.array(children, dtype=np.int32),
        f"{prefix}branch_share": np.array(shares, dtype=np.float64),
        f"{prefix}category_offset": np.array(category_offset, dtype=np.int64),
        f"{prefix}category_branch": np.array(category_branch, dtype=np.int32),
        f"{prefix}missing_branch": np.array(missing_branch, dtype=np.int32),
        f"{prefix}class_counts": _column(nodes, "counts"),
        probabilities: _column(nodes, "probabilities"),
    }


def _category_branches(branches: list[Record], schema: Schema, feature: int) -> list[int]:
    categories = schema.columns[feature].categories
    code_of = {category: code for code, category in enumerate(categories)}
    branch_of_code = [-1] * len(categories)
    for index, branch in enumerate(branches):
        for category in branch["categories"]:
            branch_of_code[code_of[from_plain(category)]] = index
    return branch_of_code


def _number(value: Any) -> float:
    number = from_plain(value)
    if type(number) not in (int, float) or isnan(number):
        raise Damaged("a threshold is not a number")
    return float(number)


def _column(nodes: list[Record], name: str) -> NDArray[np.float64]:
    return np.array([node[name] for node in nodes], dtype=np.float64)


def _level_arrays(nodes: list[Record]) -> dict[str, NDArray[Any]]:
    levels = [node["levels"] for node in nodes]
    arrays: dict[str, NDArray[Any]] = {
        f"levels/{name}": _column(levels, name)
        for name in (*ALL_LEVELS, *SOME_LEVELS, "others")
        if name not in SOME_LEVELS or name in levels[0]
    }
    arrays["levels/predicted"] = np.array([node["predicted"] for node in levels], dtype=np.int32)
    arrays["levels/below"] = np.array([node["below"] for node in levels], dtype=np.uint8)
    return arrays
