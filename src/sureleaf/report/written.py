"""A file is written whole or not at all."""

import os
import tempfile
from pathlib import Path

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write text under a temporary name beside the path, then give it the path's name.

    Examples
    --------
    >>> path = Path(tempfile.mkdtemp()) / "report.json"
    >>> write_whole(path, "{}")
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('{}', 1)
    """
    number, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(number, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp's files are for their owner only
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
