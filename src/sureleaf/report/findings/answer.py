"""Section 1: the answer in plain sentences, each with the section that shows it."""

from typing import Any

import numpy as np

from sureleaf.report.findings.plain import percent

__all__ = ["answer_section"]

NAMED_COLUMNS = 4
NAMED_LEAVES = 3
LONGEST_RULE = 160


def answer_section(document: dict[str, Any]) -> dict[str, Any]:
    """Return the section of the answer, told from the other sections alone.

    Examples
    --------
    >>> from sureleaf.report import make_report
    >>> report = make_report([[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30)
    >>> [sentence["topic"] for sentence in report.to_dict()["answer"]["sentences"]]
    ['predicts', 'accuracy', 'leaves', 'rows', 'models']
    """
    accuracy = next(m for m in document["quality"]["measures"] if m["name"] == "accuracy")
    estimate = {key: accuracy[key] for key in ("value", "low", "high", "level", "method")}
    baseline = max(one["share"] for one in document["data"]["classes"])
    return {
        "headline": _headline(document, estimate),
        "accuracy": estimate,
        "baseline": baseline,
        "sentences": [
            _predicts(document),
            _accuracy(document, estimate, baseline),
            _leaves(document),
            _rows(document),
            _models(document),
        ],
    }


def _sentence(topic: str, tone: str, text: str, see: str) -> dict[str, str]:
    return {"topic": topic, "tone": tone, "text": text, "see": see}


def _in_hundred(share: float) -> str:
    """As a count in a hundred, with a decimal where a whole number would claim certainty."""
    whole = f"{100 * share:.0f}"
    return f"{100 * share:.1f}" if whole in ("0", "100") and 0 < share < 1 else whole


def _interval(estimate: dict[str, Any]) -> str:
    if estimate["low"] is None or estimate["high"] is None:
        return "no interval"
    low, high = _in_hundred(estimate["low"]), _in_hundred(estimate["high"])
    return f"{100 * estimate['level']:g} % interval {low} to {high}"


def _headline(document: dict[str, Any], accuracy: dict[str, Any]) -> str:
    return (
        f"On rows it has not seen, this tree will be right about {document['data']['target']} "
        f"some {_in_hundred(accuracy['value'])} times in 100 ({_interval(accuracy)})."
    )


def _predicts(document: dict[str, Any]) -> dict[str, str]:
    data, tree = document["data"], document["tree"]
    target = data["target"]
    used = [c for c in data["columns"] if c["kind"] != "left out"]
    if tree["n_leaves"] == 1:
        label = data["classes"][tree["nodes"][0]["prediction"]]["label"]
        text = (
            f"The columns do not help to tell {target}: the tree asks nothing and always says "
            f"{label}."
        )
        return _sentence("predicts", "bad", text, "tree")
    weights = {c["name"]: c["importance"] for c in used if c["importance"]}
    names = sorted(weights, key=lambda name: -weights[name])
    tested = {column["name"] for column in tree["columns"]}
    names = [name for name in names if name in tested] or sorted(tested)
    first = tree["columns"][tree["nodes"][0]["column"]]["name"]
    main = names[:NAMED_COLUMNS]
    mostly = f"mostly with {_listed(main)}" if len(names) > len(main) else f"with {_listed(main)}"
    text = (
        f"The tree predicts {target} {mostly}; it asks for {first} first, and for "
        f"{len(tested)} of the {len(used)} columns somewhere in its {tree['n_leaves']} leaves."
    )
    risky = [
        w["column"]
        for w in data["warnings"]
        if w["kind"] in ("identifier", "leak") and w["column"] in tested
    ]
    if risky:
        text += (
            f" Beware of {_listed(list(dict.fromkeys(risky)))}: see the warnings about the data."
        )
    return _sentence("predicts", "bad" if risky else "plain", text, "tree")


def _accuracy(
    document: dict[str, Any], accuracy: dict[str, Any], baseline: float
) -> dict[str, str]:
    classes = document["data"]["classes"]
    label = max(classes, key=lambda one: one["share"])["label"]
    always = f"always saying {label} is right {_in_hundred(baseline)} times"
    against = next(
        (row["comparison"] for row in document["models"]["rows"] if row["name"] == "majority class"),
        None,
    )
    right = f"It will be right about {_in_hundred(accuracy['value'])} of 100 unseen rows"
    span = f"({_interval(accuracy)})"
    if against is None:
        tone, text = "warn", f"{right} {span}; {always}."
    elif against["high"] < 0:
        tone = "good"
        text = f"{right} {span}; {always}, so the tree has learned something."
    elif against["low"] > 0:
        tone, text = "bad", f"{right} {span}: less often than {always}. Do not use it."
    else:
        tone = "bad"
        text = (
            f"{right} {span}; {always}: these rows do not show that the tree is better than that."
        )
    missed = _missed(document)
    if missed:
        tone = "warn" if tone == "good" else tone
        text += f" {missed}"
    if document["data"]["rows"] < 200:
        text += (
            f" {document['data']['rows']} rows are few: the interval is wide, and another sample "
            "may give another tree."
        )
    return _sentence("accuracy", tone, text, "quality")


def _missed(document: dict[str, Any]) -> str:
    """Classes of which less than half is found."""
    confusion = np.array(document["quality"]["confusion"])
    rows = confusion.sum(axis=1)
    missed = [
        (document["quality"]["labels"][code], confusion[code, code] / rows[code])
        for code in range(len(rows))
        if rows[code] > 0 and confusion[code, code] < rows[code] / 2
    ]
    if not missed:
        return ""
    told = [f"{label} ({percent(share)} found)" for label, share in missed[:3]]
    more = f" and {len(missed) - 3} more classes" if len(missed) > 3 else ""
    return f"It misses most rows of {_listed(told)}{more}."


def _leaves(document: dict[str, Any]) -> dict[str, str]:
    tree = document["tree"]
    leaves = [node for node in tree["nodes"] if node["column"] is None]
    weak = [node for node in leaves if node["flagged"]]
    total = sum(node["n"] for node in leaves)
    wanted = _wanted(tree["wanted"])
    if not weak:
        n = len(leaves)
        who = "Its one leaf is" if n == 1 else f"All {n} leaves are"
        return _sentence("leaves", "good", f"{who} to be trusted: each {wanted}.", "leaves")
    share = sum(node["n"] for node in weak) / total if total else 0.0
    largest = sorted((node for node in weak if node["n"] > 0), key=lambda node: -node["n"])
    count = "1 leaf is" if len(weak) == 1 else f"{len(weak)} leaves are"
    text = (
        f"{count} not to be trusted, of {len(leaves)}, with {percent(share)} of the rows: they are "
        f"too small or too mixed to be sure that each {wanted}."
    )
    if largest:
        named = "; ".join(_named(document, node) for node in largest[:NAMED_LEAVES])
        text += f" The largest: {named}."
    tone = "bad" if share > 0.5 else "warn" if share > 0.05 else "plain"
    return _sentence("leaves", tone, text, "leaves")


def _wanted(wanted: dict[str, Any]) -> str:
    parts = []
    if wanted["confidence"] is not None:
        parts.append(
            f"names the class that is really the most frequent there (chance at least "
            f"{percent(wanted['confidence'])})"
        )
    if wanted["utility"] is not None:
        parts.append(f"is right about at least {percent(wanted['utility'])} of its rows")
    return " and ".join(parts) or "is right more often than a coin"


def _named(document: dict[str, Any], node: dict[str, Any]) -> str:
    label = document["data"]["classes"][node["prediction"]]["label"]
    rule = node["rule"] if len(node["rule"]) <= LONGEST_RULE else node["rule"][: LONGEST_RULE - 1] + "…"
    n = f"{node['n']:,.0f}"
    return (
        f"leaf {node['id']} ({rule}: {label}, {n} {'row' if n == '1' else 'rows'}, chance "
        f"{percent(node['confidence'])})"
    )


def _rows(document: dict[str, Any]) -> dict[str, str]:
    curve, note = document["error"]["curve"], document["error"].get("curve_note")
    if curve is None:
        return _sentence("rows", "plain", f"Whether more rows would help is open: {note}.", "error")
    text, gain = curve["text"], curve["gain_of_doubling"]
    tone = "plain" if gain is None or not text.startswith("More rows of the same kind would help") else "warn"
    return _sentence("rows", tone, text, "error")


def _models(document: dict[str, Any]) -> dict[str, str]:
    models = document["models"]
    rows = {row["name"]: row["comparison"] for row in models["rows"] if row["comparison"]}
    better = [name for name, found in rows.items() if found["verdict"] == "better"]
    text = models["text"] or "The other models could not be compared on these rows."
    return _sentence("models", "warn" if better else "plain", text, "models")


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
