"""Evaluations survive a file, and a file that is none is refused in words."""

import contextlib

import numpy as np
import pandas as pd
import pytest

from sureleaf import TreeClassifier
from sureleaf.designs import Bootstrap, KFold
from sureleaf.errors import InvalidArgumentError, InvalidTypeError, SureleafError
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.evaluator import evaluate
from sureleaf.files.state_file import EVALUATION, State, read_state, write_state
from tests.evaluation.estimators import FailsOn, Nearest, WithoutProbabilities

Y = np.repeat(["no", "yes"], [30, 20])
X = np.random.default_rng(0).normal(size=(50, 2)) + (Y == "yes")[:, None]


@pytest.mark.parametrize(
    ("estimator", "labels", "options"),
    [
        (Nearest(), Y, {"cost": [[0, 1], [2, 0]], "sample_weight": np.arange(1.0, 51.0)}),
        (WithoutProbabilities(), Y == "yes", {"groups": np.arange(50) // 2}),
        (FailsOn(X[0, 0]), np.where(Y == "yes", 7, 3), {"design": KFold(5, repeats=2)}),
        (Nearest(), np.where(Y == "yes", 0.5, 1.5), {"design": Bootstrap(5)}),
    ],
)
def test_what_is_loaded_gives_every_figure_again(tmp_path, estimator, labels, options) -> None:
    judged = evaluate(estimator, X, labels, random_state=1, **options)
    judged.save(tmp_path / "judged.eval")
    again = Evaluation.load(tmp_path / "judged.eval")
    assert str(again.summary()) == str(judged.summary())
    assert again.splits == judged.splits
    assert again.splits_id == judged.splits_id
    assert again.predictions.truth.dtype == judged.predictions.truth.dtype
    assert [p.name for p in tmp_path.iterdir()] == ["judged.eval"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "judged.eval"
    evaluate(Nearest(), X, Y, random_state=1).save(path)
    return path


def test_a_file_cut_short_is_damaged(saved) -> None:
    saved.write_bytes(saved.read_bytes()[:-200])
    with pytest.raises(InvalidArgumentError, match=r"judged.eval is damaged: its checksum"):
        Evaluation.load(saved)


@pytest.mark.parametrize("position", np.linspace(0.02, 0.98, 25))
def test_a_flipped_byte_never_ends_in_a_traceback_of_numpy(saved, position) -> None:
    raw = bytearray(saved.read_bytes())
    raw[int(len(raw) * position)] ^= 0xFF
    saved.write_bytes(bytes(raw))
    with contextlib.suppress(SureleafError):  # or it hit a byte that says nothing
        Evaluation.load(saved)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_other_files_are_refused(tmp_path, content) -> None:
    path = tmp_path / "other.eval"
    path.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=r"other.eval is not an evaluation"):
        Evaluation.load(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path) -> None:
    with pytest.raises(InvalidArgumentError, match="does not exist"):
        Evaluation.load(tmp_path / "nowhere.eval")


def test_other_versions_and_damaged_parts_are_refused(saved, tmp_path) -> None:
    state = read_state(saved, EVALUATION)

    def write(header=None, **changes):
        arrays = {k: v for k, v in {**state.arrays, **changes}.items() if v is not None}
        write_state(State({**state.header, **(header or {})}, arrays), saved, EVALUATION)
        return saved

    with pytest.raises(InvalidArgumentError, match="is not an evaluation"):
        Evaluation.load(write({"format": "other"}))
    with pytest.raises(InvalidArgumentError, match=r"version 99 .* newer"):
        Evaluation.load(write({"version": 99}))
    with pytest.raises(InvalidArgumentError, match="'truth' cannot be read"):
        Evaluation.load(write(truth=None))
    for name, wrong in (
        ("row", state.arrays["row"] + 1),
        ("split", state.arrays["split"][1:]),
        ("probabilities", state.arrays["probabilities"] - 1e9),
        ("weights", np.full(50, -1.0)),
    ):
        with pytest.raises(InvalidArgumentError, match=f"'{name}' cannot be read"):
            Evaluation.load(write(**{name: wrong}))


def test_times_are_evaluated_apart_and_not_saved_as_numbers(tmp_path) -> None:
    stamps = [pd.Timestamp(f"2024-01-01T00:00:00.00000000{n}", tz="UTC") for n in (1, 2)]
    labels = np.array([stamps[int(yes)] for yes in Y == "yes"], dtype=object)
    tree = TreeClassifier(max_leaves=2)
    judged = evaluate(tree, X, labels, positive=stamps[1].tz_localize(None), random_state=1)
    as_text = evaluate(tree, X, Y, random_state=1)
    assert judged.estimate("accuracy").value == as_text.estimate("accuracy").value
    with pytest.raises(InvalidTypeError, match=r"saved; got .*2024-01-01T00:00:00.000000001"):
        judged.save(tmp_path / "judged.eval")
