"""The results of a study as one document: what its page, its JSON and the terminal show."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import combinations
from typing import Any, TypedDict

import sureleaf
from sureleaf.comparison.two_models import compare
from sureleaf.errors import SureleafError
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.intervals import Estimate
from sureleaf.report.estimates import finite
from sureleaf.studies.results import StudyResults, rank_learners, signed_rank

__all__ = ["STUDY_SCHEMA", "StudyDocument", "study_answer", "study_document"]

STUDY_SCHEMA = "sureleaf-study/1"
VERDICTS = ("better", "equivalent", "undecided", "worse")


class EstimateValues(TypedDict):
    """An estimate of a learner on a data set."""

    value: float | None
    low: float | None
    high: float | None
    method: str


class EstimateRow(TypedDict):
    """The estimates of all learners on a data set; None where a learner has none."""

    data: str
    estimates: list[EstimateValues | None]


class RankingValues(TypedDict):
    """The ranks of the learners over all data sets."""

    names: list[str]
    average_ranks: list[float]
    n_data_sets: int
    p_value: float
    critical_difference: float
    groups: list[list[str]]


class PosteriorValues(TypedDict):
    """The probabilities that one learner is better than, equivalent to and worse than another."""

    better: float
    equivalent: float
    worse: float


class PairValues(TypedDict):
    """Two learners: how many data sets have each verdict, and the posterior over data sets."""

    first: str
    second: str
    verdicts: dict[str, int]
    posterior: PosteriorValues | None


class UndefinedValues(TypedDict):
    """A learner for which a measure cannot be computed, and why."""

    data: str
    learner: str
    reason: str


class MeasureValues(TypedDict):
    """All results by one measure."""

    measure: str
    rows: list[EstimateRow]
    undefined: list[UndefinedValues]
    ranking: RankingValues | None
    pairs: list[PairValues]


class StudyDocument(TypedDict):
    """Everything that is known of a study."""

    schema: str
    name: str
    provenance: dict[str, str]
    design: dict[str, object]
    margin: float
    level: float
    status: dict[str, Any]
    data: list[str]
    learners: list[str]
    measures: list[MeasureValues]
    costs: list[dict[str, object]]
    failures: list[dict[str, object]]


def study_document(results: StudyResults, *, level: float = 0.95) -> StudyDocument:
    """Return everything that is known of a study, as plain values.

    Parameters
    ----------
    results : StudyResults
    level : float
        Of intervals and tests.

    Returns
    -------
    StudyDocument
        ``measures`` has one entry per measure, with a table of estimates, the ranks over all data
        sets and all pairs of learners.
    """
    status = results.status()
    measures = [_Measure(results, name, level) for name in results.measures]
    costs: list[dict[str, object]] = []
    for data in results.data:
        evaluations = {one: results.evaluation(data, one) for one in results.learners}
        for measure in measures:
            measure.add(data, evaluations)
        costs += [
            {"data": data, "learner": learner, **asdict(cost)}
            for learner in results.learners
            if (cost := results.cost(data, learner)) is not None
        ]
    return {
        "schema": STUDY_SCHEMA,
        "name": results.name,
        "provenance": {
            "sureleaf": sureleaf.__version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        },
        "design": results.design.to_dict(),
        "margin": results.margin,
        "level": level,
        "status": asdict(status) | {"total": status.total, "seconds_left": status.seconds_left},
        "data": list(results.data),
        "learners": list(results.learners),
        "measures": [measure.values() for measure in measures],
        "costs": costs,
        "failures": [asdict(one) for one in results.failures()],
    }


class _Measure:
    """The results by one measure, to which the data sets are added one after the other."""

    def __init__(self, results: StudyResults, name: str, level: float) -> None:
        self._name, self._level, self._margin = name, level, results.margin
        self._estimates: dict[str, dict[str, Estimate | None]] = {}
        self._undefined: list[UndefinedValues] = []
        pairs = combinations(results.learners, 2)
        self._verdicts: dict[tuple[str, str], Counter[str]] = {pair: Counter() for pair in pairs}

    def add(self, data: str, evaluations: Mapping[str, Evaluation | None]) -> None:
        """Estimate the measure for every learner, and compare all pairs of learners."""
        of_data: dict[str, Estimate | None] = dict.fromkeys(evaluations)
        self._estimates[data] = of_data
        for learner, one in evaluations.items():
            try:
                if one is not None:
                    of_data[learner] = one.estimate(self._name, level=self._level)
            except SureleafError as problem:
                reason = str(problem)
                self._undefined.append({"data": data, "learner": learner, "reason": reason})
        for (first, second), verdicts in self._verdicts.items():
            a, b = evaluations[first], evaluations[second]
            if a is None or b is None or a.failures or b.failures:
                continue
            try:
                result = compare(a, b, measure=self._name, margin=self._margin, level=self._level)
            except SureleafError:  # the measure is not defined for this data set
                continue
            verdicts[result.verdict] += 1

    def values(self) -> MeasureValues:
        """Return the results over all data sets."""
        ranking = rank_learners(self._estimates, self._name, level=self._level)
        return {
            "measure": self._name,
            "rows": [
                {
                    "data": data,
                    "estimates": [None if one is None else _values(one) for one in row.values()],
                }
                for data, row in self._estimates.items()
            ],
            "undefined": self._undefined,
            "ranking": None
            if ranking is None
            else {
                "names": list(ranking.names),
                "average_ranks": list(ranking.average_ranks),
                "n_data_sets": ranking.n_datasets,
                "p_value": ranking.p_value,
                "critical_difference": ranking.critical_difference,
                "groups": [list(group) for group in ranking.groups],
            },
            "pairs": [self._pair(*pair) for pair in self._verdicts],
        }

    def _pair(self, first: str, second: str) -> PairValues:
        """Return the verdicts on each data set, and the posterior over data sets."""
        verdicts = self._verdicts[first, second]
        posterior = signed_rank(self._estimates, first, second, self._name, margin=self._margin)
        return {
            "first": first,
            "second": second,
            "verdicts": {verdict: verdicts[verdict] for verdict in VERDICTS},
            "posterior": None
            if posterior is None
            else {
                "better": posterior.better,
                "equivalent": posterior.equivalent,
                "worse": posterior.worse,
            },
        }


def _values(estimate: Estimate) -> EstimateValues:
    return {
        "value": finite(estimate.value),
        "low": finite(estimate.low),
        "high": finite(estimate.high),
        "method": estimate.method,
    }


def study_answer(document: StudyDocument) -> str:
    """Return the result of a study in one or two sentences."""
    first, status = document["measures"][0], document["status"]
    ranking = first["ranking"]
    left = status["open"] + status["running"]
    unfinished = f" {left:,} of {status['total']:,} fits are still to be done." if left else ""
    if ranking is None:
        return (
            f"{len(document['learners'])} learners on {len(document['data'])} data sets: ranks "
            f"need two learners and two data sets on which all of them worked.{unfinished}"
        )
    best = ranking["names"][0]
    joined = next((group for group in ranking["groups"] if best in group), [best])
    others = [name for name in joined if name != best]
    rank = ranking["average_ranks"][0]
    text = (
        f"By {first['measure'].replace('_', ' ')}, {best} has the best average rank ({rank:.2f}) "
        f"over {ranking['n_data_sets']} data sets"
    )
    if len(others) == len(ranking["names"]) - 1:
        text += ", but no learner differs from it by more than the critical difference."
    elif others:
        text += f"; {', '.join(others)} cannot be told apart from it."
    else:
        text += ", ahead of every other learner by more than the critical difference."
    return text + unfinished
