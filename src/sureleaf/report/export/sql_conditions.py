"""What a test of a tree reads like in SQL, over columns that are numbers or category codes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sureleaf.report.export.dialects import Dialect
from sureleaf.report.export.node_tests import FittedTree, NodeTest
from sureleaf.table import Column

__all__ = ["UNSEEN_CODE", "Conditions"]

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
    >>> from sureleaf.report.export.dialects import DIALECTS
    >>> from sureleaf.report.export.node_tests import fitted_tree
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
