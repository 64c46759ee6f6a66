"""P(class j is the most frequent of K): by listing every outcome, and by a recursion."""

from collections.abc import Iterator, Sequence
from math import comb, factorial


def outcomes(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to divide n rows among k classes."""
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for others in outcomes(n - first, k - 1):
            yield (first, *others)


def wins_by_listing(n: int, probabilities: Sequence[float]) -> list[float]:
    wins = [0.0] * len(probabilities)
    for counts in outcomes(n, len(probabilities)):
        chance = float(factorial(n))
        for count, p in zip(counts, probabilities, strict=True):
            chance *= p**count / factorial(count)
        best = [j for j, count in enumerate(counts) if count == max(counts)]
        for j in best:
            wins[j] += chance / len(best)
    return wins


def wins_by_recursion(n: int, probabilities: Sequence[float], winner: int) -> float:
    """Sum P(winner has t rows, no other class has more), one class and one row at a time.

    ``chances[left][ties]`` is the probability of the counts so far, as draws from the classes
    that are left; each further class takes its share of the rows left.
    """
    others = [p for j, p in enumerate(probabilities) if j != winner]
    p_winner = probabilities[winner]
    total = 0.0
    for t in range(1, n + 1):
        chances = {(n - t, 0): comb(n, t) * p_winner**t * (1 - p_winner) ** (n - t)}
        mass = 1 - p_winner
        for p in others:
            share = min(1.0, p / mass) if mass > 0 else 0.0
            following: dict[tuple[int, int], float] = {}
            for (left, ties), chance in chances.items():
                for count in range(min(t, left) + 1):
                    here = comb(left, count) * share**count * (1 - share) ** (left - count)
                    key = (left - count, ties + (count == t))
                    following[key] = following.get(key, 0.0) + chance * here
            chances = following
            mass -= p
        total += sum(c / (ties + 1) for (left, ties), c in chances.items() if left == 0)
    return total
