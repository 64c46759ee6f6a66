"""A file is written completely or not at all."""

import os
import signal
import stat
import subprocess
import sys
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


def test_what_a_killed_process_left_is_removed_by_the_next_writer(tmp_path):
    target = tmp_path / "model"
    script = (
        "import os, signal, sys\n"
        "from sureleaf.files.atomic_write import atomic_write\n"
        "with atomic_write(sys.argv[1]) as file:\n"
        "    file.write(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    with atomic_write(target) as file:
        file.write(b"all")
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_is_being_written_is_not_removed_by_another_writer(tmp_path):
    target = tmp_path / "model"
    with atomic_write(target) as first:
        first.write(b"first")
        with atomic_write(target) as second:
            second.write(b"second")
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [target]


def test_two_files_are_replaced_when_both_are_written_or_not_at_all(tmp_path):
    page, numbers = tmp_path / "page", tmp_path / "numbers"
    page.write_bytes(b"old page")

    def write(content):
        with atomic_write(page) as first, atomic_write(numbers) as second:
            first.write(content)
            second.write(content.upper())
            if content == b"half":
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(b"half")
    assert (page.read_bytes(), numbers.exists()) == (b"old page", False)
    write(b"new")
    assert (page.read_bytes(), numbers.read_bytes()) == (b"new", b"NEW")
    assert sorted(tmp_path.iterdir()) == [numbers, page]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
@pytest.mark.parametrize("n_bytes", [10, 100_000])
def test_a_full_device_names_the_file_however_late_it_is_noticed(n_bytes):
    def write():
        with atomic_write("/dev/full") as file:
            file.write(b"x" * n_bytes)

    with pytest.raises(OSError, match="No space left") as caught:
        write()
    assert caught.value.filename == "/dev/full"


def test_the_rest_of_a_buffer_does_not_hide_which_file_the_disk_had_no_room_for(tmp_path):
    resource = pytest.importorskip("resource")
    target, limits = tmp_path / "model", resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def write():
        with atomic_write(target) as file:
            file.write(b"x" * 100_000)
            file.write(b"rest")

    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.filename == str(target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["日" * 84, "x" * 255])
def test_the_longest_names_can_be_written(tmp_path, name):
    with atomic_write(tmp_path / name) as file:
        file.write(b"all")
    assert [path.name for path in tmp_path.iterdir()] == [name]
