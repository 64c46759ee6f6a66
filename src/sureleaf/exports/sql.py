"""A tree as a query that gives each row of a table its probabilities and prediction.

Each node where a row can end gets the row's share that reaches it, by CASE: 1 or 0, or less where
values are missing. A class's probability is the sum of its probabilities in these nodes, weighted
by the shares, in the order in which the model itself adds them up. Shares are found a few levels
of the tree at a time, each step reading the one before, so the query grows with the nodes, and
never with the ways that missing values can combine.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import sureleaf
from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.node_tests import FittedTree, NodeTest, fitted_tree
from sureleaf.exports.node_text import label_texts, plain_labels
from sureleaf.exports.sql_dialects import DIALECTS, Dialect
from sureleaf.table import Column
from sureleaf.tree.structure import leaves_in_words

__all__ = ["UNSEEN_CODE", "Conditions", "to_sql"]


# What a test of a tree reads like in SQL, over columns that are numbers or category codes.

UNSEEN_CODE: Final = -2
"""Of a category that was not there in training, where that is not the same as missing."""


@dataclass(frozen=True, eq=False)
class Conditions:
    """Conditions of a tree's branches; column ``v3`` holds the value of the column at place 3.

    Parameters
    ----------
    fitted : FittedTree
        The tree.
    dialect : Dialect
        What database the conditions are for.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> from sureleaf.exports.sql_dialects import DIALECTS
    >>> from sureleaf.exports.node_tests import fitted_tree
    >>> model = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> tree = fitted_tree(model, "SQL")
    >>> conditions = Conditions(tree, DIALECTS["duckdb"])
    >>> conditions.skips(tree.tests[0], 0), conditions.factor(tree.tests[0], 0)
    ('v0 > 2.0e0', 'CASE WHEN v0 IS NULL THEN 0.5e0 ELSE 1.0e0 END')
    """

    fitted: FittedTree
    dialect: Dialect

    def code(self, column: Column, value: str) -> str:
        """Give categories their numbers; missing is NULL, and unseen too if it goes its way."""
        known = " ".join(
            f"WHEN {self.dialect.category(column, category)} THEN {code}"
            for code, category in enumerate(column.categories)
        )
        if self.fitted.unseen == "mixture":
            return f"CASE {value} {known} END" if known else "CAST(NULL AS INTEGER)"
        if not known:
            return f"CASE WHEN {value} IS NOT NULL THEN {UNSEEN_CODE} END"
        found = f"CASE {value} {known} ELSE {UNSEEN_CODE} END"
        return f"CASE WHEN {value} IS NOT NULL THEN {found} END"

    def skips(self, test: NodeTest, branch: int) -> str:
        """Say that the row surely does not take the branch; not true where it is missing."""
        value = f"v{test.place}"
        if test.threshold is not None:
            bound = self.dialect.number(test.threshold)
            return f"{value} {'>' if branch == 0 else '<='} {bound}"
        others = [code for i, codes in enumerate(test.codes) if i != branch for code in codes]
        if self.fitted.unseen == "stop":
            others += self._unknown(test)
        taken = set(range(len(self.fitted.column(test).categories))) - set(others)
        if len(others) > len(taken) + 1:
            return _among(value, sorted(taken), "NOT ")
        return _among(value, sorted(others))

    def factor(self, test: NodeTest, branch: int) -> str:
        """Write the share of a row that is not skipped: the branch's where the way is unknown."""
        value = f"v{test.place}"
        lost = f"{value} IS NULL"
        unknown = [] if test.threshold is not None else self._unknown(test)[1:]
        if unknown and self.fitted.unseen != "stop":
            lost += f" OR {_among(value, unknown)}"
        share, whole = self.dialect.number(test.shares[branch]), self.dialect.number(1.0)
        return f"CASE WHEN {lost} THEN {share} ELSE {whole} END"

    def passes_by(self, test: NodeTest) -> str:
        """Say that a row does not stop at the test, which a category does that it has not seen."""
        return f"(v{test.place} IN ({_codes(self._unknown(test))})) IS NOT TRUE"

    def is_refused(self) -> str:
        """Say that a row has a category that the model raises an error for; "" if it never does."""
        if self.fitted.unseen != "error":
            return ""
        coded = [p for p in self.fitted.places if self.fitted.schema.columns[p].is_coded]
        return " OR ".join(f"COALESCE(v{place}, 0) = {UNSEEN_CODE}" for place in coded)

    def _unknown(self, test: NodeTest) -> list[int]:
        """List the codes that the node has not seen."""
        seen = {code for codes in test.codes for code in codes}
        every = range(len(self.fitted.column(test).categories))
        return [UNSEEN_CODE, *(code for code in every if code not in seen)]


def _among(value: str, codes: Sequence[int], negation: str = "") -> str:
    if len(codes) == 1:
        return f"{value} {'<>' if negation else '='} {codes[0]}"
    if not codes:
        return f"{value} {'>=' if negation else '<'} {2 * UNSEEN_CODE}"  # always or never, if known
    return f"{value} {negation}IN ({_codes(codes)})"


def _codes(codes: Sequence[int]) -> str:
    return ", ".join(map(str, codes))


_LEVELS_A_STEP: Final = 4
_ENDS_AT_ONCE: Final = 600
"""Nodes whose shares are columns together: PostgreSQL has room for 1664, SQLite for 2000."""

_MOST_COLUMNS: Final = 1600
_SUMMED_AT_ONCE: Final = 300
"""Terms a sum: SQLite and DuckDB take expressions that are nested up to 1000 deep."""

_TOLD: Final = 200
"""Up to so many leaves the query tells their rules."""


def to_sql(
    model: Any, *, dialect: str = "duckdb", table: str = "data", keep: Sequence[str] = ()
) -> str:
    """Write a tree as one SELECT over a table.

    Parameters
    ----------
    model : TreeClassifier
        Fitted.
    dialect : {"duckdb", "sqlite", "postgresql"}
        What database the query is for.
    table : str
        Name of the table, or of the schema and the table with a point between them.
    keep : sequence of str
        Columns of the table that come along in the result, such as its key.

    Returns
    -------
    str
        A query whose result has the columns kept, `prediction`, and `p_` and the label for each
        class. NULL and NaN are missing, and unseen categories are what the model's `unseen`
        says; where that is "error", the row's prediction and probabilities are NULL.

    Raises
    ------
    InvalidArgumentError
        If there is no such dialect, or the tree has too many branches for a query.

    Examples
    --------
    >>> import sqlite3
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
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
            f"keep must be a list of columns; got text. Did you mean [{keep!r}]?"
        )
    return _Query(fitted_tree(model, "SQL"), DIALECTS[dialect], table, tuple(keep)).text()


class _Query:
    """The steps of a query, each reading the one before.

    Column ``w7`` holds the share of the row that reaches node 7, ``e7`` the share that stops
    there for a category which node 7 has not seen.
    """

    def __init__(
        self, fitted: FittedTree, dialect: Dialect, table: str, keep: tuple[str, ...]
    ) -> None:
        self.fitted, self.dialect, self.keep = fitted, dialect, keep
        self.conditions = Conditions(fitted, dialect)
        self.table = ".".join(dialect.name_of(part) for part in table.split("."))
        self.base = [f"k{i}" for i in range(len(keep))] + [f"v{p}" for p in fitted.places]
        self.sums = [f"p{k}" for k in range(len(fitted.classes))]
        self.steps: list[tuple[str, str]] = []
        self.is_summed = False

    def text(self) -> str:
        self._encode()
        groups = self._groups()
        self._descend([0], [name for group in groups for name in group], [])
        for place, group in enumerate(groups):
            later = [name for other in groups[place + 1 :] for name in other]
            roots = [int(name[1:]) for name in group if name[0] == "w"]
            ends = [end for name in group for end in self._ends(name)]
            stopped = [name for name in group if name[0] == "e"]
            self._descend(roots, ends, later + stopped)
            self._sum(ends, later)
        # Materialized: a database that writes one step into the next would do all work again
        # wherever a column is used.
        written = ",\n".join(f"{name} AS MATERIALIZED (\n{body}\n)" for name, body in self.steps)
        return f"{self._title()}\nWITH {written}\n{self._result()}\n"

    def _title(self) -> str:
        return (
            f"-- A decision tree of {leaves_in_words(self.fitted.tree.n_leaves)}, written by "
            f"sureleaf {sureleaf.__version__} for {self.dialect.name}."
        )

    def _step(self, columns: Sequence[str], source: str | None = None) -> None:
        if len(columns) > _MOST_COLUMNS:
            raise InvalidArgumentError(
                f"a query has room for about {_MOST_COLUMNS} columns, and this tree needs "
                f"{len(columns)} at once. Export to 'python', or prune the tree: "
                "model.prune(n_leaves=500)."
            )
        listed = ",\n    ".join(columns)
        before = source or self.steps[-1][0]
        self.steps.append((f"s{len(self.steps)}", f"  SELECT\n    {listed}\n  FROM {before}"))

    # ---- columns as the tree sees them --------------------------------------------------------

    def _encode(self) -> None:
        columns = [f"t.{self.dialect.name_of(name)} AS k{i}" for i, name in enumerate(self.keep)]
        for place in self.fitted.places:
            column = self.fitted.schema.columns[place]
            value = self.dialect.value(column, f"t.{self.dialect.name_of(column.name)}")
            if column.is_coded:
                value = self.conditions.code(column, value)
            columns.append(f"{value} AS v{place}")
        columns.append(f"{self.dialect.number(1.0)} AS w0")
        self._step(columns, f"{self.table} AS t")

    # ---- where rows end -----------------------------------------------------------------------

    def _stops(self, node: int) -> bool:
        test = self.fitted.tests.get(node)
        return self.fitted.unseen == "stop" and test is not None and test.threshold is None

    def _ends(self, name: str) -> list[str]:
        """Name the columns of all places where rows end, from a node down, in the model's order."""
        if name[0] == "e":
            return [name]
        ends, pending = [], [int(name[1:])]
        while pending:
            node = pending.pop()
            test = self.fitted.tests.get(node)
            if self._stops(node):
                ends.append(f"e{node}")
            if test is None:
                ends.append(f"w{node}")
            else:
                pending += reversed(test.children)
        return ends

    def _groups(self) -> list[list[str]]:
        """Cut the tree into subtrees, in the model's order, as many together as have room."""
        n_ends = [0] * self.fitted.tree.n_nodes
        for node in range(len(n_ends) - 1, -1, -1):  # children come after their parent
            test = self.fitted.tests.get(node)
            below = 1 if test is None else sum(n_ends[child] for child in test.children)
            n_ends[node] = below + self._stops(node)
        groups: list[list[str]] = [[]]
        room, pending = _ENDS_AT_ONCE, [0]
        while pending:
            node = pending.pop()
            is_whole = n_ends[node] <= _ENDS_AT_ONCE
            if is_whole or self._stops(node):
                size = n_ends[node] if is_whole else 1
                if size > room:
                    groups.append([])
                    room = _ENDS_AT_ONCE
                groups[-1].append(f"{'w' if is_whole else 'e'}{node}")
                room -= size
            if not is_whole:
                pending += reversed(self.fitted.tests[node].children)
        return groups

    # ---- the share of the row in each node ----------------------------------------------------

    def _descend(self, roots: list[int], targets: list[str], kept: list[str]) -> None:
        """Find the shares of the targets from those of the roots above them, some levels a step."""
        wanted = set(targets)
        done = [f"w{node}" for node in roots if f"w{node}" in wanted]
        frontier = [n for n in roots if n in self.fitted.tests and f"w{n}" not in wanted]
        carried = [*self.base, *(self.sums if self.is_summed else []), *kept]
        while frontier:
            found: dict[str, str] = {}
            lower: list[int] = []
            for root in frontier:
                self._below(root, wanted, found, lower)
            self._step([*carried, *done, *found.values()])
            done += [name for name in found if name in wanted]
            frontier = lower

    def _below(self, root: int, wanted: set[str], found: dict[str, str], lower: list[int]) -> None:
        """Write the shares of the nodes up to some levels below a root."""
        pending: list[tuple[int, int, list[str], str]] = [(root, 0, [], f"w{root}")]
        while pending:
            node, depth, skipped, share = pending.pop()
            name = f"w{node}"
            if node != root and (name in wanted or depth == _LEVELS_A_STEP):
                found[name] = self._share(root, name, skipped, share)
                if name not in wanted:
                    lower.append(node)
                continue
            test = self.fitted.tests[node]
            if f"e{node}" in wanted:
                stays = [*skipped, self.conditions.passes_by(test)]
                found[f"e{node}"] = self._share(root, f"e{node}", stays, share)
            pending += [
                (
                    test.children[branch],
                    depth + 1,
                    [*skipped, self.conditions.skips(test, branch)],
                    f"{share} * {self.conditions.factor(test, branch)}",
                )
                for branch in reversed(range(len(test.children)))
            ]

    def _share(self, root: int, name: str, skipped: list[str], share: str) -> str:
        zero = self.dialect.number(0.0)
        never = " OR ".join([f"w{root} = {zero}", *skipped])
        node = int(name[1:])
        told = ""
        if node not in self.fitted.tests and self.fitted.tree.n_leaves <= _TOLD:
            rule = self.fitted.rules[node]
            told = f"-- {''.join(c if c.isprintable() else ' ' for c in rule)}\n    "
        return f"{told}CASE WHEN {never} THEN {zero} ELSE {share} END AS {name}"

    def _sum(self, ends: list[str], later: list[str]) -> None:
        """Add the probabilities of these ends to the sums, in order."""
        for begin in range(0, len(ends), _SUMMED_AT_ONCE):
            now, rest = ends[begin : begin + _SUMMED_AT_ONCE], ends[begin + _SUMMED_AT_ONCE :]
            sums = []
            for k, name in enumerate(self.sums):
                stated = self.fitted.probabilities[:, k]
                terms = [f"{end} * {self.dialect.number(stated[int(end[1:])])}" for end in now]
                sums.append(f"{' + '.join([name, *terms] if self.is_summed else terms)} AS {name}")
            self._step([*self.base, *sums, *later, *rest])
            self.is_summed = True

    # ---- the result ---------------------------------------------------------------------------

    def _result(self) -> str:
        labels = [self.dialect.label(label) for label in _sql_labels(self.fitted)]
        choice = labels[-1]
        if len(labels) > 1:
            cases = [
                f"WHEN {' AND '.join(f'p{k} >= p{j}' for j in range(k + 1, len(labels)))} "
                f"THEN {label}"
                for k, label in enumerate(labels[:-1])
            ]
            choice = f"CASE {' '.join(cases)} ELSE {labels[-1]} END"
        probabilities = list(self.sums)
        if unseen := self.conditions.is_refused():
            choice = f"CASE WHEN NOT ({unseen}) THEN {choice} END"
            probabilities = [f"CASE WHEN NOT ({unseen}) THEN {p} END" for p in probabilities]
        name_of = self.dialect.name_of
        columns = [
            *(f"k{i} AS {name_of(name)}" for i, name in enumerate(self.keep)),
            f"{choice} AS prediction",
            *(
                f"{value} AS {name_of(name)}"
                for value, name in zip(probabilities, _column_names(self.fitted), strict=True)
            ),
        ]
        listed = ",\n  ".join(columns)
        return f"SELECT\n  {listed}\nFROM {self.steps[-1][0]}"


def _sql_labels(fitted: FittedTree) -> list[Any]:
    return [
        label if isinstance(label, bool | int | float | str) else text
        for label, text in zip(
            plain_labels(fitted.classes), label_texts(fitted.classes), strict=True
        )
    ]


def _column_names(fitted: FittedTree) -> list[str]:
    """Name the probabilities after the labels, or by their numbers where databases mix them up."""
    named = [f"p_{text}" for text in label_texts(fitted.classes)]
    usable = all(len(name.encode()) <= 63 and "\0" not in name for name in named)
    is_clear = len({name.casefold() for name in named}) == len(named)
    return named if usable and is_clear else [f"p_{k}" for k in range(len(named))]
