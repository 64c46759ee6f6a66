"""A file is written whole or not at all."""

from pathlib import Path

import pytest

from sureleaf.report.written import write_whole


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half of it \udc80")
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_text_of_any_script_is_written_as_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_whole(path, "Größe ≤ 3\n")
    assert path.read_bytes() == "Größe ≤ 3\n".encode()
