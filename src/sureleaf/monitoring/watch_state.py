"""The file of a watch: JSON with counts, the tree, and a checksum; never rows.

A row number and counts are written for every start of a test, so that a watch goes on as if it had
never stopped. The checksum finds damage and careless changes. It is no signature: whoever wants to
forge a file can compute it.
"""

import base64
import binascii
import hashlib
import json
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from os import PathLike
from typing import Any, Final

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.estimators import TreeClassifier
from sureleaf.estimators.saving import estimator_from_state, estimator_state
from sureleaf.files import atomic_write
from sureleaf.files.atomic_write import locked
from sureleaf.files.state_file import Damaged, newer, refusing, state_bytes, state_of_bytes
from sureleaf.levels.sequential import start_times
from sureleaf.monitoring.watch import Alarm, Counts, Stream, Watch, WatchCounts

SCHEMA: Final = "sureleaf-watch"
VERSION: Final = 1

_LARGEST_TREE: Final = 1 << 28
_MOST_ROWS: Final = 2**53
_QUESTIONS: Final = ("wrong", "accuracy", "risen", "share")

Path = str | PathLike[str]


@contextmanager
def watching(path: Path, tree: TreeClassifier, alpha: float | None = None) -> Iterator[Watch]:
    """Load the watch of a file, or begin one; save it afterwards. Others wait until then."""
    with locked(path):
        if os.path.lexists(path):
            watch = load_watch(path, tree)
            if alpha is not None and alpha != watch.alpha:
                raise InvalidArgumentError(
                    f"alpha must stay what it was when the watch began, {watch.alpha:g}; got "
                    f"{alpha:g}. Leave it out, or begin another state."
                )
        else:
            watch = Watch(tree) if alpha is None else Watch(tree, alpha)
        yield watch
        _write(watch, path)


def save_watch(watch: Watch, path: Path) -> None:
    """Write a watch, unless the file has changed since the watch was loaded."""
    with locked(path):
        if os.path.lexists(path) and _read(path)["checksum"] != watch.loaded_from:
            raise InvalidArgumentError(
                f"{path} has changed since this watch was loaded from it, or is another watch; "
                "its rows would be lost. Load it again and add to that, or give another name."
            )
        _write(watch, path)


def _write(watch: Watch, path: Path) -> None:
    content = _plain(watch)
    text = json.dumps(content, allow_nan=False, separators=(",", ":"))
    checksum = hashlib.sha256(text.encode()).hexdigest()
    with atomic_write(path) as file:
        file.write(f'{{"checksum":"{checksum}",\n"watch":{text}}}\n'.encode())
    watch.loaded_from = checksum


def load_watch(path: Path, tree: TreeClassifier | None = None) -> Watch:
    """Read what `save_watch` wrote, and check it."""
    document = _read(path)
    with _decoding(path):
        content = document["watch"]
        watched = TreeClassifier.around(*_tree_of(content["tree"]))
        watch = Watch(watched, content["alpha"])
        watch.counts = _counts_of(content, watch)
    watch.loaded_from = document["checksum"]
    if tree is not None and Watch(tree, watch.alpha).fingerprint != watch.fingerprint:
        raise InvalidArgumentError(
            f"{path} must be the state of this tree; got that of another one, or of the same tree "
            "before an update. Give the tree that it began with, or begin another state."
        )
    return watch


def _read(path: Path) -> dict[str, Any]:
    """Return a document whose checksum is right."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise InvalidArgumentError(
            f"{path} cannot be read ({error.strerror}). Give the state that sureleaf watch wrote."
        ) from error
    with _decoding(path):
        document = json.loads(content)
        if not isinstance(document, dict) or not isinstance(document.get("watch"), dict):
            raise Damaged("it is not the state of a watch")
        watch = document["watch"]
        if watch.get("schema") != SCHEMA:
            raise Damaged("it is not the state of a watch")
        if type(version := watch.get("version")) is not int:
            raise Damaged("its version is not a number")
        if version > VERSION:
            raise newer(path, f"state {version}, and this one reads up to {VERSION}")
        text = json.dumps(watch, allow_nan=False, separators=(",", ":"))
        if hashlib.sha256(text.encode()).hexdigest() != document.get("checksum"):
            raise Damaged("its checksum is wrong, so that it was changed")
    return document


def _decoding(path: Path) -> AbstractContextManager[None]:
    cure = "Take the last copy that was complete, or begin another state."
    return refusing(f"{path} cannot be used", cure)


# ---- plain values --------------------------------------------------------------------------------


def _plain(watch: Watch) -> dict[str, Any]:
    counts = watch.counts
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "alpha": watch.alpha,
        "fingerprint": watch.fingerprint,
        "rows": _plain_stream(counts.rows),
        "leaves": [_plain_stream(one) for one in counts.leaves],
        "whole": _plain_stream(counts.whole),
        "alarms": [
            [question, leaf, one.row, one.since] for (question, leaf), one in counts.alarms.items()
        ],
        "pending": counts.pending,
        "settled": sorted(counts.settled),
        "sources": counts.sources,
        "new_categories": counts.new_categories,
        "new_missing": counts.new_missing,
        "history": [[row, n.tolist(), right.tolist()] for row, n, right in counts.history],
        "tree": base64.b64encode(
            zlib.compress(state_bytes(estimator_state(watch.tree)))  # its model file
        ).decode(),
    }


def _tree_of(written: str) -> tuple[Any, TreeClassifier]:
    try:
        packed = zlib.decompressobj()
        content = packed.decompress(base64.b64decode(written, validate=True), _LARGEST_TREE)
    except (binascii.Error, zlib.error) as error:
        raise Damaged("its tree cannot be unpacked") from error
    tree = estimator_from_state(state_of_bytes(content))
    if not isinstance(tree, TreeClassifier):
        raise Damaged("what it watches is not a single tree")
    return tree.model_, tree


def _plain_stream(stream: Stream) -> list[Any]:
    return [stream.counts.tolist(), [[row, counts.tolist()] for row, counts in stream.starts]]


def _counts_of(content: dict[str, Any], watch: Watch) -> WatchCounts:
    n_leaves, n_classes = watch.model.tree.n_leaves, len(watch.model.classes)
    if content["fingerprint"] != watch.fingerprint:
        raise Damaged("its tree is not the one that it has counted")
    if len(content["leaves"]) != n_leaves:
        raise Damaged("it has counts of other leaves")
    rows = _stream_of(content["rows"], n_leaves + 1)
    n_rows = int(rows.counts.sum())
    counts = WatchCounts(
        rows=rows,
        leaves=[_stream_of(one, n_classes) for one in content["leaves"]],
        whole=_stream_of(content["whole"], 2),
        settled={_text(one) for one in content["settled"]},
        sources=[_text(one) for one in content["sources"]],
        pending={
            _text(key): (_whole(leaf, n_leaves), _whole(row, n_rows))
            for key, (leaf, row) in content["pending"].items()
        },
        new_categories={_text(k): _whole(n) for k, n in content["new_categories"].items()},
        new_missing={_text(k): _whole(n) for k, n in content["new_missing"].items()},
    )
    _check_labels(counts, watch)
    for question, leaf, row, since in content["alarms"]:
        if question not in _QUESTIONS or max(_whole(since), _whole(row)) > n_rows:
            raise Damaged("an alarm is not about its rows")
        stream = _alarmed_stream(counts, question, leaf)
        if since not in [one for one, _ in stream.starts]:
            raise Damaged("an alarm begins where no test begins")
        counts.alarms[question, leaf] = Alarm(row, since)
    for row, n, decided in content["history"]:
        point = _whole(row, n_rows), _whole_counts(n, n_leaves), _whole_counts(decided, n_leaves)
        if np.any(point[2] > point[1]):
            raise Damaged("more rows are decided correctly than have a label")
        counts.history.append(point)
    return counts


def _check_labels(counts: WatchCounts, watch: Watch) -> None:
    """Check that the rows with a label are among the rows, and the whole tree is its leaves."""
    right = 0
    for line, stream in enumerate(counts.leaves):
        right += int(stream.counts[watch.decisions[line]])
        if stream.counts.sum() > counts.rows.counts[line]:
            raise Damaged("a leaf has more rows with a label than rows")
    labelled = sum(int(stream.counts.sum()) for stream in counts.leaves)
    if counts.whole.counts.tolist() != [right, labelled - right]:
        raise Damaged("its counts of the tree are not those of its leaves")


def _alarmed_stream(counts: WatchCounts, question: str, leaf: Any) -> Stream:
    if type(leaf) is int and leaf == -1 and question == "accuracy":
        return counts.whole
    _whole(leaf, len(counts.leaves) - 1)
    return counts.rows if question == "share" else counts.leaves[leaf]


def _stream_of(written: Any, n_outcomes: int) -> Stream:
    now, starts = written
    counts = _whole_counts(now, n_outcomes)
    stream = Stream(counts, [(_whole(row), _whole_counts(one, n_outcomes)) for row, one in starts])
    clocks = [int(one.sum()) for _, one in stream.starts]
    regular = start_times(0, int(counts.sum()))
    if clocks[:1] != [0] or clocks != sorted(set(clocks)) or not set(clocks) <= set(regular):
        raise Damaged("its tests begin at other rows than tests do")
    path = [*(one for _, one in stream.starts), counts]
    if any(np.any(after < before) for before, after in pairwise(path)):
        raise Damaged("its counts become smaller")
    return stream


def _whole_counts(values: Any, n: int) -> Counts:
    if len(values) != n:
        raise Damaged(f"it has {len(values)} counts where {n} were expected")
    return np.array([_whole(one) for one in values], dtype=np.int64)


def _whole(value: Any, most: float = math.inf) -> int:
    if type(value) is not int or not 0 <= value <= min(most, _MOST_ROWS):
        raise Damaged("a count is not a number of rows")
    return value


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Damaged("a digest is not text")
    return value
