"""Random numbers that depend on a seed and a key, never on what was drawn before.

Each use has its own counter-based stream (Philox), keyed by the seed, the purpose and a number
such as the repeat. So one worker or many, in any order, draw the same numbers. Designs use only
the raw stream: NumPy promises that it never changes, but not the methods built on it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import IntArray
from sureleaf.errors import InvalidArgumentError, InvalidTypeError

PARTITION, RESAMPLE, FIT, INTERVAL, CURVE, ROUND, HALF = range(7)
"""Purposes: the first part of a key."""


def shuffled(n: int, seed: int, *key: int) -> IntArray:
    """Return the row numbers 0 to n - 1 in random order."""
    return np.argsort(_raw(n, seed, key), kind="stable").astype(np.int64, copy=False)


def draw_with_replacement(n: int, size: int, seed: int, *key: int) -> IntArray:
    """Draw `size` row numbers below n, each independently of the others."""
    unit = (_raw(size, seed, key) >> np.uint64(11)).astype(np.float64)
    unit *= 2.0**-53
    unit *= n
    return unit.astype(np.int64)


def seed_for(seed: int, *key: int) -> int:
    """Return a seed below 2^31 for the random_state of an estimator."""
    return int(_raw(1, seed, key)[0] >> np.uint64(33))


def generator(seed: int, *key: int) -> np.random.Generator:
    """Return a numpy generator with a stream of its own."""
    return np.random.Generator(_stream(seed, key))


FIXED_SEED = 0
"""The seed where none is given, so that the same call gives the same result again."""


def read_seed(random_state: object) -> int:
    """Return the seed of an evaluation; None is `FIXED_SEED`."""
    if random_state is None:
        return FIXED_SEED
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


def draw_seed(random_state: Any) -> int:
    """Return the seed of an estimator, by scikit-learn's rules, but None is `FIXED_SEED`."""
    if random_state is None:
        return FIXED_SEED
    if isinstance(random_state, int | np.integer) and 0 <= random_state < 2**128:
        return int(random_state)
    from sklearn.utils import check_random_state  # designs do without it

    try:
        state = check_random_state(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            "random_state must be a whole number from 0 on, a numpy.random.RandomState or None; "
            f"got {random_state!r}."
        ) from error
    return int(state.randint(np.iinfo(np.int32).max))


def _stream(seed: int, key: tuple[int, ...]) -> np.random.Philox:
    return np.random.Philox(np.random.SeedSequence(seed, spawn_key=key))


def _raw(n: int, seed: int, key: tuple[int, ...]) -> NDArray[np.uint64]:
    return np.asarray(_stream(seed, key).random_raw(n), dtype=np.uint64)
