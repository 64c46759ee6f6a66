"""Designs: which rows train and which rows test.

The designs live in the room `sureleaf.evaluation`; this is where they are imported from.
"""

from sureleaf.evaluation.designs import (
    Bootstrap,
    Design,
    Holdout,
    KFold,
    LeaveOneOut,
    NestedKFold,
    RepeatedHoldout,
    Split,
    from_dict,
)

__all__ = [
    "Bootstrap",
    "Design",
    "Holdout",
    "KFold",
    "LeaveOneOut",
    "NestedKFold",
    "RepeatedHoldout",
    "Split",
    "from_dict",
]
