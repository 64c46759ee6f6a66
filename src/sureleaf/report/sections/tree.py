"""Sections 3 and 4: the tree node by node, what its leaves state, and rows to follow down it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.report.results import ReportResults
from sureleaf.report.sections.data import kind_of
from sureleaf.report.values import number
from sureleaf.table import Column
from sureleaf.tree.rules import branch_tests

__all__ = ["leaf_terms", "tree_section"]


# What the figures of a leaf are, a sentence each: they answer different questions.


def leaf_terms(n_classes: int) -> dict[str, str]:
    """Return what is explained of a leaf, by the names of its figures.

    Examples
    --------
    >>> print(leaf_terms(2)["utility"])
    Chance that the tree is right about the next row that comes here, from the same predictions.
    """
    tie = "one half" if n_classes == 2 else "what a tie with the next class would give it"
    return {
        "counts": "Rows that grew the leaf, by class: the leaf was drawn around them, so their "
        "shares are mostly too good to be true of other rows.",
        "stated": "What the tree predicts for a row that comes here (predict_proba): the mean over "
        "the ways to prune the tree above the leaf. Where that would name another class, the "
        "leaf's majority class is raised to a tie with it and named.",
        "probability": "Share of the most probable class among rows that come here, with its "
        "interval, from predictions of trees that had not seen the rows. It is that of the class "
        f"named as far as the leaf names the right one, and is never put below {tie}: a leaf that "
        "is right less often has that value and is flagged.",
        "confidence": "Chance that the class named is the most probable class of rows that come "
        "here.",
        "utility": "Chance that the tree is right about the next row that comes here, from the "
        "same predictions.",
        "rows_needed": "Rows in the leaf, all told, with which it would reach the wanted levels if "
        "its probability stays what it is; not known where the probability is that of a tie.",
        "levels": "Means over the leaves of the tree, weighted by their rows. The utility "
        "speaks of this very tree; the cross-validated accuracy judges the way of growing, by "
        "trees of fewer rows and other folds, so the two differ a little.",
    }


MOST_EXAMPLES = 40


def tree_section(found: ReportResults) -> dict[str, Any]:
    """Return the section of the tree.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> tree = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10)).to_dict()["tree"]
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


def _nodes(found: ReportResults, tested: list[int]) -> list[dict[str, Any]]:
    tree, schema = found.tree.tree_, found.tree.schema_
    place_of = {column: place for place, column in enumerate(tested)}
    model = found.tree.model_
    leaf_line = {int(leaf): line for line, leaf in enumerate(found.leaves.leaf)}
    edges: dict[int, str] = {}
    nodes = []
    for node in range(tree.n_nodes):
        probabilities, predicted = model.probabilities[node], int(model.predicted_classes[node])
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


def _test(
    found: ReportResults, node: int, place_of: dict[int, int], column: Column
) -> dict[str, Any]:
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


def _leaf(found: ReportResults, line: int) -> dict[str, Any]:
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


def _examples(
    found: ReportResults, tested: list[int], columns: list[Column]
) -> list[dict[str, Any]]:
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
