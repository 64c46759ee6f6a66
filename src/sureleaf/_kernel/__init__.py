"""The routines of the compiled module, each with a line of explanation.

The routines of levels take float64 arrays of the same shape and return a new array; NaN gives NaN.
"""

from sureleaf._kernel._core import (
    GrowthConfig,  # (*, criterion, ...): the rules by which a tree is grown
    LevelGrower,  # a tree that is grown from histograms
    NodeStart,  # where a tree starts below a node of a larger one
    RoutingTree,  # a tree for routing many rows, which keeps its packed form
    SortedTable,  # a table with the order of its columns
    StopFlag,  # stops the calls of threads that watch it
    TextCoder,  # equal texts -> equal codes, over Arrow's buffers
    advance_rows,  # (table, n_classes, node_of, ...): the child of its node for every row
    are_ascii,  # (offsets, data): whether texts are ASCII, with offsets that ascend in the data
    average_prunings,  # (tree, counts, evidence, ...): mean over all prunings, one line per node
    code_numbers,  # (column, values, codes, position): write the code of each number
    code_objects,  # (objects, codes): code str objects, and return the distinct ones
    collapse_marks,  # (tree): where C4.5 cuts before pruning
    confidence,  # (n, p_max): (5), interpolated between whole n
    cost_complexity_alphas,  # (tree, cost): the penalty per leaf at which nodes are cut
    count_level,  # (table, labels, n_classes, ...): class counts per code, one line per node
    count_nodes,  # (tree, table, labels, weights): class weights of every node
    criterion_names,  # (): the criteria that GrowthConfig takes
    cut_at,  # (tree, marks): the same tree with some nodes as leaves
    entropic_estimate,  # (y_max, n): maximiser of (2)
    few_values,  # (column, is_counted): the distinct values; None if they are more than 255
    grow,  # (table, labels, n_classes, config, *, ...): a tree
    hash_rows,  # (table): a hash of the numbers of each row
    log_binomial,  # (y, n, p): log P(Bin(n, p) = y) for whole y, n and p >= 1/2
    look_up,  # (indices, new_codes, codes): the new codes of indices
    make_coded,  # (*, codes, ...): small codes as kernel columns, without a copy
    make_matrix,  # the columns of one array as kernel columns, without a copy
    make_table,  # arrays as kernel columns, without a copy
    make_tree,  # a tree from arrays, checked
    mark_used,  # (codes, is_used): mark the codes that occur
    node_confidence,  # (n, share, p_max, empty_is_coin): (9), interpolated between whole n
    plurality,  # (rows, probabilities, wins, exact): P(class j is the most frequent), into wins
    predict,  # (routing tree, table, values, *, ...): mixtures of node values, one line per row
    predict_bags,  # (trees, values, uses_row, table, ...): sums over trees, one line per row
    presort,  # (table, n_threads): the order of every column
    prune_pessimistic,  # C4.5's subtree replacement and raising
    recode,  # (codes, new_codes): replace codes, in place
    route,  # (routing tree, table, stop_at_unseen): the nodes and shares of rows
    row_fingerprints,  # (table, labels, n_threads): a number per row, by its cells and label
    shrink_to_parent,  # (tree, counts, totals, root, strength): shares shrunk down the tree
)
from sureleaf._kernel._core import Table as KernelTable  # columns as the kernel reads them
from sureleaf._kernel._core import Tree as KernelTree  # a finished tree

__all__ = [
    "GrowthConfig",
    "KernelTable",
    "KernelTree",
    "LevelGrower",
    "NodeStart",
    "RoutingTree",
    "SortedTable",
    "StopFlag",
    "TextCoder",
    "advance_rows",
    "are_ascii",
    "average_prunings",
    "code_numbers",
    "code_objects",
    "collapse_marks",
    "confidence",
    "cost_complexity_alphas",
    "count_level",
    "count_nodes",
    "criterion_names",
    "cut_at",
    "entropic_estimate",
    "few_values",
    "grow",
    "hash_rows",
    "log_binomial",
    "look_up",
    "make_coded",
    "make_matrix",
    "make_table",
    "make_tree",
    "mark_used",
    "node_confidence",
    "plurality",
    "predict",
    "predict_bags",
    "presort",
    "prune_pessimistic",
    "recode",
    "route",
    "row_fingerprints",
    "shrink_to_parent",
]
