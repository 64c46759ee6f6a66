"""Every example in a docstring runs and prints the shown output."""

import doctest
import importlib
import pkgutil

import pytest

import sureleaf

MODULES = ["sureleaf"] + [
    module.name
    for module in pkgutil.walk_packages(sureleaf.__path__, "sureleaf.")
    if not module.name.endswith("._core")
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
