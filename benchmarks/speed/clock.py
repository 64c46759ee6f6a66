"""Measuring the time of a call, and printing it next to the time of another library."""

import time
from collections.abc import Callable

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


def compare(name: str, ours: float, peer_name: str, peer: float, goal: float | None = None) -> None:
    """Print our time, that of the peer and their ratio, and whether a goal is met."""
    line = f"{name:40} {ours:9.4f} s   {peer_name:40} {peer:9.3f} s   {peer / ours:7.0f} x"
    if goal is not None:
        line += f" (goal {goal:g} x: {'met' if peer / ours >= goal else 'NOT MET'})"
    print(line, flush=True)


def limit(name: str, ours: float, goal: float) -> None:
    """Print our time and whether it is below a goal in seconds."""
    verdict = "met" if ours < goal else "NOT MET"
    print(f"{name:40} {ours:9.4f} s   (goal {goal:g} s: {verdict})", flush=True)
