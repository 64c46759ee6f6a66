"""Refits that share one reading of the table are the trees of clones fitted on the rows alone."""

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold as ScikitFolds
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sureleaf import TreeClassifier
from sureleaf.designs import Bootstrap, Holdout, KFold, LeaveOneOut, RepeatedHoldout
from sureleaf.errors import FailedFitError
from sureleaf.evaluation.evaluator import evaluate, make_fitter
from sureleaf.evaluation.labelled_table import read_labelled_table
from sureleaf.probability import MEstimate

# Rows of a bootstrap sample are repeated, so rows that are held out to look for hidden cuts are not
# unseen, and a plain fit may warn of a noise column.
pytestmark = pytest.mark.filterwarnings("ignore::sureleaf.HiddenCutWarning")


class Plain(TreeClassifier):
    """The same tree without prepared refits: every part is read by itself."""

    def fit(self, X, y, sample_weight=None, groups=None):
        """Fit with the copies of a row as a group, which rows of a data frame have in common."""
        is_copied = isinstance(X, pd.DataFrame) and not X.index.is_unique
        if groups is None and is_copied and isinstance(self.cv, int):
            groups = X.index.to_numpy()
        return super().fit(X, y, sample_weight, groups)


def make_table(seed, n=160, *, holes=True):
    """Numbers with ties, close values, categories and classes so rare that parts lack them."""
    rng = np.random.default_rng(seed)
    number = rng.normal(size=n).round(1)
    word = rng.choice([f"w{i}" for i in range(40)], n, p=np.r_[0.4, 0.3, np.full(38, 0.3 / 38)])
    size = pd.Categorical(
        rng.choice(["s", "m", "l"], n, p=[0.6, 0.38, 0.02]), ["s", "m", "l", "xl"], ordered=True
    )
    frame = pd.DataFrame(
        {
            "number": number,
            "close": 1.0 + 1e-6 * rng.integers(0, 60, n),
            "word": word,
            "size": size,
            "flag": rng.random(n) < 0.02,
            "kind": pd.Categorical(rng.choice(list("abc"), n, p=[0.7, 0.28, 0.02]), list("cbaz")),
        }
    )
    score = number + (word == "w0") - (frame["kind"] == "b") + rng.normal(0, 0.7, n)
    y = np.select([score > 0.8, score < -0.6], ["yes", "no"], "so")
    y[rng.integers(0, n, 2)] = "rare"
    if holes:
        for name in ("number", "word", "size", "kind"):
            frame[name] = frame[name].mask(rng.random(n) < 0.08)
    return frame, y


def judge_both(parameters, X, y, **how):
    """Both ways must agree that the estimator can be prepared, or the comparison says nothing."""
    model = TreeClassifier.c45(**parameters)
    assert make_fitter(model, read_labelled_table(X, y), 0).refits is not None
    assert make_fitter(Plain.c45(**parameters), read_labelled_table(X, y), 0).refits is None
    return (evaluate(m, X, y, random_state=3, **how) for m in (model, Plain.c45(**parameters)))


def assert_same(shared, alone):
    assert [s.failure for s in shared.splits] == [s.failure for s in alone.splits]
    assert shared.prediction.tolist() == alone.prediction.tolist()
    np.testing.assert_array_equal(shared.probabilities, alone.probabilities)


DESIGNS = [
    Holdout(),
    KFold(5),
    KFold(4, repeats=2, stratified=False),
    KFold(4, time_ordered=True),
    RepeatedHoldout(3, 0.9),
    Holdout(resample="under"),
    KFold(4, resample="over"),
    Bootstrap(8),
    Bootstrap(4, stratified=True),
]


@pytest.mark.parametrize("design", DESIGNS, ids=str)
@pytest.mark.parametrize("seed", [0, *(pytest.param(i, marks=pytest.mark.slow) for i in (1, 2))])
@pytest.mark.parametrize("holes", [False, True])
def test_every_design_gives_the_same_numbers_to_the_last_digit(design, seed, holes) -> None:
    assert_same(*judge_both({}, *make_table(seed, holes=holes), design=design))


@pytest.mark.parametrize("n_rows", [255, 300, 380, 450, 700])
@pytest.mark.parametrize("split", ["multiway", "subset"])
def test_a_part_may_have_few_values_where_the_table_has_many(n_rows, split) -> None:
    rng = np.random.default_rng(n_rows)
    X = pd.DataFrame({"number": rng.normal(size=n_rows), "letter": rng.choice(list("abc"), n_rows)})
    y = np.where(X["number"] + (X["letter"] == "a") + rng.normal(size=n_rows) > 0, "yes", "no")
    X = X.mask(rng.random(X.shape) < 0.15)
    for design in (Bootstrap(10), KFold(5)):
        assert_same(*judge_both({"categorical_split": split}, X, y, design=design))


@pytest.mark.parametrize(
    "parameters",
    [
        {"criterion": "gini", "min_samples_leaf": 1, "collapse": False, "pruning": None},
        {"criterion": "entropy", "categorical_split": "subset", "max_depth": 3},
        {"unseen": "stop", "pruning": None, "leaf_estimate": "laplace"},
        {"categorical_features": {"kind": list("zcba"), "number": "categorical", 2: "categorical"}},
        {"pruning": "cost_complexity", "ccp_alpha": 0.01, "criterion": "gini"},
        {"pruning": "cost_complexity", "cv": 3},
        {"pruning": "utility", "cv": ScikitFolds(3)},
        {"pruning": "reduced_error"},
        {"levels_from": "honest"},
        {"levels_from": "training", "leaf_estimate": MEstimate(2.0)},
        {"leaf_estimate": "m_estimate", "confidence_factor": 0.5},
        {"class_weight": "balanced"},
        {"class_weight": "balanced", "weights": "importance", "pruning": None},
        {"class_weight": {"yes": 0, "no": 7, "so": 0.3}, "missing": "branch"},
    ],
    ids=str,
)
def test_whatever_the_parameters(parameters) -> None:
    X, y = make_table(11)
    assert_same(*judge_both(parameters, X, y, design=KFold(4)))
    assert_same(*judge_both(parameters, X, y, design=Bootstrap(3)))


@pytest.mark.parametrize("changes", [{}, {"margin": 0, "max_leaves": 6}], ids=str)
def test_the_default_tree(changes) -> None:
    X, y = make_table(11)
    for design in (KFold(4), Bootstrap(3)):
        how = {"design": design, "random_state": 3}
        shared = evaluate(TreeClassifier(**changes), X, y, **how)
        assert_same(shared, evaluate(Plain(**changes), X, y, **how))


@pytest.mark.parametrize("meaning", ["counts", "importance"])
def test_weights_and_groups(meaning) -> None:
    X, y = make_table(5)
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 30, len(y))
    whole = rng.integers(0, 4, len(y))
    for how in ({"sample_weight": whole}, {"sample_weight": whole * 0.3}, {"groups": groups}):
        for design in (KFold(4), Bootstrap(4)):
            assert_same(*judge_both({"weights": meaning}, X, y, design=design, **how))
    weighted = {"weights": meaning, "class_weight": "balanced"}
    assert_same(*judge_both(weighted, X, y, design=KFold(4), sample_weight=whole))


def test_class_weights_change_what_an_evaluation_finds() -> None:
    """Once the trees of an evaluation ignored them: 88 % in place of 68 %."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    y = rng.random(600) < np.where(X[:, 0] < 0.6, 0.03, 0.25)
    found = evaluate(TreeClassifier(class_weight="balanced"), X, y)
    assert found.estimate("recall").value > 0.5
    assert evaluate(TreeClassifier(), X, y).estimate("recall").value < 0.1


def test_one_row_a_part_and_one_class_a_part() -> None:
    X, y = make_table(2, n=24)
    assert_same(*judge_both({}, X, y, design=LeaveOneOut()))
    y = np.repeat(["first", "second"], [12, 12])  # the first block has one class
    assert_same(*judge_both({}, X, y, design=KFold(3, time_ordered=True)))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("threads", [1, None])
def test_neither_workers_nor_threads_change_a_number(n_jobs, threads) -> None:
    X, y = make_table(4)
    few = evaluate(TreeClassifier.c45(n_jobs=1), X, y, design=Bootstrap(6), random_state=0)
    many = evaluate(
        TreeClassifier.c45(n_jobs=threads), X, y, design=Bootstrap(6), n_jobs=n_jobs, random_state=0
    )
    assert_same(few, many)


def test_a_seed_left_open_is_that_of_the_plain_fit() -> None:
    X, y = make_table(6)
    model = {"pruning": "reduced_error", "random_state": None}
    assert_same(*judge_both(model, X, y, design=KFold(3)))


def test_what_wraps_a_tree_or_must_not_see_all_rows_is_fitted_as_it_is() -> None:
    X, y = make_table(1)
    table = read_labelled_table(X, y)
    unchanged = make_pipeline(FunctionTransformer(), TreeClassifier.c45())
    frozen = FrozenEstimator(TreeClassifier.c45().fit(X, y))
    given = TreeClassifier.c45(categorical_features=TreeClassifier.c45().fit(X, y).schema_)
    for model in (unchanged, frozen, TreeClassifier.c45(unseen="error"), given):
        assert make_fitter(model, table, 0).refits is None
    shared = evaluate(TreeClassifier.c45(), X, y, design=KFold(3), random_state=0)
    assert_same(shared, evaluate(unchanged, X, y, design=KFold(3), random_state=0))
    kept = evaluate(frozen, X, y, design=KFold(3), random_state=0)
    assert kept.prediction.tolist() != shared.prediction.tolist()


def test_a_category_that_a_part_lacks_fails_it_where_that_is_asked_for() -> None:
    X, y = make_table(1)
    X["word"] = X["word"].where(X["word"].isin(["w0", "w1"]))
    judged = evaluate(TreeClassifier.c45(unseen="error"), X, y, design=KFold(4), random_state=0)
    assert any("categories of the training rows" in (s.failure or "") for s in judged.splits)


def test_a_table_that_cannot_be_read_fails_with_the_message_of_a_fit() -> None:
    X = np.array([[1, "a"], [2, 3j]] * 10, dtype=object)
    with pytest.raises(FailedFitError, match="real numbers"):
        evaluate(TreeClassifier.c45(), X, ["a", "b"] * 10, random_state=0)


def test_weights_of_zero_in_a_part_fail_that_part() -> None:
    X, y = make_table(3)
    weight = np.r_[np.zeros(40), np.ones(120)]
    both = judge_both({}, X, y, design=KFold(3, time_ordered=True), sample_weight=weight)
    shared, alone = both
    assert_same(shared, alone)
    assert "above 0" in shared.splits[0].failure


def test_a_column_that_is_empty_in_a_part_is_what_it_is_in_the_table() -> None:
    X = np.array([[None, i] for i in range(10)] + [["a", i] for i in range(10)], dtype=object)
    y = ["no", "yes"] * 10
    design = KFold(1 + 1, time_ordered=True)
    shared = evaluate(TreeClassifier.c45(), X, y, design=design, random_state=0)
    alone = evaluate(Plain.c45(), X, y, design=design, random_state=0)
    assert_same(shared, alone)
    assert [s.failure for s in shared.splits] == [None, None]


def test_copies_of_a_row_do_not_choose_a_larger_tree() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    model = TreeClassifier(n_jobs=1, random_state=0)
    refits = model.prepare_refits(X, y)
    sizes = [
        refits.fit(model, rng.integers(0, 300, 300), n_threads=1).model.tree.n_leaves
        for _ in range(8)
    ]
    assert np.median(sizes) <= 3  # noise; with copies in other folds it is 50 and more
