"""Warnings that point at the line which called us, however deep in our files they arise."""

import os
import sys
import warnings

import sureleaf

__all__ = ["warn_caller"]

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
