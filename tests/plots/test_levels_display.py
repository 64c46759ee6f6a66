"""Levels by rows, of trees and of single columns."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sureleaf import InvalidArgumentError, TreeClassifier, plots, rank_columns
from sureleaf.levels import tree_levels
from tests.plots.conftest import FRAME, LABELS, X
from tests.plots.drawing import assert_texts_do_not_overlap, drawn


@pytest.mark.parametrize("level", ["confidence", "utility"])
def test_levels_of_a_tree_are_those_of_the_theory_at_every_number_of_rows(model, level):
    display = plots.LevelsDisplay.from_estimator(model, level=level, n_max=200)
    leaves = model.leaves()
    expected = [
        getattr(tree_levels(n, leaves.n / leaves.n.sum(), leaves.probability), level)
        for n in display.n
    ]
    name = f"whole tree, {len(leaves)} leaves"
    assert display.curves[name] == pytest.approx(expected)
    assert next(iter(display.curves)) == "no split"
    assert display.n[-1] == 200
    assert_texts_do_not_overlap(drawn(display))
    start, best = display.best()[-1]
    at = int(np.flatnonzero(display.n == start)[0])
    others = np.array(list(display.curves.values()))[:, at:]
    assert (display.curves[best][at:] >= others.max(axis=0) - 1e-9).all()


def test_columns_are_compared_as_single_splits():
    display = plots.LevelsDisplay.from_columns(FRAME, LABELS, columns=["area", "texture"])
    assert list(display.curves) == ["no split", "area", "texture"]
    majority = np.mean(LABELS == "good")
    assert display.curves["no split"][-1] == pytest.approx(majority, abs=1e-3)
    assert_texts_do_not_overlap(drawn(display))
    by_place = plots.LevelsDisplay.from_columns(X, LABELS, columns=["x3", "x1"])
    assert by_place.curves["x3"] == pytest.approx(display.curves["area"])
    with pytest.raises(InvalidArgumentError, match="got 'weight'"):
        plots.LevelsDisplay.from_columns(FRAME, LABELS, columns=["weight"])


def test_by_the_training_rows_columns_have_the_levels_that_rank_them():
    display = plots.LevelsDisplay.from_columns(FRAME, LABELS, levels_from="training")
    ranking = rank_columns(FRAME, LABELS, levels_from="training")
    now = [float(np.interp(len(LABELS), display.n, curve)) for curve in display.curves.values()]
    assert list(display.curves)[1:] == ranking.column[:4].tolist()
    assert now[1:] == pytest.approx(ranking.utility[:4], abs=1e-4)


def test_levels_by_rows_are_of_two_classes(model):
    three = TreeClassifier.c45().fit(*load_iris(return_X_y=True))
    with pytest.raises(InvalidArgumentError, match=r"two classes .* got 3 classes"):
        plots.LevelsDisplay.from_estimator(three)
    with pytest.raises(InvalidArgumentError, match="'confidence', 'utility'"):
        plots.LevelsDisplay.from_estimator(model, level="accuracy")


def test_splits_of_ones_own_are_compared_with_no_split():
    splits = {"A": [(0.9, 0.75), (0.1, 0.75)], "B": [(0.2, 0.75), (0.8, 0.6875)]}
    for level in ("confidence", "utility"):
        display = plots.LevelsDisplay.from_splits(splits, level=level)
        assert list(display.curves) == ["no split", "A", "B"]
        for name, shares, p_max in (
            ("no split", [1.0], [0.7]),
            ("A", [0.9, 0.1], [0.75, 0.75]),
            ("B", [0.2, 0.8], [0.75, 0.6875]),
        ):
            expected = [getattr(tree_levels(n, shares, p_max), level) for n in display.n]
            assert display.curves[name] == pytest.approx(expected)
        assert_texts_do_not_overlap(drawn(display))
        assert (display.crossings(), display.best()[-1][1]) == {
            "confidence": ([(58, "B", "A")], "no split"),
            "utility": ([(2, "A", "no split")], "A"),
        }[level]
    marked = plots.LevelsDisplay.from_splits(splits, p_max=0.72, n_now=50)
    assert marked.curves["no split"][-1] == pytest.approx(0.72, abs=1e-3)
    assert_texts_do_not_overlap(drawn(marked))
