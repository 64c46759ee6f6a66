"""TreeClassifier gives the trees and probabilities that J48 prints."""

import csv

import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier
from tests.reference.compare import first_difference_from_print, hits_between
from tests.reference.j48 import (
    DATA_SETS,
    FIXTURES,
    Named,
    PrintedTree,
    load_printed,
    load_random_trees,
    load_table,
    parse,
    random_named,
)
from tests.shared_files import SHARED, needs_shared

# Some random tables have values closer than 1e-5, which J48 does not separate either.
pytestmark = pytest.mark.filterwarnings("ignore::sureleaf.HiddenCutWarning")

RANDOM = load_random_trees()
PARAMETERS = {
    "pruned": {"leaf_estimate": "frequency"},
    "unpruned": {"leaf_estimate": "frequency", "pruning": None},
    "unpruned-laplace": {"leaf_estimate": "laplace", "pruning": None},
}


def frame_of(named: Named) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the table with its texts and labels, as a user has it."""
    columns = {}
    for name, array, texts in zip(named.columns, named.data.columns, named.values, strict=True):
        columns[name] = (
            pd.Series([texts[code] if code >= 0 else None for code in array], dtype=object)
            if texts
            else array
        )
    return pd.DataFrame(columns), np.array(named.labels, dtype=object)[named.data.labels]


def fitted(
    named: Named, kind: str, **rules: float
) -> tuple[TreeClassifier, pd.DataFrame, np.ndarray]:
    X, y = frame_of(named)
    return TreeClassifier.c45(**PARAMETERS[kind], **rules).fit(X, y), X, y


def rules_of(stored: dict) -> dict[str, float]:
    return {name: stored[name] for name in ("min_samples_leaf", "confidence_factor")}


def assert_is_printed(named: Named, kind: str, printed: PrintedTree, **rules: float) -> None:
    model, X, y = fitted(named, kind, **rules)
    tree = model.tree_
    assert tuple(model.classes_) == named.labels
    assert first_difference_from_print(tree, printed, named) is None
    assert (tree.n_leaves, tree.n_nodes) == (printed.n_leaves, printed.n_nodes)
    fewest, most = hits_between(model.predict_proba(X), named.data.labels)
    hits = int((model.predict(X) == y).sum())
    assert fewest <= hits <= most
    assert fewest <= printed.training_hits <= most


def assert_has_probabilities(named: Named, kind: str, expected: np.ndarray, **rules: float) -> None:
    model, X, _ = fitted(named, kind, **rules)
    # Half a unit of the third decimal, and the last bit of the number itself.
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=0, atol=0.0005 + 1e-12)


@pytest.mark.parametrize("kind", ["pruned", "unpruned"])
@pytest.mark.parametrize("number", range(len(RANDOM)))
def test_the_tree_of_a_random_table_is_the_one_j48_prints(number, kind):
    named = random_named(RANDOM[number])
    printed = parse(RANDOM[number]["trees"][kind], named.columns)
    assert_is_printed(named, kind, printed, **rules_of(RANDOM[number]))


@pytest.mark.parametrize("kind", ["pruned", "unpruned-laplace"])
def test_the_probabilities_of_random_tables_are_those_of_j48(kind):
    stored = [case for case in RANDOM if "probabilities" in case]
    assert stored
    for case in stored:
        expected = np.array([row.split(",") for row in case["probabilities"][kind]], float)
        assert_has_probabilities(random_named(case), kind, expected, **rules_of(case))


@needs_shared
def test_all_reference_trees_are_tested():
    assert len(DATA_SETS) == 19


@needs_shared
@pytest.mark.parametrize("kind", ["pruned", "unpruned"])
@pytest.mark.parametrize("name", DATA_SETS)
def test_the_tree_of_a_real_table_is_the_one_j48_prints(name, kind):
    named = load_table(name)
    assert_is_printed(named, kind, load_printed(name, kind, named.columns))


@needs_shared
@pytest.mark.parametrize("file", sorted(path.name for path in FIXTURES.glob("*.csv")))
def test_the_probabilities_of_real_tables_are_those_of_j48(file):
    name, kind = file.removesuffix(".probabilities.csv").rsplit(".", 1)
    header, *rows = csv.reader((FIXTURES / file).read_text().splitlines())
    named = load_table(name)
    assert tuple(header) == named.labels
    assert_has_probabilities(named, kind, np.array(rows, float))


@needs_shared
@pytest.mark.parametrize("name", ["vote", "hepatitis", "labor"])
def test_a_file_read_by_pandas_gives_the_same_tree(name):
    named = load_table(name)
    path = SHARED / "data" / f"{name}.csv"
    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    target = frame.columns.difference(named.columns)[0]
    numeric = {c for c, texts in zip(named.columns, named.values, strict=True) if not texts}
    X = frame[list(named.columns)]
    X = X.astype({c: float if c in numeric else "category" for c in X})
    model = TreeClassifier.c45().fit(X, frame[target])
    printed = load_printed(name, "pruned", named.columns)
    assert first_difference_from_print(model.tree_, printed, named) is None
