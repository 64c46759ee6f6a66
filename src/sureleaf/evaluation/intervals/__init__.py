"""Intervals as pure functions of numbers: what is valid where is decided by the callers."""

from sureleaf.evaluation.intervals.bootstrap import (
    OutOfBagMean,
    bca_limits,
    bootstrap_counts,
    bootstrap_interval,
    bootstrap_mean,
    out_of_bag_mean,
)
from sureleaf.evaluation.intervals.delong import (
    delong_covariance,
    delong_interval,
    delong_one_vs_rest,
    newcombe_auc,
)
from sureleaf.evaluation.intervals.estimate import Estimate, Interval
from sureleaf.evaluation.intervals.proportion import clopper_pearson, wilson
from sureleaf.evaluation.intervals.resamples import (
    MeanOverSplits,
    NestedFold,
    NestedMean,
    corrected_resampled,
    nested_cv,
)

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
