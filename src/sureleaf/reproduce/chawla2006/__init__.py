"""The experiment of Chawla and Cieslak (2006) run again.

The other documents are recomputed digit by digit. This one is an experiment: its figures depend
on which 30 % of the rows were held out, so only the direction of each difference is compared. The
five data sets are not part of the package.

References
----------
Chawla, N. V. and Cieslak, D. A. (2006). Evaluating Probability Estimates from Decision Trees.
AAAI Workshop on Evaluation Methods for Machine Learning.
"""

from sureleaf.reproduce.chawla2006.study import Claim, Study, reproduce
from sureleaf.reproduce.chawla2006.text import draw_figures

__all__ = ["Claim", "Study", "draw_figures", "reproduce"]
