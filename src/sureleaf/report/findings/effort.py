"""How much is computed for how many rows: all of it for small tables, less for large ones."""

from dataclasses import dataclass

__all__ = ["Effort", "effort_for"]


@dataclass(frozen=True)
class Effort:
    """How often models are fitted for a report.

    Attributes
    ----------
    folds, repeats : int
        Of the cross-validation that all models share.
    bootstraps : int
        For the .632+ error.
    curve_repeats : int
        For the learning curve.
    band_draws : int
        For the band around the ROC curve.

    Examples
    --------
    >>> effort_for(57, 57).repeats, effort_for(48842, 48842).repeats
    (5, 1)
    """

    folds: int
    repeats: int
    bootstraps: int
    curve_repeats: int
    band_draws: int


_BY_ROWS = (
    # rows up to, folds, repeats, bootstraps, repeats of the curve, draws of the band
    (300, Effort(10, 5, 100, 20, 1000)),
    (3_000, Effort(10, 3, 100, 20, 1000)),
    (20_000, Effort(10, 1, 50, 10, 500)),
    (200_000, Effort(10, 1, 25, 5, 200)),
)
_MOST = Effort(5, 1, 10, 3, 100)


def effort_for(n_rows: int, n_units: int) -> Effort:
    """Return what a table of so many rows gets; units are its groups, or rows without any.

    Examples
    --------
    >>> effort_for(1000, 1000).folds, effort_for(1000, 4).folds
    (10, 4)
    """
    found = next((effort for most, effort in _BY_ROWS if n_rows <= most), _MOST)
    folds = min(found.folds, n_units)
    return Effort(folds, found.repeats, found.bootstraps, found.curve_repeats, found.band_draws)
