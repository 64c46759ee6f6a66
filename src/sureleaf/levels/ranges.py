"""What range of p_max is meant: a tuple (a, b), or one value."""

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError
from sureleaf.levels.arguments import p_max_of

__all__ = ["range_of", "smallest_of_range"]


def range_of(name: str, given: ArrayLike) -> tuple[float, float]:
    """Return the ends of a range of p_max; one number is a range of its own.

    Examples
    --------
    >>> range_of("p_range", (0.6, 0.9))
    (0.6, 0.9)
    >>> range_of("p_range", 0.7)
    (0.7, 0.7)
    """
    ends = [given] if np.ndim(given) == 0 else list(np.asarray(given))
    if len(ends) not in (1, 2):
        raise InvalidArgumentError(
            f"{name} must be one number or a range (a, b); got {len(ends)} numbers."
        )
    low, high = (float(p_max_of(end, name)) for end in (ends[0], ends[-1]))
    if low > high:
        raise InvalidArgumentError(
            f"{name} must be a range (a, b) with a <= b; got ({low:.17g}, {high:.17g}). "
            "Swap its ends."
        )
    return low, high


def smallest_of_range(name: str, given: ArrayLike) -> ArrayLike:
    """Return the lower end where a tuple (a, b) was given, and anything else as it is.

    Examples
    --------
    >>> smallest_of_range("p_max", (0.6, 0.9))
    0.6
    """
    return range_of(name, given)[0] if isinstance(given, tuple) else given
