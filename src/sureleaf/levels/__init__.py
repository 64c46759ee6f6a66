"""How likely a node has found its majority class, and is right about the next row.

Pure functions of arrays, without trees: scalars in, scalars out; arrays broadcast. Equation
numbers are those of Zhang (2024), "Levels of Confidence and Utility for Binary Classifiers",
Stats 7, 1209-1225. What is done about bad input is said in `sureleaf.arguments`.
"""

from sureleaf.levels import entropies
from sureleaf.levels.distribution import entropic_binomial
from sureleaf.levels.estimates import (
    entropic_joint_log_likelihood,
    estimate_p_max,
    joint_log_likelihood,
)
from sureleaf.levels.estimator_bias import exact_bias, exact_mse, sample_size_for_bias
from sureleaf.levels.intervals import (
    Interval,
    LevelIntervals,
    level_intervals,
    p_max_interval,
)
from sureleaf.levels.nodes import (
    TreeLevels,
    confidence,
    node_confidence,
    node_utility,
    tree_levels,
    utility,
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
