"""Text on a terminal: tables, small plots, and what the commands print.

Each ``show_`` function yields sentences and tables. What ``--json`` prints instead is in
`commands.json_values`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.markup import escape as escape_markup
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sureleaf.formatting import (
    NOTHING,
    amount,
    count_of,
    interval,
    level_percent,
    listed,
    measure_value,
    p_equals,
    p_value,
    percent,
    points,
    visible,
)

if TYPE_CHECKING:
    from sureleaf.auditing import Audit, AuditedBins, AuditedLeaves, Segments, Subgroups, Where
    from sureleaf.comparison import Comparison, ManyComparison
    from sureleaf.estimators import TreeClassifier
    from sureleaf.estimators.column_ranking import ColumnRanking
    from sureleaf.evaluation.bootstrap_errors import BootstrapError
    from sureleaf.evaluation.evaluation import Evaluation, EvaluationSummary
    from sureleaf.evaluation.intervals import Estimate
    from sureleaf.evaluation.learning_curves import LearningCurve
    from sureleaf.evaluation.measures import ConfusionMatrix
    from sureleaf.model.certificate import Certificate
    from sureleaf.model.leaf_table import LeafTable
    from sureleaf.model.tree_model import TreeModel
    from sureleaf.report.audit_report import AuditAnswer
    from sureleaf.report.document import ReportDocument


def escape(text: object) -> str:
    """Return a name, label or rule for a line with markup, with visible control characters."""
    return escape_markup(visible(text))


def number_table(
    *columns: str, rows: Iterable[Sequence[str]] = (), tight: bool = False, **options: Any
) -> Table:
    """Return a table: the first column is left-aligned, the others right-aligned.

    The options are those of every column, as rich takes them: ``no_wrap``, ``overflow``.
    """
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False, collapse_padding=tight)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", **options)
    for row in rows:
        table.add_row(*row)
    return table


class FittedTable:
    """A table that leaves out whole columns where they do not fit, and says so: no number is cut.

    The first column is left-aligned, the others right-aligned. The column `wrapped`, of names, is
    wrapped if they are long. The columns `dispensable` are left out, the first one first. Before
    them, and silently, so are the bars, whose `scale` is their heading.
    """

    def __init__(
        self, *headings: str, wrapped: str, dispensable: Sequence[str] = (), scale: str = ""
    ) -> None:
        self.caption = ""
        self._headings = (*headings, scale)
        self._wrapped = wrapped
        self._dispensable = (*([scale] if scale else []), *dispensable)
        self._rows: list[tuple[tuple[str, ...], str]] = []

    def add_row(self, *cells: str, bar: str = "", style: str = "") -> None:
        """Add a row of text with markup."""
        self._rows.append(((*cells, bar), style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unlimited = options.update_width(10_000)  # a measurement is cut at the width
        for n_left_out in range(len(self._dispensable) + 1):
            left_out = self._dispensable[:n_left_out]
            table = self._without(left_out)
            if Measurement.get(console, unlimited, table).minimum <= options.max_width:
                break
        yield table
        told = [heading for heading in left_out if heading != self._headings[-1]]
        if told:
            yield Text(f"Too narrow here to show: {', '.join(told)}", style="dim")

    def _without(self, left_out: Sequence[str]) -> Table:
        table = number_table(tight=True)
        table.caption = self.caption or None
        shown = [i for i, one in enumerate(self._headings) if one and one not in left_out]
        for i in shown:
            heading, is_bar = self._headings[i], i == len(self._headings) - 1
            is_long = len(heading) > MAX_WHOLE_LABEL and not is_bar
            words = heading.split(" ") if is_long else [heading]
            widest = max((Text.from_markup(row[i]).cell_len for row, _ in self._rows), default=0)
            wraps = heading == self._wrapped and widest > MAX_WHOLE_LABEL
            table.add_column(
                heading,
                justify="right" if i and not is_bar else "left",
                min_width=max([*map(len, words), MAX_WHOLE_LABEL if wraps else widest]),
                overflow="fold",
                no_wrap=not wraps and len(words) == 1,
            )
        for row, style in self._rows:
            table.add_row(*(row[i] for i in shown), style=style)
        return table


class ByWidth:
    """What is made for the width of the terminal, from the letters per line."""

    def __init__(self, render: Callable[[int], Iterable[RenderableType]]) -> None:
        self._render = render

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        return self._render(options.max_width)


BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """Return one block per value, higher for larger values; a space if it is not finite.

    Examples
    --------
    >>> sparkline([0.5, 0.7, 0.8, 0.85, 0.86])
    '▁▅▇██'
    """
    known = [value for value in values if math.isfinite(value)]
    low = min(known, default=0.0)
    span, last = max(known, default=0.0) - low or 1.0, len(BLOCKS) - 1
    heights = (round((x - low) / span * last) if math.isfinite(x) else None for x in values)
    return "".join(" " if height is None else BLOCKS[height] for height in heights)


def interval_bar(
    low: float, value: float, high: float, *, scale: tuple[float, float], width: int = 24
) -> str:
    """Draw an interval with its value on a scale; ends beyond the scale are cut.

    Examples
    --------
    >>> interval_bar(0.7, 0.8, 0.9, scale=(0.5, 1.0), width=11)
    '    ├─●─┤  '
    """
    left, right = scale
    if not all(map(math.isfinite, (low, value, high, left, right))) or right <= left:
        return " " * width

    shares = ((x - left) / (right - left) for x in (low, value, high))
    start, middle, stop = (min(width - 1, max(0, round(x * (width - 1)))) for x in shares)
    bar = [" "] * width
    bar[start : stop + 1] = "─" * (stop + 1 - start)
    bar[start], bar[stop] = "├", "┤"
    bar[middle] = "●"
    return "".join(bar)


# The report.

MAX_WARNINGS = 8
TONE_COLOURS = {"good": "green", "warn": "yellow", "bad": "red", "plain": ""}


def show_report(document: "ReportDocument") -> Iterator[RenderableType]:
    """Yield the first screen of a report and the first warnings about the data."""
    from sureleaf.report.sections.answer import QUESTIONS

    answer = document.answer
    yield Text(visible(answer.headline), style="bold")
    yield Text(visible(answer.detail))
    yield ""
    answers = Table.grid(padding=(0, 2, 0, 0))
    for sentence in answer.sentences:
        short = Text(visible(sentence.short), TONE_COLOURS[sentence.tone])
        answers.add_row(QUESTIONS[sentence.topic], short.append(f" {visible(sentence.text)}", ""))
    yield answers
    for warning in document.data.warnings[:MAX_WARNINGS]:
        yield Text(visible(f"! {warning.text}"), style="yellow")


def _expected(utility: float, cost: float | None, *, class_weighted: bool) -> str:
    """Say what a model is expected to do with unseen rows, after "it is expected to"."""
    if cost is not None:
        return f"cost [bold]{_number(cost)}[/bold] per unseen row"
    rows = "unseen rows, weighted by their class," if class_weighted else "unseen rows"
    return f"predict [bold]{percent(utility)}[/bold] of {rows} correctly"


_TOO_OPTIMISTIC = (
    "They come from the rows that shaped the tree, and are too high for unseen rows; "
    "--levels-from cross_fit gives those of unseen rows."
)


def saved_expectation(model: "TreeModel", unit: str | None) -> str:
    """Say what `fit` says of the tree of a report, and why the report has another figure."""
    if model.evidence.source == "training":
        return f"Its levels, which sureleaf fit prints, are training levels. {_TOO_OPTIMISTIC}"
    cost = model.expected_cost()
    expected = f"predict {percent(model.levels().utility)} of unseen rows correctly"
    if cost is not None:
        expected = f"cost {amount(cost, unit)} per unseen row"
    return (
        "By the levels of its leaves, which sureleaf fit prints, this tree is expected to "
        f"{expected}. The figure above is from the cross-validation of trees grown the same way."
    )


# Leaves, a fitted model, and ranked columns.


def show_leaves(
    model: "TreeClassifier", leaves: "LeafTable", level: float, most: int | None = None
) -> Iterator[RenderableType]:
    """Yield the answer in sentences, the rules, the table of leaves, and what to know about them.

    The leaves shown are those with the most rows; by default all.
    """
    yield _expectation(model, leaves, level)
    n_flagged = int(leaves.flagged.sum())
    if n_flagged:
        verb, them = ("is", "it") if n_flagged == 1 else ("are", "them")
        share = percent(leaves.n[leaves.flagged].sum() / leaves.n.sum(), 0)
        yield (
            f"[yellow]{_leaves(n_flagged)} {verb} flagged (!)[/yellow], with {share} of the rows: "
            f"do not rely on {them} alone."
        )
    at_costs = model.complete_model().rule is not None
    predicts, probability = ("decides", "p") if at_costs else ("predicts", "p_max")
    limits = level_percent(level)
    columns: LineCells = {
        **_leaf_columns(leaves, predicts),
        probability: lambda i: f"{leaves.probability[i]:.2f}",
        limits: lambda i: f"{leaves.low[i]:.2f}-{leaves.high[i]:.2f}",
        "confidence": lambda i: f"{leaves.confidence[i]:.2f}",
        "utility": lambda i: f"{leaves.utility[i]:.2f}",
        "needed": lambda i: _needed(leaves.rows_needed[i], "?"),
    }
    shown = largest_leaves(leaves.n, most)
    yield from _show_lines(leaves, columns, shown, (limits, probability, "needed", "rows"))
    yield from _hidden(leaves.n, shown, "--all shows them")
    for note in leaves.notes():
        yield f"[dim]{escape(note)}[/dim]"


def _expectation(model: "TreeClassifier", leaves: "LeafTable", level: float) -> str:
    """Say what the levels of a tree let expect on unseen rows."""
    levels = model.levels(level=level, method=leaves.method)
    held = f"{'holds' if len(leaves) == 1 else 'hold'} {count_of(leaves.n.sum(), 'row')}"
    tree = f"A tree with {_leaves(len(leaves))}, which {held}."
    if leaves.levels_from == "training":
        return f"{tree} {_training_levels(levels.utility, levels.confidence)}"
    cost = model.complete_model().expected_cost()
    expected = _expected(levels.utility, cost, class_weighted=model.class_weight is not None)
    if cost is None:
        known = f", {level_percent(level)} interval {interval(levels.low, levels.high)} %"
        expected += f" (utility{'' if math.isnan(levels.low) else known})"
    return (
        f"{tree} By the levels of its leaves it is expected to {expected}; its mean confidence "
        f"is [bold]{percent(levels.confidence)}[/bold]."
    )


def _training_levels(utility: float, confidence: float) -> str:
    """Say that levels are those of the rows that shaped the tree."""
    return (
        f"Its levels are [bold]training levels[/bold]: utility [bold]{percent(utility)}[/bold], "
        f"mean confidence [bold]{percent(confidence)}[/bold], by (10) and (11)."
    )


def show_guaranteed(
    leaves: "LeafTable",
    n_grown: int,
    level: float,
    confidence: float,
    *,
    most: int | None = None,
    at_costs: bool = False,
) -> Iterator[RenderableType]:
    """Yield what held-out rows prove about all leaves at once.

    The level is that of all intervals, the confidence that of all flags. Where leaves decide by
    costs, decisions are proven, not classes. The leaves shown are those with the most rows.
    """
    yield (
        f"A tree with {_leaves(len(leaves))}, grown on {count_of(n_grown, 'row')}. "
        f"{count_of(leaves.n.sum(), 'row')} that did not grow it prove the following, for any "
        "distribution of the data."
    )
    yield _proven(leaves, percent(1.0 - confidence), at_costs)
    predicts, proven = ("decides", "decision") if at_costs else ("predicts", "class")
    limits = f"{level_percent(level)}, all at once"
    columns: LineCells = {
        **_leaf_columns(leaves, predicts),
        "correct": lambda i: f"{leaves.probability[i]:.2f}" if leaves.n[i] else "",
        limits: lambda i: f"{leaves.low[i]:.2f}-{leaves.high[i]:.2f}",
        "p": lambda i: p_value(1.0 - leaves.confidence[i]),
        "needed": lambda i: _needed(leaves.rows_needed[i], "?"),
    }
    shown = largest_leaves(leaves.n, most)
    yield from _show_lines(leaves, columns, shown, ("needed", "correct", "rows"))
    p_values, bound = 1.0 - leaves.confidence, 1.0 - confidence
    if np.any((p_values > bound / 2) & (p_values <= bound)):
        yield (
            f"[dim]A {proven} is proven here if p is at most {bound:.3g}. A certificate with "
            f"--alpha {bound:.3g} needs {bound / 2:.3g}: it uses half of its error probability for "
            "the limits.[/dim]"
        )
    yield from _hidden(leaves.n, shown, "--all shows them")


def _proven(leaves: "LeafTable", error: str, at_costs: bool) -> str:
    """Say how many leaves are proven to be right, with this error probability."""
    n_flagged = int(leaves.flagged.sum())
    n_right = len(leaves) - n_flagged
    verb, one, several = "name", "its true majority class", "their true majority classes"
    if at_costs:
        verb, one, several = "make", "the cheapest decision", "the cheapest decisions"
    if not n_right:
        return f"[yellow]No leaf is proven to {verb} {one}.[/yellow]"
    flagged, which = "", "All" if n_right > 1 else "The"
    if n_flagged:
        are = "is" if n_flagged == 1 else "are"
        flagged = f"[yellow]{_leaves(n_flagged)} {are} flagged (!)[/yellow]: not proven. "
        which = "The other"
    right = f"{n_right} leaves {verb} {several}" if n_right > 1 else f"leaf {verb}s {one}"
    return f"{flagged}[bold]{which} {right}[/bold]; error probability at most {error}."


def show_certificate(certificate: "Certificate") -> Iterator[RenderableType]:
    """Yield the sentences of a certificate and the table of its leaves."""
    leaves = certificate.leaves
    yield f"[bold]Certificate of a tree with {_leaves(len(leaves))}[/bold]"
    for sentence in certificate.statements:
        yield f"- {escape(sentence)}"
    predicts = "decides" if certificate.at_costs else "predicts"
    columns: LineCells = {
        **_leaf_columns(leaves, predicts),
        "correct": lambda i: _row_count(leaves.n_correct[i]),
        "limits": lambda i: f"{leaves.low[i]:.3f}-{leaves.high[i]:.3f}",
        "p": lambda i: p_value(leaves.p_value[i]),
        "certified": lambda i: "yes" if leaves.certified[i] else "[yellow]no[/yellow]",
    }
    yield from _show_lines(leaves, columns, range(len(leaves)), ("correct", "rows", "p"))
    yield (
        f"[dim]A leaf is certified if p is at most {certificate.alpha / 2:.3g}, half of the error "
        "probability of the whole; the limits use the other half.[/dim]"
    )
    yield f"[dim]SHA-256 of tree and counts: {certificate.fingerprint}[/dim]"


LineCells = dict[str, Callable[[int], str]]
"""The cells of a table: per heading, the text in a line."""


def _leaf_columns(leaves: Any, predicts: str) -> LineCells:
    """Return the columns with which every table of leaves begins."""
    flagged = getattr(leaves, "flagged", np.zeros(len(leaves), dtype=bool))
    return {
        "leaf": lambda i: f"{leaves.leaf[i]}{_flag(flagged[i])}",
        "rows": lambda i: _row_count(leaves.n[i]),
        predicts: lambda i: escape(leaves.prediction[i]),
    }


def _table(
    columns: LineCells, lines: Iterable[int], wrapped: str, dispensable: Sequence[str]
) -> FittedTable:
    table = FittedTable(*columns, wrapped=wrapped, dispensable=dispensable)
    for line in lines:
        table.add_row(*(cell(line) for cell in columns.values()))
    return table


def _show_lines(
    leaves: Any, columns: LineCells, shown: Sequence[int], dispensable: Sequence[str]
) -> Iterator[RenderableType]:
    """Yield the rules of leaves, their table, and what would help those that are flagged."""
    _, _, predicts, *_ = columns
    yield from _rules(leaves, shown)
    yield _table(columns, shown, predicts, dispensable)
    for line in shown:
        if getattr(leaves, "repair", None) is not None and leaves.flagged[line]:
            yield f"Leaf {leaves.leaf[line]}: {escape(leaves.repair[line])}."


def _hidden(n: NDArray[np.float64], shown: list[int], where: str) -> Iterator[str]:
    """Say how many leaves are not shown, with which share of the rows, and where they are."""
    hidden = len(n) - len(shown)
    if hidden:
        more = count_of(hidden, "more leaf", "more leaves")
        share = percent(1.0 - n[shown].sum() / n.sum(), 0)
        yield f"[dim]{more}, with {share} of the rows: {where}.[/dim]"


def _needed(rows: float, unknown: str) -> str:
    return unknown if math.isnan(rows) else f"{rows:,.0f}"


MAX_WHOLE_LABEL = 12


def _rules(leaves: Any, shown: Iterable[int]) -> Iterator[str]:
    for line in shown:
        yield f"[dim]Leaf {leaves.leaf[line]}:[/dim] {escape(leaves.rule[line])}"


def _leaves(n: int) -> str:
    return count_of(n, "leaf", "leaves")


def _flag(flagged: bool) -> str:
    return " [yellow]![/yellow]" if flagged else ""


def _row_count(n: float) -> str:
    return f"{n:,.0f}" if n >= 1000 or n == round(n) else f"{n:.4g}"


def largest_leaves(n: NDArray[np.float64], most: int | None) -> list[int]:
    """Return the indices of the leaves with the most rows, in the order of the tree."""
    indices: list[int] = np.sort(np.argsort(-n, kind="stable")[:most]).tolist()
    return indices


def show_fit(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to know about a saved model before using it, from its `fit_values`."""
    confidence, subject, it = "", "By the levels of its leaves it is", "it"
    if "leaves" in values:
        model = f"A tree with {_leaves(values['leaves'])}"
        confidence = f"; mean confidence [bold]{percent(values['confidence'])}[/bold]"
    else:
        model = count_of(values["trees"], "bagged tree")
        subject, it = ("It is", "it") if values["trees"] == 1 else ("They are", "them")
    target = values["target"] if values["target"].isidentifier() else repr(values["target"])
    yield (
        f"{model}, trained on {count_of(values['rows'], 'row')} and "
        f"{count_of(len(values['columns']), 'column')} to predict "
        f"[bold]{escape(target)}[/bold]."
    )
    if values.get("levels_from") == "training":
        yield f"{_training_levels(values['utility'], values['confidence'])} {_TOO_OPTIMISTIC}"
    else:
        is_weighted = values.get("class_weighted", False)
        cost = values.get("expected_cost")
        expected = _expected(values["utility"], cost, class_weighted=is_weighted)
        yield f"{subject} expected to {expected}{confidence}."
    saved = escape(values["saved"])
    if "levels_from" in values:
        from sureleaf.model.leaf_table import kind_of_confidence

        yield f"[dim]{escape(kind_of_confidence(values['levels_from']))}[/dim]"
    yield f"Saved: {saved}"
    yield f"[dim]To predict with {it}: sureleaf predict {saved} NEW.csv -o predictions.csv[/dim]"


def show_ranking(ranking: "ColumnRanking", labels: NDArray[Any]) -> Iterator[RenderableType]:
    """Yield the best column in a sentence, and the table of all columns."""
    _, counts = np.unique(labels, return_counts=True)
    baseline = counts.max() / counts.sum()
    first = int(np.argmax(ranking.utility))
    best, useful = escape(ranking.column[first]), percent(ranking.utility[first])
    n_columns = count_of(len(ranking.column), "column")
    by = " on its own rows" if ranking.levels_from == "training" else ""
    yield (
        f"Of {n_columns}, a single split on [bold]{best}[/bold] has the highest utility{by}: "
        f"{useful}. The baseline, always predicting the most frequent class, is correct for "
        f"{percent(baseline)}."
    )
    if len(ranking.column) > 1:
        yield (
            "[dim]The highest of several utilities is too high, because the same rows choose it: "
            "sureleaf evaluate --tree max_leaves=2 predicts rows that did not choose the column."
            "[/dim]"
        )
    headings = ("column", "branches", "confidence", "utility", "Gini", "gain ratio")
    table = FittedTable(*headings, wrapped="column", dispensable=("gain ratio", "Gini", "branches"))
    figures = (ranking.confidence, ranking.utility, ranking.gini, ranking.gain_ratio)
    for name, n, *of_column in zip(ranking.column, ranking.branches, *figures, strict=True):
        table.add_row(escape(name), f"{n}", *(f"{figure:.4f}" for figure in of_column))
    yield table
    if np.any(ranking.utility <= baseline + 1e-9):
        yield (
            "[dim]A column whose utility is not above the baseline does not change the prediction "
            "by itself. It may still help below other splits, or as the first split of a "
            "tree.[/dim]"
        )
    if ranking.best_splits:
        splits = " ".join(f'--split "{split}"' for split in ranking.best_splits)
        given = f"--p-max {baseline:.4g} {splits}"
        yield (
            "[dim]To compare the best splits with no split at other numbers of rows: "
            f"sureleaf plan {given}[/dim]"
        )
    for note in ranking.notes():
        yield f"[dim]{escape(note)}[/dim]"


# Evaluations, comparisons and learning curves.


def show_evaluation(
    evaluation: "Evaluation", summary: "EvaluationSummary", errors: "BootstrapError | None" = None
) -> Iterator[RenderableType]:
    """Yield the measures with their intervals, the confusion matrix and the warnings."""
    yield from _lead(evaluation, summary)
    headings = ("measure", "value", "interval")
    table = FittedTable(*headings, wrapped="measure", scale=f"{'0 to 1':<28}")
    for name, estimate in summary.estimates.items():
        low, value, high = estimate.low, estimate.value, estimate.high
        if math.isnan(value):
            table.add_row(name, NOTHING, "undefined")
            continue
        bar = interval_bar(low, value, high, scale=(0.0, 1.0), width=28)
        bar = bar if low >= 0 and high <= 1 else ""
        table.add_row(name, _number(value), _interval(estimate), bar=bar)
        if name == "accuracy":
            table.add_row("majority class", _number(summary.majority), "", style="dim")
    yield table
    if errors is not None:
        yield _bootstrap_errors(errors)
    names = [text for name, text in _LOW_IS_GOOD.items() if name in summary.estimates]
    if names:
        yield Text(f"Low is good: {listed(names)}", style="dim")
    if "recall" in summary.estimates:
        text = f"Of class {evaluation.positive!r}: precision, recall and f_measure"
        yield Text(text, style="dim")
    yield from _interval_methods(summary)
    confusion = evaluation.confusion()
    yield ByWidth(lambda width: [Text(confusion.to_text(width))])
    yield from _matrix_note(evaluation, confusion, summary.estimates.get("accuracy"))
    times = len(evaluation.predictions) / len(np.unique(evaluation.predictions.row))
    if times > 1:
        mean = "" if times == round(times) else " on average"
        text = f"Each row was predicted {times:.3g} times{mean}, and every prediction counts."
        yield Text(text, style="dim")
    for warning in summary.warnings:
        yield Text(visible(f"! {warning}"), style="yellow")


_LOW_IS_GOOD = {
    "nce": "nce (log loss, in nats)",
    "quadratic_loss": "quadratic_loss",
    "cost": "cost (of the predictions)",
    "decided_cost": "decided_cost (of the decisions with the least expected cost)",
}
_BOOTSTRAP_ERRORS = {
    "training": "training rows: too low",
    "plain": "plain bootstrap, all rows: too low",
    "leave_one_out": "leave-one-out, rows out of the bag: a little too high",
    "e632": ".632: too low where the training error is near 0",
    "e632_plus": ".632+, recommended",
}


def _bootstrap_errors(errors: "BootstrapError") -> Table:
    """Return the estimates of the error by bootstrap samples."""
    table = number_table("error by bootstrap", "value", "standard error")
    for name, text in _BOOTSTRAP_ERRORS.items():
        spread = errors.standard_errors[name]
        known = "-" if math.isnan(spread) else f"{spread:.4f}"
        style = "bold" if name == "e632_plus" else ""
        table.add_row(text, f"{getattr(errors, name):.4f}", known, style=style)
    table.add_row("no information", f"{errors.no_information:.4f}", "", style="dim")
    return table


def _matrix_note(
    evaluation: "Evaluation", confusion: "ConfusionMatrix", accuracy: "Estimate | None"
) -> Iterator[Text]:
    """Say why the accuracy is not the share of correct predictions, if it differs visibly."""
    correct = float(np.trace(confusion.counts)) / confusion.total
    if accuracy is None or percent(accuracy.value) == percent(correct):
        return
    reason = "a mean over splits, which do not all have as many rows"
    if evaluation.design.kind == "bootstrap":
        reason = "a mean over rows, which were not predicted equally often"
    yield Text(
        f"{percent(correct)} of the predictions in the matrix are correct. The accuracy above is "
        f"{reason}.",
        style="dim",
    )


def _lead(evaluation: "Evaluation", summary: "EvaluationSummary") -> Iterator[Text]:
    """Yield the expected cost or accuracy in a sentence, and how it was estimated."""
    accuracy, cost = (summary.estimates.get(name) for name in ("accuracy", "decided_cost"))
    if summary.cheapest is not None:
        label, least = summary.cheapest
        if cost is not None:
            text = (
                f"By the decisions of least expected cost, {evaluation.estimator} is expected to "
                f"cost {_number(cost.value)} per unseen row"
            )
            if math.isfinite(cost.low):
                text += f" ({level_percent(cost.level)} interval {_interval(cost)})"
            yield Text(f"{text}.", style="bold")
        yield Text(
            f"Always deciding for {label!r}, the cheapest single decision, costs {least:.4f} per "
            "row."
        )
    elif accuracy is not None:
        text = (
            f"{evaluation.estimator} is expected to predict {percent(accuracy.value)} of unseen "
            "rows correctly"
        )
        if math.isfinite(accuracy.low):
            ends = interval(accuracy.low, accuracy.high)
            text += f" ({level_percent(accuracy.level)} interval {ends})"
        yield Text(f"{text}; the baseline {percent(summary.majority)}.", style="bold")
    positive = f"positive class {evaluation.positive!r}, " if len(evaluation.classes) == 2 else ""
    yield Text(
        f"{count_of(len(evaluation.truth), 'row')}, {len(evaluation.classes)} classes, {positive}"
        f"{design_text(evaluation.design)}, seed {evaluation.seed}",
        style="dim",
    )


def design_text(design: Any) -> str:
    """Say in a few words how rows were held out."""
    options = {"repeats": 1, "test": 0.0, "resample": "none", **design.to_dict()}
    times = f", {options['repeats']} times" if options["repeats"] > 1 else ""
    held_out = f"{100 * options['test']:.0f} % of the rows held out"
    texts = {
        "KFold": f"{options.get('n_splits')} folds{times}",
        "Holdout": held_out,
        "RepeatedHoldout": f"{held_out}{times}",
        "LeaveOneOut": "each row (or group) held out once",
        "Bootstrap": f"{options.get('n_bootstraps')} bootstrap samples",
    }
    text, resample = texts.get(options["design"], str(design)), options["resample"]
    return text if resample == "none" else f"{text}, {resample}-sampled"


def _interval_methods(summary: "EvaluationSummary") -> Iterator[Text]:
    """Yield each method of an interval once, with its measures if there are several methods."""
    by_method: dict[str, list[str]] = {}
    for name, estimate in summary.estimates.items():
        if math.isnan(estimate.value):
            yield Text(f"{name} is {estimate.method}", style="dim")
            continue
        by_method.setdefault(estimate.method, []).append(name)
    for method, names in by_method.items():
        of = "" if len(by_method) == 1 else f" ({', '.join(names)})"
        yield Text(f"Intervals: {method}{of}", style="dim")
    yield Text("")


def show_comparison(
    comparison: "Comparison", names: tuple[str, str] = ("first", "second")
) -> Iterator[RenderableType]:
    """Yield the two values, their difference on a scale, and the verdict in a sentence."""
    low, difference, high = comparison.low, comparison.difference, comparison.high
    reach = 1.1 * max(abs(low), abs(high), comparison.margin) or 1.0
    scale = f"{f'-{reach:.3g} to {reach:.3g}':^31}"
    headings = (comparison.measure, "value", "interval")
    table = FittedTable(*headings, wrapped=comparison.measure, scale=scale)
    for name, value in zip(names, comparison.values, strict=True):
        table.add_row(name, _number(value), "")
    bar = interval_bar(low, difference, high, scale=(-reach, reach), width=31)
    bar = f"{bar[:15]}{'┼' if bar[15] in ' ─' else bar[15]}{bar[16:]}"
    table.add_row("difference", _number(difference), _interval(comparison), bar=bar)
    yield table
    yield Text(visible(comparison.sentence), style="bold")


def show_many(
    many: "ManyComparison",
    measure: str,
    files: Sequence[str],
    names: Sequence[str],
    scores: Sequence[Sequence[float]],
) -> Iterator[RenderableType]:
    """Yield the scores of classifiers on several tables, their ranks, and what differs."""
    yield _score_table(measure, names, zip(files, scores, strict=True), many)
    yield from _rank_tests(many)
    pairs = number_table("Wilcoxon's test, p by Holm", "median difference", "p")
    for pair in many.pairs:
        text = visible(f"{pair.first} - {pair.second}")
        pairs.add_row(text, f"{pair.difference:+.4f}", f"{pair.adjusted_p_value:.4g}")
    yield pairs
    # Of n tables, the smallest p is that of differences that all have the same sign.
    least, alpha = 2.0 ** (1 - many.n_datasets) * len(many.pairs), 1 - many.level
    if least > alpha:
        enough = math.ceil(1 + math.log2(len(many.pairs) / alpha))
        yield Text(
            f"With {many.n_datasets} tables, p by Holm is at least {min(least, 1.0):.2g}: "
            f"Wilcoxon's test cannot show a difference. For so many pairs it needs {enough} "
            "tables or more.",
            style="yellow",
        )


def _score_table(
    measure: str,
    names: Sequence[str],
    scores: Iterable[tuple[str, Sequence[float | None]]],
    ranking: "ManyComparison | None",
) -> Table:
    """Return the scores of classifiers on tables, and below them their average ranks, if any."""
    table = number_table(measure, *map(visible, names), tight=True, overflow="fold")
    for data, row in scores:
        table.add_row(visible(data), *("-" if one is None else _number(one) for one in row))
    if ranking is not None:
        ranks = dict(zip(ranking.names, ranking.average_ranks, strict=True))
        cells = (f"{ranks[name]:.2f}" if name in ranks else "-" for name in names)
        table.add_row("average rank", *cells, style="bold")
    return table


def _rank_tests(many: "ManyComparison") -> Iterator[RenderableType]:
    """Yield what the average ranks of classifiers over several tables show."""
    yield Text("Rank 1 is the best on a table.", style="dim")
    found = "no difference is shown" if many.p_value >= 1 - many.level else "they are not all equal"
    yield Text(f"Are all equal? Friedman's test, p = {many.p_value:.4g}: {found}.")
    names = [", ".join(visible(name) for name in group) for group in many.groups]
    yield Text(
        f"Nemenyi's critical difference: {many.critical_difference:.2f} ranks. "
        + (f"Not told apart: {'; '.join(names)}." if names else "All pairs differ by more.")
    )


def show_study(document: Any) -> Iterator[RenderableType]:
    """Yield, per measure, the values of all learners on all data sets and what their ranks show.

    The document is a `StudyDocument`.
    """
    for one in document.measures:
        scores = (
            (row.data, [None if each is None else each.value for each in row.estimates])
            for row in one.rows
        )
        yield _score_table(one.measure.replace("_", " "), document.learners, scores, one.ranking)
        for each in one.undefined:
            yield Text(visible(f"{each.learner} on {each.data}: {each.reason}"))
        if one.ranking is not None:
            yield from _rank_tests(one.ranking)
    yield Text("")


def show_curve(curve: "LearningCurve") -> Iterator[RenderableType]:
    """Yield the measure by number of rows, and its line."""
    ends = [x for one in curve.estimates for x in (one.low, one.high) if math.isfinite(x)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    scale = f"{f'{_number(low)} to {_number(high)}':<30}"
    table = FittedTable("rows", curve.measure.name, "interval", wrapped="rows", scale=scale)
    for size, one in zip(curve.sizes, curve.estimates, strict=True):
        bar = interval_bar(one.low, one.value, one.high, scale=(low, high), width=30)
        table.add_row(f"{size:,}", _number(one.value), _interval(one), bar=bar)
    yield table
    yield f"{sparkline(curve.means.tolist())}  {curve.measure.name} by number of rows"
    if curve.stopped:
        yield f"Stopped at {curve.sizes[-1]:,} of {curve.n_rows:,} rows: {curve.stopped}."
    for (repeat, size), problem in curve.failures.items():
        yield Text(visible(f"! repeat {repeat} with {size} rows failed: {problem}"), style="yellow")


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 100 else f"{value:,.1f}"


def _interval(estimate: "Estimate | Comparison") -> str:
    return f"{_number(estimate.low)} to {_number(estimate.high)}"


# Audits.

MAX_AUDITED_LEAVES = 20


def show_audit(audit: "Audit", answer: "AuditAnswer") -> Iterator[RenderableType]:
    """Yield the answer, the measures, and the table of leaves or bins."""
    yield Text(visible(answer.headline), style="bold")
    for sentence in answer.sentences:
        yield Text(visible(sentence.text), style=TONE_COLOURS[sentence.tone])
    yield from _show_measures(audit)
    table, is_leaf = audit.table, audit.table is audit.leaves
    shown = largest_leaves(table.n, MAX_AUDITED_LEAVES if is_leaf else None)
    if is_leaf and getattr(table, "rule", None) is not None:
        yield from _rules(table, shown)
    yield _audit_table(audit, table, shown)
    yield from _hidden(table.n, shown, "--json has all of them")
    yield f"[dim]{escape(audit.notes()[-1])}[/dim]"


def _show_measures(audit: "Audit") -> Iterator[RenderableType]:
    from sureleaf.report.audit_report import MEASURE_WORDS

    headings = ("measure", "value", f"{level_percent(audit.level)} interval")
    table = FittedTable(*headings, wrapped="measure")
    reasons: list[str] = []
    errors, event = audit.audited.errors("calibration")
    for one in audit.measures.records():
        name = MEASURE_WORDS.get(one["measure"], one["measure"])
        value, low, high = (measure_value(one[end]) for end in ("value", "low", "high"))
        if one["value"] is None:
            table.add_row(name, "-", "-")
            reasons.append(f"{name}: {one['method']}.")
            continue
        table.add_row(name, value, f"{low} to {high}")
        if one["measure"] == "calibration_slope" and np.isin(errors.stated, (0.0, 1.0)).any():
            reasons.append(f"Intercept and slope: {one['method']}.")
    yield table
    if len(audit.classes) == 2 or audit.audited.positive is not None:
        yield (
            f"[dim]Calibration: of the probability of class {escape(repr(event))}. In the table "
            'below, "says" and "is" are about the predicted class.[/dim]'
        )
    yield from (f"[dim]{escape(reason)}[/dim]" for reason in reasons)


def show_where(where: "Where") -> Iterator[RenderableType]:
    """Yield the tables of the segments in which a model is wrong, or may be; not the answer."""
    what = {"calibration": f"Stated probability of {where.event}", "accuracy": "Accuracy"}
    number = count_of(where.n_segments, "segment")
    looked_at = f"{what.get(where.of, 'Mean cost')}; {number} looked at, and corrected for."
    yield f"[bold]Where is it wrong?[/bold] {escape(looked_at)}"
    if where.reason is not None:
        return
    if len(where.found):
        yield _segment_table(where, where.found)
        yield where.detectable_sentence()
    if len(where.open):
        yield "Open, because chance can explain them (rows in total that would settle it):"
        yield _segment_table(where, where.open)


def _segment_table(where: "Where", segments: "Segments") -> Table:
    is_open = segments is where.open
    last = [
        f"{needed:,.0f}" if is_open else p_value(float(p))
        for needed, p in zip(segments.rows_needed, segments.p_value, strict=True)
    ]
    headings = ("segment", "needed" if is_open else "p")
    return _parts_table(segments, segments.rule, last, headings, where.of, where.level)


def show_subgroups(groups: "Subgroups", level: float) -> Iterator[RenderableType]:
    """Yield the table of named columns."""
    names, p_values = [], []
    for line in range(len(groups)):
        p = p_value(float(groups.p_value[line]))
        names.append(f"{groups.column[line]}: {groups.value[line]}")
        p_values.append(f"[yellow]{p}[/yellow]" if groups.found[line] else p)
    yield _parts_table(groups, names, p_values, ("subgroup", "p"), groups.of, level)
    number = count_of(len(groups), "subgroup")
    yield f"[dim]p-values and intervals are corrected for {number}.[/dim]"
    if groups.inside is not None:
        yield groups.inside.sentence()
        for one in groups.inside.records():
            if one["found"]:
                yield Text(
                    f"Leaf {one['leaf']} ({one['rule']}), {one['column']} {one['group']}: "
                    f"{percent(one['rate'])} of {one['n_group']:,} rows have its class, of the "
                    f"others {percent(one['elsewhere'])} ({p_equals(one['p_value'])})."
                )


def _parts_table(
    parts: "Segments | Subgroups",
    names: Iterable[str],
    last: list[str],
    headings: tuple[str, str],
    of: str,
    level: float,
) -> Table:
    """Return the table of parts of the rows: what is stated of each, or holds elsewhere, and is."""
    table = number_table(tight=True)
    table.add_column(headings[0], overflow="fold", ratio=1)
    first = "says" if of == "calibration" else "elsewhere"
    for heading in (first, "is", level_percent(level), "rows", headings[1]):
        table.add_column(heading, justify="right", no_wrap=True)
    write = measure_value if of == "cost" else points
    compared = parts.stated if of == "calibration" else parts.elsewhere
    for line, name in enumerate(names):
        table.add_row(
            escape(name),
            write(float(compared[line])),
            f"[bold]{write(float(parts.observed[line]))}[/bold]",
            "-".join(write(float(end[line])) for end in (parts.low, parts.high)),
            f"{parts.n[line]:,}",
            last[line],
        )
    return table


def _audit_table(
    audit: "Audit", table: "AuditedLeaves | AuditedBins", lines: list[int]
) -> FittedTable:
    def starred(text: str, i: int) -> str:
        return text if table.agrees[i] else f"{text}[yellow]*[/yellow]"

    def range_of(i: int) -> str:
        ends = f"{bins.stated_from[i]:.2f}-{bins.stated_to[i]:.2f}"
        return f"{starred(ends, i)}{_flag(bins.flagged[i])}"

    bins = audit.bins
    predicts, last = ("decides", "cost") if audit.at_costs else ("predicts", "utility")
    columns = _leaf_columns(table, predicts)
    if table is audit.leaves:
        columns["says"] = lambda i: starred(f"{table.stated[i]:.2f}", i)
    else:
        del columns["leaf"]
        columns = {"says": range_of} | columns
    columns = {
        **columns,
        "is": lambda i: _or_dash(table.probability[i], "{:.2f}".format),
        level_percent(audit.level): lambda i: f"{table.low[i]:.2f}-{table.high[i]:.2f}",
        "confidence": lambda i: f"{table.confidence[i]:.2f}",
        last: lambda i: f"{table.utility[i]:.2f}",
        "needed": lambda i: _needed(table.rows_needed[i], "never"),
    }
    if table.cost is not None:
        cost = table.cost
        columns[last] = lambda i: _or_dash(cost[i], measure_value)
    shown = _table(columns, lines, predicts, (last, "needed", "confidence", "rows"))
    if not np.all(table.agrees[lines]):
        shown.caption = "! flagged   * predicted probability outside the interval"
    return shown


def _or_dash(value: float, write: Callable[[float], str]) -> str:
    return "-" if math.isnan(value) else write(value)
