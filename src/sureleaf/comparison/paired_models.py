"""Two models judged on the same rows: which test fits the measure."""

from collections.abc import Callable

import numpy as np

from sureleaf.arguments import FloatArray, IntArray
from sureleaf.comparison.mcnemar_test import mcnemar
from sureleaf.comparison.paired import THESE_MODELS, auc_difference, bootstrap_difference
from sureleaf.comparison.t_tests import t_of_mean
from sureleaf.comparison.verdict import DifferenceTest
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation import Evaluation
from sureleaf.evaluation.measures.named import Measure, Scored

__all__ = ["compare_models", "finite_losses"]


Counts = tuple[int, int, int]


def compare_models(
    a: Evaluation, b: Evaluation, measure: Measure, level: float, method: str | None
) -> DifferenceTest:
    """Test two models on the one test set that both were judged on.

    Rates of the same rows by McNemar, AUC of two classes by DeLong, means over rows by t, all
    else (and rows with weights or in groups) by the paired bootstrap.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import Holdout, evaluate
    >>> from sureleaf.evaluation.measures.named import NAMED
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> a, b = (
    ...     evaluate(model, X, y, design=Holdout(), random_state=0)
    ...     for model in (GaussianNB(), DummyClassifier())
    ... )
    >>> compare_models(a, b, NAMED["accuracy"], 0.95, None).method
    "McNemar, mid-p; Tango's interval"
    """
    cells = [judged.cells_of(judged.main_splits[0]) for judged in (a, b)]
    first, second = a.scored(cells[0]), b.scored(cells[1])
    groups = None if a.groups is None else a.groups[a.row[cells[0]]]
    open_to = _open_to(first, second, measure, plain=a.weights is None and groups is None)

    def boot() -> DifferenceTest:
        def statistic(rows: IntArray) -> float:
            return measure.value(first.take(rows)) - measure.value(second.take(rows))

        return bootstrap_difference(statistic, len(first), groups=groups, level=level)

    tests: dict[str, Callable[[], DifferenceTest]] = {
        "mcnemar": lambda: mcnemar(*_discordant(first, second, measure), level=level),
        "mcnemar_exact": lambda: mcnemar(
            *_discordant(first, second, measure), exact=True, level=level
        ),
        "delong": lambda: _delong(first, second, level),
        "t": lambda: _rows_t(first, second, measure, level),
        "bootstrap": boot,
    }
    chosen = open_to[0] if method is None else method
    if chosen not in open_to:
        raise InvalidArgumentError(
            f"method must be one of {', '.join(open_to)} for {measure.name} of two models on the "
            f"same {len(first)} rows; got {method!r}."
        )
    if measure.row_values is not None:
        finite_losses(measure.row_values(first), measure.name)
        finite_losses(measure.row_values(second), measure.name)
    return tests[chosen]()


def _open_to(first: Scored, second: Scored, measure: Measure, *, plain: bool) -> list[str]:
    """Names of the valid tests, the default first."""
    names = []
    if plain and measure.counted is not None:
        # Recall and the like count among the rows of a class, the same rows for both models;
        # precision counts among the rows a model picks, and those differ.
        _, one = measure.counted(first)
        _, other = measure.counted(second)
        if np.array_equal(one, other) and one.any():
            names += ["mcnemar", "mcnemar_exact"]
    if plain and measure.name == "auc" and first.n_classes == 2:
        names.append("delong")
    if plain and measure.row_values is not None and measure.counted is None:
        names.append("t")
    return [*names, "bootstrap"]


def _discordant(first: Scored, second: Scored, measure: Measure) -> Counts:
    assert measure.counted is not None
    (one, among), (other, _) = measure.counted(first), measure.counted(second)
    return int((one & ~other & among).sum()), int((other & ~one & among).sum()), int(among.sum())


def _delong(first: Scored, second: Scored, level: float) -> DifferenceTest:
    assert first.probabilities is not None
    assert second.probabilities is not None
    return auc_difference(
        first.truth == first.positive,
        first.probabilities[:, first.positive],
        second.probabilities[:, second.positive],
        level=level,
    )


def _rows_t(first: Scored, second: Scored, measure: Measure, level: float) -> DifferenceTest:
    assert measure.row_values is not None
    gaps = measure.row_values(first) - measure.row_values(second)
    return t_of_mean(gaps, 0.0, level, "paired t over rows", THESE_MODELS)


def finite_losses(values: FloatArray, name: str) -> None:
    """Refuse infinite losses: no test can weigh them.

    Examples
    --------
    >>> finite_losses(np.array([0.1, 0.2]), "nce")
    """
    if not np.isfinite(values).all():
        raise InvalidArgumentError(
            f"{name} is infinite: a class that occurred was given probability 0. Smooth the "
            "probabilities (leaf_estimate='laplace'), or compare by quadratic_loss."
        )
