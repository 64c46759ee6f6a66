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
    from sureleaf.estimators import BaggedTreesClassifier, TreeClassifier

__version__ = "0.1.0"

__all__ = [
    "BaggedTreesClassifier",
    "InvalidArgumentError",
    "InvalidTypeError",
    "MissingPackageError",
    "SureleafError",
    "TreeClassifier",
    "UnreachableLevelError",
    "UnseenCategoryWarning",
    "__version__",
    "levels",
]

_HOME_OF = {
    "BaggedTreesClassifier": "sureleaf.estimators",
    "TreeClassifier": "sureleaf.estimators",
    "levels": "sureleaf.levels",
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
