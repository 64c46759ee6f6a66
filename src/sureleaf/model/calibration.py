"""Bringing probabilities in line with what happened, through scikit-learn's calibrators."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from sureleaf.errors import InvalidArgumentError

__all__ = ["Calibration", "fit_calibration"]


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


@dataclass(frozen=True, eq=False)
class Calibration:
    """From mean probabilities to calibrated ones: a map for each class, or for the second of two.

    Parameters
    ----------
    method : {"sigmoid", "isotonic"}
        What the maps are.
    maps : tuple of ndarray
        For "sigmoid" the two numbers a and b of ``1 / (1 + exp(a p + b))``; for "isotonic" an
        array of shape (2, n_points): probabilities, and what they become; straight lines between
        them. None at all leaves a single class as it is: certain.

    Examples
    --------
    >>> halved = Calibration("isotonic", (np.array([[0.0, 1.0], [0.0, 0.5]]),))
    >>> halved(np.array([[0.2, 0.8]])).tolist()
    [[0.6, 0.4]]
    """

    method: str
    maps: tuple[NDArray[np.float64], ...]

    def __call__(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrate probabilities, a line a row; lines sum to 1."""
        if not self.maps:
            return probabilities
        n_classes = probabilities.shape[1]
        if n_classes == 2:
            second = self._mapped(self.maps[0], probabilities[:, 1])
            return np.column_stack([1.0 - second, second])
        found = np.column_stack(
            [self._mapped(line, p) for line, p in zip(self.maps, probabilities.T, strict=True)]
        )
        total = found.sum(axis=1, keepdims=True)
        even = np.full(found.shape, 1.0 / n_classes)
        shares: NDArray[np.float64] = np.divide(found, total, out=even, where=total > 0)
        return shares

    def _mapped(
        self, line: NDArray[np.float64], probabilities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.method == "sigmoid":
            a, b = line
            found: NDArray[np.float64] = expit(-(a * probabilities + b))
            return found
        between: NDArray[np.float64] = np.interp(probabilities, line[0], line[1])
        return between


def _maps(calibrator: CalibratedClassifierCV) -> tuple[NDArray[np.float64], ...]:
    """Take the numbers out of scikit-learn's calibrators: they are all that a model keeps."""
    (calibrated,) = calibrator.calibrated_classifiers_
    return tuple(
        np.array([found.a_, found.b_], dtype=np.float64)
        if calibrator.method == "sigmoid"
        else np.array([found.X_thresholds_, found.y_thresholds_], dtype=np.float64)
        for found in calibrated.calibrators
    )


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
    Calibration
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
        return Calibration(method, ())
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
    return Calibration(method, _maps(calibrator))
