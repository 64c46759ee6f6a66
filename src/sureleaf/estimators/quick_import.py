"""scikit-learn's base classes without scipy.stats, which their import asks for and does not use.

``import sklearn.base`` binds scipy.stats for one function that a fit never calls; loading it takes
more than a third of the time to a first fit. Here a stand-in answers that import. It is taken away
afterwards, and whoever asks it for a name, now or later, gets the real module's.
"""

import gc
import importlib
import sys
from types import ModuleType

__all__ = ["import_sklearn_base"]


class _StandIn(ModuleType):
    """Stands for a module until somebody asks it for a name."""

    def __getattr__(self, name: str) -> object:
        _take_away(self)
        return getattr(importlib.import_module(self.__name__), name)


def import_sklearn_base() -> None:
    """Import sklearn.base, and scipy.stats only if something needs a name of it.

    Examples
    --------
    >>> import sys
    >>> import_sklearn_base()
    >>> "sklearn.base" in sys.modules
    True
    """
    if "sklearn.base" in sys.modules:
        return
    stand_in = _StandIn("scipy.stats")
    sys.modules.setdefault("scipy.stats", stand_in)
    collects = gc.isenabled()
    gc.disable()  # modules are no garbage, and looking through them again and again takes a while
    try:
        importlib.import_module("sklearn.base")
    finally:
        _take_away(stand_in)
        if collects:
            gc.enable()


def _take_away(stand_in: ModuleType) -> None:
    if sys.modules.get(stand_in.__name__) is stand_in:
        del sys.modules[stand_in.__name__]


import_sklearn_base()
