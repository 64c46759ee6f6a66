"""What can go wrong, as types.

::

    SureleafError                      everything below; catch this to catch all
      InvalidArgumentError (ValueError)  an argument's value cannot be used
        UnreachableLevelError            no sample size reaches the level asked for
      InvalidTypeError (TypeError)       an argument's type cannot be used
      FailedFitError (RuntimeError)      an estimator failed on every split
      MissingPackageError (ImportError)  an optional library is not installed
    TrainingRowsWarning (UserWarning)    figures come from rows that shaped the model
    UnseenCategoryWarning (UserWarning)  a category was not there in training

Every message says what was expected, what was got and what to do next; `suggestion` finds the
name that was probably meant.
"""

import difflib
import importlib
import os
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import sureleaf

__all__ = [
    "FailedFitError",
    "InvalidArgumentError",
    "InvalidTypeError",
    "MissingPackageError",
    "SureleafError",
    "TrainingRowsWarning",
    "UnreachableLevelError",
    "UnseenCategoryWarning",
    "optional_library",
    "suggestion",
    "warn_caller",
]


class SureleafError(Exception):
    """Base of every error that Sureleaf raises on purpose.

    Examples
    --------
    >>> from sureleaf import SureleafError, levels
    >>> try:
    ...     levels.confidence(10, 0.3)
    ... except SureleafError as error:
    ...     print(type(error).__name__)
    InvalidArgumentError
    """


class InvalidArgumentError(SureleafError, ValueError):
    """An argument has a value that cannot be used.

    Examples
    --------
    >>> issubclass(InvalidArgumentError, ValueError)
    True
    """


class UnreachableLevelError(InvalidArgumentError):
    """No number of rows reaches the level that was asked for.

    Examples
    --------
    >>> issubclass(UnreachableLevelError, InvalidArgumentError)
    True
    """


class InvalidTypeError(SureleafError, TypeError):
    """An argument has a type that cannot be used.

    Examples
    --------
    >>> issubclass(InvalidTypeError, TypeError)
    True
    """


class FailedFitError(SureleafError, RuntimeError):
    """An estimator that is judged failed on every split, so that there is nothing to report.

    Examples
    --------
    >>> issubclass(FailedFitError, RuntimeError)
    True
    """


class MissingPackageError(SureleafError, ImportError):
    """An optional library is needed and not installed; the message has the pip line.

    Examples
    --------
    >>> issubclass(MissingPackageError, ImportError)
    True
    """


class TrainingRowsWarning(UserWarning):
    """Figures about a model come from the rows that it was fitted on, and flatter it.

    Examples
    --------
    >>> issubclass(TrainingRowsWarning, UserWarning)
    True
    """


class UnseenCategoryWarning(UserWarning):
    """Rows to predict have categories that were not there in training.

    Examples
    --------
    >>> issubclass(UnseenCategoryWarning, UserWarning)
    True
    """


def suggestion(name: str, there: Iterable[str], *, listed: bool = True) -> str:
    """Say which of the names that are there may be meant, or which there are.

    Parameters
    ----------
    name : str
        The name that is none of them.
    there : iterable of str
        Names that can be given.
    listed : bool
        Whether to list them where none is close.

    Returns
    -------
    str
        A sentence with a blank before it, to follow a message.

    Examples
    --------
    >>> suggestion("klass", ["sky", "class"])
    " Did you mean 'class'?"
    >>> suggestion("y", ["sky", "class"])
    " There are 'sky', 'class'."
    """
    names = list(there)
    folded = {known.strip().casefold(): known for known in names}
    close = difflib.get_close_matches(name.strip().casefold(), folded, n=2, cutoff=0.6)
    if close:
        return f" Did you mean {' or '.join(repr(folded[known]) for known in close)}?"
    if not listed:
        return ""
    shown = ", ".join(map(repr, names[:12]))
    return f" There are {shown}{f' and {len(names) - 12} more' if len(names) > 12 else ''}."


# Warnings that point at the line which called us, however deep in our files they arise.

_OURS = os.path.dirname(os.path.abspath(sureleaf.__file__)) + os.sep


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn as if the first line outside of this package had done so.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("odd", UserWarning)
    >>> str(caught[0].message), caught[0].filename.endswith("callers.py")
    ('odd', False)
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


# A library that Sureleaf can do without, loaded where it is needed.


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
