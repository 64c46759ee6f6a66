"""Evaluations survive a file, and a file that is none is refused in words."""

import contextlib
import json

import numpy as np
import pytest

from sureleaf.designs import Bootstrap, KFold
from sureleaf.errors import InvalidArgumentError, SureleafError
from sureleaf.evaluation import Evaluation, evaluate
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
    judged.save(tmp_path / "judged.npz")
    again = Evaluation.load(tmp_path / "judged.npz")
    assert str(again.summary()) == str(judged.summary())
    assert again.splits == judged.splits
    assert again.splits_id == judged.splits_id
    assert again.predictions.truth.dtype == judged.predictions.truth.dtype
    assert [p.name for p in tmp_path.iterdir()] == ["judged.npz"]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "judged.npz"
    evaluate(Nearest(), X, Y, random_state=1).save(path)
    return path


def test_a_file_cut_short_is_damaged(saved) -> None:
    saved.write_bytes(saved.read_bytes()[:-200])
    with pytest.raises(InvalidArgumentError, match=r"judged.npz is not an evaluation .* damaged"):
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
    path = tmp_path / "other.npz"
    path.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match=r"other.npz is not an evaluation"):
        Evaluation.load(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path) -> None:
    with pytest.raises(InvalidArgumentError, match="does not exist"):
        Evaluation.load(tmp_path / "nowhere.npz")


def test_other_archives_versions_and_pickles_are_refused(saved, tmp_path) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    header = json.loads(arrays["header"].tobytes())

    def write(**changes):
        content = {**arrays, **changes}
        np.savez(tmp_path / "x.npz", **{k: v for k, v in content.items() if v is not None})
        return tmp_path / "x.npz"

    def as_bytes(value):
        return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)

    with pytest.raises(InvalidArgumentError, match="is not an evaluation"):
        Evaluation.load(write(header=None))
    with pytest.raises(InvalidArgumentError, match="is not an evaluation"):
        Evaluation.load(write(header=as_bytes({"format": "other"})))
    with pytest.raises(InvalidArgumentError, match=r"version 99 .* newer"):
        Evaluation.load(write(header=as_bytes({**header, "version": 99})))
    with pytest.raises(InvalidArgumentError, match="'truth' cannot be read"):
        Evaluation.load(write(truth=None))
    for name, wrong in [("row", arrays["row"] + 1), ("split", arrays["split"][1:])]:
        with pytest.raises(InvalidArgumentError, match=f"'{name}' cannot be read"):
            Evaluation.load(write(**{name: wrong}))
    with pytest.raises(InvalidArgumentError, match="is not an evaluation"):
        Evaluation.load(write(truth=np.array([{"a": 1}], dtype=object)))
