"""One child process of the fuzzer: ``python -m tests.fuzz.worker TARGET SEED`` goes on forever."""

import contextlib
import gc
import importlib.util
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from random import Random
from typing import Any

__all__ = ["load_kernel", "try_seed"]

EXTRA_BYTES = 200 << 20
"""What one case may need beyond ten times the size of its files."""


def load_kernel() -> None:
    """Load the kernel of a sanitizer build instead of the installed one, if one is named."""
    path = os.environ.get("SURELEAF_FUZZ_KERNEL")
    if path:
        spec = importlib.util.spec_from_file_location("sureleaf._kernel._core", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["sureleaf._kernel._core"] = module
        spec.loader.exec_module(module)


def try_seed(name: str, seed: int) -> str:
    """Try one seed; returns the outcome, raises what is not an error of Sureleaf."""
    from sureleaf.errors import SureleafError
    from tests.fuzz.targets import TARGETS

    with tempfile.TemporaryDirectory() as folder:
        try:
            return TARGETS[name](Random(f"{name} {seed}"), Path(folder))
        except SureleafError as error:
            message = str(error)
            if len(message) > 4000:
                raise AssertionError(f"a message of {len(message)} letters") from error
            return "refused"


def _memory(field: str) -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition(field)[2].split()[0])


def _checked(name: str, seed: int) -> str:
    """Try a seed and measure the memory that it needs."""
    from tests.fuzz import targets

    is_measured = sys.platform == "linux" and "SURELEAF_FUZZ_KERNEL" not in os.environ
    if is_measured:
        Path("/proc/self/clear_refs").write_text("5")
        before = _memory("VmRSS:")
    targets.largest_file = 0
    outcome = try_seed(name, seed)
    if is_measured:
        needed = _memory("VmHWM:") - before
        if needed > 10 * targets.largest_file + EXTRA_BYTES:
            raise AssertionError(
                f"{needed >> 20} MB of memory for {targets.largest_file:,} bytes of input"
            )
    return outcome


def main(name: str, seed: int) -> None:
    load_kernel()
    import warnings

    warnings.simplefilter("ignore")
    report = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(**values: Any) -> None:
        report.write(json.dumps(values) + "\n")

    with contextlib.suppress(Exception):  # what it imports is not the memory of a case
        try_seed(name, seed)
    while True:
        say(seed=seed)
        try:
            say(seed=seed, outcome=_checked(name, seed))
        except Exception:
            say(seed=seed, found=traceback.format_exc()[-6000:])
        seed += 1
        if seed % 200 == 0:
            gc.collect()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
