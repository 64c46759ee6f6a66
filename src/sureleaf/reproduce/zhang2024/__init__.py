"""The tables, examples and figures of Zhang (2024) recomputed.

``printed.json`` holds the printed figures, `tables` recomputes them and `figures` draws the three
figures.

References
----------
Zhang, Z. (2024). Levels of Confidence and Utility for Binary Classifiers. Stats 7(4), 1209-1225.
https://doi.org/10.3390/stats7040071
"""

from sureleaf.reproduce.cells import Reproduction
from sureleaf.reproduce.zhang2024 import tables
from sureleaf.reproduce.zhang2024.figures import draw_figures

__all__ = ["draw_figures", "reproduce"]


def reproduce() -> Reproduction:
    """Recompute the 19 tables and three examples."""
    parts = (
        tables.one_node_table(1),
        tables.one_node_table(2),
        tables.sample_sizes(),
        tables.two_node_example(),
        *(tables.two_node_table(number) for number in range(3, 9)),
        tables.estimator_example(),
        tables.biases_near_one_half(),
        tables.golf_ranking(),
        tables.golf_data(),
        *(tables.golf_column_table(number) for number in tables.GOLF_COLUMNS),
        tables.golf_summary_table(),
        *(tables.estimator_table(number) for number in tables.ESTIMANDS),
    )
    return Reproduction("zhang2024", tables.printed()["source"], parts)
