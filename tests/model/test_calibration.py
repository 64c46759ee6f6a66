import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from sureleaf.model.calibration import _Given, fit_calibration


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_probabilities_are_those_of_scikit_learn(method, n_classes):
    rng = np.random.default_rng(n_classes)
    said = rng.dirichlet(np.ones(n_classes), 300)
    happened = np.array(
        [rng.choice(n_classes, p=line) for line in said**2 / (said**2).sum(1)[:, None]]
    )
    weights = rng.random(300)
    found = fit_calibration(
        said, happened.astype(np.int32), weights, method=method, classes=np.arange(n_classes)
    )
    everything = np.arange(300)
    theirs = CalibratedClassifierCV(
        FrozenEstimator(_Given().fit(said, happened)),
        method=method,
        cv=[(everything, everything)],
        ensemble=False,
    )
    with pytest.warns(UserWarning, match="FrozenEstimator"):
        theirs.fit(said, happened, weights)
    new = np.vstack([rng.dirichlet(np.ones(n_classes), 200), np.eye(n_classes), said])
    np.testing.assert_allclose(found(new), theirs.predict_proba(new), atol=1e-12)
