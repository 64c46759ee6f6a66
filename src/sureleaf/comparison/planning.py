"""Rows needed for an interval of a given width, or to find a given difference.

All figures are for a difference or a width that the caller chooses. Power at the observed
difference is not offered: it carries no information beyond the p-value.
"""

import math

from scipy.special import ndtri

from sureleaf.arguments import check_level
from sureleaf.comparison.rates import rate_interval
from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.search import smallest_count

__all__ = ["rows_for_width", "rows_to_detect"]


def rows_for_width(
    half_width: float, *, rate: float = 0.5, method: str = "clopper_pearson", level: float = 0.95
) -> int:
    """Return the rows until the interval of a rate is no wider than twice ``half_width``.

    A rate of .5 needs the most rows; far from it, the interval extends a little further towards .5.
    The method is one of `rate_interval`, by default that of `Evaluation.estimate`.

    Examples
    --------
    >>> rows_for_width(0.03)
    1098
    >>> rows_for_width(0.02, rate=0.9)
    914
    """
    if not 0 < half_width < 0.5:
        raise InvalidArgumentError(
            f"half_width must be between 0 and 0.5, e.g. 0.02; got {half_width!r}."
        )

    def width(n: int) -> float:
        interval = rate_interval(rate, n, method=method, level=level)
        return interval.high - interval.low

    return smallest_count(lambda n: width(n) <= 2 * half_width)


def rows_to_detect(
    difference: float,
    *,
    rate: float,
    paired: bool = True,
    discordance: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
) -> int:
    """Return the rows until a test finds a difference of two error rates with a given power.

    By the normal approximation [1]_ [2]_.

    Parameters
    ----------
    difference : float
        The smallest difference of interest.
    rate : float
        Lower of the two error rates; the other is ``rate + difference``.
    paired : bool, default=True
        Whether both models are tested on the same rows (McNemar). False: each on its own rows
        (z, pooled); the result is then the number of rows for each.
    discordance : float, optional
        Share of rows that exactly one of two paired models predicts correctly. By default that
        of two models with independent errors; models with similar errors need fewer rows.
    power, level : float
        Probability that the two-sided test at this level finds the difference.

    References
    ----------
    .. [1] Connor, R. J. (1987). Sample size for testing differences in proportions for the
       paired-sample design. Biometrics 43, 207-211.
    .. [2] Fleiss, J. L., Levin, B. and Paik, M. C. (2003). Statistical methods for rates and
       proportions, 3rd edition. Wiley.

    Examples
    --------
    >>> rows_to_detect(0.02, rate=0.10, discordance=0.06)
    1175
    >>> rows_to_detect(0.02, rate=0.10, paired=False)
    3841
    """
    check_level(level)
    if not 0 < power < 1:
        raise InvalidArgumentError(f"power must be between 0 and 1, e.g. 0.8; got {power!r}.")
    other = rate + difference
    if not (difference > 0 and rate >= 0 and other <= 1):
        raise InvalidArgumentError(
            "difference must be above 0, and rate and rate + difference between 0 and 1; "
            f"got difference {difference!r} and rate {rate!r}."
        )
    under_null, under_difference = _standard_deviations(rate, other, paired, discordance)
    z_level, z_power = float(ndtri((1 + level) / 2)), float(ndtri(power))
    reach = z_level * under_null + z_power * under_difference  # below 0, one row is enough
    return max(math.ceil((max(reach, 0.0) / difference) ** 2), 1)


def _standard_deviations(
    rate: float, other: float, paired: bool, discordance: float | None
) -> tuple[float, float]:
    """Return the standard deviation per row, without and with a true difference."""
    if not paired:
        if discordance is not None:
            raise InvalidArgumentError(
                "discordance is for models on the same rows. Leave it out with paired=False."
            )
        mean = (rate + other) / 2
        return (
            math.sqrt(2 * mean * (1 - mean)),
            math.sqrt(rate * (1 - rate) + other * (1 - other)),
        )
    if discordance is None:
        discordance = rate * (1 - other) + other * (1 - rate)
    # The smallest possible discordance is the difference itself; allow for rounding.
    least, most = other - rate - 1e-12, min(rate + other, 2 - rate - other) + 1e-12
    if not least <= discordance <= most:
        raise InvalidArgumentError(
            f"discordance must be between {other - rate:g} (the difference) and {most:.4g} for "
            f"error rates {rate:g} and {other:g}; got {discordance!r}."
        )
    return (
        math.sqrt(discordance),
        math.sqrt(max(discordance - (other - rate) ** 2, 0.0)),
    )
