"""Measuring the time of a call, and stating it next to the time of another library."""

import time
from collections.abc import Callable

from benchmarks.running import Row, duration, goal

MIN_TOTAL_SECONDS = 0.5


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest time of several runs, which is the one least disturbed by other work.

    Short calls are repeated until they took half a second in total.
    """
    times: list[float] = []
    while len(times) < repeats or sum(times) < MIN_TOTAL_SECONDS:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(work: str, ours: float, peer: str, theirs: float, at_least: float | None = None) -> Row:
    """Return our time, that of the peer and their ratio, and whether a goal is met."""
    ratio = theirs / ours
    return Row(
        "Beside other libraries",
        {
            "work": work,
            "Sureleaf": duration(ours),
            "compared with": peer,
            "its time": duration(theirs),
            "ratio": shown_ratio(ratio),
            "goal": "" if at_least is None else goal(f"{at_least:g}", ratio >= at_least),
        },
    )


def shown_ratio(ratio: float) -> str:
    """Return a ratio with the digits that repeat from run to run."""
    return f"{ratio:,.0f}" if ratio >= 20 else f"{ratio:.1f}" if ratio >= 2 else f"{ratio:.2f}"


def limit(what: str, measured: float, unit: str = "s", at_most: float | None = None) -> Row:
    """Return a figure and whether it is below a goal."""
    shown = duration(measured) if unit == "s" else f"{measured:.2f} {unit}"
    met = "" if at_most is None else goal(f"at most {at_most:g}", measured <= at_most)
    return Row("By itself", {"work": what, "measured": shown, "goal": met})
