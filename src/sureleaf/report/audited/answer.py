"""What the rows say about the model, in sentences, each with the section that shows it."""

import math
from typing import Any

from sureleaf.estimators.column_table import end_of
from sureleaf.report.findings.leaf_words import wanted_words
from sureleaf.report.findings.plain import in_hundred, percent

__all__ = ["answer_section"]

NAMED = 3
LONGEST_RULE = 140


def answer_section(document: dict[str, Any]) -> dict[str, Any]:
    """Return the section of the answer, told from the document's other sections alone.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> from sureleaf.report.audited import audit_document
    >>> from sureleaf.report.findings.origin import Origin
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[1], [3]], ["no", "yes"])
    >>> answer = audit_document(found, Origin("ill"))["answer"]
    >>> [sentence["topic"] for sentence in answer["sentences"]]
    ['accuracy', 'claims', 'groups']
    """
    baseline = max(one["share"] for one in document["data"]["classes"])
    told = [("accuracy", *_accuracy(document, baseline), "data"), ("claims", *_claims(document))]
    told.append(("groups", *_groups(document)))
    if document["trees"] is not None:
        told.append(("trees", *_trees(document), "trees"))
    if document["rows"] == "training":
        text = (
            "These rows grew the model: everything here flatters it. Audit it with rows that it "
            "has not seen."
        )
        # What training rows say is no reason to be glad.
        told = [
            (topic, "plain" if tone == "good" else tone, words, see)
            for topic, tone, words, see in told
        ]
        told.insert(0, ("training", "bad", text, "data"))
    return {
        "headline": _headline(document),
        "accuracy": document["accuracy"],
        "baseline": baseline,
        "sentences": [
            {"topic": topic, "tone": tone, "text": text, "see": see}
            for topic, tone, text, see in told
        ],
    }


def _headline(document: dict[str, Any]) -> str:
    accuracy, n_rows = document["accuracy"], f"{document['n_rows']:,}"
    rows = "row" if document["n_rows"] == 1 else "rows"
    training = document["rows"] == "training"
    whose = (
        f"On {n_rows} {rows} that grew it" if training else f"On {n_rows} {rows} it has not seen"
    )
    return (
        f"{whose}, this {document['model']} was right about {document['data']['target']} "
        f"{in_hundred(accuracy['value'])} times in 100 ({100 * accuracy['level']:g} % interval "
        f"{in_hundred(accuracy['low'])} to {in_hundred(accuracy['high'])})."
    )


def _accuracy(document: dict[str, Any], baseline: float) -> tuple[str, str]:
    accuracy = document["accuracy"]
    label = max(document["data"]["classes"], key=lambda one: one["share"])["label"]
    text = f"Always saying {label} would have been right {in_hundred(baseline)} times in 100"
    if accuracy["low"] > baseline:
        return "good", f"{text}: the model knows more than that."
    if accuracy["high"] < baseline:
        return "bad", f"{text}: the model does worse than that."
    return "bad", f"{text}: these rows do not show that the model does better than that."


def _claims(document: dict[str, Any]) -> tuple[str, str, str]:
    accuracy, stated = document["accuracy"], document["stated"]
    text = (
        f"For its predictions the model states {percent(stated, 1)} on average; "
        f"{percent(accuracy['value'], 1)} came true."
    )
    gap = abs(100 * (stated - accuracy["value"]))
    if stated > accuracy["high"]:
        tone, text = "bad", f"{text} It claims too much, by {gap:.1f} in a hundred."
    elif stated < accuracy["low"]:
        tone, text = "warn", f"{text} It claims too little, by {gap:.1f} in a hundred."
    else:
        tone, text = "good", f"{text} That is what chance allows."
    groups, _ = _table(document)
    held = [one for one in groups if one["n"] > 0]
    outside = sum(not one["agrees"] for one in held)
    if outside > max(1.0, (1 - document["level"]) * len(held)):
        tone = "warn" if tone == "good" else tone
    return tone, f"{text} {document['notes'][-1]}" if held else text, "bins"


def _table(document: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """Return what the model is judged by, and whether that is leaves."""
    is_tree = document["leaves"] is not None and document["trees"] is None
    return (document["leaves"] if is_tree else document["bins"]), is_tree


def _groups(document: dict[str, Any]) -> tuple[str, str, str]:
    groups, is_tree = _table(document)
    one, many, see = ("leaf", "leaves", "leaves") if is_tree else ("bin", "bins", "bins")
    weak = [group for group in groups if group["flagged"]]
    if not weak:
        who = f"The one {one}" if len(groups) == 1 else f"All {len(groups):,} {many}"
        return "good", f"{who} can be trusted: {_why(document, reached=True)}.", see
    total = sum(group["n"] for group in groups)
    share = sum(group["n"] for group in weak) / total if total else 0.0
    empty = sum(group["n"] <= 0 for group in weak)
    of = f"the only {one}" if len(groups) == 1 else f"{len(weak):,} of the {len(groups):,} {many}"
    text = f"Do not trust {of} ({percent(share)} of the rows): {_why(document, reached=False)}"
    text += f", or it has none of these rows ({empty:,})." if empty else "."
    filled = sorted((group for group in weak if group["n"] > 0), key=lambda group: -group["n"])
    if filled and len(groups) > 1:
        named = [_named(group) for group in filled[:NAMED]]
        start = "The largest of them:" if len(weak) > len(named) else "That is"
        text += f" {start} {'; '.join(named)}."
    return "bad" if share > 0.5 else "warn" if share > 0.05 else "plain", text, see


def _why(document: dict[str, Any], *, reached: bool) -> str:
    return wanted_words(document["wanted"], reached=reached)


def _named(group: dict[str, Any]) -> str:
    n = f"{group['n']:,.0f}"
    chance = math.floor(100 * group["confidence"])  # never the 95 % that it falls short of
    told = f"{chance} %" if chance else "below 1 %"
    who = f"rows with {100 * group['stated']:.0f} % stated"
    if "leaf" in group:
        who = f"leaf {group['leaf']}, {end_of(str(group['rule']), LONGEST_RULE)}"
    rows = "1 row" if n == "1" else f"{n} rows"
    return f"{who}: {group['prediction']} ({rows}, chance {told})"


def _trees(document: dict[str, Any]) -> tuple[str, str]:
    trees = document["trees"]
    right = [tree["utility"] for tree in trees]
    n_leaves = sum(tree["leaves"] for tree in trees)
    weak = sum(tree["flagged"] for tree in trees) / n_leaves
    return "plain", (
        f"Each of its {len(trees):,} trees alone is right {in_hundred(sum(right) / len(right))} "
        f"times in 100 ({in_hundred(min(right))} to {in_hundred(max(right))}); of their "
        f"{n_leaves:,} leaves {percent(weak)} are not to be trusted one by one. The vote is what "
        "counts."
    )
