"""Source documents recomputed, and every printed figure compared.

A document is a module of this package with two functions: ``reproduce()`` returns a
`Reproduction`, and ``draw_figures(directory)`` yields the paths of the figures it draws. Add a
document by naming its module in `DOCUMENTS`. The experiment of Chawla and Cieslak (2006) needs
data sets that are not part of this package, so it has functions of its own:
``sureleaf.reproduce.chawla2006``.
"""

import importlib
from pathlib import Path
from types import ModuleType

from sureleaf.errors import InvalidArgumentError
from sureleaf.reproduce.cells import Basis, CellVerdict, Computed, Part, PrintedCell, Reproduction

__all__ = [
    "DOCUMENTS",
    "Basis",
    "CellVerdict",
    "Computed",
    "Part",
    "PrintedCell",
    "Reproduction",
    "draw_figures",
    "reproduce",
]

DOCUMENTS = {
    "zhang2024": "sureleaf.reproduce.zhang",
    "xu2022": "sureleaf.reproduce.xu2022",
    "aw": "sureleaf.reproduce.aw",
}
"""Name of a document -> module that recomputes it."""


def reproduce(document: str) -> Reproduction:
    """Recompute a source document, a key of `DOCUMENTS`, and compare every printed figure.

    The result has parts (tables, examples, passages), each with its cells.

    Examples
    --------
    >>> from sureleaf.reproduce import Basis, CellVerdict, reproduce
    >>> document = reproduce("zhang2024")
    >>> document.part("table 1")
    Part('table 1': 275 cells, 275 agrees, 0 other computation, 0 misprint)
    >>> document.counts_of(Basis.LIBRARY)[CellVerdict.MISPRINT]
    17
    """
    reproduction: Reproduction = _module(document).reproduce()
    return reproduction


def draw_figures(document: str, directory: str | Path) -> list[Path]:
    """Draw the figures of a source document as SVG and PNG files in a directory, made if absent."""
    return list(_module(document).draw_figures(Path(directory)))


def _module(document: str) -> ModuleType:
    if document not in DOCUMENTS:
        raise InvalidArgumentError(
            f"document must be one of {', '.join(DOCUMENTS)}, or chawla2006 with its data sets; "
            f"got {document!r}."
        )
    return importlib.import_module(DOCUMENTS[document])
