import sys
from pathlib import Path

import pytest

from sureleaf import MissingPackageError
from sureleaf.report.picture import picture, save


def test_the_same_picture_gives_the_same_files(tmp_path: Path) -> None:
    def drawn(directory: Path) -> list[bytes]:
        figure, axes = picture("Levels", "by n")
        axes.plot([1, 2], [0.5, 0.7])
        return [path.read_bytes() for path in save(figure, directory, "levels")]

    assert drawn(tmp_path / "one") == drawn(tmp_path / "two")


def test_without_matplotlib_the_error_carries_the_pip_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackageError, match=r"pip install matplotlib"):
        picture("Levels")


def test_drawing_leaves_matplotlib_as_it_was(tmp_path: Path) -> None:
    import matplotlib

    before = dict(matplotlib.rcParams)
    list(save(picture("Levels")[0], tmp_path, "levels"))
    assert dict(matplotlib.rcParams) == before
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )
