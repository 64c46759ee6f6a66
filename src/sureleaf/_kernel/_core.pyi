"""Sureleaf's hot loops; use them through sureleaf._kernel."""

from typing import Annotated

import numpy
from numpy.typing import NDArray


def class_wins(rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], wins: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Fill wins[i, j] with the probability that class j is the most frequent of rows[i] draws.
    """

def confidence(n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], p_max: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

def node_confidence(n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], share: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], p_max: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], empty_is_coin: bool) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

def entropic_estimate(y_max: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...

def log_binomial(y: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], n: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], p: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(order='C')]: ...
