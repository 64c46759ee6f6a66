"""A file is written whole or not at all."""

from pathlib import Path

from sureleaf.writing import atomic_write

__all__ = ["write_whole"]


def write_whole(path: Path, text: str) -> None:
    """Write text under a temporary name beside the path, then give it the path's name.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "report.json"
    >>> write_whole(path, "{}")
    >>> path.read_text(), len(list(path.parent.iterdir()))
    ('{}', 1)
    """
    with atomic_write(path) as file:
        file.write(text.encode())
