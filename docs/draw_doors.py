"""Draw the thumbnails of README's three doors: credit, clinic, science."""

from pathlib import Path

from matplotlib.figure import Figure

from sureleaf import TreeClassifier, plots
from sureleaf.files import read_file
from sureleaf.plots import Display

ROOT = Path(__file__).resolve().parents[1]


def doors() -> dict[str, Display]:
    """Compute the display of each door."""
    credit, hepatitis, labor = (
        read_file(ROOT / "examples" / f"{name}.csv") for name in ("credit-g", "hepatitis", "labor")
    )
    tree = TreeClassifier(max_leaves=3, random_state=0)
    tree.fit(credit.drop_columns(["class"]), credit["class"].to_pylist())
    deaths = TreeClassifier(random_state=0)
    deaths.fit(hepatitis.drop_columns(["Class"]), hepatitis["Class"].to_pylist())
    rows = labor.select(["vacation", "bereavement-assistance", "shift-differential"])
    return {
        "credit": plots.TreeDisplay.from_estimator(tree),
        "clinic": plots.LeavesDisplay.from_estimator(deaths),
        "science": plots.LevelsDisplay.from_columns(rows, labor["class"].to_pylist()),
    }


if __name__ == "__main__":
    for name, display in doors().items():
        figure = Figure(figsize=(7.2, 4), layout="constrained", facecolor="white")
        display.plot(ax=figure.subplots())
        figure.savefig(ROOT / "docs" / f"door-{name}.png", dpi=72)
