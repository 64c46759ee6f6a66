"""Data and models that several displays are tested with."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

import sureleaf
from sureleaf import TreeClassifier

X, Y = load_breast_cancer(return_X_y=True)
X = X[:, :6]
FRAME = pd.DataFrame(X, columns=["radius", "texture", "edge", "area", "smooth", "compact"])
LABELS = np.array(["bad", "good"])[Y]


@pytest.fixture(scope="session")
def model() -> TreeClassifier:
    return TreeClassifier.c45(random_state=0).fit(FRAME, LABELS)


@pytest.fixture(scope="session")
def evaluations() -> dict[str, sureleaf.Evaluation]:
    models = {"tree": TreeClassifier.c45(max_depth=2), "Bayes": GaussianNB()}
    return {name: sureleaf.evaluate(m, X, Y, random_state=0) for name, m in models.items()}


@pytest.fixture(scope="module", autouse=True)
def _few_rounds(few_rounds: None) -> None:
    """A figure shows the numbers of its model, whatever the rounds."""
