"""Confidence and utility of a decision at costs, by listing every possible count vector."""

from fractions import Fraction
from itertools import product
from math import factorial


def expected_costs(shares: list[Fraction], cost: list[list[Fraction]]) -> list[Fraction]:
    """Expected cost of each decision under these class weights."""
    n_classes = len(cost)
    return [sum(shares[a] * cost[a][d] for a in range(n_classes)) for d in range(n_classes)]


def cheapest(shares: list[Fraction], cost: list[list[Fraction]]) -> list[int]:
    """All decisions of least expected cost."""
    costs = expected_costs(shares, cost)
    return [d for d, value in enumerate(costs) if value == min(costs)]


def decision_probabilities(n: int, p: list[Fraction], cost: list[list[Fraction]]) -> list[Fraction]:
    """P(n rows lead to decision d), ties drawn fairly."""
    result = [Fraction(0)] * len(p)
    for counts in product(range(n + 1), repeat=len(p)):
        if sum(counts) != n:
            continue
        weight = Fraction(factorial(n))
        for count, probability in zip(counts, p, strict=True):
            weight *= probability**count / Fraction(factorial(count))
        best = cheapest([Fraction(c) for c in counts], cost)
        for decision in best:
            result[decision] += weight / len(best)
    return result


def confidence(n: int, p: list[Fraction], cost: list[list[Fraction]]) -> Fraction:
    """P(the decision is the cheapest one); equally cheap ones count 1 / r each."""
    chosen, best = decision_probabilities(n, p, cost), cheapest(p, cost)
    return sum((chosen[d] for d in best), Fraction(0)) / len(best)


def utility(n: int, p: list[Fraction], cost: list[list[Fraction]]) -> Fraction:
    """Expected saving against the most expensive decision, in units of the most expensive error."""
    n_classes = len(p)
    regret = [[cost[a][d] - cost[a][a] for d in range(n_classes)] for a in range(n_classes)]
    unit = max(max(row) for row in regret)
    chosen = decision_probabilities(n, p, cost)
    paid = expected_costs(p, regret)
    if_worst = sum((p[a] * max(regret[a]) for a in range(n_classes)), Fraction(0))
    return (if_worst - sum(c * e for c, e in zip(chosen, paid, strict=True))) / unit
