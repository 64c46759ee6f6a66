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

__all__ = ["BAGGED_AUTO", "ESTIMATES", "find_estimate"]

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
"""Name -> estimate; what "auto" is, docs/probabilities.md has measured."""

BAGGED_AUTO: LeafEstimate = Shrinkage(1.0)
"""What "auto" is for trees whose probabilities are averaged."""


def find_estimate(estimate: object, *, bagged: bool = False) -> LeafEstimate:
    """Look up an estimate by its name, or take an object that is one.

    Parameters
    ----------
    estimate : str or object
        A key of `ESTIMATES`, or an object called with a tree and its counts.
    bagged : bool
        "auto" is the best for the trees of `BaggedTreesClassifier`, not for one tree.

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
        return BAGGED_AUTO if bagged and estimate == "auto" else ESTIMATES[estimate]
    if isinstance(estimate, type) or not callable(estimate):
        raise InvalidArgumentError(
            "leaf_estimate must be a name or an object called with a tree and its counts; got "
            f"{estimate!r}. A class is not yet an object: add ()."
        )
    found: LeafEstimate = estimate
    return found
