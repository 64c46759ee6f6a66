"""The answer in plain sentences, each with the section that shows the details.

The sentences are written from the other sections alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.formatting import (
    count_of,
    interval,
    level_percent,
    listed,
    measure_value,
    percent,
    points,
    signed_interval,
    signed_number,
    upper_first,
)
from sureleaf.report.baselines import MAJORITY, MARGIN_ZERO
from sureleaf.report.estimates import IntervalEstimate
from sureleaf.report.request import is_rare
from sureleaf.report.sections.data import ClassCount, DataSection
from sureleaf.report.sections.decision import implied_threshold
from sureleaf.report.sections.error import FEW_ROWS, ErrorSection
from sureleaf.report.sections.models import (
    MeasureWords,
    ModelsSection,
    better_models,
    is_settled,
)
from sureleaf.report.sections.quality import QualitySection
from sureleaf.report.sections.simplicity import SimplicitySection
from sureleaf.report.sections.tree import Node, TreeSection, WantedLevels
from sureleaf.tree.rules import join_tests

__all__ = [
    "AnswerSection",
    "LeadingMeasure",
    "Sentence",
    "accuracy_start",
    "answer_section",
    "costs_sentence",
    "costs_text",
    "last_tests",
    "leaves_sentence",
    "wanted_text",
]

Tone = Literal["good", "warn", "bad", "plain"]
ToneAndText = tuple[Tone, str]

MAX_NAMED_COLUMNS = 4
MAX_NAMED_LEAVES = 3
MAX_NAMED_TESTS = 2
MAX_TEST_LENGTH = 60
NEARLY_ALL = 0.95


@dataclass(frozen=True)
class Sentence:
    """A sentence of the answer."""

    topic: Annotated[
        Literal[
            "predicts", "accuracy", "costs", "simplicity", "leaves", "stability", "rows", "models"
        ],
        'What it is about; "costs" only if the user gave costs.',
    ]
    tone: Annotated[Tone, "Whether it is good news, a caution, a problem or a note."]
    text: Annotated[str, "The sentence."]
    see: Annotated[str, "Id of the section with the details."]


@dataclass(frozen=True, kw_only=True)
class LeadingMeasure(IntervalEstimate):
    """The number that the report leads with."""

    measure: Annotated[
        Literal["accuracy", "auc", "cost"],
        "The cost if the user gave costs; the AUC if other classes than the most frequent are "
        "rare; otherwise the accuracy.",
    ]
    baseline: Annotated[
        float,
        "The same measure without a tree: of always predicting the most frequent class, of the "
        "cheapest constant, or of guessing.",
    ]
    baseline_text: Annotated[str, "What the baseline is."]
    scale_low: Annotated[float, "Ends of the scale on which the page draws it."]
    scale_high: Annotated[float, "Ends of the scale on which the page draws it."]


@dataclass(frozen=True)
class AnswerSection:
    """The first screen of the report."""

    headline: Annotated[str, "The leading measure on unseen rows, in a sentence."]
    lead: Annotated[LeadingMeasure, "The number that the report leads with."]
    accuracy: Annotated[IntervalEstimate, "Cross-validated accuracy."]
    baseline: Annotated[float, "Accuracy of always predicting the most frequent class."]
    rare: Annotated[
        bool,
        "Whether other classes than the most frequent one are so rare that accuracy says "
        "little: they have less than 5 % of the rows, or less than 10 % and fewer than 30 rows.",
    ]
    sentences: Annotated[tuple[Sentence, ...], "What to know about the tree."]


def answer_section(
    data: DataSection,
    tree: TreeSection,
    quality: QualitySection,
    error: ErrorSection,
    models: ModelsSection,
    simplicity: SimplicitySection,
) -> AnswerSection:
    """Write the answer from the other sections."""
    accuracy = _measure(quality, "accuracy")
    assert accuracy is not None
    rare = is_rare([one.count for one in data.classes])
    lead = _lead(data, quality, accuracy, rare)
    sentences = [
        Sentence("predicts", *_predicts(data, tree, models), "tree"),
        Sentence("accuracy", *_accuracy(data, tree, quality, models, rare), "quality"),
    ]
    if quality.cost_given:
        tone, text = costs_sentence(quality, models, tree.n_leaves)
        sentences.append(Sentence("costs", tone, text, "quality"))
    sentences += [
        Sentence("simplicity", _size_tone(models), simplicity.text, "simplicity"),
        Sentence("leaves", *leaves_sentence(tree, data.classes), "leaves"),
        *_stability(tree),
        Sentence("rows", *_more_rows(error), "error"),
        Sentence("models", *_models(models), "models"),
    ]
    return AnswerSection(
        headline=_headline(data, tree, quality, lead, rare),
        lead=lead,
        accuracy=accuracy,
        baseline=max(one.share for one in data.classes),
        rare=rare,
        sentences=tuple(sentences),
    )


def _stability(tree: TreeSection) -> list[Sentence]:
    """Say how much of the tree came out again."""
    stability = tree.stability
    if stability is None or not stability.n_splits:
        return []
    return [Sentence("stability", "plain", stability.text, "tree")]


def _measure(quality: QualitySection, name: str) -> IntervalEstimate | None:
    for one in quality.measures:
        if one.name == name:
            own = {field.name: getattr(one, field.name) for field in fields(IntervalEstimate)}
            return IntervalEstimate(**own)
    return None


def _lead(
    data: DataSection, quality: QualitySection, accuracy: IntervalEstimate, rare: bool
) -> LeadingMeasure:
    most_frequent = max(data.classes, key=lambda one: one.share)
    cost, auc = _measure(quality, "cost"), _measure(quality, "auc")
    if quality.cost_given and cost is not None:
        constants = sorted(quality.constants, key=lambda one: one.cost)
        shown = [cost.value, cost.high or cost.value, *(one.cost for one in constants)]
        least = [0.0, cost.value, cost.low or cost.value, *(one.cost for one in constants)]
        return LeadingMeasure(
            **vars(cost),
            measure="cost",
            baseline=constants[0].cost,
            baseline_text=f"always deciding {constants[0].label}, the cheapest constant",
            scale_low=min(least),
            scale_high=max(shown) or 1.0,
        )
    if rare and auc is not None:
        low = min(auc.value, auc.value if auc.low is None else auc.low)
        return LeadingMeasure(
            **vars(auc),
            measure="auc",
            baseline=0.5,
            baseline_text="guessing",
            scale_low=0.5 if low >= 0.5 else 0.0,
            scale_high=1.0,
        )
    return LeadingMeasure(
        **vars(accuracy),
        measure="accuracy",
        baseline=most_frequent.share,
        baseline_text=f"baseline, always \u201c{most_frequent.label}\u201d",
        scale_low=accuracy_start(accuracy, most_frequent.share),
        scale_high=1.0,
    )


def accuracy_start(accuracy: IntervalEstimate, baseline: float) -> float:
    """Return where the scale begins, so that values near 1 can be distinguished."""
    least = min(accuracy.value, baseline, 1.0 if accuracy.low is None else accuracy.low)
    return next((start for start in (0.99, 0.95, 0.9, 0.8, 0.5) if least >= start), 0.0)


def _headline(
    data: DataSection,
    tree: TreeSection,
    quality: QualitySection,
    lead: LeadingMeasure,
    rare: bool,
) -> str:
    subject = f"this tree with {count_of(tree.n_leaves, 'leaf', 'leaves')}"
    if lead.measure == "cost":
        width = _width(lead, f"{measure_value(lead.low)} to {measure_value(lead.high)}")
        if tree.n_leaves == 1:
            decided = quality.constants[tree.nodes[0].prediction]
            own, of_algorithm = measure_value(decided.cost), measure_value(lead.value)
            others = [one for one in quality.constants if one is not decided]
            least = min(others, key=lambda one: one.cost)
            text = (
                f"At your costs, this tree with 1 leaf always decides {decided.label}, which costs "
                f"{own} per row; always deciding {least.label} costs {measure_value(least.cost)}."
            )
            if own == of_algorithm:
                return text
            return (
                f"{text} Trees that are grown in the same way are expected to cost {of_algorithm} "
                f"({width}), because some of them have tests."
            )
        return (
            f"At your costs, {subject} is expected to cost {measure_value(lead.value)} per row "
            f"({width}); {_constants_text(quality)}."
        )
    if rare:
        return _rare_headline(data, tree, quality, lead)
    width = _width(lead, interval(lead.low, lead.high))
    return (
        f"T{subject[1:]} is expected to predict {_target(data)} correctly for "
        f"{percent(lead.value)} of unseen rows ({width})."
    )


def _width(estimate: IntervalEstimate, ends: str) -> str:
    if estimate.low is None or estimate.high is None:
        return "no valid interval"
    return f"{level_percent(estimate.level)} interval {ends}"


def _constants_text(quality: QualitySection) -> str:
    """Name what the constant decisions cost: both of two, the cheapest of more."""
    constants = sorted(quality.constants, key=lambda one: one.cost)
    costs = [f"always deciding {one.label} costs {measure_value(one.cost)}" for one in constants]
    if len(costs) == 2:
        return f"{costs[0]}, {costs[1]}"
    least = constants[0]
    return (
        f"always deciding {least.label}, the cheapest constant, costs {measure_value(least.cost)}"
    )


def _rare_headline(
    data: DataSection, tree: TreeSection, quality: QualitySection, lead: LeadingMeasure
) -> str:
    most_frequent = max(data.classes, key=lambda one: one.share)
    start = (
        f"Accuracy is the wrong question: always predicting {most_frequent.label} is correct for "
        f"{percent(most_frequent.share)} of the rows"
    )
    label = quality.labels[quality.positive]
    if tree.n_leaves == 1:
        return f"{start}, and this tree does no more than that. It finds no row of class {label}."
    if lead.measure != "auc":
        return f"{start}."
    width = _width(lead, interval(lead.low, lead.high))
    others = "another row" if len(quality.labels) == 2 else "a row of another class"
    return (
        f"{start}. What matters is whether the tree finds the others: it gives a row of class "
        f"{label} a higher probability than {others} in {percent(lead.value)} of the cases (AUC, "
        f"{width}; guessing: 50 %)."
    )


def _target(data: DataSection) -> str:
    """Return the target in quotes: it may well be called class."""
    return f"\u201c{data.target}\u201d"


def _predicts(data: DataSection, tree: TreeSection, models: ModelsSection) -> ToneAndText:
    target = _target(data)
    columns = [column for column in data.columns if column.kind != "left out"]
    if tree.n_leaves == 1:
        return "bad", _no_tests(data, tree, models)
    importance = {column.name: column.importance or 0.0 for column in columns}
    names = sorted((c.name for c in tree.columns), key=lambda name: (-importance[name], name))
    first = tree.columns[tree.nodes[0].column or 0].name
    if len(names) <= MAX_NAMED_COLUMNS:
        text = f"The tree predicts {target} from {listed(names)}"
        text += "" if names == [first] else f"; it tests {first} first"
        unused = len(columns) - len(names)
        text += f". It does not use the other {unused} columns" if unused > 1 else ""
    else:
        used = (
            f"all {len(columns)}"
            if len(names) == len(columns)
            else f"{len(names)} of the {len(columns)}"
        )
        text = (
            f"The tree predicts {target} mostly from {listed(names[:MAX_NAMED_COLUMNS])}. It tests "
            f"{first} first and uses {used} columns"
        )
    risky = [
        warning.column
        for warning in data.warnings
        if warning.kind in ("identifier", "leak") and warning.column in names
    ]
    if not risky:
        return "plain", f"{text}."
    suspects = listed(list(dict.fromkeys(str(column) for column in risky)))
    return "bad", f"{text}. Check {suspects}: see the warnings about the data."


def _no_tests(data: DataSection, tree: TreeSection, models: ModelsSection) -> str:
    """Say that the tree has no tests, and as much about the columns as other models show."""
    label = data.classes[tree.nodes[0].prediction].label
    always = f"always {'decides' if tree.at_costs else 'predicts'} {label}"
    target, better = _target(data), better_models(models)
    if tree.at_costs and not better:
        where = "" if is_settled(models) else f"In these {data.rows:,} rows, "
        no_column = "no column lowers" if is_settled(models) else "no column was shown to lower"
        text = f"{where}{no_column} the cost of deciding about {target}"
        return f"{upper_first(text)}: the tree has no tests and {always}."
    if better:
        return (
            f"This tree found no useful test for {target} and {always}, although other models "
            f"did find something: {listed(better)} (see \u201cOther models\u201d)."
        )
    if is_settled(models):
        return f"The columns do not help to predict {target}: the tree has no tests and {always}."
    return (
        f"In these {data.rows:,} rows, no column was shown to help to predict {target}: the tree "
        f"has no tests and {always}."
    )


def _accuracy(
    data: DataSection,
    tree: TreeSection,
    quality: QualitySection,
    models: ModelsSection,
    rare: bool,
) -> ToneAndText:
    few_rows = (
        f" {data.rows} rows are few: another sample may well give a different tree."
        if data.rows < FEW_ROWS
        else ""
    )
    if tree.n_leaves == 1:
        return "bad", f"{_one_leaf(data, tree, quality, models)}{few_rows}"
    recall_text, misses_a_class = _recall_text(data, quality)
    if quality.cost_given or rare:
        accuracy = _measure(quality, "accuracy")
        assert accuracy is not None
        why = "costs" if quality.cost_given else "the rare classes"
        text = (
            f"The tree is correct for {percent(accuracy.value)} of unseen rows (always predicting "
            f"the most frequent class: {percent(max(one.share for one in data.classes))}), but "
            f"{why} matter here, not the accuracy."
        )
        return "warn" if misses_a_class else "plain", f"{text}{recall_text}{few_rows}"
    tone, text = _against_baseline(data, models)
    auc = _measure(quality, "auc")
    if tone == "bad" and auc is not None and auc.low is not None and auc.low > 0.5:
        tone = "warn"
        text += (
            " Still, rows of different classes get different probabilities: the tree may be useful "
            "with another threshold, or when errors have different costs."
        )
    if misses_a_class and tone == "good":
        tone = "warn"
    return tone, f"{text}{recall_text}{few_rows}"


def _against_baseline(data: DataSection, models: ModelsSection) -> ToneAndText:
    most_frequent = max(data.classes, key=lambda one: one.share)
    text = (
        f"The baseline, always predicting {most_frequent.label}, is correct for "
        f"{percent(most_frequent.share)} of the rows"
    )
    row = next((row for row in models.rows if row.name == MAJORITY), None)
    against = None if row is None else row.comparison
    if row is None or against is None:
        return "warn", f"{text}."
    # Folds of few rows have other shares than the table, and the difference is a mean over folds.
    if row.accuracy is not None and percent(row.accuracy.value) != percent(most_frequent.share):
        text += f", and for {percent(row.accuracy.value)} as the mean over the folds"
    gap, low, high = -against.difference, -against.high, -against.low
    direction = "higher" if gap >= 0 else "lower"
    text += (
        f". The accuracy of the tree is {points(abs(gap))} percentage points {direction} "
        f"({signed_interval(low, high)})"
    )
    if low > 0:
        return "good", f"{text}: the tree is better than the baseline."
    if high < 0:
        return "bad", f"{text}: the tree is worse than the baseline."
    return "bad", f"{text}: these rows do not show that the tree is better than the baseline."


def _one_leaf(
    data: DataSection, tree: TreeSection, quality: QualitySection, models: ModelsSection
) -> str:
    """Say what is known about a tree without tests: the share of its class."""
    code = tree.nodes[0].prediction
    one = data.classes[code]
    verb = "deciding" if tree.at_costs else "predicting"
    text = f"Always {verb} {one.label} is correct for {percent(one.share)} of the rows"
    if quality.cost_given:
        text += ", but costs matter here, not the accuracy"
    confusion = np.array(quality.confusion)
    others = 1 - confusion[:, code].sum() / confusion.sum()
    if others <= 1e-9:
        if better_models(models):
            return f"{text}. This tree does no more than that."
        if quality.cost_given:
            return f"{text}. No column was found that lowers the cost."
        return f"{text}, and no column was found that improves on it."
    of_what = "cost and accuracy differ" if quality.cost_given else "accuracy differs"
    return (
        f"{text}. Some of the trees that were grown for the cross-validation do have tests, and "
        f"{'decide for' if tree.at_costs else 'predict'} another class for {percent(others)} of "
        f"the rows; so the cross-validated {of_what} from those of this tree."
    )


def _recall_text(data: DataSection, quality: QualitySection) -> tuple[str, bool]:
    """Say how many positive rows are found, or which of many classes are mostly missed."""
    confusion, labels = np.array(quality.confusion), quality.labels
    actual, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    recall = np.divide(np.diag(confusion), actual, out=np.ones(len(actual)), where=actual > 0)
    missed = [(labels[code], recall[code]) for code in np.flatnonzero(recall < 0.5).tolist()]
    if len(labels) == 2:
        code = quality.positive
        label = labels[code]
        if predicted[code] <= 0:
            return f" It never predicts {label}.", True
        precision = confusion[code, code] / predicted[code]
        return (
            f" It finds {percent(recall[code], 0)} of the rows whose {_target(data)} is {label}; "
            f"when it predicts {label}, it is correct in {percent(precision, 0)} of the cases.",
            bool(missed),
        )
    if not missed:
        return "", False
    named = [f"{label} ({percent(share, 0)} found)" for label, share in missed[:3]]
    more = [f"{len(missed) - 3} more classes"] if len(missed) > 3 else []
    return f" It misses most rows of {listed(named + more)}.", True


def _more_rows(error: ErrorSection) -> ToneAndText:
    if error.curve is None:
        return "plain", f"It is not known whether more rows would help: {error.curve_note}"
    helps = error.curve.help in ("yes", "a little")
    return "warn" if helps else "plain", error.curve.text


def _size_tone(models: ModelsSection) -> Tone:
    """Warn if another size is shown to be better by more than the margin."""
    comparisons = [r.comparison for r in models.rows if r.name == MARGIN_ZERO]
    return (
        "warn"
        if any(one is not None and one.verdict == "better" for one in comparisons)
        else "plain"
    )


def _models(models: ModelsSection) -> ToneAndText:
    words = MeasureWords(models.measure)
    text = models.text or "The other models could not be compared on these rows."
    gains = [words.gain(row.comparison)[1] for row in models.rows if row.comparison]
    return "warn" if any(low > 0 for low in gains) else "plain", text


# When errors have different costs.


def costs_sentence(quality: QualitySection, models: ModelsSection, n_leaves: int) -> ToneAndText:
    """Say what to decide at the costs that the user gave, and what that saves."""
    cost, confusion = np.array(quality.cost), np.array(quality.confusion)
    start = f"At your costs{costs_text(cost, quality.labels)}"
    end = " A cost below 0 is a gain." if (cost < 0).any() else ""
    constants = sorted(quality.constants, key=lambda one: one.cost)
    cheapest = constants[0]
    if len(constants) > 2:
        others = [f"always {one.label} {measure_value(one.cost)}" for one in constants[1:]]
        end = f" The other constants cost: {listed(others)}.{end}"
    always = f"{measure_value(cheapest.cost)} per row"
    better = better_models(models) if n_leaves == 1 else []
    if better:
        return "bad", (
            f"{start}, always deciding {cheapest.label} costs {always}. This tree does not "
            f"distinguish rows; cheaper: {listed(better)}.{end}"
        )
    if n_leaves == 1:
        return "bad", (
            f"{start}, always decide {cheapest.label}: mean cost {always}. This tree does not "
            f"distinguish rows.{end}"
        )
    name = f"always {cheapest.label}"
    against = next((row.comparison for row in models.rows if row.name == name), None)
    threshold = implied_threshold(cost, quality.positive) if len(cost) == 2 else None
    rule = "decide for the class of least expected cost"
    if threshold is not None and 0 < threshold < 1:
        label = quality.labels[quality.positive]
        rule = f"decide {label} if its probability is at least {percent(threshold)}"
    predicted, largest = confusion.sum(axis=0), confusion.sum(axis=1).max() / confusion.sum()
    most, share = int(predicted.argmax()), float(predicted.max() / predicted.sum())
    is_nearly_all = share >= max(NEARLY_ALL, largest)
    if is_nearly_all:
        end = f" Then {percent(share)} of the decisions are {quality.labels[most]}.{end}"
    if against is None:
        return "warn", f"{start}, {rule}. Always deciding {cheapest.label} costs {always}.{end}"
    saving, low, high = against.difference, against.low, against.high
    width = f"{signed_number(low)} to {signed_number(high)}"
    if low > 0:
        return "warn" if is_nearly_all else "good", (
            f"{start}, {rule}. This saves {measure_value(saving)} per row ({width}) against always "
            f"deciding {cheapest.label}, the cheapest decision without a tree.{end}"
        )
    word = "more expensive" if high < 0 else "not shown to be cheaper"
    return "bad", (
        f"{start}, the tree is {word} than always deciding {cheapest.label}, which costs {always} "
        f"(saving {width} per row).{end}"
    )


def costs_text(cost: NDArray[np.float64], labels: list[str]) -> str:
    """Of two classes, give the cost of each error, and of correct predictions that cost."""
    if len(labels) != 2 or cost.shape != (2, 2):
        return ""
    cells = [(0, 1), (1, 0), *((code, code) for code in (0, 1) if cost[code, code] != 0)]
    parts = [
        f"{labels[actual]} predicted as {labels[predicted]} costs {cost[actual, predicted]:.6g}"
        for actual, predicted in cells
    ]
    return f" ({listed(parts)})"


# Which leaves cannot be trusted.


def leaves_sentence(tree: TreeSection, classes: Sequence[ClassCount]) -> ToneAndText:
    """Say how many leaves are flagged, and name the largest of them."""
    leaves = [node for node in tree.nodes if node.column is None]
    flagged = [node for node in leaves if node.flagged]
    total = sum(node.n for node in leaves)
    if not flagged:
        text = wanted_text(tree.wanted, reached=True, one=len(leaves) == 1, at_costs=tree.at_costs)
        if len(leaves) == 1:
            label = classes[leaves[0].prediction].label
            says = (
                f"deciding {label} is cheapest"
                if tree.at_costs
                else f"{label} is the most frequent class"
            )
            return "plain", (
                f"The only leaf says that {says}, and nothing about single rows. It "
                f"reaches the wanted level, which is no merit of a tree: {text}."
            )
        subject = "Both leaves" if len(leaves) == 2 else f"All {len(leaves):,} leaves"
        return "good", f"{subject} reach the wanted level: {text}."
    share = sum(node.n for node in flagged) / total if total else 0.0
    subject = (
        "the only leaf" if len(leaves) == 1 else f"{len(flagged):,} of the {len(leaves):,} leaves"
    )
    reason = wanted_text(tree.wanted, reached=False, one=len(flagged) == 1, at_costs=tree.at_costs)
    text = (
        f"Do not rely on {subject} ({percent(share, 0)} of the rows): "
        f"{reason}, because there are too few rows, their classes are mixed, or unseen rows "
        "are predicted worse than these."
    )
    filled = sorted((node for node in flagged if node.n > 0), key=lambda node: -node.n)
    if filled and len(leaves) > 1:
        named = [_named_leaf(tree, node, classes) for node in filled[:MAX_NAMED_LEAVES]]
        start = "The largest ones: " if len(flagged) > len(named) else ""
        joined = "; ".join(named)
        text += f" {start}{joined if start else upper_first(joined)}."
    return "bad" if share > 0.5 else "warn" if share > 0.05 else "plain", text


def wanted_text(
    wanted: WantedLevels,
    *,
    reached: bool,
    one: bool = False,
    at_costs: bool = False,
    otherwise: str | None = None,
) -> str:
    """Say which level one leaf, or each of several, reaches or does not reach.

    `otherwise` is another reason for which leaves are flagged.

    Examples
    --------
    >>> from sureleaf.report.sections.tree import WantedLevels
    >>> wanted_text(WantedLevels(0.95, 0.95, None), reached=False, one=True)
    'the probability that it predicts the true majority class of its rows is below 95 %'
    """
    bound = "at least" if reached else "below"
    parts = []
    if wanted.confidence is not None:
        event = (
            "its decision is the cheapest one for its rows"
            if at_costs
            else "it predicts the true majority class of its rows"
        )
        parts.append(f"the probability that {event} is {bound} {level_percent(wanted.confidence)}")
    if wanted.utility is not None:
        share = "what it saves" if at_costs else "the share of new rows that it predicts correctly"
        parts.append(f"{share} is expected to be {bound} {level_percent(wanted.utility)}")
    if not parts:
        parts.append(f"it is {'more' if reached else 'less'} often correct than a coin toss")
    elif not reached and otherwise is not None:
        parts.append(otherwise)
    text = (" and " if reached else ", or ").join(parts)
    return text if one else f"for each of them, {text}"


def _named_leaf(tree: TreeSection, node: Node, classes: Sequence[ClassCount]) -> str:
    verb = "decides" if tree.at_costs else "predicts"
    text = (
        f"leaf {node.id} ({last_tests(tree, node.id)}) {verb} "
        f"{classes[node.prediction].label}, {count_of(node.n, 'row')}, confidence "
        f"{percent(node.confidence)}"
    )
    if node.confidence is None or node.confidence >= 0.5:
        return text
    unlike = (
        "another decision is probably cheaper"
        if tree.at_costs
        else ("by out-of-fold predictions, another class is probably more frequent")
    )
    return f"{text} ({unlike})"


def last_tests(tree: TreeSection, leaf: int) -> str:
    """Return the last tests on the way to a leaf.

    Of two tests of one number in the same direction, the deeper one is tighter and stands for both.
    """
    tests: dict[tuple[int | None, int], str] = {}
    without_missing = _sends_missing_away(tree, leaf)
    node = tree.nodes[leaf]
    while node.parent is not None:
        parent = tree.nodes[node.parent]
        branch = parent.children.index(node.id)
        side = branch if parent.threshold_text is not None else -1
        edge = node.edge or ""
        if parent.column in without_missing and branch == parent.missing_branch:
            edge = edge.removesuffix(" or missing")
        # Going up: the test that is there already is tighter.
        tests.setdefault((parent.column, side), edge)
        node = parent
    last = [_cut(test) for test in list(tests.values())[:MAX_NAMED_TESTS]]
    rule = join_tests(last[::-1])
    return f"… {rule}" if len(tests) > MAX_NAMED_TESTS else rule


def _sends_missing_away(tree: TreeSection, leaf: int) -> set[int | None]:
    """Return the columns whose missing values take another branch on the way to the leaf."""
    columns, node = set(), tree.nodes[leaf]
    while node.parent is not None:
        parent = tree.nodes[node.parent]
        if parent.children.index(node.id) != parent.missing_branch:
            columns.add(parent.column)
        node = parent
    return columns


def _cut(test: str) -> str:
    return test if len(test) <= MAX_TEST_LENGTH else f"{test[: MAX_TEST_LENGTH - 1]}…"
