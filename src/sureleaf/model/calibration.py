"""Calibration of the mean probabilities of bagged trees, with scikit-learn's calibrators."""

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
from sureleaf.levels.decisions import predicted_class


class _Given(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that returns its table, so that scikit-learn can calibrate any probabilities."""

    def fit(self, X: NDArray[np.float64], y: NDArray[np.int32]) -> Self:
        self.classes_ = np.arange(X.shape[1])
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return X

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.intp]:
        return predicted_class(X)


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map from mean to calibrated probabilities per class, or only for the second of two.

    - `method`: what the maps are.
    - `maps`: for "sigmoid" the two numbers a and b of ``1 / (1 + exp(a p + b))``. For "isotonic" an
      array of shape (2, n_points): probabilities and their calibrated values, with straight lines
      in between. Empty if there is only one class.
    """

    method: str
    maps: tuple[NDArray[np.float64], ...]

    def __call__(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Calibrate probabilities, one row of classes per row; they sum to 1."""
        if not self.maps:
            return probabilities
        n_classes = probabilities.shape[1]
        if n_classes == 2:
            second = self._mapped(self.maps[0], probabilities[:, 1])
            return np.column_stack([1.0 - second, second])
        mapped = np.column_stack(
            [self._mapped(line, p) for line, p in zip(self.maps, probabilities.T, strict=True)]
        )
        total = mapped.sum(axis=1, keepdims=True)
        even = np.full(mapped.shape, 1.0 / n_classes)
        shares: NDArray[np.float64] = np.divide(mapped, total, out=even, where=total > 0)
        return shares

    def _mapped(
        self, line: NDArray[np.float64], probabilities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.method == "sigmoid":
            a, b = line
            calibrated: NDArray[np.float64] = expit(-(a * probabilities + b))
            return calibrated
        between: NDArray[np.float64] = np.interp(probabilities, line[0], line[1])
        return between


def _maps(calibrator: CalibratedClassifierCV) -> tuple[NDArray[np.float64], ...]:
    """Take the numbers out of scikit-learn's calibrators; a model keeps nothing else of them."""
    (calibrated,) = calibrator.calibrated_classifiers_
    return tuple(
        np.array([one.a_, one.b_], dtype=np.float64)
        if calibrator.method == "sigmoid"
        else np.array([one.X_thresholds_, one.y_thresholds_], dtype=np.float64)
        for one in calibrated.calibrators
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

    Rows whose probabilities are NaN are left out. `method` is "sigmoid" (Platt) or "isotonic";
    where there are more than two classes, each is calibrated against the others. `classes` are for
    messages.
    """
    used = ~np.isnan(probabilities).any(axis=1)
    if weights is not None:
        used &= weights > 0
    counts = np.bincount(labels[used], minlength=probabilities.shape[1])
    if probabilities.shape[1] < 2:
        return Calibration(method, ())
    if not counts.all():
        missing = np.asarray(classes).tolist()[int(counts.argmin())]
        raise InvalidArgumentError(
            f"calibration needs out-of-bag rows of every class; class {missing!r} has none. Use "
            "more trees or calibration=None."
        )
    given, truth = probabilities[used], labels[used]
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
        calibrator.fit(given, truth, None if weights is None else weights[used])
    return Calibration(method, _maps(calibrator))
