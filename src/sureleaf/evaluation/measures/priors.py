"""Classes that are more or less frequent in use than in the sample."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.arguments import Floats, check_probabilities, read_labels
from sureleaf.evaluation.labels import class_codes, find_classes

__all__ = ["correct_priors", "prior_weights"]


def _priors(name: str, priors: ArrayLike, n_classes: int) -> Floats:
    shares = np.asarray(priors, dtype=np.float64)
    if shares.shape != (n_classes,) or not (shares > 0).all() or not np.isfinite(shares).all():
        raise InvalidArgumentError(
            f"{name} must be {n_classes} positive shares, one a class; got {shares.tolist()}."
        )
    return np.asarray(shares / shares.sum())


def correct_priors(probabilities: ArrayLike, *, trained_on: ArrayLike, in_use: ArrayLike) -> Floats:
    """Turn probabilities of a model trained on other class shares into those of use (Bayes).

    ``p_k in_use_k / trained_on_k``, normalised: right if only the shares of the classes differ,
    as after over- and under-sampling.

    Parameters
    ----------
    probabilities : array-like of shape (n, m), or (n,) for the second of two classes
    trained_on, in_use : array-like of m positive shares
        Shares of the classes in the rows the model was trained on, and where it is used. Counts
        will do.

    Returns
    -------
    ndarray of shape (n, m)

    References
    ----------
    .. [1] Saerens, M., Latinne, P., Decaestecker, C. (2002). Adjusting the outputs of a classifier
       to new a priori probabilities. Neural Computation 14, 21-41.

    Examples
    --------
    >>> correct_priors([[0.5, 0.5]], trained_on=[0.5, 0.5], in_use=[0.9, 0.1]).tolist()
    [[0.9, 0.1]]
    """
    n_classes = len(np.atleast_1d(np.asarray(in_use)))
    table = check_probabilities(probabilities, n_classes)
    ratio = _priors("in_use", in_use, n_classes) / _priors("trained_on", trained_on, n_classes)
    moved = table * ratio
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def prior_weights(
    truth: ArrayLike, *, in_use: ArrayLike, labels: Sequence[Any] | None = None
) -> Floats:
    """Weights that give a sample the class shares of use; pass them on as ``sample_weight``.

    Parameters
    ----------
    truth : array-like of shape (n,)
    in_use : array-like of m positive shares
        In the order of `labels`.
    labels : sequence of m labels, optional
        By default the classes of truth, sorted. A class that does not occur has no rows to weigh.

    Returns
    -------
    ndarray of shape (n,)
        They sum to n if every class occurs.

    Examples
    --------
    >>> prior_weights(["no", "yes", "yes", "yes"], in_use=[0.5, 0.5]).round(4).tolist()
    [2.0, 0.6667, 0.6667, 0.6667]
    """
    actual = read_labels("truth", truth)
    classes = find_classes(labels, actual)
    codes = class_codes("truth", actual, classes)
    shares = _priors("in_use", in_use, len(classes))
    counts = np.bincount(codes, minlength=len(classes))
    ratio = np.divide(shares * len(codes), counts, where=counts > 0, out=np.zeros(len(classes)))
    return np.asarray(ratio[codes])
