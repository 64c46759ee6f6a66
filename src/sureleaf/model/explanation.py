"""Why a row is decided as it is, and what would have to be different for another decision.

The way to another leaf is read from the tests on its path: a column whose value passes all of them
stays, another one takes the nearest value that passes. So a way has the fewest changes that lead to
this leaf. It is routed before it is suggested. Ways through leaves that are flagged, and through
columns that cannot change, are left out.

A way is about this tree. It does not say that the world would answer to the change.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.formatting import TextDisplay, count_of, interval, listed, percent
from sureleaf.model.column_table import json_value
from sureleaf.model.leaf_table import LeafTable, kind_of_confidence
from sureleaf.table import Column, EncodedTable, Schema
from sureleaf.table.encoded_table import ArrayColumns
from sureleaf.table.schema import MISSING, UNSEEN
from sureleaf.tree import Tree, route
from sureleaf.tree.rules import IS_MISSING, branch_tests, word

if TYPE_CHECKING:
    from sureleaf.model.tree_model import TreeModel


@dataclass(frozen=True)
class Change:
    """A column that would have to be different.

    `old` and `new` are values of the column, None for a missing one; dates are ISO text. `among`
    has all categories that would do, if there are several.
    """

    column: str
    old: Any
    new: Any
    among: tuple[Any, ...] = ()

    def __str__(self) -> str:
        new = listed([word(one) for one in self.among]).replace(" and ", " or ")
        old = "a missing value" if self.old is None else word(self.old)
        return f"{word(self.column)} {new or word(self.new)} instead of {old}"


@dataclass(frozen=True)
class Way:
    """The changes that lead a row to a leaf with another decision."""

    leaf: int
    rule: str
    prediction: Any
    confidence: float
    utility: float
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return (
            f"{word(self.prediction)} with {listed([str(one) for one in self.changes])}: leaf "
            f"{self.leaf}, confidence {percent(self.confidence)}, utility {percent(self.utility)}."
        )


@dataclass(frozen=True, repr=False)
class Explanation(TextDisplay):
    """Why a row is decided as it is, and what would change it; it prints as sentences.

    - `prediction`: the decision.
    - `leaf`, `rule`, `n`: the leaf of the row (of several the heaviest), and its rows.
    - `share`: the share of the row that is in this leaf.
    - `steps`: the tests that the row passes on the way, each with its value.
    - `confidence`, `utility`, `low`, `high`: levels of the row, as `predict_levels` returns them.
    - `levels_from`: what they were measured on, which says what kind of confidence it is.
    - `flagged`, `repair`: whether the leaf should not be relied on, and what would help it.
    - `way`: to the nearest leaf that is trusted and decides otherwise; None if there is none.
    - `reason`: why there is none.
    """

    prediction: Any
    leaf: int
    rule: str
    n: float
    share: float
    steps: tuple[str, ...]
    confidence: float
    utility: float
    low: float
    high: float
    levels_from: str
    flagged: bool
    repair: str
    way: Way | None
    reason: str

    def sentences(self) -> list[str]:
        """Return the explanation in sentences."""
        where = f", because {listed(self.steps)}" if self.steps else ""
        lines = [f"{word(self.prediction)}{where}."]
        if self.share < 1.0:
            lines.append(
                f"The row is in several leaves, because a value is missing or new; "
                f"{percent(self.share)} of it is in leaf {self.leaf}, which is described here."
            )
        lines.append(
            f"Leaf {self.leaf} has {count_of(self.n, 'row')}. Confidence "
            f"{percent(self.confidence)}, utility {percent(self.utility)}; probability of this "
            f"class {interval(self.low, self.high)} %."
        )
        if self.flagged:
            help_text = f": {self.repair}" if self.repair else ""
            lines.append(f"The leaf is flagged, so do not rely on it{help_text}.")
        lines.append(self.reason if self.way is None else f"It would be {self.way}")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        values = {name: json_value(value) for name, value in vars(self).items()}
        way = None
        if self.way is not None:
            changes = [
                {**vars(one), "among": list(one.among), "text": str(one)}
                for one in self.way.changes
            ]
            way = {**vars(self.way), "prediction": json_value(self.way.prediction)}
            way["changes"] = changes
        return values | {"steps": list(self.steps), "way": way, "sentences": self.sentences()}

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), kind_of_confidence(self.levels_from)])

    __repr__ = __str__


Restrictions = dict[int, int]
"""Columns, by index, whose values can only become larger (1) or smaller (-1), or stay (0)."""


def _restrictions(
    schema: Schema,
    fixed: Sequence[str | int],
    only_up: Sequence[str | int],
    only_down: Sequence[str | int],
) -> Restrictions:
    found: Restrictions = {}
    for name, columns, sign in (("only_up", only_up, 1), ("only_down", only_down, -1)):
        for index in _indices(name, columns, schema, ordered=True):
            found[index] = 0 if index in found else sign
    return found | dict.fromkeys(_indices("fixed", fixed, schema), 0)


def _indices(
    name: str, columns: Sequence[str | int], schema: Schema, *, ordered: bool = False
) -> frozenset[int]:
    if isinstance(columns, str | int):
        columns = [columns]
    found, names = set(), list(schema.names)
    for column in columns:
        is_index = isinstance(column, int | np.integer) and not isinstance(column, bool)
        if is_index and 0 <= int(column) < len(names):
            index = int(column)
        elif column in names:
            index = names.index(str(column))
        else:
            raise InvalidArgumentError(
                f"{name} must name columns of the tree; got {column!r}."
                f"{suggestion(str(column), names)}"
            )
        if ordered and schema.columns[index].kind == "categorical":
            raise InvalidArgumentError(
                f"{name} must name columns whose values have an order; got {column!r}, which has "
                "categories. Use fixed."
            )
        found.add(index)
    return frozenset(found)


def one_row(row: Any, schema: Schema) -> Any:
    """Return a row, given as a mapping, a sequence or a table of one row, as a table."""
    if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:  # a pandas Series
        row = row.to_dict()
    if isinstance(row, Mapping):
        plain = {
            str(name): [value.item() if isinstance(value, np.generic) else value]
            for name, value in row.items()
        }
        if not schema.named:
            return [[plain[name][0] for name in schema.names if name in plain]]
        import pyarrow as pa

        return pa.table({name: pa.array(value, from_pandas=True) for name, value in plain.items()})
    is_flat = isinstance(row, list | tuple) and not any(
        isinstance(cell, list | tuple | np.ndarray) for cell in row
    )
    if not is_flat and getattr(row, "ndim", 2) != 1:
        return row
    cells = list(row)
    if schema.named and len(cells) == len(schema):
        return one_row(dict(zip(schema.names, cells, strict=True)), schema)
    return [cells]


def explain_row(
    model: "TreeModel",
    row: Any,
    fixed: Sequence[str | int] = (),
    *,
    only_up: Sequence[str | int] = (),
    only_down: Sequence[str | int] = (),
    confidence: float | None = 0.95,
    utility: float | None = None,
) -> Explanation:
    """Explain the decision about a row; the arguments are those of `TreeClassifier.explain`."""
    restrictions = _restrictions(model.schema, fixed, only_up, only_down)
    table = model.encode(one_row(row, model.schema), warn=False)
    if table.n_rows != 1:
        raise InvalidArgumentError(f"row must be one row; got {table.n_rows}.")
    leaves = model.leaves(confidence=confidence, utility=utility)
    levels, routes = model.predict_levels(table), model.route(table)
    end = int(routes.heaviest()[0])
    steps = [_step(model, table, *step) for step in _path(model.tree, end)]
    line = np.flatnonzero(leaves.leaf == end)  # none for a row that stops above the leaves
    way = _nearest(model, table, restrictions, leaves, levels.prediction[0])
    return Explanation(
        prediction=levels.prediction.tolist()[0],
        leaf=end,
        rule=str(leaves.rule[line[0]]) if len(line) else " and ".join(steps),
        n=float(model.tree.class_counts[end].sum()),
        share=float(routes.shares.max()),
        steps=tuple(steps),
        confidence=float(levels.confidence[0]),
        utility=float(levels.utility[0]),
        low=float(levels.low[0]),
        high=float(levels.high[0]),
        levels_from=leaves.levels_from,
        flagged=bool(leaves.flagged[line[0]]) if len(line) else True,
        repair=str(leaves.repair[line[0]]) if len(line) else "",
        way=way,
        reason="" if way else _no_way(model, leaves, levels.prediction[0], restrictions),
    )


def _no_way(
    model: "TreeModel", leaves: LeafTable, prediction: Any, restrictions: Restrictions
) -> str:
    others = leaves.prediction != prediction
    if not others.any():
        return "No leaf of the tree decides otherwise."
    if not (others & ~leaves.flagged).any():
        return "Leaves that decide otherwise are flagged, so nothing is suggested."
    names = [model.schema.names[index] for index in sorted(restrictions)]
    unless = f" while {listed([word(name) for name in names])} may not change so" if names else ""
    return f"No leaf that is trusted and decides otherwise can be reached{unless}."


def _path(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the inner nodes on the way to a node, from the root, each with the branch taken."""
    steps = []
    while node > 0:
        parent = int(tree.parent[node])
        steps.append((parent, tree.branches(parent).tolist().index(node)))
        node = parent
    return steps[::-1]


def _step(model: "TreeModel", table: EncodedTable, node: int, branch: int) -> str:
    index = int(model.tree.feature[node])
    column = model.schema.columns[index]
    test = branch_tests(model.tree, node, column)[branch]
    value = column.render(float(table.columns[index][0]))
    known = value if value not in ("missing", "unseen") else f"{value} here"
    is_named = column.kind == "categorical" and test.endswith(f" = {known}")
    return test if is_named or test.endswith(IS_MISSING) else f"{test} (it is {known})"


# ---- ways to other leaves ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Passing:
    """The values of a column that pass all tests on a path."""

    low: float = -math.inf  # excluded
    high: float = math.inf
    codes: frozenset[int] | None = None
    missing: bool = True
    known: bool = True

    def then(self, tree: Tree, node: int, branch: int, column: Column) -> "_Passing":
        """Return the values that also pass the test of a node."""
        missing = self.missing and int(tree.missing_branch[node]) == branch
        if tree.tests_missing(node):
            return replace(self, missing=missing, known=self.known and branch == 0)
        if column.kind == "categorical":
            taken = np.flatnonzero(tree.categories(node) == branch).tolist()
            codes = frozenset(taken) if self.codes is None else self.codes & frozenset(taken)
            return replace(self, missing=missing, codes=codes)
        threshold = float(tree.threshold[node])
        if branch == 0:
            return replace(self, missing=missing, high=min(self.high, threshold))
        return replace(self, missing=missing, low=max(self.low, threshold))

    def holds(self, value: float, column: Column) -> bool:
        """Whether a value, or code, passes."""
        if _is_missing(value, column):
            return self.missing
        if not self.known or not _is_known(value, column):
            return False
        if column.kind == "categorical":
            return self.codes is None or int(value) in self.codes
        return self.low < value <= self.high


def _is_missing(value: float, column: Column) -> bool:
    return value == MISSING if column.is_coded else math.isnan(value)


def _is_known(value: float, column: Column) -> bool:
    return not (_is_missing(value, column) or (column.is_coded and value == UNSEEN))


def _nearest(
    model: "TreeModel",
    table: EncodedTable,
    restrictions: Restrictions,
    leaves: LeafTable,
    prediction: Any,
) -> Way | None:
    """Return the way of the fewest changes to a trusted leaf that decides otherwise.

    Of several, the one of the smallest changes, each relative to the larger of both values.
    """
    found: list[tuple[int, float, int, Way]] = []
    for line in np.flatnonzero((leaves.prediction != prediction) & ~leaves.flagged).tolist():
        leaf = int(leaves.leaf[line])
        values = _new_values(model, table, restrictions, leaf)
        if values is None or not _leads_to(model, table, values, leaf):
            continue
        changes, size = [], 0.0
        for index, (value, passing) in values.items():
            old = float(table.columns[index][0])
            changes.append(_change(model.schema.columns[index], old, value, passing))
            size += _size(model.schema.columns[index], old, value)
        way = Way(
            leaf,
            str(leaves.rule[line]),
            leaves.prediction.tolist()[line],
            float(leaves.confidence[line]),
            float(leaves.utility[line]),
            tuple(changes),
        )
        found.append((len(changes), size, leaf, way))
    return min(found)[-1] if found else None


def _new_values(
    model: "TreeModel", table: EncodedTable, restrictions: Restrictions, leaf: int
) -> dict[int, tuple[float, _Passing]] | None:
    """Return what must change to reach a leaf, by column; None if that is impossible."""
    tree, passing = model.tree, dict[int, _Passing]()
    for node, branch in _path(tree, leaf):
        index = int(tree.feature[node])
        before = passing.get(index, _Passing())
        passing[index] = before.then(tree, node, branch, model.schema.columns[index])
    values = {}
    for index, one in passing.items():
        column, old = model.schema.columns[index], float(table.columns[index][0])
        if one.holds(old, column):
            continue
        new = _nearest_value(one, old, column)
        if new is None:
            return None
        if index in restrictions and not (
            _is_known(old, column) and restrictions[index] * (new - old) > 0
        ):
            return None
        values[index] = (new, one)
    return values


def _nearest_value(passing: _Passing, old: float, column: Column) -> float | None:
    """Return the nearest value, or code, that passes; None if no known value does."""
    if not passing.known:
        return None
    if column.kind == "categorical":
        codes = range(len(column.categories)) if passing.codes is None else passing.codes
        return float(min(codes)) if codes else None
    if column.is_coded:
        first, last = math.floor(max(passing.low, -1)) + 1, len(column.categories) - 1
        last = min(last, math.floor(min(passing.high, last)))
        if first > last:
            return None
        return float(min(max(old, first), last)) if old >= 0 else float(first)
    return _number_between(passing.low, passing.high, old)


def _number_between(low: float, high: float, near: float) -> float | None:
    """Return a number of (low, high], near another one, with as few decimals as it has.

    More decimals are taken if none of these lies between.

    Examples
    --------
    >>> _number_between(-math.inf, 14.0, 22.0), _number_between(13.5, 22.0, 7.0)
    (14.0, 14.0)
    >>> _number_between(0.25, 0.2534, 1.0), _number_between(-math.inf, 3.7, math.nan)
    (0.253, 3.0)
    """
    if not low < high:
        return None
    from_above = near > high or (math.isnan(near) and math.isfinite(high))
    digits = repr(float(near)).removesuffix(".0").partition(".")[2]
    for decimals in range(0 if "e" in digits else len(digits), 17):
        step = 10.0**-decimals
        bound = high if from_above else low
        steps = math.floor(bound / step)
        for k in (steps, steps + 1, steps - 1) if from_above else (steps + 1, steps, steps + 2):
            candidate = round(k * step, decimals)
            if low < candidate <= high:
                return candidate
    return high if math.isfinite(high) else math.nextafter(low, math.inf)


def _leads_to(
    model: "TreeModel", table: EncodedTable, values: Mapping[int, tuple[float, _Passing]], leaf: int
) -> bool:
    """Whether the changed row ends in this leaf, with all of its share."""
    columns = []
    for index, (column, old) in enumerate(zip(table.schema, table.columns, strict=True)):
        new = np.array(old, dtype=old.dtype if column.is_coded else np.float64)
        if index in values:
            new[0] = values[index][0]
        columns.append(new)
    row = EncodedTable(table.schema, ArrayColumns(columns), 1)
    routes = route(model.tree, row, stop_at_unseen=model.unseen == "stop")
    ends: list[int] = routes.nodes.tolist()
    return ends == [leaf]


def _change(column: Column, old: float, new: float, passing: _Passing) -> Change:
    among: tuple[Any, ...] = ()
    if column.kind == "categorical" and passing.codes is not None and len(passing.codes) > 1:
        among = tuple(column.categories[code] for code in sorted(passing.codes))
    return Change(column.name, _plain(column, old), _plain(column, new), among)


def _plain(column: Column, value: float) -> Any:
    """Return a value as the table has it; None for a missing one."""
    if _is_missing(value, column):
        return None
    if column.is_coded:
        return "a new category" if value == UNSEEN else column.categories[int(value)]
    if column.kind == "date":
        return column.render(value)
    return int(value) if value == round(value) and abs(value) < 2**53 else value


def _size(column: Column, old: float, new: float) -> float:
    if column.kind == "categorical" or not _is_known(old, column):
        return 1.0
    largest = len(column.categories) - 1 if column.is_coded else max(abs(old), abs(new))
    return min(abs(new - old) / largest, 1.0) if largest > 0 and math.isfinite(old) else 1.0
