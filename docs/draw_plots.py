"""Draws docs/plots.png: every display once, on data that is always at hand."""

import sys
from io import BytesIO

from matplotlib.figure import Figure
from PIL import Image
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sureleaf import BaggedTreesClassifier, TreeClassifier, audit, compare, evaluate, plots
from sureleaf.evaluation import learning_curve
from sureleaf.files import read_file
from sureleaf.plots import Display

LABOR = read_file("examples/labor.csv")
PLAN = [["tree", "tree"], ["leaves", "leaves"], ["levels", "curve"], ["reliability", "roc"]]


def displays() -> dict[str, Display]:
    """Compute what is drawn."""
    rows, labels = LABOR.drop_columns(["class"]), LABOR["class"].to_pylist()
    X, y = load_breast_cancer(return_X_y=True)
    models = {"Bayes": GaussianNB(), "tree": TreeClassifier(), "bag": BaggedTreesClassifier()}
    grown = TreeClassifier(random_state=0).fit(rows, labels)
    judged = {name: evaluate(model, X, y, random_state=0) for name, model in models.items()}
    one = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X[::2, :10], y[::2])
    pairs = [("bag", "tree"), ("tree", "Bayes"), ("bag", "Bayes")]
    return {
        "tree": plots.TreeDisplay.from_estimator(grown),
        "leaves": plots.LeavesDisplay.from_audit(audit(one, X[1::2, :10], y[1::2])),
        "levels": plots.LevelsDisplay.from_columns(rows, labels),
        "curve": plots.LearningCurveDisplay.from_curve(
            learning_curve(TreeClassifier(), X, y, random_state=0)
        ),
        "reliability": plots.ReliabilityDisplay.from_evaluation(judged["Bayes"]),
        "roc": plots.RocDisplay.from_evaluations(judged),
        "comparison": plots.ComparisonDisplay.from_comparisons(
            {f"{a} - {b}": compare(judged[a], judged[b], margin=0.01) for a, b in pairs}
        ),
    }


def main(path: str) -> None:
    """Draw them on one sheet."""
    figure = Figure(figsize=(13, 18), layout="constrained", facecolor="white")
    plan = [*PLAN, ["comparison", "comparison"]]
    axes = figure.subplot_mosaic(plan, height_ratios=[1, 2.1, 3, 3.2, 1.3])
    figure.get_layout_engine().set(hspace=0.06, wspace=0.04)
    for name, display in displays().items():
        display.plot(ax=axes[name])
    drawn = BytesIO()
    figure.savefig(drawn, dpi=84)
    # Few colours are drawn: a palette keeps the file small and the letters sharp.
    Image.open(drawn).convert("RGB").quantize(192, dither=Image.Dither.NONE).save(
        path, format="PNG", optimize=True
    )


if __name__ == "__main__":
    main(sys.argv[1])
