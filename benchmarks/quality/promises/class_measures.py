"""Measures of a class over repeated splits, and accuracy over one round, for real learners.

A recall, F, kappa or asymmetric cost moves to first order with the decision boundary, which all
splits of a table share to a large part, and the more so the more the classes overlap. Two learners
get columns of the same distribution, so that their true measures are equal. The true measure of one
is its mean over training sets of the same size.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from scipy.special import expit
from sklearn.tree import DecisionTreeClassifier

from benchmarks.quality.promises.record import Promise, coverage, false_positives, shown
from sureleaf import compare
from sureleaf.designs import Design, KFold, RepeatedHoldout
from sureleaf.evaluation.designs import Split, balance_classes
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.measures.named import NAMED, Scored

Array = np.ndarray

CLASS_MEASURES = ("recall", "f_measure", "kappa", "cost", "auc")
COST = np.array([[0.0, 1.0], [4.0, 0.0]])
DISTANCES = np.array([1.0, 1.0, 0.7])
"""Distances of the class means: a column for each learner, and one for both."""

OVERLAP = 0.6
"""The distances of classes that overlap much, as a share of the others."""

UNSTABLE = "fully grown trees change with their rows, so rows of one table are not independent"


def draw(rng: np.random.Generator, n: int, share: float, scale: float = 1.0) -> tuple[Array, Array]:
    y = rng.permutation((np.arange(n) < rng.binomial(n, share)).astype(int))
    return rng.normal(size=(n, 3)) + y[:, None] * DISTANCES * scale, y


def logistic(x: Array, y: Array, used: Array, n_steps: int = 8) -> Array:
    """Return the coefficients of logistic regressions on several subsets of the rows at once."""
    rows = np.column_stack([np.ones(len(x)), x])
    weights, ridge = np.zeros((len(used), rows.shape[1])), 1e-3 * np.eye(rows.shape[1])
    for _ in range(n_steps):  # Newton's method
        p = expit(weights @ rows.T)
        slope = (used * (y - p)) @ rows - weights @ ridge
        curvature = np.einsum("mn,ni,nj->mij", used * p * (1 - p), rows, rows, optimize=True)
        weights = weights + np.linalg.solve(curvature + ridge, slope[..., None])[..., 0]
    return weights


def probabilities(learner: str, x: Array, y: Array, used: Array, at: Array) -> Array:
    """Return P(1) of the rows ``at`` under a model for each choice of rows: how often each."""
    if learner == "logistic regression":
        rows = np.column_stack([np.ones(len(at)), at])
        return expit(logistic(x, y, used.astype(float)) @ rows.T)
    models = (DecisionTreeClassifier(min_samples_leaf=5, random_state=0) for _ in used)
    parts = (np.repeat(np.arange(len(x)), times) for times in used)
    return np.array(
        [
            tree.fit(x[rows], y[rows]).predict_proba(at)[:, 1]
            for tree, rows in zip(models, parts, strict=True)
        ]
    )


def evaluation_of(
    learner: str,
    design: Design,
    seed: int,
    y: Array,
    plan: Sequence[Split],
    p: Array,
    *,
    cost: Array | None = None,
) -> Evaluation:
    """Return the evaluation of models whose probabilities are ``p``, by split, row and class."""
    rows = np.concatenate([split.test for split in plan])
    numbers = np.repeat(np.arange(len(plan)), [len(split.test) for split in plan])
    facts = tuple(SplitFacts(s.repeat, s.fold, s.n_train, len(s.test)) for s in plan)
    tested = p[numbers, rows]
    return Evaluation(
        estimator=learner,
        design=design,
        seed=seed,
        classes=np.arange(p.shape[2]),
        positive_code=1,
        truth=y,
        weights=None,
        groups=None,
        cost_matrix=cost,
        splits=facts,
        row=rows,
        split=numbers,
        prediction=tested.argmax(axis=1),
        probabilities=tested,
    )


def evaluations(
    learner: str, n: int, share: float, design: Design, seed: int, scale: float = 1.0
) -> tuple[Evaluation, Evaluation]:
    """Evaluate two learners, on one column of their own and one in common."""
    x, y = draw(np.random.default_rng([seed, n]), n, share, scale)
    plan = list(design.splits(y, seed=seed))
    used = np.array([np.bincount(split.train, minlength=n) for split in plan])
    judged = []
    for columns in ([0, 2], [1, 2]):
        p = probabilities(learner, x[:, columns], y, used, x[:, columns])
        both = np.stack([1 - p, p], axis=2)
        judged.append(evaluation_of(learner, design, seed, y, plan, both, cost=COST))
    return judged[0], judged[1]


@cache
def truths(
    learner: str, n_train: int, share: float, scale: float = 1.0, resample: str = "none"
) -> dict[str, float]:
    """Return the mean of each measure over training sets of so many rows."""
    rng = np.random.default_rng([n_train, round(100 * share)])
    at, truth = draw(rng, 20_000, share, scale)
    values: dict[str, list[float]] = {
        name: [] for name in ("accuracy", "quadratic_loss", *CLASS_MEASURES)
    }
    for number in range(300):
        x, y = draw(rng, n_train, share, scale)
        trained = balance_classes(np.arange(n_train), y, resample, n_train, number)
        used = np.bincount(trained, minlength=n_train)[None]
        p = probabilities(learner, x[:, [0, 2]], y, used, at[:, [0, 2]])[0]
        decided = (p > 0.5).astype(np.int64)
        scored = Scored(truth, decided, np.column_stack([1 - p, p]), None, COST, 2, 1)
        for name, list_of in values.items():
            list_of.append(NAMED[name].value(scored))
    return {name: float(np.mean(list_of)) for name, list_of in values.items()}


Setting = tuple[str, int, float, Design, float]

SETTINGS: tuple[Setting, ...] = (
    ("logistic regression", 150, 0.12, KFold(10, repeats=3), 1.0),
    ("logistic regression", 150, 0.25, KFold(10, repeats=3), OVERLAP),
    ("logistic regression", 500, 0.12, KFold(10, repeats=3), 1.0),
    ("logistic regression", 500, 0.25, KFold(10, repeats=5), 1.0),
    ("logistic regression", 500, 0.25, KFold(10), OVERLAP),
    ("logistic regression", 500, 0.25, KFold(10, repeats=5), OVERLAP),
    ("logistic regression", 500, 0.5, KFold(10, repeats=3), OVERLAP),
    ("logistic regression", 500, 0.25, RepeatedHoldout(10), OVERLAP),
    ("logistic regression", 2000, 0.25, KFold(10, repeats=3), OVERLAP),
    ("tree", 150, 0.25, KFold(10, repeats=3), 1.0),
    ("tree", 500, 0.12, KFold(10, repeats=3), 1.0),
    ("tree", 500, 0.5, KFold(10, repeats=3), OVERLAP),
)


def repeated(runs: int, settings: tuple[Setting, ...] = SETTINGS) -> Iterator[Promise]:
    """False verdicts about equal learners, and coverage of one, over splits and repeats."""
    for learner, n, share, design, scale in settings:
        held, wrong = dict.fromkeys(CLASS_MEASURES, 0), dict.fromkeys(CLASS_MEASURES, 0)
        part = 1 / 10 if isinstance(design, KFold) else 1 / 3
        truth = truths(learner, round(n * (1 - part)), share, scale)
        for seed in range(runs):
            first, second = evaluations(learner, n, share, design, seed, scale)
            for name in CLASS_MEASURES:
                interval = first.estimate(name)
                held[name] += interval.low <= truth[name] <= interval.high
                wrong[name] += compare(first, second, measure=name).verdict != "undecided"
        splits = "10 hold-outs"
        if isinstance(design, KFold):
            splits = "10 folds" + (f" x {design.repeats}" if design.repeats > 1 else "")
        setting = f"{learner}, n = {n}, {100 * share:g} % positive, {splits}"
        setting += ", classes overlap much" if scale < 1 else ""
        for name in CLASS_MEASURES:
            yield false_positives(
                f"{name} over repeated splits, equal learners: false verdicts",
                setting,
                wrong[name] / runs,
                runs,
                default=True,
            )
            yield coverage(
                f"{name} of an algorithm over repeated splits: coverage",
                f"{setting}, true {truth[name]:.2f}",
                held[name] / runs,
                runs,
                default=True,
            )


def one_round(
    runs: int,
    settings: tuple[tuple[str, int], ...] = (
        ("logistic regression", 150),
        ("logistic regression", 500),
        ("tree", 500),
    ),
) -> Iterator[Promise]:
    """Accuracy over ten folds: the default interval, and the shorter one of the rows alone."""
    for learner, n in settings:
        truth = truths(learner, round(0.9 * n), 0.4)["accuracy"]
        held, width = (
            dict.fromkeys(("algorithm", "model"), 0),
            dict.fromkeys(("algorithm", "model"), 0.0),
        )
        for seed in range(runs):
            first, _ = evaluations(learner, n, 0.4, KFold(10), seed)
            for of in held:
                interval = first.estimate("accuracy", of=of)
                held[of] += interval.low <= truth <= interval.high
                width[of] += (interval.high - interval.low) / runs
        for of, name in (("algorithm", "corrected resampled t"), ("model", "rows alone")):
            yield coverage(
                f"accuracy of an algorithm over ten folds, {name}: coverage",
                f"{learner}, n = {n}",
                held[of] / runs,
                runs,
                warning=UNSTABLE if of == "model" and learner == "tree" else "",
                default=of == "algorithm",
            )
            yield shown(
                f"accuracy of an algorithm over ten folds, {name}: mean width",
                f"{learner}, n = {n}",
                width[of],
                runs,
            )


def few_repeats(
    runs: int,
    settings: tuple[tuple[str, int, Design], ...] = (
        ("tree", 150, KFold(10)),
        ("tree", 150, KFold(10, repeats=3)),
    ),
) -> Iterator[Promise]:
    """Means over rows of learners that are not stable, over few repeats of folds."""
    for learner, n, design in settings:
        k = design.n_splits
        truth = truths(learner, n - n // k, 0.25)
        held = dict.fromkeys(("accuracy", "quadratic_loss"), 0)
        for seed in range(runs):
            first, _ = evaluations(learner, n, 0.25, design, seed)
            for name in held:
                interval = first.estimate(name)
                held[name] += interval.low <= truth[name] <= interval.high
        splits = f"{k} folds x {design.repeats}"
        for name, count in held.items():
            yield coverage(
                f"{name} of an algorithm, few repeats: coverage",
                f"{learner}, n = {n}, {splits}, true {truth[name]:.3f}",
                count / runs,
                runs,
                default=True,
            )


def balanced(
    runs: int,
    settings: tuple[tuple[str, Design], ...] = (
        ("logistic regression", KFold(10, resample="under")),
        ("logistic regression", KFold(10, resample="under", repeats=5)),
        ("logistic regression", KFold(10, resample="over", repeats=5)),
        ("tree", KFold(10, resample="under")),
        ("tree", KFold(10, resample="over")),
    ),
    n: int = 300,
    share: float = 0.12,
) -> Iterator[Promise]:
    """Designs that balance the classes of the training parts, of which one is rare."""
    for learner, design in settings:
        truth = truths(learner, round(0.9 * n), share, 1.0, design.resample)
        held, wrong = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0)
        for seed in range(runs):
            first, second = evaluations(learner, n, share, design, seed)
            for name in truth:
                interval = first.estimate(name)
                held[name] += interval.low <= truth[name] <= interval.high
                wrong[name] += compare(first, second, measure=name).verdict != "undecided"
        setting = f"{learner}, n = {n}, {100 * share:g} % positive, {design.resample}-sampled, "
        setting += "10 folds" + (f" x {design.repeats}" if design.repeats > 1 else "")
        for name in truth:
            yield false_positives(
                f"{name} after balancing classes, equal learners: false verdicts",
                setting,
                wrong[name] / runs,
                runs,
                default=True,
            )
            yield coverage(
                f"{name} of an algorithm after balancing classes: coverage",
                f"{setting}, true {truth[name]:.2f}",
                held[name] / runs,
                runs,
                default=True,
            )
