"""Sections 3 and 4: the tree node by node, what its leaves state, and rows to follow down it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.probability import find_estimate
from sureleaf.report.findings.data import kind_of
from sureleaf.report.findings.gathering import Gathered
from sureleaf.report.findings.plain import number
from sureleaf.report.findings.terms import leaf_terms
from sureleaf.table import Column
from sureleaf.tree.rules import branch_tests

__all__ = ["tree_section"]

MOST_EXAMPLES = 40


def tree_section(found: Gathered) -> dict[str, Any]:
    """Return the section of the tree.

    Examples
    --------
    >>> from sureleaf.report import Effort, make_report
    >>> rows, labels = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> tree = make_report(rows, labels, effort=Effort(3, 1, 3, 2, 10)).to_dict()["tree"]
    >>> tree["n_leaves"], tree["nodes"][1]["edge"], tree["nodes"][1]["n"]
    (2, 'x0 <= 19', 20.0)
    """
    model, asked = found.tree, found.asked
    tested = np.unique(model.tree_.feature[~model.tree_.is_leaf]).tolist()
    columns = [model.schema_.columns[place] for place in tested]
    levels = model.levels()
    return {
        "n_leaves": model.tree_.n_leaves,
        "n_nodes": model.tree_.n_nodes,
        "depth": model.tree_.depth,
        "levels": {"confidence": levels.confidence, "utility": levels.utility},
        "levels_from": found.leaves.notes()[0],
        "terms": leaf_terms(len(found.labels)),
        "wanted": {
            "level": asked.level,
            "confidence": asked.confidence,
            "utility": asked.utility,
        },
        "unseen": model.unseen,
        "columns": [
            {
                "name": str(column.name),
                "kind": kind_of(column),
                "categories": [str(c) for c in column.categories] if column.is_coded else None,
                "temporal": column.temporal,
            }
            for column in columns
        ],
        "nodes": _nodes(found, tested),
        "rules": model.rules(),
        "example_rows": _examples(found, tested, columns),
    }


def _nodes(found: Gathered, tested: list[int]) -> list[dict[str, Any]]:
    tree, schema = found.tree.tree_, found.tree.schema_
    place_of = {column: place for place, column in enumerate(tested)}
    stated = find_estimate(found.tree.leaf_estimate)(tree, tree.class_counts)
    leaf_line = {int(leaf): line for line, leaf in enumerate(found.leaves.leaf)}
    edges: dict[int, str] = {}
    nodes = []
    for node in range(tree.n_nodes):
        probabilities = stated[node]
        predicted = int(probabilities.argmax())
        one: dict[str, Any] = {
            "id": node,
            "parent": int(tree.parent[node]) if node else None,
            "edge": edges.get(node),
            "depth": int(tree.node_depth[node]),
            "counts": tree.class_counts[node].tolist(),
            "n": float(tree.class_counts[node].sum()),
            "prediction": predicted,
            "probability": float(probabilities[predicted]),
            "probabilities": probabilities.tolist(),
        }
        if node in leaf_line:
            nodes.append(one | _NO_TEST | _leaf(found, leaf_line[node]))
            continue
        column = schema.columns[tree.feature[node]]
        tests = branch_tests(tree, node, column)
        edges |= dict(zip(tree.branches(node).tolist(), tests, strict=True))
        nodes.append(one | _test(found, node, place_of, column) | _NO_LEAF)
    return nodes


_NO_TEST: dict[str, Any] = {
    "column": None,
    "threshold": None,
    "threshold_text": None,
    "branch_of_category": None,
    "children": [],
    "shares": [],
}
_NO_LEAF: dict[str, Any] = dict.fromkeys(
    ("rule", "low", "high", "confidence", "utility", "rows_needed", "flagged", "repair")
)


def _test(found: Gathered, node: int, place_of: dict[int, int], column: Column) -> dict[str, Any]:
    tree = found.tree.tree_
    span = slice(tree.child_offset[node], tree.child_offset[node + 1])
    branch_of = tree.categories(node)
    by_number = len(branch_of) == 0
    threshold = float(tree.threshold[node])
    return {
        "column": place_of[int(tree.feature[node])],
        "threshold": number(threshold) if by_number else None,
        "threshold_text": column.render(threshold) if by_number else None,
        "branch_of_category": None if by_number else branch_of.tolist(),
        "children": tree.branches(node).tolist(),
        "shares": tree.branch_share[span].tolist(),
    }


def _leaf(found: Gathered, line: int) -> dict[str, Any]:
    leaves = found.leaves
    needed = float(leaves.rows_needed[line])
    return {
        "rule": str(leaves.rule[line]),
        "probability": float(leaves.probability[line]),
        "low": number(leaves.low[line]),
        "high": number(leaves.high[line]),
        "confidence": float(leaves.confidence[line]),
        "utility": float(leaves.utility[line]),
        "rows_needed": int(needed) if np.isfinite(needed) else None,
        "flagged": bool(leaves.flagged[line]),
        "repair": str(leaves.repair[line]) or None,
    }


def _examples(found: Gathered, tested: list[int], columns: list[Column]) -> list[dict[str, Any]]:
    """Rows of as many different leaves as there are, in the order of the file."""
    model = found.tree
    leaf_of: NDArray[np.int64] = model.apply(found.asked.X)
    order = np.lexsort((np.arange(len(leaf_of)), leaf_of))
    first = np.concatenate([[True], np.diff(leaf_of[order]) != 0])
    nth = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    by_turn = order[np.lexsort((leaf_of[order], nth))]  # a row of each leaf, then another of each
    n_first = int((nth == 0).sum())
    if n_first > MOST_EXAMPLES:
        picks = np.linspace(0, n_first - 1, MOST_EXAMPLES).astype(np.int64)
        chosen = by_turn[:n_first][picks]
    else:
        chosen = by_turn[:MOST_EXAMPLES]
    told = []
    for row in np.sort(chosen).tolist():
        raw = [found.table.columns[place][row] for place in tested]
        missing = [_is_missing(column, value) for column, value in zip(columns, raw, strict=True)]
        told.append(
            {
                "row": row,
                "values": [
                    None if gone else column.render(value)
                    for column, value, gone in zip(columns, raw, missing, strict=True)
                ],
                "codes": [
                    None if gone else number(value)
                    for value, gone in zip(raw, missing, strict=True)
                ],
                "truth": found.labels[int(found.judged.truth[row])],
                "leaf": int(leaf_of[row]),
            }
        )
    return told


def _is_missing(column: Column, value: Any) -> bool:
    return bool(value < 0) if column.is_coded else bool(np.isnan(value))
