"""Run every simulation and write the tables of the documentation.

``python -m benchmarks.quality.promises docs/promises.md`` runs everything, which takes hours on two
cores; titles of sections after the path run these only. Every section is stored as soon as it is
complete, in a JSON file beside the document, from which the document is written.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.quality.promises import (
    certificates,
    class_measures,
    curves,
    estimates,
    folds,
    levels,
    macro_measures,
    many,
    models,
    planned,
    rates,
    segments,
    stability,
    stratified,
)
from benchmarks.quality.promises.record import Promise, Section, document, load, save

OPENING = """\
# Coverage and false positives of every interval and test

How often each interval holds the truth, and how often each test finds a difference that does not
exist, where the truth is known. `make promises` sums discrete cases exactly, simulates the others
and writes this file. Intervals are at .95, two-sided tests at .05.

**{at_level} rows at the nominal level, {within} within a stated deviation, {misses} miss it and
are shown as a warning; {too_few} have too few runs to tell.**

- *At the nominal level*: coverage or power is not below, and false positives are not above, the
  nominal level by more than four simulation errors. An interval that covers more often than its
  level, or a test that rejects less often, is at its level; the table shows by how much.
- *Within a stated deviation*: the same with a deviation that was derived for the method, not
  fitted to the result. Whole counts move in steps, so the coverage of an interval cannot stay at
  .95. The deviation is the first term of the expansion for lattice distributions: half a step
  times the normal density, for each end of the interval. It is stated only from 5 expected rows
  of each kind on.
- *Too few runs to tell*: a miss within four simulation errors, where these are more than .05.
- *Misses its level*: everything else, listed first with the size of the miss.

Every simulated row has at least 320 data sets, so that four simulation errors of a level of .95
are less than .05. Shares of leaves count leaves, of which some groups have fewer. Under each title
stands the day of its run.

"Used by default" is about evaluations, comparisons, trees and reports. The functions of bare
numbers keep the textbook's formula unless told otherwise: `rate_interval` has Wilson's interval,
`compare_rates` the unpooled variance.

C.-G. Esseen (1945). Fourier analysis of distribution functions. Acta Mathematica 77, 1-125.
L. D. Brown, T. T. Cai and A. DasGupta (2002). Confidence intervals for a binomial proportion and
asymptotic expansions. Annals of Statistics 30, 160-201.
"""


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
        (folds.nested, (320,)),
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
    "Rows for a target": [(curves.answers, (100,))],
    "Certificates of leaves": [(certificates.exact, ()), (certificates.fitted_trees, (4000,))],
    "Levels of trees": [
        *((levels.confidence, (kind, 80, 107)) for kind in levels.TREES),
        *((levels.utility, (kind, 107)) for kind in levels.PRUNINGS),
    ],
    "Segments in which a model is wrong": [
        (segments.false_alarms, (1000,)),
        (segments.planted, (320,)),
    ],
    "Trees that would come out again": [
        *((stability.rivals, (population, 320)) for population in stability.RIVALS),
        (stability.recurrence, (6, 12)),
    ],
    "Many algorithms, many data sets": [(many.pools, (1000,))],
    "Student's t": [(many.student, (10_000,))],
}


def rows_of(part: Part) -> tuple[list[Promise], float]:
    """Return the rows of one part, and the seconds that they took."""
    started = time.monotonic()
    function, arguments = part
    return list(function(*arguments)), time.monotonic() - started


def run(titles: Sequence[str], path: Path) -> None:
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
                stored = load(path) if path.exists() else {}
                stored[title] = Section(date.today().isoformat(), tuple(rows[title]))
                save(stored, path)


def main(path: Path, titles: Sequence[str]) -> int:
    unknown = [title for title in titles if title not in SECTIONS]
    if unknown:
        print(f"no section {unknown[0]!r}; there are: {', '.join(SECTIONS)}")
        return 2
    path.parent.mkdir(exist_ok=True)
    store = path.with_suffix(".json")
    run(titles or list(SECTIONS), store)
    stored = load(store)
    sections = {title: stored[title] for title in SECTIONS if title in stored}
    missing = [title for title in SECTIONS if title not in stored]
    note = f"\nNot computed yet: {', '.join(missing)}.\n" if missing else ""
    path.write_text(document(OPENING + note, sections), encoding="utf-8")
    unexplained = [row for part in sections.values() for row in part.rows if not row.is_known]
    for row in unexplained:
        print(
            f"misses its level without a known reason: {row.what}, {row.setting}: "
            f"{row.found:.4f}, nominal {row.nominal:g}, default: {row.default}"
        )
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/promises.md"), sys.argv[2:]))
