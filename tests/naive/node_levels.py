"""The levels of nodes and trees in exact fractions, and as sums with forty digits."""

import math
from fractions import Fraction

import mpmath

DIGITS = 40
HALF = Fraction(1, 2)


def binomial(y: int, n: int, p: Fraction) -> Fraction:
    return math.comb(n, y) * p**y * (1 - p) ** (n - y)


def confidence(n: int, p: Fraction) -> Fraction:
    """Equation (5), term by term."""
    won = sum((binomial(y, n, p) for y in range(n + 1) if 2 * y > n), Fraction(0))
    return won + (HALF * binomial(n // 2, n, p) if n % 2 == 0 else 0)


def utility(n: int, p: Fraction) -> Fraction:
    """Equation (6)."""
    c = confidence(n, p)
    return p * c + (1 - p) * (1 - c)


def node_confidence(n: int, share: Fraction, p: Fraction, *, empty: str) -> Fraction:
    """Equation (9), term by term; a coin adds half the probability of no rows."""
    some = sum(
        (binomial(m, n, share) * confidence(m, p) for m in range(1, n + 1)), start=Fraction(0)
    )
    return some + (HALF * (1 - share) ** n if empty == "coin" else 0)


def confidence_of_many(n: int, p: float) -> mpmath.mpf:
    """(5) as I_p(a, a) = 1/2 + I_x(1/2, a) / 2, x = (2p - 1)^2, by the series of positive terms

    I_x(1/2, a) = 2 sqrt(x) (1 - x)^a / B(1/2, a) * sum of (a + 1/2)_k / (3/2)_k x^k;
    near x = 1 that takes too many terms, and few rows are counted instead.
    """
    if n < 500 and p > 0.75:
        exact = confidence(n, Fraction(p))
        with mpmath.workdps(DIGITS):
            return mpmath.mpf(exact.numerator) / exact.denominator
    with mpmath.workdps(DIGITS):
        a, s = mpmath.mpf((n + 1) // 2), 2 * mpmath.mpf(p) - 1
        x = s * s
        if a == 0 or s == 0:
            return mpmath.mpf(0.5)
        if s == 1 or a * x > 200:  # Hoeffding: the rest is below exp(-200)
            return mpmath.mpf(1)
        term = total = mpmath.mpf(1)
        k = 0
        while term > total * mpmath.mpf(10) ** -30:
            term *= (a + k + 0.5) / (k + 1.5) * x
            total += term
            k += 1
        return mpmath.mpf(0.5) + s * (1 - x) ** a / mpmath.beta(0.5, a) * total


def node_confidence_of_many(n: int, share: float, p: float) -> mpmath.mpf:
    """(9) with a coin, over the N within Bernstein's bound for exp(-60), in forty digits."""
    with mpmath.workdps(DIGITS):
        part, chance = mpmath.mpf(share), mpmath.mpf(p)
        mean = n * part
        reach = int(20 + mpmath.sqrt(400 + 120 * mean * (1 - part))) + 1
        first, last = max(0, int(mean) - reach), min(n, int(mean) + reach)
        odds, pq = part / (1 - part), chance * (1 - chance)
        k = (first + 1) // 2
        level = confidence_of_many(first, p)
        step = (chance - 0.5) * mpmath.binomial(2 * k, k) * pq**k
        weight, total, weighted = mpmath.mpf(1), mpmath.mpf(0), mpmath.mpf(0)
        for m in range(first, last + 1):
            total += weight
            weighted += weight * level
            if m == 2 * k:
                level += step
                step *= pq * (4 * k + 2) / (k + 1)
                k += 1
            weight *= odds * (n - m) / (m + 1)
        return weighted / total


def entropic_log_likelihood(y: float, n: float, p: mpmath.mpf) -> mpmath.mpf:
    """The logarithm of equation (2) without its binomial coefficient."""
    q = 1 - p
    return mpmath.log(p**y * q ** (n - y) + p ** (n - y) * q**y)


def entropic_estimate(y: float, n: float) -> float:
    """The maximiser of equation (2), by golden-section search over its whole range."""
    with mpmath.workdps(60):
        y, n = mpmath.mpf(y), mpmath.mpf(n)
        low, high = mpmath.mpf(0.5), mpmath.mpf(1)
        ratio = (mpmath.sqrt(5) - 1) / 2
        for _ in range(140):
            left, right = high - ratio * (high - low), low + ratio * (high - low)
            if entropic_log_likelihood(y, n, left) < entropic_log_likelihood(y, n, right):
                low = left
            else:
                high = right
        return float((low + high) / 2)


def error(value: float, truth: Fraction | mpmath.mpf) -> float:
    """Absolute error of a float, computed without rounding."""
    if isinstance(truth, Fraction):
        return float(abs(Fraction(value) - truth))
    with mpmath.workdps(DIGITS):
        return float(abs(mpmath.mpf(value) - truth))
