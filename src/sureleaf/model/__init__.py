"""Fitted models as frozen values, and how they are fitted, cross-fitted, read and saved."""

from sureleaf.model.bagged_model import BaggedModel
from sureleaf.model.tree_model import Evidence, TreeModel

__all__ = ["BaggedModel", "Evidence", "TreeModel"]
