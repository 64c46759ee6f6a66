"""What changes from one tree to another: rules, decisions, and what the decisions are worth.

Both trees are read from their roots at the same time. As long as they ask the same, nothing has
changed. Where they do not, the first difference is said in words, with the share of the rows that
come there. Rows tell which decisions change, from which leaf to which. Rows with labels tell
whether that is better, by the test for two models on the same rows (`compare_trees`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureleaf.arguments import FloatArray
from sureleaf.auditing.same_rows import compare_trees, encoded_rows
from sureleaf.comparison import Comparison
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import TreeClassifier
from sureleaf.formatting import TextDisplay, count_of, percent, upper_first
from sureleaf.levels.decisions import cost_rule
from sureleaf.model.column_table import ColumnTable, json_value
from sureleaf.model.leaf_table import LeafTable
from sureleaf.model.tree_model import TreeModel
from sureleaf.monitoring.updates import check_tree
from sureleaf.table import Column, EncodedTable
from sureleaf.tree.rules import branch_tests, join_tests, leaf_rules
from sureleaf.tree.structure import leaves_in_words

SCHEMA = "sureleaf-diff/1"

Kind = Literal["moved", "regrouped", "replaced", "added", "removed", "decision"]


@dataclass(frozen=True)
class RuleChange:
    """One difference between the rules of two trees.

    - `kind`: a threshold "moved", categories "regrouped", a test "replaced" by one of another
      column, a split "added" or "removed", or the "decision" of a leaf.
    - `where`: the rule that leads there in the old tree; empty for all rows.
    - `before`, `after`: the test or decision there.
    - `share`: the share of the rows that come there in the old tree.
    - `old_node`, `new_node`: node numbers.
    """

    kind: Kind
    where: str
    before: str
    after: str
    share: float
    old_node: int
    new_node: int

    def __str__(self) -> str:
        place = f"where {self.where}" if self.where else "at the root"
        rows = f"{percent(self.share)} of the rows"
        change = {
            "moved": f"the threshold moves: {self.after} in place of {self.before}",
            "regrouped": f"the categories are grouped differently: {self.after} in place of "
            f"{self.before}",
            "replaced": f"the test is {self.after} in place of {self.before}",
            "added": f"a leaf ({self.before}) is divided by {self.after}",
            "removed": f"the split by {self.before} is gone: one leaf ({self.after})",
            "decision": f"the decision is {self.after} in place of {self.before}",
        }[self.kind]
        return f"{upper_first(place)} ({rows}), {change}."


@dataclass(frozen=True, eq=False, repr=False)
class Flows(ColumnTable):
    """One row per pair of leaves: rows that are in one leaf of the old tree, and one of the new.

    - `old_leaf`, `new_leaf`: node numbers; of a row in several leaves, the heaviest.
    - `n`, `share`: these rows, and their share of all rows.
    - `n_changed`: how many of them get another decision.
    - `old_correct`, `new_correct`: how many each tree decides correctly; NaN without labels.
    """

    old_leaf: NDArray[np.intp]
    new_leaf: NDArray[np.intp]
    n: NDArray[np.intp]
    share: FloatArray
    n_changed: NDArray[np.intp]
    old_correct: FloatArray
    new_correct: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class LeafChanges(ColumnTable):
    """One row per leaf of two trees with the same tests, such as a tree and its update.

    `n` is the weight of the rows in the leaf; `before` and `after` are its decisions. Levels are
    NaN where a tree does not know them.
    """

    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    n_before: FloatArray
    n_after: FloatArray
    before: NDArray[Any]
    after: NDArray[Any]
    changed: NDArray[np.bool_]
    confidence_before: FloatArray
    confidence_after: FloatArray
    utility_before: FloatArray
    utility_after: FloatArray
    flagged_before: NDArray[np.bool_]
    flagged_after: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Diff(TextDisplay):
    """What changes from an old tree to a new one; `diff` returns it. It prints as sentences.

    - `old`, `new`: the two trees, by the costs of the comparison if some were given.
    - `same_tests`: whether both have the same tests, in the same places.
    - `identical`: whether all tests, decisions and class counts are the same.
    - `rules`: what changes, the change that concerns the most rows first.
    - `leaves`: leaf by leaf, if the tests are the same; else None.
    - `n_rows`: rows that were given, 0 for none.
    - `changed`: the share of the rows that get another decision: of the given rows, or of those
      that the leaves hold if the tests are the same; else None.
    - `flows`: the given rows by pair of leaves; else None.
    - `comparison`: the new tree compared with the old one on the given rows, if they have labels.
    """

    old: TreeClassifier
    new: TreeClassifier
    same_tests: bool
    identical: bool
    rules: tuple[RuleChange, ...]
    leaves: LeafChanges | None
    n_rows: int
    changed: float | None
    flows: Flows | None
    comparison: Comparison | None

    @property
    def headline(self) -> str:
        """The result in one sentence."""
        if self.identical:
            return "The two trees are the same: same tests, same decisions, same class counts."
        if self.same_tests and self.changed == 0:
            return "The two trees have the same tests and decide the same; other counts differ."
        if self.changed is not None:
            of = f"{self.n_rows:,} rows" if self.n_rows else "the rows in the leaves"
            if self.changed == 0:
                return f"No decision changes for these {of}, although the rules differ."
            return f"The decision changes for {percent(self.changed)} of {of}."
        n = count_of(len(self.rules), "difference")
        return f"The rules of the two trees have {n}. Give rows to see whose decision changes."

    def sentences(self) -> list[str]:
        """Return the result in sentences."""
        lines = [self.headline]
        if not self.identical:
            sizes = [leaves_in_words(one.tree_.n_leaves) for one in (self.old, self.new)]
            size = f"Both trees have {sizes[0]}."
            if sizes[0] != sizes[1]:
                size = f"The old tree has {sizes[0]}, the new one {sizes[1]}."
            lines += [size, *self._columns(), *map(str, self.rules), *self._flags()]
        if self.comparison is not None and self.rules:  # else both decide every row alike
            lines.append(self.comparison.sentence)
        return lines

    def _columns(self) -> Iterator[str]:
        used = [
            {one.model_.schema.names[index] for index in one.tree_.feature.tolist() if index >= 0}
            for one in (self.old, self.new)
        ]
        for names, text in (
            (sorted(used[1] - used[0]), "The new tree also asks for"),
            (sorted(used[0] - used[1]), "The new tree no longer asks for"),
        ):
            if names:
                yield f"{text} {', '.join(names)}."

    def _flags(self) -> Iterator[str]:
        if self.leaves is None:
            return
        table = self.leaves
        for chosen, text in (
            (table.flagged_after & ~table.flagged_before, "is flagged now, and was not"),
            (table.flagged_before & ~table.flagged_after, "was flagged, and is not any more"),
        ):
            for line in np.flatnonzero(chosen).tolist():
                sure = percent(float(table.confidence_after[line]))
                yield (
                    f"Leaf {table.leaf[line]} ({table.rule[line]}) {text}: confidence {sure}, "
                    f"{table.n_after[line]:,.4g} rows."
                )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, and for the page."""
        return {
            "schema": SCHEMA,
            "identical": self.identical,
            "same_tests": self.same_tests,
            "changed": self.changed,
            "rows": self.n_rows,
            "classes": json_value(self.old.classes_),
            "sentences": self.sentences(),
            "rules": [{**vars(one), "sentence": str(one)} for one in self.rules],
            "leaves": None if self.leaves is None else self.leaves.records(),
            "flows": None if self.flows is None else self.flows.records(),
            "comparison": self.comparison and json_value(self.comparison.to_dict()),
            "old": _outline(self.old.model_, self.flows, "old_leaf"),
            "new": _outline(self.new.model_, self.flows, "new_leaf"),
        }

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    __repr__ = __str__


def diff(
    old: TreeClassifier,
    new: TreeClassifier,
    X: Any = None,
    y: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    *,
    margin: float = 0.0,
    level: float = 0.95,
) -> Diff:
    """Say what changes from one tree to another.

    Parameters
    ----------
    old, new : TreeClassifier
        Fitted trees for the same classes; their columns may differ.
    X : table, optional
        Rows, whose decisions are compared.
    y : array-like, optional
        Their labels, which tell which tree is better. A tree that these rows grew is judged by
        trees that are grown like it without the row.
    cost : array-like, optional
        ``cost[actual][predicted]``, classes sorted: both trees decide by it, and are compared by
        it. By default each tree decides by its own, and they are compared by cost if both have the
        same, else by accuracy.
    margin, level
        As for `sureleaf.compare`.

    Examples
    --------
    >>> import sureleaf
    >>> tree = sureleaf.TreeClassifier().fit([[i] for i in range(40)], [0] * 20 + [1] * 20)
    >>> sureleaf.diff(tree, tree)
    The two trees are the same: same tests, same decisions, same class counts.
    >>> other = sureleaf.TreeClassifier().fit([[i] for i in range(40)], [0] * 22 + [1] * 18)
    >>> print(sureleaf.diff(tree, other, [[i] for i in range(40)]))
    The decision changes for 5.0 % of 40 rows.
    Both trees have 2 leaves.
    At the root (100 % of the rows), the threshold moves: x0 <= 21 in place of x0 <= 19.
    """
    check_tree("old", old)
    check_tree("new", new)
    if y is not None and X is None:
        raise InvalidArgumentError("X and y must be given together; got y without X. Give both.")
    classes = [sorted(map(repr, one.classes_.tolist())) for one in (old, new)]
    if classes[0] != classes[1]:
        raise InvalidArgumentError(
            "old and new must have the same classes; got "
            f"{', '.join(classes[0][:8])} and {', '.join(classes[1][:8])}."
        )
    if cost is not None:
        old, new = (one.with_cost(cost_rule(cost, one.classes_).cost) for one in (old, new))
    before, after = old.complete_model(), new.complete_model()
    flows, changed, path = None, None, None
    if X is not None:
        tables = [encoded_rows(one, X) for one in (old, new)]
        flows = _flows((before, after), tables, y)
        changed = float(flows.n_changed.sum() / flows.n.sum())
        passed = before.decision_path(tables[0])
        path = np.asarray(passed.sum(axis=0)).ravel() / passed.shape[0]
    rules = tuple(sorted(_rule_changes(before, after, path), key=lambda one: -one.share))
    same_tests = all(one.kind == "decision" for one in rules)
    leaves = _leaf_changes(before, after) if same_tests else None
    if leaves is not None and changed is None:
        changed = float(leaves.n_after[leaves.changed].sum() / leaves.n_after.sum())
    return Diff(
        old,
        new,
        same_tests,
        not rules and np.array_equal(before.tree.class_counts, after.tree.class_counts),
        rules,
        leaves,
        0 if flows is None else int(flows.n.sum()),
        changed,
        flows,
        None if y is None else _comparison(old, new, X, y, margin, level),
    )


def _comparison(
    old: TreeClassifier, new: TreeClassifier, X: Any, y: ArrayLike, margin: float, level: float
) -> Comparison:
    cost, other = (one.model_.cost for one in (old, new))
    at_costs = cost is not None and other is not None and np.array_equal(cost, other)
    return compare_trees(
        new,
        old,
        X,
        y,
        measure="cost" if at_costs else "accuracy",
        cost=cost if at_costs else None,
        margin=margin,
        level=level,
    )


# ---- decisions of rows ---------------------------------------------------------------------------


def _flows(
    models: tuple[TreeModel, TreeModel], tables: list[EncodedTable], y: ArrayLike | None
) -> Flows:
    decisions = [one.predict(each) for one, each in zip(models, tables, strict=True)]
    leaf = [one.apply(each) for one, each in zip(models, tables, strict=True)]
    if not len(leaf[0]):
        raise InvalidArgumentError("X must have rows; got none.")
    pairs, pair = np.unique(np.column_stack(leaf), axis=0, return_inverse=True)
    pair = pair.reshape(-1)
    n = np.bincount(pair)
    correct = [np.full(len(n), np.nan)] * 2
    if y is not None:
        labels = np.asarray(y)
        if len(labels) != len(pair):
            raise InvalidArgumentError(
                f"X and y must have the same number of rows; got {len(pair)} and {len(labels)}."
            )
        correct = [np.bincount(pair, one == labels, len(n)) for one in decisions]
    order = np.argsort(-n, kind="stable")
    return Flows(
        old_leaf=pairs[order, 0].astype(np.intp),
        new_leaf=pairs[order, 1].astype(np.intp),
        n=n[order],
        share=n[order] / len(pair),
        n_changed=np.bincount(pair, decisions[0] != decisions[1], len(n)).astype(np.intp)[order],
        old_correct=correct[0][order],
        new_correct=correct[1][order],
    )


# ---- rules ---------------------------------------------------------------------------------------


def _rule_changes(
    before: TreeModel, after: TreeModel, passed: FloatArray | None
) -> Iterator[RuleChange]:
    """Walk down both trees together, and yield where they differ."""
    weight = before.tree.class_counts.sum(axis=1)
    share = weight / max(weight[0], 1e-300) if passed is None else passed
    names = [
        [str(label) for label in one.classes[one.predicted_classes].tolist()]
        for one in (before, after)
    ]
    pending: list[tuple[int, int, tuple[str, ...]]] = [(0, 0, ())]
    while pending:
        old, new, path = pending.pop()
        tests = [_tests(one, node) for one, node in ((before, old), (after, new))]
        said = [
            test[0] if test else names[k][node]
            for k, (test, node) in enumerate(zip(tests, (old, new), strict=True))
        ]
        kind, branches = _difference(before, after, old, new, tests)
        if kind is None and not tests[0] and said[0] != said[1]:
            kind = "decision"
        if kind is not None:
            where = join_tests(list(path)) if path else ""
            yield RuleChange(kind, where, said[0], said[1], float(share[old]), old, new)
        of_old, of_new = before.tree.branches(old).tolist(), after.tree.branches(new).tolist()
        for one, other in reversed(branches):
            pending.append((of_old[one], of_new[other], (*path, tests[0][one])))


def _difference(
    before: TreeModel, after: TreeModel, old: int, new: int, tests: list[list[str]]
) -> tuple[Kind | None, list[tuple[int, int]]]:
    """Return how two nodes differ, and the pairs of branches to go on with."""
    if not tests[0] or not tests[1]:
        kinds: dict[tuple[bool, bool], Kind] = {(False, True): "added", (True, False): "removed"}
        return kinds.get((bool(tests[0]), bool(tests[1]))), []
    first, second = before.tree, after.tree
    columns = [_column(before, old), _column(after, new)]
    if columns[0].name != columns[1].name:
        return "replaced", []
    same_missing = first.missing_branch[old] == second.missing_branch[new]
    together = [(k, k) for k in range(len(tests[0]))]
    if tests[0] == tests[1] and same_missing:
        return None, together
    if first.tests_missing(old) or second.tests_missing(new):
        return "replaced", []
    if all(column.kind != "categorical" for column in columns):
        moved = first.threshold[old] != second.threshold[new]
        return "moved" if moved else "regrouped", together
    if len(tests[0]) != 2 or len(tests[1]) != 2:
        return "regrouped", []
    return "regrouped", _matching(before, after, old, new)


def _matching(before: TreeModel, after: TreeModel, old: int, new: int) -> list[tuple[int, int]]:
    """Pair the two branches of categories by those that they have in common."""
    branch_of = [
        dict(zip(_column(one, node).categories, one.tree.categories(node).tolist(), strict=True))
        for one, node in ((before, old), (after, new))
    ]
    common = [
        (branch_of[0][category], branch_of[1][category])
        for category in branch_of[0]
        if branch_of[1].get(category, -1) >= 0 and branch_of[0][category] >= 0
    ]
    straight = sum(one == other for one, other in common)
    return [(0, 0), (1, 1)] if 2 * straight >= len(common) else [(0, 1), (1, 0)]


def _tests(model: TreeModel, node: int) -> list[str]:
    if model.tree.is_leaf[node]:
        return []
    return branch_tests(model.tree, node, _column(model, node))


def _column(model: TreeModel, node: int) -> Column:
    return model.schema.columns[int(model.tree.feature[node])]


# ---- leaves --------------------------------------------------------------------------------------


def _leaf_changes(before: TreeModel, after: TreeModel) -> LeafChanges:
    """Return the leaves of both trees side by side; they are in the same order."""
    tables = [_known_leaves(one) for one in (before, after)]
    leaves, rules = after.tree.leaf_ids, leaf_rules(after.tree, after.schema)
    decisions = [one.classes[one.predicted_classes[one.tree.leaf_ids]] for one in (before, after)]
    unknown = np.full(len(leaves), np.nan)

    known: dict[str, Any] = {}
    for table, when in zip(tables, ("before", "after"), strict=True):
        for name in ("confidence", "utility"):
            known[f"{name}_{when}"] = unknown if table is None else getattr(table, name)
        known[f"flagged_{when}"] = np.isfinite(unknown) if table is None else table.flagged

    return LeafChanges(
        leaf=leaves,
        rule=np.array([rules[leaf] for leaf in leaves.tolist()], dtype=object),
        n_before=before.leaf_counts.n,
        n_after=after.leaf_counts.n,
        before=decisions[0],
        after=decisions[1],
        changed=decisions[0] != decisions[1],
        **known,
    )


def _known_leaves(model: TreeModel) -> LeafTable | None:
    return model.leaves() if model.has_levels else None


def _outline(model: TreeModel, flows: Flows | None, side: str) -> list[dict[str, Any]]:
    """Return the nodes of a tree in preorder, as lines of an outline."""
    tree, table = model.tree, _known_leaves(model)
    line_of = {leaf: line for line, leaf in enumerate(tree.leaf_ids.tolist())}
    n = tree.class_counts.sum(axis=1)
    if flows is not None:
        n = np.bincount(getattr(flows, side), flows.n, tree.n_nodes)
    test_of = {0: ""}
    rules = leaf_rules(tree, model.schema)
    lines = []
    for node in range(tree.n_nodes):  # parents come before their children
        children = tree.branches(node).tolist()
        test_of.update(zip(children, _tests(model, node), strict=True))
        line: dict[str, Any] = {
            "node": node,
            "depth": int(tree.node_depth[node]),
            "test": test_of[node],
            "leaf": not children,
        }
        if not children:
            predicted = int(model.predicted_classes[node])
            line |= {
                "rule": rules[node],
                "n": float(n[node]),
                "prediction": json_value(model.classes[predicted]),
                "class": predicted,
            }
            for name in ("confidence", "utility", "flagged"):
                value = None if table is None else getattr(table, name)[line_of[node]]
                line[name] = json_value(value)
        lines.append(line)
    return lines
