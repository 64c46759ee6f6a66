"""Every interval and test keeps its promise; the long version is ``make promises``."""

from collections.abc import Callable, Iterator

import pytest
from benchmarks.quality.promises import estimates, folds, many, models, rates, stratified
from benchmarks.quality.promises.record import Promise, about, at_least, markdown, share_error

SHORT: dict[str, Callable[[], Iterator[Promise]]] = {
    "one rate": lambda: rates.one_rate((20, 100, 5000)),
    "one rate, all of them": lambda: rates.all_rates(30),
    "two rates": lambda: rates.two_rates(400, (20, 1000)),
    "two models": lambda: models.same_rows(400),
    "verdicts": lambda: models.verdicts(400),
    "equivalence, the same rows": lambda: models.equivalence(400, (100, 2000)),
    "equivalence, the same folds": lambda: folds.equivalence(100, (200,)),
    "rare errors": lambda: estimates.rare_errors(40, (50,)),
    "groups": lambda: estimates.grouped(40),
    "weights": lambda: estimates.weighted(60),
    "areas": lambda: models.areas(100, (20, 100, 1000)),
    "bootstrap": lambda: models.bootstraps(60, (20, 100)),
    "two algorithms": lambda: folds.algorithms(150, (50, 200), 1000),
    "nested cross-validation": lambda: folds.nested(40, (100,)),
    "many algorithms": lambda: many.pools(80, (10,)),
    "models that lean to a class": lambda: stratified.leaning(30, (100,)),
    "Student's t": lambda: many.student(400),
}


@pytest.mark.parametrize("name", SHORT)
def test_promises_are_kept(name: str) -> None:
    broken = [promise for promise in SHORT[name]() if not promise.kept]
    assert not broken, "\n" + markdown(broken)


def test_a_broken_promise_is_seen() -> None:
    assert not about("coverage", "", 0.95, 0.90, 0.005).kept
    assert not at_least("coverage", "", 0.95, 0.949).kept
    assert about("coverage", "", 0.95, 0.94, 0.005).kept
    assert "**no**" in markdown([about("coverage", "", 0.95, 0.90, 0.005)])


def test_a_share_of_none_or_all_is_no_proof() -> None:
    assert share_error(0.0, 100) > 0.009
    assert share_error(1.0, 100) == pytest.approx(share_error(0.0, 100))


def test_the_true_error_of_the_learner_tends_to_bayes() -> None:
    from scipy.special import ndtr

    assert folds.true_error(100_000, 1.0) == pytest.approx(ndtr(-0.5), abs=1e-4)
    assert folds.true_error(20, 1.0) > folds.true_error(200, 1.0) > ndtr(-0.5)
