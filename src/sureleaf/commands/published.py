"""Intervals and tests from published numbers alone, by the textbook and as recommended here."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text
from scipy.special import chdtrc

from sureleaf.arguments import check_level
from sureleaf.commands.terminal import number_table
from sureleaf.comparison import DifferenceTest, compare_rates, mcnemar, paired_t, rate_interval
from sureleaf.errors import InvalidArgumentError
from sureleaf.formatting import level_percent, p_equals, p_value, percent
from sureleaf.levels.intervals import normal_reach


@dataclass(frozen=True)
class Method:
    """A value with its interval, and the p-value of "there is no difference", if any."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    p_value: float | None = None


@dataclass(frozen=True)
class PublishedTest:
    """The answer to a question about published numbers, by two methods."""

    question: str
    level: float
    textbook: Method
    recommended: Method
    answer: str
    assumption: str


def _rate(values: Sequence[str], level: float, rows: int | None) -> PublishedTest:
    rate, n = _read_rate(_only(values, 1, "rate 76/100")[0])
    reach = normal_reach(check_level(level)) * math.sqrt(rate * (1 - rate) / n)
    found = rate_interval(rate, n, level=level)
    return PublishedTest(
        f"a rate of {percent(rate)} on {n:,} rows",
        level,
        Method("normal approximation", rate, rate - reach, rate + reach),
        Method("Wilson's interval", rate, found.low, found.high),
        f"The true rate is between {percent(found.low)} and {percent(found.high)} "
        f"({level_percent(level)} interval).",
        "the rows are independent",
    )


def _rates(values: Sequence[str], level: float, rows: int | None) -> PublishedTest:
    (e1, n1), (e2, n2) = map(_read_rate, _only(values, 2, "rates 76/100 83/120"))
    question = f"rates of {percent(e1)} on {n1:,} rows and {percent(e2)} on {n2:,} other rows"
    textbook = _method(compare_rates(e1, n1, e2, n2, level=level))
    pooled = compare_rates(e1, n1, e2, n2, pooled=True, level=level)
    return _published(question, textbook, pooled, _of_first("rate"))


def _differences(values: Sequence[str], level: float, rows: int | None) -> PublishedTest:
    numbers = [_read_number(text) for text in values]
    question = f"the differences of {len(numbers)} folds of one cross-validation"
    textbook = _method(paired_t(numbers, level=level))
    corrected = paired_t(numbers, corrected=True, level=level)
    shown = ("The mean difference is above 0", "The mean difference is below 0")
    return _published(question, textbook, corrected, shown)


def _mcnemar(values: Sequence[str], level: float, rows: int | None) -> PublishedTest:
    first, second = map(_read_count, _only(values, 2, "mcnemar 7 18"))
    discordant = first + second
    found = mcnemar(first, second, max(discordant, 1) if rows is None else rows, level=level)
    corrected = max(abs(first - second) - 1, 0) ** 2 / discordant if discordant else 0.0
    question = (
        f"{first:,} rows that only the first model predicts correctly, {second:,} that only the "
        "second does"
    )
    p = float(chdtrc(1, corrected))
    textbook = Method("McNemar's chi-square, corrected for continuity", None, None, None, p)
    return _published(question, textbook, found, _of_first("accuracy"), has_size=rows is not None)


def _method(test: DifferenceTest) -> Method:
    return Method(test.method, test.difference, test.low, test.high, test.p_value)


def _of_first(measure: str) -> tuple[str, str]:
    """Return what a difference above and below 0 shows."""
    first = f"The {measure} of the first is"
    return f"{first} higher than that of the second", f"{first} lower than that of the second"


def _published(
    question: str,
    textbook: Method,
    test: DifferenceTest,
    shown: tuple[str, str],
    *,
    has_size: bool = True,
) -> PublishedTest:
    """Say what the recommended test of "the first minus the second is 0" shows."""
    recommended, size = Method("McNemar's test, mid-p", None, None, None, test.p_value), ""
    if has_size:
        recommended, ends = _method(test), f"between {test.low:.3f} and {test.high:.3f}"
        size = f"The true difference is {ends} ({level_percent(test.level)} interval). "
    found = "No difference is shown"
    if test.p_value <= 1 - test.level:
        found = shown[0] if test.difference > 0 else shown[1]
    answer = f"{size}{found} ({p_equals(test.p_value)})."
    return PublishedTest(question, test.level, textbook, recommended, answer, test.assumption)


TESTS: dict[str, Callable[[Sequence[str], float, int | None], PublishedTest]] = {
    "rate": _rate,
    "rates": _rates,
    "differences": _differences,
    "mcnemar": _mcnemar,
}


def read_test(
    question: str, values: Sequence[str], *, level: float = 0.95, rows: int | None = None
) -> PublishedTest:
    """Return the test of a question, whose values are as they were written."""
    if rows is not None and question != "mcnemar":
        raise InvalidArgumentError(f"--rows goes with mcnemar; got it with {question}.")
    return TESTS[question](values, level, rows)


def _only(values: Sequence[str], n: int, example: str) -> Sequence[str]:
    if len(values) != n:
        what = "one value" if n == 1 else "two values"
        raise InvalidArgumentError(
            f"test {example.split()[0]} needs {what}, such as sureleaf test {example}; got "
            f"{len(values)}."
        )
    return values


def _read_rate(text: str) -> tuple[float, int]:
    """Return the rate and the rows of "76/100" or "15%/30"."""
    top, slash, bottom = text.partition("/")
    try:
        n = int(bottom)
        rate = float(top[:-1]) / 100 if top.endswith("%") else int(top) / n
        if slash and 0 <= rate <= 1 and n > 0:
            return rate, n
    except (ValueError, ZeroDivisionError):
        pass
    raise InvalidArgumentError(
        f"a rate must be a count and a number of rows, such as 76/100, or a percentage, such as "
        f"15%/30; got {text!r}."
    )


def _read_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgumentError(
            f"differences must be numbers, one per fold, such as 0.01 -0.02; got {text!r}."
        ) from None


def _read_count(text: str) -> int:
    if not text.isdecimal():
        raise InvalidArgumentError(
            f"test mcnemar needs whole numbers of rows, such as 7 18; got {text!r}."
        )
    return int(text)


def show_test(test: PublishedTest) -> Iterator[RenderableType]:
    """Yield the question, both methods, and the answer."""
    yield Text(f"Given: {test.question}.")
    table = number_table("method", "value", f"{level_percent(test.level)} interval", "p")
    for role, one in (("textbook", test.textbook), ("recommended", test.recommended)):
        value = "" if one.value is None else f"{one.value:.4f}"
        ends = "" if one.low is None else f"{one.low:.4f} to {one.high:.4f}"
        p = "" if one.p_value is None else p_value(one.p_value)
        style = "bold" if role == "recommended" else ""
        table.add_row(f"{role}: {one.name}", value, ends, p, style=style)
    yield table
    yield Text(test.answer, style="bold")
    yield Text(f"Assumed: {test.assumption}.", style="dim")
