"""The compiled routines of levels accept and return arrays of any shape."""

import numpy as np
import pytest

from sureleaf import _kernel


def test_the_shape_is_kept_for_any_number_of_axes() -> None:
    for shape in ((), (0,), (3,), (2, 0, 4), (2, 3, 4)):
        levels = _kernel.confidence(np.full(shape, 5.0), np.full(shape, 0.6))
        assert levels.shape == shape
        assert levels.dtype == np.float64
        assert levels.flags.writeable


def test_views_and_read_only_arrays_are_accepted() -> None:
    n = np.broadcast_to(5.0, (4,))
    p = np.linspace(0.5, 1, 8)[::2]
    whole = _kernel.confidence(np.full(4, 5.0), p.copy())
    assert _kernel.confidence(n, p).tolist() == whole.tolist()


def test_arrays_of_different_shapes_are_an_error() -> None:
    for n, p in ((np.ones(2), np.ones(3)), (np.ones((2, 1)), np.ones(2))):
        with pytest.raises(ValueError, match="arrays must have one shape"):
            _kernel.confidence(n, p)
