"""The first screen: one number, and whether the tree is good, can be trusted, and what to do.

It is written from the other sections alone.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from sureleaf.formatting import (
    amount,
    count_of,
    level_percent,
    listed,
    measure_value,
    percent,
    percent_below,
    points,
    up_to_two_digits,
    upper_first,
)
from sureleaf.report.baselines import MAJORITY
from sureleaf.report.document_schema import IntervalEstimate, record_of
from sureleaf.report.request import is_rare
from sureleaf.report.sections.data import ClassCount, DataSection
from sureleaf.report.sections.error import FEW_ROWS, ErrorSection
from sureleaf.report.sections.models import (
    MeasureWords,
    ModelComparison,
    ModelsSection,
    Rival,
    better_models,
    is_settled,
    leading_rival,
)
from sureleaf.report.sections.quality import MISSED, QualitySection, found_shares
from sureleaf.report.sections.tree import Node, RowsOfLevels, TreeSection, WantedLevels

Tone = Literal["good", "warn", "bad", "plain"]
QUESTIONS = {"good": "Is it good?", "trust": "Can it be trusted?", "next": "What to do?"}
"""The questions of the first screen, by the topic of their answer."""
MAX_TICKS = 6


@dataclass(frozen=True)
class Sentence:
    """The answer to one of three questions."""

    topic: Annotated[
        Literal["good", "trust", "next"], "Is the tree good? Can it be trusted? What is to be done?"
    ]
    tone: Annotated[Tone, "Whether it is good news, a caution, a problem or a note."]
    short: Annotated[str, "The answer in a few words."]
    text: Annotated[str, "What else there is to say."]
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
    ticks: Annotated[
        list[float], "Round numbers on the scale on which the page draws it; its ends are two."
    ]


@dataclass(frozen=True)
class AnswerSection:
    """The first screen of the report."""

    about: Annotated[str, "The table, what is predicted, and the costs."]
    headline: Annotated[str, "What the tree is worth, in one line."]
    emphasis: Annotated[str, "The number in the headline; empty if it has none."]
    tone: Annotated[Tone, "Whether this is good news."]
    detail: Annotated[str, "The expectation for unseen rows, its interval and the baseline."]
    lead: Annotated[LeadingMeasure, "The number that the report leads with."]
    accuracy: Annotated[IntervalEstimate, "Cross-validated accuracy."]
    baseline: Annotated[float, "Accuracy of always predicting the most frequent class."]
    sentences: Annotated[
        tuple[Sentence, ...], "Is it good, can it be trusted, and what is to be done."
    ]


Standing = Literal["better", "worse", "undecided", "no tests"]
"""How the tree compares with the baseline; `no tests` if it is a single leaf."""


@dataclass(frozen=True)
class _Parts:
    """The sections that the answer is written from, and what all its sentences need."""

    data: DataSection
    tree: TreeSection
    quality: QualitySection
    error: ErrorSection
    models: ModelsSection
    lead: LeadingMeasure

    @property
    def words(self) -> MeasureWords:
        return MeasureWords(self.lead.measure, self.data.unit)

    @property
    def tone(self) -> Tone:
        """Whether the standing is good news."""
        tones: dict[Standing, Tone] = {"better": "good", "undecided": "warn"}
        return tones.get(self.standing, "bad")

    @property
    def leaves(self) -> list[Node]:
        return [node for node in self.tree.nodes if not node.children]

    @property
    def flagged(self) -> list[Node]:
        """The flagged leaves, those with the most rows first."""
        return sorted((one for one in self.leaves if one.flagged), key=lambda one: -one.n)

    @property
    def flagged_share(self) -> float:
        """Their share of the rows."""
        return sum(one.n for one in self.flagged) / (sum(one.n for one in self.leaves) or 1.0)

    @property
    def without_tree(self) -> str:
        """The class of the baseline."""
        if self.quality.cost_given:
            return min(self.quality.constants, key=lambda one: one.cost).label
        return _frequent(self.data).label

    @property
    def always(self) -> str:
        verb = "deciding" if self.quality.cost_given else "predicting"
        return f"always {verb} {quoted(self.without_tree)}"

    @property
    def against_baseline(self) -> ModelComparison | None:
        """The comparison of the baseline with the tree."""
        name = f"always {self.without_tree}" if self.quality.cost_given else MAJORITY
        return next((row.comparison for row in self.models.rows if row.name == name), None)

    @property
    def gain(self) -> tuple[float, float, float] | None:
        """How much better the tree is than the baseline, with the interval."""
        if self.lead.measure == "auc":
            if self.lead.low is None or self.lead.high is None:
                return None
            return tuple(
                end - self.lead.baseline for end in (self.lead.value, self.lead.low, self.lead.high)
            )  # type: ignore[return-value]
        comparison = self.against_baseline
        if comparison is None:
            return None
        value, low, high = self.words.gain(comparison)
        return -value, -high, -low

    @property
    def standing(self) -> Standing:
        if self.tree.n_leaves == 1:
            return "no tests"
        if self.gain is None:
            return "undecided"
        _, low, high = self.gain
        return "better" if low > 0 else "worse" if high < 0 else "undecided"

    @property
    def only_class(self) -> str | None:
        """The class that all leaves predict, if there are several leaves."""
        predicted = {leaf.prediction for leaf in self.leaves}
        is_one = self.tree.n_leaves > 1 and len(predicted) == 1
        return self.data.classes[predicted.pop()].label if is_one else None

    @property
    def missed(self) -> list[tuple[str, float]]:
        """Classes of which less than half of the rows are found."""
        found = found_shares(np.array(self.quality.confusion))
        return [(self.quality.labels[k], float(found[k])) for k in np.flatnonzero(found < MISSED)]


def quoted(label: str) -> str:
    """Put the name of a class in quotes: it may be a number or any word."""
    return f"\u201c{label}\u201d"


def answer_section(
    data: DataSection,
    tree: TreeSection,
    quality: QualitySection,
    error: ErrorSection,
    models: ModelsSection,
) -> AnswerSection:
    """Write the answer from the other sections."""
    accuracy = _measure(quality, "accuracy")
    assert accuracy is not None
    rare = is_rare([one.count for one in data.classes])
    parts = _Parts(data, tree, quality, error, models, _lead(data, quality, accuracy, rare))
    headline, emphasis = _headline(parts)
    return AnswerSection(
        about=_about(parts),
        headline=headline,
        emphasis=emphasis,
        tone=parts.tone,
        detail=_detail(parts),
        lead=parts.lead,
        accuracy=accuracy,
        baseline=_frequent(data).share,
        sentences=(_good(parts), _trust(parts), _next(parts)),
    )


# The number.


def _measure(quality: QualitySection, name: str) -> IntervalEstimate | None:
    found = next((one for one in quality.measures if one.name == name), None)
    return None if found is None else record_of(IntervalEstimate, found)


def _lead(
    data: DataSection, quality: QualitySection, accuracy: IntervalEstimate, rare: bool
) -> LeadingMeasure:
    cost, auc = _measure(quality, "cost"), _measure(quality, "auc")
    if quality.cost_given and cost is not None:
        cheapest = min(quality.constants, key=lambda one: one.cost)
        return leading_measure(cost, "cost", cheapest.cost, f"always {quoted(cheapest.label)}")
    if rare and auc is not None:
        return leading_measure(auc, "auc", 0.5, "guessing")
    frequent = _frequent(data)
    return leading_measure(accuracy, "accuracy", frequent.share, f"always {quoted(frequent.label)}")


def _frequent(data: DataSection) -> ClassCount:
    """Return the most frequent class."""
    return max(data.classes, key=lambda one: one.share)


def leading_measure(
    found: IntervalEstimate,
    measure: Literal["accuracy", "auc", "cost"],
    baseline: float,
    baseline_text: str,
) -> LeadingMeasure:
    """Return the number that a page leads with, on a scale with round numbers."""
    shown = [end for end in (found.value, found.low, found.high, baseline) if end is not None]
    ticks = round_ticks(min(shown), max(shown))
    if measure != "cost":
        ticks = [tick for tick in ticks if 0 <= tick <= 1]
    return LeadingMeasure(
        **vars(found), measure=measure, baseline=baseline, baseline_text=baseline_text, ticks=ticks
    )


def round_ticks(low: float, high: float) -> list[float]:
    """Return round numbers around two ends, at most six.

    Examples
    --------
    >>> round_ticks(0.517, 0.712), round_ticks(0.7, 0.7)
    ([0.5, 0.55, 0.6, 0.65, 0.7, 0.75], [0.69, 0.695, 0.7, 0.705, 0.71])
    """
    if high - low < 1e-9:
        reach = max(abs(low) / 100, 1e-9)
        low, high = low - reach, high + reach
    power = 10.0 ** math.floor(math.log10(high - low))
    for step in (power * factor for factor in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)):
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first < MAX_TICKS:
            break
    return [round(index * step, 12) for index in range(first, last + 1)]


# The headline, and the lines above and below it.


def _about(parts: _Parts) -> str:
    data = parts.data
    n_columns = sum(column.kind != "left out" for column in data.columns)
    told = [
        *([data.source] if data.source and data.source != data.title else []),
        f"{count_of(data.rows, 'row')}, {count_of(n_columns, 'column')}",
        f"predicts {quoted(data.target)}",
    ]
    if parts.quality.cost_given:
        costs = costs_text(np.array(parts.quality.cost), parts.quality.labels, data.unit)
        told.append(f"costs{costs}" if costs else "at your costs")
    return " · ".join(told)


def _headline(parts: _Parts) -> tuple[str, str]:
    """Return the headline, and the number in it."""
    lead, standing, words = parts.lead, parts.standing, parts.words
    tree = "This tree" if parts.tree.n_regrown_leaves is None else "Grown anew, this tree"
    if standing == "no tests":
        verb = "decides" if parts.quality.cost_given else "predicts"
        label = quoted(parts.data.classes[parts.tree.nodes[0].prediction].label)
        return f"This tree has no splits: it always {verb} {label}.", ""
    if lead.measure == "cost":
        if parts.gain is None:
            value = words.value(lead.value)
            return f"{tree} is expected to cost {value}.", value
        value = words.size(parts.gain[0])
        if parts.gain[0] < 0:
            costs = "costs" if standing == "worse" else "may cost"
            return f"{tree} {costs} {value} more than {parts.always}.", value
        if standing == "better":
            return f"{tree} saves {value} against {parts.always}.", value
        return f"{tree} may save {value}, but that is not proven.", value
    value = percent(lead.value)
    if lead.measure == "auc":
        label = quoted(parts.quality.labels[parts.quality.positive])
        rows = f"{label} rows" if len(parts.data.classes) == 2 else "rows of each class"
        return f"{tree} ranks {rows} above the others {value} of the time.", value
    if standing == "better":
        return f"{tree} predicts {value} of new rows correctly.", value
    less = "is worse than" if standing == "worse" else "may be no better than"
    return f"At {value}, {tree[0].lower()}{tree[1:]} {less} {parts.always}.", value


def _detail(parts: _Parts) -> str:
    """Say what is expected on unseen rows, and what it is compared with."""
    lead = parts.lead
    one_leaf = parts.tree.n_leaves == 1
    if lead.measure == "cost":
        ends = _ends(lead, lambda end: amount(end, parts.data.unit))
        constants = sorted(parts.quality.constants, key=lambda one: one.cost)
        costs = [
            f"{amount(one.cost, parts.data.unit)} if always {quoted(one.label)}"
            for one in (constants if len(constants) == 2 else constants[:1])
        ]
        subject = "of trees grown the same way" if one_leaf else "per new row"
        return (
            f"Expected cost {subject}: {amount(lead.value, parts.data.unit)} ({ends}). Without "
            f"the tree: {', '.join(costs)}."
        )
    frequent = _frequent(parts.data)
    baseline = (
        f"always predicting {quoted(frequent.label)} is correct for {percent(frequent.share)}"
    )
    if lead.measure == "auc":
        return (
            f"AUC {measure_value(lead.value)} ({_ends(lead, measure_value)}); guessing gives 0.5. "
            f"Accuracy says little here: {baseline} of the rows."
        )
    if one_leaf:
        return f"{upper_first(baseline)} of the rows, and the tree can do no better."
    itself = ""
    if parts.tree.n_regrown_leaves is not None and parts.tree.of_rows == "new rows":
        itself = (
            " The tree below was fitted before and is another one: by the levels of its leaves it "
            f"is expected to predict {percent(parts.tree.levels.utility)}."
        )
    return (
        f"Accuracy on new rows: {percent(lead.value)} ({_ends(lead, points)} %). "
        f"{upper_first(baseline)}.{itself}"
    )


def _ends(lead: LeadingMeasure, write: Callable[[float], str]) -> str:
    if lead.low is None or lead.high is None:
        return "no valid interval"
    return f"{level_percent(lead.level)} interval {write(lead.low)} to {write(lead.high)}"


# Is it good?


def _good(parts: _Parts) -> Sentence:
    words, standing, tone = parts.words, parts.standing, parts.tone
    rival = leading_rival(parts.models)
    if standing == "no tests":
        target = quoted(parts.data.target)
        text = f"No column was found that helps to predict {target}."
        if better_models(parts.models):
            text = "Other models do find a pattern in these rows."
        elif is_settled(parts.models):
            text = f"Other models found nothing that helps to predict {target} either."
        return Sentence("good", tone, "No.", _joined(text, rival), "models")
    if parts.gain is None:
        return Sentence("good", "warn", "Not known.", "There are too few rows to tell.", "quality")
    gain, low, high = parts.gain
    baseline = "guessing" if parts.lead.measure == "auc" else parts.always
    text = f"The difference is {words.size(gain)} ({words.ends(low, high)})."
    short = f"No, worse than {baseline}."
    if standing == "better":
        short = f"Yes, better than {baseline}."
        text = "" if parts.lead.measure == "auc" else text
    elif standing == "undecided":
        short = "Not proven."
        text = (
            f"{upper_first(baseline)} may be just as good: a difference of {words.size(gain)} "
            f"could be chance ({words.signed(low, high)})."
        )
    is_missed = not parts.quality.cost_given and len(parts.missed) > 0
    if is_missed:
        found = [f"{percent(share, 0)} of the {quoted(name)} rows" for name, share in parts.missed]
        missed = f"It finds only {listed(found[:3])}."
        if parts.only_class is not None:
            missed = f"Every leaf predicts {quoted(parts.only_class)}."
        text = f"{text} {missed}".strip()
    is_beaten = rival is not None and rival.name is not None and rival.verdict == "better"
    if tone == "good" and (is_missed or is_beaten):
        tone = "warn"
    return Sentence("good", tone, short, _joined(text, rival), "models")


def _joined(text: str, rival: Rival | None) -> str:
    return text if rival is None else f"{text} {rival.text}".strip()


# Can it be trusted?


def _trust(parts: _Parts) -> Sentence:
    tree, leaves, flagged, share = parts.tree, parts.leaves, parts.flagged, parts.flagged_share
    if len(leaves) == 1:
        return _trust_of_one_leaf(parts, leaves[0])
    if tree.of_rows in _NOT_NEW:
        return Sentence("trust", "warn", "Not known.", _NOT_NEW[tree.of_rows], "leaves")
    if not flagged:
        subject = "both leaves" if len(leaves) == 2 else f"all {len(leaves):,} leaves"
        reached = wanted_text(tree.wanted, reached=True, at_costs=tree.at_costs)
        return Sentence("trust", "good", f"Yes, {subject}.", f"{upper_first(reached)}.", "leaves")
    sure = len(leaves) - len(flagged)
    short = f"In {sure:,} of {len(leaves):,} leaves, {percent(1 - share, 0)} of the rows."
    if not sure:
        short = "No, in none of its leaves."
    one, wanted = len(flagged) == 1, tree.wanted
    subject = "the flagged leaf" if one else f"the {len(flagged):,} flagged leaves"
    others = [leaf for leaf in flagged if not _misses(leaf, wanted)]
    reason = wanted_text(
        wanted,
        reached=False,
        one=one,
        at_costs=tree.at_costs,
        or_rival=any(leaf.n > 0 for leaf in others),
        or_empty=any(leaf.n <= 0 for leaf in others),
    )
    if one and not others and wanted.confidence is not None and wanted.utility is None:
        does = "makes the cheapest decision" if tree.at_costs else "predicts the majority class"
        stated = percent_below(flagged[0].confidence, wanted.confidence)
        reason = (
            f"the confidence that it {does} is {stated}, not {level_percent(wanted.confidence)}"
        )
    tone: Tone = "bad" if share > 0.5 else "warn" if share > 0.05 else "plain"
    text = f"Do not rely on {subject} ({percent(share, 0)} of the rows): {reason}."
    return Sentence("trust", tone, short, text, "leaves")


_NOT_NEW: dict[RowsOfLevels, str] = {
    "weighted rows": "With class_weight, the levels of its leaves are of rows that count as often "
    "as their class weighs. Fit it with cost= in its place, or audit it with new rows.",
    "training rows": "The levels of its leaves are of the rows that grew it, and too high for new "
    "rows. Fit it with levels_from='cross_fit', or audit it with new rows.",
}


def _misses(leaf: Node, wanted: WantedLevels) -> bool:
    """Whether a leaf is below a wanted level; if not, it is flagged for another reason."""
    pairs = ((leaf.confidence, wanted.confidence), (leaf.utility, wanted.utility))
    return any(None not in pair and pair[0] < pair[1] for pair in pairs)  # type: ignore[operator]


def _trust_of_one_leaf(parts: _Parts, leaf: Node) -> Sentence:
    label = quoted(parts.data.classes[leaf.prediction].label)
    says = (
        f"Deciding {label} is the cheapest constant decision"
        if parts.tree.at_costs
        else f"{label} is the most frequent class"
    )
    if leaf.flagged:
        text = f"It is not even certain that {says[0].lower()}{says[1:]}."
        return Sentence("trust", "bad", "There is nothing to trust.", text, "leaves")
    text = f"{says}, and that is all this tree knows: it treats all rows alike."
    return Sentence("trust", "plain", "There is little to trust.", text, "leaves")


def wanted_text(
    wanted: WantedLevels,
    *,
    reached: bool,
    one: bool = False,
    at_costs: bool = False,
    or_rival: bool = False,
    or_empty: bool = False,
) -> str:
    """Say which level one leaf, or each of several, reaches or does not reach.

    `or_rival` and `or_empty` add the other reasons to flag a leaf.

    Examples
    --------
    >>> from sureleaf.report.sections.tree import WantedLevels
    >>> wanted_text(WantedLevels(0.95, 0.95, None), reached=False, one=True)
    'the confidence that it predicts the majority class is below 95 %'
    """
    bound = "at least" if reached else "below"
    subject = "it" if one else "each"
    parts = []
    if wanted.confidence is not None:
        event = "makes the cheapest decision" if at_costs else "predicts the majority class"
        parts.append(
            f"the confidence that {subject} {event} is {bound} {level_percent(wanted.confidence)}"
        )
    if wanted.utility is not None:
        share = "what it saves" if at_costs else "the share of new rows that it predicts correctly"
        parts.append(f"{share} is expected to be {bound} {level_percent(wanted.utility)}")
    if not parts or or_rival:
        rival = "decision is cheaper for its rows" if at_costs else "class is more frequent in it"
        parts.append(f"{'no other' if reached else 'another'} {rival}")
    if or_empty:
        parts.append("it has no rows")
    return (" and " if reached else ", or ").join(parts)


# What is to be done?


def _next(parts: _Parts) -> Sentence:
    used = {column.name for column in parts.tree.columns}
    kinds = ("identifier", "leak")
    found = (str(one.column) for one in parts.data.warnings if one.kind in kinds)
    suspects = list(dict.fromkeys(name for name in found if name in used))
    if suspects:
        short, they = f"First check {listed(suspects)}.", "They" if len(suspects) > 1 else "It"
        text = f"{they} may give the answer away, or only number the rows: see the warnings."
        return Sentence("next", "bad", short, text, "data")
    curve = parts.error.curve
    rows = parts.error.curve_note or "" if curve is None else curve.text
    if parts.standing == "no tests":
        return Sentence("next", "bad", *_without_tests(parts, rows))
    if parts.standing != "better":
        short = "Do not use it yet." if parts.standing == "undecided" else "Do not use it."
        return Sentence("next", "bad", short, rows, "error")
    if parts.only_class is not None:
        is_auc = parts.lead.measure == "auc"
        text, see = (_rare_help(parts), "models") if is_auc else (rows, "error")
        short = "Use it to rank rows, not to predict their class."
        return Sentence("next", "warn", short, text, see)
    return _use(parts, rows)


def _use(parts: _Parts, rows: str) -> Sentence:
    flagged, few = parts.flagged, ""
    if parts.data.rows < FEW_ROWS:
        few = f" {parts.data.rows} rows is a small sample: another could give a different tree."
    use = "Use it if its rules must be readable" if better_models(parts.models) else "Use it"
    if not flagged:
        return Sentence("next", "good", f"{use}.", f"{rows}{few}", "error")
    if parts.flagged_share > 0.5:
        short = "Use it for a first look only."
    else:
        leaf = "leaf" if len(flagged) == 1 else "leaves"
        short = f"{use}, but check the flagged {leaf} by hand."
    needed = [node.total_rows_needed for node in flagged if node.total_rows_needed is not None]
    if needed and len(needed) == len(flagged):
        what = "would settle it" if len(flagged) == 1 else "would settle all of them"
        rows = f"About {up_to_two_digits(max(needed)):,} rows in all {what}. {rows}"
    elif len(flagged) == 1:
        rows = f"Whether more rows would settle the flagged leaf is not known. {rows}"
    return Sentence("next", "warn", short, f"{rows}{few}", "error")


def _without_tests(parts: _Parts, rows: str) -> tuple[str, str, str]:
    """Say what could help where the tree is one leaf."""
    better = better_models(parts.models)
    if parts.lead.measure != "auc":
        if better:
            return "Use another model.", f"Better: {listed(better)}. {rows}", "models"
        return "Do not use a tree here.", rows or "Other columns might help.", "error"
    return "Make the rare class count.", _rare_help(parts), "models"


def _rare_help(parts: _Parts) -> str:
    """Say what makes a tree predict rare classes."""
    counts = [one.count for one in parts.data.classes]
    n_rare = sum(counts) - max(counts)
    wanted = max(RARE_ROWS_WANTED, round(n_rare))
    more = math.ceil(sum(counts) * wanted / n_rare) if n_rare else 0
    help_ = (
        "Say what each error costs (--cost), or give the rare class more weight "
        "(--tree class_weight=balanced)."
    )
    if n_rare < RARE_ROWS_WANTED:
        help_ += (
            f" Or collect more: {count_of(n_rare, 'rare row')} cannot show how good a model is; "
            f"{RARE_ROWS_WANTED} are recommended, about {up_to_two_digits(more):,} rows in all."
        )
    return help_


RARE_ROWS_WANTED = 100
"""Rows of the rare class that are recommended to judge a prediction model (Vergouwe et al. 2005,
J. Clin. Epidemiol. 58, 475-483)."""


def costs_text(cost: NDArray[np.float64], labels: Sequence[str], unit: str | None = None) -> str:
    """Of two classes, give the cost of each error, and of correct predictions that cost."""
    if len(labels) != 2 or cost.shape != (2, 2):
        return ""
    cells = [(0, 1), (1, 0), *((code, code) for code in (0, 1) if cost[code, code] != 0)]
    parts = [
        f"{quoted(labels[actual])} taken for {quoted(labels[decided])}: "
        f"{amount(float(cost[actual, decided]), unit).replace('.00', '')}"
        for actual, decided in cells
    ]
    return f" ({'; '.join(parts)})"
