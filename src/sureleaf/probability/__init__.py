"""From the counts of a leaf to class probabilities, one small object an estimate."""

from sureleaf.probability.estimates import (
    ESTIMATES,
    Frequency,
    Laplace,
    LeafEstimate,
    find_estimate,
)

__all__ = ["ESTIMATES", "Frequency", "Laplace", "LeafEstimate", "find_estimate"]
