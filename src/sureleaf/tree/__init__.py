"""From an encoded table to a tree: grow, prune, route rows to leaves, write rules.

A `Tree` is finished and frozen; a tree that is still growing exists in the kernel only.
"""

from sureleaf.tree.growing import GrowthRules, RowStore, TrainingRows, grow, thread_map
from sureleaf.tree.pruning import (
    collapse,
    cost_complexity_path,
    cut,
    prune_pessimistic,
    prune_reduced_error,
)
from sureleaf.tree.routing import Routes, count_nodes, mixture, route
from sureleaf.tree.rules import rules_text, with_digits
from sureleaf.tree.structure import CRITERIA, Tree, impurity_importances, node_impurity

__all__ = [
    "CRITERIA",
    "GrowthRules",
    "Routes",
    "RowStore",
    "TrainingRows",
    "Tree",
    "collapse",
    "cost_complexity_path",
    "count_nodes",
    "cut",
    "grow",
    "impurity_importances",
    "mixture",
    "node_impurity",
    "prune_pessimistic",
    "prune_reduced_error",
    "route",
    "rules_text",
    "thread_map",
    "with_digits",
]
