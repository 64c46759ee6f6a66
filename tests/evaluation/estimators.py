"""Small classifiers that behave, and some that do not."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Nearest(ClassifierMixin, BaseEstimator):
    """Class of the nearest training mean, with soft probabilities: quick and deterministic."""

    def fit(self, X, y, sample_weight=None):
        X = np.asarray(X, dtype=float)
        w = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
        self.classes_ = np.unique(y)
        self.means_ = np.array(
            [np.average(X[y == k], axis=0, weights=w[y == k]) for k in self.classes_]
        )
        return self

    def predict_proba(self, X):
        X = np.asarray(X, dtype=float)
        gap = ((X[:, None, :] - self.means_) ** 2).sum(axis=2)
        soft = np.exp(-(gap - gap.min(axis=1, keepdims=True)))
        return soft / soft.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class WithoutProbabilities(Nearest):
    @property
    def predict_proba(self):
        raise AttributeError("predict_proba")

    def predict(self, X):
        return self.classes_[Nearest.predict_proba(self, X).argmax(axis=1)]


class FailsOn(Nearest):
    """Raises when a row whose first value is `marker` is among the rows to predict."""

    def __init__(self, marker=0.0):
        self.marker = marker

    def predict(self, X):
        if (np.asarray(X)[:, 0] == self.marker).any():
            raise RuntimeError("the disk is full")
        return super().predict(X)


class Distorted(Nearest):
    """Probabilities multiplied by a factor (NaN included)."""

    def __init__(self, factor=1.0):
        self.factor = factor

    def predict_proba(self, X):
        return Nearest.predict_proba(self, X) * self.factor

    def predict(self, X):
        return self.classes_[Nearest.predict_proba(self, X).argmax(axis=1)]


class Stranger(Nearest):
    """Predicts a label that is not in the data."""

    def predict(self, X):
        return np.full(len(X), "?")


class Coin(ClassifierMixin, BaseEstimator):
    """Random predictions from its random_state."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.random.RandomState(self.random_state).choice(self.classes_, len(X))
