"""What a study has found: evaluations, a table of estimates, verdicts over all data sets."""

import hashlib
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.comparison.multiple_models import (
    ManyComparison,
    SignedRankPosterior,
    bayesian_signed_rank,
    compare_many,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures.named import find_measure
from sureleaf.evaluation.store import check_contents
from sureleaf.studies.store import Failure, Predictions, StatusCounts, Store, StoredRows

Estimates = Mapping[str, Mapping[str, Estimate | None]]
"""The estimate of every learner on every data set; None where there is none."""


@dataclass(frozen=True)
class LearnerCost:
    """What a learner took on a data set: means over its splits."""

    seconds: float
    model_bytes: float | None


class StudyResults:
    """The results of a study, from its store alone; no data set is read.

    What is read is verified: checksums, the cells of the study, the rows of every split.

    Parameters
    ----------
    store : Store
    name : str, optional
        The study; may be left out if the store has only one.
    """

    def __init__(self, store: Store, name: str | None = None) -> None:
        names = store.names()
        if name is None and len(names) != 1:
            raise InvalidArgumentError(
                f"name must be one of the studies of the store, {names}; got none."
            )
        self.store, self.name = store, names[0] if name is None else name
        self._study = store.study(self.name)
        self.design = self._study.design
        self.measures, self.margin = self._study.measures, self._study.margin
        self.learners, self.data = tuple(self._study.learners), tuple(self._study.data)
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

    def _outcomes(self, data: str, learner: str) -> list[tuple[int, Predictions | str]]:
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
            return self._evaluation(data, learner, outcomes)

    def _evaluation(
        self, data: str, learner: str, outcomes: list[tuple[int, Predictions | str]]
    ) -> Evaluation | None:
        facts = [self._facts(data, number, outcome) for number, outcome in outcomes]
        done = [(i, one) for i, (_, one) in enumerate(outcomes) if not isinstance(one, str)]
        if not done:
            return None
        table, rows = [one.probabilities for _, one in done], self._rows_of(data)
        arrays: dict[str, Any] = {
            "truth": rows.truth,
            "weights": rows.weights,
            "groups": rows.groups,
            "row": np.concatenate([one.rows for _, one in done]),
            "split": np.repeat([i for i, _ in done], [len(one.rows) for _, one in done]),
            "prediction": np.concatenate([one.classes for _, one in done]),
            "probabilities": (
                None
                if any(part is None for part in table)
                else np.concatenate([part for part in table if part is not None])
            ),
        }
        header: dict[str, Any] = {
            "estimator": learner,
            "design": self.design.to_dict(),
            "seed": self._study.split_seed(data),
            "classes": rows.classes,
            "positive": rows.positive,
            "splits": [list(astuple(one)) for one in facts],
        }
        check_contents(header, {name: one for name, one in arrays.items() if one is not None})
        return Evaluation(
            estimator=learner,
            design=self.design,
            seed=header["seed"],
            classes=np.array(rows.classes),
            positive_code=rows.positive,
            cost_matrix=None,
            splits=tuple(facts),
            **arrays,
        )

    def _facts(self, data: str, number: int, outcome: Predictions | str) -> SplitFacts:
        """Return the facts of a split, which must be the one that the design makes."""
        if data not in self._splits:
            rows, seed = self._rows_of(data), self._study.split_seed(data)
            self._splits[data] = [
                (
                    SplitFacts(split.repeat, split.fold, split.n_train, len(split.test)),
                    _digest(split.test),
                )
                for split in self.design.splits(rows.truth, groups=rows.groups, seed=seed)
            ]
        facts, test = self._splits[data][number]
        if isinstance(outcome, str):
            return replace(facts, failure=outcome)
        if _digest(outcome.rows) != test:
            raise ValueError("it has other rows than its split")
        return facts

    def cost(self, data: str, learner: str) -> LearnerCost | None:
        """Return the mean time and size of a learner's models; None if no split is done."""
        done = [one for _, one in self._outcomes(data, learner) if isinstance(one, Predictions)]
        if not done:
            return None
        sizes = [one.model_bytes for one in done if one.model_bytes is not None]
        return LearnerCost(
            float(np.mean([one.seconds for one in done])),
            float(np.mean(sizes)) if sizes else None,
        )

    def estimates(self, measure: str | None = None) -> dict[str, dict[str, Estimate | None]]:
        """Return the estimate of every learner on every data set, with its interval."""
        wanted = self.measures[0] if measure is None else measure
        evaluations = (
            (data, learner, self.evaluation(data, learner))
            for data in self.data
            for learner in self.learners
        )
        estimates: dict[str, dict[str, Estimate | None]] = {data: {} for data in self.data}
        for data, learner, one in evaluations:
            estimates[data][learner] = None if one is None else one.estimate(wanted)
        return estimates

    def compare(self, measure: str | None = None, *, level: float = 0.95) -> ManyComparison | None:
        """Rank the learners by `rank_learners`."""
        wanted = self.measures[0] if measure is None else measure
        return rank_learners(self.estimates(wanted), wanted, level=level)

    def signed_rank(
        self, first: str, second: str, measure: str | None = None
    ) -> SignedRankPosterior | None:
        """Compare two learners by `signed_rank`, with the margin of the study."""
        wanted = self.measures[0] if measure is None else measure
        return signed_rank(self.estimates(wanted), first, second, wanted, margin=self.margin)


def _digest(rows: NDArray[np.int64]) -> bytes:
    return hashlib.sha256(rows.astype("<i8").tobytes()).digest()


def rank_learners(
    estimates: Estimates, measure: str, *, level: float = 0.95
) -> ManyComparison | None:
    """Rank the learners over the data sets on which all of them worked.

    Learners that worked nowhere are left out. None with fewer than two learners or data sets.
    """
    rows = [
        [np.nan if one is None else one.value for one in by_learner.values()]
        for by_learner in estimates.values()
    ]
    scores = np.array(rows, dtype=float)
    works = np.isfinite(scores).any(axis=0)
    scores = scores[:, works]
    scores = scores[np.isfinite(scores).all(axis=1)]
    if min(scores.shape) < 2:
        return None
    learners = next(iter(estimates.values()))
    return compare_many(
        scores,
        names=[name for name, is_used in zip(learners, works, strict=True) if is_used],
        higher_is_better=find_measure(measure).greater_is_better,
        level=level,
    )


def signed_rank(
    estimates: Estimates, first: str, second: str, measure: str, *, margin: float
) -> SignedRankPosterior | None:
    """Return how probably the first learner is better, equivalent or worse on a new data set.

    Differences up to the margin are equivalent. None without a common data set.
    """
    sign = 1.0 if find_measure(measure).greater_is_better else -1.0
    pairs = [(row[first], row[second]) for row in estimates.values()]
    differences = [
        sign * (a.value - b.value)
        for a, b in pairs
        if a is not None and b is not None and np.isfinite(a.value - b.value)
    ]
    return bayesian_signed_rank(differences, margin=margin, random_state=0) if differences else None
