"""What Chawla and Cieslak print: Tables 1 to 3."""

__all__ = ["CORRELATIONS", "DATASETS", "SOURCE", "TABLE_3", "Described"]

from typing import NamedTuple

SOURCE = (
    "N. V. Chawla, D. A. Cieslak, Evaluating probability estimates from decision trees, AAAI 2006"
)


class Described(NamedTuple):
    """A line of Table 1.

    Examples
    --------
    >>> DATASETS["phoneme"].n_features
    5
    """

    n_features: int
    n_examples: int
    minority: float
    decimals: int  # of the minority's share


DATASETS = {
    "phoneme": Described(5, 5_400, 0.29, 2),
    "adult": Described(14, 48_840, 0.24, 2),
    "satimage": Described(36, 6_430, 0.097, 3),
    "covtype": Described(54, 38_500, 0.071, 3),
    "mammography": Described(6, 11_183, 0.023, 3),
}
"""Table 1; examples are rounded to tens."""

CORRELATIONS = {
    ("NCE", "QL"): 0.5044,
    ("NCE", "01L"): 0.6217,
    ("NCE", "AUC"): -0.8663,
    ("QL", "01L"): 0.8245,
    ("QL", "AUC"): -0.4668,
    ("01L", "AUC"): -0.4931,
}
"""Table 2."""

TABLE_3 = {
    "phoneme": (0.312174, 0.293877, 0.156307, 0.159342, 0.749640, 0.746100, 0.798680, 0.782070),
    "adult": (0.385605, 0.157325, 0.146401, 0.141756, 0.668420, 0.767510, 0.783980, 0.777330),
    "satimage": (0.451316, 0.354893, 0.117407, 0.112777, 0.514000, 0.397530, 0.822590, 0.795210),
    "covtype": (0.069245, 0.057237, 0.026180, 0.026670, 0.877140, 0.881790, 0.974840, 0.966270),
    "mammography": (0.041607, 0.039046, 0.022569, 0.023136, 0.777647, 0.781200, 0.849300, 0.808600),
}
"""Table 3: NCE then AUC, of each frequency unpruned and pruned, Laplace unpruned and pruned.

The NCE figures are of the size of logarithms to base 10.
"""
