"""The results of a study as one document: what its page, its JSON and the terminal show."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

import sureleaf
from sureleaf.comparison import ManyComparison, SignedRankPosterior, compare
from sureleaf.errors import SureleafError
from sureleaf.evaluation import Estimate, Evaluation
from sureleaf.studies.results import LearnerCost, StudyResults, rank_learners, signed_rank
from sureleaf.studies.store import Failure, StatusCounts

STUDY_SCHEMA = "sureleaf-study/1"
VERDICTS = ("better", "equivalent", "undecided", "worse")


@dataclass(frozen=True)
class EstimateRow:
    """The estimates of all learners on a data set; None where a learner has none."""

    data: str
    estimates: tuple[Estimate | None, ...]


@dataclass(frozen=True)
class UndefinedMeasure:
    """A learner for which a measure cannot be computed, and why."""

    data: str
    learner: str
    reason: str


@dataclass(frozen=True)
class LearnerPair:
    """Two learners: how many data sets have each verdict, and the posterior over data sets."""

    first: str
    second: str
    verdicts: dict[str, int]
    posterior: SignedRankPosterior | None


@dataclass(frozen=True)
class MeasureResults:
    """All results by one measure."""

    measure: str
    rows: tuple[EstimateRow, ...]
    undefined: tuple[UndefinedMeasure, ...]
    ranking: ManyComparison | None
    pairs: tuple[LearnerPair, ...]


@dataclass(frozen=True)
class CostRow(LearnerCost):
    """What a learner took on a data set."""

    data: str
    learner: str


@dataclass(frozen=True)
class StudyDocument:
    """Everything that is known of a study."""

    name: str
    design: dict[str, Any]
    margin: float
    level: float
    status: StatusCounts
    data: tuple[str, ...]
    learners: tuple[str, ...]
    measures: tuple[MeasureResults, ...]
    costs: tuple[CostRow, ...]
    failures: tuple[Failure, ...]
    provenance: dict[str, str] = field(
        default_factory=lambda: {
            "sureleaf": sureleaf.__version__,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
    )

    def to_dict(self) -> dict[str, Any]:
        """Return the document as JSON has it; a number that is not finite is None."""
        counts = {"total": self.status.total, "seconds_left": self.status.seconds_left}
        plain: dict[str, Any] = _plain({"schema": STUDY_SCHEMA, **asdict(self)})
        plain["status"] |= counts
        return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def study_document(results: StudyResults, *, level: float = 0.95) -> StudyDocument:
    """Return everything that is known of a study; the level is that of intervals and tests."""
    measures = [_Measure(results, name, level) for name in results.measures]
    costs = []
    for data in results.data:
        evaluations = {one: results.evaluation(data, one) for one in results.learners}
        for measure in measures:
            measure.add(data, evaluations)
        found = {one: results.cost(data, one) for one in results.learners}
        costs += [CostRow(**vars(c), data=data, learner=one) for one, c in found.items() if c]
    return StudyDocument(
        name=results.name,
        design=results.design.to_dict(),
        margin=results.margin,
        level=level,
        status=results.status(),
        data=results.data,
        learners=results.learners,
        measures=tuple(measure.results() for measure in measures),
        costs=tuple(costs),
        failures=tuple(results.failures()),
    )


class _Measure:
    """The results by one measure, to which the data sets are added one after the other."""

    def __init__(self, results: StudyResults, name: str, level: float) -> None:
        self._name, self._level, self._margin = name, level, results.margin
        self._estimates: dict[str, dict[str, Estimate | None]] = {}
        self._undefined: list[UndefinedMeasure] = []
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
                self._undefined.append(UndefinedMeasure(data, learner, str(problem)))
        for (first, second), verdicts in self._verdicts.items():
            a, b = evaluations[first], evaluations[second]
            if a is None or b is None or a.failures or b.failures:
                continue
            try:
                result = compare(a, b, measure=self._name, margin=self._margin, level=self._level)
            except SureleafError:  # the measure is not defined for this data set
                continue
            verdicts[result.verdict] += 1

    def results(self) -> MeasureResults:
        """Return the results over all data sets."""
        rows = (EstimateRow(data, tuple(row.values())) for data, row in self._estimates.items())
        return MeasureResults(
            self._name,
            tuple(rows),
            tuple(self._undefined),
            rank_learners(self._estimates, self._name, level=self._level),
            tuple(self._pair(*pair) for pair in self._verdicts),
        )

    def _pair(self, first: str, second: str) -> LearnerPair:
        counts = self._verdicts[first, second]
        posterior = signed_rank(self._estimates, first, second, self._name, margin=self._margin)
        return LearnerPair(first, second, {one: counts[one] for one in VERDICTS}, posterior)


def study_answer(document: StudyDocument) -> str:
    """Return the result of a study in one or two sentences."""
    first, status = document.measures[0], document.status
    ranking = first.ranking
    left = status.open + status.running
    unfinished = f" {left:,} of {status.total:,} fits are still to be done." if left else ""
    if ranking is None:
        return (
            f"{len(document.learners)} learners on {len(document.data)} data sets: ranks "
            f"need two learners and two data sets on which all of them worked.{unfinished}"
        )
    best = ranking.names[0]
    joined = next((group for group in ranking.groups if best in group), (best,))
    others = [name for name in joined if name != best]
    text = (
        f"By {first.measure.replace('_', ' ')}, {best} has the best average rank "
        f"({ranking.average_ranks[0]:.2f}) over {ranking.n_datasets} data sets"
    )
    if len(others) == len(ranking.names) - 1:
        text += ", but no learner differs from it by more than the critical difference."
    elif others:
        text += f"; {', '.join(others)} cannot be told apart from it."
    else:
        text += ", ahead of every other learner by more than the critical difference."
    return text + unfinished
