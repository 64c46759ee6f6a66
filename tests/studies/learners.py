"""Small learners for studies: some that fail in every way a learner can."""

import os
import signal
import time

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class Shares(ClassifierMixin, BaseEstimator):
    """Predicts the class shares, moved by a random number, so that its seed matters."""

    def __init__(self, random_state=None, pause=0.0):
        self.random_state = random_state
        self.pause = pause

    def fit(self, X, y):
        time.sleep(self.pause)
        self.classes_, counts = np.unique(y, return_counts=True)
        noise = np.random.default_rng(self.random_state).random(len(counts))
        self.shares_ = (counts + noise) / (counts + noise).sum()
        return self

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class Raises(Shares):
    def __init__(self, random_state=None, pause=0.0, text="no luck today"):
        super().__init__(random_state, pause)
        self.text = text

    def fit(self, X, y):
        raise RuntimeError(self.text)


class Hangs(Shares):
    def fit(self, X, y):
        time.sleep(1000)


class Hoards(Shares):
    def fit(self, X, y):
        self.hoard_ = np.ones(1 << 28)
        return super().fit(X, y)


class Crashes(Shares):
    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGSEGV)
