"""Bringing probabilities in line with what happened, through scikit-learn's calibrators."""

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from sureleaf.errors import InvalidArgumentError

__all__ = ["fit_calibration"]

Calibration = Callable[[NDArray[np.float64]], NDArray[np.float64]]


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose table is what it says: lets scikit-learn calibrate any probabilities."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int32]) -> Self:
        self.classes_ = np.arange(X.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        likeliest: NDArray[np.intp] = X.argmax(axis=1)
        return likeliest


class _Calibrated:
    """From mean probabilities to calibrated ones."""

    def __init__(self, calibrator: CalibratedClassifierCV) -> None:
        self.calibrator = calibrator

    def __call__(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        if not len(probabilities):
            return probabilities
        found = np.asarray(self.calibrator.predict_proba(probabilities), dtype=np.float64)
        # scikit-learn calibrates in the precision of what it gets, and rounds sums at 1e-7.
        calibrated: NDArray[np.float64] = found / found.sum(axis=1, keepdims=True)
        return calibrated


def _as_given(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave a single class, which is certain, as it is."""
    return probabilities


def fit_calibration(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    *,
    method: str,
    classes: NDArray[Any],
) -> Calibration:
    """Fit a calibrator on probabilities of rows that did not shape them.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        Lines with NaN are left out.
    labels : ndarray of int, shape (n_rows,)
        The rows' class codes.
    weights : ndarray of shape (n_rows,), or None
        Their weights.
    method : {"sigmoid", "isotonic"}
        Platt's sigmoid, or isotonic regression, one class against the others where there are more
        than two.
    classes : ndarray
        The classes, for messages.

    Returns
    -------
    callable
        From probabilities to calibrated probabilities.

    Examples
    --------
    >>> says = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]] * 10)
    >>> happened = np.array([0, 1, 1, 1] * 10, dtype=np.int32)
    >>> calibrated = fit_calibration(says, happened, None, method="isotonic", classes=[0, 1])
    >>> calibrated(says[:2]).round(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    judged = ~np.isnan(probabilities).any(axis=1)
    if weights is not None:
        judged &= weights > 0
    counts = np.bincount(labels[judged], minlength=probabilities.shape[1])
    if probabilities.shape[1] < 2:
        return _as_given
    if not counts.all():
        absent = np.asarray(classes).tolist()[int(counts.argmin())]
        raise InvalidArgumentError(
            f"calibration needs out-of-bag rows of every class; class {absent!r} has none. Use "
            "more trees or calibration=None."
        )
    given, truth = probabilities[judged], labels[judged]
    everything = np.arange(len(truth))
    calibrator = CalibratedClassifierCV(
        FrozenEstimator(_Given().fit(given, truth)),
        method=method,
        cv=[(everything, everything)],
        ensemble=False,
    )
    with warnings.catch_warnings():
        # There is nothing to fit but the calibration itself, and that does use the weights.
        warnings.filterwarnings("ignore", message="Since FrozenEstimator does not appear")
        calibrator.fit(given, truth, None if weights is None else weights[judged])
    return _Calibrated(calibrator)
