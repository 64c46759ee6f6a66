"""An audit as a document (docs/audit.md), and its page."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, Literal

import numpy as np

from sureleaf.auditing import Audit, AuditedBins, AuditedLeaves, AuditedTrees, Subgroups, Where
from sureleaf.comparison import Comparison
from sureleaf.files.atomic_write import atomic_write
from sureleaf.formatting import (
    count_of,
    interval,
    level_percent,
    measure_value,
    percent,
    percent_below,
    points,
    upper_first,
)
from sureleaf.model.column_table import end_of
from sureleaf.report.document import package_versions
from sureleaf.report.document_schema import finite, interval_estimate, plain_values
from sureleaf.report.request import Origin
from sureleaf.report.sections.answer import (
    LeadingMeasure,
    Tone,
    costs_text,
    leading_measure,
    wanted_text,
)
from sureleaf.report.sections.data import ClassCount
from sureleaf.report.sections.methods import Definition, define
from sureleaf.report.sections.tree import WantedLevels


@dataclass(frozen=True)
class AuditSentence:
    """A sentence of the answer; `see` is the id of the section with the details."""

    topic: Literal[
        "training",
        "remark",
        "baseline",
        "claims",
        "where",
        "groups",
        "trees",
        "comparison",
        "newness",
    ]
    tone: Tone
    text: str
    see: str


@dataclass(frozen=True)
class AuditAnswer:
    """What the rows show, in sentences: the first screen of the page, and the terminal text."""

    headline: str
    lead: LeadingMeasure
    sentences: list[AuditSentence]


def audit_answer(
    audit: Audit,
    target: str | None = None,
    *,
    where: Where | None = None,
    comparison: Comparison | None = None,
) -> AuditAnswer:
    """Return the answer of an audit."""
    sentences = list(_sentences(audit, where, comparison))
    if audit.rows == "training" or audit.looks_seen:  # results on training rows are no good news
        sentences = [replace(one, tone="plain") if one.tone == "good" else one for one in sentences]
    return AuditAnswer(_headline(audit, target), _lead(audit), sentences)


def audit_document(
    audit: Audit,
    origin: Origin,
    *,
    model_file: str | None = None,
    where: Where | None = None,
    by: Subgroups | None = None,
    comparison: tuple[str, Comparison] | None = None,
) -> dict[str, Any]:
    """Return everything about an audit, as docs/audit.md describes it.

    ``audit.to_dict()`` with the answer, the data, the confusion matrix and the methods. `where` and
    `by` come from the audit; `comparison` is the name of another model and ``audit.compare(...)``.
    """
    name, other = (None, None) if comparison is None else comparison
    answer = audit_answer(audit, origin.target, where=where, comparison=other)
    rows = f", rows={audit.rows!r}" if audit.newness in ("stated", "training") else ""
    compared = ("measure", "difference", "low", "high", "p_value", "verdict")
    return {
        **audit.to_dict(),
        "made": package_versions(origin),
        "data": _data(audit, origin, model_file),
        "confusion": _confusion(audit),
        "where": None if where is None else where.to_dict(),
        "by": None if by is None else _named_columns(by),
        "comparison": None
        if other is None
        else {
            "other": name,
            **{each: getattr(other, each) for each in compared},
            "sentence": str(other),
        },
        "notes": audit.notes(),
        "outside_note": audit.outside_note,
        "answer": plain_values(answer),
        "methods": {
            "definitions": plain_values(list(_definitions(audit, where))),
            "repeat": origin.command or f"sureleaf.audit(model, X, y{rows})",
        },
    }


def write_audit(document: Mapping[str, Any], path: str | PathLike[str]) -> None:
    """Write the page of an audit's document, whole or not at all."""
    from sureleaf.report.html import render_audit

    page = render_audit(document)
    with atomic_write(path) as file:
        file.write(page.encode())


def _named_columns(by: Subgroups) -> dict[str, Any]:
    inside = by.inside
    return {
        "of": by.of,
        "subgroups": by.records(),
        "inside": None
        if inside is None
        else {"sentence": inside.sentence(), "leaves": inside.records()},
    }


def _data(audit: Audit, origin: Origin, model_file: str | None) -> dict[str, Any]:
    counts = audit.bins.counts.sum(axis=0)
    classes = [
        ClassCount(str(label), str(label), float(count), float(count / counts.sum()))
        for label, count in zip(audit.classes.tolist(), counts, strict=True)
    ]
    return {
        "source": origin.source,
        "target": origin.target,
        "title": origin.title,
        "model_file": model_file,
        "rows": audit.n_rows,
        "rows_left_out": origin.rows_left_out,
        "columns_left_out": list(origin.columns_left_out),
        "classes": plain_values(classes),
    }


def _confusion(audit: Audit) -> list[list[float]]:
    """Count actual classes by predicted ones: every bin has one prediction."""
    predicted = [audit.bins.prediction == label for label in audit.classes]
    columns = [audit.bins.counts[bins].sum(axis=0) for bins in predicted]
    rows: list[list[float]] = np.column_stack(columns).tolist()
    return rows


MEASURE_WORDS = {
    "auc": "AUC",
    "nce": "log loss (NCE)",
    "quadratic_loss": "quadratic loss (Brier)",
    "calibration_intercept": "calibration intercept",
    "calibration_slope": "calibration slope",
}
"""Names of measures for people."""

# The answer: the measure that it leads with, and sentences, each with the section that shows the
# details.

MAX_NAMED = 3
MAX_RULE_LENGTH = 140


def _lead(audit: Audit) -> LeadingMeasure:
    label, baseline = audit.baseline.label, audit.baseline.value
    found = interval_estimate(audit.accuracy if audit.cost is None else audit.cost)
    assert found is not None
    measure: Literal["accuracy", "cost"] = "accuracy" if audit.cost is None else "cost"
    return leading_measure(found, measure, baseline, f"always \u201c{label}\u201d")


def _sentences(
    audit: Audit, where: Where | None, other: Comparison | None
) -> Iterator[AuditSentence]:
    if audit.rows == "training":
        yield AuditSentence("training", "bad", audit.notes()[0], "data")
    for remark in audit.remarks:
        yield AuditSentence("remark", "bad", remark, "data")
    yield AuditSentence("baseline", *_baseline(audit), "data")
    yield AuditSentence("claims", *_claims(audit), "bins")
    if where is not None:
        yield AuditSentence("where", *_where(where), "where")
    groups = "leaves" if audit.table is audit.leaves else "bins"
    yield AuditSentence("groups", *_groups(audit), groups)
    if audit.trees is not None:
        yield AuditSentence("trees", "plain", _trees(audit.trees), "trees")
    if other is not None:
        yield AuditSentence("comparison", "plain", str(other), "measures")
    if audit.newness_in_words is not None:
        yield AuditSentence("newness", "plain", audit.newness_in_words, "data")


def _headline(audit: Audit, target: str | None) -> str:
    rows = count_of(audit.n_rows, "row" if audit.is_in_doubt else f"{audit.rows} row")
    level = level_percent(audit.level)
    if audit.cost is not None:
        costs = "the costs that it was fitted with" if audit.audited.cost_of_model else "your costs"
        ends = [finite(end) for end in (audit.cost.low, audit.cost.high)]
        width = "no valid interval"
        if None not in ends:
            width = f"{level} interval {' to '.join(map(measure_value, ends))}"
        return (
            f"At {costs}, this {audit.model} costs "
            f"{measure_value(audit.cost.value)} per row on {rows} ({width})."
        )
    what = "" if target is None else f"\u201c{target}\u201d "
    return (
        f"This {audit.model} predicts {what}correctly for {percent(audit.accuracy.value)} of "
        f"{rows} ({level} interval {interval(audit.accuracy.low, audit.accuracy.high)})."
    )


def _baseline(audit: Audit) -> tuple[Tone, str]:
    baseline, matrix = audit.baseline, audit.audited.cost
    verdict, better, worse = baseline.comparison.verdict, "better", "worse"
    text = (
        f"The baseline, always predicting {baseline.label}, is correct for "
        f"{percent(baseline.value)} of the rows"
    )
    if audit.cost is not None and matrix is not None:
        better, worse = "cheaper", "more expensive"
        text = (
            f"The baseline, always deciding {baseline.label}, the cheapest constant, costs "
            f"{measure_value(baseline.value)} per row"
            f"{costs_text(matrix, list(map(str, audit.classes.tolist())))}"
        )
    if verdict in ("better", "worse"):
        tone: Tone = "good" if verdict == "better" else "bad"
        found = better if verdict == "better" else worse
        return tone, f"{text}: the model is {found} than the baseline."
    return "bad", f"{text}: these rows do not show that the model is {better} than the baseline."


def _claims(audit: Audit) -> tuple[Tone, str]:
    """Compare what the model expects of itself with what the rows show."""
    if audit.cost is None:
        found, stated = audit.accuracy, audit.stated
        text = (
            f"The mean probability of its predicted classes is {percent(stated)}; "
            f"{percent(found.value)} of the predictions are correct."
        )
        gap = f"by {points(abs(stated - found.value))} percentage points"
        too_sure, too_unsure = stated > found.high, stated < found.low
    else:
        assert audit.stated_cost is not None
        found, stated = audit.cost, audit.stated_cost
        text = (
            f"By its own probabilities, its decisions cost {measure_value(stated)} per row; they "
            f"cost {measure_value(found.value)}."
        )
        gap = f"by {measure_value(abs(stated - found.value))} per row"
        too_sure, too_unsure = stated < found.low, stated > found.high
    outside = audit.outside_note
    if too_sure:
        tone: Tone = "bad"
        text = f"{text} The model is overconfident, {gap}."
    elif too_unsure:
        tone, text = "warn", f"{text} The model is underconfident, {gap}."
    elif math.isnan(found.low) or math.isnan(found.high):
        tone, text = "plain", f"{text} These rows cannot show whether that is chance."
    else:
        tone, text = "good", f"{text} The difference is within chance."
    n_with_rows = int((audit.table.n > 0).sum())
    if tone == "good" and audit.n_outside > max(1.0, (1 - audit.level) * n_with_rows):
        tone = "warn"
    return tone, text if outside is None else f"{text} {outside}"


def _where(where: Where) -> tuple[Tone, str]:
    """Name the farthest segments, or say what would have been found."""
    if where.reason is not None:
        return "plain", where.no_segment_sentence()
    if not len(where.found):
        return "good", f"{where.found_sentence()} {where.detectable_sentence()}"
    n_found = len(where.found)
    named = [where.describe(where.found, line) for line in range(min(n_found, MAX_NAMED))]
    more = n_found - len(named)
    rest = [f"{count_of(more, 'more segment')}."] if more else []
    return "bad", " ".join([where.found_sentence(), *named, *rest])


def _groups(audit: Audit) -> tuple[Tone, str]:
    table = audit.table
    one, many = table.noun
    weak = np.flatnonzero(table.flagged)
    if not len(weak):
        subject = (
            f"The only {one} reaches" if len(table) == 1 else f"All {len(table):,} {many} reach"
        )
        return "good", f"{subject} the wanted level: {_why(audit, reached=True)}."
    share = float(table.n[weak].sum() / table.n.sum())
    n_empty = int((table.n[weak] <= 0).sum())
    of = f"the only {one}" if len(table) == 1 else f"{len(weak):,} of the {len(table):,} {many}"
    empty = f", or it has none of these rows ({count_of(n_empty, one, many)})" if n_empty else ""
    text = (
        f"Do not rely on {of} ({percent(share, 0)} of the rows): {_why(audit, reached=False)}"
        f"{empty}."
    )
    filled = sorted(weak[table.n[weak] > 0].tolist(), key=lambda line: -table.n[line])
    if filled and len(table) > 1:
        wanted = audit.wanted_confidence
        named = "; ".join(_named(table, line, wanted) for line in filled[:MAX_NAMED])
        is_all = len(weak) <= min(len(filled), MAX_NAMED)
        text += f" {upper_first(named) if is_all else f'The largest ones: {named}'}."
    return "bad" if share > 0.5 else "warn" if share > 0.05 else "plain", text


def _why(audit: Audit, *, reached: bool) -> str:
    wanted = WantedLevels(audit.level, audit.wanted_confidence, audit.wanted_utility)
    return wanted_text(wanted, reached=reached, at_costs=audit.at_costs, or_rival=not reached)


def _named(table: AuditedLeaves | AuditedBins, line: int, wanted: float | None) -> str:
    if isinstance(table, AuditedLeaves) and table.rule is not None:
        name = f"leaf {table.leaf[line]}, {end_of(str(table.rule[line]), MAX_RULE_LENGTH)}"
    else:
        name = f"rows with a predicted probability of {percent(float(table.stated[line]), 0)}"
    return (
        f"{name}: {table.prediction[line]} ({count_of(table.n[line], 'row')}, confidence "
        f"{percent_below(float(table.confidence[line]), wanted)})"
    )


def _trees(trees: AuditedTrees) -> str:
    """Say how good the trees of a forest are one by one: the mean, the worst and the best."""
    of = trees.utility if trees.cost is None else trees.cost
    mean, low, high = float(of.mean()), float(of.min()), float(of.max())
    alone = (
        f"predicts {percent(mean)} of the rows correctly on average ({interval(low, high)})"
        if trees.cost is None
        else f"costs {measure_value(mean)} per row on average ({measure_value(low)} to "
        f"{measure_value(high)})"
    )
    n_leaves = trees.leaves.sum()
    return (
        f"Each of its {len(trees):,} trees alone {alone}. "
        f"{percent(trees.flagged.sum() / n_leaves, 0)} of their {n_leaves:,} leaves are flagged; "
        "what counts is the vote of all trees."
    )


# What each number of an audit means and assumes.


def _definitions(audit: Audit, where: Where | None) -> Iterator[Definition]:
    if audit.at_costs:
        yield define("audit", "cost")
    for name in ("accuracy", "bins", "measures"):
        yield define("audit", name)
    if where is not None:
        yield define("audit", "segments", n_segments=where.n_segments)
    if audit.rows == "training":
        yield define("audit", "levels from training rows")
    else:
        yield from _of_unseen_rows(audit)


def _of_unseen_rows(audit: Audit) -> Iterator[Definition]:
    confidence = "the predicted class is the most probable class in the leaf or bin"
    favoured, mean = "class", "the accuracy"
    utility = "Probability that the next row in the leaf or bin is predicted correctly."
    if audit.at_costs:
        confidence = "the decision is the cheapest one for the rows of the leaf or bin"
        favoured, mean = "decision", "the mean saving"
        utility = (
            "What the decision is expected to save per row, compared with the worst decision about "
            "the same row, in units of the most expensive error."
        )
    yield define("audit", "probability and interval", level=level_percent(audit.level))
    yield define("audit", "confidence", confidence=confidence, favoured=favoured)
    yield define("audit", "utility", utility=utility, mean=mean)
    yield define("audit", "rows needed", favoured=favoured)
