"""Random numbers that depend on a seed and a key, never on what was drawn before.

Each use has its own counter-based stream (Philox), keyed by the seed, the purpose and, say, the
repeat: one worker or many, in any order, draw the same. Only the raw stream is used for designs,
because numpy promises that it never changes, and of no method above it.
"""

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import Integers
from sureleaf.errors import InvalidTypeError

__all__ = [
    "CURVE",
    "FIT",
    "INTERVAL",
    "PARTITION",
    "RESAMPLE",
    "draw_with_replacement",
    "generator",
    "read_seed",
    "seed_for",
    "shuffled",
]


PARTITION, RESAMPLE, FIT, INTERVAL, CURVE = range(5)
"""Purposes: the first part of a key."""


def _stream(seed: int, key: tuple[int, ...]) -> np.random.Philox:
    return np.random.Philox(np.random.SeedSequence(seed, spawn_key=key))


def _raw(n: int, seed: int, key: tuple[int, ...]) -> NDArray[np.uint64]:
    return np.asarray(_stream(seed, key).random_raw(n), dtype=np.uint64)


def shuffled(n: int, seed: int, *key: int) -> Integers:
    """Row numbers 0 to n - 1 in random order.

    Examples
    --------
    >>> shuffled(6, 0, 0, 0).tolist()
    [3, 2, 4, 1, 5, 0]
    """
    return np.argsort(_raw(n, seed, key), kind="stable").astype(np.int64)


def draw_with_replacement(n: int, size: int, seed: int, *key: int) -> Integers:
    """Draw `size` row numbers below n, each independently.

    Examples
    --------
    >>> draw_with_replacement(10, 5, 0).tolist() == draw_with_replacement(10, 5, 0).tolist()
    True
    """
    unit = (_raw(size, seed, key) >> np.uint64(11)).astype(np.float64)
    unit *= 2.0**-53
    unit *= n
    return unit.astype(np.int64)


def seed_for(seed: int, *key: int) -> int:
    """Return a seed below 2^31 for an estimator's random_state.

    Examples
    --------
    >>> seed_for(0, FIT, 1) == seed_for(0, FIT, 1) != seed_for(0, FIT, 2)
    True
    """
    return int(_raw(1, seed, key)[0] >> np.uint64(33))


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return a numpy generator of its own stream.

    Examples
    --------
    >>> bool(generator(0, 1).random() == generator(0, 1).random())
    True
    """
    return np.random.Generator(_stream(seed, key))


def read_seed(random_state: object) -> int:
    """Return the seed that random_state stands for; None takes one from the system.

    Examples
    --------
    >>> read_seed(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**32))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**32, dtype=np.uint32))
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state)
    raise InvalidTypeError(
        "random_state must be None, a whole number of at least 0, or a numpy generator; "
        f"got {random_state!r}."
    )
