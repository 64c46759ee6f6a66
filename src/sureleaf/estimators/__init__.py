"""Scikit-learn classifiers: parameters and checks around the models of `sureleaf.model`."""

from sureleaf.estimators.bagged_trees import BaggedTreesClassifier
from sureleaf.estimators.column_ranking import rank_columns
from sureleaf.estimators.saving import load
from sureleaf.estimators.tree_classifier import TreeClassifier

__all__ = ["BaggedTreesClassifier", "TreeClassifier", "load", "rank_columns"]
