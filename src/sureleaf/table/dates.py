"""Dates and times as numbers, and these numbers as text.

===============  ==================================================  =======================
``temporal``     number                                              text
===============  ==================================================  =======================
``date``         days since 1970-01-01                               ``2024-02-29``
``timestamp``    microseconds since 1970-01-01T00:00:00, no zone     ``2024-02-29T12:30:00``
``utc``          microseconds since 1970-01-01T00:00:00 UTC          ``2024-02-29T12:30:00Z``
``duration``     microseconds                                        ``P1DT2H30M``
``time``         microseconds since midnight                         ``12:30:00``
===============  ==================================================  =======================

A float64 holds microseconds exactly from the year 1685 to 2255; nanoseconds of today's dates are
rounded to a quarter of a microsecond.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

TEMPORALS: Final = ("date", "timestamp", "utc", "duration", "time")

_MICROSECONDS_PER_DAY: Final = 86_400_000_000
_MICROSECONDS_PER_UNIT: Final = {"s": 1e6, "ms": 1e3, "us": 1.0}


def temporal_of(arrow_type: Any) -> str | None:
    """Return which of `TEMPORALS` an Arrow type is; None for other types."""
    from pyarrow import types

    if types.is_date(arrow_type):
        return "date"
    if types.is_timestamp(arrow_type):
        return "utc" if arrow_type.tz else "timestamp"
    if types.is_duration(arrow_type):
        return "duration"
    return "time" if types.is_time(arrow_type) else None


def temporal_numbers(array: Any) -> NDArray[np.float64]:
    """Convert an Arrow array of dates or times to numbers; missing values become NaN.

    The units are those of the table at the top of this module.
    """
    import pyarrow as pa

    if pa.types.is_date(array.type):
        array = array.cast(pa.date32())
    storage = pa.int32() if array.type.bit_width == 32 else pa.int64()
    ticks = array.view(storage).fill_null(0).to_numpy()
    if pa.types.is_date(array.type):
        numbers = ticks.astype(np.float64)
    elif array.type.unit == "ns":
        # Whole microseconds first: nanoseconds since 1970 do not fit into a float64.
        numbers = np.floor_divide(ticks, 1000) + np.remainder(ticks, 1000) / 1000.0
    else:
        numbers = ticks * _MICROSECONDS_PER_UNIT[array.type.unit]
    if array.null_count:
        numbers[array.is_null().to_numpy(zero_copy_only=False)] = np.nan
    converted: NDArray[np.float64] = numbers
    return converted


def to_temporal(
    numbers: NDArray[np.float64], source: str, target: str
) -> NDArray[np.float64] | None:
    """Convert numbers of one kind to another; None if the kinds cannot be converted.

    Only dates and timestamps without a time zone can be converted into each other.
    """
    if source == target:
        return numbers
    if (source, target) == ("date", "timestamp"):
        return numbers * _MICROSECONDS_PER_DAY
    if (source, target) == ("timestamp", "date"):
        return numbers / _MICROSECONDS_PER_DAY
    return None


def iso_text(number: float, temporal: str) -> str:
    """Write a number of a date column as ISO 8601 text.

    The text is exact to the microsecond; a date outside the years 1 to 9999 is written as its
    number.
    """
    microseconds = number * _MICROSECONDS_PER_DAY if temporal == "date" else number
    if not abs(microseconds) < 2.0**62:
        return repr(number)
    ticks = round(microseconds)
    if temporal == "duration":
        return _duration_text(ticks)
    stamp = np.datetime64(ticks, "us")
    if not np.datetime64("0001-01-01") <= stamp <= np.datetime64("9999-12-31T23:59:59.999999"):
        return repr(number)
    text = str(stamp)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if temporal == "time":
        return text.split("T")[1]
    if temporal == "date" and text.endswith("T00:00:00"):
        return text.split("T")[0]
    return text + "Z" if temporal == "utc" else text


def _duration_text(ticks: int) -> str:
    days, rest = divmod(abs(ticks), _MICROSECONDS_PER_DAY)
    hours, rest = divmod(rest, 3_600_000_000)
    minutes, rest = divmod(rest, 60_000_000)
    seconds = f"{rest / 1e6:.6f}".rstrip("0").rstrip(".")
    day = f"{days}D" if days else ""
    clock = "".join(
        f"{amount}{letter}"
        for amount, letter in ((str(hours), "H"), (str(minutes), "M"), (seconds, "S"))
        if amount != "0"
    )
    return ("-" if ticks < 0 else "") + "P" + (day + (f"T{clock}" if clock else "") or "T0S")
