"""The compiled module's routines, a line of meaning each."""

from sureleaf._kernel._core import (
    class_wins,  # (rows, probabilities, wins): P(class j is the most frequent), into wins
)

__all__ = ["class_wins"]
