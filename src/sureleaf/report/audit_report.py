"""An audit as a document (docs/audit.md), and its page."""

import math
from os import PathLike
from typing import Any, TypedDict, cast

import numpy as np

from sureleaf.auditing import Audit, Subgroups, Where
from sureleaf.auditing.audits import AuditRecord, BinRecord, EstimateRecord, LeafRecord, TreeRecord
from sureleaf.auditing.where import WhereRecord
from sureleaf.comparison import Comparison
from sureleaf.files.atomic_write import atomic_write
from sureleaf.formatting import count_of, interval, level_percent, percent, points
from sureleaf.model.column_table import end_of
from sureleaf.report.document import package_versions
from sureleaf.report.request import Origin
from sureleaf.report.sections.answer import wanted_text
from sureleaf.report.sections.tree import WantedLevels

__all__ = ["MEASURE_WORDS", "audit_document", "write_audit"]


class ClassRecord(TypedDict):
    """A class with its rows."""

    label: str
    count: float
    share: float


class AuditData(TypedDict):
    """Where the rows of an audit come from."""

    source: str | None
    target: str
    title: str | None
    model_file: str | None
    rows: int
    rows_left_out: int
    columns_left_out: list[str]
    classes: list[ClassRecord]


class AuditSentence(TypedDict):
    """A sentence of the answer, its tone, and the section that shows the details."""

    topic: str
    tone: str
    text: str
    see: str


class AuditAnswer(TypedDict):
    """The answer of an audit."""

    headline: str
    accuracy: EstimateRecord
    baseline: float
    sentences: list[AuditSentence]


class MethodRecord(TypedDict):
    """What a number means, and what it assumes."""

    name: str
    text: str
    assumes: str
    reference: str


class AuditMethods(TypedDict):
    """How the numbers were computed, and how to repeat the audit."""

    definitions: list[MethodRecord]
    repeat: str


class SubgroupsRecord(TypedDict):
    """The values of named columns; attributes of a subgroup as in `Subgroups`."""

    of: str
    subgroups: list[dict[str, Any]]


class ComparisonRecord(TypedDict):
    """The comparison with another model on the same rows."""

    other: str
    measure: str
    difference: float
    low: float
    high: float
    p_value: float
    verdict: str
    sentence: str


class AuditParts(AuditRecord):
    """The document without its answer, which is written from it."""

    made: dict[str, Any]
    data: AuditData
    confusion: list[list[float]]
    where: WhereRecord | None
    by: SubgroupsRecord | None
    comparison: ComparisonRecord | None
    notes: list[str]
    methods: AuditMethods


class AuditDocument(AuditParts):
    """Everything about an audit in JSON, as docs/audit.md describes it."""

    answer: AuditAnswer


def audit_document(
    audit: Audit,
    origin: Origin,
    *,
    model_file: str | None = None,
    where: Where | None = None,
    by: Subgroups | None = None,
    comparison: tuple[str, Comparison] | None = None,
) -> AuditDocument:
    """Return everything about an audit, as docs/audit.md describes it.

    Parameters
    ----------
    audit : Audit
    origin : Origin
        Where the rows come from.
    model_file : str, optional
        Name of the file that the model was loaded from.
    where : Where, optional
        From ``audit.where()``.
    by : Subgroups, optional
        From ``audit.by(...)``.
    comparison : tuple of str and Comparison, optional
        The name of another model, and the result of ``audit.compare(...)`` with it.

    Returns
    -------
    dict
        ``audit.to_dict()`` with the answer, the data, the confusion matrix and the methods.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sureleaf import audit
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> result = audit(model, [[i / 10] for i in range(50)], ["no"] * 25 + ["yes"] * 25)
    >>> document = audit_document(result, Origin("ill"))
    >>> document["schema"], document["confusion"]
    ('sureleaf-audit/1', [[25.0, 0.0], [1.0, 24.0]])
    >>> print(document["answer"]["headline"])
    This DecisionTreeClassifier predicts “ill” correctly for 98.0 % of 50 unseen rows (95 % interval
    89.4 to 99.9).
    """
    parts: AuditParts = {
        **audit.to_dict(),
        "made": package_versions(origin),
        "data": _data(audit, origin, model_file),
        "confusion": _confusion(audit),
        "where": None if where is None else where.to_dict(),
        "by": None if by is None else {"of": by.of, "subgroups": by.records()},
        "comparison": None if comparison is None else _comparison(*comparison),
        "notes": audit.notes(),
        "methods": _methods_section(audit, origin, where),
    }
    return {**parts, "answer": _answer_section(parts)}


def write_audit(document: AuditDocument, path: str | PathLike[str]) -> None:
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

    page = render_audit(cast(dict[str, Any], document))
    with atomic_write(path) as file:
        file.write(page.encode())


def _comparison(other: str, result: Comparison) -> ComparisonRecord:
    return {
        "other": other,
        "measure": result.measure,
        "difference": result.difference,
        "low": result.low,
        "high": result.high,
        "p_value": result.p_value,
        "verdict": str(result.verdict),
        "sentence": str(result),
    }


def _data(audit: Audit, origin: Origin, model_file: str | None) -> AuditData:
    counts = audit.bins.counts.sum(axis=0)
    return {
        "source": origin.source,
        "target": origin.target,
        "title": origin.title,
        "model_file": model_file,
        "rows": audit.n_rows,
        "rows_left_out": origin.rows_left_out,
        "columns_left_out": list(origin.columns_left_out),
        "classes": [
            {"label": str(label), "count": float(count), "share": float(count / counts.sum())}
            for label, count in zip(audit.classes.tolist(), counts, strict=True)
        ],
    }


def _confusion(audit: Audit) -> list[list[float]]:
    """Count actual classes by predicted ones: every bin has one prediction."""
    code_of = {label: code for code, label in enumerate(audit.classes.tolist())}
    table = np.zeros((len(code_of), len(code_of)))
    for prediction, counts in zip(audit.bins.prediction.tolist(), audit.bins.counts, strict=True):
        table[:, code_of[prediction]] += counts
    rows: list[list[float]] = table.tolist()
    return rows


MEASURE_WORDS = {
    "auc": "AUC",
    "nce": "log loss (NCE)",
    "quadratic_loss": "quadratic loss (Brier)",
    "calibration_intercept": "calibration intercept",
    "calibration_slope": "calibration slope",
}
"""Names of measures for people."""

# The answer in sentences, each with the section that shows the details.

MAX_NAMED = 3
MAX_RULE_LENGTH = 140


def _answer_section(document: AuditParts) -> AuditAnswer:
    """Write the answer from the other parts of the document."""
    baseline = max(one["share"] for one in document["data"]["classes"])
    sentences = [
        ("accuracy", *_accuracy(document, baseline), "data"),
        ("claims", *_claims(document)),
    ]
    if document["where"] is not None:
        sentences.append(("where", *_where(document["where"]), "where"))
    sentences.append(("groups", *_groups(document)))
    if document["trees"] is not None:
        sentences.append(("trees", *_trees(document["trees"]), "trees"))
    if document["comparison"] is not None:
        sentences.append(("comparison", "plain", document["comparison"]["sentence"], "measures"))
    is_training = document["rows"] == "training"
    sentences[:0] = [("remark", "bad", remark, "data") for remark in document["remarks"]]
    if is_training or document["looks_seen"]:
        text = (
            "The model was trained on these rows, so every figure here is too good. Audit it with "
            "rows that it was not trained on."
        )
        # Results on training rows are no good news.
        sentences = [
            (topic, "plain" if tone == "good" else tone, words, see)
            for topic, tone, words, see in sentences
        ]
        if is_training:
            sentences.insert(0, ("training", "bad", text, "data"))
    return {
        "headline": _headline(document),
        "accuracy": document["accuracy"],
        "baseline": baseline,
        "sentences": [
            {"topic": topic, "tone": tone, "text": text, "see": see}
            for topic, tone, text, see in sentences
        ],
    }


def _headline(document: AuditParts) -> str:
    accuracy = document["accuracy"]
    kind = "" if document["looks_seen"] else f"{document['rows']} "
    return (
        f"This {document['model']} predicts \u201c{document['data']['target']}\u201d correctly for "
        f"{percent(accuracy['value'])} of {count_of(document['n_rows'], f'{kind}row')} "
        f"({level_percent(accuracy['level'])} interval "
        f"{interval(accuracy['low'], accuracy['high'])})."
    )


def _accuracy(document: AuditParts, baseline: float) -> tuple[str, str]:
    accuracy = document["accuracy"]
    label = max(document["data"]["classes"], key=lambda one: one["share"])["label"]
    text = (
        f"The baseline, always predicting {label}, is correct for {percent(baseline)} of the rows"
    )
    if accuracy["low"] > baseline:
        return "good", f"{text}: the model is better than the baseline."
    if accuracy["high"] < baseline:
        return "bad", f"{text}: the model is worse than the baseline."
    return "bad", f"{text}: these rows do not show that the model is better than the baseline."


def _claims(document: AuditParts) -> tuple[str, str, str]:
    accuracy, stated = document["accuracy"], document["stated"]
    text = (
        f"The mean probability of its predicted classes is {percent(stated)}; "
        f"{percent(accuracy['value'])} of the predictions are correct."
    )
    gap = f"by {points(abs(stated - accuracy['value']))} percentage points"
    if stated > accuracy["high"]:
        tone, text = "bad", f"{text} The model is overconfident, {gap}."
    elif stated < accuracy["low"]:
        tone, text = "warn", f"{text} The model is underconfident, {gap}."
    else:
        tone, text = "good", f"{text} The difference is within chance."
    groups, _ = _table(document)
    held = [one for one in groups if one["n"] > 0]
    outside = sum(not one["agrees"] for one in held)
    if outside > max(1.0, (1 - document["level"]) * len(held)):
        tone = "warn" if tone == "good" else tone
    return tone, f"{text} {document['notes'][-1]}" if held else text, "bins"


def _where(where: WhereRecord) -> tuple[str, str]:
    """Name the farthest segments, or say what would have been found."""
    segments = where["found"]
    if where["reason"] is not None:
        return "plain", where["sentences"][0]
    if not segments:
        return "good", " ".join(where["sentences"][:2])
    text = " ".join(where["sentences"][: 1 + min(len(segments), MAX_NAMED)])
    more = len(segments) - MAX_NAMED
    return "bad", text + (f" {count_of(more, 'more segment')}." if more > 0 else "")


def _table(document: AuditParts) -> tuple[list[LeafRecord] | list[BinRecord], bool]:
    """Return the leaves of a tree, or else the bins, and whether these are leaves."""
    leaves = document["leaves"]
    if leaves is None or document["trees"] is not None:
        return document["bins"], False
    return leaves, True


def _groups(document: AuditParts) -> tuple[str, str, str]:
    groups, is_tree = _table(document)
    one, many, see = ("leaf", "leaves", "leaves") if is_tree else ("bin", "bins", "bins")
    weak = [group for group in groups if group["flagged"]]
    if not weak:
        subject = (
            f"The only {one} reaches" if len(groups) == 1 else f"All {len(groups):,} {many} reach"
        )
        return "good", f"{subject} the wanted level: {_why(document, reached=True)}.", see
    total = sum(group["n"] for group in groups)
    share = sum(group["n"] for group in weak) / total if total else 0.0
    empty = sum(group["n"] <= 0 for group in weak)
    of = f"the only {one}" if len(groups) == 1 else f"{len(weak):,} of the {len(groups):,} {many}"
    text = f"Do not rely on {of} ({percent(share, 0)} of the rows): {_why(document, reached=False)}"
    text += (
        f", or it has none of these rows ({empty:,} {many if empty > 1 else one})."
        if empty
        else "."
    )
    filled = sorted((group for group in weak if group["n"] > 0), key=lambda group: -group["n"])
    if filled and len(groups) > 1:
        named = [_named(group) for group in filled[:MAX_NAMED]]
        start = "The largest ones: " if len(weak) > len(named) else ""
        joined = "; ".join(named)
        text += f" {start}{joined if start else joined[0].upper() + joined[1:]}."
    return "bad" if share > 0.5 else "warn" if share > 0.05 else "plain", text, see


def _why(document: AuditParts, *, reached: bool) -> str:
    wanted, otherwise = WantedLevels(**document["wanted"]), "another class is more frequent in it"
    return wanted_text(wanted, reached=reached, otherwise=otherwise)


def _named(group: LeafRecord | BinRecord) -> str:
    confidence = math.floor(100 * group["confidence"])  # never the 95 % that it falls short of
    name = f"rows with a predicted probability of {percent(group['stated'], 0)}"
    if "leaf" in group:
        leaf = cast(LeafRecord, group)
        name = f"leaf {leaf['leaf']}, {end_of(str(leaf['rule']), MAX_RULE_LENGTH)}"
    return (
        f"{name}: {group['prediction']} ({count_of(group['n'], 'row')}, confidence "
        f"{f'{confidence} %' if confidence else 'below 1 %'})"
    )


def _trees(trees: list[TreeRecord]) -> tuple[str, str]:
    right = [tree["utility"] for tree in trees]
    n_leaves = sum(tree["leaves"] for tree in trees)
    weak = sum(tree["flagged"] for tree in trees) / n_leaves
    return "plain", (
        f"Each of its {len(trees):,} trees alone predicts {percent(sum(right) / len(right))} of "
        f"the rows correctly on average ({interval(min(right), max(right))}). {percent(weak, 0)} "
        f"of their {n_leaves:,} leaves are flagged; what counts is the vote of all trees."
    )


# What each number of an audit means and assumes.


def _methods_section(audit: Audit, origin: Origin, where: Where | None) -> AuditMethods:
    """Describe the methods."""
    definitions = [
        _one(
            "accuracy",
            "Share of the rows that are predicted correctly, with the interval of Clopper and "
            "Pearson. It is about this very model, not about the way it was trained.",
            "rows are independent, and future rows come from the same population",
            "Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits "
            "illustrated in the case of the binomial. Biometrika 26, 404-413.",
        ),
        _one(
            "bins",
            "The rows of each predicted class are divided into bins of equal size by their "
            "predicted probability; rows with the same probability stay together.",
            "in a bin with several predicted probabilities their mean is compared, which makes the "
            "bounds a little too wide, never too narrow",
            "see docs/audit.md",
        ),
    ]
    definitions.append(_of_measures())
    if where is not None:
        definitions.append(_of_segments(where))
    definitions += _of_training_rows() if audit.rows == "training" else _of_unseen_rows(audit)
    return {
        "definitions": definitions,
        "repeat": origin.command or f"sureleaf.audit(model, X, y, rows={audit.rows!r})",
    }


def _of_measures() -> MethodRecord:
    return _one(
        "measures",
        "AUC with the interval of DeLong, log loss (nce), Brier score (quadratic_loss, summed over "
        "the classes) and cost with that of the bootstrap (BCa), intercept and slope of "
        "calibration with that of the sandwich estimator. A slope below 1 means probabilities that "
        "are too extreme. For both, a stated probability of 0 or 1 counts as half a row of all "
        "rows away from it.",
        "rows, or groups of rows, are independent",
        "Van Calster, B. et al. (2019). Calibration: the Achilles heel of predictive analytics. "
        "BMC Medicine 17, 230.",
    )


def _of_segments(where: Where) -> MethodRecord:
    return _one(
        "segments",
        f"All {where.n_segments:,} segments of one or two conditions with 2 to 50 % of the rows, "
        "and all rows together, were looked at. P-values are the share of simulated tables, in "
        "which the model is not wrong, whose farthest segment is as far off; one and two "
        "conditions apart, with a quarter and three quarters of the error probability. "
        "Intervals hold for all "
        "segments at once.",
        "rows, or groups of rows, are independent",
        "Westfall, P. H., Young, S. S. (1993). Resampling-based multiple testing. Wiley.",
    )


def _of_training_rows() -> list[MethodRecord]:
    return [
        _one(
            "levels from training rows",
            "Probability, confidence and utility follow from these counts by the theory, as if the "
            "leaves had been chosen before the rows were seen. The model was trained on these "
            "labels, so all three are too high.",
            "the leaves were not chosen by these rows; here they were",
            "Zhang, Z. et al. (2024); see docs/levels.md.",
        )
    ]


def _of_unseen_rows(audit: Audit) -> list[MethodRecord]:
    return [
        _one(
            "probability and interval",
            "Share of the predicted class among the rows, with the Clopper-Pearson interval. It "
            f"contains the true probability in at least {level_percent(audit.level)} of all "
            "audits. The prediction of the model agrees if it lies in the interval.",
            "rows of a leaf or bin are independent draws with one probability",
            "Clopper, C. J., Pearson, E. S. (1934). The use of confidence or fiducial limits. "
            "Biometrika 26, 404-413.",
        ),
        _one(
            "confidence",
            "Probability, given these counts, that the predicted class is the most probable class "
            "in the leaf or bin; of a tree with costs, that its decision is the cheapest one. "
            "Below 50 % the rows favour another class or decision.",
            "Jeffreys' prior: half a row of each class before any row is counted",
            "see docs/audit.md",
        ),
        _one(
            "utility",
            "Probability that the next row in the leaf or bin is predicted correctly. Leaves and "
            "bins with few rows are shrunk towards the overall accuracy, with the strength that "
            "maximizes the likelihood. The mean utility, weighted by rows, is the accuracy.",
            "accuracies of leaves or bins have a beta distribution",
            "see docs/audit.md",
        ),
        _one(
            "rows needed",
            "Rows in the leaf or bin, in total, until the wanted confidence is reached; never if "
            "another class is as frequent or the utility is too low: more rows do not change that.",
            "class proportions stay the same",
            "see docs/audit.md",
        ),
    ]


def _one(name: str, text: str, assumes: str, reference: str) -> MethodRecord:
    return {"name": name, "text": text, "assumes": assumes, "reference": reference}
