"""Comparing two models on test sets of their own, and two algorithms over seven folds."""

import numpy as np
from scipy.special import ndtri, stdtrit

from sureleaf.comparison import compare_rates, paired_t
from sureleaf.report.reproduce.judgement import Computed, Part, judge

__all__ = ["two_algorithms", "two_models"]

FIRST = (1200, 1219, 1103, 1213, 1258, 1325, 1295)
SECOND = (1247, 1098, 1185, 1087, 1377, 1363, 1121)
PRINTED = (-0.024, 0.061, -0.041, 0.063, -0.060, -0.019, 0.087)


def two_models() -> Part:
    """Judge the test of 15 % errors in 30 rows against 25 % in 5,000.

    The slide before adds "sigma1² - sigma2²" for the variance of a difference; the example has
    the sum, which is right.

    Examples
    --------
    >>> two_models().cells[-1]
    Cell(M1, M2, confidence: printed .937, defined .873, other computation)
    """
    test = compare_rates(0.15, 30, 0.25, 5000)
    cells = (
        judge("M1, M2", "variance", 0.0043, 4, Computed(test.standard_error**2)),
        judge("M1, M2", "z at 95 %", 1.96, 2, Computed(float(ndtri(0.975)))),
        judge("M1, M2", "half-width", 0.128, 3, Computed(test.high - test.difference)),
        judge("M1, M2", "z", 1.527, 3, Computed(abs(test.statistic))),
        judge(
            "M1, M2",
            "confidence",
            0.937,
            3,
            Computed(1 - test.p_value),
            Computed(1 - test.p_value / 2),
        ),
    )
    return Part(
        "two models",
        "error .15 on 30 rows against .25 on 5,000; at which confidence they differ",
        "z, unpooled, two-sided as the example says",
        "the confidence of a one-sided test",
        cells,
    )


def two_algorithms() -> Part:
    """Judge the paired t interval of seven folds.

    The slides write t(1 - alpha, k - 1) for a two-sided interval, which needs 1 - alpha/2, look
    up 7 degrees of freedom where there are 6, and call H0 "valid" when the interval holds 0, which
    it only fails to refute.

    Examples
    --------
    >>> [round(cell.defined.value, 4) for cell in two_algorithms().cells][-2:]
    [-0.0447, 0.0639]
    """
    gaps = np.subtract(FIRST, SECOND) / 2000
    test = paired_t(gaps)
    seven = float(stdtrit(7, 0.975)) * test.standard_error
    rounded = np.array(PRINTED)
    cells = [
        judge(f"fold {i}", "difference", figure, 3, Computed(float(gap)))
        for i, (figure, gap) in enumerate(zip(PRINTED, gaps, strict=True), start=1)
    ]
    spread = Computed(float(rounded.std(ddof=1)))
    note = "7 degrees of freedom give -.043 to .062"
    cells += [
        judge("all", "mean", 0.0095, 4, Computed(test.difference), Computed(float(rounded.mean()))),
        judge("all", "s", 0.0589, 4, Computed(float(gaps.std(ddof=1))), spread),
        judge(
            "all",
            "t at 95 %",
            2.365,
            3,
            Computed(float(stdtrit(6, 0.975))),
            Computed(float(stdtrit(7, 0.975))),
        ),
        judge(
            "all",
            "low",
            -0.042,
            3,
            Computed(test.low),
            Computed(test.difference - seven),
            note=note,
        ),
        judge(
            "all",
            "high",
            0.061,
            3,
            Computed(test.high),
            Computed(test.difference + seven),
            note=note,
        ),
    ]
    return Part(
        "two algorithms",
        "7-fold cross-validation of 2,000 rows: paired t interval",
        "paired t with 6 degrees of freedom",
        "differences rounded first, and 7 degrees of freedom",
        tuple(cells),
    )
