"""The lecture "Model Evaluation" by AW: every worked example again, as printed and as right.

The slides' figures are sketches without numbers, so none is drawn. The interval for an accuracy
is not legible on the slides; for .8 on 100 rows Wilson's is .7112 to .8666.
"""

from collections.abc import Iterator
from pathlib import Path

from sureleaf.report.reproduce.aw import comparing, judging, missing, t_table
from sureleaf.report.reproduce.judgement import Reproduction

__all__ = ["draw_figures", "reproduce"]

SOURCE = 'AW, lecture "Model Evaluation" (missing values, evaluation, comparison)'


def reproduce() -> Reproduction:
    """Recompute the lecture's examples and its t table, and judge every printed figure.

    Examples
    --------
    >>> reproduce().part("two models")
    Part('two models': 5 cells, 4 agrees, 1 other computation, 0 misprint)
    """
    parts = (
        missing.gain(),
        missing.distributed_row(),
        missing.new_record(),
        judging.trap(),
        judging.costs(),
        judging.distinct_rows(),
        judging.coin(),
        comparing.two_models(),
        t_table.critical_values(),
        t_table.levels(),
        comparing.two_algorithms(),
    )
    return Reproduction("aw", SOURCE, parts)


def draw_figures(directory: Path) -> Iterator[Path]:
    """Draw nothing: the lecture's figures have no numbers.

    Examples
    --------
    >>> list(draw_figures(Path(".")))
    []
    """
    yield from ()
