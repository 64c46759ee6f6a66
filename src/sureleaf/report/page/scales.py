"""Numbers as places in the small drawings between the text."""

from collections.abc import Sequence

__all__ = ["bar_heights", "place", "scale_start"]

_STARTS = (0.99, 0.95, 0.9, 0.8, 0.5)


def place(value: float, low: float = 0.0, high: float = 1.0, width: float = 100.0) -> str:
    """Say how far from the left a value stands on a scale; values beyond it stand at its end.

    Examples
    --------
    >>> place(0.25), place(7.0, 0.0, 5.0, 120.0)
    ('25', '120')
    """
    share = (value - low) / (high - low) if high > low else 0.0
    return f"{width * min(1.0, max(0.0, share)):.5g}"


def bar_heights(counts: Sequence[float], height: float) -> list[str]:
    """Say how high the bars of a histogram are; what is not zero can be seen.

    Examples
    --------
    >>> bar_heights([0, 1, 200], 20.0)
    ['0', '1', '20']
    """
    most = max(counts, default=0) or 1
    return [f"{max(height * count / most, 1.0 if count else 0.0):.3g}" for count in counts]


def scale_start(least: float) -> float:
    """Say where a scale of shares that ends at 1 begins, so that what is near 1 can be told apart.

    Examples
    --------
    >>> scale_start(0.649), scale_start(0.33), scale_start(0.977)
    (0.5, 0.0, 0.95)
    """
    return next((start for start in _STARTS if least >= start), 0.0)
