"""Measures of all classes of three, of which one is rare, over folds.

Two learners get columns of the same distribution, so that their true measures are equal. The true
measure of one is its mean over training sets of the same size. Macro F is a measure of the user's
own, as the library has none by name.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.promises.class_measures import OVERLAP, evaluation_of
from benchmarks.quality.promises.record import Promise, coverage, false_positives
from sureleaf import Measure, compare
from sureleaf.designs import KFold
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.measures.named import NAMED, Scored
from sureleaf.evaluation.measures.rates import count_pairs

Array = np.ndarray

SHARES = np.array([0.60, 0.28, 0.12])
MEANS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.5], [0.0, 1.0, -0.5]])
"""Means of each class in the two columns of a learner, and in one that both have."""

LEARNERS = ([0, 1, 4], [2, 3, 4])


def macro_f_of(counts: Array, _: int = 0) -> float:
    """Return the mean of the F of all classes that occur or are predicted."""
    hits, both = np.diag(counts), counts.sum(axis=0) + counts.sum(axis=1)
    there = both > 0
    return float(np.mean(2 * hits[there] / both[there])) if there.any() else 0.0


def _macro_f(rows: Scored) -> float:
    counts = count_pairs(rows.truth, rows.prediction, rows.n_classes, rows.weights)
    return macro_f_of(counts.astype(float))


MEASURES = (
    Measure("macro F", _macro_f, of_counts=macro_f_of, low=0.0, high=1.0),
    NAMED["balanced_accuracy"],
    NAMED["kappa"],
)


def draw(rng: np.random.Generator, n: int, scale: float) -> tuple[Array, Array]:
    y = rng.choice(3, size=n, p=SHARES)
    means = np.column_stack([MEANS[y, :2], MEANS[y, :2], MEANS[y, 2]])
    return rng.normal(size=(n, 5)) + scale * means, y


def logistic(x: Array, y: Array, used: Array, n_steps: int = 9, ridge: float = 1e-3) -> Array:
    """Return the coefficients of logistic regressions on several subsets of the rows at once."""
    rows, n_models, n_free = np.column_stack([np.ones(len(x)), x]), len(used), 2
    width = rows.shape[1]
    products = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    weights, truth = np.zeros((n_models, n_free, width)), np.eye(3)[y][:, 1:].T
    for _ in range(n_steps):  # Newton's method
        p = _softmax(weights, rows)[:, 1:]
        slope = (used[:, None] * (truth - p)) @ rows - ridge * weights
        curvature = np.empty((n_models, n_free, width, n_free, width))
        for a in range(n_free):
            for b in range(n_free):
                own = used * p[:, a] * (float(a == b) - p[:, b])
                curvature[:, a, :, b, :] = (own @ products).reshape(n_models, width, width)
        flat = curvature.reshape(n_models, n_free * width, -1) + ridge * np.eye(n_free * width)
        step = np.linalg.solve(flat, slope.reshape(n_models, -1, 1))[..., 0]
        step *= np.minimum(1, 2 / np.maximum(np.abs(step).max(axis=1), 1e-9))[:, None]
        weights = weights + step.reshape(weights.shape)
    return weights


def _softmax(weights: Array, rows: Array) -> Array:
    """Return the probabilities by model, class and row."""
    scores = np.einsum("mkd,nd->mkn", weights, rows, optimize=True)
    scores = np.concatenate([np.zeros((len(weights), 1, len(rows))), scores], axis=1)
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def probabilities(learner: str, x: Array, y: Array, used: Array, at: Array) -> Array:
    """Return P(class) of the rows ``at`` under a model for each subset of the rows."""
    if learner == "logistic regression":
        rows = np.column_stack([np.ones(len(at)), at])
        return _softmax(logistic(x, y, used.astype(float)), rows).transpose(0, 2, 1)
    found = np.zeros((len(used), len(at), 3))
    for model, rows in zip(found, used, strict=True):
        tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(x[rows], y[rows])
        model[:, tree.classes_] = tree.predict_proba(at)
    return found


def evaluations(
    learner: str, n: int, design: KFold, seed: int, scale: float
) -> tuple[Evaluation, Evaluation]:
    """Evaluate two learners, on two columns of their own and one in common."""
    x, y = draw(np.random.default_rng([seed, n]), n, scale)
    plan = list(design.splits(y, seed=seed))
    used = np.array([np.bincount(split.train, minlength=n) > 0 for split in plan])
    judged = []
    for columns in LEARNERS:
        p = probabilities(learner, x[:, columns], y, used, x[:, columns])
        judged.append(evaluation_of(learner, design, seed, y, plan, p))
    return judged[0], judged[1]


@cache
def truths(learner: str, n_train: int, scale: float) -> dict[str, float]:
    """Return the mean of each measure over training sets of so many rows."""
    rng = np.random.default_rng([n_train, 7])
    at, truth = draw(rng, 60_000, scale)
    values: dict[str, list[float]] = {measure.name: [] for measure in MEASURES}
    for _ in range(300):
        x, y = draw(rng, n_train, scale)
        everything = np.ones((1, n_train), dtype=bool)
        p = probabilities(learner, x[:, LEARNERS[0]], y, everything, at[:, LEARNERS[0]])[0]
        scored = Scored(truth, p.argmax(axis=1), p, None, None, 3, 1)
        for measure in MEASURES:
            values[measure.name].append(measure.value(scored))
    return {name: float(np.mean(list_of)) for name, list_of in values.items()}


Setting = tuple[str, int, int, float]

SETTINGS: tuple[Setting, ...] = (
    ("logistic regression", 150, 1, 1.0),
    ("logistic regression", 150, 5, OVERLAP),
    ("logistic regression", 500, 1, OVERLAP),
    ("logistic regression", 500, 5, 1.0),
    ("logistic regression", 500, 5, OVERLAP),
    ("logistic regression", 2000, 1, OVERLAP),
    ("tree", 150, 1, 1.0),
    ("tree", 150, 5, 1.0),
    ("tree", 500, 1, 1.0),
    ("tree", 500, 5, OVERLAP),
)


def over_folds(runs: int, settings: tuple[Setting, ...] = SETTINGS) -> Iterator[Promise]:
    """False verdicts about equal learners, and coverage of one, over ten folds and repeats."""
    for learner, n, repeats, scale in settings:
        truth = truths(learner, round(0.9 * n), scale)
        held, wrong = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
        for seed in range(runs):
            first, second = evaluations(learner, n, KFold(10, repeats=repeats), seed, scale)
            for measure in MEASURES:
                interval, name = first.estimate(measure), measure.name
                held[name] += interval.low <= truth[name] <= interval.high
                wrong[name] += compare(first, second, measure=measure).verdict != "undecided"
        setting = f"{learner}, n = {n}, classes of 60, 28 and 12 %, 10 folds"
        setting += (f" x {repeats}" if repeats > 1 else "") + (
            ", classes overlap much" if scale < 1 else ""
        )
        for measure in MEASURES:
            name = measure.name
            yield false_positives(
                f"{name} of three classes over folds, equal learners: false verdicts",
                setting,
                wrong[name] / runs,
                runs,
                default=True,
            )
            yield coverage(
                f"{name} of three classes over folds: coverage",
                f"{setting}, true {truth[name]:.2f}",
                held[name] / runs,
                runs,
                default=True,
            )
