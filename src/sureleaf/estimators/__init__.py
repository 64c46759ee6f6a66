"""Thin scikit-learn classes that wire the rooms below together."""

from sureleaf.estimators.column_ranking import rank_columns
from sureleaf.estimators.tree_classifier import TreeClassifier

__all__ = ["TreeClassifier", "rank_columns"]
