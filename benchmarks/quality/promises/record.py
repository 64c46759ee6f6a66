"""One promise, what was found, and the table of all of them."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["LEVEL", "Promise", "about", "at_least", "at_most", "markdown", "share_error", "shown"]

LEVEL = 0.95


@dataclass(frozen=True)
class Promise:
    """A coverage, a false-positive rate or a power: the range promised and the share found.

    ``note`` states a deviation from the nominal figure; without one, ``low`` and ``high`` are
    what the nominal figure says.
    """

    what: str
    setting: str
    nominal: float
    found: float
    error: float
    low: float
    high: float
    note: str = ""

    @property
    def is_promise(self) -> bool:
        """False for a figure that is only shown, such as a power nobody planned for."""
        return self.low > 0 or self.high < 1

    @property
    def kept(self) -> bool:
        return self.low - 4 * self.error - 1e-9 <= self.found <= self.high + 4 * self.error + 1e-9


def share_error(share: float, runs: int) -> float:
    """Standard error of a share of simulated runs; never 0, for a share of 0 or 1 is no proof."""
    padded = (share * runs + 1) / (runs + 2)
    return math.sqrt(padded * (1 - padded) / runs)


def about(
    what: str,
    setting: str,
    nominal: float,
    found: float,
    error: float = 0.0,
    *,
    within: tuple[float, float] | None = None,
    note: str = "",
) -> Promise:
    """Nominal, or within the stated deviation from it."""
    return Promise(what, setting, nominal, found, error, *(within or (nominal, nominal)), note)


def shown(what: str, setting: str, found: float, error: float) -> Promise:
    """A figure to read and compare, for which nothing is promised."""
    return Promise(what, setting, math.nan, found, error, 0.0, 1.0)


def at_least(what: str, setting: str, nominal: float, found: float, error: float = 0.0) -> Promise:
    """Nominal or more."""
    return Promise(what, setting, nominal, found, error, nominal, 1.0)


def at_most(what: str, setting: str, nominal: float, found: float, error: float = 0.0) -> Promise:
    """Nominal or less."""
    return Promise(what, setting, nominal, found, error, 0.0, nominal)


def markdown(promises: Iterable[Promise]) -> str:
    """The promises as tables, one for each kind."""
    kinds: dict[str, list[Promise]] = {}
    for row in promises:
        kinds.setdefault(row.what, []).append(row)
    return "\n".join(_table(what, rows) for what, rows in kinds.items())


def _table(what: str, rows: list[Promise]) -> str:
    lines = [
        f"\n### {what[0].upper()}{what[1:]}\n",
        "| setting | nominal | found | promised | kept | deviation, stated |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        error = "exact" if row.error == 0 else f"± {row.error:.4f}"
        nominal, promised, kept = "-", "-", "-"
        if row.is_promise:
            nominal, kept = f"{row.nominal:.3g}", "yes" if row.kept else "**no**"
            promised = f"{row.low:.3g} to {row.high:.3g}" if row.low < row.high else f"{row.low:g}"
        lines.append(
            f"| {row.setting} | {nominal} | {row.found:.4f} {error} | {promised} "
            f"| {kept} | {row.note} |"
        )
    return "\n".join(lines)
