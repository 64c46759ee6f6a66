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
from collections.abc import Iterable

__all__ = [
    "FailedFitError",
    "InvalidArgumentError",
    "InvalidTypeError",
    "MissingPackageError",
    "SureleafError",
    "TrainingRowsWarning",
    "UnreachableLevelError",
    "UnseenCategoryWarning",
    "suggestion",
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
