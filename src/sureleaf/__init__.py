"""Decision trees that know how sure they are.

Names are loaded when first used, so that ``import sureleaf`` stays quick.
"""

import importlib
from typing import TYPE_CHECKING

from sureleaf.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    MissingPackageError,
    SureleafError,
    UnreachableLevelError,
    UnseenCategoryWarning,
)

if TYPE_CHECKING:
    from sureleaf import levels
    from sureleaf.estimators import TreeClassifier, rank_columns

__version__ = "0.1.0"

__all__ = [
    "InvalidArgumentError",
    "InvalidTypeError",
    "MissingPackageError",
    "SureleafError",
    "TreeClassifier",
    "UnreachableLevelError",
    "UnseenCategoryWarning",
    "__version__",
    "levels",
    "rank_columns",
]

_HOME_OF = {
    "TreeClassifier": "sureleaf.estimators",
    "levels": "sureleaf.levels",
    "rank_columns": "sureleaf.estimators",
}
"""Lazy public name -> module it lives in; a module that is the name itself is a room."""


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'sureleaf' has no attribute {name!r}")
    home = importlib.import_module(_HOME_OF[name])
    found: object = home if home.__name__ == f"sureleaf.{name}" else getattr(home, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
