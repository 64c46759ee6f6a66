"""Eight ways to estimate probabilities with C4.5's trees, compared on tables of two classes.

The experiment is a study of `sureleaf.studies`: 30 % of the rows are held out several times, every
prediction is kept, and a run that was interrupted goes on where it ended. NCE is the negative
cross-entropy in nats, QL the quadratic loss, 01L the 0/1 loss at .5 and AUC the area under the ROC
curve; figures are means over the repeats.
"""

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, cycle, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sureleaf import measures
from sureleaf.commands.question import read_question
from sureleaf.errors import FailedFitError, InvalidArgumentError
from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier
from sureleaf.evaluation.designs import RepeatedHoldout
from sureleaf.plots.display import COLOURS, INK, new_figure, save, style_axes
from sureleaf.studies import DataSet, Learner, StatusCounts, Store, Study, StudyResults, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPEATS = 10
FLOOR = 1e-6
"""What a probability of zero counts as in NCE; the document does not say what it does."""

TEST_SHARE = 0.3
_N_BAGS = 30

BASELINE = "unpruned, frequency"
SMOOTHED = ("unpruned, Laplace", "unpruned, m-estimate", "bagged", "bagged, Laplace")
"""The methods of Figure 3."""
HISTOGRAMS = (BASELINE, "unpruned, Laplace", "bagged")
"""The methods of Figure 2."""
_TREES = {
    BASELINE: (None, "frequency"),
    "unpruned, Laplace": (None, "laplace"),
    "unpruned, m-estimate": (None, "m_estimate"),
    "bagged": (None, "frequency"),
    "bagged, Laplace": (None, "laplace"),
    "pruned, frequency": ("pessimistic", "frequency"),
    "pruned, Laplace": ("pessimistic", "laplace"),
    "pruned, m-estimate": ("pessimistic", "m_estimate"),
}
"""Method -> pruning and leaf estimate of its trees."""
_BAGGED = ("bagged", "bagged, Laplace")
METHODS = tuple(_TREES)

MEASURES = ("NCE", "QL", "01L", "AUC")
PAIRS = tuple(combinations(MEASURES, 2))
"""The pairs of measures whose correlations Table 2 has."""


@dataclass(frozen=True)
class MethodResult:
    """The measures of one method on one table, averaged over the repeats."""

    dataset: str
    method: str  # one of `METHODS`
    nce: float  # in nats, a probability of zero raised to the floor
    ql: float
    error: float
    auc: float
    zeros: float  # proportion of the test rows whose true class has probability zero
    auc_low: float  # the lowest and highest area of the repeats
    auc_high: float
    # Proportion of the positive test rows whose predicted probability is in each tenth.
    histogram: tuple[float, ...]

    def measure(self, name: str) -> float:
        """Return one of `MEASURES`."""
        return dict(zip(MEASURES, (self.nce, self.ql, self.error, self.auc), strict=True))[name]


def read_tables(paths: Sequence[Path], targets: Sequence[str]) -> list[DataSet]:
    """Read tables of two classes; the rarer class is positive, as in the document.

    `targets` has the name of the column to predict, one for all tables or one per table.
    """
    if len(targets) not in (1, len(paths)):
        raise InvalidArgumentError(
            f"target must be given once, or once per table; got {len(targets)} for "
            f"{len(paths)} tables."
        )
    tables = []
    for path, target in zip(paths, cycle(targets), strict=False):
        question = read_question(path, target)
        labels, counts = np.unique(question.y, return_counts=True)
        if len(labels) != 2:
            raise InvalidArgumentError(
                f"the target of {path.name} must have two classes, as in the document; got "
                f"{len(labels)}. Keep or merge two of them."
            )
        positive = labels.tolist()[counts.argmin()]
        tables.append(DataSet(path.stem, X=question.X, y=question.y, positive=positive))
    return tables


def _learners() -> Iterator[Learner]:
    for method, (pruning, estimate) in _TREES.items():
        # Levels are not asked for. The counts of the training rows cost nothing.
        model: Any = TreeClassifier.c45(
            pruning=pruning, leaf_estimate=estimate, levels_from="training"
        )
        if method in _BAGGED:  # the same seed gives both kinds of leaves the same bags
            model = BaggedTreesClassifier(estimator=model, n_estimators=_N_BAGS, random_state=0)
        yield Learner(method, model)


def run_experiment(
    tables: Sequence[DataSet],
    *,
    repeats: int = REPEATS,
    seed: int = 0,
    store: str | Path | None = None,
    n_jobs: int = 1,
    report_progress: Callable[[StatusCounts], None] | None = None,
) -> "Experiment":
    """Fit and evaluate every method on every table of two classes.

    Of each, 30 % of the rows are held out `repeats` times. The store, a path or URL, keeps
    predictions, so that an interrupted run can go on; by default they are not kept. The progress is
    reported about once in a second.
    """
    design = RepeatedHoldout(repeats, TEST_SHARE)
    study = Study("chawla2006", tables, list(_learners()), design, seed, measures=("nce",))
    with tempfile.TemporaryDirectory() as folder:
        opened = Store(store or Path(folder) / "study.db", create=True)
        run(study, opened, n_jobs=n_jobs, report_progress=report_progress)
        results = StudyResults(opened, study.name)
        if failures := results.failures():
            first = failures[0]
            raise FailedFitError(
                f"{len(failures)} fits failed; the first one, {first.learner} on {first.data}: "
                f"{first.reason}"
            )
        names = tuple(table.name for table in tables)
        found = tuple(_method_result(results, *cell) for cell in product(names, METHODS))
    return Experiment(names, repeats, seed, found)


def _method_result(results: StudyResults, dataset: str, method: str) -> MethodResult:
    evaluation = results.evaluation(dataset, method)
    assert evaluation is not None, "a study without failures has all evaluations"
    rows = evaluation.predictions
    assert rows.probabilities is not None, "trees have probabilities"
    code = evaluation.positive_code
    truth, positive = rows.truth == rows.classes[code], rows.probabilities[:, code]
    repeats = [rows.split == split for split in np.unique(rows.split)]
    by_repeat = [_measures(truth[tested], positive[tested]) for tested in repeats]
    nce, ql, error, auc, zeros, *histogram = np.mean(by_repeat, axis=0).tolist()
    areas = [values[3] for values in by_repeat]
    ends = float(min(areas)), float(max(areas))
    return MethodResult(dataset, method, nce, ql, error, auc, zeros, *ends, tuple(histogram))


def _measures(truth: NDArray[np.bool_], positive: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return NCE, quadratic loss, 0/1 loss, AUC, zeros, and the histogram of Figure 2."""
    probabilities = np.column_stack([1.0 - positive, positive])
    zeros = probabilities[np.arange(len(truth)), truth.astype(int)] <= 0.0
    tenths = np.histogram(positive[truth], bins=10, range=(0.0, 1.0))[0] / max(1, truth.sum())
    losses = [
        measures.nce(truth, probabilities, floor=FLOOR),
        measures.quadratic_loss(truth, probabilities),
        float(((positive > 0.5) != truth).mean()),
        measures.auc(truth, positive),
        zeros.mean(),
    ]
    return np.concatenate([losses, tenths])


@dataclass(frozen=True, eq=False)
class Experiment:
    """What `run_experiment` found."""

    datasets: tuple[str, ...]
    repeats: int  # how often 30 % of the rows were held out
    seed: int
    results: tuple[MethodResult, ...]  # by table, then by method

    def result(self, dataset: str, method: str) -> MethodResult:
        """Return the result of a method on a table."""
        (result,) = (r for r in self.results if (r.dataset, r.method) == (dataset, method))
        return result

    def relative(self, dataset: str, method: str, measure: str) -> float:
        """Return (method - baseline) / baseline, Figure 3; the baseline is `BASELINE`."""
        base = self.result(dataset, BASELINE).measure(measure)
        return (self.result(dataset, method).measure(measure) - base) / base if base else math.nan

    def correlations(
        self, *, relative: bool = False, ranks: bool = False
    ) -> dict[tuple[str, str], float]:
        """Correlate the measures over tables and methods, Table 2; NaN where one is constant.

        The document does not say which values it correlates: the measures themselves (here the
        five methods without pruning) or the relative differences (the four smoothed methods).
        With ``ranks`` the correlation is Spearman's, else Pearson's.
        """
        cells = product(self.datasets, SMOOTHED if relative else (BASELINE, *SMOOTHED))
        rows = [
            [
                self.relative(*cell, measure) if relative else self.result(*cell).measure(measure)
                for measure in MEASURES
            ]
            for cell in cells
        ]
        values = dict(zip(MEASURES, np.array(rows).T, strict=True))
        if ranks:
            values = {measure: stats.rankdata(one) for measure, one in values.items()}
        with np.errstate(invalid="ignore", divide="ignore"):
            return {(a, b): float(np.corrcoef(values[a], values[b])[0, 1]) for a, b in PAIRS}

    def correlations_by_way(self) -> dict[str, dict[tuple[str, str], float]]:
        """Return the four kinds of correlations by their names."""
        return {
            "of_measures": self.correlations(),
            "of_their_ranks": self.correlations(ranks=True),
            "of_relative_differences": self.correlations(relative=True),
            "of_ranks_of_those": self.correlations(relative=True, ranks=True),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values for JSON."""
        correlations = self.correlations_by_way()
        return {
            "repeats": self.repeats,
            "seed": self.seed,
            "floor": FLOOR,
            "unit": "nats",
            "results": [asdict(result) for result in self.results],
            "relative_differences": [
                {"dataset": name, "method": method}
                | {measure: self.relative(name, method, measure) for measure in MEASURES}
                for name, method in product(self.datasets, SMOOTHED)
            ],
            "correlations": [
                {"pair": list(pair), **{way: found[pair] for way, found in correlations.items()}}
                for pair in PAIRS
            ],
        }

    def __repr__(self) -> str:
        return f"Experiment({len(self.datasets)} tables, {len(METHODS)} methods)"


# ---- Figures 2 and 3 -----------------------------------------------------------------------------


def draw_figures(
    directory: Path, experiment: Experiment, *, histograms_of: Iterable[str] | None = None
) -> Iterator[Path]:
    """Draw the histograms of Figure 2 and the relative differences of Figure 3.

    Figure 2 is drawn for each of these tables; by default for all.
    """
    for name in experiment.datasets if histograms_of is None else histograms_of:
        yield from save(_figure_2(experiment, name), directory, f"chawla2006-figure-2-{name}")
    yield from save(_figure_3(experiment), directory, "chawla2006-figure-3")


def _figure_2(experiment: Experiment, name: str) -> "Figure":
    figure = new_figure(10, 3.4)
    tenths = [(tenth + 0.5) / 10 for tenth in range(10)]
    for axes, method in zip(figure.subplots(1, 3, sharey=True), HISTOGRAMS, strict=True):
        style_axes(axes, method, f"positive rows of {name}")
        axes.bar(tenths, experiment.result(name, method).histogram, width=0.09, color=COLOURS[0])
        axes.set(xlabel="predicted probability of their class", xlim=(0, 1))
    figure.axes[0].set_ylabel("proportion of the rows")
    return figure


def _figure_3(experiment: Experiment) -> "Figure":
    names = experiment.datasets
    n_columns = min(3, len(names) + 1)
    n_rows = len(names) // n_columns + 1  # one place more than tables, for the legend
    figure = new_figure(4 * n_columns, 3.5 * n_rows)
    places = figure.subplots(n_rows, n_columns, squeeze=False).flat
    for axes, name in zip(places, names, strict=False):
        style_axes(axes, name, "relative to the frequencies of the unpruned tree")
        for index, method in enumerate(SMOOTHED):
            heights = [experiment.relative(name, method, measure) for measure in MEASURES]
            positions = [group + (index - 1.5) * 0.2 for group in range(len(MEASURES))]
            axes.bar(positions, heights, width=0.18, label=method, color=COLOURS[index])
        axes.axhline(0, color=INK, linewidth=0.8)
        axes.set(xticks=range(len(MEASURES)), xticklabels=MEASURES, ylabel="relative difference")
    for axes in figure.axes[len(names) :]:
        axes.axis("off")
    figure.axes[len(names)].legend(
        *figure.axes[0].get_legend_handles_labels(), loc="center", frameon=False
    )
    return figure
