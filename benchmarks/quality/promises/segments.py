"""Segments in which a model is wrong: false alarms, what is found, and intervals.

Tables as in `benchmarks.quality.segments`, with fewer rows.
"""

from collections.abc import Iterator

import numpy as np

from benchmarks.quality.promises.record import Promise, coverage, false_positives, power
from benchmarks.quality.segments import MODELS, SEGMENTS, draw
from sureleaf.auditing.segments import Errors, search, segment_family
from sureleaf.table import read_table

ROWS = 500


def false_alarms(runs: int) -> Iterator[Promise]:
    """Tables for which the stated probabilities are true."""
    for model in MODELS:
        alarms = 0
        for seed in range(runs):
            rng = np.random.default_rng([seed, 161])
            X = draw(rng, ROWS)
            p = MODELS[model](X)
            errors = Errors(p, (rng.random(ROWS) < p).astype(float), p * (1 - p))
            result = search(segment_family(read_table(X), p), errors, level=0.95, seed=seed)
            alarms += bool(result.found)
        yield false_positives(
            "segments of a calibrated model: any is found",
            f"{ROWS} rows, {model}",
            alarms / runs,
            runs,
            default=True,
        )


def planted(runs: int) -> Iterator[Promise]:
    """A segment as far off as the search says that it finds with probability .9."""
    for name, segment in SEGMENTS.items():
        found, holds = 0, []
        for seed in range(runs):
            rng = np.random.default_rng([seed, 162])
            X = draw(rng, 2 * ROWS)
            p = np.full(len(X), 0.5)
            family = segment_family(read_table(X), p)
            quiet = Errors(p, (rng.random(len(X)) < p).astype(float), p * (1 - p))
            offset = search(family, quiet, level=0.95, seed=seed).detectable
            inside = segment(X)
            true = np.where(inside, p - offset, p)
            errors = Errors(p, (rng.random(len(X)) < true).astype(float), p * (1 - p))
            result = search(family, errors, level=0.95, seed=seed)
            found += any((one.rows & inside).sum() > 0.3 * inside.sum() for one in result.found)
            reported = result.found + result.open
            holds.append(all(one.low <= true[one.rows].mean() <= one.high for one in reported))
        setting = f"{2 * ROWS} rows, {name}"
        yield power("segments: the detectable offset is found", setting, 0.9, found / runs, runs)
        yield coverage(
            "segments: all intervals hold the truth",
            setting,
            float(np.mean(holds)),
            runs,
            default=True,
        )
