"""Is one classifier better than another? Tests that fit the design, a verdict, and planning."""

from sureleaf.comparison.difference import DifferenceTest
from sureleaf.comparison.discordant import mcnemar
from sureleaf.comparison.many import ManyComparison, Pair, compare_many, holm
from sureleaf.comparison.paired import auc_difference, bootstrap_difference
from sureleaf.comparison.planning import rows_for_width, rows_to_detect
from sureleaf.comparison.rates import compare_rates, rate_interval
from sureleaf.comparison.signed_rank import SignedRankPosterior, bayesian_signed_rank
from sureleaf.comparison.student import five_by_two_f, one_sample_t, paired_t
from sureleaf.comparison.two_models import compare
from sureleaf.comparison.verdict import Comparison

__all__ = [
    "Comparison",
    "DifferenceTest",
    "ManyComparison",
    "Pair",
    "SignedRankPosterior",
    "auc_difference",
    "bayesian_signed_rank",
    "bootstrap_difference",
    "compare",
    "compare_many",
    "compare_rates",
    "five_by_two_f",
    "holm",
    "mcnemar",
    "one_sample_t",
    "paired_t",
    "rate_interval",
    "rows_for_width",
    "rows_to_detect",
]
