"""The public names exist, are listed in `__all__` and have a runnable example."""

import importlib
import inspect
import pkgutil

import pytest

import sureleaf

PUBLIC_NAMES = {
    "sureleaf": [
        "Arithmetic",
        "Audit",
        "BaggedTreesClassifier",
        "Comparison",
        "Estimate",
        "Evaluation",
        "Geometric",
        "InvalidArgumentError",
        "InvalidTypeError",
        "MissingPackageError",
        "SureleafError",
        "TreeClassifier",
        "UnreachableLevelError",
        "audit",
        "bootstrap_error",
        "compare",
        "compare_rates",
        "decide",
        "designs",
        "evaluate",
        "learning_curve",
        "levels",
        "load",
        "measures",
        "paired_t",
        "plots",
        "rank_columns",
        "rate_interval",
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
    "sureleaf.levels.entropies": ["entropy", "gini", "renyi", "shannon", "tsallis"],
    "sureleaf.designs": ["Bootstrap", "Holdout", "KFold", "LeaveOneOut", "RepeatedHoldout"],
    "sureleaf.measures": [
        "accuracy",
        "auc",
        "cost",
        "cross_entropy",
        "error",
        "f_measure",
        "false_negative_rate",
        "false_positive_rate",
        "nce",
        "precision",
        "quadratic_loss",
        "recall",
        "specificity",
        "weighted_accuracy",
        "zero_one_loss",
    ],
    "sureleaf.plots": [
        "ComparisonDisplay",
        "LearningCurveDisplay",
        "LeavesDisplay",
        "LevelsDisplay",
        "PruningDisplay",
        "RanksDisplay",
        "ReliabilityDisplay",
        "RocDisplay",
        "TreeDisplay",
    ],
    "sureleaf.report": ["Report", "compare_reports", "make_report", "read_report"],
    "sureleaf.reproduce": ["reproduce"],
}
"""Names that users rely on. A name is added when it is announced, and never removed. Functions and
classes among them have an example; other ones need none."""

MODULES = ["sureleaf"] + [
    module.name
    for module in pkgutil.walk_packages(sureleaf.__path__, "sureleaf.")
    if module.ispkg or module.name in PUBLIC_NAMES
]
"""Packages list their names; in their modules, a name without an underscore is for the others."""


@pytest.mark.parametrize("module", PUBLIC_NAMES)
def test_public_names_exist(module: str) -> None:
    assert set(PUBLIC_NAMES[module]) <= set(importlib.import_module(module).__all__)


@pytest.mark.parametrize("name", MODULES)
def test_every_listed_name_exists_and_is_listed_once(name: str) -> None:
    module = importlib.import_module(name)
    listed = getattr(module, "__all__", [])
    assert len(set(listed)) == len(listed)
    for each in listed:
        getattr(module, each)


@pytest.mark.parametrize("name", ["sureleaf", "sureleaf.levels"])
def test_a_facade_lists_every_function_and_class_that_it_has(name: str) -> None:
    module = importlib.import_module(name)
    visible = {
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and (inspect.isclass(value) or inspect.isroutine(value))
    }
    assert visible <= set(module.__all__)


@pytest.mark.parametrize("module", PUBLIC_NAMES)
def test_every_public_function_and_class_has_an_example(module: str) -> None:
    for name in PUBLIC_NAMES[module]:
        public = getattr(importlib.import_module(module), name)
        if inspect.isclass(public) or inspect.isfunction(public):
            assert ">>> " in (inspect.getdoc(public) or ""), f"{module}.{name}"


def test_the_package_lists_its_names_without_importing_them() -> None:
    assert dir(sureleaf) == sorted(sureleaf.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'leafs'"):
        sureleaf.leafs  # type: ignore[attr-defined]  # noqa: B018
