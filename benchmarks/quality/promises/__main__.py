"""Run every promise and write the table of the documentation.

``python -m benchmarks.quality.promises docs/promises.md``
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.quality.promises import estimates, folds, many, models, rates, stratified
from benchmarks.quality.promises.record import Promise, markdown

OPENING = """\
# Promises

What the intervals and tests of Sureleaf promise, and what they keep where the truth is known.
Made by `make promises`, which sums discrete cases exactly and simulates the others; nothing here
is typed by hand. *Nominal* is what the level says, *promised* the range with the deviation that
the last column states, *kept* that the share found lies in it, give or take four simulation errors.
Two-sided tests at .05, intervals at .95.

{kept} of {total} promises are kept.
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
            *folds.trees(120),
            *folds.nested(300),
        ],
    )
    yield (
        "Estimates of an evaluation",
        [
            *estimates.rare_errors(1000),
            *estimates.few_positives(1000),
            *estimates.grouped(600),
            *estimates.weighted(1000),
            *estimates.held_out(1000),
        ],
    )
    yield "Stratified designs, models that lean to a class", list(stratified.leaning(400))
    yield "Many algorithms, many data sets", list(many.pools(1000))
    yield "Student's t", list(many.student(10_000))


def main(path: Path) -> int:
    started = time.monotonic()
    sections = []
    for title, promises in everything():
        sections.append((title, promises))
        print(f"{time.monotonic() - started:6.0f} s  {title}: {len(promises)} promises")
    rows = [row for _, promises in sections for row in promises if row.is_promise]
    broken = [row for row in rows if not row.kept]
    text = OPENING.format(kept=len(rows) - len(broken), total=len(rows))
    for title, promises in sections:
        text += f"\n## {title}\n{markdown(promises)}\n"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    for row in broken:
        print(f"broken: {row.what}, {row.setting}: {row.found:.4f}, promised {row.low}..{row.high}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/promises.md")))
