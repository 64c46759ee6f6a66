"""The mean loss on rows that bootstraps leave out, and how sure it is."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats

__all__ = ["OutOfBagMean", "out_of_bag_mean"]


@dataclass(frozen=True, eq=False)
class OutOfBagMean:
    """Leave-one-out bootstrap estimate of a mean loss.

    Attributes
    ----------
    value, standard_error : float
    row_means : ndarray of shape (n,)
        Mean loss of each row over the bootstraps without it; NaN for a row that is in all.
    rows_without_term : int
        Rows that are in every bootstrap; they have no term in the mean.

    Examples
    --------
    >>> found = out_of_bag_mean(np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[2, 0], [0, 2]]))
    >>> found.value, found.rows_without_term
    (1.0, 0)
    """

    value: float
    standard_error: float
    row_means: Floats
    rows_without_term: int


def out_of_bag_mean(
    losses: Floats, counts: NDArray[np.integer], weights: Floats | None = None
) -> OutOfBagMean:
    """Leave-one-out bootstrap: each row's loss averaged over the bootstraps without it (Xu, (9)).

    The standard error is that of Efron and Tibshirani (their (38): the influence of a row is
    ``(2 + 1/(n-1)) (E_i - E) / n + sum_b (N_ib - mean N_i) q_b``), less the share of it that is
    noise of a finite number of bootstraps (``n sum_b (q_b - mean q)^2``). What is left is right on
    average but unsteady where there are fewer bootstraps than rows, so that it is taken to be at
    least the standard error of as many independent rows scored once.

    Parameters
    ----------
    losses : ndarray of shape (B, n)
        Loss of each row under the model of each bootstrap; read only where counts are 0.
    counts : ndarray of shape (B, n)
        How often each bootstrap has each row.
    weights : ndarray of shape (n,), optional
        Weights of the rows in the mean.

    Returns
    -------
    OutOfBagMean

    References
    ----------
    .. [1] Efron, B., Tibshirani, R. (1997). Improvements on cross-validation: the .632+ bootstrap
       method. JASA 92, 548-560.
    .. [2] Wager, S., Hastie, T., Efron, B. (2014). Confidence intervals for random forests: the
       jackknife and the infinitesimal jackknife. JMLR 15, 1625-1651.

    Examples
    --------
    >>> counts = np.random.default_rng(0).multinomial(50, np.full(50, 1 / 50), size=400)
    >>> found = out_of_bag_mean(np.broadcast_to(np.arange(50) % 2.0, (400, 50)), counts)
    >>> round(found.value, 4), round(found.standard_error, 2)  # no learning: sqrt(.25 / 50)
    (0.5, 0.07)
    """
    out = counts == 0
    n_terms = out.sum(axis=0)
    used = (n_terms > 0) if weights is None else (n_terms > 0) & (weights > 0)
    n = int(used.sum())
    if n < 2:
        raise InvalidArgumentError(
            "At least two rows must be left out by some bootstrap; use more bootstraps."
        )
    own = np.where(out, losses, 0.0)[:, used]
    row_means = np.full(len(used), math.nan)
    row_means[used] = own.sum(axis=0) / n_terms[used]
    scale = np.ones(n) if weights is None else weights[used] * n / weights[used].sum()
    value = float((scale * row_means[used]).sum() / n)
    missing = int((n_terms == 0).sum())
    if not math.isfinite(value):
        return OutOfBagMean(value, math.nan, row_means, missing)
    shares = (own * (scale / n_terms[used])).sum(axis=1) / n
    centred = counts[:, used] - counts[:, used].mean(axis=0)
    direct = scale * (row_means[used] - value)
    influence = direct + (scale * row_means[used] - value) * (1 + 1 / (n - 1))
    influence = influence / n + shares @ centred
    noise = n * float(((shares - shares.mean()) ** 2).sum())
    once = scale**2 * ((own - value) ** 2 * out[:, used]).sum(axis=0) / n_terms[used]
    variance = max(float(influence @ influence) - noise, float(once.sum()) / n**2)
    return OutOfBagMean(value, math.sqrt(variance), row_means, missing)
