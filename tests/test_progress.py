"""Progress bars are drawn if they are enabled and the work takes more than a second."""

import time
from collections.abc import Iterator

import pytest

from sureleaf.progress import ProgressBar, progress_enabled, track, watched


def slowly(seconds: float) -> Iterator[int]:
    for number in range(4):
        time.sleep(seconds)
        yield number


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich treat stderr as a terminal


def test_short_work_draws_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(track(slowly(0.0), total=4, what="Counting", shown=True)) == [0, 1, 2, 3]
    assert "Counting" not in "".join(capsys.readouterr())


def test_long_work_draws_a_bar_with_the_remaining_time(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_enabled():
        assert list(track(slowly(0.4), total=4, what="Counting", costs=[1, 1, 1, 1])) == [
            0,
            1,
            2,
            3,
        ]
    out, err = capsys.readouterr()
    assert out == ""
    assert "Counting" in err
    assert "%" in err
    assert "00:0" in err or "--:--" in err


def test_no_bar_is_drawn_by_default_or_inside_another_bar(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress_enabled():
        for _ in track(range(1), total=1, what="Outer"):
            assert list(track(slowly(0.3), total=4, what="Inner")) == [0, 1, 2, 3]
    assert "Inner" not in "".join(capsys.readouterr())
    assert list(track(slowly(0.0), total=4, what="Alone")) == [0, 1, 2, 3]


def test_an_error_removes_the_bar(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> None:
        with ProgressBar("Counting", None) as bar:
            bar.update(3, "3 rows")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert capsys.readouterr().out == ""


def test_a_watcher_is_told_the_share_of_the_outer_work_only() -> None:
    shares: list[float] = []
    with watched(shares.append):
        for _ in track("ab", total=2, what="Outer", costs=[3, 1]):
            assert list(track(range(3), total=3, what="Inner")) == [0, 1, 2]
        list(track("c", total=1, what="Next"))
    list(track("d", total=1, what="Alone"))
    assert shares == [0.75, 1.0, 1.0]
