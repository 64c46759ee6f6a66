"""The compiled module's routines, a line of meaning each.

Those of levels take float64 arrays of one shape and return a new one; NaN in, NaN out.
"""

from sureleaf._kernel._core import (
    SortedTable,  # a table with the order of its columns found
    TextCoder,  # equal texts -> equal codes, over Arrow's buffers
    WalkedTree,  # a tree for many walks, which keeps its packed form
    average_prunings,  # (tree, counts, evidence, ...): what all prunings say, a line a node
    class_wins,  # (rows, probabilities, wins): P(class j is the most frequent), into wins
    code_objects,  # (objects, codes): code str objects, and give the different ones
    collapse_marks,  # (tree): where C4.5 cuts before pruning
    confidence,  # (n, p_max): (5), interpolated between whole n
    cost_complexity_alphas,  # (tree, cost): the penalty a leaf at which nodes are cut
    count_nodes,  # (tree, table, labels, weights): class weights of every node
    cut_at,  # (tree, marks): the same tree with some nodes as leaves
    entropic_estimate,  # (y_max, n): maximiser of (2)
    find_used,  # (codes, n): which of the codes 0 to n - 1 there are
    grow,  # a tree from a sorted table and labels
    log_binomial,  # (y, n, p): log P(Bin(n, p) = y) for whole y, n and p >= 1/2
    look_up,  # (indices, new_codes, codes): the new codes of indices
    make_table,  # arrays as kernel columns, without a copy
    make_tree,  # a tree from arrays, checked
    node_confidence,  # (n, share, p_max, empty_is_coin): (9), interpolated between whole n
    predict,  # (walked tree, table, values, ...): mixtures of node values, a line a row
    predict_bags,  # (trees, values, is_asked, table, ...): sums of what trees say, a line a row
    presort,  # (table, n_threads): the order of every column
    prune_pessimistic,  # C4.5's subtree replacement and raising
    recode,  # (codes, new_codes): replace codes, in place
    route,  # (walked tree, table, stop_at_unseen): the nodes and shares of rows
)
from sureleaf._kernel._core import Table as KernelTable  # columns as the kernel reads them
from sureleaf._kernel._core import Tree as KernelTree  # a finished tree

__all__ = [
    "KernelTable",
    "KernelTree",
    "SortedTable",
    "TextCoder",
    "WalkedTree",
    "average_prunings",
    "class_wins",
    "code_objects",
    "collapse_marks",
    "confidence",
    "cost_complexity_alphas",
    "count_nodes",
    "cut_at",
    "entropic_estimate",
    "find_used",
    "grow",
    "log_binomial",
    "look_up",
    "make_table",
    "make_tree",
    "node_confidence",
    "predict",
    "predict_bags",
    "presort",
    "prune_pessimistic",
    "recode",
    "route",
]
