"""What a study has found: evaluations, estimates, verdicts over all data sets, and the document.

The document is what its page, its JSON and the terminal show.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from datetime import UTC, datetime
from itertools import combinations, compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sureleaf
from sureleaf.comparison import compare
from sureleaf.comparison.multiple_models import ManyComparison, compare_many
from sureleaf.comparison.verdict import Verdict
from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures.named import find_measure
from sureleaf.evaluation.store import evaluation_of_contents
from sureleaf.model.column_table import json_value
from sureleaf.studies.store import Failure, FitOutcome, StatusCounts, Store, StoredRows


@dataclass(frozen=True)
class LearnerCost:
    """What a learner took on a data set: means over its splits."""

    seconds: float
    model_bytes: float | None
    data: str
    learner: str


class StudyResults:
    """The results of a study, from its store alone; no data set is read.

    What is read is verified: checksums, the cells of the study, the rows of every split. The name
    of the study may be left out if the store has only one.
    """

    def __init__(self, store: Store, name: str | None = None) -> None:
        names = store.names()
        if name is None and len(names) != 1:
            raise InvalidArgumentError(
                f"name must be one of the studies of the store, {names}; got none."
            )
        self.store, self.name = store, names[0] if name is None else name
        self._study = store.study(self.name)
        self.measures, self.margin = self._study.measures, self._study.margin
        self._definition = self._study.definition
        self.design = self._definition.design
        self.learners, self.data = tuple(self._definition.learners), tuple(self._definition.data)
        self._rows: dict[str, StoredRows] = {}
        self._splits: dict[str, list[tuple[SplitFacts, bytes]]] = {}

    def status(self) -> StatusCounts:
        """Return how far the study is."""
        return self.store.status(self.name)

    def failures(self) -> list[Failure]:
        """Return the cells that could not be computed."""
        return self.store.failures(self._study.study_id)

    def _rows_of(self, data: str) -> StoredRows:
        if data not in self.data:
            raise InvalidArgumentError(f"data must be one of {list(self.data)}; got {data!r}.")
        if data not in self._rows:
            self._rows[data] = self.store.rows_of(self._study, data)
        return self._rows[data]

    def _outcomes(self, data: str, learner: str) -> list[tuple[int, FitOutcome | str]]:
        if learner not in self.learners:
            raise InvalidArgumentError(
                f"learner must be one of {list(self.learners)}; got {learner!r}."
            )
        n_classes = len(self._rows_of(data).classes)
        return self.store.outcomes(self._study.study_id, data, learner, n_classes)

    def evaluation(self, data: str, learner: str) -> Evaluation | None:
        """Return the evaluation of a learner on a data set; None if no split is done.

        Any measure can be computed from it, without another fit.
        """
        outcomes = self._outcomes(data, learner)
        with self.store.decoding(f"a prediction of {learner!r} for {data!r}"):
            facts = [self._facts(data, number, outcome) for number, outcome in outcomes]
            done = {i: one for i, (_, one) in enumerate(outcomes) if not isinstance(one, str)}
            if not done:
                return None
            rows, tables = self._rows_of(data), [one.probabilities for one in done.values()]
            known = [table for table in tables if table is not None]
            arrays = {
                "truth": rows.truth,
                "weights": rows.weights,
                "groups": rows.groups,
                "row": np.concatenate([one.rows for one in done.values()]),
                "split": np.repeat(list(done), [len(one.rows) for one in done.values()]),
                "prediction": np.concatenate([one.classes for one in done.values()]),
                "probabilities": np.concatenate(known) if len(known) == len(tables) else None,
            }
            header = {
                "estimator": learner,
                "design": self.design.to_dict(),
                "seed": self._definition.split_seed(data),
                "classes": rows.classes,
                "positive": rows.positive,
                "splits": [list(astuple(one)) for one in facts],
            }
            contents = {name: array for name, array in arrays.items() if array is not None}
            return evaluation_of_contents(header, contents)

    def _facts(self, data: str, number: int, outcome: FitOutcome | str) -> SplitFacts:
        """Return the facts of a split, which must be the one that the design makes."""
        if data not in self._splits:
            rows, seed = self._rows_of(data), self._definition.split_seed(data)
            self._splits[data] = [
                (SplitFacts(one.repeat, one.fold, one.n_train, len(one.test)), _digest(one.test))
                for one in self.design.splits(rows.truth, groups=rows.groups, seed=seed)
            ]
        facts, test = self._splits[data][number]
        if isinstance(outcome, str):
            return replace(facts, failure=outcome)
        if _digest(outcome.rows) != test:
            raise ValueError("it has other rows than its split")
        return facts

    def cost(self, data: str, learner: str) -> LearnerCost | None:
        """Return the mean time and size of a learner's models; None if no split is done."""
        done = [one for _, one in self._outcomes(data, learner) if isinstance(one, FitOutcome)]
        if not done:
            return None
        sizes = [one.model_bytes for one in done if one.model_bytes is not None]
        mean_size = float(np.mean(sizes)) if sizes else None
        return LearnerCost(float(np.mean([one.seconds for one in done])), mean_size, data, learner)


def _digest(rows: NDArray[np.int64]) -> bytes:
    return hashlib.sha256(rows.astype("<i8").tobytes()).digest()


STUDY_SCHEMA = "sureleaf-study/1"
VERDICTS: tuple[Verdict, ...] = ("better", "equivalent", "undecided", "worse")


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
    """Two learners: how many data sets have each verdict, and Wilcoxon's p over all, by Holm."""

    first: str
    second: str
    verdicts: dict[Verdict, int]
    p_value: float | None


@dataclass(frozen=True)
class MeasureResults:
    """All results by one measure."""

    measure: str
    rows: tuple[EstimateRow, ...]
    undefined: tuple[UndefinedMeasure, ...]
    ranking: ManyComparison | None
    pairs: tuple[LearnerPair, ...]


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
    costs: tuple[LearnerCost, ...]
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
        plain: dict[str, Any] = json_value({"schema": STUDY_SCHEMA, **asdict(self)})
        plain["status"] |= counts
        return plain


def study_document(results: StudyResults, *, level: float = 0.95) -> StudyDocument:
    """Return everything that is known of a study; the level is that of intervals and tests."""
    measures = [_Measure(results, name, level) for name in results.measures]
    costs = []
    for data in results.data:
        evaluations = {one: results.evaluation(data, one) for one in results.learners}
        for measure in measures:
            measure.add(data, evaluations)
        found = (results.cost(data, one) for one in results.learners)
        costs += [cost for cost in found if cost is not None]
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
        self._learners = results.learners
        self._rows: list[EstimateRow] = []
        self._undefined: list[UndefinedMeasure] = []
        pairs = combinations(results.learners, 2)
        self._verdicts = {pair: dict.fromkeys(VERDICTS, 0) for pair in pairs}

    def add(self, data: str, evaluations: Mapping[str, Evaluation | None]) -> None:
        """Estimate the measure for every learner, and compare all pairs of learners."""
        estimates: dict[str, Estimate | None] = dict.fromkeys(evaluations)
        for learner, one in evaluations.items():
            try:
                if one is not None:
                    estimates[learner] = one.estimate(self._name, level=self._level)
            except SureleafError as problem:
                self._undefined.append(UndefinedMeasure(data, learner, str(problem)))
        self._rows.append(EstimateRow(data, tuple(estimates.values())))
        for (first, second), verdicts in self._verdicts.items():
            a, b = evaluations[first], evaluations[second]
            if a is None or b is None or a.failures or b.failures:
                continue
            with suppress(SureleafError):  # the measure is not defined for this data set
                found = compare(a, b, measure=self._name, margin=self._margin, level=self._level)
                verdicts[found.verdict] += 1

    def results(self) -> MeasureResults:
        """Return the results over all data sets."""
        ranking = self._ranking()
        tests = [] if ranking is None else ranking.pairs
        p_values = {frozenset((one.first, one.second)): one.adjusted_p_value for one in tests}
        pairs = tuple(
            LearnerPair(*pair, verdicts, p_values.get(frozenset(pair)))
            for pair, verdicts in self._verdicts.items()
        )
        undefined = tuple(self._undefined)
        return MeasureResults(self._name, tuple(self._rows), undefined, ranking, pairs)

    def _ranking(self) -> ManyComparison | None:
        """Rank the learners over the data sets on which all of them worked.

        Learners that worked nowhere are left out. None with fewer than two learners or data sets.
        """
        values = [[one.value if one else np.nan for one in row.estimates] for row in self._rows]
        scores = np.array(values, dtype=float)
        works = np.isfinite(scores).any(axis=0)
        scores = scores[:, works]
        scores = scores[np.isfinite(scores).all(axis=1)]
        if min(scores.shape) < 2:
            return None
        is_gain = find_measure(self._name).greater_is_better
        names = list(compress(self._learners, works))
        return compare_many(scores, names=names, higher_is_better=is_gain, level=self._level)


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
