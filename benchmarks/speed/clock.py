"""How long a call takes, and the line that compares it with a peer."""

import time
from collections.abc import Callable

ENOUGH = 0.5


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """Return the shortest of some runs: the one least disturbed by other work.

    There are as many as are asked for, and more of short ones, until they took half a second.
    """
    times: list[float] = []
    while len(times) < repeats or sum(times) < ENOUGH:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def compare(name: str, ours: float, peer_name: str, peer: float, goal: float | None = None) -> None:
    """Print our time, the peer's and their ratio, beside the goal where there is one."""
    line = f"{name:40} {ours:9.4f} s   {peer_name:40} {peer:9.3f} s   {peer / ours:7.0f} x"
    if goal is not None:
        line += f" (goal {goal:g} x: {'met' if peer / ours >= goal else 'NOT MET'})"
    print(line, flush=True)


def limit(name: str, ours: float, goal: float) -> None:
    """Print our time beside a goal in seconds."""
    verdict = "met" if ours < goal else "NOT MET"
    print(f"{name:40} {ours:9.4f} s   (goal {goal:g} s: {verdict})", flush=True)
