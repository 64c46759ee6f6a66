"""What every test gets."""

import hashlib
import os
import pickle
from collections.abc import Iterator
from typing import Any

import hypothesis
import numpy as np
import pytest

from tests.long_runs import LONG

# The tests run in one process per core. OpenMP (LightGBM, XGBoost, scikit-learn) would start one
# thread per core in each of them, and these threads wait for each other by spinning.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# No test may fail because the machine is busy.
hypothesis.settings.register_profile("without a deadline", deadline=None)
hypothesis.settings.load_profile("without a deadline")

# `make coverage` counts the lines of the processes that run tests. In the processes that tests
# start it would count hardly another line, and take longer to start than they do.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)

# A process cannot give away the test that it runs: a long one at the end keeps the others waiting.
LONGEST = {"test_documents.py", "test_notebooks.py", "test_makefile.py"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest tests; the order within each file is kept."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(autouse=True)
def _seeded_global_state() -> None:
    """An estimator with random_state=None reads NumPy's global state: the same in every run."""
    np.random.seed(20)  # noqa: NPY002 - the global state is the point


@pytest.fixture(scope="module")
def few_rounds() -> Iterator[None]:
    """Levels from 4 rounds of cross-fitting, not from up to 40, except in `make test-long`.

    For modules whose statements hold for any number of rounds. Levels are most of the time of a
    small fit.
    """
    from sureleaf.model import cross_fitting

    with pytest.MonkeyPatch.context() as patch:
        if not LONG:
            patch.setattr(cross_fitting, "MAX_ROUNDS", 4)
        yield


@pytest.fixture(scope="module")
def small_budget() -> Iterator[None]:
    """Reports with few folds, bootstrap samples and trees, except in `make test-long`.

    For modules that are about what a report says and where it is written, not about how exact its
    figures are.
    """
    from sureleaf.report import Budget, results

    def budget_for(n_rows: int, n_units: int, *, is_resized: bool = False) -> Budget:
        return Budget(min(3, n_units), 2, 3, 2, 40, bagged_trees=5)

    with pytest.MonkeyPatch.context() as patch:
        if not LONG:
            patch.setattr(results, "budget_for", budget_for)
        yield


@pytest.fixture
def all_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rounds as users get, for one test of a module that has few."""
    from sureleaf.model import cross_fitting

    monkeypatch.setattr(cross_fitting, "MAX_ROUNDS", 40)


_LEVELS: dict[bytes, Any] = {}


@pytest.fixture
def levels_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The levels of a model are computed once per process, except in `make test-long`.

    For documents and notebooks, which show the same few models again and again, with all rounds.
    """
    from sureleaf.estimators import tree_classifier

    compute = tree_classifier.cross_fit_levels

    def cross_fit_levels(*given: Any, n_threads: int = 1, **named: Any) -> Any:
        key = hashlib.sha256(pickle.dumps((given, named))).digest()
        if key not in _LEVELS:
            _LEVELS[key] = compute(*given, n_threads=n_threads, **named)
        return _LEVELS[key]

    if not LONG:
        monkeypatch.setattr(tree_classifier, "cross_fit_levels", cross_fit_levels)
