"""Run every simulation and write the tables of the documentation.

``python -m benchmarks.quality.promises docs/promises.md``
"""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.quality.promises import (
    certificates,
    class_measures,
    estimates,
    folds,
    levels,
    many,
    models,
    rates,
    stratified,
)
from benchmarks.quality.promises.record import Promise, document

OPENING = """\
# Coverage and false positives of every interval and test

How often each interval holds the truth, and how often each test finds a difference that does not
exist, where the truth is known. `make promises` sums discrete cases exactly, simulates the others
and writes this file. Intervals are at .95, two-sided tests at .05.

**{at_level} rows at the nominal level, {within} within a stated deviation, {misses} miss it and
are shown as a warning.**

- *At the nominal level*: coverage or power is not below, and false positives are not above, the
  nominal level by more than four simulation errors. An interval that covers more often than its
  level, or a test that rejects less often, is at its level; the table shows by how much.
- *Within a stated deviation*: the same with a deviation that was derived for the method, not
  fitted to the result. Whole counts move in steps, so the coverage of an interval cannot stay at
  .95. The deviation is the first term of the expansion for lattice distributions: half a step
  times the normal density, for each end of the interval. It is stated only from 5 expected rows
  of each kind on.
- *Misses its level*: everything else, listed first with the size of the miss.

Every simulated row has at least 320 runs, so that four simulation errors are less than .05.

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
    "Levels of trees": [(levels.confidence, (40,)), (levels.utility, (120,))],
    "Certificates of leaves": [
        (certificates.exact, ()),
        (certificates.fitted_trees, (4000,)),
    ],
    "Many algorithms, many data sets": [(many.pools, (1000,))],
    "Student's t": [(many.student, (10_000,))],
}


def rows_of(part: Part) -> tuple[list[Promise], float]:
    """Return the rows of one part, and the seconds that they took."""
    started = time.monotonic()
    function, arguments = part
    return list(function(*arguments)), time.monotonic() - started


def everything() -> list[tuple[str, list[Promise]]]:
    """Return the rows of all sections, computed on all cores; every part has its own seeds."""
    tasks = [(title, part) for title, parts in SECTIONS.items() for part in parts]
    sections: dict[str, list[Promise]] = {title: [] for title in SECTIONS}
    started = time.monotonic()
    with ProcessPoolExecutor() as pool:
        results = pool.map(rows_of, [part for _, part in tasks])
        for (title, (function, _)), (rows, seconds) in zip(tasks, results, strict=True):
            sections[title] += rows
            print(
                f"{time.monotonic() - started:6.0f} s  {title}: {len(rows)} rows of "
                f"{function.__module__.rpartition('.')[2]}.{function.__name__} in {seconds:.0f} s",
                flush=True,
            )
    return list(sections.items())


def main(path: Path) -> int:
    sections = everything()
    path.parent.mkdir(exist_ok=True)
    path.write_text(document(OPENING, sections), encoding="utf-8")
    unexplained = [row for _, promises in sections for row in promises if not row.is_known]
    for row in unexplained:
        print(
            f"misses its level without a known reason: {row.what}, {row.setting}: "
            f"{row.found:.4f}, nominal {row.nominal:g}, default: {row.default}"
        )
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/promises.md")))
