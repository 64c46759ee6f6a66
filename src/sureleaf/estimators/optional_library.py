"""A library that Sureleaf can do without, loaded where it is needed."""

import importlib
from typing import Any

from sureleaf.errors import MissingPackageError

__all__ = ["optional_library"]


def optional_library(name: str, *, needed: str = "for this") -> Any:
    """Load a module of an optional library, or say how to install it.

    Examples
    --------
    >>> optional_library("no_such_library.tables", needed="to read this file")
    Traceback (most recent call last):
    ...
    sureleaf.errors.MissingPackageError: no_such_library is needed to read this file and is not
    installed. Install it: pip install no_such_library
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingPackageError(
            f"{package} is needed {needed} and is not installed. Install it: pip install {package}"
        ) from error
