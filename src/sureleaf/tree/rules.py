"""A tree as rules that people can read."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.table import Column, Schema
from sureleaf.tree.structure import Tree

__all__ = ["branch_tests", "leaf_rules", "rules_text"]


def branch_tests(tree: Tree, node: int, column: Column) -> list[str]:
    """Return the test of each branch of a node as text.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> branch_tests(model.tree_, 0, model.schema_.columns[0])
    ['x0 <= 2', 'x0 > 2']
    """
    categories = tree.categories(node)
    name = _word(column.name)
    if len(categories) == 0:
        bound = _word(column.render(float(tree.threshold[node])))
        return [f"{name} <= {bound}", f"{name} > {bound}"]
    listed: list[list[str]] = [[] for _ in tree.branches(node)]
    for code, branch in enumerate(categories.tolist()):
        if branch >= 0:
            listed[branch].append(_word(column.categories[code]))
    return [
        f"{name} = {words[0]}" if len(words) == 1 else f"{name} in {{{', '.join(words)}}}"
        for words in listed
    ]


def leaf_rules(tree: Tree, schema: Schema) -> dict[int, str]:
    """Return the rule of each leaf, by its number: the tests on its path, joined by "and".

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> leaf_rules(model.tree_, model.schema_)
    {1: 'x0 <= 2', 2: 'x0 > 2'}
    """
    if tree.n_nodes == 1:
        return {0: "all rows"}
    rules = {0: ""}
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # in preorder, parents come first
        path = rules.pop(node)
        tests = branch_tests(tree, node, schema.columns[tree.feature[node]])
        for child, test in zip(tree.branches(node).tolist(), tests, strict=True):
            rules[child] = f"{path} and {test}" if path else test
    return dict(sorted(rules.items()))


def rules_text(
    tree: Tree,
    schema: Schema,
    classes: Sequence[object] | NDArray[Any],
    probabilities: NDArray[np.float64],
    predicted: NDArray[np.intp],
) -> str:
    """Write a tree as indented rules, each leaf with its rows, class counts and probability.

    Parameters
    ----------
    tree : Tree
        The tree.
    schema : Schema
        The names of the columns and categories.
    classes : sequence
        The names of the classes.
    probabilities : ndarray of shape (n_nodes, n_classes)
        Class probabilities of each node.
    predicted : ndarray of int, shape (n_nodes,)
        Index of the class that each node predicts.

    Returns
    -------
    str

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(leaf_estimate="frequency")
    >>> print(model.fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"]).rules())
    x0 <= 2: no   100.0 % (2 rows: no 2)
    x0 > 2: yes   100.0 % (2 rows: yes 2)
    """
    lines: list[str] = []
    pending: list[tuple[int, int, str]] = [(0, -1, "all rows")]
    while pending:
        node, depth, test = pending.pop()
        indent = "|   " * max(depth, 0)
        if tree.is_leaf[node]:
            leaf_text = _leaf_text(
                tree.class_counts[node], classes, probabilities[node], int(predicted[node])
            )
            lines.append(f"{indent}{test}: {leaf_text}")
            continue
        if depth >= 0:
            lines.append(f"{indent}{test}")
        tests = branch_tests(tree, node, schema.columns[tree.feature[node]])
        branches = [
            (int(child), depth + 1, text)
            for child, text in zip(tree.branches(node), tests, strict=True)
        ]
        pending += reversed(branches)
    return "\n".join(lines)


def _leaf_text(
    counts: NDArray[np.float64],
    classes: Sequence[object] | NDArray[Any],
    probabilities: NDArray[np.float64],
    predicted: int,
) -> str:
    present = ", ".join(
        f"{_word(label)} {_weight(count)}"
        for label, count in zip(classes, counts, strict=True)
        if count > 0
    )
    total = float(counts.sum())
    rows = "row" if total == 1 else "rows"
    seen = f"{_weight(total)} {rows}: {present}" if present else "no rows"
    return f"{_word(classes[predicted])}   {100 * probabilities[predicted]:.1f} % ({seen})"


def _word(name: object) -> str:
    """Return a name, in quotes if it has line breaks or spaces at its ends."""
    text = str(name)
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def _weight(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.2f}"
