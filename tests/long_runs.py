"""How many examples and simulated runs a test has: few in `make test`, all in `make test-long`."""

import os

from hypothesis import settings

__all__ = ["LONG", "examples", "runs"]

LONG = os.environ.get("SURELEAF_LONG_TESTS") == "1"


def examples(n: int) -> settings:
    """Return the settings of a property test with n examples, a fifth of them in `make test`."""
    return settings(max_examples=n if LONG else max(n // 5, 20))


def runs(n: int) -> int:
    """Return the number of simulated runs, a third of them in `make test`."""
    return n if LONG else n // 3
