"""Classifiers in words: expressions that nest, and nothing that is executed."""

from pathlib import Path

import pyarrow as pa
import pytest
from sklearn.ensemble import BaggingClassifier

from sureleaf import BaggedTreesClassifier, TreeClassifier
from sureleaf.commands.learners import libraries_of, read_model, read_tree_options
from sureleaf.errors import InvalidArgumentError

ROWS = pa.table({"n": [1.0], "colour": ["red"]})
RECOMMENDED = (
    'BaggedTreesClassifier(estimator=TreeClassifier.c45(pruning=None, leaf_estimate="laplace"))'
)


def test_the_bags_of_chawla_and_cieslak_are_an_expression_and_options() -> None:
    tree = TreeClassifier.c45(pruning=None, leaf_estimate="laplace")
    expected = BaggedTreesClassifier(estimator=tree)
    written = read_model(RECOMMENDED, ROWS)
    options = read_tree_options(["c45", "pruning=none", "leaf_estimate=laplace"], bagged=30).make()
    assert repr(written) == repr(expected)
    for model in (written, options):
        assert model.n_estimators == 30
        assert model.estimator.get_params() == tree.get_params()


def test_a_classifier_of_another_library_may_hold_ours_and_lists_of_objects() -> None:
    text = "sklearn.ensemble.BaggingClassifier(estimator=TreeClassifier(max_depth=-1+2), n_jobs=1)"
    with pytest.raises(InvalidArgumentError, match=r"-1 \+ 2 is not a number, a text in quotes"):
        read_model(text, ROWS)
    model = read_model(text.replace("-1+2", "2"), ROWS).steps[-1][1]
    assert isinstance(model, BaggingClassifier)
    assert model.estimator.max_depth == 2
    steps = "('a', sklearn.preprocessing.StandardScaler), ('b', sklearn.naive_bayes.GaussianNB())"
    pipeline = read_model(f"sklearn.pipeline.Pipeline(steps=[{steps}])", ROWS).steps[-1][1]
    assert [name for name, _ in pipeline.steps] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a b", "it cannot be read"),
        ("3", "it is not a name"),
        ("TreeClassifer", "TreeClassifer is not TreeClassifier, .* Did you mean 'TreeClassifier'"),
        ("TreeClassifier(pruning=pessimistic)", "pessimistic is not .* and a text needs quotes"),
        ("TreeClassifier(3)", "every parameter needs its name"),
        ("TreeClassifier(**{})", "every parameter needs its name"),
        (
            "TreeClassifier(depth=3)",
            "TreeClassifier has no parameter depth. Did you mean 'max_depth'",
        ),
        ("sklearn.tree.Nope", "has no attribute 'Nope'"),
        ("TreeClassifier.c46()", r"needs quotes\. Did you mean 'TreeClassifier.c45' or .*\?$"),
        ("nowhere.Nope", "No module named 'nowhere'"),
        ("sklearn.preprocessing.normalize(X=[1])", "normalize is not a class with a method fit"),
        ("sklearn.gaussian_process.kernels.RBF", "it has no method fit"),
        ("TreeClassifier(leaf_estimate=__import__('os').getcwd())", "is not a class|No module"),
        ("TreeClassifier(max_depth=(lambda: 3)())", "No module|is not"),
    ],
)
def test_an_expression_that_is_no_classifier_is_refused_with_the_reason(text, reason):
    with pytest.raises(InvalidArgumentError, match=f"--model must be a classifier .*{reason}"):
        read_model(text, ROWS)


@pytest.mark.parametrize("name", ["os.mkdir(path={!r})", "subprocess.Popen(args=['mkdir', {!r}])"])
def test_what_is_not_a_classifier_is_not_called(tmp_path: Path, name: str) -> None:
    made = tmp_path / "made"
    for text in (name, f"TreeClassifier(leaf_estimate={name})"):
        with pytest.raises(InvalidArgumentError, match="is not a class with a method fit"):
            read_model(text.format(str(made)), ROWS)
    assert not made.exists()


def test_an_expression_names_its_libraries() -> None:
    text = "sklearn.ensemble.BaggingClassifier(estimator=lightgbm.LGBMClassifier(alpha=1.5))"
    assert libraries_of(text) == {"sklearn", "lightgbm"}
    assert libraries_of(RECOMMENDED) == set()
