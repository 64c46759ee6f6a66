"""Colours of classes: told apart also by those who see fewer colours (Okabe and Ito, 2008)."""

from typing import Final

__all__ = ["class_colour", "shade"]

_COLOURS: Final = (
    (0, 114, 178),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (213, 94, 0),
    (180, 170, 40),
    (120, 120, 120),
)
_PALEST, _STRONGEST = 0.12, 0.60


def class_colour(place: int) -> str:
    """Give the colour of a class; after eight they begin again.

    Examples
    --------
    >>> class_colour(0)
    '#0072b2'
    """
    return "#{:02x}{:02x}{:02x}".format(*_COLOURS[place % len(_COLOURS)])


def shade(place: int, strength: float) -> str:
    """Give a class's colour on white, paler the less sure; dark text stays readable on it.

    Examples
    --------
    >>> shade(0, 0.0), shade(0, 1.0)
    ('#e0eef6', '#66aad1')
    """
    part = _PALEST + (_STRONGEST - _PALEST) * strength
    mixed = (round(255 + (value - 255) * part) for value in _COLOURS[place % len(_COLOURS)])
    return "#{:02x}{:02x}{:02x}".format(*mixed)
