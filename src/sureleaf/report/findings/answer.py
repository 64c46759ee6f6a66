"""Section 1: the answer in plain sentences, each with the section that shows it."""

from typing import Any

import numpy as np

from sureleaf.report.findings.cost_words import costs_sentence
from sureleaf.report.findings.leaf_words import leaves_sentence
from sureleaf.report.findings.plain import in_hundred, listed, percent, span

__all__ = ["answer_section"]

NAMED_COLUMNS = 4
FEW_ROWS = 200
HELPS = "More rows of the same kind would help"


def answer_section(document: dict[str, Any]) -> dict[str, Any]:
    """Return the section of the answer, told from the other sections alone.

    Examples
    --------
    >>> from sureleaf.report import Effort, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, effort=Effort(3, 1, 3, 2, 10))
    >>> [sentence["topic"] for sentence in report.to_dict()["answer"]["sentences"]]
    ['predicts', 'accuracy', 'leaves', 'rows', 'models']
    """
    accuracy = next(m for m in document["quality"]["measures"] if m["name"] == "accuracy")
    estimate = {key: accuracy[key] for key in ("value", "low", "high", "level", "method")}
    baseline = max(one["share"] for one in document["data"]["classes"])
    told = {
        "predicts": (*_predicts(document), "tree"),
        "accuracy": (*_accuracy(document, baseline), "quality"),
        **({"costs": (*costs, "quality")} if (costs := costs_sentence(document)) else {}),
        "leaves": (*leaves_sentence(document), "leaves"),
        "rows": (*_rows(document), "error"),
        "models": (*_models(document), "models"),
    }
    return {
        "headline": _headline(document, estimate),
        "accuracy": estimate,
        "baseline": baseline,
        "sentences": [
            {"topic": topic, "tone": tone, "text": text, "see": see}
            for topic, (tone, text, see) in told.items()
        ],
    }


def _headline(document: dict[str, Any], accuracy: dict[str, Any]) -> str:
    interval = "no interval"
    if accuracy["low"] is not None and accuracy["high"] is not None:
        low, high = in_hundred(accuracy["low"]), in_hundred(accuracy["high"])
        interval = f"{100 * accuracy['level']:g} % interval {low} to {high}"
    return (
        f"On rows it has not seen, this tree will predict {_target(document)} right some "
        f"{in_hundred(accuracy['value'])} times in 100 ({interval})."
    )


def _predicts(document: dict[str, Any]) -> tuple[str, str]:
    data, tree = document["data"], document["tree"]
    target = _target(document)
    columns = [column for column in data["columns"] if column["kind"] != "left out"]
    if tree["n_leaves"] == 1:
        label = data["classes"][tree["nodes"][0]["prediction"]]["label"]
        return "bad", (
            f"The columns do not help to predict {target}: the tree asks nothing and always says "
            f"{label}."
        )
    tested = {column["name"] for column in tree["columns"]}
    weights = {column["name"]: column["importance"] or 0.0 for column in columns}
    names = sorted(tested, key=lambda name: (-weights[name], name))
    first = tree["columns"][tree["nodes"][0]["column"]]["name"]
    if len(names) <= NAMED_COLUMNS:
        text = f"The tree predicts {target} with {listed(names)}"
        text += "" if names == [first] else f"; it asks for {first} first"
        unused = len(columns) - len(names)
        if unused:
            text += f". It does not use the other {unused}" if unused > 1 else ""
    else:
        text = (
            f"The tree predicts {target} mostly with {listed(names[:NAMED_COLUMNS])}; it asks for "
            f"{first} first, and uses {_of_all(len(names), len(columns))} columns"
        )
    risky = [
        warning["column"]
        for warning in data["warnings"]
        if warning["kind"] in ("identifier", "leak") and warning["column"] in tested
    ]
    if not risky:
        return "plain", f"{text}."
    beware = listed(list(dict.fromkeys(risky)))
    return "bad", f"{text}. Beware of {beware}: see the warnings about the data."


def _accuracy(document: dict[str, Any], baseline: float) -> tuple[str, str]:
    if document["tree"]["n_leaves"] == 1:
        return "bad", f"{_one_leaf(document)}{_few_rows(document)}"
    classes = document["data"]["classes"]
    label = max(classes, key=lambda one: one["share"])["label"]
    text = f"Always saying {label} would be right {in_hundred(baseline)} times in 100"
    found = _against(document, "majority class")
    if found is None:
        tone, text = "warn", f"{text}."
    else:
        gap, low, high = (-100 * found[key] for key in ("difference", "high", "low"))
        more = "more" if gap >= 0 else "less"
        text += f"; the tree is right {abs(gap):.1f} times {more} ({span(low / 100, high / 100)})"
        if low > 0:
            tone, text = "good", f"{text}, so it has learned something."
        elif high < 0:
            tone, text = "bad", f"{text}: it does worse than that."
        else:
            tone, text = "bad", f"{text}: these rows do not show that it does better than that."
    ranks = _ranks(document)
    if tone == "bad" and ranks:
        tone, text = "warn", f"{text} {ranks}"
    finds, misses = _finds(document)
    if finds:
        text = f"{text} {finds}"
    if misses and tone == "good":
        tone = "warn"
    return tone, f"{text}{_few_rows(document)}"


def _one_leaf(document: dict[str, Any]) -> str:
    """Say of a tree without questions what is known of it: the share of its class."""
    code = document["tree"]["nodes"][0]["prediction"]
    one = document["data"]["classes"][code]
    text = f"Always saying {one['label']} is right {in_hundred(one['share'])} times in 100"
    confusion = np.array(document["quality"]["confusion"])
    others = 1 - confusion[:, code].sum() / confusion.sum()
    if others <= 1e-9:
        return f"{text}, and no column was found that does better."
    return (
        f"{text}. Of the trees grown on parts of the rows for the cross-validation some did ask "
        f"questions, and gave {percent(others, 1)} of the rows another class, so its figures "
        "differ from that."
    )


def _few_rows(document: dict[str, Any]) -> str:
    rows = document["data"]["rows"]
    if rows >= FEW_ROWS:
        return ""
    return f" {rows} rows are few: another sample may well give another tree."


def _target(document: dict[str, Any]) -> str:
    """Put the target in quotes: it may well be called class."""
    return f"\u201c{document['data']['target']}\u201d"


def _of_all(some: int, every: int) -> str:
    return f"all {every}" if some == every else f"{some} of the {every}"


def _against(document: dict[str, Any], name: str) -> dict[str, Any] | None:
    rows = document["models"]["rows"]
    found: dict[str, Any] | None = next(r["comparison"] for r in rows if r["name"] == name)
    return found


def _ranks(document: dict[str, Any]) -> str:
    auc = next((m for m in document["quality"]["measures"] if m["name"] == "auc"), None)
    if auc is None or auc["low"] is None or auc["low"] <= 0.5:
        return ""
    return (
        "Yet its probabilities do tell rows apart: with another threshold, or costs, it may be of "
        "use."
    )


def _finds(document: dict[str, Any]) -> tuple[str, bool]:
    """Say how much of the positive class is found, or which of many classes are missed."""
    quality = document["quality"]
    confusion, labels = np.array(quality["confusion"]), quality["labels"]
    rows, said = confusion.sum(axis=1), confusion.sum(axis=0)
    found = np.divide(np.diag(confusion), rows, out=np.ones(len(rows)), where=rows > 0)
    missed = [(labels[code], found[code]) for code in np.flatnonzero(found < 0.5).tolist()]
    if len(labels) == 2:
        code = quality["positive"]
        label = labels[code]
        if said[code] <= 0:
            return f"It never says {label}.", True
        right = confusion[code, code] / said[code]
        return (
            f"Of the rows whose {_target(document)} is {label} it finds {percent(found[code])}; of "
            f"those that it calls {label}, {percent(right)} are.",
            bool(missed),
        )
    if not missed:
        return "", False
    told = [f"{label} ({percent(share)} found)" for label, share in missed[:3]]
    more = [f"{len(missed) - 3} more classes"] if len(missed) > 3 else []
    return f"It misses most rows of {listed(told + more)}.", True


def _rows(document: dict[str, Any]) -> tuple[str, str]:
    curve, note = document["error"]["curve"], document["error"]["curve_note"]
    if curve is None:
        return "plain", f"Whether more rows would help cannot be told: {note}."
    return "warn" if curve["text"].startswith(HELPS) else "plain", curve["text"]


def _models(document: dict[str, Any]) -> tuple[str, str]:
    models = document["models"]
    found = [row["comparison"] for row in models["rows"] if row["comparison"]]
    better = any(one["low"] > 0 for one in found)
    text = models["text"] or "The other models could not be compared on these rows."
    return "warn" if better else "plain", text
