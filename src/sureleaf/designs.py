"""Designs: which rows train and which rows test.

The designs live in the room `sureleaf.evaluation`; this is where they are imported from.
"""

from sureleaf.evaluation.designs import *  # noqa: F403
from sureleaf.evaluation.designs import __all__ as __all__
