"""Keep a tree or grow it anew, where nothing changes: how often the verdict is false.

False is "regrow" if a tree that is grown on all rows is not better than the updated one by more
than the margin, and "keep" if it is. Both accuracies are those of the population.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.quality.promises.levels import POPULATIONS
from benchmarks.quality.promises.record import Promise, false_positives, shown
from sureleaf import TreeClassifier, update
from sureleaf.monitoring import keep_or_regrow

N_TRUTH = 20_000


def verdicts(n_old: int, n_new: int, margin: float, runs: int) -> Iterator[Promise]:
    """Yield the share of false verdicts, and that of verdicts, over three populations."""
    names = ("linear", "step", "four classes")
    false, decided = 0, 0
    for seed in range(runs):
        rng = np.random.default_rng([seed, n_old, n_new, 38])
        X = rng.normal(size=(n_old + n_new + N_TRUTH, 5))
        p = POPULATIONS[names[seed % len(names)]](X)
        y = (rng.random(len(X))[:, np.newaxis] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
        old, new = slice(n_old), slice(n_old, n_old + n_new)
        tree = TreeClassifier(levels_from="training", random_state=seed, n_jobs=1)
        kept = tree.fit(X[old], y[old])
        found = keep_or_regrow(
            kept, X[new], y[new], old_X=X[old], old_y=y[old], margin=margin, n_jobs=1
        )
        if found.verdict == "undecided":
            continue
        both = slice(n_old + n_new)
        anew = TreeClassifier(levels_from="training", random_state=seed, n_jobs=1)
        anew.fit(X[both], y[both])
        truth = slice(n_old + n_new, None)
        accuracies = [
            p[truth][np.arange(N_TRUTH), one.predict(X[truth])].mean()
            for one in (anew, update(kept, X[new], y[new]))
        ]
        is_better = accuracies[0] - accuracies[1] > margin
        decided += 1
        false += is_better != (found.verdict == "regrow")
    setting = f"{n_old:,} old and {n_new:,} new rows, margin {margin:g}"
    yield false_positives(
        "keep_or_regrow: the verdict is false while nothing changes",
        setting,
        false / runs,
        runs,
        default=True,
    )
    yield shown("keep_or_regrow: the rows decide", setting, decided / runs, runs)
