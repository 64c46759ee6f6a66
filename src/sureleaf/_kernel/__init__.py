"""The compiled module's routines, a line of meaning each."""

from sureleaf._kernel._core import SortedTable as SortedTable  # a table with its orders found
from sureleaf._kernel._core import Table as KernelTable  # columns as the kernel reads them
from sureleaf._kernel._core import Tree as KernelTree  # a finished tree
from sureleaf._kernel._core import (
    collapse_marks,  # where C4.5 cuts before pruning
    cost_complexity_alphas,  # the penalty at which nodes are cut
    count_nodes,  # class weights of every node for given rows
    cut_at,  # the same tree with some nodes as leaves
    grow,  # a tree from sorted columns and labels
    make_table,  # arrays as kernel columns, without a copy
    make_tree,  # a checked tree from arrays
    predict,  # mixtures of node values for rows
    presort,  # the order of every column
    prune_pessimistic,  # C4.5's pruning
    route,  # the nodes and shares of rows
)

__all__ = [
    "KernelTable",
    "KernelTree",
    "SortedTable",
    "collapse_marks",
    "cost_complexity_alphas",
    "count_nodes",
    "cut_at",
    "grow",
    "make_table",
    "make_tree",
    "predict",
    "presort",
    "prune_pessimistic",
    "route",
]
