"""A comparison in words: the verdict, the numbers, what they rest on, what would decide it."""

from sureleaf.comparison.verdict import Comparison

__all__ = ["sentence"]


def sentence(found: Comparison, first: str, second: str) -> str:
    """Say what a comparison found, in plain words with the numbers.

    Parameters
    ----------
    found : Comparison
        Everything but its sentence.
    first, second : str
        Names of the two.

    Examples
    --------
    >>> found = Comparison(
    ...     0.02, 0.01, 0.03, 0.001, "McNemar", "better", 900, None, "accuracy", "model",
    ...     (0.92, 0.90), 1000, 0.95, 0.0, 0.01, "the rows are independent", "")
    >>> print(sentence(found, "tree", "rule"))
    Tree is better than rule: accuracy 0.9200 against 0.9000, a difference of 0.0200 (0.0100 to
    0.0300 at level 0.95, p = 0.001, by McNemar on 1,000 rows). This holds if the rows are
    independent.
    """
    if first == second:
        first, second = f"the first {first}", f"the second {second}"
    numbers = (
        f"{found.measure} {found.values[0]:.4f} against {found.values[1]:.4f}, a difference of "
        f"{found.difference:.4f} ({found.low:.4f} to {found.high:.4f} at level {found.level:g}, "
        f"p = {found.p_value:.3g}, by {found.method} on {found.n_rows:,} rows)"
    )
    text = f"{_claim(found, first, second)}: {numbers}."
    if found.verdict == "undecided":
        text = f"{text} {_what_would_decide(found)}".rstrip()
    return f"{text[0].upper()}{text[1:]} This holds if {found.assumption}."


def _claim(found: Comparison, first: str, second: str) -> str:
    by = f" by more than {found.margin:g}" if found.margin > 0 else ""
    return {
        "better": f"{first} is better than {second}{by}",
        "worse": f"{first} is worse than {second}{by}",
        "equivalent": f"{first} and {second} are equivalent within {found.margin:g}",
        "undecided": f"Undecided whether {first} or {second} is better{by}",
    }[found.verdict]


def _what_would_decide(found: Comparison) -> str:
    if found.rows_needed is None:
        return ""
    more = found.rows_needed - found.n_rows
    rows = f"about {found.rows_needed:,} {'test ' if found.question == 'model' else ''}rows"
    if found.margin > 0:
        goal = f"an interval that reaches no further than {found.margin:g}"
    else:
        goal = f"finding a true difference of {found.detect:.3g} with a power of 80 %"
    if more <= 0:
        near = "seems to lie near the margin" if found.margin > 0 else "is likely smaller"
        return f"The rows are enough for {goal}; the true difference {near}."
    text = f"For {goal} it takes {rows} ({more:,} more)"
    if found.repeats_needed is not None:
        text += f", or {found.repeats_needed:,} repeats of the design on the rows there are"
    return text + "."
