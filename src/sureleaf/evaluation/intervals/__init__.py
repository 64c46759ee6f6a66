"""Intervals as pure functions of numbers: what is valid where is decided by the callers."""

from sureleaf.evaluation.intervals.bootstrap import (
    bca_limits,
    bootstrap_counts,
    bootstrap_interval,
    bootstrap_mean,
)
from sureleaf.evaluation.intervals.corrected_t import MeanOverSplits, corrected_resampled
from sureleaf.evaluation.intervals.delong import (
    delong_covariance,
    delong_interval,
    delong_one_vs_rest,
    newcombe_auc,
)
from sureleaf.evaluation.intervals.estimate import Estimate, Interval
from sureleaf.evaluation.intervals.nested_cv import NestedFold, NestedMean, nested_cv
from sureleaf.evaluation.intervals.out_of_bag import OutOfBagMean, out_of_bag_mean
from sureleaf.evaluation.intervals.proportion import clopper_pearson, wilson

__all__ = [
    "Estimate",
    "Interval",
    "MeanOverSplits",
    "NestedFold",
    "NestedMean",
    "OutOfBagMean",
    "bca_limits",
    "bootstrap_counts",
    "bootstrap_interval",
    "bootstrap_mean",
    "clopper_pearson",
    "corrected_resampled",
    "delong_covariance",
    "delong_interval",
    "delong_one_vs_rest",
    "nested_cv",
    "newcombe_auc",
    "out_of_bag_mean",
    "wilson",
]
