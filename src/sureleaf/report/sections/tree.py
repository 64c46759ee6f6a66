"""The tree and its leaves: every node, the levels of the leaves, and example rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from sureleaf.formatting import count_of
from sureleaf.model.tree_model import TreeModel
from sureleaf.report.baselines import decides_by_costs, report_tree
from sureleaf.report.document_schema import by_column, finite, record_of
from sureleaf.report.results import ReportResults
from sureleaf.report.sections.data import ColumnKind, column_kind, is_missing, row_hashes
from sureleaf.report.sections.methods import LeafTerms, leaf_terms
from sureleaf.table import Column
from sureleaf.tree.rules import branch_tests, leaf_rules, rules_text

MAX_EXAMPLES = 40

Unseen = Literal["mixture", "stop", "error"]
RowsOfLevels = Literal["new rows", "training rows", "weighted rows"]


@dataclass(frozen=True)
class StatedLevels:
    """Confidence and utility of the whole tree."""

    confidence: Annotated[float, "Mean over the leaves, weighted by their rows."]
    utility: Annotated[float, "Mean over the leaves, weighted by their rows."]


LeastLevel = Annotated[
    float | None, "The lowest level that is not flagged; null if none is wanted."
]


@dataclass(frozen=True)
class WantedLevels:
    """Leaves below these levels are flagged."""

    level: Annotated[float, "Level of the intervals."]
    confidence: LeastLevel
    utility: LeastLevel


@dataclass(frozen=True)
class TestedColumn:
    """A column that the tree tests."""

    name: Annotated[str, "Name of the column."]
    kind: Annotated[ColumnKind, "Kind of its values."]
    categories: Annotated[list[str] | None, "Its categories; null for numbers and dates."]
    temporal: Annotated[
        str | None,
        'For dates, what a number counts: "date" is days since 1970, all others are microseconds.',
    ]


@dataclass(frozen=True)
class Node:
    """A node of the tree. Fields of tests are null in leaves; fields of leaves in inner nodes."""

    id: Annotated[int, "Index of the node; children come after their parent."]
    parent: Annotated[int | None, "Index of the parent; null for the root."]
    edge: Annotated[str | None, "Test of the branch that leads here; null for the root."]
    depth: Annotated[int, "Number of tests above the node."]
    counts: Annotated[list[float], "Training rows by class."]
    n: Annotated[float, "Training rows."]
    prediction: Annotated[int, "Index of the predicted class in data.classes."]
    probability: Annotated[
        float,
        "Of an inner node: the probability of the predicted class. Of a leaf: the probability "
        "to which low and high belong (see terms).",
    ]
    probabilities: Annotated[list[float], "What predict_proba gives, by class."]
    column: Annotated[int | None, "Index of the tested column in columns; null for a leaf."] = None
    threshold: Annotated[
        float | None, "Numbers up to the threshold go to the first child, others to the second."
    ] = None
    threshold_text: Annotated[
        str | None,
        "The threshold as text, such as a date; a number with six digits, or as many as "
        "separate the same rows. If it is null and branch_of_category is null, too, the test is "
        "whether the value is missing: known values go to the first child.",
    ] = None
    branch_of_category: Annotated[
        list[int] | None,
        "By category: index of the branch; -1 for a category that no training row had here.",
    ] = None
    children: Annotated[tuple[int, ...], "Indices of the child nodes."] = ()
    shares: Annotated[
        tuple[float, ...],
        "Share of the rows in each branch; a row that goes down every branch is divided by "
        "these shares.",
    ] = ()
    missing_branch: Annotated[
        int | None,
        "Index of the branch that a missing value takes; null if it goes down every branch.",
    ] = None
    missing_arrives: Annotated[
        bool | None,
        "Whether training rows without a value of the column can reach the node: then the edge of "
        "that branch says so.",
    ] = None
    rule: Annotated[
        str | None,
        "All tests from the root to the leaf; of several tests of a column in the same "
        "direction, the tightest.",
    ] = None
    low: Annotated[float | None, "Interval of the probability."] = None
    high: Annotated[float | None, "Interval of the probability."] = None
    confidence: Annotated[
        float | None,
        "Probability that the predicted class is the true majority class of the leaf; at costs, "
        "that the decision is the cheapest one.",
    ] = None
    utility: Annotated[
        float | None,
        "Probability that the next row in the leaf is predicted correctly; at costs, what the "
        "decision saves per row, in units of the most expensive error.",
    ] = None
    rows_needed: Annotated[
        int | None, "Rows in the leaf that would reach the wanted levels; null if not known."
    ] = None
    total_rows_needed: Annotated[
        int | None,
        "Rows of the whole table that would bring that many into the leaf; null if not known.",
    ] = None
    flagged: Annotated[
        bool | None,
        "Whether the leaf is below a wanted level, right less often than a tie, or without rows.",
    ] = None
    repair: Annotated[str | None, "What would help a flagged leaf."] = None
    recurrence: Annotated[
        float | None,
        "Of a split: the share of the trees grown on random halves of the rows in which it "
        "returned. Of a leaf: the mean share of its rows that kept their predicted class in "
        "these trees. Null if not known.",
    ] = None


Splits = Annotated[
    int, "Splits of the tree, and those that returned in more than half of the trees."
]


@dataclass(frozen=True)
class TreeStability:
    """How much of the tree came out again in trees grown on random halves of the rows."""

    text: Annotated[str, "In a sentence."]
    n_splits: Splits
    n_returning: Splits
    n_trees: Annotated[int, "Trees grown on random halves of the rows."]


Limit = Annotated[
    float, "Limits of the probability of the predicted class, for all leaves at once."
]


@dataclass(frozen=True)
class CertifiedLeaf:
    """What held-out rows prove about a leaf."""

    leaf: Annotated[int, "Index of the node."]
    n: Annotated[float, "Certifying rows in it, and those of the predicted class."]
    n_correct: Annotated[float, "Certifying rows in it, and those of the predicted class."]
    low: Limit
    high: Limit
    p_value: Annotated[float, 'Of "it names the wrong class", adjusted for all leaves.']
    certified: Annotated[bool, "Whether it is proven to name the right class."]


@dataclass(frozen=True)
class TreeCertificate:
    """What held-out rows prove about all leaves at once."""

    alpha: Annotated[float, "Error probability of the whole."]
    n_grown: Annotated[int, "Rows that grew the tree, and rows that certify it."]
    n_certifying: Annotated[int, "Rows that grew the tree, and rows that certify it."]
    statements: Annotated[list[str], "The certificate in sentences."]
    fingerprint: Annotated[str, "SHA-256 of the tree and the counts."]
    leaves: Annotated[tuple[CertifiedLeaf, ...], "Leaf by leaf."]


@dataclass(frozen=True)
class ExampleRow:
    """A row of the table, to follow through the tree."""

    row: Annotated[int, "Index of the row among the rows with a label."]
    values: Annotated[list[str | None], "Its values as text, by tested column; null if missing."]
    codes: Annotated[
        list[float | None],
        "Its values as numbers: the number, the number of the date, or the index of the category.",
    ]
    truth: Annotated[str, "Its class."]
    leaf: Annotated[int, "Index of its leaf; of several leaves the one with the largest share."]


@dataclass(frozen=True)
class TreeSection:
    """The tree node by node."""

    n_leaves: Annotated[int, "Number of leaves."]
    depth: Annotated[int, "Largest number of tests on the way to a leaf."]
    levels: Annotated[StatedLevels, "Confidence and utility of the tree."]
    levels_from: Annotated[str, "Which rows the levels come from."]
    n_regrown_leaves: Annotated[
        int | None,
        "Leaves of the tree that these rows give, if it is another one than the tree that was "
        "fitted before: all estimates for unseen rows are about trees grown like it.",
    ]
    levels_source: Annotated[
        Literal["cross_fit", "honest", "training"],
        "The same in a word. Levels of training rows are too high for new rows.",
    ]
    of_rows: Annotated[
        RowsOfLevels,
        "Which rows utility and confidence are about: with class_weight, rows that count as often "
        "as their class weighs.",
    ]
    notes: Annotated[list[str], "What to know before relying on the levels."]
    terms: Annotated[LeafTerms, "What each number of a leaf means."]
    wanted: Annotated[WantedLevels, "The levels below which leaves are flagged."]
    at_costs: Annotated[
        bool,
        "Whether leaves decide by costs. Then prediction is the decision of least expected "
        "cost, confidence the probability that it is the cheapest one, and utility what it "
        "saves.",
    ]
    unseen: Annotated[
        Unseen,
        'What happens to a category that was not in the training rows: "mixture" sends the row '
        'down every branch, "stop" lets the node decide, "error" refuses the row.',
    ]
    columns: Annotated[tuple[TestedColumn, ...], "The columns that the tree tests."]
    nodes: Annotated[tuple[Node, ...], "All nodes; the root comes first."]
    rules: Annotated[str, "The tree as text."]
    example_rows: Annotated[
        tuple[ExampleRow, ...], "At most 40 rows, from as many different leaves as possible."
    ]
    stability: Annotated[
        TreeStability | None,
        "How much of the tree came out again in trees of halves of the rows; null if its levels "
        "are not cross-fitted.",
    ]
    certificate: Annotated[
        TreeCertificate | None, "What held-out rows prove; null if there are none."
    ]


def tree_section(results: ReportResults) -> TreeSection:
    """Describe the fitted tree."""
    model, request = results.model, results.request
    tree = model.tree
    tested = np.unique(tree.feature[~tree.is_leaf]).tolist()
    columns = [model.schema.columns[index] for index in tested]
    levels, stability = model.levels(), model.evidence.stability
    of_rows: RowsOfLevels = "training rows" if model.evidence.source == "training" else "new rows"
    if results.leaves.is_class_weighted:
        of_rows = "weighted rows"
    return TreeSection(
        n_leaves=tree.n_leaves,
        depth=tree.depth,
        levels=StatedLevels(levels.confidence, levels.utility),
        levels_from=results.leaves.source_note(),
        n_regrown_leaves=results.n_refitted_leaves,
        levels_source=cast(Literal["cross_fit", "honest", "training"], model.evidence.source),
        of_rows=of_rows,
        notes=[*replace(results.leaves, stability=None).limits(), *_known_limits(results)],
        terms=leaf_terms(model),
        wanted=WantedLevels(request.level, request.confidence, request.utility),
        at_costs=model.rule is not None,
        unseen=cast(Unseen, model.unseen),
        columns=tuple(
            TestedColumn(
                str(column.name),
                column_kind(column),
                [str(c) for c in column.categories] if column.is_coded else None,
                column.temporal,
            )
            for column in columns
        ),
        nodes=tuple(_nodes(results, tested)),
        rules=rules_text(
            tree, model.schema, results.labels, model.probabilities, model.predicted_classes
        ),
        example_rows=tuple(_examples(results, tested, columns)),
        stability=None
        if stability is None
        else record_of(TreeStability, stability, text=stability.sentence()),
        certificate=_certificate(model, 1.0 - request.level),
    )


def _certificate(model: TreeModel, alpha: float) -> TreeCertificate | None:
    held_out = model.held_out
    if held_out is None or held_out.problem or not 0 < alpha < 1:
        return None
    certificate = model.certificate(alpha=alpha)
    shown = [one.name for one in fields(CertifiedLeaf)]
    records = certificate.leaves.records()
    leaves = tuple(CertifiedLeaf(**{name: one[name] for name in shown}) for one in records)
    return record_of(TreeCertificate, certificate, leaves=leaves)


_MANY_MISSING_CELLS = 0.1


def _known_limits(results: ReportResults) -> Iterator[str]:
    """Return the known limits of levels that depend on the table; `LeafTable.notes` has others."""
    table, evaluation = results.table, results.evaluation
    if not decides_by_costs(results.request, report_tree(results.request)):
        instead = "pruning='auto' takes them into account."
        if results.request.is_fitted_before:
            instead = "make a report without the saved tree."
        yield (
            "The tests of this tree were chosen without these costs. The costs change what its "
            "leaves decide, and all figures are about these decisions. A tree that is grown for "
            f"the costs may cost less: {instead}"
        )
    if results.n_refitted_leaves is not None:
        n_leaves, anew = results.model.tree.n_leaves, results.n_refitted_leaves
        grown = f"it has {count_of(anew, 'leaf', 'leaves')} and not these {n_leaves:,}"
        yield (
            "This tree was fitted before. The estimates for unseen rows are about trees that are "
            "grown anew with its parameters; grown anew on these rows, "
            f"{grown if anew != n_leaves else 'it is another tree'}. It was pruned afterwards, or "
            "fitted to other rows."
        )
    n_missing = sum(map(np.count_nonzero, map(is_missing, table.schema.columns, table.columns)))
    is_fractional = results.model.tree.has_fractional_rows
    if is_fractional and n_missing > _MANY_MISSING_CELLS * table.n_rows * len(table.columns):
        yield (
            "Many values are missing, and rows with missing values go down several branches: the "
            "utility of the tree is then a little too high, and the levels of rows without missing "
            "values are too low."
        )
    if evaluation.groups is None and len(np.unique(row_hashes(list(table.columns)))) < len(table):
        yield (
            "Some rows are equal in all columns. If they are copies of one case, all levels are "
            "too high: give the case as a group."
        )


def _nodes(results: ReportResults, tested: list[int]) -> Iterator[Node]:
    model = results.model
    tree = model.tree
    rules = leaf_rules(tree, model.schema)
    line_of_leaf = {int(leaf): line for line, leaf in enumerate(results.leaves.leaf)}
    edges: dict[int, str] = {}
    for node in range(tree.n_nodes):
        probabilities, predicted = model.probabilities[node], int(model.predicted_classes[node])
        common: dict[str, Any] = {
            "id": node,
            "parent": int(tree.parent[node]) if node else None,
            "edge": edges.get(node),
            "depth": int(tree.node_depth[node]),
            "counts": tree.class_counts[node].tolist(),
            "n": float(tree.class_counts[node].sum()),
            "prediction": predicted,
            "probability": float(probabilities[predicted]),
            "probabilities": probabilities.tolist(),
        }
        if node in line_of_leaf:
            more = _leaf_fields(results, line_of_leaf[node]) | {"rule": rules[node]}
        else:
            column = int(tree.feature[node])
            tests = branch_tests(tree, node, model.schema.columns[column])
            edges |= dict(zip(tree.branches(node).tolist(), tests, strict=True))
            more = _test_fields(model, node) | {"column": tested.index(column)}
        yield Node(**common | more)


def _test_fields(model: TreeModel, node: int) -> dict[str, Any]:
    tree, column = model.tree, model.schema.columns[model.tree.feature[node]]
    branches = slice(tree.child_offset[node], tree.child_offset[node + 1])
    is_unordered = column.kind == "categorical"
    has_bound = not is_unordered and not tree.tests_missing(node)
    threshold = float(tree.threshold[node])
    missing_branch = int(tree.missing_branch[node])
    stability = model.evidence.stability
    return {
        "threshold": finite(threshold) if has_bound else None,
        "threshold_text": column.render_bound(threshold) if has_bound else None,
        "branch_of_category": tree.categories(node).tolist() if is_unordered else None,
        "children": tuple(tree.branches(node).tolist()),
        "shares": tuple(tree.branch_share[branches].tolist()),
        "missing_branch": missing_branch if missing_branch >= 0 else None,
        "missing_arrives": bool(tree.missing_arrives[node] and column.has_missing),
        "recurrence": None
        if stability is None
        else float(stability.returned[node] / stability.n_trees),
    }


def _leaf_fields(results: ReportResults, line: int) -> dict[str, Any]:
    leaves = results.leaves
    needed, in_all = float(leaves.rows_needed[line]), float(leaves.total_rows_needed[line])
    return {
        "probability": float(leaves.probability[line]),
        "low": finite(leaves.low[line]),
        "high": finite(leaves.high[line]),
        "confidence": float(leaves.confidence[line]),
        "utility": float(leaves.utility[line]),
        "rows_needed": int(needed) if np.isfinite(needed) else None,
        "total_rows_needed": round(in_all) if np.isfinite(in_all) else None,
        "flagged": bool(leaves.flagged[line]),
        "repair": str(leaves.repair[line]) or None,
        "recurrence": finite(leaves.recurrence[line]),
    }


def _examples(
    results: ReportResults, tested: list[int], columns: list[Column]
) -> Iterator[ExampleRow]:
    """Choose rows from as many different leaves as possible, in the order of the file."""
    leaf_of: NDArray[np.int64] = results.model.apply(results.table)
    by_leaf = np.argsort(leaf_of, kind="stable")
    _, counts = np.unique(leaf_of, return_counts=True)
    rank_in_leaf = np.arange(len(by_leaf)) - np.repeat(np.cumsum(counts) - counts, counts)
    by_turn = by_leaf[np.argsort(rank_in_leaf, kind="stable")]  # one per leaf, then a second one
    chosen = by_turn[:MAX_EXAMPLES]
    if len(counts) > MAX_EXAMPLES:
        chosen = by_turn[np.linspace(0, len(counts) - 1, MAX_EXAMPLES).astype(np.int64)]
    for row in np.sort(chosen).tolist():
        raw = (results.table.columns[index][row] for index in tested)
        cells = [
            (one, None if is_missing(one, v) else v) for one, v in zip(columns, raw, strict=True)
        ]
        yield ExampleRow(
            row=row,
            values=[None if v is None else column.render(v) for column, v in cells],
            codes=[None if v is None else finite(v) for _, v in cells],
            truth=results.labels[int(results.evaluation.truth[row])],
            leaf=int(leaf_of[row]),
        )


# What the scripts of the page read. Nodes come column by column, with the fields of leaves and of
# inner nodes apart and without rules, which follow from the edges: otherwise names and rules would
# be half of the page of a large tree.

_EVERY_NODE = ("id", "parent", "edge", "counts", "n", "prediction", "probabilities")
_LEAF = (
    *("probability", "low", "high", "confidence", "utility"),
    *("rows_needed", "total_rows_needed", "flagged", "repair"),
)
_INNER = (
    *("column", "threshold", "threshold_text", "branch_of_category"),
    *("children", "shares", "missing_branch", "recurrence"),
)


def embedded_tree(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the section, as plain values, that the scripts of the page read."""
    nodes = tree["nodes"]
    names = ("wanted", "at_costs", "unseen", "columns", "example_rows", "terms")
    return {
        **{name: tree[name] for name in names},
        "missing_arrives": [node["id"] for node in nodes if node["missing_arrives"]],
        "nodes": by_column(nodes, _EVERY_NODE),
        "leaf": by_column([node for node in nodes if not node["children"]], _LEAF),
        "inner": by_column([node for node in nodes if node["children"]], _INNER),
    }
