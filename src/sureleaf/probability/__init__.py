"""From the counts of a leaf to class probabilities, one small object per estimate."""

from sureleaf.probability.leaf_estimates import (
    ESTIMATES,
    SIZED_ESTIMATE,
    Blend,
    Frequency,
    Jeffreys,
    KeepDecision,
    KeepMajority,
    Laplace,
    LeafEstimate,
    MEstimate,
    PrevalenceMix,
    Venn,
    find_estimate,
    is_built_in,
    sized_estimate,
    sized_probabilities,
)
from sureleaf.probability.shrinkage import Averaging, Shrinkage

__all__ = [
    "ESTIMATES",
    "SIZED_ESTIMATE",
    "Averaging",
    "Blend",
    "Frequency",
    "Jeffreys",
    "KeepDecision",
    "KeepMajority",
    "Laplace",
    "LeafEstimate",
    "MEstimate",
    "PrevalenceMix",
    "Shrinkage",
    "Venn",
    "find_estimate",
    "is_built_in",
    "sized_estimate",
    "sized_probabilities",
]
