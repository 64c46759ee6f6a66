"""Designs: which rows train and which rows test.

They are defined in `sureleaf.evaluation.designs`; users import them from here.
"""

from sureleaf.evaluation.designs import *  # noqa: F403
from sureleaf.evaluation.designs import __all__ as __all__
