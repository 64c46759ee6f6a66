"""Displays: first the numbers, then what is drawn, without letters over letters."""

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import sureleaf
from sureleaf import InvalidArgumentError, MissingPackageError, TreeClassifier, audit, plots
from sureleaf.levels import tree_levels
from sureleaf.plots import Display
from sureleaf.plots.display import picture, save

X, Y = load_breast_cancer(return_X_y=True)
FRAME = pd.DataFrame(X[:, :6], columns=["radius", "texture", "edge", "area", "smooth", "compact"])
LABELS = np.array(["bad", "good"])[Y]


@pytest.fixture(scope="module")
def model() -> TreeClassifier:
    return TreeClassifier(random_state=0).fit(FRAME, LABELS)


@pytest.fixture(scope="module")
def judged() -> dict[str, sureleaf.Evaluation]:
    models = {"tree": TreeClassifier(max_depth=2), "Bayes": GaussianNB()}
    return {n: sureleaf.evaluate(m, X[:, :6], Y, random_state=0) for n, m in models.items()}


def drawn(display: Display) -> Display:
    """Draw into a figure of the display's own size that pyplot knows nothing of."""
    figure = Figure(figsize=display._size(), layout="constrained")
    display.plot(ax=figure.add_subplot())
    assert display.figure_ is figure
    figure.draw_without_rendering()
    return display


def texts_apart(display: Display) -> None:
    """No two texts of the plot overlap, and none leaves the figure."""
    figure = display.figure_
    renderer = figure._get_renderer()
    shown = [text for text in display.ax_.texts if text.get_text().strip()]
    boxes = [Text.get_window_extent(text, renderer) for text in shown]  # without its arrow
    for (a, one), (b, two) in itertools.combinations(zip(shown, boxes, strict=True), 2):
        wide = min(one.x1, two.x1) - max(one.x0, two.x0)
        high = min(one.y1, two.y1) - max(one.y0, two.y0)
        assert wide <= 1 or high <= 1, (a.get_text(), b.get_text())
    for text, box in zip(shown, boxes, strict=True):
        assert box.x1 <= figure.bbox.x1 + 1, text.get_text()


# ---- trees and leaves -----------------------------------------------------------------------


def test_a_tree_is_laid_out_with_every_leaf_once_and_parents_between(model):
    display = plots.TreeDisplay.from_estimator(model)
    leaves = model.leaves()
    assert display.node[display.is_end].tolist() == leaves.leaf.tolist()
    assert display.height[display.is_end].tolist() == [-i for i in range(len(leaves))]
    assert display.utility[display.is_end] == pytest.approx(leaves.utility)
    assert display.flagged[display.is_end].tolist() == leaves.flagged.tolist()
    for place in np.flatnonzero(~display.is_end):
        own = display.height[display.parent == place]
        assert display.height[place] == (own.min() + own.max()) / 2
    for place in range(1, len(display.node)):
        assert display.node[display.parent[place]] == model.tree_.parent[display.node[place]]
    texts_apart(drawn(display))


def test_a_large_tree_is_cut_and_says_how_many_leaves_are_hidden():
    full = TreeClassifier(
        criterion="gini", pruning=None, min_samples_leaf=1, levels_from="training"
    ).fit(FRAME, LABELS)
    display = plots.TreeDisplay.from_estimator(full)
    ends = int(display.is_end.sum())
    assert ends <= 24 < full.tree_.n_leaves
    whole = np.count_nonzero(full.tree_.is_leaf[display.node[display.is_end]])
    assert whole + display.hidden.sum() == full.tree_.n_leaves
    texts_apart(drawn(display))
    assert plots.TreeDisplay.from_estimator(full, max_depth=1).is_end.sum() == 2


def test_a_tree_of_one_leaf_is_drawn():
    single = TreeClassifier(max_depth=0).fit([[1], [2], [3]], ["a", "a", "b"])
    assert drawn(plots.TreeDisplay.from_estimator(single)).test == [""]
    assert drawn(plots.LeavesDisplay.from_estimator(single)).names == ["all rows"]


def test_leaves_are_those_of_the_model(model):
    display, leaves = plots.LeavesDisplay.from_estimator(model, level=0.9), model.leaves(level=0.9)
    for name in ("n", "probability", "low", "high", "confidence", "utility", "flagged"):
        assert getattr(display, name).tolist() == getattr(leaves, name).tolist()
    texts_apart(drawn(display))
    lines = [line.get_xdata() for line in display.ax_.lines]
    assert [list(line) for line in lines] == [
        [low, high] for low, high in zip(leaves.low, leaves.high, strict=True)
    ]


def test_leaves_and_bins_of_audits_show_what_was_stated():
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(FRAME[::2], LABELS[::2])
    found = audit(tree, FRAME[1::2], LABELS[1::2])
    display = drawn(plots.LeavesDisplay.from_audit(found))
    assert display.stated.tolist() == found.leaves.stated.tolist()
    texts_apart(display)
    forest = RandomForestClassifier(5, random_state=0).fit(FRAME[::2], LABELS[::2])
    found = audit(forest, FRAME[1::2], LABELS[1::2])
    bins = drawn(plots.LeavesDisplay.from_audit(found))
    assert bins.n.sum() == len(FRAME[1::2])
    assert bins.names[0].startswith("states ")
    reliability = drawn(plots.ReliabilityDisplay.from_audit(found))
    assert np.diff(reliability.stated).min() >= 0
    assert reliability.outside.sum() == (~found.bins.agrees).sum()


def test_a_long_rule_keeps_its_last_tests():
    display = plots.LeavesDisplay.from_estimator(
        TreeClassifier().fit([[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20)
    )
    display.names[0] = " and ".join(f"column{i} <= {i}" for i in range(12))
    assert display.label(0).startswith("... and column")
    assert display.label(0).endswith("column11 <= 11:  no")


# ---- levels by rows -------------------------------------------------------------------------


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
    assert display.n[-1] == pytest.approx(201, abs=2)
    texts_apart(drawn(display))
    start, best = display.best()[-1]
    at = int(np.flatnonzero(display.n == start)[0])
    others = np.array(list(display.curves.values()))[:, at:]
    assert (display.curves[best][at:] >= others.max(axis=0) - 1e-9).all()


def test_columns_are_compared_as_single_splits():
    display = plots.LevelsDisplay.from_columns(FRAME, LABELS, columns=["area", "texture"])
    assert list(display.curves) == ["no split", "area", "texture"]
    majority = np.mean(LABELS == "good")
    assert display.curves["no split"][-1] == pytest.approx(majority, abs=1e-3)
    texts_apart(drawn(display))
    by_place = plots.LevelsDisplay.from_columns(X[:, :6], LABELS, columns=["x3", "x1"])
    assert by_place.curves["x3"] == pytest.approx(display.curves["area"])
    with pytest.raises(InvalidArgumentError, match="got 'weight'"):
        plots.LevelsDisplay.from_columns(FRAME, LABELS, columns=["weight"])


def test_levels_by_rows_are_of_two_classes(model):
    three = TreeClassifier().fit(*load_iris(return_X_y=True))
    with pytest.raises(InvalidArgumentError, match="two classes; the model has 3"):
        plots.LevelsDisplay.from_estimator(three)
    with pytest.raises(InvalidArgumentError, match="'confidence' or 'utility'"):
        plots.LevelsDisplay.from_estimator(model, level="accuracy")


# ---- evaluations ----------------------------------------------------------------------------


def test_reliability_has_the_bins_of_the_calibration_curve(judged):
    curve = judged["Bayes"].calibration(n_bins=8)
    display = drawn(plots.ReliabilityDisplay.from_evaluation(judged["Bayes"], n_bins=8))
    assert display.observed.tolist() == curve.observed.tolist()
    assert display.outside.sum() == curve.outside
    said = judged["Bayes"].predictions
    again = plots.ReliabilityDisplay.from_predictions(said.truth, said.probabilities, n_bins=8)
    assert again.stated == pytest.approx(curve.stated)


def test_roc_has_the_curves_and_areas_of_the_evaluations(judged):
    display = drawn(plots.RocDisplay.from_evaluations(judged))
    for name, evaluation in judged.items():
        assert display.areas[name].value == evaluation.estimate("auc").value
        assert display.curves[name].area == evaluation.roc().area
    assert [line.get_label() for line in display.ax_.lines][1:] == list(judged)
    texts_apart(display)
    assert list(plots.RocDisplay.from_evaluation(judged["tree"]).curves) == [
        judged["tree"].estimator
    ]


def test_roc_wants_one_positive_class(judged):
    other = sureleaf.evaluate(GaussianNB(), X[:, :6], Y, positive=0, random_state=0)
    with pytest.raises(InvalidArgumentError, match="one positive class"):
        plots.RocDisplay.from_evaluations({"one": judged["Bayes"], "other": other})


def test_a_learning_curve_has_its_points_law_and_target():
    schedule = sureleaf.Geometric(30, 2)
    curve = sureleaf.learning_curve(GaussianNB(), X[:, :6], Y, schedule=schedule, random_state=0)
    display = drawn(plots.LearningCurveDisplay.from_curve(curve, target=0.93))
    assert display.values == pytest.approx(curve.means)
    assert display.law == pytest.approx(curve.predict(display.further)[0])
    assert display.reach.target == 0.93
    assert display.ax_.get_ylim()[1] > 0.93
    texts_apart(display)
    short = sureleaf.learning_curve(
        GaussianNB(), X[:, :6], Y, schedule=sureleaf.Arithmetic(100, 200), random_state=0
    )
    few = drawn(plots.LearningCurveDisplay.from_curve(short))
    assert (len(few.further) > 0) == (len(short.sizes) >= 3)


def test_comparisons_show_difference_interval_and_verdict(judged):
    found = sureleaf.compare(judged["Bayes"], judged["tree"], margin=0.01)
    display = drawn(plots.ComparisonDisplay.from_comparison(found, name="Bayes - tree"))
    ends = [display.difference[0], display.low[0], display.high[0]]
    assert ends == [found.difference, found.low, found.high]
    assert display.verdicts == [found.verdict]
    low, high = display.ax_.get_xlim()
    assert low < min(found.low, -0.01)
    assert high > max(found.high, 0.01)
    other = sureleaf.compare(judged["Bayes"], judged["tree"], margin=0.05)
    with pytest.raises(InvalidArgumentError, match="one measure, margin and level"):
        plots.ComparisonDisplay.from_comparisons({"one": found, "other": other})


def test_ranks_join_what_does_not_differ():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(12, 4)) + np.array([2.0, 1.8, 0.5, 0.0])
    found = sureleaf.compare_many(scores, names=["a", "b", "c", "d"])
    display = drawn(plots.RanksDisplay.from_comparison(found))
    assert display.names == list(found.names)
    spans = [(display.names[first], display.names[last]) for first, last in display.groups]
    assert spans == [(group[0], group[-1]) for group in found.groups if len(group) > 1]
    for first, last in display.groups:
        assert display.ranks[last] - display.ranks[first] <= found.critical_difference
    texts_apart(display)


# ---- how they are drawn ---------------------------------------------------------------------


def test_without_axes_a_figure_of_pyplot_is_made(model):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    display = plots.LeavesDisplay.from_estimator(model).plot()
    assert pyplot.fignum_exists(display.figure_.number)
    pyplot.close(display.figure_)


def test_without_matplotlib_the_numbers_are_there_and_plot_has_the_pip_line(model, monkeypatch):
    display = plots.TreeDisplay.from_estimator(model)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match=r"pip install matplotlib"):
        display.plot()


def test_numbers_are_frozen(model):
    display = plots.TreeDisplay.from_estimator(model)
    with pytest.raises(AttributeError):
        display.height = None


def test_the_same_picture_gives_the_same_files(tmp_path: Path) -> None:
    def drawn(directory: Path) -> list[bytes]:
        figure, axes = picture("Levels", "by n")
        axes.plot([1, 2], [0.5, 0.7])
        return [path.read_bytes() for path in save(figure, directory, "levels")]

    assert drawn(tmp_path / "one") == drawn(tmp_path / "two")


def test_without_matplotlib_the_error_carries_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install matplotlib"):
        picture("Levels")


def test_drawing_leaves_matplotlib_as_it_was(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    list(save(picture("Levels")[0], tmp_path, "levels"))
    assert dict(matplotlib.rcParams) == before
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )
