"""Run the targets: ``python -m tests.fuzz [--minutes 10] [--only NAME] [--start SEED]``.

Each target has a child process, which tries one seed after the other. The parent notes when a
child dies, raises an error that is not one of ours, hangs, or needs too much memory, starts it
again behind that seed, and prints a table at the end. The exit code is 1 if anything was found.
"""

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

SECONDS_PER_SEED = 90


def main() -> None:
    arguments = _arguments()
    from tests.fuzz.targets import TARGETS

    names = [name for name in TARGETS if not arguments.only or name in arguments.only]
    if "SURELEAF_FUZZ_KERNEL" in os.environ:  # its limit of memory leaves no room for a sanitizer
        names = [name for name in names if name not in ("boosters", "skops")]
    share = 60 * arguments.minutes / len(names)
    table, findings = [], []
    for name in names:
        outcomes, found = _run(name, arguments.start, share)
        table.append((name, outcomes))
        findings += found
        print(_line(name, outcomes), *(f"   seed {seed}" for _, seed, _ in found), flush=True)
    _show(findings)
    sys.exit(1 if findings else 0)


def _show(findings: list) -> None:
    """Print one finding of each kind in full, and the seeds of the others."""
    kinds: dict[str, list] = {}
    for name, seed, what in findings:
        lines = [line for line in what.strip().split("\n") if line.startswith(("  File", "exit"))]
        kinds.setdefault(f"{name} {lines[-1:]} {what.strip()[-60:]}", []).append((name, seed, what))
    for found in sorted(kinds.values(), key=len, reverse=True):
        name, _, what = found[0]
        seeds = " ".join(str(seed) for _, seed, _ in found[:10])
        print(f"\n{name}, {len(found)} times, seeds {seeds}:\n{what}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", action="append", metavar="NAME")
    parser.add_argument("--start", type=int, default=0, metavar="SEED")
    return parser.parse_args()


def _run(name: str, start: int, seconds: float) -> tuple[Counter, list]:
    end = time.monotonic() + seconds
    outcomes: Counter = Counter()
    findings = []
    seed = start
    while time.monotonic() < end:
        last, what = _follow(name, seed, end, outcomes, findings)
        if what is None:
            break
        outcomes["found"] += 1
        findings.append((name, last, what))
        seed = last + 1
    return outcomes, findings


def _follow(
    name: str, seed: int, end: float, outcomes: Counter, findings: list
) -> tuple[int, str | None]:
    """Read what a child says, until its time is over (None) or it has died or hangs."""
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.worker", name, str(seed)],
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        )
        last, waited = seed, time.monotonic()
        lines = _lines(child.stdout)
        try:
            while time.monotonic() < end:
                line = next(lines, "")
                if line == "":
                    child.wait()
                    errors.seek(0)
                    text = errors.read()[-20_000:].decode(errors="replace")
                    return last, f"exit {child.returncode}\n{text}"
                if line is not None:
                    said = json.loads(line)
                    last, waited = said["seed"], time.monotonic()
                    _note(said, name, outcomes, findings)
                elif time.monotonic() - waited > SECONDS_PER_SEED + 60 * (last == seed):
                    return last, f"no answer after {SECONDS_PER_SEED} seconds"
            return last, None
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            child.stdout.close()


def _lines(stream: BinaryIO) -> Iterator[str | None]:
    """Yield the lines of a pipe; None after a second without one."""
    rest = b""
    while True:
        if not select.select([stream], [], [], 1.0)[0]:
            yield None
            continue
        block = os.read(stream.fileno(), 1 << 16)
        if not block:
            return
        *lines, rest = (rest + block).split(b"\n")
        yield from (line.decode() for line in lines)


def _note(said: dict, name: str, outcomes: Counter, findings: list) -> None:
    if "found" in said:
        outcomes["found"] += 1
        findings.append((name, said["seed"], said["found"]))
    if "outcome" in said:
        outcomes[said["outcome"]] += 1


def _line(name: str, outcomes: Counter) -> str:
    parts = ", ".join(f"{outcome} {n:,}" for outcome, n in sorted(outcomes.items()))
    return f"{name:<20} {sum(outcomes.values()):>8,} tried: {parts}"


if __name__ == "__main__":
    main()
