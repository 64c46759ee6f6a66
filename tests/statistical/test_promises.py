"""Every interval and test has its nominal level, or is listed as missing it.

The long version is ``make promises``.
"""

from collections.abc import Callable, Iterator

import pytest
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
    stability,
    stratified,
)
from benchmarks.quality.promises.record import (
    Deviation,
    Promise,
    Section,
    Status,
    coverage,
    false_positives,
    filled,
    lattice,
    load,
    power,
    save,
    share_error,
    shown,
    tables,
)

from tests.long_runs import runs

pytestmark = pytest.mark.usefixtures("few_rounds")

SHORT: dict[str, Callable[[], Iterator[Promise]]] = {
    "one rate": lambda: rates.one_rate((20, 100, 5000)),
    "one rate, all of them": lambda: rates.all_rates(30),
    "two rates": lambda: rates.two_rates(400, (20, 1000)),
    "two models": lambda: models.same_rows(400),
    "verdicts": lambda: models.verdicts(400),
    "equivalence, the same rows": lambda: models.equivalence(400, (100, 2000)),
    "equivalence, the same folds": lambda: folds.equivalence(100, (200,)),
    "rare errors": lambda: estimates.rare_errors(runs(24), (50,)),
    "groups": lambda: estimates.grouped(runs(24)),
    "weights": lambda: estimates.weighted(runs(36)),
    "areas": lambda: models.areas(runs(100), (20, 100, 1000)),
    "bootstrap": lambda: models.bootstraps(runs(60), (20, 100)),
    "two algorithms": lambda: folds.algorithms(75, (50, 200), 1000),
    "many algorithms": lambda: many.pools(runs(80), (10,)),
    "models that lean to a class": lambda: stratified.leaning(runs(30), (100,)),
    "certificates of leaves": lambda: certificates.fitted_trees(runs(100)),
    "confidence of leaves": lambda: levels.confidence("default", 1, 2, (100,)),
    "many classes, and leaves by size": lambda: levels.held_out((3,), 1, (200,)),
    "noise of many classes": lambda: levels.noise_of_classes(2, (200,)),
    "trees of halves": lambda: stability.halves("step", 2, 200),
    "bagged trees": lambda: bags.levels(1),
    "utility of trees": lambda: levels.utility("default", 2, (100,)),
    "Student's t": lambda: many.student(400),
    "measures of a class": lambda: class_measures.repeated(runs(24), class_measures.SETTINGS[3:4]),
    "macro measures": lambda: macro_measures.over_folds(runs(24), macro_measures.SETTINGS[:1]),
    "balanced classes": lambda: class_measures.balanced(
        runs(24), (("logistic regression", class_measures.KFold(10, resample="under")),)
    ),
    "few repeats": lambda: class_measures.few_repeats(
        runs(24), (("tree", 150, class_measures.KFold(10, repeats=2)),)
    ),
    "verdicts at the rows needed": lambda: planned.verdicts(runs(100), ("hold-out",)),
    "one round of folds": lambda: class_measures.one_round(
        runs(40), (("logistic regression", 150),)
    ),
}


@pytest.mark.parametrize("name", SHORT)
def test_no_method_misses_its_level_without_a_known_reason(name: str) -> None:
    unexplained = [promise for promise in SHORT[name]() if not promise.is_known]
    assert not unexplained, "\n" + tables(unexplained)


def test_a_row_is_at_its_level_only_within_the_simulation_error() -> None:
    assert coverage("", "", 0.95).status is Status.AT_LEVEL
    assert coverage("", "", 0.99).status is Status.AT_LEVEL
    assert coverage("", "", 0.9499).status is Status.MISSES
    assert coverage("", "", 0.94, 2000).status is Status.AT_LEVEL  # 4 errors are .0195
    assert coverage("", "", 0.93, 2000).status is Status.MISSES
    assert false_positives("", "", 0.02).status is Status.AT_LEVEL
    assert false_positives("", "", 0.0501).status is Status.MISSES
    assert power("", "", 0.8, 0.75, 10_000).status is Status.MISSES


def test_a_miss_within_a_wide_simulation_error_proves_nothing() -> None:
    assert power("", "", 0.65, 0.55, 300).status is Status.TOO_FEW  # 4 errors are .11
    assert power("", "", 0.65, 0.66, 300).status is Status.AT_LEVEL
    assert power("", "", 0.65, 0.5, 300).status is Status.MISSES
    step = Deviation(0.02, "derived")
    assert coverage("", "", 0.935, 100, deviation=step).status is Status.AT_LEVEL
    assert coverage("", "", 0.925, 100, deviation=step).status is Status.TOO_FEW


def test_a_stated_deviation_is_counted_apart_and_a_warning_changes_nothing() -> None:
    step = Deviation(0.02, "derived")
    assert coverage("", "", 0.935, deviation=step).status is Status.WITHIN_DEVIATION
    assert coverage("", "", 0.925, deviation=step).status is Status.MISSES
    assert coverage("", "", 0.925, warning="few rows").status is Status.MISSES
    assert not coverage("", "", 0.925).is_known
    assert coverage("", "", 0.925, warning="few rows").is_known


def test_the_lattice_deviation_bounds_what_wilson_misses_from_5_expected_rows_on() -> None:
    assert lattice(1.0, smallest_count=4.9) is None
    for n in (50, 100, 1000):
        for rate in (0.1, 0.2, 0.35, 0.5):
            deviation = lattice((n * rate * (1 - rate)) ** 0.5, smallest_count=n * rate)
            assert 0.95 - rates.exact_coverage("wilson", n, rate) <= deviation.size


def test_the_page_counts_three_groups_and_lists_the_misses() -> None:
    rows = [
        coverage("one", "a", 0.96),
        coverage("one", "b", 0.94, deviation=Deviation(0.02, "derived")),
        coverage("two", "c", 0.90, warning="few rows", default=True),
        shown("three: power", "d", 0.5, 100),
    ]
    sections = {"All": Section("2026-11-16", tuple(rows))}
    marks = "<!-- promises: counts -->\n<!-- promises: misses -->\n<!-- promises: tables -->"
    text = filled(marks, sections)
    assert text.startswith("**1 rows at the nominal level, 1 within a stated deviation, 1 miss it")
    assert "## All\n\nComputed on 2026-11-16.\n" in text
    assert "| two | c | 0.95 | 0.9000 exact | 0.0500 | **yes** | few rows |" in text
    assert "**misses its level** by 0.0500" in text


def test_stored_sections_are_read_back(tmp_path) -> None:
    rows = (
        coverage("one", "a", 0.94, deviation=Deviation(0.02, "derived")),
        false_positives("two", "b", 0.03, 400, warning="few rows", default=True),
    )
    sections = {"All": Section("2026-11-16", rows), "None": Section("2026-11-17", ())}
    save(sections, tmp_path / "record.json")
    assert load(tmp_path / "record.json") == sections


def test_a_share_of_none_or_all_is_no_proof() -> None:
    assert share_error(0.0, 100) > 0.009
    assert share_error(1.0, 100) == pytest.approx(share_error(0.0, 100))


def test_the_true_error_of_the_learner_tends_to_bayes() -> None:
    from scipy.special import ndtr

    assert folds.true_error(100_000, 1.0) == pytest.approx(ndtr(-0.5), abs=1e-4)
    assert folds.true_error(20, 1.0) > folds.true_error(200, 1.0) > ndtr(-0.5)
