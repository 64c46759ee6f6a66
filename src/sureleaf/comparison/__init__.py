"""Comparison of classifiers: tests that fit the design, verdicts, and planning."""

from sureleaf.comparison.multiple_models import ManyComparison, Pair, compare_many, holm
from sureleaf.comparison.plain_numbers import (
    auc_difference,
    bootstrap_difference,
    compare_rates,
    mcnemar,
    one_sample_t,
    paired_t,
    rate_interval,
    rows_for_width,
    rows_to_detect,
)
from sureleaf.comparison.two_models import compare
from sureleaf.comparison.verdict import Comparison, DifferenceTest

__all__ = [
    "Comparison",
    "DifferenceTest",
    "ManyComparison",
    "Pair",
    "auc_difference",
    "bootstrap_difference",
    "compare",
    "compare_many",
    "compare_rates",
    "holm",
    "mcnemar",
    "one_sample_t",
    "paired_t",
    "rate_interval",
    "rows_for_width",
    "rows_to_detect",
]
