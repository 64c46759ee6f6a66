"""What every test gets."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _seeded_global_state():
    """An estimator with random_state=None reads NumPy's global state: the same in every run."""
    np.random.seed(20)  # noqa: NPY002 - the global state is the point
