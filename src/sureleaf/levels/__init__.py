"""How likely a node has found its majority class, and is right about the next row.

Pure functions of arrays, without trees: scalars in, scalars out; arrays broadcast. Equation
numbers are those of Zhang (2024), "Levels of Confidence and Utility for Binary Classifiers",
Stats 7, 1209-1225. What is done about bad input is said in `sureleaf.levels.arguments`.
"""

from sureleaf.levels import entropies
from sureleaf.levels.distribution import entropic_binomial
from sureleaf.levels.estimates import estimate_p_max
from sureleaf.levels.likelihoods import entropic_joint_log_likelihood, joint_log_likelihood
from sureleaf.levels.node import confidence, utility
from sureleaf.levels.tree import TreeLevels, node_confidence, node_utility, tree_levels

__all__ = [
    "TreeLevels",
    "confidence",
    "entropic_binomial",
    "entropic_joint_log_likelihood",
    "entropies",
    "estimate_p_max",
    "joint_log_likelihood",
    "node_confidence",
    "node_utility",
    "tree_levels",
    "utility",
]
