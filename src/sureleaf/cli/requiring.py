"""What a result must reach for exit code 0: the gate of a pipeline."""

import operator
import re
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from sureleaf.errors import InvalidArgumentError, suggestion

__all__ = ["BELOW", "check", "pass_or_exit"]

BELOW: Final = 1
"""The exit code of a result that is right and not enough."""

Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        help="Exit with code 1 unless this holds of a value of --json, such as "
        "'utility >= 0.8'; may be repeated.",
        metavar="'KEY >= VALUE'",
        rich_help_panel="For pipelines",
    ),
]

_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
_FORM: Final = re.compile(r"\s*([\w.%-]+)\s*(>=|<=|==|!=|>|<)\s*(.+?)\s*")


def check(requirements: list[str] | None, values: dict[str, Any]) -> list[str]:
    """Say which requirements do not hold.

    Parameters
    ----------
    requirements : list of str, or None
        Each a key, a comparison and a value. A key is one of the JSON result, with dots for keys
        within; below "estimates" and "value" it may be left out: accuracy is
        estimates.accuracy.value.
    values : dict
        The JSON result.

    Returns
    -------
    list of str
        A sentence for each that does not hold.

    Raises
    ------
    InvalidArgumentError
        If one has another form or there is no such key.

    Examples
    --------
    >>> result = {"estimates": {"accuracy": {"value": 0.8, "low": 0.7}}, "verdict": "better"}
    >>> check(["accuracy >= 0.8", "accuracy.low >= 0.75", "verdict == better"], result)
    ['accuracy.low >= 0.75 is required; got 0.7.']
    """
    missed = []
    for text in requirements or []:
        found = _FORM.fullmatch(text)
        if found is None:
            raise InvalidArgumentError(
                "--require must be a key, a comparison and a value, such as 'utility >= 0.8'; got "
                f"{text!r}."
            )
        key, sign, wanted = found.groups()
        value = _look_up(key, values)
        if value is None or not _holds(value, sign, wanted):
            shown = f"{value:.4g}" if isinstance(value, float) else value
            missed.append(f"{key} {sign} {wanted} is required; got {shown}.")
    return missed


def pass_or_exit(requirements: list[str] | None, values: dict[str, Any]) -> None:
    """End with exit code 1, and a line for each requirement that does not hold, if any.

    Examples
    --------
    >>> pass_or_exit(["utility >= 0.8"], {"utility": 0.9})
    """
    missed = check(requirements, values)
    for line in missed:
        typer.echo(f"sureleaf: {line}", err=True)
    if missed:
        raise typer.Exit(BELOW)


def _look_up(key: str, values: dict[str, Any]) -> Any:
    parts = key.split(".")
    place: Any = values
    if parts[0] not in values and parts[0] in values.get("estimates", {}):
        place = values["estimates"]
    for part in parts:
        if not isinstance(place, dict) or part not in place:
            known = list(place) if isinstance(place, dict) else []
            known += list(values.get("estimates", {})) if place is values else []
            raise InvalidArgumentError(
                f"--require must name a value of the result; got {key!r}.{suggestion(part, known)}"
            )
        place = place[part]
    if isinstance(place, dict) and "value" in place:
        place = place["value"]
    if isinstance(place, list):
        place = len(place)
    return place


def _holds(value: Any, sign: str, wanted: str) -> bool:
    if isinstance(value, bool | str):
        choices = [choice.strip().lower() for choice in wanted.split(",")]
        if sign not in ("==", "!="):
            raise InvalidArgumentError(
                f"--require must compare a word by == or !=; got {sign} for {value!r}."
            )
        return (str(value).lower() in choices) == (sign == "==")
    try:
        return _OPERATORS[sign](value, float(wanted))
    except (TypeError, ValueError):
        raise InvalidArgumentError(
            f"--require must compare a number with a number; got {wanted!r}."
        ) from None
