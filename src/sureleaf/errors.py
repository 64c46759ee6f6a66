"""The errors and warnings of Sureleaf, and helpers that word or raise them.

::

    SureleafError                        base class; catch it to catch every error below
      InvalidArgumentError (ValueError)  the value of an argument cannot be used
        UnreachableLevelError            no sample size reaches the requested level
      InvalidTypeError (TypeError)       the type of an argument cannot be used
      FailedFitError (RuntimeError)      an estimator failed on every split
      ClusterError (RuntimeError)        a cluster of workers has gone away or has given up
      MissingPackageError (ImportError)  an optional library is not installed
    HiddenCutWarning (UserWarning)       C4.5's tree ignores cuts between close values
    TrainingRowsWarning (UserWarning)    numbers were computed from the training rows
    UnseenCategoryWarning (UserWarning)  rows have categories that did not occur in training

Every message says what was expected, what was got and what to do next.
"""

import difflib
import errno
import importlib
import os
import re
import sys
import warnings
from collections.abc import Iterable
from typing import Any, Final

import sureleaf

DISK_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The numbers of the system's errors when a disk is full, or a limit of it is reached."""


class SureleafError(Exception):
    """Base class of every error that Sureleaf raises on purpose.

    Examples
    --------
    >>> from sureleaf import SureleafError, levels
    >>> try:
    ...     levels.confidence(10, 0.3)
    ... except SureleafError as error:
    ...     print(type(error).__name__)
    InvalidArgumentError
    """

    def __init__(self, message: object = "", *others: object) -> None:
        super().__init__(shortened(message) if isinstance(message, str) else message, *others)


_LONGEST_MESSAGE = 1_000
_LONGEST_VALUE = 80
_LONG_VALUE = re.compile(rf"(\S{{{_LONGEST_VALUE}}})\S{{40,}}")
_LONG_QUOTE = re.compile(rf"('[^']{{{_LONGEST_VALUE}}})[^']{{40,}}'")


def is_interrupt(problem: BaseException | None) -> bool:
    """Return whether an error is Ctrl-C, or was raised because of it.

    Python turns an interrupt into a RuntimeError while it makes a class, as it does many times
    during the import of a library.
    """
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__cause__ or problem.__context__
    return problem is not None


def shortened(message: str) -> str:
    """Return a message in which names and cells have at most 80 letters, if it is long.

    A cell of a table may have millions of letters, and an error would repeat them all.
    """
    if len(message) <= _LONGEST_MESSAGE:
        return message
    short = _LONG_VALUE.sub(r"\1…", _LONG_QUOTE.sub(r"\1…'", message))
    limit = 4 * _LONGEST_MESSAGE
    return short if len(short) <= limit else f"{short[: limit // 2]} … {short[-limit // 2 :]}"


class InvalidArgumentError(SureleafError, ValueError):
    """The value of an argument cannot be used.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> TreeClassifier(max_depth=-1).fit([[1], [2]], [0, 1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidArgumentError: max_depth must be ...; got -1...
    """


class UnreachableLevelError(InvalidArgumentError):
    """No number of rows reaches the requested level.

    Examples
    --------
    >>> from sureleaf import levels
    >>> levels.sample_size(0.75, utility=0.8)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sureleaf.errors.UnreachableLevelError: utility must be below p_max = 0.75...
    """


class InvalidTypeError(SureleafError, TypeError):
    """The type of an argument cannot be used.

    Examples
    --------
    >>> from sureleaf import levels
    >>> levels.confidence("ten", 0.75)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    sureleaf.errors.InvalidTypeError: n must be ...; got 'ten'...
    """


class ClusterError(SureleafError, RuntimeError):
    """A cluster of workers has gone away, or has given up a task."""


class FailedFitError(SureleafError, RuntimeError):
    """The evaluated estimator failed on every split, so there is no result to report."""


class MissingPackageError(SureleafError, ImportError):
    """An optional library is needed but not installed; the message has the pip command.

    Examples
    --------
    >>> optional_library("no_such_library.tables", needed="to read this file")
    Traceback (most recent call last):
    ...
    sureleaf.errors.MissingPackageError: no_such_library is needed to read this file and is not
    installed. Install it: pip install no_such_library
    """


class HiddenCutWarning(UserWarning):
    """C4.5's tree is worse because it does not cut between values that are closer than 1e-5."""


class MemoryLimitWarning(UserWarning):
    """A fit in batches will need clearly more than its `memory`, because rows are many."""


class TextColumnWarning(UserWarning):
    """A column is text, although most of its cells look like numbers or dates.

    Attributes
    ----------
    column : str
        Its name.
    """

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


class TrainingRowsWarning(UserWarning):
    """Numbers about a model were computed from its own training rows, and are too optimistic."""


class UnseenCategoryWarning(UserWarning):
    """Rows to predict have categories that did not occur in training."""


def suggestion(name: str, choices: Iterable[str], *, listed: bool = True) -> str:
    """Word a hint for an unknown name: the choices that resemble it, or else all choices.

    Choices that start with the name, if it has three letters, are preferred to similar ones. The
    hint is a sentence with a leading space, to be appended to a message. If no choice resembles the
    name, it is empty, or with `listed` it lists the choices.

    Examples
    --------
    >>> suggestion("klass", ["sky", "class"])
    " Did you mean 'class'?"
    >>> suggestion("y", ["sky", "class"])
    " There are 'sky', 'class'."
    >>> suggestion("acc", ["auc", "accuracy"])
    " Did you mean 'accuracy'?"
    """
    names = list(choices)
    original = {choice.strip().casefold(): choice for choice in names}
    typed = name.strip().casefold()
    longer = [choice for choice in original if len(typed) > 2 and choice.startswith(typed)]
    close = longer[:2] or difflib.get_close_matches(typed, original, n=2, cutoff=0.6)
    if close:
        return f" Did you mean {' or '.join(repr(original[match]) for match in close)}?"
    if not listed:
        return ""
    shown = ", ".join(map(repr, names[:12]))
    return f" There are {shown}{f' and {len(names) - 12} more' if len(names) > 12 else ''}."


_PACKAGE_FOLDER = os.path.dirname(os.path.abspath(sureleaf.__file__)) + os.sep


def warn_caller(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the user's code that called Sureleaf, however deep the call goes.

    Through scikit-learn, one line may predict many times, as for the folds of a cross-validation:
    it is warned once of categories that its model has not seen. Python's own registry does not see
    to that, as scikit-learn changes its filters.
    """
    frame, level = sys._getframe(1), 2  # noqa: SLF001 - documented by Python
    through_others = False
    while frame.f_back is not None:
        is_other = frame.f_globals.get("__name__", "").partition(".")[0] in ("sklearn", "joblib")
        if not is_other and not frame.f_code.co_filename.startswith(_PACKAGE_FOLDER):
            break
        through_others |= is_other
        frame, level = frame.f_back, level + 1
    if through_others and category is UnseenCategoryWarning:
        line = (id(frame), frame.f_lasti)
        if _last_line == [line]:
            return
        _last_line[:] = [line]
    warnings.warn(message, category, stacklevel=level)


_last_line: list[tuple[int, int]] = []


def optional_library(name: str, *, needed: str = "for this") -> Any:
    """Import a module of an optional library, or raise the error that says how to install it.

    `needed` is what the library is needed for, as the message words it: ``"to read this file"``.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise MissingPackageError(
            f"{package} is needed {needed} and is not installed. Install it: pip install {package}"
        ) from error
