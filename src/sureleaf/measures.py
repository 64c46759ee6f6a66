"""Measures: plain functions of truth and predictions or probabilities.

A rate of no rows is 0, an area of one class is NaN, and every function takes ``sample_weight``.
They are defined in `sureleaf.evaluation.measures`; users import them from here.
"""

from sureleaf.evaluation.measures import *  # noqa: F403
from sureleaf.evaluation.measures import __all__ as __all__
