"""How probable is it that one algorithm is better, over data sets? Benavoli et al. 2014, 2017.

The Bayesian signed-rank test: a Dirichlet process with one pseudo-observation at 0. Each draw
of weights w gives the shares of pairs of data sets whose mean difference lies below, inside and
above the margin; the largest share wins the draw.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError

__all__ = ["SignedRankPosterior", "bayesian_signed_rank"]


@dataclass(frozen=True)
class SignedRankPosterior:
    """Probabilities that the first algorithm is better, practically equivalent, or worse.

    Attributes
    ----------
    better, equivalent, worse : float
        They add up to 1.
    margin : float
        Differences up to this size count as none.
    simulation_error : float
        Largest standard error of the three, from the number of draws.

    Examples
    --------
    >>> bayesian_signed_rank([0.03, 0.05, 0.02, 0.04, 0.01, 0.06], margin=0.01)
    better 0.9914, equivalent 0.0086, worse 0.0000 (margin 0.01, simulation error 0.0004)
    """

    better: float
    equivalent: float
    worse: float
    margin: float
    simulation_error: float

    def __repr__(self) -> str:
        return (
            f"better {self.better:.4f}, equivalent {self.equivalent:.4f}, "
            f"worse {self.worse:.4f} (margin {self.margin:g}, "
            f"simulation error {self.simulation_error:.4f})"
        )


def bayesian_signed_rank(
    differences: ArrayLike,
    *,
    margin: float = 0.0,
    prior_strength: float = 0.5,
    draws: int = 50_000,
    random_state: int = 0,
) -> SignedRankPosterior:
    """Probability that the first of two algorithms is better, from differences over data sets.

    Parameters
    ----------
    differences : array-like of shape (data sets,)
        First minus second, in a score of which more is better.
    margin : float, default=0.0
        Differences up to this size count as equivalent.
    prior_strength : float, default=0.5
        Weight of the pseudo-observation at 0, in data sets.
    draws : int, default=50_000
        Draws from the posterior.
    random_state : int, default=0
        Seed of the draws: the same numbers every time.

    Returns
    -------
    SignedRankPosterior

    Examples
    --------
    >>> found = bayesian_signed_rank([0.03, -0.02, 0.01, -0.01, 0.02, -0.03], margin=0.05)
    >>> found.equivalent
    1.0
    """
    observed = np.asarray(differences, dtype=float)
    if observed.ndim != 1 or observed.size < 1 or not np.isfinite(observed).all():
        raise InvalidArgumentError(
            f"differences must be a list of finite numbers, one a data set; got {differences!r}."
        )
    if margin < 0 or prior_strength <= 0 or draws < 1:
        raise InvalidArgumentError(
            "margin must be 0 or more, prior_strength above 0 and draws at least 1; "
            f"got {margin!r}, {prior_strength!r} and {draws!r}."
        )
    points = np.concatenate([[0.0], observed])
    sums = points[:, None] + points[None, :]
    above = (sums > 2 * margin).astype(float)
    below = (sums < -2 * margin).astype(float)
    strengths = np.concatenate([[prior_strength], np.ones(observed.size)])
    weights = np.random.default_rng(random_state).dirichlet(strengths, size=draws)
    better = np.einsum("di,di->d", weights @ above, weights)
    worse = np.einsum("di,di->d", weights @ below, weights)
    shares = np.column_stack([better, 1 - better - worse, worse])
    # Draws that tie for first are shared out, so that swapping the algorithms swaps the answer.
    first = np.isclose(shares, shares.max(axis=1, keepdims=True), rtol=0, atol=1e-12)
    won = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    error = float(np.sqrt(won * (1 - won) / draws).max())
    return SignedRankPosterior(float(won[0]), float(won[1]), float(won[2]), margin, error)
