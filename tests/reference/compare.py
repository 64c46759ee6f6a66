"""The first difference between two trees in words: our tree, the oracle's, J48's print."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from tests.naive.tree import Node
from tests.reference.j48 import Named, PrintedTree


@dataclass(frozen=True)
class Step:
    """A node in the order of the print (parents first, branches in order)."""

    depth: int
    feature: int  # -1 for a leaf
    threshold: float
    branch_of: tuple[int, ...]
    missing_branch: int
    shares: tuple[float, ...]
    counts: np.ndarray


def steps(tree) -> list[Step]:
    """Of an oracle's Node or of a tree in flat arrays."""
    return list(steps_of_node(tree, 0) if isinstance(tree, Node) else steps_of_arrays(tree))


def steps_of_node(node: Node, depth: int):
    if node.split is None:
        yield Step(depth, -1, float("nan"), (), -1, (), node.class_counts)
        return
    split = node.split
    yield Step(
        depth,
        split.feature,
        split.threshold,
        split.branch_of,
        split.missing_branch,
        tuple(node.branch_shares),
        node.class_counts,
    )
    for child in node.children:
        yield from steps_of_node(child, depth + 1)


def steps_of_arrays(tree):
    stack = [(0, 0)]
    while stack:
        node, depth = stack.pop()
        branches = slice(tree.child_offset[node], tree.child_offset[node + 1])
        codes = slice(tree.category_offset[node], tree.category_offset[node + 1])
        yield Step(
            depth,
            int(tree.feature[node]),
            float(tree.threshold[node]),
            tuple(np.asarray(tree.category_branch[codes]).tolist()),
            int(tree.missing_branch[node]),
            tuple(np.asarray(tree.branch_share[branches]).tolist()),
            np.asarray(tree.class_counts[node]),
        )
        stack += [(int(child), depth + 1) for child in tree.children[branches]][::-1]


def first_difference(ours, expected, *, weight_tolerance: float = 1e-6) -> str | None:
    """Between two trees that are Nodes or flat arrays; counts and shares within the tolerance."""
    pairs = zip_longest(steps(ours), steps(expected))
    for number, (got, wanted) in enumerate(pairs):
        if got is None or wanted is None:
            return f"node {number}: {'missing' if got is None else 'one too many'}"
        for name in ("depth", "feature", "branch_of", "missing_branch"):
            if getattr(got, name) != getattr(wanted, name):
                return (
                    f"node {number}: {name} {getattr(got, name)}, expected {getattr(wanted, name)}"
                )
        is_cut = wanted.feature >= 0 and not wanted.branch_of
        if is_cut and got.threshold != wanted.threshold:
            return f"node {number}: threshold {got.threshold!r}, expected {wanted.threshold!r}"
        for name in ("shares", "counts"):
            a, b = getattr(got, name), getattr(wanted, name)
            if len(a) != len(b) or not np.allclose(a, b, rtol=1e-9, atol=weight_tolerance):
                return f"node {number}: {name} {a}, expected {b}"
    return None


def first_difference_from_print(ours, printed: PrintedTree, named: Named) -> str | None:
    """Between a Node or flat arrays and J48's print: tests, leaves' labels and weights."""
    lines = list(print_lines(steps(ours), named))
    for number, (got, line) in enumerate(zip_longest(lines, printed.lines)):
        if got is None or line is None:
            return f"line {number}: {'missing' if got is None else 'one too many'}: {got or line}"
        depth, attribute, operator, value, counts, parent_counts = got
        if (depth, attribute, operator) != (line.depth, line.attribute, line.operator):
            return f"line {number}: {got}, expected {line}"
        if operator == "=" and value != line.value:
            return f"line {number}: {got}, expected {line}"
        if operator in ("<=", ">") and not prints_as(value, line.value):
            return f"line {number}: threshold {value!r}, expected {line.value}"
        if (counts is None) != (line.label is None):
            return f"line {number}: {got}, expected {line}"
        if counts is not None:
            wrong = leaf_difference(counts, parent_counts, line, named)
            if wrong:
                return f"line {number}: {wrong}; {line}"
    return None


def leaf_difference(counts, parent_counts, line, named: Named) -> str | None:
    weight = counts.sum()
    errors = weight - counts.max()
    # half a unit of the second decimal, and room for its rounding to either side
    if abs(weight - line.weight) > 0.0051 or abs(errors - line.errors) > 0.0051:
        return f"weight and errors {weight:.3f}/{errors:.3f}"
    # a leaf without rows is labelled as its parent; equal counts are told apart by rounding only
    voting = counts if weight > 0 else parent_counts
    if voting.max() - voting[named.labels.index(line.label)] > 1e-6:
        return f"counts {voting}"
    return None


def print_lines(nodes: list[Step], named: Named):
    """A line a branch, as J48: (depth, attribute, operator, value, counts, parent's counts)."""
    if len(nodes) == 1:
        yield -1, "", "", "", nodes[0].counts, nodes[0].counts
    path: list[tuple[Step, int]] = []  # ancestors and how many of their branches were printed
    for node in nodes:
        del path[node.depth :]
        if path:
            parent, branch = path[-1]
            path[-1] = parent, branch + 1
            column = named.columns[parent.feature]
            if parent.branch_of:
                codes = [code for code, to in enumerate(parent.branch_of) if to == branch]
                operator, value = "=", ", ".join(named.values[parent.feature][c] for c in codes)
            else:
                operator, value = ("<=", ">")[branch], parent.threshold
            counts = node.counts if node.feature < 0 else None
            yield node.depth - 1, column, operator, value, counts, parent.counts
        path.append((node, 0))


def prints_as(number: float, text: str) -> bool:
    """Whether a threshold is the printed one of six decimals, or up to 1e-6 above it (rule 6)."""
    half_a_unit = 0.5000001e-6
    return -half_a_unit <= number - float(text) <= 1e-6 + half_a_unit


def hits_between(probabilities: np.ndarray, labels: np.ndarray) -> tuple[int, int]:
    """Fewest and most training hits, as rows whose best classes tie but for rounding may fall."""
    best = probabilities > probabilities.max(1, keepdims=True) - 1e-9
    label_is_best = best[np.arange(len(labels)), labels]
    return int((label_is_best & (best.sum(1) == 1)).sum()), int(label_is_best.sum())
