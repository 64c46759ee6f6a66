"""A tree as a query that gives each row of a table its probabilities and prediction.

Each leaf gets the share of the row that reaches it, by CASE: 1 or 0, or less where values are
missing. A class's probability is the sum of its probabilities in the leaves, weighted by these,
in the order in which the model itself adds them up. The query grows with leaves times depth, and
never with the ways that missing values can combine.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import sureleaf
from sureleaf.errors import InvalidArgumentError
from sureleaf.report.export.dialects import DIALECTS, Dialect
from sureleaf.report.export.labels import label_texts, plain_labels
from sureleaf.report.export.node_tests import FittedTree, NodeTest, fitted_tree
from sureleaf.table import Column
from sureleaf.tree.rules import leaf_rule

__all__ = ["to_sql"]

_SUMMED_AT_ONCE: Final = 300
"""Leaves a step: databases limit the columns of a query and the length of a sum (SQLite 1000)."""

_UNSEEN: Final = -2


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
        If there is no such dialect.

    Examples
    --------
    >>> import sqlite3
    >>> from sureleaf import TreeClassifier
    >>> model = TreeClassifier(min_samples_leaf=1).fit([[20.0], [30.0]], ["yes", "no"])
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE days (x0 REAL)")
    >>> _ = database.execute("INSERT INTO days VALUES (25.0), (15.0), (NULL)")
    >>> query = to_sql(model, dialect="sqlite", table="days", keep=["x0"])
    >>> [row[:2] for row in database.execute(query)]
    [(25.0, 'no'), (15.0, 'yes'), (None, 'no')]
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
    """The steps of a query, each reading the one before."""

    def __init__(
        self, fitted: FittedTree, dialect: Dialect, table: str, keep: tuple[str, ...]
    ) -> None:
        self.fitted, self.dialect, self.keep = fitted, dialect, keep
        self.table = ".".join(dialect.name_of(part) for part in table.split("."))
        self.carried = [f"k{i}" for i in range(len(keep))] + [f"v{p}" for p in fitted.places]
        self.sums = [f"p{k}" for k in range(len(fitted.classes))]

    def text(self) -> str:
        steps = [("encoded", self._encoded())]
        ends = list(self._ends())
        for begin in range(0, len(ends), _SUMMED_AT_ONCE):
            steps += self._summed(ends[begin : begin + _SUMMED_AT_ONCE], steps[-1][0], begin == 0)
        # Materialized: a database that writes one step into the next would do all work again
        # wherever a column is used.
        written = ",\n".join(f"{name} AS MATERIALIZED (\n{body}\n)" for name, body in steps)
        return f"{self._title()}\nWITH {written}\n{self._result(steps[-1][0])}\n"

    def _title(self) -> str:
        leaves = self.fitted.tree.n_leaves
        return (
            f"-- A decision tree of {leaves} {'leaf' if leaves == 1 else 'leaves'}, written by "
            f"sureleaf {sureleaf.__version__} for {self.dialect.name}."
        )

    # ---- what the columns hold ----------------------------------------------------------------

    def _encoded(self) -> str:
        columns = [f"  t.{self.dialect.name_of(name)} AS k{i}" for i, name in enumerate(self.keep)]
        for place in self.fitted.places:
            column = self.fitted.schema.columns[place]
            value = self.dialect.value(column, f"t.{self.dialect.name_of(column.name)}")
            if column.is_coded:
                value = self._code(column, value)
            columns.append(f"  {value} AS v{place}")
        return f"  SELECT\n  {_listed(columns or ['  1 AS nothing'])}\n  FROM {self.table} AS t"

    def _code(self, column: Column, value: str) -> str:
        """Give categories their numbers; missing is NULL, and unseen too if it goes its way."""
        known = " ".join(
            f"WHEN {self.dialect.category(column, category)} THEN {code}"
            for code, category in enumerate(column.categories)
        )
        if self.fitted.unseen == "mixture":
            return f"CASE {value} {known} END" if known else "CAST(NULL AS INTEGER)"
        if not known:
            return f"CASE WHEN {value} IS NOT NULL THEN {_UNSEEN} END"
        return f"CASE WHEN {value} IS NOT NULL THEN CASE {value} {known} ELSE {_UNSEEN} END END"

    # ---- the share of the row in each node where it can end -----------------------------------

    def _ends(self) -> Iterator[tuple[int, str]]:
        """Nodes where rows end, with the share; inner ones where an unseen category stops."""
        for node in range(self.fitted.tree.n_nodes):
            test = self.fitted.tests.get(node)
            if test is None:
                yield node, self._share(node, None)
            elif test.threshold is None and self.fitted.unseen == "stop":
                yield node, self._share(node, f"v{test.place} IN ({_codes(self._unknown(test))})")

    def _share(self, node: int, only: str | None) -> str:
        path = self.fitted.path(node)
        skipped = [self._skips(test, branch) for test, branch in path]
        if only is not None:
            skipped.append(f"({only}) IS NOT TRUE")
        factors = [
            f"CASE WHEN {self._is_lost(test, branch)} THEN {self._number(test.shares[branch])} "
            f"ELSE {self._number(1.0)} END"
            for test, branch in path
        ]
        share = " * ".join(factors) or self._number(1.0)
        if not skipped:
            return share
        return f"CASE WHEN {' OR '.join(skipped)} THEN {self._number(0.0)} ELSE {share} END"

    def _is_lost(self, test: NodeTest, branch: int) -> str:
        """Say that a row which is not skipped has no known way: it takes all branches."""
        value = f"v{test.place}"
        unknown = [] if test.threshold is not None else self._unknown(test)[1:]
        if unknown and self.fitted.unseen != "stop":
            return f"{value} IS NULL OR {_among(value, unknown)}"
        return f"{value} IS NULL"

    def _skips(self, test: NodeTest, branch: int) -> str:
        """Say that the row surely does not take the branch; not true where it is missing."""
        value = f"v{test.place}"
        if test.threshold is not None:
            return f"{value} {'>' if branch == 0 else '<='} {self._number(test.threshold)}"
        others = [code for i, codes in enumerate(test.codes) if i != branch for code in codes]
        if self.fitted.unseen == "stop":
            others += self._unknown(test)
        taken = set(range(len(self.fitted.column(test).categories))) - set(others)
        if len(others) > len(taken) + 1:
            return _among(value, sorted(taken), "NOT ")
        return _among(value, sorted(others))

    def _unknown(self, test: NodeTest) -> list[int]:
        """List the codes that the node has not seen."""
        seen = {code for codes in test.codes for code in codes}
        every = range(len(self.fitted.column(test).categories))
        return [_UNSEEN, *(code for code in every if code not in seen)]

    def _number(self, value: float) -> str:
        return self.dialect.number(value)

    # ---- sums over the leaves -----------------------------------------------------------------

    def _summed(
        self, ends: list[tuple[int, str]], before: str, is_first: bool
    ) -> list[tuple[str, str]]:
        carried = self.carried if is_first else [*self.carried, *self.sums]
        first = ends[0][0]
        told = [
            f"  -- {_on_one_line(leaf_rule(self.fitted.tree, node, self.fitted.schema))}\n"
            f"    {share} AS w{node}"
            for node, share in ends
        ]
        columns = [*(f"  {name}" for name in carried), *told]
        weights = f"  SELECT\n  {_listed(columns)}\n  FROM {before}"
        sums = []
        for k, name in enumerate(self.sums):
            terms = [
                f"w{node} * {self._number(self.fitted.probabilities[node, k])}" for node, _ in ends
            ]
            total = " + ".join(terms if is_first else [name, *terms])
            sums.append(f"  {total} AS {name}")
        columns = [*(f"  {name}" for name in self.carried), *sums]
        summed = f"  SELECT\n  {_listed(columns)}\n  FROM weights_{first}"
        return [(f"weights_{first}", weights), (f"summed_{first}", summed)]

    # ---- the result ---------------------------------------------------------------------------

    def _result(self, last: str) -> str:
        labels = [self.dialect.label(label) for label in _sql_labels(self.fitted)]
        if len(labels) == 1:
            choice = labels[0]
        else:
            cases = [
                f"WHEN {' AND '.join(f'p{k} >= p{j}' for j in range(k + 1, len(labels)))} "
                f"THEN {label}"
                for k, label in enumerate(labels[:-1])
            ]
            choice = f"CASE {' '.join(cases)} ELSE {labels[-1]} END"
        probabilities = list(self.sums)
        if unseen := self._is_refused():
            choice = f"CASE WHEN NOT ({unseen}) THEN {choice} END"
            probabilities = [f"CASE WHEN NOT ({unseen}) THEN {p} END" for p in probabilities]
        name_of = self.dialect.name_of
        columns = [
            *(f"  k{i} AS {name_of(name)}" for i, name in enumerate(self.keep)),
            f"  {choice} AS prediction",
            *(
                f"  {value} AS {name_of(name)}"
                for value, name in zip(probabilities, _column_names(self.fitted), strict=True)
            ),
        ]
        return f"SELECT\n{_listed(columns)}\nFROM {last}"

    def _is_refused(self) -> str:
        if self.fitted.unseen != "error":
            return ""
        coded = [p for p in self.fitted.places if self.fitted.schema.columns[p].is_coded]
        return " OR ".join(f"COALESCE(v{place}, 0) = {_UNSEEN}" for place in coded)


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


def _among(value: str, codes: Sequence[int], negation: str = "") -> str:
    if len(codes) == 1:
        return f"{value} {'<>' if negation else '='} {codes[0]}"
    if not codes:
        return f"{value} {'>=' if negation else '<'} {2 * _UNSEEN}"  # always, or never, if known
    return f"{value} {negation}IN ({_codes(codes)})"


def _codes(codes: Sequence[int]) -> str:
    return ", ".join(map(str, codes))


def _listed(columns: Sequence[str]) -> str:
    return ",\n  ".join(columns)


def _on_one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)
