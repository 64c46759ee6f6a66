"""Levels of confidence and utility of nodes and trees: pure functions of arrays.

Confidence is the probability that the majority class of the rows of a node is its most probable
class; utility is the probability that the node predicts the next row correctly. Scalars give
scalars, arrays broadcast. `sureleaf.arguments` describes how bad values are handled.

With a cost threshold (two classes) or a cost matrix (K classes), the decision of least expected
cost takes the place of the majority class: confidence is the probability that it is the cheapest
one, utility what it saves.

Equation numbers are those of Zhang (2024).

References
----------
Zhang, Z. (2024). Levels of confidence and utility for binary classifiers. Stats 7, 1209-1225.
"""

from sureleaf.levels import entropies
from sureleaf.levels.estimator_bias import exact_bias, exact_mse, sample_size_for_bias
from sureleaf.levels.intervals import Interval, LevelIntervals, level_intervals, p_max_interval
from sureleaf.levels.nodes import (
    TreeLevels,
    confidence,
    node_confidence,
    node_utility,
    tree_levels,
    utility,
)
from sureleaf.levels.p_max_estimates import (
    entropic_binomial,
    entropic_joint_log_likelihood,
    estimate_p_max,
    joint_log_likelihood,
)
from sureleaf.levels.planning import sample_size
from sureleaf.levels.plurality import class_confidence, class_utility

__all__ = [
    "Interval",
    "LevelIntervals",
    "TreeLevels",
    "class_confidence",
    "class_utility",
    "confidence",
    "entropic_binomial",
    "entropic_joint_log_likelihood",
    "entropies",
    "estimate_p_max",
    "exact_bias",
    "exact_mse",
    "joint_log_likelihood",
    "level_intervals",
    "node_confidence",
    "node_utility",
    "p_max_interval",
    "sample_size",
    "sample_size_for_bias",
    "tree_levels",
    "utility",
]
