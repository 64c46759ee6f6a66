"""From the counts of a leaf to class probabilities, one small object an estimate."""

from sureleaf.probability.estimates import (
    ESTIMATES,
    Blend,
    Frequency,
    Jeffreys,
    KeepMajority,
    Laplace,
    LeafEstimate,
    MEstimate,
    find_estimate,
)
from sureleaf.probability.shrinkage import Averaging, Shrinkage

__all__ = [
    "ESTIMATES",
    "Averaging",
    "Blend",
    "Frequency",
    "Jeffreys",
    "KeepMajority",
    "Laplace",
    "LeafEstimate",
    "MEstimate",
    "Shrinkage",
    "find_estimate",
]
