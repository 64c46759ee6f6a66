"""What is public exists, is listed, and explains itself."""

import importlib
import inspect
import pkgutil

import pytest

import sureleaf

PROMISED = {
    "sureleaf": [
        "InvalidArgumentError",
        "InvalidTypeError",
        "MissingPackageError",
        "SureleafError",
        "UnreachableLevelError",
        "audit",
        "levels",
        "plots",
    ],
    "sureleaf.levels": [
        "class_confidence",
        "class_utility",
        "confidence",
        "entropic_binomial",
        "entropies",
        "estimate_p_max",
        "exact_bias",
        "exact_mse",
        "level_intervals",
        "node_confidence",
        "node_utility",
        "p_max_interval",
        "sample_size",
        "sample_size_for_bias",
        "tree_levels",
        "utility",
    ],
    "sureleaf.plots": [
        "ComparisonDisplay",
        "LearningCurveDisplay",
        "LeavesDisplay",
        "LevelsDisplay",
        "RanksDisplay",
        "ReliabilityDisplay",
        "RocDisplay",
        "TreeDisplay",
    ],
    "sureleaf.report": ["Report", "compare_reports", "make_report", "read_report"],
    "sureleaf.reproduce": ["reproduce"],
}
"""Names that users rely on: a name leaves this list never, and joins it when it is announced."""

MODULES = ["sureleaf"] + [
    module.name
    for module in pkgutil.walk_packages(sureleaf.__path__, "sureleaf.")
    if not module.name.endswith("._core")
]
FACADES = ["sureleaf", "sureleaf.levels"]  # modules that only gather what users import

# The kernel is compiled: its names carry a line of meaning where they are imported. The study of
# Chawla and Cieslak needs their data sets and minutes: an example would be neither.
WITHOUT_EXAMPLES = ("sureleaf._kernel", "sureleaf.reproduce.chawla2006")
PUBLIC = ("sureleaf", "sureleaf.levels", "sureleaf.measures", "sureleaf.designs", "sureleaf.plots")
EXPLAINED = [name for name in PUBLIC if not name.startswith(WITHOUT_EXAMPLES)]


@pytest.mark.parametrize("module", PROMISED)
def test_what_was_promised_is_there(module: str) -> None:
    assert set(PROMISED[module]) <= set(importlib.import_module(module).__all__)


@pytest.mark.parametrize("name", MODULES)
def test_every_listed_name_exists_once(name: str) -> None:
    module = importlib.import_module(name)
    assert len(set(module.__all__)) == len(module.__all__)
    for listed in module.__all__:
        getattr(module, listed)


@pytest.mark.parametrize("name", FACADES)
def test_a_facade_lists_every_function_and_class_it_shows(name: str) -> None:
    module = importlib.import_module(name)
    shown = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and (inspect.isclass(value) or inspect.isroutine(value))
    }
    assert shown <= set(module.__all__)


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_public_function_and_class_has_an_example(name: str) -> None:
    module = importlib.import_module(name)
    for listed in module.__all__:
        thing = getattr(module, listed)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            told = inspect.getdoc(thing) or ""
            example = ">>> " in told or "\n- sureleaf " in told  # a command's is a command line
            assert example, f"{name}.{listed}"


def test_the_package_lists_its_names_without_loading_them() -> None:
    assert dir(sureleaf) == sorted(sureleaf.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'leafs'"):
        sureleaf.leafs  # type: ignore[attr-defined]  # noqa: B018
