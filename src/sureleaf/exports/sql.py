"""A tree as a query that returns probabilities and prediction for each row of a table.

If each row ends in one node, a nested CASE finds this node, and a table of the nodes has their
probabilities and predictions. The query then takes time that grows with the depth of the tree.

A row with a missing value may end in several nodes (C4.5's fractional rows), and so may a row with
an unseen category. Then a CASE for each node computes the share of the row that reaches it: 1, 0 or
a fraction. The probability of a class is the sum of its probabilities in these nodes, weighted by
the shares and added in the same order as in the model. In large trees, only the rows that do end in
several nodes are computed in this way.

In all forms, each step of the query computes some levels of the tree from the step before. So the
query grows with the number of nodes, and not with the combinations of missing values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Any, Final

from numpy.typing import NDArray

import sureleaf
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.sql_dialects import DIALECTS, SqlDialect
from sureleaf.exports.tree_view import NodeTest, TreeView, label_texts, plain_labels, view_tree
from sureleaf.levels.decisions import TIE
from sureleaf.table import Column
from sureleaf.tree.structure import leaves_in_words

# ---- tests of a tree as conditions ---------------------------------------------------------------

UNSEEN_CODE: Final = -2
"""Code of an unseen category, if it is not handled like a missing value."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """SQL conditions of the branches of a tree.

    Column ``v3`` of the query has the number or category code of column 3 of the table.
    """

    view: TreeView
    dialect: SqlDialect

    @cached_property
    def _unseen_is_missing(self) -> bool:
        """Whether unseen categories and missing values are handled in the same way."""
        takes_branch = any(t.missing_branch is not None for t in self.view.tests.values())
        return self.view.model.unseen == "mixture" and not takes_branch

    def code(self, column: Column, value: str) -> str:
        """Map categories to codes; a missing value is NULL.

        An unseen category is NULL, too, if it is handled like a missing value.
        """
        known = " ".join(
            f"WHEN {self.dialect.category(column, category)} THEN {code}"
            for code, category in enumerate(column.categories)
        )
        if self._unseen_is_missing:
            return f"CASE {value} {known} END" if known else "CAST(NULL AS INTEGER)"
        if not known:
            return f"CASE WHEN {value} IS NOT NULL THEN {UNSEEN_CODE} END"
        code = f"CASE {value} {known} ELSE {UNSEEN_CODE} END"
        return f"CASE WHEN {value} IS NOT NULL THEN {code} END"

    def skips(self, test: NodeTest, branch: int) -> str:
        """Return the condition that no part of a row takes the branch."""
        if test.threshold == inf:
            return self.takes(test, 1 - branch)
        known = self._takes_other(test, branch)
        is_for_missing = test.missing_branch is None or test.missing_branch == branch
        return known if is_for_missing else f"{known} OR v{test.column_index} IS NULL"

    def _takes_other(self, test: NodeTest, branch: int) -> str:
        """Return the condition that a known value takes another branch, or none."""
        if test.threshold is not None:
            return self.takes(test, 1 - branch)
        value = f"v{test.column_index}"
        others = [code for i, codes in enumerate(test.codes) if i != branch for code in codes]
        if self.view.model.unseen == "stop":
            others += self._unknown(test)
        n_categories = len(self.view.column(test).categories)
        taken = {UNSEEN_CODE, *range(n_categories)} - set(others)
        if len(others) > len(taken) + 1:
            return _among(value, sorted(taken), "NOT ")
        return _among(value, sorted(others))

    def takes_several(self, test: NodeTest) -> str:
        """Return the condition that a row takes several branches; "" if none does."""
        value = f"v{test.column_index}"
        cases = [f"{value} IS NULL"] if test.missing_branch is None else []
        if test.threshold is None and self.view.model.unseen != "stop":
            unknown = self._unknown(test)
            if self._unseen_is_missing or self.view.model.unseen == "error":
                unknown = unknown[1:]
            cases += [_among(value, unknown)] if unknown else []
        return " OR ".join(cases)

    def fraction(self, test: NodeTest, branch: int) -> str | None:
        """Return the share of a row that takes the branch; None if it is always 1."""
        several = self.takes_several(test)
        if not several:
            return None
        part, whole = self.dialect.number(test.shares[branch]), self.dialect.number(1.0)
        return f"CASE WHEN {several} THEN {part} ELSE {whole} END"

    def takes(self, test: NodeTest, branch: int) -> str:
        """Return the condition that a known value takes the branch."""
        value = f"v{test.column_index}"
        if test.threshold == inf:
            return f"{value} IS {'NOT ' if branch == 0 else ''}NULL"
        if test.threshold is not None:
            return f"{value} {'<=' if branch == 0 else '>'} {self.dialect.number(test.threshold)}"
        return _among(value, test.codes[branch])

    def stops(self, test: NodeTest) -> str:
        """Return the condition that a row stops at the test for an unseen category."""
        return _among(f"v{test.column_index}", self._unknown(test))

    def passes(self, test: NodeTest) -> str:
        """Return the condition that a row does not stop at the test for an unseen category."""
        codes = ", ".join(map(str, self._unknown(test)))
        return f"(v{test.column_index} IN ({codes})) IS NOT TRUE"

    def is_error(self) -> str:
        """Return the condition that the model raises an error for a row; "" if it never does."""
        if self.view.model.unseen != "error":
            return ""
        columns = self.view.model.schema.columns
        coded = [index for index in self.view.needed_columns if columns[index].is_coded]
        return " OR ".join(f"COALESCE(v{index}, 0) = {UNSEEN_CODE}" for index in coded)

    def _unknown(self, test: NodeTest) -> list[int]:
        """Return the codes of categories that the node has not seen."""
        seen = {code for codes in test.codes for code in codes}
        all_codes = range(len(self.view.column(test).categories))
        return [UNSEEN_CODE, *(code for code in all_codes if code not in seen)]


def _among(value: str, codes: Sequence[int], negation: str = "") -> str:
    if len(codes) == 1:
        return f"{value} {'<>' if negation else '='} {codes[0]}"
    if not codes:  # always or never, if not NULL
        return f"{value} {'>=' if negation else '<'} {2 * UNSEEN_CODE}"
    return f"{value} {negation}IN ({', '.join(map(str, codes))})"


# ---- the query -----------------------------------------------------------------------------------

_LEVELS_PER_STEP: Final = 4
_MAX_ENDS: Final = 600
"""Nodes whose shares are columns of one step; PostgreSQL allows 1664 columns, SQLite 2000."""

_FEW_LEAVES: Final = 50
"""Up to so many leaves, all rows are computed by shares, for which PostgreSQL takes 0.1 ms per row
and hundred leaves. In larger trees, rows that end in one node are looked up."""

_SEVERAL: Final = -1
"""Node of the rows that take several branches of a test."""

_NESTED_LEVELS: Final = 10
"""Levels of one nested CASE; SQLite's parser has a stack of 100 entries."""

_MAX_COLUMNS: Final = 1600
_MAX_TERMS: Final = 300
"""Terms of one sum; SQLite and DuckDB allow expressions nested up to 1000 deep."""

_MAX_RULES: Final = 200
"""Number of leaves up to which the query has their rules as comments."""


def to_sql(
    model: Any, *, dialect: str = "duckdb", table: str = "data", keep: Sequence[str] = ()
) -> str:
    """Write a tree as one SELECT over a table.

    Parameters
    ----------
    model : TreeClassifier
        Fitted.
    dialect : {"duckdb", "sqlite", "postgresql", "spark"}
        The database of the query.
    table : str
        Name of the table, or schema and table joined by a dot.
    keep : sequence of str
        Columns of the table to return as well, for example its key.

    Returns
    -------
    str
        A query that returns the kept columns, `prediction` (with costs, the decision of least
        expected cost), and one column per class named `p_` and the label. NULL and NaN are missing
        values. Unseen categories are handled by the model's `unseen`; if that is "error",
        prediction and probabilities of the row are NULL.

    Raises
    ------
    InvalidArgumentError
        If the dialect is unknown, or the tree has too many branches for a query.

    Examples
    --------
    >>> import sqlite3
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier.c45().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE days (x0 REAL)")
    >>> _ = database.execute("INSERT INTO days VALUES (5.0), (25.0), (NULL)")
    >>> query = to_sql(model, dialect="sqlite", table="days", keep=["x0"])
    >>> [row[:2] for row in database.execute(query)]
    [(5.0, 'no'), (25.0, 'yes'), (None, 'no')]
    >>> database.close()
    """
    if not isinstance(dialect, str) or dialect not in DIALECTS:
        raise InvalidArgumentError(
            f"dialect must be one of {', '.join(DIALECTS)}; got {dialect!r}."
        )
    if isinstance(keep, str):
        raise InvalidArgumentError(
            f"keep must be a list of columns; got the text {keep!r}. Did you mean [{keep!r}]?"
        )
    conditions = Conditions(view_tree(model, "SQL"), DIALECTS[dialect])
    _check_names(keep, conditions)
    view = conditions.view
    form: type[_Query] = _MixedQuery
    if not any(conditions.takes_several(test) for test in view.tests.values()):
        form = _PathQuery
    elif view.model.tree.n_leaves <= _FEW_LEAVES:
        form = _ShareQuery
    return form(conditions, table, tuple(keep)).text()


def _check_names(keep: Sequence[str], conditions: Conditions) -> None:
    """Check that the columns of the result have different names."""
    taken = {"prediction", *_column_names(conditions.view.model.classes)}
    fold = str.casefold if conditions.dialect.ignores_case else str
    folded = set(map(fold, taken))
    for name in keep:
        if fold(name) in folded:
            raise InvalidArgumentError(
                f"keep must name different columns, and none that the query writes; got {name!r}. "
                f"Rename it in a view of the table; the query writes {', '.join(sorted(taken))}."
            )
        folded.add(fold(name))


class _Query:
    """The steps of a query; each step reads the one before."""

    def __init__(self, conditions: Conditions, table: str, keep: tuple[str, ...]) -> None:
        self.conditions, self.keep = conditions, keep
        self.view, self.dialect = conditions.view, conditions.dialect
        self.model = self.view.model
        self.table = ".".join(self.dialect.name_of(part) for part in table.split("."))
        self.base = [f"k{i}" for i in range(len(keep))] + [
            f"v{index}" for index in self.view.needed_columns
        ]
        self.sums = [f"p{k}" for k in range(len(self.model.classes))]
        self.steps: list[tuple[str, str]] = []

    def text(self) -> str:
        """Return the query."""
        raise NotImplementedError

    def _encode(self, *more: str) -> None:
        """Add the step that reads the columns as numbers and category codes."""
        columns = [f"t.{self.dialect.name_of(name)} AS k{i}" for i, name in enumerate(self.keep)]
        for index in self.view.needed_columns:
            column = self.model.schema.columns[index]
            value = self.dialect.value(column, f"t.{self.dialect.name_of(column.name)}")
            if column.is_coded:
                value = self.conditions.code(column, value)
            columns.append(f"{value} AS v{index}")
        self._step([*columns, *more], f"{self.table} AS t")

    def _step(self, columns: Sequence[str], source: str | None = None) -> None:
        if len(columns) > _MAX_COLUMNS:
            raise InvalidArgumentError(
                f"model must need at most {_MAX_COLUMNS} columns at once for an export to SQL; got "
                f"{len(columns)}. Export to 'python', or prune the tree: "
                "model.prune(n_leaves=500)."
            )
        listed = ",\n    ".join(columns)
        before = source or self.steps[-1][0]
        self.steps.append((f"s{len(self.steps)}", f"  SELECT\n    {listed}\n  FROM {before}"))

    def _stops(self, node: int) -> bool:
        """Whether rows with an unseen category end in the node."""
        test = self.view.tests.get(node)
        return self.model.unseen == "stop" and test is not None and test.threshold is None

    def _select(self, values: Sequence[str], source: str, of: str = "") -> str:
        """Return the SELECT of the kept columns, the prediction and the probabilities."""
        name_of = self.dialect.name_of
        kept = [f"{of}k{i} AS {name_of(name)}" for i, name in enumerate(self.keep)]
        names = ["prediction", *map(name_of, _column_names(self.model.classes))]
        named = [
            value if value == name else f"{value} AS {name}"
            for value, name in zip(values, names, strict=True)
        ]
        listed = ",\n  ".join([*kept, *named])
        return f"SELECT\n  {listed}\nFROM {source}"

    def _written(self, result: str, *tables: str) -> str:
        """Return the query of all steps, further tables and the result."""
        title = (
            f"-- A decision tree of {leaves_in_words(self.model.tree.n_leaves)}, written by "
            f"sureleaf {sureleaf.__version__} for {self.dialect.name}."
        )
        steps = [f"{name} AS{self.dialect.materialized} (\n{body}\n)" for name, body in self.steps]
        listed = ",\n".join([*steps, *tables])
        return f"{title}\nWITH {listed}\n{result}\n"


class _PathQuery(_Query):
    """A query for trees in which each row ends in one node; column ``node`` has its number."""

    def text(self) -> str:
        self._encode("0 AS node")
        self._find_nodes()
        return self._written(self._result(), self._ends())

    def _find_nodes(self) -> None:
        """Add the steps that find the node of each row."""
        lower: list[int] = []
        is_error = self.conditions.is_error()
        if self.view.tests or is_error:
            node = self._nested(0, lower)
            if is_error:
                node = f"CASE WHEN NOT ({is_error}) THEN {node} END"
            self._step([*self.base, f"{node} AS node"])
        while lower:
            roots, lower = lower, []
            cases = " ".join(f"WHEN {root} THEN {self._nested(root, lower)}" for root in roots)
            self._step([*self.base, f"CASE node {cases} ELSE node END AS node"])

    def _nested(self, node: int, lower: list[int], depth: int = 0) -> str:
        """Return the CASE that finds the node of a row; `lower` gets nodes that are too deep."""
        test = self.view.tests.get(node)
        if test is None or depth == _NESTED_LEVELS:
            lower += [node] if test is not None else []
            return str(node)
        line = "\n    " + "  " * depth
        cases = []
        if self._stops(node):
            cases.append(f"WHEN {self.conditions.stops(test)} THEN {node}")
        if several := self.conditions.takes_several(test):
            cases.append(f"WHEN {several} THEN {_SEVERAL}")
        # A missing value satisfies no condition, so its branch comes last.
        last = test.missing_branch or 0
        for branch, child in enumerate(test.children):
            if branch != last:
                below = self._nested(child, lower, depth + 1)
                cases.append(f"WHEN {self.conditions.takes(test, branch)} THEN {below}")
        cases.append(f"ELSE {self._nested(test.children[last], lower, depth + 1)}")
        return "".join(["CASE", *(f"{line}  {case}" for case in cases), f"{line}END"])

    def _ends(self) -> str:
        """Return the table of the nodes where rows can end."""
        labels = [self.dialect.label(label) for label in _sql_labels(self.model.classes)]
        rules = self.view.rules if self.model.tree.n_leaves <= _MAX_RULES else {}
        nodes = range(self.model.tree.n_nodes)
        ends = [node for node in nodes if node not in self.view.tests or self._stops(node)]
        lines = []
        for node in ends:
            label = labels[int(self.model.predicted_classes[node])]
            numbers = map(self.dialect.number, self.model.probabilities[node].tolist())
            comma = "," if node != ends[-1] else ""
            rule = f"  {self.dialect.comment(rules[node])}" if node in rules else ""
            lines.append(f"({node}, {label}, {', '.join(numbers)}){comma}{rule}")
        listed = "\n    ".join(lines)
        return f"ends(node, prediction, {', '.join(self.sums)}) AS (\n  VALUES\n    {listed}\n)"

    def _result(self) -> str:
        last = self.steps[-1][0]
        source = f"{last} LEFT JOIN ends ON ends.node = {last}.node"
        return self._select(["prediction", *self.sums], source)


class _ShareQuery(_Query):
    """A query for trees in which a row can end in several nodes.

    Column ``w7`` has the share of the row that reaches node 7, and ``e7`` the share that stops
    there because node 7 has not seen the category.
    """

    is_summed = False

    def text(self) -> str:
        self._encode(f"{self.dialect.number(1.0)} AS w0")
        self.add_sums()
        return self._written(self._result())

    def add_sums(self) -> None:
        """Add the steps from the share 1 of the root to the probability of each class."""
        groups = self._groups()
        self._descend([0], [name for group in groups for name in group], [])
        for index, group in enumerate(groups):
            later = [name for other in groups[index + 1 :] for name in other]
            roots = [int(name[1:]) for name in group if name[0] == "w"]
            ends = [end for name in group for end in self._ends(name)]
            stopped = [name for name in group if name[0] == "e"]
            self._descend(roots, ends, later + stopped)
            self._sum(ends, later)

    # ---- where rows end -----------------------------------------------------------------------

    def _ends(self, name: str) -> list[str]:
        """Return the columns of all nodes below where rows can end, in the model's order."""
        if name[0] == "e":
            return [name]
        ends, pending = [], [int(name[1:])]
        while pending:
            node = pending.pop()
            test = self.view.tests.get(node)
            if self._stops(node):
                ends.append(f"e{node}")
            if test is None:
                ends.append(f"w{node}")
            else:
                pending += reversed(test.children)
        return ends

    def _groups(self) -> list[list[str]]:
        """Group subtrees, in the model's order, so that each group fits into one step."""
        n_ends = [0] * self.model.tree.n_nodes
        for node in range(len(n_ends) - 1, -1, -1):  # children come after their parent
            test = self.view.tests.get(node)
            n_below = 1 if test is None else sum(n_ends[child] for child in test.children)
            n_ends[node] = n_below + self._stops(node)
        groups: list[list[str]] = [[]]
        n_free, pending = _MAX_ENDS, [0]
        while pending:
            node = pending.pop()
            is_whole = n_ends[node] <= _MAX_ENDS
            if is_whole or self._stops(node):
                size = n_ends[node] if is_whole else 1
                if size > n_free:
                    groups.append([])
                    n_free = _MAX_ENDS
                groups[-1].append(f"{'w' if is_whole else 'e'}{node}")
                n_free -= size
            if not is_whole:
                pending += reversed(self.view.tests[node].children)
        return groups

    # ---- the share of the row in each node ----------------------------------------------------

    def _descend(self, roots: list[int], targets: list[str], kept: list[str]) -> None:
        """Compute the shares of the targets from their roots, some levels per step."""
        wanted = set(targets)
        done = [f"w{node}" for node in roots if f"w{node}" in wanted]
        frontier = [n for n in roots if n in self.view.tests and f"w{n}" not in wanted]
        carried = [*self.base, *(self.sums if self.is_summed else []), *kept]
        while frontier:
            shares: dict[str, str] = {}
            lower: list[int] = []
            for root in frontier:
                self._add_shares(root, wanted, shares, lower)
            self._step([*carried, *done, *shares.values()])
            done += [name for name in shares if name in wanted]
            frontier = lower

    def _add_shares(
        self, root: int, wanted: set[str], shares: dict[str, str], lower: list[int]
    ) -> None:
        """Add the shares of the nodes some levels below a root; `lower` gets the last of them."""
        pending: list[tuple[int, int, list[str], str]] = [(root, 0, [], f"w{root}")]
        while pending:
            node, depth, skipped, share = pending.pop()
            name = f"w{node}"
            if node != root and (name in wanted or depth == _LEVELS_PER_STEP):
                shares[name] = self._share(root, name, skipped, share)
                if name not in wanted:
                    lower.append(node)
                continue
            test = self.view.tests[node]
            if f"e{node}" in wanted:
                passes = [*skipped, self.conditions.passes(test)]
                shares[f"e{node}"] = self._share(root, f"e{node}", passes, share)
            for branch in reversed(range(len(test.children))):
                below = [*skipped, self.conditions.skips(test, branch)]
                fraction = self.conditions.fraction(test, branch)
                part = share if fraction is None else f"{share} * {fraction}"
                pending.append((test.children[branch], depth + 1, below, part))

    def _share(self, root: int, name: str, skipped: list[str], share: str) -> str:
        zero = self.dialect.number(0.0)
        is_zero = " OR ".join([f"w{root} = {zero}", *skipped])
        node = int(name[1:])
        comment = ""
        if node not in self.view.tests and self.model.tree.n_leaves <= _MAX_RULES:
            comment = f"{self.dialect.comment(self.view.rules[node])}\n    "
        return f"{comment}CASE WHEN {is_zero} THEN {zero} ELSE {share} END AS {name}"

    def _sum(self, ends: list[str], later: list[str]) -> None:
        """Add the probabilities of these ends to the sums, in order."""
        for begin in range(0, len(ends), _MAX_TERMS):
            now, rest = ends[begin : begin + _MAX_TERMS], ends[begin + _MAX_TERMS :]
            sums = []
            for k, name in enumerate(self.sums):
                of_node = self.model.probabilities[:, k]
                terms = [f"{end} * {self.dialect.number(of_node[int(end[1:])])}" for end in now]
                sums.append(f"{' + '.join([name, *terms] if self.is_summed else terms)} AS {name}")
            self._step([*self.base, *sums, *later, *rest])
            self.is_summed = True

    # ---- the result ---------------------------------------------------------------------------

    def _result(self) -> str:
        values = [self.choice(), *self.sums]
        if is_error := self.conditions.is_error():
            values = [f"CASE WHEN NOT ({is_error}) THEN {value} END" for value in values]
        return self._select(values, self.steps[-1][0])

    def choice(self) -> str:
        """Return the prediction that follows from the probabilities."""
        labels = [self.dialect.label(label) for label in _sql_labels(self.model.classes)]
        if len(labels) == 1:
            return labels[0]
        cases = [
            f"WHEN {' AND '.join(self._is_not_worse(k, j) for j in range(k + 1, len(labels)))} "
            f"THEN {label}"
            for k, label in enumerate(labels[:-1])
        ]
        return f"CASE {' '.join(cases)} ELSE {labels[-1]} END"

    def _is_not_worse(self, k: int, j: int) -> str:
        """Return the condition that class k is predicted rather than a later class j."""
        number = self.dialect.number
        if self.model.rule is None:
            return f"p{k} >= p{j} - {number(TIE)}"
        more = self.model.rule.regret[:, k] - self.model.rule.regret[:, j]
        terms = [f"p{a} * {number(float(cost))}" for a, cost in enumerate(more) if cost]
        return f"{' + '.join(terms) or number(0.0)} <= {number(TIE)}"


class _MixedQuery(_PathQuery):
    """A query for large trees in which some rows end in several nodes.

    A nested CASE finds the node of the other rows, in time that grows with the depth. Only rows
    that take several branches, because of a missing value or an unseen category, go through the
    shares of all nodes. Column ``r`` numbers the rows, so that the two parts can be joined; Spark
    has no such number, so there the result is the union of the two parts.
    """

    def text(self) -> str:
        self._encode("0 AS node", *(["row_number() OVER () AS r"] * self.dialect.numbers_rows))
        self.base += ["r"] * self.dialect.numbers_rows
        self._find_nodes()
        self.found = self.steps[-1][0]
        shares = _ShareQuery(self.conditions, self.table, self.keep)
        shares.base, shares.steps = self.base, self.steps
        root = f"{self.dialect.number(1.0)} AS w0"
        self._step([*self.base, root], f"{self.found} WHERE node = {_SEVERAL}")
        shares.add_sums()
        key = ["r"] if self.dialect.numbers_rows else [f"k{i}" for i in range(len(self.keep))]
        self._step([*key, f"{shares.choice()} AS prediction", *self.sums])
        return self._written(self._result(), self._ends())

    def _result(self) -> str:
        found, mixed = self.found, self.steps[-1][0]
        if not self.dialect.numbers_rows:
            ends = f"{found} LEFT JOIN ends ON ends.node = {found}.node\n"
            rest = f"WHERE {found}.node IS NULL OR {found}.node <> {_SEVERAL}"
            parts = (f"{ends}{rest}", mixed)
            return "\nUNION ALL\n".join(
                self._select(["prediction", *self.sums], part) for part in parts
            )
        values = [f"COALESCE(ends.{v}, {mixed}.{v})" for v in ["prediction", *self.sums]]
        source = (
            f"{found}\nLEFT JOIN ends ON ends.node = {found}.node\n"
            f"LEFT JOIN {mixed} ON {mixed}.r = {found}.r"
        )
        return self._select(values, source, f"{found}.")


def _sql_labels(classes: NDArray[Any]) -> list[Any]:
    """Return numbers and bools as they are, other labels as text."""
    return [
        label if isinstance(label, bool | int | float | str) else text
        for label, text in zip(plain_labels(classes), label_texts(classes), strict=True)
    ]


def _column_names(classes: NDArray[Any]) -> list[str]:
    """Name the probabilities after the labels, or by index if databases would confuse them."""
    named = [f"p_{text}" for text in label_texts(classes)]
    are_valid = all(len(name.encode()) <= 63 and "\0" not in name for name in named)
    are_distinct = len({name.casefold() for name in named}) == len(named)
    return named if are_valid and are_distinct else [f"p_{k}" for k in range(len(named))]
