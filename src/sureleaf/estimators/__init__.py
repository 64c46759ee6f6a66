"""Thin scikit-learn classes that wire the rooms below together."""

from sureleaf.estimators.bagged_trees import BaggedTreesClassifier
from sureleaf.estimators.tree_classifier import TreeClassifier

__all__ = ["BaggedTreesClassifier", "TreeClassifier"]
