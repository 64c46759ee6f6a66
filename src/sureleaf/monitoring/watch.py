"""Whether the leaves of a tree are still right, while rows arrive: to be looked at at any time.

A leaf is a fixed cell, and what happens in it is a stream of classes. Its counts are all that a
test by betting needs (`sureleaf.levels.sequential`), so a watch holds counts and no rows. It asks
three questions about every leaf, and one about the whole tree:

- *decision*: is the class that it predicts (the decision, at costs) the best one?
- *accuracy*: is it right at least as often as was promised, and as before?
- *share*: do as many of the rows reach it?

**What was promised is not known exactly.** It was estimated from finitely many rows. So half of the
error probability of a question goes into limits for what is true of the population of the fit, and
the other half into a test against all values within them [1]_. For one-sided tests the hardest
value is the end of the interval. A tree with few rows has promised little and cannot break it by
itself. Shares of the rows that depend on rare categories have wider limits (`rare_shares`). If
nothing has changed, the rows of the watch itself are of this population, too: the limit for a test
that starts at some row is the sharper one of two, from the promise and from the rows before (a
confidence sequence), with a quarter of the error probability each. A decision that was wrong from
the start is no alarm either: it counts as changed only if the leaf is wrong *and* its class shares
are not what they were.

**One error probability for all.** A quarter of alpha goes to the whole tree, and one to each of
the three questions, there in equal parts to the leaves. By Bonferroni's inequality, the probability
of any false alarm, over all leaves and all times, is at most alpha, if the intervals hold.

References
----------
.. [1] Berger, R. L., Boos, D. D. (1994). P values maximized over a confidence set for the nuisance
   parameter. Journal of the American Statistical Association 89, 1012-1016.
.. [2] Good, I. J. (1953). The population frequencies of species and the estimation of population
   parameters. Biometrika 40, 237-264.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sureleaf.arguments import FloatArray, check_one_label_per_row
from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import TreeClassifier
from sureleaf.formatting import count_of, interval, listed, percent, upper_first
from sureleaf.levels.intervals import clopper_pearson_limits
from sureleaf.levels.search import smallest_count
from sureleaf.levels.sequential import (
    capital_limit,
    confidence_sequence,
    log_bets,
    log_capital,
    start_share,
    start_times,
)
from sureleaf.model.certificate import check_alpha
from sureleaf.model.column_table import ColumnTable, json_value
from sureleaf.model.seen_rows import row_prints
from sureleaf.model.tree_model import TreeModel
from sureleaf.monitoring.updates import check_tree
from sureleaf.table import EncodedTable
from sureleaf.table.schema import UNSEEN
from sureleaf.tree import TrainingRows
from sureleaf.tree.rules import leaf_rules

LeafVerdict = Literal["right", "wrong", "changed", "unknown"]

Counts = NDArray[np.int64]

RECOGNISED_ROWS = 16
"""A batch with fewer different rows may equal an earlier one by chance."""

_MOST_ROWS = 2**20
"""More rows than this are not said to be needed."""

LEAST_SHARE = 1e-9
"""A limit of a share that is nearer to 0 or 1 cannot be passed."""

ROWS_AT_ONCE = 2**14
"""Counts after each of so many rows, by leaf, are in memory at a time."""

DRAWN = 240
"""Points of time that a state keeps for drawings; of more, every other one goes."""


@dataclass(frozen=True)
class Alarm:
    """What was proven: at which row, and since about which row it has been so."""

    row: int
    since: int


@dataclass
class Stream:
    """Counts of outcomes, now and at the starts of its tests: (row, counts) each."""

    counts: Counts
    starts: list[tuple[int, Counts]]

    @classmethod
    def empty(cls, n_outcomes: int) -> "Stream":
        """Return a stream at its beginning."""
        return cls(np.zeros(n_outcomes, np.int64), [(0, np.zeros(n_outcomes, np.int64))])

    def extend(self, outcomes: NDArray[np.intp], rows: Counts) -> Counts:
        """Add outcomes, with the numbers of their rows; return the counts after each of them."""
        each = np.zeros((len(outcomes), len(self.counts)), np.int64)
        each[np.arange(len(outcomes)), outcomes] = 1
        path: Counts = self.counts + each.cumsum(axis=0)
        clock = int(self.counts.sum())
        for time in start_times(clock + 1, clock + len(outcomes)):
            at = time - clock - 1
            self.starts.append((int(rows[at]), path[at].copy()))
        if len(path):
            self.counts = path[-1].copy()
        return path

    def since(self, row: int) -> Counts:
        """Return the counts of all outcomes since the start after this row."""
        return self.counts - next(counts for start, counts in self.starts if start == row)


Starts = Sequence[tuple[int, Counts]]


def first_alarm(path: Counts, rows: Counts, tests: Sequence["Started"]) -> Alarm | None:
    """Return when the capital of any start first reaches what its part of alpha asks for.

    The change is dated by the start with the largest capital.
    """
    clock = path.sum(axis=1)
    first = len(path)
    for one in tests:
        begin = int(np.searchsorted(clock, one.counts.sum(), side="right"))
        since = path[begin:first] - one.counts
        tried = np.arange(len(since))
        if one.limit is not None:  # a quick limit of the capital leaves most of them out
            most = capital_limit(since[:, 0], since.sum(axis=1), one.limit, rises=one.rises)
            tried = np.flatnonzero(most >= one.goal)
        reached = tried[log_capital(since[tried], one.bets) >= one.goal]
        if len(reached):
            first = begin + int(reached[0])
    if first == len(path):
        return None
    capital = [
        (float(log_capital(path[first] - one.counts, one.bets)), one.row)
        for one in tests
        if one.counts.sum() < clock[first]
    ]
    return Alarm(int(rows[first]), max(capital, key=lambda one: one[0])[1])


@dataclass(frozen=True, eq=False)
class Started:
    """A test that starts after a row, when there were these counts.

    - `bets`: its bets; `goal`: the logarithm of the capital that is an alarm.
    - `limit`: the share that is tested, if the test is about one; whether more `rises` the capital.
    """

    row: int
    counts: Counts
    bets: FloatArray
    goal: float
    limit: float | None = None
    rises: bool = False


def started(starts: Starts, bets: FloatArray, alpha: float) -> list[Started]:
    """Return a test with all its starts."""
    return [
        Started(row, counts, bets, -float(np.log(alpha * start_share(index))))
        for index, (row, counts) in enumerate(starts)
    ]


def share_test(starts: Starts, limit: float, alpha: float, *, rises: bool) -> list[Started]:
    """Return the test that the first of two outcomes is no more, or no less, frequent than before.

    The limit in this direction follows from what was promised, and from the rows before each start:
    the sharper one is tested. ``alpha`` is for the test, and half of it for the limits from rows.
    """
    counts = np.array([one for _, one in starts])
    low, high = confidence_sequence(counts[:, 0], counts.sum(axis=1), alpha / 2)
    limits = np.minimum(high, limit) if rises else np.maximum(low, limit)
    tests = []
    for index, ((row, own), share) in enumerate(zip(starts, limits.tolist(), strict=True)):
        if LEAST_SHARE < share < 1.0 - LEAST_SHARE:
            gains = np.array([1.0 - share, -share])
            goal = -float(np.log(alpha * start_share(index)))
            bets = log_bets(gains if rises else -gains)
            tests.append(Started(row, own, bets, goal, share, rises))
    return tests


@dataclass(frozen=True, eq=False)
class Promise:
    """What a tree has promised about its leaves, with limits; one line per leaf.

    - `classes`: shares of the classes among unseen rows; `most` is their upper limit.
    - `accuracy`, `least`: of the decision, and its lower limit.
    - `share`, `fewest_share`, `largest_share`: of the rows, with limits.
    - `whole`, `whole_least`: accuracy of the tree, and its lower limit.
    """

    classes: FloatArray
    most: FloatArray
    accuracy: FloatArray
    least: FloatArray
    share: FloatArray
    fewest_share: FloatArray
    largest_share: FloatArray
    whole: float
    whole_least: float


def promise_of(model: TreeModel, alpha: float) -> Promise:
    """Return what a tree promises; a quarter of the alpha of each question is for its limits.

    Limits of the classes are around their shares among unseen rows, or among the rows of the leaf
    where these promise less, as in a leaf whose decision is a rare class, at costs. The same holds
    for the accuracy of the whole tree.
    """
    leaves, levels = model.tree.leaf_ids, model.node_levels()
    n_leaves, n_classes = len(leaves), len(model.classes)
    part = alpha / 4 / n_leaves
    classes, trials = levels.unseen_vectors()[leaves], levels.trials[leaves]
    decided = np.arange(n_leaves), model.predicted_classes[leaves]
    own, counts = classes[decided], model.leaf_counts
    seen = np.divide(
        counts.counts,
        counts.n[:, np.newaxis],
        out=classes.copy(),
        where=counts.n[:, np.newaxis] > 0,
    )
    n = float(model.node_rows[0])
    share = counts.n / counts.n.sum()
    whole, n_whole = float(share @ own), model.rows_known_by() or n
    least_whole = min(whole, float(share @ seen[decided]))
    rare = rare_shares(model)

    def limits(shares: Any, rows: Any, tail: float) -> tuple[FloatArray, FloatArray]:
        return clopper_pearson_limits(np.asarray(shares * rows), np.asarray(rows), np.asarray(tail))

    of_rows = limits(share, n, part / 8)
    rivals = max(n_classes - 1, 1)
    return Promise(
        classes=classes,
        most=limits(np.maximum(classes, seen), trials[:, np.newaxis], part / 8 / rivals)[1],
        accuracy=own,
        least=limits(np.minimum(own, seen[decided]), trials, part / 4)[0],
        share=share,
        fewest_share=np.maximum(of_rows[0] - rare, 0.0),
        largest_share=np.minimum(of_rows[1] + rare, 1.0),
        whole=whole,
        whole_least=float(limits(least_whole, n_whole, alpha / 16)[0]),
    )


def rare_shares(model: TreeModel) -> FloatArray:
    """Return how far the share of each leaf may be off because categories on its path are rare.

    Rows of categories that the fit has never met all count in one branch, the heaviest, and the fit
    had no such row. The share of rows to come with a new category is about that of the categories
    met once [2]_. So it is at most the number of known categories over that of rows, for each
    column that is tested.
    Rows that did not grow the tree meet new categories as rows to come do.
    """
    tree, columns = model.tree, model.schema.columns
    if model.evidence.source == "honest":
        return np.zeros(tree.n_leaves)
    tested: list[frozenset[int]] = [frozenset()] * tree.n_nodes
    for node in range(tree.n_nodes):  # parents come before their children
        index = int(tree.feature[node])
        is_coded = index >= 0 and columns[index].is_coded
        for child in tree.branches(node).tolist():
            tested[child] = tested[node] | {index} if is_coded else tested[node]
    n_categories = [
        sum(len(columns[index].categories) for index in tested[leaf])
        for leaf in tree.leaf_ids.tolist()
    ]
    return np.array(n_categories) / float(model.node_rows[0])


@dataclass(frozen=True, eq=False, repr=False)
class WatchedLeaves(ColumnTable):
    """One row per leaf, with what the rows so far say; NaN where they say nothing.

    - `verdict`: of the decision: "right" or "wrong" if this is proven; "changed" if it is wrong and
      the classes are not as was promised; else "unknown". After an alarm about the accuracy, the
      rows since the change decide whether it is "right".
    - `rows_needed`: rows with a label, of which so many would prove that the decision is right if
      the leaf is as was promised; NaN if it is already decided, or no number would.
    - `accuracy`, `low`, `high`: of the rows with a label, with limits that hold at all times and
      for all leaves at once; `promised`, `promised_low`: what the tree has promised.
    - `decision_since`, `accuracy_since`, `share_since`: the row after which a change began; NaN if
      none is proven. These are the alarms.
    """

    leaf: NDArray[np.intp]
    rule: NDArray[np.object_]
    prediction: NDArray[Any]
    verdict: NDArray[np.object_]
    n: Counts
    n_labelled: Counts
    rows_needed: FloatArray
    accuracy: FloatArray
    low: FloatArray
    high: FloatArray
    promised: FloatArray
    promised_low: FloatArray
    share: FloatArray
    promised_share: FloatArray
    decision_since: FloatArray
    accuracy_since: FloatArray
    share_since: FloatArray
    alarm: NDArray[np.bool_]
    sentence: NDArray[np.object_]


@dataclass
class WatchCounts:
    """All that a watch has counted; `sureleaf.monitoring.watch_state` writes it into a file.

    - `rows`: a stream of leaves, the last outcome for rows that end above the leaves.
    - `leaves`: for each leaf, a stream of classes.
    - `whole`: a stream of right and wrong decisions.
    - `alarms`: by question, and leaf (-1 for the whole tree).
    - `pending`: leaf and number of rows whose label is still to come, by the digest of their key.
    - `settled`: digests of the keys of all other rows.
    - `sources`: digests of what was added.
    - `new_categories`, `new_missing`: rows by column with what the fit has never seen there.
    - `history`: after each addition the rows, and per leaf the rows with a label and those decided
      correctly.
    """

    rows: Stream
    leaves: list[Stream]
    whole: Stream
    alarms: dict[tuple[str, int], Alarm] = field(default_factory=dict)
    pending: dict[str, tuple[int, int]] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    sources: list[str] = field(default_factory=list)
    new_categories: dict[str, int] = field(default_factory=dict)
    new_missing: dict[str, int] = field(default_factory=dict)
    history: list[tuple[int, Counts, Counts]] = field(default_factory=list)

    @classmethod
    def empty(cls, n_leaves: int, n_classes: int) -> "WatchCounts":
        """Return counts of no rows."""
        leaves = [Stream.empty(n_classes) for _ in range(n_leaves)]
        return cls(Stream.empty(n_leaves + 1), leaves, Stream.empty(2))

    @property
    def n_rows(self) -> int:
        """Rows so far."""
        return int(self.rows.counts.sum())

    @property
    def n_labelled(self) -> int:
        """Rows with a label so far, also those that end above the leaves."""
        return int(self.whole.counts.sum())


class Watch:
    """Whether the leaves of a tree are still right, while rows arrive.

    One may look after every row, for ever: the probability of any false alarm, over all leaves and
    all times, is at most alpha. A watch holds counts, never rows.

    Parameters
    ----------
    tree : TreeClassifier
        A fitted tree whose leaves count whole rows: without class weights or importance weights,
        and without missing values that go into several leaves (``missing="fraction"``).
    alpha : float
        The probability of any false alarm.

    Examples
    --------
    >>> import numpy as np
    >>> from sureleaf import TreeClassifier, Watch
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((1000, 1))
    >>> y = np.where(rng.random(1000) < 0.8, X[:, 0] > 0.5, X[:, 0] < 0.5)
    >>> watch = Watch(TreeClassifier().fit(X[:500], y[:500]))
    >>> watch.add(X[500:], y[500:]).alarm
    False
    >>> print(watch)
    No alarm after 500 rows, 500 of them with a label.
    """

    def __init__(self, tree: TreeClassifier, alpha: float = 0.05) -> None:
        check_tree("tree", tree)
        alpha = check_alpha(alpha)
        if tree.class_weight is not None:
            raise InvalidArgumentError(
                "tree must be fitted without class_weight, because its leaves then count weights "
                f"and not rows; got class_weight={tree.class_weight!r}. Fit it with cost=, which "
                "weighs no rows."
            )
        self.tree, self.alpha = tree, float(alpha)
        self.model = tree.complete_model()
        if self.model.weights == "importance":
            raise InvalidArgumentError(
                "tree must be fitted on rows that count alike, or whose weights are numbers of "
                "rows; got one with importance weights, whose levels and shares are those of "
                "weighted rows. Fit it without them."
            )
        n = self.model.leaf_counts.n
        if tree.missing == "fraction" and not np.allclose(n, np.round(n), rtol=0, atol=1e-6):
            raise InvalidArgumentError(
                "tree must have counted every row in one leaf, as a watch does; got "
                "missing='fraction', which divides rows with a missing value. Fit it with "
                "missing='branch', which learns where they go."
            )
        n_leaves = self.model.tree.n_leaves
        self.counts = WatchCounts.empty(n_leaves, len(self.model.classes))
        self.loaded_from: str | None = None

    # ---- what is promised, and the tests of it ---------------------------------------------------

    @cached_property
    def promise(self) -> Promise:
        """What the tree has promised."""
        return promise_of(self.model, self.alpha)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the tree: its tests, classes, costs, decisions and class counts."""
        model, tree = self.model, self.model.tree
        cost = None if model.cost is None else model.cost.tolist()
        digest = hashlib.sha256(repr((model.classes.tolist(), cost, model.schema)).encode())
        for part in (
            *(tree.feature, tree.threshold, tree.children, tree.category_branch),
            *(tree.missing_branch, tree.class_counts, model.predicted_classes.astype(np.int64)),
        ):
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    @cached_property
    def decisions(self) -> NDArray[np.intp]:
        """The class, or decision, of each leaf."""
        return np.asarray(self.model.predicted_classes[self.model.tree.leaf_ids])

    @cached_property
    def regret(self) -> FloatArray:
        """What each decision (columns) costs more than the right one, by class (lines)."""
        rule = self.model.rule
        return np.asarray(1.0 - np.eye(len(self.model.classes)) if rule is None else rule.regret)

    def _extra_costs(self, line: int) -> Iterator[FloatArray]:
        """Return what the decision of a leaf costs more than each other one, by class."""
        own = int(self.decisions[line])
        for other in range(len(self.model.classes)):
            extra = self.regret[:, own] - self.regret[:, other]
            if other != own and extra.min() < 0 < extra.max():
                yield extra

    # ---- adding rows -----------------------------------------------------------------------------

    def add(self, X: Any, y: Any = None, *, keys: Any = None, source: str | None = None) -> Self:
        """Count rows, in the order in which they came, and look after every one of them.

        Parameters
        ----------
        X : table
            Rows with the columns of the tree, which it has not seen.
        y : array-like, optional
            Their labels; None or NaN for a label that is not known.
        keys : array-like, optional
            A name for each row. A label that comes later, with the same key, is counted in the leaf
            that the row was in; a key whose label is known is not counted again. Digests of keys
            are kept.
        source : str, optional
            What the rows are, such as the digest of a file: the same cannot be added twice. By
            default their cells, if there are 16 different rows or more.
        """
        table = self.model.encode(X, estimator="Watch", warn=False)
        codes = self._codes(y, table.n_rows)
        digests = self._digests(keys, table.n_rows)
        sources = self._sources(table, codes, digests, source)
        ids, ends = self.model.tree.leaf_ids, self.model.apply(table)
        line = np.searchsorted(ids, ends)
        is_leaf = ids[np.minimum(line, len(ids) - 1)] == ends
        line = np.where(is_leaf, line, len(ids))
        is_new, is_counted = np.ones((2, table.n_rows), dtype=bool)
        if digests is not None:
            is_new = np.array([not self._is_known(one) for one in digests], dtype=bool)
        numbers = self.counts.n_rows + np.cumsum(is_new)
        own = numbers.copy()
        if digests is not None:
            is_counted = self._settle(digests, line, codes, own)
        self._note_columns(table, is_new)
        new_line, new_numbers = line[is_new], numbers[is_new]
        for first in range(0, len(new_line), ROWS_AT_ONCE):
            part = slice(first, first + ROWS_AT_ONCE)
            path = self.counts.rows.extend(new_line[part], new_numbers[part])
            self._test_shares(path, new_numbers[part])
        is_counted &= codes >= 0
        self._count_labels(line[is_counted], codes[is_counted], own[is_counted])
        self.counts.sources += sources
        self._remember()
        return self

    def label(self, y: Any, *, keys: Any) -> Self:
        """Count labels that come later, without the cells of their rows.

        Parameters
        ----------
        y : array-like
            Labels; None or NaN for one that is still not known.
        keys : array-like
            The keys with which the rows were added.
        """
        keys = _plain_values(keys)
        codes = self._codes(y, len(keys))
        digests = self._digests(keys, len(codes)) or []
        unknown = [key for key, one in zip(keys, digests, strict=True) if not self._is_known(one)]
        if unknown:
            raise InvalidArgumentError(
                f"keys must be those of rows that were added; got {unknown[0]!r} too. Add this row "
                "with its cells; nothing was counted."
            )
        line = np.zeros(len(codes), dtype=np.intp)
        numbers = np.full(len(codes), self.counts.n_rows)
        is_counted = self._settle(digests, line, codes, numbers) & (codes >= 0)
        self._count_labels(line[is_counted], codes[is_counted], numbers[is_counted])
        self._remember()
        return self

    def _is_known(self, digest: str) -> bool:
        return digest in self.counts.pending or digest in self.counts.settled

    def _settle(
        self, digests: list[str], line: NDArray[np.intp], codes: NDArray[np.intp], numbers: Counts
    ) -> NDArray[np.bool_]:
        """Keep which labels are known now; return which rows had no label before.

        A row that was counted without its label gets the leaf and the number that it had.
        """
        pending, settled = self.counts.pending, self.counts.settled
        is_open = np.array([one not in settled for one in digests], dtype=bool)
        for row in np.flatnonzero(is_open).tolist():
            digest = digests[row]
            line[row], numbers[row] = pending.pop(digest, (line[row], numbers[row]))
            if codes[row] < 0:
                pending[digest] = int(line[row]), int(numbers[row])
            else:
                settled.add(digest)
        return is_open

    def _codes(self, y: Any, n_rows: int) -> NDArray[np.intp]:
        """Return the classes of labels as codes, -1 for those that are not known."""
        if y is None:
            return np.full(n_rows, -1, dtype=np.intp)
        labels = _plain_values(y)
        code_of = {label: code for code, label in enumerate(self.model.classes.tolist())}
        codes = np.full(len(labels), -1, dtype=np.intp)
        for row, label in enumerate(labels):
            if label is None:
                continue
            if label not in code_of:
                raise InvalidArgumentError(
                    f"y must have the classes {self.model.classes.tolist()}; got {label!r} too."
                )
            codes[row] = code_of[label]
        check_one_label_per_row(n_rows, codes)
        return codes

    def _digests(self, keys: Any, n_rows: int) -> list[str] | None:
        if keys is None:
            return None
        values = _plain_values(keys)
        known = {one for one in values if one is not None}
        if len(values) != n_rows or len(known) != n_rows:
            raise InvalidArgumentError(
                f"keys must be different, one for each of {n_rows} rows; got {len(values)}, "
                f"{len(known)} of them different and not missing. Give each row its own."
            )
        salt = self.fingerprint
        return [hashlib.sha256(f"{salt}{one}".encode()).hexdigest()[:16] for one in values]

    def _sources(
        self,
        table: EncodedTable,
        codes: NDArray[np.intp],
        digests: list[str] | None,
        source: str | None,
    ) -> list[str]:
        """Return the digests of what is added; raise an error if it was added or seen before."""
        if not table.n_rows:
            raise InvalidArgumentError("X must have rows; got none.")
        labels = codes.astype(np.int32)
        rows = TrainingRows(table, labels, len(self.model.classes))
        if (known := codes >= 0).any():
            part = np.flatnonzero(known)
            self.model.refuse_seen(TrainingRows(table[part], labels[part], rows.n_classes))
        cells = row_prints(replace(rows, labels=labels + 1, n_classes=rows.n_classes + 1), 1)
        found = [] if source is None else [source]
        if len(np.unique(cells)) >= RECOGNISED_ROWS:
            text = "".join(digests or [])
            found.append(hashlib.sha256(cells.tobytes() + text.encode()).hexdigest())
        if any(one in self.counts.sources for one in found):
            raise InvalidArgumentError(
                "X and y must be rows that the watch has not counted; got exactly those of an "
                "earlier addition. Give other rows; nothing was added."
            )
        return found

    def _note_columns(self, table: EncodedTable, is_new: NDArray[np.bool_]) -> None:
        """Count what the fit has never seen in a column."""
        for index, column in enumerate(self.model.schema):
            unseen = 0
            if column.is_coded:
                unseen = int((table.columns[index][is_new] == UNSEEN).sum())
            missing = int(table.is_missing(index)[is_new].sum())
            new_missing = 0 if column.has_missing else missing - unseen
            for noted, n in (
                (self.counts.new_categories, unseen),
                (self.counts.new_missing, new_missing),
            ):
                if n:
                    noted[str(column.name)] = noted.get(str(column.name), 0) + n

    def _test_shares(self, path: Counts, numbers: Counts) -> None:
        starts, alpha = self.counts.rows.starts, self.alpha / 16 / len(self.decisions)
        for line in range(len(self.decisions)):
            own, of_line = _outcome(line, path, starts)
            more, fewer = self.promise.largest_share[line], self.promise.fewest_share[line]
            for limit, rises in ((float(more), True), (float(fewer), False)):
                tests = share_test(of_line, limit, alpha, rises=rises)
                self._raise("share", line, own, numbers, tests)

    def _raise(
        self, question: str, leaf: int, path: Counts, numbers: Counts, tests: Sequence[Started]
    ) -> None:
        """Keep the first alarm of a question about a leaf."""
        alarm, known = first_alarm(path, numbers, tests), self.counts.alarms.get((question, leaf))
        if alarm is not None and (known is None or alarm.row < known.row):
            self.counts.alarms[question, leaf] = alarm

    def _count_labels(
        self, line: NDArray[np.intp], codes: NDArray[np.intp], numbers: Counts
    ) -> None:
        n_leaves = len(self.decisions)
        for leaf in np.unique(line[line < n_leaves]).tolist():
            mine = line == leaf
            path = self.counts.leaves[leaf].extend(codes[mine], numbers[mine])
            self._test_leaf(leaf, path, numbers[mine])
        inside = line < n_leaves
        wrong = (self.decisions[line[inside]] != codes[inside]).astype(np.intp)
        self._test_whole(self.counts.whole.extend(wrong, numbers[inside]), numbers[inside])

    def _test_leaf(self, leaf: int, path: Counts, numbers: Counts) -> None:
        starts, promise = self.counts.leaves[leaf].starts, self.promise
        n_classes, own = len(self.model.classes), int(self.decisions[leaf])
        rivals, part = max(n_classes - 1, 1), self.alpha / 4 / len(self.decisions)
        alpha = part if n_classes == 2 else part / 2 / rivals
        for extra in self._extra_costs(leaf):
            self._raise("wrong", leaf, path, numbers, started(starts, log_bets(extra), alpha))
        right, of_right = _outcome(own, path, starts)
        tests = share_test(of_right, float(promise.least[leaf]), part / 2, rises=False)
        self._raise("accuracy", leaf, right, numbers, tests)
        for other in range(n_classes):
            if other != own and n_classes > 2:
                mine, of_other = _outcome(other, path, starts)
                most = float(promise.most[leaf, other])
                tests = share_test(of_other, most, part / 4 / rivals, rises=True)
                self._raise("risen", leaf, mine, numbers, tests)

    def _test_whole(self, path: Counts, numbers: Counts) -> None:
        least, starts = self.promise.whole_least, self.counts.whole.starts
        tests = share_test(starts, least, self.alpha / 8, rises=False)
        self._raise("accuracy", -1, path, numbers, tests)

    def _remember(self) -> None:
        counts = self.counts
        every = np.array([stream.counts for stream in counts.leaves])
        right = every[np.arange(len(every)), self.decisions]
        counts.history.append((counts.n_rows, every.sum(axis=1), right))
        if len(counts.history) > DRAWN:
            counts.history = counts.history[1::2]

    # ---- two sites -------------------------------------------------------------------------------

    def __add__(self, other: object) -> "Watch":
        """Add the counts of two sites, which watch the same tree on different rows.

        The sum is one stream in which the rows of both have no common order. So its tests start at
        the first row only; they start anew with the rows that come later. Two watches cannot be
        added if one of them has an alarm: its rows are not from the population of the other.
        """
        if not isinstance(other, Watch):
            return NotImplemented
        first, second = self.counts, other.counts
        problem = ""
        if (self.fingerprint, self.alpha) != (other.fingerprint, other.alpha):
            problem = "are of different trees, or have a different alpha"
        elif set(first.sources) & set(second.sources):
            problem = "have counted the same rows"
        elif (first.settled | set(first.pending)) & (second.settled | set(second.pending)):
            problem = "have rows with the same key"
        elif first.alarms or second.alarms:
            problem = "have an alarm, so that the rows of one are not like those of the other"
        if problem:
            raise InvalidArgumentError(
                f"two watches must be of the same tree, on different rows, without an alarm, to be "
                f"added; these {problem}. Look at each of them by itself."
            )
        total = Watch(self.tree, self.alpha)

        def joined(one: Stream, two: Stream) -> Stream:
            return Stream(one.counts + two.counts, one.starts[:1])

        total.counts = WatchCounts(
            rows=joined(first.rows, second.rows),
            leaves=[joined(*pair) for pair in zip(first.leaves, second.leaves, strict=True)],
            whole=joined(first.whole, second.whole),
            pending=first.pending | second.pending,
            settled=first.settled | second.settled,
            sources=[*first.sources, *second.sources],
            new_categories=dict(Counter(first.new_categories) + Counter(second.new_categories)),
            new_missing=dict(Counter(first.new_missing) + Counter(second.new_missing)),
        )
        now = np.array([total.counts.n_rows])
        total._test_shares(total.counts.rows.counts[np.newaxis], now)
        for leaf, stream in enumerate(total.counts.leaves):
            total._test_leaf(leaf, stream.counts[np.newaxis], now)
        total._test_whole(total.counts.whole.counts[np.newaxis], now)
        total._remember()
        return total

    # ---- answers ---------------------------------------------------------------------------------

    @property
    def alarm(self) -> bool:
        """Whether a change is proven, of a leaf or of the whole tree."""
        return any(
            question in ("accuracy", "share") or np.isfinite(self._since("decision", leaf))
            for question, leaf in self.counts.alarms
        )

    def leaves(self) -> WatchedLeaves:
        """Return what the rows so far say about each leaf."""
        model, counts, promise = self.model, self.counts, self.promise
        ids, n_leaves = model.tree.leaf_ids, len(self.decisions)
        rules = leaf_rules(model.tree, model.schema)
        every = np.array([stream.counts for stream in counts.leaves])
        n = every.sum(axis=1)
        right = every[np.arange(n_leaves), self.decisions]
        low, high = confidence_sequence(right, n, self.alpha / 4 / n_leaves)
        since = {
            f"{name}_since": np.array([self._since(name, leaf) for leaf in range(n_leaves)])
            for name in ("decision", "accuracy", "share")
        }
        verdicts = [self._verdict(leaf) for leaf in range(n_leaves)]
        table = WatchedLeaves(
            leaf=ids,
            rule=np.array([rules[leaf] for leaf in ids.tolist()], dtype=object),
            prediction=model.classes[self.decisions],
            verdict=np.array(verdicts, dtype=object),
            n=counts.rows.counts[:n_leaves].copy(),
            n_labelled=n,
            rows_needed=np.array(
                [
                    self._rows_needed(leaf) if verdict == "unknown" else np.nan
                    for leaf, verdict in enumerate(verdicts)
                ]
            ),
            accuracy=np.divide(right, n, out=np.full(n_leaves, np.nan), where=n > 0),
            low=low,
            high=high,
            promised=promise.accuracy,
            promised_low=promise.least,
            share=counts.rows.counts[:n_leaves] / max(counts.n_rows, 1),
            promised_share=promise.share,
            **since,
            alarm=np.isfinite(np.column_stack(list(since.values()))).any(axis=1),
            sentence=np.full(n_leaves, "", dtype=object),
        )
        texts = [" ".join(self._sentences(table, leaf)) for leaf in range(n_leaves)]
        return replace(table, sentence=np.array(texts, dtype=object))

    def _since(self, question: str, leaf: int) -> float:
        alarms = self.counts.alarms
        if question == "decision":
            is_other = ("accuracy", leaf) in alarms or ("risen", leaf) in alarms
            question = "wrong" if is_other else ""
        alarm = alarms.get((question, leaf))
        return np.nan if alarm is None else float(alarm.since)

    def _verdict(self, leaf: int) -> LeafVerdict:
        if np.isfinite(self._since("decision", leaf)):
            return "changed"
        if ("wrong", leaf) in self.counts.alarms:
            return "wrong"
        stream, alarm = self.counts.leaves[leaf], self.counts.alarms.get(("accuracy", leaf))
        rows = [row for row, _ in stream.starts]
        start = 0 if alarm is None else rows.index(alarm.since)
        now = (stream.counts - stream.starts[start][1]).astype(np.float64)
        return "right" if self._is_right(leaf, now, start) else "unknown"

    def _is_right(self, leaf: int, counts: FloatArray, start: int = 0) -> bool:
        """Whether so many rows by class since a start prove that no other decision is better."""
        goal = -np.log(self.alpha / 4 / len(self.decisions) * start_share(start))
        return all(
            log_capital(counts, log_bets(-extra)) >= goal for extra in self._extra_costs(leaf)
        )

    def _rows_needed(self, leaf: int) -> float:
        shares = self.promise.classes[leaf]
        is_changed = ("accuracy", leaf) in self.counts.alarms
        if is_changed or not self._is_right(leaf, _MOST_ROWS * shares):
            return np.nan
        return float(smallest_count(lambda n: self._is_right(leaf, n * shares)))

    def _sentences(self, table: WatchedLeaves, leaf: int) -> Iterator[str]:
        label, promise = table.prediction[leaf], self.promise
        stream, right = self.counts.leaves[leaf], int(self.decisions[leaf])
        n, n_labelled = int(table.n[leaf]), int(table.n_labelled[leaf])
        verdict, needed = table.verdict[leaf], table.rows_needed[leaf]
        best = "the best decision" if self.model.rule is not None else "the most frequent class"
        if verdict == "changed":
            since = int(table.decision_since[leaf])
            part = stream.since(since)
            yield (
                f"No longer right since about row {since + 1:,}: {label!s} is the class of "
                f"{percent(part[right] / part.sum())} of {count_of(int(part.sum()), 'row')} since "
                f"then, and not {best}."
            )
        elif verdict == "wrong":
            yield (
                f"Not right: {label!s} is not {best}. That need not be a change, because the rows "
                "of the fit do not exclude it."
            )
        elif verdict == "right":
            yield f"Still right: {label!s} is {best}."
        elif np.isfinite(table.accuracy_since[leaf]):
            yield f"Not enough rows since the change to tell whether {label!s} is still {best}."
        elif np.isfinite(needed):
            yield (
                f"Not enough rows to tell: {n_labelled:,} with a label; about {needed:,.0f} are "
                "needed if the leaf is as promised."
            )
        else:
            yield f"Not enough rows to tell: {n_labelled:,} with a label."
        if n_labelled:
            limits = interval(table.low[leaf], table.high[leaf])
            yield (
                f"Right for {percent(table.accuracy[leaf])} of {count_of(n_labelled, 'row')} "
                f"({limits}); promised {percent(promise.accuracy[leaf])} "
                f"(at least {percent(promise.least[leaf])})."
            )
        if np.isfinite(table.accuracy_since[leaf]):
            since = int(table.accuracy_since[leaf])
            part = stream.since(since)
            yield (
                f"Less accurate since about row {since + 1:,}: {percent(part[right] / part.sum())}."
            )
        if np.isfinite(table.share_since[leaf]):
            since = int(table.share_since[leaf])
            part = self.counts.rows.since(since)
            share = part[leaf] / part.sum()
            limits = interval(promise.fewest_share[leaf], promise.largest_share[leaf])
            more = "More" if share > promise.share[leaf] else "Fewer"
            yield (
                f"{more} rows reach it since about row {since + 1:,}: {percent(share)}, promised "
                f"{percent(promise.share[leaf])} ({limits})."
            )
        if n_labelled < n:
            yield f"{upper_first(count_of(n - n_labelled, 'row'))} without a label."

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        counts = self.counts
        table = self.leaves()
        rows = f"{count_of(counts.n_rows, 'row')}, {counts.n_labelled:,} of them with a label"
        if not self.alarm:
            return f"No alarm after {rows}."
        parts = [
            f"{count_of(int(is_so.sum()), 'leaf', 'leaves')} {what}"
            for is_so, what in (
                (table.verdict == "changed", "no longer right"),
                (np.isfinite(table.accuracy_since), "less accurate"),
                (np.isfinite(table.share_since), "reached by more or fewer rows"),
            )
            if is_so.any()
        ]
        if ("accuracy", -1) in counts.alarms:
            parts.append("the whole tree less accurate")
        return f"Alarm after {rows}: {listed(parts)}."

    def sentences(self) -> list[str]:
        """Return the answer in sentences: in one, about the whole tree, and about the rows."""
        counts, promise, lines = self.counts, self.promise, [self.headline]
        if self.model.evidence.source == "training":
            lines.append(
                "The levels of this tree are those of its training rows, which are too high: "
                "alarms about the accuracy may be false."
            )
        n = counts.n_labelled
        if n:
            low, high = self.whole_sequence()
            lines.append(
                f"The whole tree is right for {percent(counts.whole.counts[0] / n)} of "
                f"{count_of(n, 'row')} with a label ({interval(low, high)} at any time); promised "
                f"{percent(promise.whole)} (at least {percent(promise.whole_least)})."
            )
        alarm = counts.alarms.get(("accuracy", -1))
        if alarm is not None:
            part = counts.whole.since(alarm.since)
            lines.append(
                f"Less accurate since about row {alarm.since + 1:,}: "
                f"{percent(part[0] / part.sum())}."
            )
        if counts.pending:
            lines.append(f"{upper_first(count_of(len(counts.pending), 'row'))} wait for a label.")
        for noted, what in (
            (counts.new_categories, "categories that the fit has never seen"),
            (counts.new_missing, "missing values, where the fit has seen none"),
        ):
            if noted:
                columns = [f"{name} ({rows:,})" for name, rows in sorted(noted.items())]
                lines.append(f"Rows with {what}: {listed(columns)}.")
        outside = int(counts.rows.counts[-1])
        if outside:
            lines.append(f"{upper_first(count_of(outside, 'row'))} ended above the leaves.")
        return lines

    def whole_sequence(self) -> tuple[float, float]:
        """Return the limits of the accuracy of the whole tree, which hold at all times."""
        low, high = confidence_sequence(
            self.counts.whole.counts[0], self.counts.n_labelled, self.alpha / 4
        )
        return float(low), float(high)

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values for JSON, and for the page."""
        counts, n_leaves = self.counts, len(self.decisions)
        low, high = self.whole_sequence()
        alarm = counts.alarms.get(("accuracy", -1))
        points = np.zeros((len(counts.history), 1 + n_leaves, 3))
        for point, (row, labelled, right) in zip(points, counts.history, strict=True):
            point[:, 0] = row
            point[0, 1:] = labelled.sum(), right.sum()
            point[1:, 1:] = np.column_stack([labelled, right])
        drawn = [
            self._history(points[:, 1 + k], self.alpha / 4 / n_leaves) for k in range(n_leaves)
        ]
        n = counts.n_labelled
        return {
            "schema": "sureleaf-watch-answer/1",
            "alarm": self.alarm,
            "alpha": self.alpha,
            "rows": counts.n_rows,
            "labelled": n,
            "pending": len(counts.pending),
            "sentences": self.sentences(),
            "classes": json_value(self.model.classes),
            "new_categories": counts.new_categories,
            "new_missing": counts.new_missing,
            "tree": {
                "accuracy": float(counts.whole.counts[0] / n) if n else None,
                "low": low,
                "high": high,
                "promised": self.promise.whole,
                "promised_low": self.promise.whole_least,
                "accuracy_since": None if alarm is None else alarm.since,
                "history": self._history(points[:, 0], self.alpha / 4),
            },
            "leaves": [
                {**record, "history": history}
                for record, history in zip(self.leaves().records(), drawn, strict=True)
            ],
        }

    def _history(self, points: NDArray[Any], alpha: float) -> list[list[float]]:
        """Return rows, accuracy and limits at each time that is kept and had labels."""
        points = points[points[:, 1] > 0]
        low, high = confidence_sequence(points[:, 2], points[:, 1], alpha)
        columns = [points[:, 0], points[:, 2] / np.maximum(points[:, 1], 1), low, high]
        return list(np.column_stack(columns).tolist())

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Save the watch, with its tree, as JSON; the file is complete or absent.

        A file that has changed since this watch was loaded is not overwritten.
        """
        from sureleaf.monitoring.watch_state import save_watch

        save_watch(self, path)

    @classmethod
    def load(cls, path: Any, tree: TreeClassifier | None = None) -> "Watch":
        """Load what `save` wrote; if a tree is given, it must be the one that is watched."""
        from sureleaf.monitoring.watch_state import load_watch

        return load_watch(path, tree)

    def __str__(self) -> str:
        return self.headline

    def __repr__(self) -> str:
        return "\n".join([*self.sentences(), repr(self.leaves())])


def _plain_values(values: Any) -> list[Any]:
    """Return a column as a list, with None for missing values."""
    names = ("to_pylist", "tolist", "to_list")
    own = next((getattr(values, name) for name in names if hasattr(values, name)), None)
    cells = list(values) if own is None else own()
    equal = [one == one for one in cells]  # not of NaN; of pandas' NA, neither true nor false
    return [
        one if isinstance(same, bool | np.bool_) and same else None
        for one, same in zip(cells, equal, strict=True)
    ]


def _outcome(outcome: int, path: Counts, starts: Starts) -> tuple[Counts, Starts]:
    """Return a stream of many outcomes as one of two: this one, and all others."""

    def of_two(counts: Counts) -> Counts:
        own = counts[..., outcome]
        return np.stack([own, counts.sum(axis=-1) - own], axis=-1)

    return of_two(path), [(row, of_two(counts)) for row, counts in starts]
