"""Zhang (2024), Levels of Confidence and Utility for Binary Classifiers: every figure again.

``printed.json`` holds what the paper prints, ``as_printed`` the computations it seems to have
used instead of its definitions; the other files recompute a group of tables each.
"""

from sureleaf.reproduce.comparison_table import Reproduction
from sureleaf.reproduce.zhang2024 import golf, tables
from sureleaf.reproduce.zhang2024.figures import draw_figures
from sureleaf.reproduce.zhang2024.tables import printed

__all__ = ["draw_figures", "reproduce"]


def reproduce() -> Reproduction:
    """Recompute the 19 tables and three examples, and judge every printed figure.

    Examples
    --------
    >>> reproduce().part("table 16")
    Part('table 16': 120 cells, 118 agrees, 0 other computation, 2 misprint)
    """
    parts = (
        tables.one_node_table(1),
        tables.one_node_table(2),
        tables.sample_sizes(),
        tables.two_node_example(),
        *(tables.two_node_table(number) for number in range(3, 9)),
        tables.estimator_example(),
        tables.biases_near_one_half(),
        golf.ranking(),
        golf.data(),
        *(golf.table(number) for number in golf.COLUMNS),
        golf.overall(),
        *(tables.estimator_table(number) for number in tables.OF),
    )
    return Reproduction("zhang2024", printed()["source"], parts)
