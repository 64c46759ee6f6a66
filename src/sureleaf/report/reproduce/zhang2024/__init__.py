"""Zhang (2024), Levels of Confidence and Utility for Binary Classifiers: every figure again.

``printed.json`` holds what the paper prints, ``as_printed`` the computations it seems to have
used instead of its definitions; the other files recompute a group of tables each.
"""

from sureleaf.report.reproduce.judgement import Reproduction
from sureleaf.report.reproduce.zhang2024 import estimators, golf, one_node, two_nodes
from sureleaf.report.reproduce.zhang2024.drawing import draw_figures
from sureleaf.report.reproduce.zhang2024.printed import printed

__all__ = ["draw_figures", "reproduce"]


def reproduce() -> Reproduction:
    """Recompute the 19 tables and three examples, and judge every printed figure.

    Examples
    --------
    >>> reproduce().part("table 16")
    Part('table 16': 120 cells, 118 agrees, 0 other computation, 2 misprint)
    """
    parts = (
        one_node.table(1),
        one_node.table(2),
        one_node.sample_sizes(),
        two_nodes.example(),
        *(two_nodes.table(number) for number in range(3, 9)),
        estimators.example(),
        estimators.biases_near_one_half(),
        golf.ranking(),
        golf.data(),
        *(golf.table(number) for number in golf.COLUMNS),
        golf.overall(),
        *(estimators.table(number) for number in estimators.OF),
    )
    return Reproduction("zhang2024", printed()["source"], parts)
