"""One table, four libraries, one model."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

from sureleaf import BaggedTreesClassifier, InvalidArgumentError, TreeClassifier

pytestmark = pytest.mark.usefixtures("few_rounds")


def columns(n_rows: int = 120) -> tuple[dict[str, list], list[str]]:
    random = np.random.default_rng(0)
    age = [None if random.random() < 0.1 else float(v) for v in random.integers(18, 80, n_rows)]
    town = [None if random.random() < 0.1 else str(random.choice(["Rome", "Oslo"])) for _ in age]
    smokes = [bool(random.random() < 0.5) for _ in age]
    y = ["yes" if (a or 0) > 40 and t != "Oslo" else "no" for a, t in zip(age, town, strict=True)]
    return {"age": age, "town": town, "smokes": smokes}, y


def tables() -> dict[str, object]:
    cells, _ = columns()
    arrow = pa.table(cells)
    return {
        "pandas": pd.DataFrame(cells),
        "pandas category": pd.DataFrame(cells).astype({"town": "category"}),
        "pandas arrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(cells),
        "polars categorical": pl.DataFrame(cells).with_columns(pl.col("town").cast(pl.Categorical)),
        "arrow": arrow,
        "arrow chunks": pa.concat_tables([arrow.slice(0, 50), arrow.slice(50)]),
        "arrow dictionary": arrow.set_column(1, "town", arrow["town"].dictionary_encode()),
    }


@pytest.mark.parametrize("library", tables())
@pytest.mark.parametrize("parameters", [{}, {"criterion": "gini", "categorical_split": "subset"}])
def test_the_model_does_not_depend_on_the_library(library, parameters):
    table = tables()
    _, y = columns()
    expected = TreeClassifier.c45(**parameters).fit(table["pandas"], y)
    assert expected.tree_.n_leaves > 2
    ours = TreeClassifier.c45(**parameters).fit(table[library], y)
    assert ours.rules() == expected.rules()
    for name in ("feature", "threshold", "children", "class_counts", "category_branch"):
        np.testing.assert_array_equal(getattr(ours.tree_, name), getattr(expected.tree_, name))
    # fitted on one, asked with another
    for other in ("pandas", "polars", "arrow", library):
        np.testing.assert_array_equal(
            ours.predict_proba(table[other]), expected.predict_proba(table["pandas"])
        )


def sized_rows() -> tuple[list[str], np.ndarray]:
    """Sizes whose alphabet says nothing: one cut of their order parts the classes."""
    sizes = ["xs", "s", "m", "l", "xl"] * 8
    return sizes, np.array([size in ("l", "xl") for size in sizes])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_kinds_of_columns_can_be_said_in_any_library(make):
    sizes, y = sized_rows()
    X = make({"size": sizes, "year": [2020, 2021] * 20})
    kinds = {"size": ["xs", "s", "m", "l", "xl"], "year": "categorical"}
    model = clone(TreeClassifier.c45(categorical_features=kinds)).fit(X, y)
    assert [column.kind for column in model.schema_] == ["ordered", "categorical"]
    assert model.rules().splitlines()[0].startswith("size <= m: False")
    assert model.score(X, y) == 1.0
    again = clone(TreeClassifier.c45(categorical_features=model.schema_)).fit(X, y)
    assert again.rules() == model.rules()
    told = TreeClassifier.c45(categorical_features=kinds)
    bag = BaggedTreesClassifier(estimator=told, n_estimators=3, random_state=0)
    assert bag.fit(X, y).schema_ == model.schema_
    with pytest.raises(InvalidArgumentError, match=r"'size' must hold .* given.*got xs in"):
        TreeClassifier.c45(categorical_features={"size": ["s", "m", "l"]}).fit(X, y)


@pytest.mark.parametrize("make", [list, pd.Series, pl.Series, pa.array, np.array])
def test_labels_may_come_from_any_library(make):
    cells, y = columns()
    X = pd.DataFrame(cells)
    assert TreeClassifier.c45().fit(X, make(y)).rules() == TreeClassifier.c45().fit(X, y).rules()


def test_an_array_of_objects_and_a_list_of_rows_are_tables_too():
    cells, y = columns()
    rows = [list(row) for row in zip(*cells.values(), strict=True)]
    named = TreeClassifier.c45().fit(pd.DataFrame(cells), y)
    for table in (rows, np.array(rows, dtype=object)):
        bare = TreeClassifier.c45().fit(table, y)
        np.testing.assert_array_equal(bare.tree_.feature, named.tree_.feature)
        np.testing.assert_array_equal(bare.tree_.threshold, named.tree_.threshold)
        np.testing.assert_array_equal(
            bare.predict_proba(table), named.predict_proba(pd.DataFrame(cells))
        )


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "float64", ">f8"])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_numbers_of_any_type_and_layout_give_the_same_tree(dtype, order):
    random = np.random.default_rng(1)
    plain = random.integers(0, 2 if dtype == "bool" else 50, (200, 4)).astype(np.float64)
    y = (plain[:, 0] > plain[:, 1]).astype(int)
    X = plain.astype(dtype)
    if order == "F":
        X = np.asfortranarray(X)
    elif order == "strided":
        X = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3]
    kinds = {"categorical_features": [], "criterion": "gini"}
    expected = TreeClassifier.c45(**kinds).fit(plain, y)
    ours = TreeClassifier.c45(**kinds).fit(X, y)
    np.testing.assert_array_equal(ours.tree_.feature, expected.tree_.feature)
    np.testing.assert_array_equal(ours.tree_.threshold, expected.tree_.threshold)
    np.testing.assert_array_equal(ours.predict(X), expected.predict(plain))
