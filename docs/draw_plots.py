"""Draw docs/plots.png: every display once, on data that needs no download."""

import sys
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from sureleaf import BaggedTreesClassifier, TreeClassifier, audit, compare, evaluate, plots
from sureleaf.evaluation.learning_curves import learning_curve
from sureleaf.files import read_file
from sureleaf.plots import Display

ROOT = Path(__file__).resolve().parents[1]
LABOR = read_file(ROOT / "examples" / "labor.csv")
LAYOUT = [["tree", "tree"], ["leaves", "leaves"], ["levels", "curve"], ["reliability", "roc"]]


def displays() -> dict[str, Display]:
    """Compute the displays by their name in the picture."""
    rows, labels = LABOR.drop_columns(["class"]), LABOR["class"].to_pylist()
    X, y = load_breast_cancer(return_X_y=True)
    models = {"Bayes": GaussianNB(), "tree": TreeClassifier(), "bag": BaggedTreesClassifier()}
    tree = TreeClassifier(random_state=0).fit(rows, labels)
    evaluations = {name: evaluate(model, X, y, random_state=0) for name, model in models.items()}
    sklearn_tree = DecisionTreeClassifier(max_leaf_nodes=5, random_state=0).fit(X[::2, :10], y[::2])
    pairs = [("bag", "tree"), ("tree", "Bayes"), ("bag", "Bayes")]
    return {
        "tree": plots.TreeDisplay.from_estimator(tree),
        "leaves": plots.LeavesDisplay.from_audit(audit(sklearn_tree, X[1::2, :10], y[1::2])),
        "levels": plots.LevelsDisplay.from_columns(rows, labels),
        "curve": plots.LearningCurveDisplay.from_curve(
            learning_curve(TreeClassifier(), X, y, random_state=0)
        ),
        "reliability": plots.ReliabilityDisplay.from_evaluation(evaluations["Bayes"]),
        "roc": plots.RocDisplay.from_evaluations(evaluations),
        "comparison": plots.ComparisonDisplay.from_comparisons(
            {f"{a} - {b}": compare(evaluations[a], evaluations[b], margin=0.01) for a, b in pairs}
        ),
    }


def main(path: str) -> None:
    """Draw all displays in one picture."""
    from PIL import Image

    figure = Figure(figsize=(13, 18), layout="constrained", facecolor="white")
    layout = [*LAYOUT, ["comparison", "comparison"]]
    axes = figure.subplot_mosaic(layout, height_ratios=[1, 2.1, 3, 3.2, 1.3])
    figure.get_layout_engine().set(hspace=0.06, wspace=0.04)
    for name, display in displays().items():
        display.plot(ax=axes[name])
    buffer = BytesIO()
    figure.savefig(buffer, dpi=84)
    # The picture has few colours: a palette keeps the file small and the text sharp.
    Image.open(buffer).convert("RGB").quantize(192, dither=Image.Dither.NONE).save(
        path, format="PNG", optimize=True
    )


if __name__ == "__main__":
    main(sys.argv[1])
