"""A fitted model as JSON, a node an object, that loads back; docs/exports.md has the schema."""

import json
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.estimators.saving import UnknownPart, estimator_from_state, estimator_state
from sureleaf.model.model_file import Damaged, ModelState, damaged_file, newer
from sureleaf.model.plain_values import from_plain, schema_from_plain, to_plain
from sureleaf.table import Schema

__all__ = ["from_json", "to_json"]


FORMAT: Final = "sureleaf model"
VERSION: Final = 1

_LEVELS: Final = ("n", "probability", "confidence", "utility", "successes", "trials")


def to_json(model: Any, *, indent: int | None = None) -> str:
    """Write a fitted tree, or bagged trees, as JSON.

    Parameters
    ----------
    model : TreeClassifier or BaggedTreesClassifier
        Fitted. Its levels are computed if they were not yet.
    indent : int, optional
        Spaces a level, for people; without, a node a line.

    Returns
    -------
    str
        Strict JSON that `from_json` turns into the same model, bit by bit.

    Examples
    --------
    >>> import json
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> written = json.loads(to_json(model))
    >>> written["nodes"][0]["column"], written["nodes"][0]["threshold"]
    ('x0', 2.0)
    >>> from_json(to_json(model)).predict([[1], [4]]).tolist()
    ['no', 'yes']
    """
    state = estimator_state(model)
    header = dict(state.header)
    schema = model.schema_
    written: dict[str, Any] = {"format": FORMAT, "version": VERSION, **header}
    if isinstance(model, TreeClassifier):
        written["nodes"] = _nodes(state, schema, "tree/", "probabilities")
        _add_leaf_counts(written["nodes"], state)
        if header["levels"] is not None:
            _add_levels(written["nodes"], state)
    else:
        places = [f"trees/{number}/" for number in range(header["n_trees"])]
        written["trees"] = [
            {"nodes": _nodes(state, schema, place, f"{place}probabilities")} for place in places
        ]
        written["arrays"] = {
            name: array.tolist()
            for name, array in state.arrays.items()
            if not name.startswith("trees/")
        }
    if indent is not None:
        return json.dumps(written, indent=indent, allow_nan=False)
    return _a_node_a_line(written)


def _a_node_a_line(written: dict[str, Any]) -> str:
    lines = []
    for key, value in written.items():
        if key == "nodes":
            listed = ",\n".join(f"  {json.dumps(node, allow_nan=False)}" for node in value)
            lines.append(f'"nodes": [\n{listed}\n]')
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(value, allow_nan=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _nodes(
    state: ModelState, schema: Schema, place: str, probabilities: str
) -> list[dict[str, Any]]:
    get = {
        name.removeprefix(place): a for name, a in state.arrays.items() if name.startswith(place)
    }
    stated = state.arrays[probabilities].tolist()
    counts = get["class_counts"].tolist()
    nodes: list[dict[str, Any]] = []
    for node, feature in enumerate(get["feature"].tolist()):
        found: dict[str, Any] = {"node": node}
        if feature >= 0:
            column = schema.columns[feature]
            found["column"] = column.name
            begin, end = get["child_offset"][node : node + 2].tolist()
            branches = [
                {"node": child, "share": share}
                for child, share in zip(
                    get["children"][begin:end].tolist(),
                    get["branch_share"][begin:end].tolist(),
                    strict=True,
                )
            ]
            if column.kind == "categorical":
                first, last = get["category_offset"][node : node + 2].tolist()
                for branch in branches:
                    branch["categories"] = []
                for code, at in enumerate(get["category_branch"][first:last].tolist()):
                    if at >= 0:
                        category = to_plain("categories", column.categories[code])
                        branches[at]["categories"].append(category)
            else:
                found["threshold"] = to_plain("threshold", float(get["threshold"][node]))
            found["branches"] = branches
        found |= {"counts": counts[node], "probabilities": stated[node]}
        nodes.append(found)
    return nodes


def _add_leaf_counts(nodes: list[dict[str, Any]], state: ModelState) -> None:
    leaves = (node for node in nodes if "column" not in node)
    counts, squares = (state.arrays[f"leaf_counts/{name}"] for name in ("counts", "squares"))
    for node, line, square in zip(leaves, counts.tolist(), squares.tolist(), strict=True):
        node |= {"leaf_counts": line, "leaf_squares": square}


def _add_levels(nodes: list[dict[str, Any]], state: ModelState) -> None:
    names = (*_LEVELS, "others", "predicted", "below")
    columns = [state.arrays[f"levels/{name}"].tolist() for name in names]
    for node, *values in zip(nodes, *columns, strict=True):
        node["levels"] = dict(zip(names, values, strict=True))
        node["levels"]["below"] = bool(node["levels"]["below"])


# ---- back -----------------------------------------------------------------------------------


def from_json(text: str | bytes) -> TreeClassifier | BaggedTreesClassifier:
    """Load a model that `to_json` wrote.

    Parameters
    ----------
    text : str or bytes
        JSON.

    Returns
    -------
    TreeClassifier or BaggedTreesClassifier
        As `sureleaf.load` gives it.

    Raises
    ------
    InvalidArgumentError
        If the text is no such JSON, is damaged, or was made by a newer Sureleaf.

    Examples
    --------
    >>> from_json("[]")
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: the text is no model that Sureleaf wrote as JSON. Give
    what to_json() returned.
    """
    what = "the text"
    try:
        written = json.loads(text)
        if not isinstance(written, dict) or written.get("format") != FORMAT:
            raise InvalidArgumentError(
                f"{what} is no model that Sureleaf wrote as JSON. Give what to_json() returned."
            )
        version = written.get("version")
        if type(version) is int and version > VERSION:
            raise newer(what, f"format {version}, and this one reads up to {VERSION}")
        return estimator_from_state(_state(written))
    except InvalidArgumentError:
        raise
    except UnknownPart as problem:
        raise newer(what, f"this one does not know {problem}") from None
    except (Damaged, RecursionError, ValueError) as problem:
        raise damaged_file(what, problem) from None
    except (TypeError, KeyError, AttributeError, IndexError, OverflowError) as problem:
        raise damaged_file(what, Damaged(f"a part cannot be read ({problem!r})")) from None


def _state(written: dict[str, Any]) -> ModelState:
    header = {
        key: value for key, value in written.items() if key not in ("nodes", "trees", "arrays")
    }
    schema = schema_from_plain(written.get("schema"))
    if "nodes" in written:
        arrays = _tree_arrays(written["nodes"], schema, "tree/", "probabilities")
        arrays |= _leaf_arrays(written["nodes"])
        if header.get("levels") is not None:
            arrays |= _level_arrays(written["nodes"])
        return ModelState(header, arrays)
    arrays = {
        str(name): np.array(values, dtype=np.float64) for name, values in written["arrays"].items()
    }
    for number, tree in enumerate(written["trees"]):
        place = f"trees/{number}/"
        arrays |= _tree_arrays(tree["nodes"], schema, place, f"{place}probabilities")
    return ModelState(header, arrays)


def _tree_arrays(
    nodes: list[dict[str, Any]], schema: Schema, place: str, probabilities: str
) -> dict[str, NDArray[Any]]:
    place_of = {name: at for at, name in enumerate(schema.names)}
    feature, threshold, children, shares = [], [], [], []
    child_offset, category_offset, category_branch = [0], [0], []
    for number, node in enumerate(nodes):
        if node["node"] != number:
            raise Damaged("its nodes are not in the order of their numbers")
        column = node.get("column")
        feature.append(-1 if column is None else place_of[column])
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
        f"{place}feature": np.array(feature, dtype=np.int32),
        f"{place}threshold": np.array(threshold, dtype=np.float64),
        f"{place}child_offset": np.array(child_offset, dtype=np.int64),
        f"{place}children": np.array(children, dtype=np.int32),
        f"{place}branch_share": np.array(shares, dtype=np.float64),
        f"{place}category_offset": np.array(category_offset, dtype=np.int64),
        f"{place}category_branch": np.array(category_branch, dtype=np.int32),
        f"{place}class_counts": _lines(nodes, "counts"),
        probabilities: _lines(nodes, "probabilities"),
    }


def _category_branches(branches: list[dict[str, Any]], schema: Schema, feature: int) -> list[int]:
    categories = schema.columns[feature].categories
    code_of = {category: code for code, category in enumerate(categories)}
    taken = [-1] * len(categories)
    for place, branch in enumerate(branches):
        for category in branch["categories"]:
            taken[code_of[from_plain(category)]] = place
    return taken


def _number(value: Any) -> float:
    found = from_plain(value)
    if type(found) not in (int, float) or (not isfinite(found) and found != found):
        raise Damaged("a threshold is not a number")
    return float(found)


def _lines(nodes: list[dict[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([node[name] for node in nodes], dtype=np.float64)


def _leaf_arrays(nodes: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    leaves = [node for node in nodes if node.get("column") is None]
    return {
        "leaf_counts/counts": _lines(leaves, "leaf_counts"),
        "leaf_counts/squares": _lines(leaves, "leaf_squares"),
    }


def _level_arrays(nodes: list[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    levels = [node["levels"] for node in nodes]
    found: dict[str, NDArray[Any]] = {
        f"levels/{name}": _lines(levels, name) for name in (*_LEVELS, "others")
    }
    found["levels/predicted"] = np.array([line["predicted"] for line in levels], dtype=np.int32)
    found["levels/below"] = np.array([line["below"] for line in levels], dtype=np.uint8)
    return found
