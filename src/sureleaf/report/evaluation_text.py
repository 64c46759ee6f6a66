"""Evaluations, comparisons and curves as tables with small plots, and as plain values."""

import math
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from sureleaf.comparison import Comparison
from sureleaf.evaluation import Estimate, Evaluation, LearningCurve, RowsFor, Summary
from sureleaf.model.column_table import json_value
from sureleaf.report.terminal import interval_bar, number_table, sparkline

__all__ = [
    "comparison_values",
    "curve_values",
    "design_words",
    "evaluation_values",
    "show_comparison",
    "show_curve",
    "show_evaluation",
]


def show_evaluation(judged: Evaluation, summary: Summary) -> Iterator[RenderableType]:
    """Yield the figures with their intervals, the confusion matrix and what to beware of.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> next(show_evaluation(judged, judged.summary())).plain.split(" (")[0]
    'GaussianNB() is right about 95.3 % of rows it has not seen'
    """
    yield from _answer(judged, summary)
    table = number_table("measure", "value", "interval", no_wrap=True)
    table.add_column("0 to 1", no_wrap=True)
    for name, found in summary.estimates.items():
        on_scale = found.low >= 0 and found.high <= 1
        bar = interval_bar(found.low, found.value, found.high, scale=(0.0, 1.0), width=28)
        table.add_row(name, _number(found.value), _interval(found), bar if on_scale else "")
        if name == "accuracy":
            table.add_row("majority class", _number(summary.majority), "", "", style="dim")
    yield table
    yield from _low_is_good(summary)
    yield from _methods(summary)
    yield Text(str(judged.confusion()))
    for warning in summary.warnings:
        yield Text(f"! {warning}", style="yellow")


def _answer(judged: Evaluation, summary: Summary) -> Iterator[Text]:
    """Yield how often the classifier is right, in a sentence, and how that was found."""
    found = summary.estimates.get("accuracy")
    if found is not None:
        told = (
            f"{judged.estimator} is right about {_percent(found.value)} % of rows it has not seen"
        )
        if math.isfinite(found.low):
            told += f" ({100 * found.level:g} %: {_percent(found.low)} to {_percent(found.high)} %)"
        yield Text(
            f"{told}, the majority class about {_percent(summary.majority)} %.", style="bold"
        )
    two = len(judged.classes) == 2
    positive = f"positive class {judged.positive!r}, " if two else ""
    yield Text(
        f"{len(judged.truth):,} rows of {len(judged.classes)} classes, {positive}"
        f"{design_words(judged.design)}, seed {judged.seed}",
        style="dim",
    )


def _low_is_good(summary: Summary) -> Iterator[Text]:
    """Yield which of the figures are better where they are lower, and what the rarer ones are."""
    words = {
        "nce": "nce (log loss, in nats)",
        "quadratic_loss": "quadratic_loss",
        "cost": "cost (of the most probable class)",
        "decided_cost": "decided_cost (of what costs least by the probabilities)",
    }
    told = [text for name, text in words.items() if name in summary.estimates]
    if told:
        *most, last = told
        listed = f"{', '.join(most)} and {last}" if most else last
        yield Text(f"Low is good: {listed}", style="dim")


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def design_words(design: Any) -> str:
    """Say in a few words how rows were held out.

    Examples
    --------
    >>> from sureleaf.designs import Holdout, KFold
    >>> design_words(KFold(10, repeats=3)), design_words(Holdout())
    ('10 folds, 3 times', '33 % of the rows held out')
    """
    about = design.to_dict()
    repeats = about.get("repeats", 1)
    times = f", {repeats} times" if repeats > 1 else ""
    words = {
        "KFold": f"{about.get('n_splits')} folds{times}",
        "NestedKFold": f"{about.get('n_splits')} nested folds{times}",
        "Holdout": f"{100 * about.get('test', 0):.0f} % of the rows held out",
        "RepeatedHoldout": f"{100 * about.get('test', 0):.0f} % of the rows held out{times}",
        "LeaveOneOut": "each row (or group) held out once",
        "Bootstrap": f"{about.get('n_bootstraps')} bootstraps",
    }
    found = words.get(about["design"], str(design))
    resampled = about.get("resample", "none")
    return found if resampled == "none" else f"{found}, {resampled}-sampled"


def _methods(summary: Summary) -> Iterator[Text]:
    """Yield each way to an interval once, with its measures unless it is that of all."""
    by_method: dict[str, list[str]] = {}
    for name, found in summary.estimates.items():
        by_method.setdefault(found.method, []).append(name)
    for method, names in by_method.items():
        of = "" if len(by_method) == 1 else f" ({', '.join(names)})"
        yield Text(f"Intervals: {method}{of}", style="dim")
    yield Text("")


def show_comparison(
    found: Comparison, names: tuple[str, str] = ("first", "second")
) -> Iterator[RenderableType]:
    """Yield the two figures, their difference on a scale, and the verdict in a sentence.

    Examples
    --------
    >>> from sureleaf.comparison.verdict import Comparison
    >>> found = Comparison(
    ...     0.02, 0.01, 0.03, 0.001, "McNemar", "better", 900, None, "accuracy", "model",
    ...     (0.92, 0.90), 1000, 0.95, 0.0, 0.01, "the rows are independent", "A is better.")
    >>> list(show_comparison(found))[-1].plain
    'A is better.'
    """
    reach = 1.1 * max(abs(found.low), abs(found.high), found.margin) or 1.0
    table = number_table(found.measure, "value", "interval", no_wrap=True)
    table.add_column(f"-{reach:.3g} to {reach:.3g}", justify="center", no_wrap=True)
    table.add_row(names[0], _number(found.values[0]), "", "")
    table.add_row(names[1], _number(found.values[1]), "", "")
    bar = interval_bar(found.low, found.difference, found.high, scale=(-reach, reach), width=31)
    middle = "┼" if bar[15] in " ─" else bar[15]
    table.add_row(
        "difference",
        _number(found.difference),
        f"{_number(found.low)} to {_number(found.high)}",
        f"{bar[:15]}{middle}{bar[16:]}",
    )
    yield table
    yield Text(found.sentence, style="bold")


def show_curve(curve: LearningCurve, reach: RowsFor | None) -> Iterator[RenderableType]:
    """Yield the figures by size, their line, the law they follow and the rows for a target.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import learning_curve
    >>> curve = learning_curve(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> next(show_curve(curve, None)).row_count == len(curve.sizes)
    True
    """
    ends = [x for one in curve.estimates for x in (one.low, one.high) if math.isfinite(x)]
    scale = (min(ends, default=0.0), max(ends, default=1.0))
    table = number_table("rows", curve.measure.name, "interval", no_wrap=True)
    table.add_column(f"{_number(scale[0])} to {_number(scale[1])}", no_wrap=True)
    for size, found in zip(curve.sizes, curve.estimates, strict=True):
        bar = interval_bar(found.low, found.value, found.high, scale=scale, width=30)
        table.add_row(f"{size:,}", _number(found.value), _interval(found), bar)
    yield table
    yield f"{sparkline(curve.means.tolist())}  {curve.measure.name} by rows"
    if curve.stopped:
        yield f"Stopped at {curve.sizes[-1]:,} of {curve.n_rows:,} rows: {curve.stopped}."
    for (repeat, size), why in curve.failures.items():
        yield Text(f"! repeat {repeat}, {size} rows failed: {why}", style="yellow")
    if reach is not None:
        yield Text(f"{reach}.", style="bold")


def evaluation_values(judged: Evaluation, summary: Summary) -> dict[str, Any]:
    """Return an evaluation as plain values for JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import evaluate
    >>> judged = evaluate(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> evaluation_values(judged, judged.summary())["n_rows"]
    150
    """
    return {
        "estimator": judged.estimator,
        "design": judged.design.to_dict(),
        "seed": judged.seed,
        "n_rows": len(judged.truth),
        "classes": judged.classes.tolist(),
        "positive": judged.positive,
        "majority": summary.majority,
        "estimates": {name: _estimate(found) for name, found in summary.estimates.items()},
        "confusion": judged.confusion().counts.tolist(),
        "warnings": list(summary.warnings),
    }


def comparison_values(found: Comparison) -> dict[str, Any]:
    """Return a comparison as plain values for JSON.

    Examples
    --------
    >>> from sureleaf.comparison.verdict import Comparison
    >>> found = Comparison(
    ...     0.02, 0.01, 0.03, 0.001, "McNemar", "better", 900, None, "accuracy", "model",
    ...     (0.92, 0.90), 1000, 0.95, 0.0, 0.01, "the rows are independent", "A is better.")
    >>> comparison_values(found)["verdict"]
    'better'
    """
    values = {name: json_value(value) for name, value in vars(found).items()}
    return values | {"values": [json_value(value) for value in found.values]}


def curve_values(curve: LearningCurve, reach: RowsFor | None) -> dict[str, Any]:
    """Return a learning curve as plain values for JSON.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf.evaluation import learning_curve
    >>> curve = learning_curve(GaussianNB(), *load_iris(return_X_y=True), random_state=0)
    >>> sorted(curve_values(curve, None))
    ['failures', 'measure', 'n_rows', 'points', 'reach', 'stopped']
    """
    points = [
        {"rows": int(size), **_estimate(found)}
        for size, found in zip(curve.sizes, curve.estimates, strict=True)
    ]
    told = None
    if reach is not None:
        told = {name: json_value(value) for name, value in vars(reach).items()}
        told["sentence"] = str(reach)
    return {
        "measure": curve.measure.name,
        "n_rows": curve.n_rows,
        "points": points,
        "stopped": curve.stopped,
        "failures": [f"repeat {r}, {n} rows: {why}" for (r, n), why in curve.failures.items()],
        "reach": told,
    }


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def _interval(found: Estimate) -> str:
    return f"{_number(found.low)} to {_number(found.high)}"


def _estimate(found: Estimate) -> dict[str, Any]:
    return {name: json_value(value) for name, value in vars(found).items()}
