"""A file is written completely or not at all."""

import os
import stat
import threading

import pytest

from sureleaf.errors import InvalidArgumentError
from sureleaf.files.atomic_write import atomic_write


def test_the_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "model"
    with atomic_write(target) as file:
        file.write(b"half")
        assert not target.exists()
        file.write(b" and half")
    assert target.read_bytes() == b"half and half"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, ValueError])
def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "model"
    target.write_bytes(b"old")

    def interrupt():
        with atomic_write(target) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        interrupt()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_permissions_are_those_of_the_old_file_or_of_a_plain_new_one(tmp_path):
    target, plain = tmp_path / "model", tmp_path / "plain"
    plain.touch()
    with atomic_write(target):
        pass
    assert target.stat().st_mode == plain.stat().st_mode
    target.chmod(0o640)
    with atomic_write(target):
        pass
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_symbolic_link_stays_a_link(tmp_path):
    target, link = tmp_path / "model", tmp_path / "latest"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with atomic_write(pipe) as file:
        file.write(b"through")
    reader.join()
    assert received == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize("path", ["nowhere/model", ""])
def test_the_error_for_an_impossible_path_says_what_to_give(tmp_path, path):
    with (
        pytest.raises(InvalidArgumentError, match="Give the name of a file"),
        atomic_write(tmp_path / path),
    ):
        pass
