"""The processor time of measures on ten million rows, compared with scikit-learn on one core.

The goal is at most 1.2 times the time of scikit-learn for every measure that it has, AUC included.
Both get the same rows, without the edge cases (a class that never occurs, a probability of 0) in
which scikit-learn warns or gives another result.
"""

import time
from collections.abc import Callable, Iterator

import numpy as np
from sklearn import metrics

from benchmarks.running import Row, duration, goal
from sureleaf import measures

N_ROWS = 10_000_000
LIMIT = 1.2


def _rows(n: int) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    truth = (generator.random(n) < 0.3).astype(np.int64)
    score = np.clip(0.3 + 0.25 * truth + generator.normal(0, 0.15, n), 0.001, 0.999)
    return {
        "truth": truth,
        "prediction": (score >= 0.5).astype(np.int64),
        "score": score,
        "table": np.column_stack([1 - score, score]),
        "weights": generator.random(n) + 0.5,
    }


def _calls(
    r: dict[str, np.ndarray],
) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    t, p, s, q, w = (r[name] for name in ("truth", "prediction", "score", "table", "weights"))
    m = metrics
    return {
        "confusion_matrix": (
            lambda: measures.confusion_matrix(t, p),
            lambda: m.confusion_matrix(t, p),
        ),
        "accuracy": (lambda: measures.accuracy(t, p), lambda: m.accuracy_score(t, p)),
        "accuracy, weighted": (
            lambda: measures.accuracy(t, p, sample_weight=w),
            lambda: m.accuracy_score(t, p, sample_weight=w),
        ),
        "precision": (lambda: measures.precision(t, p), lambda: m.precision_score(t, p)),
        "recall": (lambda: measures.recall(t, p), lambda: m.recall_score(t, p)),
        "f_measure": (lambda: measures.f_measure(t, p), lambda: m.f1_score(t, p)),
        "balanced_accuracy": (
            lambda: measures.balanced_accuracy(t, p),
            lambda: m.balanced_accuracy_score(t, p),
        ),
        "kappa": (lambda: measures.kappa(t, p), lambda: m.cohen_kappa_score(t, p)),
        "matthews": (lambda: measures.matthews(t, p), lambda: m.matthews_corrcoef(t, p)),
        "nce": (lambda: measures.nce(t, q), lambda: m.log_loss(t, q)),
        "quadratic_loss": (
            lambda: measures.quadratic_loss(t, s),
            lambda: m.brier_score_loss(t, s),
        ),
        "auc": (lambda: measures.auc(t, s), lambda: m.roc_auc_score(t, s)),
        "auc, weighted": (
            lambda: measures.auc(t, s, sample_weight=w),
            lambda: m.roc_auc_score(t, s, sample_weight=w),
        ),
        "roc": (lambda: measures.roc(t, s), lambda: m.roc_curve(t, s)),
        "average_precision": (
            lambda: measures.average_precision(t, s),
            lambda: m.average_precision_score(t, s),
        ),
    }


def _best(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def run(n: int = N_ROWS, repeats: int = 2) -> Iterator[Row]:
    for name, (ours, theirs) in _calls(_rows(n)).items():
        own, peer = _best(ours, repeats), _best(theirs, repeats)
        yield Row(
            f"Measures of {n:,} rows, processor time",
            {
                "measure": name,
                "Sureleaf": duration(own),
                "scikit-learn": duration(peer),
                "Sureleaf / scikit-learn": f"{own / peer:.2f}",
                "goal": goal(f"at most {LIMIT}", own / peer <= LIMIT),
            },
        )
