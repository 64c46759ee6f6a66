"""The compiled module; `_core.pyi` explains each of its routines.

The routines of levels take float64 arrays of the same shape and return a new array; NaN gives NaN.
`confidence` is (5), `node_confidence` (9), both interpolated between whole n; `entropic_estimate`
is the maximiser of (2).
"""

from sureleaf._kernel._core import *  # noqa: F403
