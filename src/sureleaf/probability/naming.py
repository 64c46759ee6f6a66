"""The leaf estimates that go by a name."""

from sureleaf.errors import InvalidArgumentError
from sureleaf.probability.estimates import (
    Blend,
    Frequency,
    Jeffreys,
    Laplace,
    LeafEstimate,
    MEstimate,
)
from sureleaf.probability.majority import KeepMajority
from sureleaf.probability.shrinkage import Averaging, Shrinkage

__all__ = ["ESTIMATES", "find_estimate"]

ESTIMATES: dict[str, LeafEstimate] = {
    "auto": KeepMajority(Averaging()),
    "frequency": Frequency(),
    "laplace": Laplace(),
    "m_estimate": MEstimate(),
    "jeffreys": Jeffreys(),
    "blend": Blend(),
    "shrinkage": Shrinkage(),
    "averaging": Averaging(),
}
"""Name -> estimate; docs/probabilities.md has measured what "auto" is, single and bagged."""


def find_estimate(estimate: object) -> LeafEstimate:
    """Look up an estimate by its name, or take an object that is one.

    Parameters
    ----------
    estimate : str or object
        A key of `ESTIMATES`, or an object called with a tree and its counts.

    Returns
    -------
    LeafEstimate

    Raises
    ------
    InvalidArgumentError
        If the name is unknown, or the object cannot be called.

    Examples
    --------
    >>> find_estimate("laplace")
    Laplace()
    """
    if isinstance(estimate, str):
        if estimate not in ESTIMATES:
            names = ", ".join(ESTIMATES)
            raise InvalidArgumentError(
                f"leaf_estimate must be one of {names}, or an object called with a tree and its "
                f"counts; got {estimate!r}."
            )
        return ESTIMATES[estimate]
    if isinstance(estimate, type) or not callable(estimate):
        raise InvalidArgumentError(
            "leaf_estimate must be a name or an object called with a tree and its counts; got "
            f"{estimate!r}. A class is not yet an object: add ()."
        )
    found: LeafEstimate = estimate
    return found
