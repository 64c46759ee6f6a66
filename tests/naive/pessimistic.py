"""Rule 9 of docs/c45.md: pessimistic pruning with subtree replacement and subtree raising."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

from scipy.special import ndtri

from tests.naive.tree import Node, Part, at_least, divide


def added_errors(n: float, errors: float, confidence_factor: float) -> float:
    """Return what is added to the training errors of a leaf to estimate its errors on new rows."""
    if n <= 0:
        return 0.0
    if errors < 1:
        none = n * (1 - confidence_factor ** (1 / n))
        if errors == 0:
            return none
        return none + errors * (added_errors(n, 1, confidence_factor) - none)
    if errors + 0.5 >= n:
        return max(n - errors, 0.0)
    z = float(ndtri(1 - confidence_factor))
    f = (errors + 0.5) / n
    spread = z * sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return n * (f + z * z / (2 * n) + spread) / (1 + z * z / n) - errors


def estimated_errors(node: Node, confidence_factor: float) -> float:
    """Return the estimated errors of the node as a leaf."""
    return node.errors + added_errors(node.n, node.errors, confidence_factor)


def resend(node: Node, part: Part) -> Node:
    """Route these rows through the same tests: new counts, new branch shares."""
    if node.split is None:
        return Node(part.counts)
    shares, parts = divide(node.split, part)
    children = [resend(child, each) for child, each in zip(node.children, parts, strict=True)]
    return replace(node, class_counts=part.counts, children=children, branch_shares=shares)


def prune(node: Node, part: Part, confidence_factor: float) -> Node:
    """Bottom-up: keep a subtree, replace it by a leaf, or replace it by its heaviest branch."""
    if node.split is None:
        return node
    _, parts = divide(node.split, part)
    pairs = zip(node.children, parts, strict=True)
    children = [prune(child, each, confidence_factor) for child, each in pairs]
    node = replace(node, children=children)
    heaviest = children[0]
    for child in children[1:]:
        if at_least(child.n, heaviest.n):  # the last one on ties
            heaviest = child
    raised = resend(heaviest, part)

    as_leaf = estimated_errors(node, confidence_factor)
    as_is = sum(estimated_errors(leaf, confidence_factor) for leaf in node.leaves)
    as_branch = sum(estimated_errors(leaf, confidence_factor) for leaf in raised.leaves)
    if at_least(as_is + 0.1, as_leaf) and at_least(as_branch + 0.1, as_leaf):
        return Node(node.class_counts)
    if at_least(as_is + 0.1, as_branch):
        return prune(raised, part, confidence_factor)
    return node
