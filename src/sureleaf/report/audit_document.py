"""An audit as a document (docs/audit.md) and as a page drawn from that and nothing else.

==============  ==========================================================
document.py     an audit -> its document
answer.py       what the rows say about the model, in sentences
methods.py      what each number means and assumes
==============  ==========================================================
"""

import math
from os import PathLike
from typing import Any

import numpy as np

from sureleaf.auditing import Audit
from sureleaf.files.atomic_write import atomic_write
from sureleaf.model.column_table import end_of
from sureleaf.report.document import made_section
from sureleaf.report.request import Origin
from sureleaf.report.sections.answer import wanted_words
from sureleaf.report.values import in_hundred, percent

__all__ = ["Origin", "answer_section", "audit_document", "methods_section", "write_audit"]


# What the rows say about the model, in sentences, each with the section that shows it.

NAMED = 3
LONGEST_RULE = 140


def answer_section(document: dict[str, Any]) -> dict[str, Any]:
    """Return the section of the answer, told from the document's other sections alone.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> from sureleaf.report.audit_document import audit_document
    >>> from sureleaf.report.request import Origin
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


# What each number of an audit means, what it assumes, and how to make it again.


def methods_section(found: Audit, origin: Origin) -> dict[str, Any]:
    """Return the section of methods.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> told = methods_section(audit(model, [[1], [3]], ["no", "yes"]), Origin("ill"))
    >>> [one["name"] for one in told["definitions"]]
    ['accuracy', 'bins', 'probability and interval', 'confidence', 'utility', 'rows needed']
    """
    told = [
        _one(
            "accuracy",
            "Share of the rows whose class is the one predicted, with Wilson's interval. It speaks "
            "of this very model, not of how it was made.",
            "rows are independent and come from where the rows of use will come",
            "Wilson, E. B. (1927). Probable inference, the law of succession, and statistical "
            "inference. JASA 22, 209-212.",
        ),
        _one(
            "bins",
            "Rows of each predicted class are divided into bins of equal size by the probability "
            "stated for it; rows of the same probability stay together.",
            "in a bin of several stated probabilities their mean is compared, which makes the "
            "bounds a little too wide, never too narrow",
            "see docs/audit.md",
        ),
    ]
    told += _of_training_rows() if found.rows == "training" else _of_unseen_rows(found)
    return {
        "definitions": told,
        "repeat": origin.command or f"sureleaf.audit(model, X, y, rows={found.rows!r})",
    }


def _of_training_rows() -> list[dict[str, str]]:
    return [
        _one(
            "levels of training rows",
            "Probability, confidence and utility are those of the theory for these counts, as if "
            "the leaves had been there before the rows. The model was drawn around these labels, "
            "so they flatter it.",
            "that the leaves were not chosen by these rows, which is not so here",
            "Zhang, Z. et al. (2024); see docs/levels.md.",
        )
    ]


def _of_unseen_rows(found: Audit) -> list[dict[str, str]]:
    return [
        _one(
            "probability and interval",
            "Share of the predicted class among the rows, with the bounds of Clopper and Pearson; "
            "they hold the true probability in at least "
            f"{100 * found.level:g} % of all audits. What the model states agrees where it lies "
            "within them.",
            "rows of a leaf or bin are independent draws with one probability",
            "Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits. "
            "Biometrika 26, 404-413.",
        ),
        _one(
            "confidence",
            "Probability, after these counts, that the predicted class is the most probable one "
            "there. Below 50 % the rows speak for another class.",
            "Jeffreys' prior: half a row of each class before any is seen",
            "see docs/audit.md",
        ),
        _one(
            "utility",
            "Probability that the prediction of the next row there is right. Groups of few rows "
            "are drawn towards the mean of all, with the strength under which the hits are most "
            "likely; weighted by rows, utilities add up to the accuracy.",
            "hit rates of leaves or bins are beta distributed",
            "see docs/audit.md",
        ),
        _one(
            "rows needed",
            "Rows there, all told, until the wanted confidence is reached; never if another class "
            "is as frequent or the utility is too small, which counting does not change.",
            "shares stay as they are",
            "see docs/audit.md",
        ),
    ]


def _one(name: str, text: str, assumes: str, reference: str) -> dict[str, str]:
    return {"name": name, "text": text, "assumes": assumes, "reference": reference}


# An audit's document: its numbers, what they say in sentences, and what they mean.


def audit_document(
    found: Audit, origin: Origin, *, model_file: str | None = None
) -> dict[str, Any]:
    """Return everything about an audit, as docs/audit.md describes it.

    Parameters
    ----------
    found : Audit
    origin : Origin
        Where the rows come from.
    model_file : str, optional
        Name of the file that the model was loaded from.

    Returns
    -------
    dict
        ``found.to_dict()`` with the answer, the data, the confusion matrix and the methods.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> found = audit(model, [[i / 10] for i in range(50)], ["no"] * 25 + ["yes"] * 25)
    >>> document = audit_document(found, Origin("ill"))
    >>> document["schema"], document["confusion"]
    ('sureleaf-audit/1', [[25.0, 0.0], [1.0, 24.0]])
    >>> document["answer"]["headline"].split(" ill ")[1]
    '98 times in 100 (95 % interval 90 to 99.6).'
    """
    document: dict[str, Any] = {**found.to_dict()}
    document["made"] = made_section(origin)
    document["data"] = _data(found, origin, model_file)
    document["confusion"] = _confusion(found)
    document["notes"] = found.notes()
    document["methods"] = methods_section(found, origin)
    document["answer"] = answer_section(document)
    return document


def write_audit(document: dict[str, Any], path: str | PathLike[str]) -> None:
    """Write the page of an audit's document, whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sureleaf import audit
    >>> model = GaussianNB().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> page = pathlib.Path(tempfile.mkdtemp()) / "audit.html"
    >>> write_audit(audit_document(audit(model, [[1], [3]], ["no", "yes"]), Origin("ill")), page)
    >>> "GaussianNB" in page.read_text(encoding="utf-8")
    True
    """
    from sureleaf.report.html import render_audit

    page = render_audit(document)
    with atomic_write(path) as file:
        file.write(page.encode())


def _data(found: Audit, origin: Origin, model_file: str | None) -> dict[str, Any]:
    counts = found.bins.counts.sum(axis=0)
    return {
        "source": origin.source,
        "target": origin.target,
        "title": origin.title,
        "model_file": model_file,
        "rows": found.n_rows,
        "rows_left_out": origin.rows_left_out,
        "columns_left_out": list(origin.columns_left_out),
        "classes": [
            {"label": str(label), "count": float(count), "share": float(count / counts.sum())}
            for label, count in zip(found.classes.tolist(), counts, strict=True)
        ],
    }


def _confusion(found: Audit) -> list[list[float]]:
    """Count actual classes by predicted ones: every bin has one prediction."""
    place = {label: code for code, label in enumerate(found.classes.tolist())}
    table = np.zeros((len(place), len(place)))
    for prediction, counts in zip(found.bins.prediction.tolist(), found.bins.counts, strict=True):
        table[:, place[prediction]] += counts
    rows: list[list[float]] = table.tolist()
    return rows
