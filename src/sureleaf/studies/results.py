"""What a study has found: evaluations, a table of estimates, verdicts over all data sets."""

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np

from sureleaf.comparison.multiple_models import (
    ManyComparison,
    SignedRankPosterior,
    bayesian_signed_rank,
    compare_many,
)
from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.designs import Design, from_dict
from sureleaf.evaluation.evaluation import Evaluation, SplitFacts
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures.named import find_measure
from sureleaf.evaluation.store import check_contents
from sureleaf.studies.store import Failure, Predictions, StatusCounts, Store

__all__ = ["LearnerCost", "StudyResults"]


@dataclass(frozen=True)
class LearnerCost:
    """What a learner took on a data set: means over its splits."""

    seconds: float
    model_bytes: float | None


class StudyResults:
    """The results of a study, from its store alone; no data set is read.

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
        self._id = store.study_id(self.name)
        options = store.options(self._id)
        self.design: Design = from_dict(options["design"])
        self.measures: tuple[str, ...] = tuple(options["measures"])
        self.margin: float = options["margin"]
        self._seeds: dict[str, int] = options["seeds"]
        self.learners: tuple[str, ...] = tuple(options["learners"])
        self.data: tuple[str, ...] = tuple(self._seeds)
        self._tables: dict[str, dict[str, Any]] = {}
        self._splits: dict[str, list[SplitFacts]] = {}

    def status(self) -> StatusCounts:
        """Return how far the study is."""
        return self.store.status(self.name)

    def failures(self) -> list[Failure]:
        """Return the cells that could not be computed."""
        return self.store.failures(self._id)

    def _table(self, data: str) -> dict[str, Any]:
        if data not in self._seeds:
            raise InvalidArgumentError(f"data must be one of {list(self.data)}; got {data!r}.")
        if data not in self._tables:
            self._tables[data] = self.store.data_set(self._id, data)
        return self._tables[data]

    def _outcomes(self, data: str, learner: str) -> list[tuple[int, Predictions | str]]:
        if learner not in self.learners:
            raise InvalidArgumentError(
                f"learner must be one of {list(self.learners)}; got {learner!r}."
            )
        n_classes = len(self._table(data)["classes"])
        return self.store.outcomes(self._id, data, learner, n_classes)

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
        facts: list[SplitFacts] = []
        parts: list[tuple[int, Predictions]] = []
        for number, outcome in outcomes:
            if not isinstance(outcome, str):
                parts.append((len(facts), outcome))
            facts.append(self._facts(data, number, outcome))
        if not parts:
            return None
        tables = [outcome.probabilities for _, outcome in parts]
        table = self._table(data)
        arrays = {
            "truth": table["truth"],
            "weights": table["weights"],
            "groups": table["groups"],
            "row": np.concatenate([one.rows for _, one in parts]),
            "split": np.repeat([n for n, _ in parts], [len(one.rows) for _, one in parts]),
            "prediction": np.concatenate([one.classes for _, one in parts]),
            "probabilities": (
                None
                if any(one is None for one in tables)
                else np.concatenate([one for one in tables if one is not None])
            ),
        }
        header = {
            "estimator": learner,
            "design": self.design.to_dict(),
            "seed": self._seeds[data],
            "classes": table["classes"],
            "positive": table["positive"],
            "splits": [list(astuple(one)) for one in facts],
        }
        check_contents(header, {name: one for name, one in arrays.items() if one is not None})
        return Evaluation(
            estimator=learner,
            design=self.design,
            seed=self._seeds[data],
            classes=np.array(table["classes"]),
            positive_code=table["positive"],
            cost_matrix=None,
            splits=tuple(facts),
            **arrays,
        )

    def _facts(self, data: str, number: int, outcome: Predictions | str) -> SplitFacts:
        if data not in self._splits:
            table = self._table(data)
            self._splits[data] = [
                SplitFacts(
                    split.repeat,
                    split.fold,
                    split.without,
                    split.n_train,
                    len(split.test),
                )
                for split in self.design.splits(
                    table["truth"], groups=table["groups"], seed=self._seeds[data]
                )
            ]
        if number < 0:
            raise ValueError(f"it is of split {number}")
        facts = self._splits[data][number]
        if isinstance(outcome, str):
            return replace(facts, failure=outcome)
        if len(outcome.rows) != facts.n_test:
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
        estimates: dict[str, dict[str, Estimate | None]] = {}
        for data in self.data:
            estimates[data] = {}
            for learner in self.learners:
                evaluation = self.evaluation(data, learner)
                estimates[data][learner] = (
                    None if evaluation is None else evaluation.estimate(wanted)
                )
        return estimates

    def compare(self, measure: str | None = None, *, level: float = 0.95) -> ManyComparison | None:
        """Rank the learners over the data sets on which all of them worked.

        Learners that worked nowhere are left out. None with fewer than two learners or data sets.
        """
        wanted = self.measures[0] if measure is None else measure
        rows = [
            [float("nan") if one is None else one.value for one in by_learner.values()]
            for by_learner in self.estimates(wanted).values()
        ]
        scores = np.array(rows, dtype=float)
        works = np.isfinite(scores).any(axis=0)
        scores = scores[:, works]
        scores = scores[np.isfinite(scores).all(axis=1)]
        if min(scores.shape) < 2:
            return None
        return compare_many(
            scores,
            names=[name for name, is_used in zip(self.learners, works, strict=True) if is_used],
            higher_is_better=find_measure(wanted).greater_is_better,
            level=level,
        )

    def signed_rank(
        self, first: str, second: str, measure: str | None = None
    ) -> SignedRankPosterior | None:
        """Return how probably the first learner is better, equivalent or worse on a new data set.

        Differences up to the study's margin are equivalent. None without a common data set.
        """
        wanted = self.measures[0] if measure is None else measure
        estimates = self.estimates(wanted)
        sign = 1.0 if find_measure(wanted).greater_is_better else -1.0
        pairs = [(row[first], row[second]) for row in estimates.values()]
        differences = [
            sign * (a.value - b.value)
            for a, b in pairs
            if a is not None and b is not None and np.isfinite(a.value - b.value)
        ]
        if not differences:
            return None
        return bayesian_signed_rank(differences, margin=self.margin, random_state=0)
