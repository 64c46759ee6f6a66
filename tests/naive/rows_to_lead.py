"""By how much the rows of a leaf must grow until its share leads, by bisection."""

import numpy as np
from scipy.special import betainc


def naive_factor_to_lead(known, share, tie, limit, against):
    """Return the factor of each leaf; NaN where no number of rows is enough."""
    factors = []
    for rows_now, p, t in zip(known, share, tie, strict=True):
        low, high = -20.0, 40.0
        for _ in range(50):
            middle = (low + high) / 2
            rows = rows_now * 2.0**middle
            leads = betainc((1.0 - p) * rows + against + 1e-9, p * rows, 1.0 - t) >= limit
            low, high = (low, middle) if leads else (middle, high)
        able = p > t + 1e-9 and rows_now > 0 and high <= 39.0
        factors.append(2.0**high if able else np.nan)
    return np.array(factors)
