"""Numbers as text: one function per purpose, used by the report, the commands and results.

A share is a number from 0 to 1. Percentages and differences in percentage points have one decimal
unless the caller says otherwise. What does not exist is written as a dash.
"""

import math
import re
from collections.abc import Sequence
from html import escape
from typing import Final

NOTHING = "\u2013"
_MINUS = "\u2212"
_SMALLEST_P = 0.001  # smaller ones are written as a bound
_ROUNDING = 1e-9  # a sum of shares may miss 1 by this much


_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Control characters, marks that change the direction of text, line separators, half characters,
and letters without width. Joiners (U+200C and U+200D) stay: Persian, Hindi and emoji need them."""


def visible(text: object, *, keep: str = "", json: bool = False) -> str:
    r"""Return text in which nothing can move the cursor, hide, or change the order of letters.

    Names, categories and labels come from files: whoever wrote them could otherwise forge what a
    terminal shows. This is the one place in which such characters are made visible. Characters to
    `keep`, such as a line break, stay as they are. Text that is `json` means the same afterwards.

    Examples
    --------
    >>> print(visible("a\x1b[2Jb\nc"), visible("\u202egpj.exe"))
    a\x1b[2Jb\nc \u202egpj.exe
    """

    def escaped(match: re.Match[str]) -> str:
        letter = match[0]
        if letter in keep:
            return letter
        code = ord(letter)
        if code > 0xFFFF:
            pair = letter.encode("utf-16-be").hex()
            return f"\\u{pair[:4]}\\u{pair[4:]}" if json else f"\\U{code:08x}"
        if json or code > 0xFF:
            return f"\\u{code:04x}"
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(letter, f"\\x{code:02x}")

    return _HIDDEN.sub(escaped, str(text))


class TextDisplay:
    """Gives a result with a readable ``str`` the same text in a notebook."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share in per cent; never as 0 or 100 if it is only near.

    Examples
    --------
    >>> percent(0.8422), percent(0.714, 0), percent(0.99999), percent(0.0002), percent(1.0)
    ('84.2 %', '71 %', '> 99.9 %', '< 0.1 %', '100 %')
    """
    if share is None or math.isnan(share):
        return NOTHING
    if min(abs(share), abs(share - 1)) < _ROUNDING:
        return f"{100 * share:.0f} %"
    text = f"{100 * share:.{digits}f}"
    step = 10.0**-digits
    if float(text) >= 100 and share < 1:
        return f"> {100 - step:.{digits}f} %"
    if float(text) == 0 and share > 0:
        return f"< {step:.{digits}f} %"
    return f"{text} %"


def percent_below(share: float | None, level: float | None) -> str:
    """Write a share in per cent, but never as a level that it falls short of.

    Examples
    --------
    >>> percent_below(0.8666, 0.95), percent_below(0.9497, 0.95), percent_below(0.9497, None)
    ('86.7 %', '94.9 %', '95.0 %')
    """
    if share is not None and level is not None and share < level <= round(share, 3):
        return percent(math.floor(1000 * share) / 1000)
    return percent(share)


def level_percent(level: float) -> str:
    """Write a level that somebody chose, with the digits that they chose.

    Examples
    --------
    >>> level_percent(0.95), level_percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.6g} %"


def points(share: float | None, digits: int = 1) -> str:
    """Write a share in per cent without the sign, for the ends of intervals and differences.

    Examples
    --------
    >>> points(0.7412), points(-0.031)
    ('74.1', '−3.1')
    """
    if share is None or math.isnan(share):
        return NOTHING
    return f"{100 * share:.{digits}f}".replace("-", _MINUS)


def interval(low: float | None, high: float | None, digits: int = 1) -> str:
    """Write the ends of an interval of shares, in per cent.

    Examples
    --------
    >>> interval(0.6871, 0.7523)
    '68.7 to 75.2'
    """
    return f"{points(low, digits)} to {points(high, digits)}"


def signed_points(difference: float | None) -> str:
    """Write a difference of shares in percentage points, with its sign.

    Examples
    --------
    >>> signed_points(-0.0123), signed_points(0.02), signed_points(0.0)
    ('−1.2', '+2.0', '0.0')
    """
    if difference is None:
        return NOTHING
    return _signed(difference, f"{abs(100 * difference):.1f}")


def _signed(value: float, size: str) -> str:
    """Put the sign of a value before its size as text; 0 has none."""
    if float(size.replace(",", "")) == 0:
        return size
    return f"{'+' if value > 0 else _MINUS}{size}"


def signed_interval(low: float | None, high: float | None) -> str:
    """Write the ends of an interval of a difference, in percentage points.

    Examples
    --------
    >>> signed_interval(-0.0128, 0.052)
    '−1.3 to +5.2'
    """
    return f"{signed_points(low)} to {signed_points(high)}"


def signed_number(value: float | None) -> str:
    """Write a difference of a measure such as a mean cost, with its sign.

    Examples
    --------
    >>> signed_number(-0.0123), signed_number(12.5), signed_number(0.0)
    ('−0.012', '+12.500', '0')
    """
    return NOTHING if value is None else _signed(value, measure_value(abs(value)))


def p_value(value: float | None) -> str:
    """Write a p-value with three decimals; a tiny one as a bound.

    Examples
    --------
    >>> p_value(0.00001), p_value(0.0421), p_value(None)
    ('< 0.001', '0.042', '–')
    """
    if value is None or math.isnan(value):
        return NOTHING
    return f"< {_SMALLEST_P}" if value < _SMALLEST_P else f"{value:.3f}"


def p_equals(value: float | None) -> str:
    """Write a p-value with its sign, for a sentence.

    Examples
    --------
    >>> p_equals(0.00001), p_equals(0.0421)
    ('p < 0.001', 'p = 0.042')
    """
    is_tiny = value is not None and value < _SMALLEST_P
    return f"p {p_value(value)}" if is_tiny else f"p = {p_value(value)}"


def count(value: float | None) -> str:
    """Write a number of rows: whole numbers plainly, fractions of rows with two decimals.

    Examples
    --------
    >>> count(1234.0), count(15.2678), count(0.0), count(None)
    ('1,234', '15.27', '0', '–')
    """
    if value is None:
        return NOTHING
    if abs(value - round(value)) < 5e-3:
        return f"{round(value):,}"
    return f"{value:,.2f}"


def count_of(value: float, noun: str, plural: str | None = None) -> str:
    """Write a whole number with its noun.

    Examples
    --------
    >>> count_of(1, "row"), count_of(1234.0, "row"), count_of(2, "leaf", "leaves")
    ('1 row', '1,234 rows', '2 leaves')
    """
    return f"{value:,.0f} {noun if round(value) == 1 else plural or f'{noun}s'}"


def measure_value(value: float | None) -> str:
    """Write the value of a measure, such as AUC or a mean cost, with three decimals.

    Examples
    --------
    >>> measure_value(0.58389), measure_value(1.0), measure_value(12345.6), measure_value(2e-5)
    ('0.584', '1', '12,346', '2e-05')
    >>> measure_value(0.00094)
    '0.001'
    """
    if value is None:
        return NOTHING
    if value == round(value) and abs(value) < 1e6:
        return f"{value:.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) >= 5e-4 else f"{value:.2g}"


def amount(value: float | None, unit: str | None = None) -> str:
    """Write a cost with its unit: a sign of a currency stands before the number.

    Examples
    --------
    >>> amount(0.6154), amount(0.6154, "€"), amount(-1250.5, "$"), amount(2.5, "hours")
    ('0.615', '€0.62', '−$1,250', '2.50 hours')
    """
    if value is None or unit is None:
        return measure_value(value)
    size = abs(value)
    digits = 0 if size >= 1000 else 2 if size >= 0.01 or size == 0 else 3
    number = f"{size:,.{digits}f}" if size == 0 or size >= 5e-4 else f"{size:.1g}"
    is_sign = len(unit) == 1 and not unit.isalpha()
    text = f"{unit}{number}" if is_sign else f"{number} {unit}"
    return f"{_MINUS if value < 0 else ''}{text}"


def signed_amount(value: float | None, unit: str | None = None) -> str:
    """Write a difference of costs with its unit and its sign.

    Examples
    --------
    >>> signed_amount(0.21, "€"), signed_amount(-0.012)
    ('+€0.21', '−0.012')
    """
    if value is None or unit is None:
        return signed_number(value)
    return f"+{amount(value, unit)}" if value > 0 else amount(value, unit)


def share_value(value: float | None) -> str:
    """Write a measure between 0 and 1, such as AUC or precision, with three decimals.

    Examples
    --------
    >>> share_value(0.58389), share_value(1.0), share_value(1.2e-5), share_value(None)
    ('0.584', '1', '0.000', '–')
    """
    return f"{value:.3f}" if value is not None and 0 < value < 1e-3 else measure_value(value)


def up_to_two_digits(rows: int) -> int:
    """Round a number of rows up to two digits."""
    unit = int(10 ** max(len(str(rows)) - 2, 0))
    return -(-rows // unit) * unit


def upper_first(text: str) -> str:
    """Begin a sentence; all but the first letter stays as it is."""
    return text[:1].upper() + text[1:]


def listed(names: Sequence[str]) -> str:
    """Join names by commas and a last "and".

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
