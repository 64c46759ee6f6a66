"""The experiment of Chawla and Cieslak (2006), on their data sets or on tables of one's own.

The other documents are recomputed digit by digit. This one is an experiment: its figures depend
on which 30 % of the rows were held out, so only the direction of each difference is compared. The
five data sets are not part of the package.

References
----------
Chawla, N. V. and Cieslak, D. A. (2006). Evaluating Probability Estimates from Decision Trees.
AAAI Workshop on Evaluation Methods for Machine Learning.
"""

from sureleaf.reproduce.chawla2006.experiment import (
    Experiment,
    MethodResult,
    draw_figures,
    read_tables,
    run_experiment,
)
from sureleaf.reproduce.chawla2006.printed import PrintedDirection, Replication, reproduce

__all__ = [
    "Experiment",
    "MethodResult",
    "PrintedDirection",
    "Replication",
    "draw_figures",
    "read_tables",
    "reproduce",
    "run_experiment",
]
