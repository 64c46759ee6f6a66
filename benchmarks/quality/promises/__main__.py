"""Run every simulation and keep its rows in the record, which docs/promises.md shows.

``python -m benchmarks.quality.promises`` runs everything, which takes hours on two cores; titles of
sections run these only. Every section is stored as soon as it is complete.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from typing import Any

from benchmarks.quality.promises import (
    bags,
    certificates,
    class_measures,
    estimates,
    folds,
    levels,
    macro_measures,
    many,
    models,
    planned,
    rates,
    regrowing,
    segments,
    stability,
    stratified,
    watching,
)
from benchmarks.quality.promises.record import Promise, Section, load, save

Part = tuple[Callable[..., Iterator[Promise]], tuple[Any, ...]]

SECTIONS: dict[str, list[Part]] = {
    "One rate": [(rates.one_rate, ()), (rates.all_rates, ())],
    "Two rates, independent test sets": [(rates.two_rates, (2000,))],
    "Two models, the same test set": [(models.same_rows, (4000,))],
    "Verdicts": [
        (models.verdicts, (4000,)),
        (models.equivalence, (4000,)),
        (folds.equivalence, (1000,)),
    ],
    "Verdicts at the rows needed": [(planned.verdicts, (320,))],
    "Areas under the ROC curve": [(models.areas, (2000,))],
    "Bootstrap": [(models.bootstraps, (1000,))],
    "Two algorithms, cross-validation": [
        (folds.algorithms, (2000,)),
        (folds.trees, (320,)),
    ],
    "Measures of a class, repeated splits": [
        (class_measures.repeated, (320, (setting,))) for setting in class_measures.SETTINGS
    ],
    "Macro measures of three classes": [
        (macro_measures.over_folds, (320, (setting,))) for setting in macro_measures.SETTINGS
    ],
    "Designs that balance the classes": [(class_measures.balanced, (320,))],
    "Means over rows, few repeats": [(class_measures.few_repeats, (320,))],
    "Accuracy, one round of ten folds": [(class_measures.one_round, (320,))],
    "Estimates of an evaluation": [
        (estimates.rare_errors, (1280,)),
        (estimates.few_positives, (1000,)),
        (estimates.grouped, (640,)),
        (estimates.weighted, (1000,)),
        (estimates.held_out, (1000,)),
    ],
    "Stratified designs, models that lean to a class": [
        (stratified.leaning, (400, (n,))) for n in (100, 400)
    ],
    "Certificates of leaves": [(certificates.exact, ()), (certificates.fitted_trees, (4000,))],
    "Levels of trees": [
        *((levels.confidence, (kind, 80, 107)) for kind in levels.TREES),
        *((levels.utility, (kind, 107)) for kind in levels.PRUNINGS),
    ],
    "Levels of many classes, and by the size of leaves": [
        (levels.held_out, ((2,), 12)),
        (levels.held_out, ((3, 6), 6)),
        (levels.held_out, ((12, 26), 6)),
        (levels.noise_of_classes, (80,)),
    ],
    "Bagged trees": [(bags.levels, (160,)), (bags.few_and_many_trees, (320,))],
    "Segments in which a model is wrong": [
        (segments.false_alarms, (1000,)),
        (segments.planted, (320,)),
    ],
    "Trees of halves of the rows": [
        (stability.halves, (population, 320, 200)) for population in ("linear", "step")
    ],
    "A tree that is watched": [(watching.false_alarms, (12,)), (watching.delays, (12,))],
    "Keep a tree or grow it anew": [
        (regrowing.verdicts, (200, 300, 0.0, 320)),
        (regrowing.verdicts, (200, 2000, 0.01, 320)),
        (regrowing.verdicts, (1000, 1000, 0.01, 320)),
    ],
    "Many algorithms, many data sets": [(many.pools, (1000,))],
    "Student's t": [(many.student, (10_000,))],
}


def rows_of(part: Part) -> tuple[list[Promise], float]:
    """Return the rows of one part, and the seconds that they took."""
    started = time.monotonic()
    function, arguments = part
    return list(function(*arguments)), time.monotonic() - started


def run(titles: Sequence[str]) -> None:
    """Compute sections on all cores and store each when it is complete; parts have own seeds."""
    tasks = [(title, part) for title in titles for part in SECTIONS[title]]
    rows: dict[str, list[Promise]] = {title: [] for title in titles}
    open_parts = {title: len(SECTIONS[title]) for title in titles}
    started = time.monotonic()
    with ProcessPoolExecutor() as pool:
        results = pool.map(rows_of, [part for _, part in tasks])
        for (title, (function, _)), (part_rows, seconds) in zip(tasks, results, strict=True):
            rows[title] += part_rows
            print(
                f"{time.monotonic() - started:6.0f} s  {title}: {len(part_rows)} rows of "
                f"{function.__module__.rpartition('.')[2]}.{function.__name__} in {seconds:.0f} s",
                flush=True,
            )
            open_parts[title] -= 1
            if not open_parts[title]:
                stored = load()
                stored[title] = Section(date.today().isoformat(), tuple(rows[title]))
                save({title: stored[title] for title in SECTIONS if title in stored})


def main(titles: Sequence[str]) -> int:
    unknown = [title for title in titles if title not in SECTIONS]
    if unknown:
        print(f"no section {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
        return 2
    run(titles or list(SECTIONS))
    stored = load()
    missing = [title for title in SECTIONS if title not in stored]
    if missing:
        print(f"not computed yet: {', '.join(missing)}")
    unexplained = [row for part in stored.values() for row in part.rows if not row.is_known]
    for row in unexplained:
        print(
            f"misses its level without a known reason: {row.what}, {row.setting}: "
            f"{row.found:.4f}, nominal {row.nominal:g}, default: {row.default}"
        )
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
