"""A first fit does not wait for scipy.stats, and nobody can tell later that it was left out."""

import subprocess
import sys

FIT = """
import sys
import numpy as np
from sureleaf import TreeClassifier
TreeClassifier().fit(np.arange(8.0)[:, None], np.arange(8) > 3)
"""


def run(program: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_a_fit_loads_neither_scipy_stats_nor_the_optimizers() -> None:
    loaded = run(FIT + "print(*sys.modules)")
    assert "sklearn.base" in loaded
    assert {"scipy.stats", "scipy.optimize"}.isdisjoint(loaded)


def test_scikit_learn_finds_the_real_module_when_it_needs_it() -> None:
    mode = "from sklearn.utils.fixes import _mode; print(_mode(np.array([3, 3, 5])).mode[0])"
    assert run(FIT + mode) == ["3"]


def test_the_real_module_is_imported_afterwards() -> None:
    check = (
        "import scipy.stats; print(sys.modules['scipy.stats'] is scipy.stats, scipy.stats.__file__)"
    )
    same, path = run(FIT + check)
    assert same == "True"
    assert path.endswith("__init__.py")


def test_a_stand_in_that_was_kept_gives_the_real_names() -> None:
    kept = """
import importlib, sys
import sureleaf.estimators.quick_import as quick
stand_in = quick._StandIn("scipy.stats")
sys.modules["scipy.stats"] = stand_in
from scipy.stats import norm
from scipy.stats.distributions import beta
import scipy.stats
print(stand_in.norm is norm is scipy.stats.norm, scipy.stats is not stand_in, beta is stand_in.beta)
"""
    assert run(kept) == ["True", "True", "True"]


def test_scipy_stats_loaded_before_stays_as_it_was() -> None:
    before = "import sys, scipy.stats; before = sys.modules['scipy.stats']\n"
    assert run(before + FIT + "print(sys.modules['scipy.stats'] is before)") == ["True"]


def test_garbage_is_collected_afterwards_as_it_was_before() -> None:
    assert run("import gc\n" + FIT + "print(gc.isenabled())") == ["True"]
    assert run("import gc; gc.disable()\n" + FIT + "print(gc.isenabled())") == ["False"]
