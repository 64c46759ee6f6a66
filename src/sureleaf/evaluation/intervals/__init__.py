"""Intervals as pure functions of numbers; the callers decide which of them is valid."""

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
from sureleaf.evaluation.intervals.resamples import (
    Estimate,
    MeanOverSplits,
    NestedFold,
    NestedMean,
    SplitVariance,
    corrected_resampled,
    nested_cv,
)
from sureleaf.levels.intervals import Interval, clopper_pearson, wilson

__all__ = [
    "Estimate",
    "Interval",
    "MeanOverSplits",
    "NestedFold",
    "NestedMean",
    "OutOfBagMean",
    "SplitVariance",
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
