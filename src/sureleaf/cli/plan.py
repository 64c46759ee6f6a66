"""``sureleaf plan``: how many rows a node needs, and how many test rows an evaluation."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from sureleaf.cli import options
from sureleaf.cli.output import show, show_json
from sureleaf.errors import InvalidArgumentError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["plan"]


def plan(
    context: typer.Context,
    p_max: Annotated[
        str | None,
        typer.Option(
            "--p-max",
            metavar="P[:P]",
            help="Probability of the more probable class of a node, from 0.5 to 1, or a range; "
            "with costs, of the class that is decided for above the threshold, from 0 to 1.",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            "-c",
            help="Required probability that the majority class of the rows is the more probable "
            "class.",
            show_default="0.95 if no other goal is given",
        ),
    ] = None,
    utility: Annotated[
        float | None,
        typer.Option(
            "--utility", "-u", help="Required probability of predicting the next row correctly."
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            help="Costs of the decision between two classes, one row per actual class: '0,1;5,0'. "
            "--p-max is then the probability of the second class.",
            metavar="ROWS|FILE",
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Cost threshold: the probability above which deciding for the class costs less.",
            show_default="0.5, equal costs",
        ),
    ] = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", "-n", help="Show the levels of a node with this many rows."),
    ] = None,
    bias: Annotated[
        float | None,
        typer.Option(help="Largest allowed bias of an estimate of p_max, such as 0.01."),
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(help="Plan test rows for an interval of this half-width."),
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(help="Plan test rows to detect this difference between two error rates."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            help="Expected error rate; the lower one of two.",
            show_default="the rate that needs most rows",
        ),
    ] = None,
    discordance: Annotated[
        float | None,
        typer.Option(
            help="Share of rows that only one of the two models predicts correctly.",
            show_default="as for independent errors",
        ),
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Each of the two models has its own test rows.")
    ] = False,
    auc: Annotated[
        float | None, typer.Option(help="Expected AUC of a study.", show_default="0.8")
    ] = None,
    prevalence: Annotated[
        float | None,
        typer.Option(help="Expected share of the positive class of a study.", show_default="0.5"),
    ] = None,
    auc_width: Annotated[
        float | None, typer.Option(help="Plan a study: half-width of the interval of the AUC.")
    ] = None,
    slope_width: Annotated[
        float | None,
        typer.Option(help="Plan a study: half-width of the interval of the calibration slope."),
    ] = None,
    leaf_share: Annotated[
        float | None,
        typer.Option(
            help="Plan a study: share of the rows in its smallest leaf, which must reach "
            "--confidence at --p-max."
        ),
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(
            help="Probability of detecting the difference, or of enough rows in the smallest leaf.",
            show_default="0.8",
        ),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="Level of the interval and the test.", show_default="0.95"),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Compute how many rows a node needs for a level, or how many a test set needs.

    For example:

    - sureleaf plan --p-max 0.75 --confidence 0.95

    - sureleaf plan --p-max 0.7:0.9 --confidence 0.95 --utility 0.65

    - sureleaf plan --p-max 0.75 --rows 20

    - sureleaf plan --p-max 0.2 --cost "0,1;5,0"

    - sureleaf plan --p-max 0.6:0.9 --bias 0.01

    - sureleaf plan --half-width 0.02 --rate 0.1

    - sureleaf plan --auc 0.8 --prevalence 0.2 --auc-width 0.03 --slope-width 0.2

    - sureleaf plan --leaf-share 0.05 --p-max 0.75 --confidence 0.95

    - sureleaf plan --difference 0.02 --rate 0.1 --discordance 0.06
    """
    from sureleaf.report import plan as plan_text
    from sureleaf.report.plan import make_plan, plan_rows, plan_study

    _refuse_unused(context.params, context.args)
    power, level = 0.8 if power is None else power, 0.95 if level is None else level
    shown: list[RenderableType] = []
    plain: dict[str, object] = {}
    is_study = auc_width is not None or slope_width is not None or leaf_share is not None
    if p_max is not None and leaf_share is None:
        if confidence is None and utility is None and rows is None and bias is None:
            confidence = 0.95
        node_plan = make_plan(
            _read_range(":".join([p_max, *context.args])),  # --p-max 0.7 0.9 is --p-max 0.7:0.9
            confidence=confidence,
            utility=utility,
            rows=rows,
            bias=bias,
            threshold=_read_threshold(cost, threshold),
        )
        shown += [*plan_text.tables(node_plan), f"[bold]{node_plan.answer()}[/bold]"]
        plain |= node_plan.to_dict()
    if is_study:
        study = plan_study(
            auc=0.8 if auc is None else auc,
            prevalence=0.5 if prevalence is None else prevalence,
            auc_width=auc_width,
            slope_width=slope_width,
            leaf_share=leaf_share,
            p_max=0.8 if p_max is None else _read_range(p_max)[0],
            confidence=0.95 if confidence is None else confidence,
            power=power,
            level=level,
        )
        shown += [plan_text.study_table(study), f"[bold]{study.answer()}[/bold]"]
        plain["study"] = study.to_dict()
    is_alone = p_max is None and not is_study
    if is_alone or half_width is not None or difference is not None:
        test_plan = plan_rows(
            half_width=half_width,
            difference=difference,
            rate=rate,
            discordance=discordance,
            independent=independent,
            power=power,
            level=level,
        )
        shown += [plan_text.rows_table(test_plan), f"[bold]{test_plan.answer()}[/bold]"]
        plain["test_rows"] = test_plan.to_dict()
    if as_json:
        show_json(plain)
    else:
        show(*shown)


_QUESTIONS = ("p_max", "half_width", "difference", "auc_width", "slope_width", "leaf_share")

_BELONGS_TO = {
    "confidence": ("p_max", "leaf_share"),
    "utility": ("p_max",),
    "cost": ("p_max",),
    "threshold": ("p_max",),
    "rows": ("p_max",),
    "bias": ("p_max",),
    "rate": ("half_width", "difference"),
    "discordance": ("difference",),
    "independent": ("difference",),
    "auc": ("auc_width", "slope_width"),
    "prevalence": ("auc_width", "slope_width"),
    "power": ("difference", "leaf_share"),
    "level": ("half_width", "difference", "auc_width", "slope_width"),
}
"""The questions that read an option."""


def _refuse_unused(values: dict[str, Any], words: list[str]) -> None:
    """Raise an error for an option or a word that no given question reads."""
    asked = {name for name in _QUESTIONS if values[name] is not None}
    if "leaf_share" in asked:
        asked -= {"p_max"}  # then it is the p_max of that leaf
    if words and "p_max" not in asked:
        raise InvalidArgumentError(
            f"a number without an option must be the second end of --p-max; got {words[0]!r}. "
            "Leave it out."
        )
    for name, questions in _BELONGS_TO.items():
        if asked and values[name] not in (None, False) and asked.isdisjoint(questions):
            raise InvalidArgumentError(
                f"{_option(name)} must go with {' or '.join(map(_option, questions))}; got "
                f"{' and '.join(_option(one) for one in _QUESTIONS if one in asked)}, which "
                f"{'does' if len(asked) == 1 else 'do'} not read it. Leave it out."
            )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read_threshold(cost: str | None, threshold: float | None) -> float:
    """Return the cost threshold that is given, or that of a cost matrix of two classes."""
    if cost is None:
        return 0.5 if threshold is None else threshold
    if threshold is not None:
        raise InvalidArgumentError(
            "--cost and --threshold say the same in two ways; got both. Leave out one of them."
        )
    import numpy as np

    from sureleaf.levels.decisions import cost_rule

    return cost_rule(options.read_cost(cost, np.array([0, 1]))).threshold


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
