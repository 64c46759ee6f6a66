"""A tree as rules that people can read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import percent
from sureleaf.table import Column, Schema
from sureleaf.table.encoded_table import Columns
from sureleaf.table.schema import EXACT_DIGITS, rounded_up
from sureleaf.tree.structure import Tree

IS_MISSING, OR_MISSING = " is missing", " or missing"
"""How a test ends that only missing values pass, or that they pass, too."""


def branch_tests(tree: Tree, node: int, column: Column) -> list[str]:
    """Return the test of each branch of a node as text.

    The branch of missing values says so, if training rows lack a value of the column and such rows
    can reach the node.
    """
    missing_branch = int(tree.missing_branch[node]) if tree.missing_arrives[node] else -1
    return [
        _test_text(column, test, with_missing=branch == missing_branch)
        for branch, test in enumerate(_known_tests(tree, node, column))
    ]


READABLE_DIGITS = 6
MOST_NODES = 1000
"""Of a larger tree, which nobody reads as a whole, thresholds keep all digits."""


def with_digits(schema: Schema, tree: Tree, columns: Columns) -> Schema:
    """Return the schema with the digits that thresholds need in rules: six, or more.

    Rounded up to these digits, every threshold parts the same rows as it does now.
    """
    if columns.are_codes or tree.n_nodes > MOST_NODES:  # codes are ranges of unknown values
        return schema
    own = list(schema.columns)
    inner = np.flatnonzero(~tree.is_leaf & np.isfinite(tree.threshold))
    for index in np.unique(tree.feature[inner]).tolist():
        if own[index].kind != "numeric":
            continue
        values = columns[index]
        bounds = [float(tree.threshold[node]) for node in inner if tree.feature[node] == index]
        needed = [_digits_for(bound, values) for bound in bounds]
        own[index] = replace(own[index], digits=max(needed))
    return replace(schema, columns=tuple(own))


def _digits_for(bound: float, values: NDArray[Any]) -> int:
    """Return how many digits keep a bound, rounded up, below the next value."""
    if rounded_up(bound, READABLE_DIGITS) == bound:
        return READABLE_DIGITS
    above = values[values > bound]
    following = float(above.min()) if len(above) else np.inf
    return next(
        digits
        for digits in range(READABLE_DIGITS, EXACT_DIGITS + 1)
        if rounded_up(bound, digits) < following or digits == EXACT_DIGITS
    )


def _known_tests(tree: Tree, node: int, column: Column) -> list[str | None]:
    """Return for each branch which known values take it; None if only missing values do."""
    name = word(column.name)
    if tree.tests_missing(node):
        return [f"{name} is known", None]
    if column.kind != "categorical":
        bound = word(column.render_bound(float(tree.threshold[node])))
        return [f"{name} <= {bound}", f"{name} > {bound}"]
    listed: list[list[str]] = [[] for _ in tree.branches(node)]
    for code, branch in enumerate(tree.categories(node).tolist()):
        if branch >= 0:
            listed[branch].append(word(column.categories[code]))
    tests: list[str | None] = [
        f"{name} = {words[0]}" if len(words) == 1 else f"{name} in {{{', '.join(words)}}}"
        for words in listed
    ]
    missing_branch = int(tree.missing_branch[node])
    if missing_branch >= 0 and not listed[missing_branch]:
        tests[missing_branch] = None
    return tests


def _test_text(column: Column, known: str | None, *, with_missing: bool) -> str:
    if known is None:
        return f"{word(column.name)}{IS_MISSING}"
    return f"{known}{OR_MISSING}" if with_missing and column.has_missing else known


def leaf_rules(tree: Tree, schema: Schema) -> dict[int, str]:
    """Return the rule of each leaf, by its number: the tests on its path, joined by "and".

    Of several tests of a column in the same direction, the deepest is the tightest and stands for
    all of them. Missing values are mentioned if they pass all tests of their column.
    """
    paths: dict[int, _Path] = {0: {}}
    for node in np.flatnonzero(~tree.is_leaf).tolist():  # in preorder, parents come first
        path = paths.pop(node)
        index = int(tree.feature[node])
        column = schema.columns[index]
        tests = _ColumnTests.of_branches(tree, node, column)
        for child, test in zip(tree.branches(node).tolist(), tests, strict=True):
            paths[child] = {**path, index: path[index].then(test) if index in path else test}
    return {
        leaf: join_tests(
            [text for index, tests in path.items() for text in tests.texts(schema.columns[index])]
        )
        for leaf, path in sorted(paths.items())
    }


def join_tests(tests: Sequence[str]) -> str:
    """Join tests by "and"; a test that ends with "or missing" gets parentheses.

    Examples
    --------
    >>> join_tests(["age <= 38 or missing", "size > 2"])
    '(age <= 38 or missing) and size > 2'
    """
    if len(tests) > 1:
        tests = [f"({test})" if test.endswith(OR_MISSING) else test for test in tests]
    return " and ".join(tests) or "all rows"


class _ColumnTests(NamedTuple):
    """The tests of one column on a path; the deepest of each kind.

    Known values pass above a bound, up to a bound, or if they are of these categories. `known` and
    `missing` say whether known values pass, and whether missing ones do.
    """

    above: str | None = None
    up_to: str | None = None
    other: str | None = None
    known: bool = True
    missing: bool = False

    @classmethod
    def of_branches(cls, tree: Tree, node: int, column: Column) -> "list[_ColumnTests]":
        """Return the test of each branch of a node."""
        known = _known_tests(tree, node, column)
        missing = [branch == int(tree.missing_branch[node]) for branch in range(len(known))]
        if column.kind != "categorical" and not tree.tests_missing(node):
            up_to, above = known
            return [cls(up_to=up_to, missing=missing[0]), cls(above=above, missing=missing[1])]
        return [
            cls(other=text, known=text is not None, missing=passes)
            for text, passes in zip(known, missing, strict=True)
        ]

    def then(self, deeper: "_ColumnTests") -> "_ColumnTests":
        """Return the tests of the path that goes on with a deeper test."""
        return _ColumnTests(
            deeper.above or self.above,
            deeper.up_to or self.up_to,
            deeper.other or self.other,
            self.known and deeper.known,
            self.missing and deeper.missing,
        )

    def texts(self, column: Column) -> list[str]:
        """Return the tests in words."""
        if not self.known:
            return [_test_text(column, None, with_missing=True)]
        # A bound implies "is known".
        tests: list[str | None] = [test for test in (self.above, self.up_to) if test]
        return [
            _test_text(column, test, with_missing=self.missing) for test in tests or [self.other]
        ]


_Path = dict[int, _ColumnTests]
"""The tests on the path to a node, by column."""


def rules_text(
    tree: Tree,
    schema: Schema,
    classes: Sequence[object] | NDArray[Any],
    probabilities: FloatArray,
    predicted: NDArray[np.intp],
    *,
    weighted: bool = False,
) -> str:
    """Write a tree as indented rules, each leaf with its rows, class counts and probability.

    `weighted` says that counts are weights, such as those of classes, and not rows.
    """
    check_text_size(tree)
    lines: list[str] = []
    pending: list[tuple[int, int, str]] = [(0, -1, "all rows")]
    while pending:
        node, depth, test = pending.pop()
        indent = "|   " * max(depth, 0)
        if tree.is_leaf[node]:
            leaf_text = _leaf_text(
                tree.class_counts[node],
                classes,
                probabilities[node],
                int(predicted[node]),
                weighted=weighted,
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


_MOST_TESTS = 20_000_000


def check_text_size(tree: Tree) -> None:
    """Raise an error if the text of a tree would have hundreds of megabytes.

    Each line is indented by the depth of its node, so the size grows with the sum of all depths.
    """
    n_tests = int(tree.node_depth.sum(dtype=np.int64))
    if n_tests > _MOST_TESTS:
        raise InvalidArgumentError(
            f"a tree must have at most {_MOST_TESTS:,} tests on the paths to its nodes together to "
            f"be written as text or drawn; got {n_tests:,} in a tree of depth {tree.depth:,}. Set "
            "max_depth, or write the model as JSON or ONNX."
        )


def _leaf_text(
    counts: FloatArray,
    classes: Sequence[object] | NDArray[Any],
    probabilities: FloatArray,
    predicted: int,
    *,
    weighted: bool,
) -> str:
    present = ", ".join(
        f"{word(label)} {_weight(count)}"
        for label, count in zip(classes, counts, strict=True)
        if count > 0
    )
    total = float(counts.sum())
    rows = "row" if total == 1 else "rows"
    size = f"weight {_weight(total)}" if weighted else f"{_weight(total)} {rows}"
    seen = f"{size}: {present}" if present else "no rows"
    return f"{word(classes[predicted])}   {percent(float(probabilities[predicted]))} ({seen})"


def word(name: object) -> str:
    """Return a name, in quotes if it has line breaks or spaces at its ends."""
    text = str(name)
    return text if text and text.isprintable() and text == text.strip() else repr(text)


def _weight(value: float) -> str:
    return f"{value:.0f}" if value == round(value) else f"{value:.2f}"
