"""Source documents recomputed, and each printed figure judged.

A document is a module of this folder with two functions: ``reproduce()`` returns a
`Reproduction`, ``draw_figures(directory)`` yields the paths of the figures it draws. It is
added by naming it in `DOCUMENTS`. chawla2006 is an experiment on data that has to be brought
along, and apart from that: ``sureleaf.reproduce.chawla2006``.
"""

import importlib
from pathlib import Path
from types import ModuleType

from sureleaf.errors import InvalidArgumentError
from sureleaf.reproduce.comparison_table import Cell, Computed, Part, Reproduction, Verdict

__all__ = [
    "DOCUMENTS",
    "Cell",
    "Computed",
    "Part",
    "Reproduction",
    "Verdict",
    "draw_figures",
    "reproduce",
]


DOCUMENTS = {
    "zhang2024": "sureleaf.reproduce.zhang2024",
    "xu2022": "sureleaf.reproduce.xu2022",
    "aw": "sureleaf.reproduce.aw",
}
"""Name of a document -> module that recomputes it."""


def reproduce(document: str) -> Reproduction:
    """Recompute a source document and say of each printed figure whether it agrees.

    Parameters
    ----------
    document : str
        A key of `DOCUMENTS`.

    Returns
    -------
    Reproduction
        Its parts (tables, examples, passages), each with its cells.

    Raises
    ------
    InvalidArgumentError
        If there is no such document.

    Examples
    --------
    >>> reproduce("zhang2024").part("table 1")
    Part('table 1': 275 cells, 275 agrees, 0 other computation, 0 misprint)
    """
    found: Reproduction = _module(document).reproduce()
    return found


def draw_figures(document: str, directory: str | Path) -> list[Path]:
    """Draw the figures of a source document again, as SVG and PNG.

    Parameters
    ----------
    document : str
        A key of `DOCUMENTS`.
    directory : str or path
        Where to; it is made if need be.

    Returns
    -------
    list of path
        The files written.

    Raises
    ------
    InvalidArgumentError
        If there is no such document.
    MissingPackageError
        If matplotlib is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     len(draw_figures("zhang2024", directory))
    6
    """
    return list(_module(document).draw_figures(Path(directory)))


def _module(document: str) -> ModuleType:
    if document not in DOCUMENTS:
        raise InvalidArgumentError(
            f"document must be one of {', '.join(DOCUMENTS)}, or chawla2006 with its data sets; "
            f"got {document!r}."
        )
    return importlib.import_module(DOCUMENTS[document])
