"""Training rows that are called unseen, and classes in the wrong order."""

import warnings

import numpy as np
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sureleaf import BaggedTreesClassifier, TrainingRowsWarning, TreeClassifier, audit, load
from sureleaf.report.audit_report import audit_document
from sureleaf.report.request import Origin


def noisy(n, seed, columns=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    return X, rng.random(n) < 1 / (1 + np.exp(-1.5 * X[:, 0] - X[:, 1]))


MODELS = [
    RandomForestClassifier(30, random_state=0),
    GradientBoostingClassifier(max_depth=6, random_state=0),
    KNeighborsClassifier(1),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_rows_that_a_model_knows_by_heart_are_not_called_unseen(model):
    model.fit(*noisy(300, 0))
    with pytest.warns(TrainingRowsWarning, match="look like training rows"):
        known = audit(model, *noisy(300, 0))
    assert known.looks_seen
    assert "unseen" not in known._summary()
    assert "models that were fitted without a row" in known.notes()[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", TrainingRowsWarning)
        unseen = audit(model, *noisy(300, 1))
    assert not unseen.looks_seen
    assert not unseen.remarks


@pytest.mark.parametrize(
    "model",
    [TreeClassifier(pruning=None, max_depth=2), BaggedTreesClassifier(n_estimators=5)],
    ids=lambda model: type(model).__name__,
)
def test_our_models_recognise_rows_of_their_fit_among_others(model, tmp_path):
    X, y = noisy(400, 2)
    model.fit(X[:200], y[:200]).save(tmp_path / "m.sureleaf")
    for fitted in (model, load(tmp_path / "m.sureleaf")):
        with pytest.warns(TrainingRowsWarning, match="60 of 260 rows are equal to rows that the m"):
            known = audit(fitted, X[140:], y[140:])
        assert known.looks_seen
        assert audit(fitted, X[200:], y[200:]).newness == "compared"


@pytest.mark.parametrize("in_batches", [False, True])
def test_rows_are_called_unseen_only_if_someone_knows_it(in_batches):
    """The tree compares them with its rows; of another model, or without a comparison, it is said.

    Rows of a fit in batches are recognised as those of a fit in memory.
    """
    X, y = noisy(700, 2)
    table = pa.table({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})
    rows = table.slice(0, 400)
    tree = TreeClassifier(pruning=None, max_depth=2, random_state=0).fit(rows.to_reader(), "y")

    def audited(model, start, **options):
        part = table.slice(start, 300)
        if in_batches:
            return audit(model, part.to_reader(max_chunksize=90), "y", **options)
        return audit(model, part.drop_columns(["y"]), part["y"], **options)

    new = audited(tree, 400)
    assert (new.rows, new.newness, new.newness_in_words) == ("unseen", "compared", None)
    assert "on 300 unseen rows" in str(new)
    with pytest.warns(TrainingRowsWarning, match="are equal to rows that the model was fitted on"):
        seen = audited(tree, 100)
    assert (seen.rows, seen.newness, seen.to_dict()["rows"]) == ("seen", "seen", "seen")
    other = LogisticRegression().fit(X[:400], y[:400])
    unknown, stated = (audited(other, 400, **options) for options in ({}, {"rows": "unseen"}))
    assert (unknown.newness, stated.newness) == ("unknown", "stated")
    assert (unknown.rows, stated.rows) == ("unknown", "unseen")
    assert "on 300 rows: " in str(unknown)
    assert "is not known" in unknown.newness_in_words
    assert "on 300 unseen rows: " in str(stated)
    assert stated.newness_in_words.endswith("is the user's word.")
    for found in (unknown, stated):
        assert found.newness_in_words in str(audit_document(found, Origin("y"))["answer"])


@pytest.mark.parametrize("load_table", [load_iris, load_wine, load_breast_cancer])
def test_good_models_are_not_accused(load_table):
    X, y = load_table(return_X_y=True)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    seen, unseen = order[::2], order[1::2]
    for model in (GaussianNB(), RandomForestClassifier(30, random_state=0)):
        assert not audit(model.fit(X[seen], y[seen]), X[unseen], y[unseen]).remarks


def test_a_rule_without_errors_that_lines_can_learn_is_not_accused():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(4000, 6))
    y = X.sum(axis=1) > 0
    line = LogisticRegression(C=1e4).fit(X[:3600], y[:3600])
    assert not audit(line, X[3600:], y[3600:]).remarks


def test_a_forest_of_many_more_rows_is_not_accused():
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(6000, 2))
    y = (np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])) % 2 == 0  # a chessboard
    forest = RandomForestClassifier(20, random_state=0, bootstrap=False).fit(X[:5800], y[:5800])
    assert not audit(forest, X[5800:], y[5800:]).remarks


def test_classes_in_the_wrong_order_are_noticed():
    X, y = load_iris(return_X_y=True)
    model = GaussianNB().fit(X[::2], y[::2])
    names = np.array(["s", "v", "w"])
    right = audit(model, X[1::2], names[y[1::2]], classes=["s", "v", "w"])
    assert not right.remarks
    wrong = audit(model, X[1::2], names[y[1::2]], classes=["w", "v", "s"])
    assert "Classes= (--classes) seems wrong: with 's,v,w' the model" in wrong.remarks[0]
    assert wrong.remarks[0] in wrong.notes()
    two = noisy(400, 4)
    line = LogisticRegression().fit(*two)
    swapped = audit(line, two[0], ~two[1])
    assert "The order of the classes seems wrong: with 'True,False'" in swapped.remarks[0]
    rng = np.random.default_rng(5)
    assert not audit(line, two[0], rng.random(400) < 0.4).remarks  # useless is not swapped
