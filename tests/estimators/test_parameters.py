"""One table says what every parameter of a tree may be."""

from inspect import signature

import pytest

from sureleaf import BaggedTreesClassifier, InvalidArgumentError, TreeClassifier
from sureleaf.commands.learners import read_tree_options
from sureleaf.estimators.parameters import (
    C45,
    INSTEAD,
    OTHER_NAMES,
    PARAMETERS,
    parameter_table,
    written_examples,
)


def test_the_table_has_the_parameters_of_the_constructor_in_their_order():
    assert list(PARAMETERS) == list(signature(TreeClassifier).parameters)


def test_every_default_and_every_value_of_c45_is_one_that_the_table_takes():
    for name, given in (TreeClassifier().get_params() | C45).items():
        PARAMETERS[name].check(name, given)


@pytest.mark.parametrize("name", [n for n, one in PARAMETERS.items() if one.low is not None])
def test_a_number_below_its_bound_is_an_error_that_names_it(name):
    with pytest.raises(InvalidArgumentError, match=f"{name} must be a"):
        TreeClassifier(**{name: -1}).settings()


@pytest.mark.parametrize(
    "name", [n for n, one in PARAMETERS.items() if one.choices and not one.is_open]
)
def test_a_value_that_is_none_of_the_choices_is_an_error_that_lists_them(name):
    with pytest.raises(InvalidArgumentError, match=f"{name} must be one of .*got 'other'"):
        TreeClassifier(**{name: "other"}).settings()


def test_a_shell_completes_the_values_that_have_a_name():
    examples = written_examples(("cost",))
    assert {"criterion=gini", "pruning=none", "leaf_estimate=laplace", "max_depth="} <= {*examples}
    assert not any(example.startswith("cost") for example in examples)


def test_the_documentation_shows_who_sets_every_parameter():
    table = parameter_table(TreeClassifier)
    assert "| `criterion` | `'entropy'` | `'gain_ratio'` | Whoever" in table
    assert len(table.splitlines()) == 2 + len(PARAMETERS)


def test_the_name_of_another_library_is_an_error_that_names_ours():
    with pytest.raises(TypeError, match=r"TreeClassifier has no parameter max_leaf_nodes. Its nam"):
        TreeClassifier(max_leaf_nodes=3)
    with pytest.raises(TypeError, match=r"Its name here is monotone\."):
        TreeClassifier.c45(monotonic_cst=[1])
    with pytest.raises(TypeError, match="Did you mean 'max_depth'"):
        TreeClassifier(max_depht=3)
    with pytest.raises(TypeError, match="BaggedTreesClassifier has no parameter n_estimator"):
        BaggedTreesClassifier(n_estimator=3)
    with pytest.raises(TypeError, match=r"estimator=TreeClassifier\(max_leaves=\.\.\.\)"):
        BaggedTreesClassifier(max_leaf_nodes=3)
    with pytest.raises(TypeError, match="BaggedTreesClassifier has it"):
        TreeClassifier(n_estimators=3)
    with pytest.raises(ValueError, match=r"Its name here is max_leaves\."):
        TreeClassifier().set_params(max_leaf_nodes=3)
    with pytest.raises(InvalidArgumentError, match=r"Its name here is max_leaves\."):
        read_tree_options(["max_leaf_nodes=3"])
    with pytest.raises(TypeError, match=r"Use min_samples_leaf=\.\.\. instead\."):
        TreeClassifier(min_samples_split=3)
    with pytest.raises(TypeError, match=r"estimator=TreeClassifier\(ccp_alpha=\.\.\.\) instead"):
        BaggedTreesClassifier(min_impurity_decrease=0.1)


def test_every_other_name_leads_to_a_parameter_and_is_none_itself():
    assert {*OTHER_NAMES.values(), *INSTEAD.values()} <= set(PARAMETERS)
    assert not {*OTHER_NAMES, *INSTEAD} & set(PARAMETERS)
