"""Run every simulation and write the tables of the documentation.

``python -m benchmarks.quality.promises docs/promises.md``
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality.promises import estimates, folds, levels, many, models, rates, stratified
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


def everything() -> Iterator[tuple[str, list[Promise]]]:
    yield "One rate", [*rates.one_rate(), *rates.all_rates()]
    yield "Two rates, independent test sets", list(rates.two_rates(2000))
    yield "Two models, the same test set", list(models.same_rows(4000))
    yield (
        "Verdicts",
        [*models.verdicts(4000), *models.equivalence(4000), *folds.equivalence(1000)],
    )
    yield "Areas under the ROC curve", list(models.areas(2000))
    yield "Bootstrap", list(models.bootstraps(1000))
    yield (
        "Two algorithms, cross-validation",
        [
            *folds.algorithms(2000),
            *folds.trees(320),
            *folds.nested(320),
        ],
    )
    yield (
        "Estimates of an evaluation",
        [
            *estimates.rare_errors(1280),
            *estimates.few_positives(1000),
            *estimates.grouped(640),
            *estimates.weighted(1000),
            *estimates.held_out(1000),
        ],
    )
    yield "Stratified designs, models that lean to a class", list(stratified.leaning(400))
    yield "Levels of trees", [*levels.confidence(40), *levels.utility(120)]
    yield "Many algorithms, many data sets", list(many.pools(1000))
    yield "Student's t", list(many.student(10_000))


def main(path: Path) -> int:
    started = time.monotonic()
    sections = []
    for title, promises in everything():
        sections.append((title, promises))
        print(f"{time.monotonic() - started:6.0f} s  {title}: {len(promises)} rows", flush=True)
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
