"""The compiled module's routines, a line of meaning each.

Those of levels take float64 arrays of one shape and return a new one; NaN in, NaN out.
"""

from sureleaf._kernel._core import (
    class_wins,  # (rows, probabilities, wins): P(class j is the most frequent), into wins
    confidence,  # (n, p_max): (5), interpolated between whole n
    entropic_estimate,  # (y_max, n): maximiser of (2)
    log_binomial,  # (y, n, p): log P(Bin(n, p) = y) for whole y, n and p >= 1/2
    node_confidence,  # (n, share, p_max, empty_is_coin): (9), interpolated between whole n
)

__all__ = ["class_wins", "confidence", "entropic_estimate", "log_binomial", "node_confidence"]
