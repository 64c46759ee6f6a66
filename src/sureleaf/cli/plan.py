"""``sureleaf plan``: how many rows a node needs, and how many test rows an evaluation."""

from typing import TYPE_CHECKING, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.options import optional
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sureleaf.commands.plan import Plan, SplitsPlan
    from sureleaf.levels.competing_splits import CandidateSplit


_TEST = ("half_width", "difference")

_QUESTIONS = {
    "p_max": optional(
        str,
        "Probability of the more probable class of a node, from 0.5 to 1, or a range; with costs, "
        "of the class that is decided for above the threshold, from 0 to 1.",
        metavar="P[:P]",
    ),
    "split": optional(
        list[str],
        "Compare a split of a node with no split, by rows: share (or rows) and p_max of each of "
        "its nodes. May be repeated; with --p-max, that of the node.",
        metavar="SHARE:P,...",
    ),
    "half_width": optional(float, "Plan test rows for an interval of this half-width."),
    "difference": optional(
        float, "Plan test rows to detect this difference between two error rates."
    ),
}
_NODE_DETAILS = {
    "confidence": optional(
        float,
        "Required probability that the majority class of the rows is the more probable class.",
        "-c",
        default="0.95 if no other goal is given",
    ),
    "utility": optional(float, "Required probability of predicting the next row correctly.", "-u"),
    "cost": optional(
        str,
        "Costs of the decision between two classes, one row per actual class: '0,1;5,0'. --p-max "
        "is then the probability of the second class.",
        metavar="ROWS|FILE",
    ),
    "rows": optional(int, "Show the levels of a node with this many rows.", "-n"),
    "bias": optional(float, "Largest allowed bias of an estimate of p_max, such as 0.01."),
}
_TEST_DETAILS = {
    "rate": optional(
        float, "Expected error rate; the lower one of two.", default="the one that needs most rows"
    ),
    "discordance": optional(
        float,
        "Share of rows that only one of the two models predicts correctly.",
        default="as for independent errors",
    ),
    "independent": optional(bool, "Each of the two models has its own test rows."),
    "power": optional(float, "Probability of detecting the difference.", default="0.8"),
    "level": optional(float, "Level of the interval and the test.", default="0.95"),
}
_READ_BY = {
    **dict.fromkeys(_NODE_DETAILS, ("p_max",)),
    **dict.fromkeys(_TEST_DETAILS, ("difference",)),
    **dict.fromkeys(("rate", "level"), _TEST),
}
"""The questions that read a detail."""


@options.with_options(given=options.OptionGroup(_QUESTIONS | _NODE_DETAILS | _TEST_DETAILS, dict))
def plan(context: typer.Context, given: dict[str, Any], as_json: options.AsJson = False) -> None:
    """Compute how many rows a node needs for a level, or how many a test set needs.

    For example:
    - sureleaf plan --p-max 0.75 --confidence 0.95
    - sureleaf plan --p-max 0.7:0.9 --confidence 0.95 --utility 0.65
    - sureleaf plan --p-max 0.75 --rows 20
    - sureleaf plan --split "0.9:0.75,0.1:0.75" --split "0.2:0.75,0.8:0.6875"
    - sureleaf plan --p-max 0.2 --cost "0,1;5,0"
    - sureleaf plan --p-max 0.6:0.9 --bias 0.01
    - sureleaf plan --half-width 0.02 --rate 0.1
    - sureleaf plan --difference 0.02 --rate 0.1 --discordance 0.06
    """
    from sureleaf.commands import plan as planning

    given = {name: value for name, value in given.items() if value not in (None, [])}
    _refuse_unused(given, context.args)
    shown: list[RenderableType] = []
    plain: dict[str, object] = {}
    if "split" in given:
        splits = _plan_splits(given, context.args)
        shown += [
            "Utility, and in brackets confidence, by the rows of the node: (11) and (10).",
            planning.splits_table(splits),
            splits.of_no_split(),
            f"[bold]{splits.answer()}[/bold]",
            *filter(None, [splits.crossings_in_words()]),
        ]
        plain["splits"] = splits.to_dict()
    elif "p_max" in given:
        node = _plan_node(given, context.args)
        shown += [*planning.plan_tables(node), f"[bold]{node.answer()}[/bold]"]
        shown += [_ASSUMED] if node.levels and "cost" not in given else []
        plain |= node.to_dict()
    if given.keys().isdisjoint(("p_max", "split")) or not given.keys().isdisjoint(_TEST):
        test = planning.plan_rows(**_chosen(given, *_TEST, *_TEST_DETAILS))
        shown += [planning.rows_table(test), f"[bold]{test.answer()}[/bold]"]
        plain["test_rows"] = test.to_dict()
    if as_json:
        show_json(plain)
    else:
        show(*shown)


def _chosen(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if name in given}


def _plan_node(given: dict[str, Any], words: list[str]) -> "Plan":
    from sureleaf.commands.plan import make_plan

    p_max = _read_range(":".join([given["p_max"], *words]))  # 0.7 0.9 is 0.7:0.9
    goals = _chosen(given, "confidence", "utility", "rows", "bias") or {"confidence": 0.95}
    return make_plan(p_max, threshold=_read_threshold(given.get("cost")), **goals)


def _plan_splits(given: dict[str, Any], words: list[str]) -> "SplitsPlan":
    from sureleaf.commands.plan import plan_splits

    texts = given["split"]
    splits = {chr(ord("A") + line): _read_split(text) for line, text in enumerate(texts)}
    if "p_max" not in given:
        return plan_splits(splits)
    low, high = _read_range(":".join([given["p_max"], *words]))
    if low != high:
        raise InvalidArgumentError(
            f"--p-max must be one number beside --split, that of the node; got {low:g} to {high:g}."
        )
    return plan_splits(splits, p_max=low)


_ASSUMED = (
    "[dim]By (5) and (6): the node has exactly that many rows, and its p_max is known. sureleaf "
    "leaves gives the rows that a fitted leaf needs, whose accuracy is estimated.[/dim]"
)
_ROUNDED_SHARE = 5e-4
"""Shares may be typed with three decimals."""


def _read_split(text: str) -> "CandidateSplit":
    """Return the split that "0.9:0.75,0.1:0.75" describes."""
    from sureleaf.levels.competing_splits import checked_split

    try:
        nodes = [tuple(map(float, node.split(":"))) for node in text.split(",")]
        shares, p_max = zip(*((share, p) for share, p in nodes), strict=True)
    except ValueError:
        raise InvalidArgumentError(
            "--split must be the share (or rows) and p_max of every node, such as "
            f"0.9:0.75,0.1:0.75; got {text!r}."
        ) from None
    total = sum(shares)
    is_rows = all(share.is_integer() for share in shares) and total > 1
    is_rounded = abs(total - 1) < _ROUNDED_SHARE * len(shares)
    if is_rows or is_rounded:
        shares = tuple(share / total for share in shares)
    return checked_split(shares, p_max)


def _refuse_unused(given: dict[str, Any], words: list[str]) -> None:
    """Raise an error for an option or a word that no given question reads."""
    asked = [name for name in _QUESTIONS if name in given]
    if words and "p_max" not in asked:
        raise InvalidArgumentError(
            f"a number without an option must be the second end of --p-max; got {words[0]!r}. "
            "Leave it out."
        )
    for detail, questions in _READ_BY.items():
        if asked and detail in given and set(asked).isdisjoint(questions):
            raise InvalidArgumentError(
                f"{_option(detail)} must go with {' or '.join(map(_option, questions))}; got "
                f"{' and '.join(map(_option, asked))}, which "
                f"{'does' if len(asked) == 1 else 'do'} not read it. Leave it out."
            )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read_threshold(cost: str | None) -> float:
    """Return the cost threshold of a cost matrix of two classes."""
    import numpy as np

    from sureleaf.levels.decisions import cost_rule

    costs = options.read_cost(cost, np.array([0, 1]))
    return 0.5 if costs is None else cost_rule(costs).threshold


def _read_range(text: str) -> tuple[float, float]:
    """Return the two ends of "0.7:0.9", or of one number twice."""
    try:
        ends = [float(end) for end in text.split(":")]
        low, high = ends if len(ends) == 2 else (ends[0], *ends)
    except ValueError:
        raise InvalidArgumentError(
            f"--p-max must be a number such as 0.75 or a range such as 0.7:0.9; got {text!r}."
        ) from None
    return low, high
