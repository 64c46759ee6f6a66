"""Section 1: the answer in plain sentences, each with the section that shows it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureleaf.report.sections.decision import theoretical_threshold
from sureleaf.report.values import in_hundred, listed, percent, span

__all__ = ["answer_section", "costs_sentence", "last_tests", "leaves_sentence", "wanted_words"]


# What the user's costs make of the tree, in a sentence.

NEARLY_ALL = 0.95


def costs_sentence(document: dict[str, Any]) -> tuple[str, str] | None:
    """Return tone and text of the decision at the costs given; None if none were.

    Examples
    --------
    >>> classes = [{"label": "bad", "count": 30.0}, {"label": "good", "count": 70.0}]
    >>> decision = {"threshold": 0.131, "cost_a_row": 0.45, "confusion": [[28, 2], [35, 35]]}
    >>> quality = {"cost_given": True, "cost": [[0, 5], [1, 0]], "confusion": [[12, 18], [10, 60]],
    ...            "positive": 0, "decision": decision,
    ...            "measures": [{"name": "decided_cost", "value": 0.47}]}
    >>> document = {"data": {"classes": classes}, "tree": {"n_leaves": 9}, "quality": quality}
    >>> print(costs_sentence(document)[1])
    At your costs (a bad called good costs 5, a good called bad 1), say bad where its probability is
    13.1 % or more: a mean cost of 0.45 a row, chosen on these rows (0.47 at 16.7 %, the threshold
    that the costs imply), against 1 when the most probable class is named and 0.7 when bad is
    always said.
    """
    quality, classes = document["quality"], document["data"]["classes"]
    if not quality["cost_given"]:
        return None
    cost, confusion = np.array(quality["cost"]), np.array(quality["confusion"])
    counts = np.array([one["count"] for one in classes])
    labels = [one["label"] for one in classes]
    constant = counts @ cost / counts.sum()
    cheapest = int(constant.argmin())
    plain = float((cost * confusion).sum() / confusion.sum())
    best, threshold = quality["decision"]["cost_a_row"], quality["decision"]["threshold"]
    start = f"At your costs{_meaning(cost, labels)}"
    end = " A cost below 0 is counted as a gain." if (cost < 0).any() else ""
    always = f"{constant[cheapest]:.3g}"
    if document["tree"]["n_leaves"] == 1:
        return "bad", (
            f"{start}, always say {labels[cheapest]}, a mean cost of {always} a row: this tree "
            f"tells no row from another.{end}"
        )
    if best >= constant[cheapest] or f"{best:.3g}" == always:
        return "bad", (
            f"{start}, nothing is cheaper on these rows than always saying {labels[cheapest]}: a "
            f"mean cost of {always} a row.{end}"
        )
    if threshold is None:
        how = "decide for the class of least expected cost"
    else:
        label = labels[quality["positive"]]
        how = f"say {label} where its probability is {percent(threshold, 1)} or more"
    untuned = _untuned(quality, cost, f"{best:.3g}")
    called = np.array(quality["decision"]["confusion"]).sum(axis=0)
    most, share = int(called.argmax()), float(called.max() / called.sum())
    if share >= NEARLY_ALL:
        end = f" That calls {percent(share, 1)} of the rows {labels[most]}.{end}"
    return "warn" if share >= NEARLY_ALL else "good", (
        f"{start}, {how}: a mean cost of {best:.3g} a row{untuned}, against {plain:.3g} when the "
        f"most probable class is named and {always} when {labels[cheapest]} is always said.{end}"
    )


def _untuned(quality: dict[str, Any], cost: NDArray[np.float64], best: str) -> str:
    """Say what the threshold costs that was not chosen on the rows it is priced on."""
    implied = theoretical_threshold(cost, quality["positive"]) if len(cost) == 2 else None
    found = [one["value"] for one in quality["measures"] if one["name"] == "decided_cost"]
    if implied is None or not found or f"{found[0]:.3g}" == best:
        return ""
    return (
        f", chosen on these rows ({found[0]:.3g} at {percent(implied, 1)}, the threshold that the "
        "costs imply)"
    )


def _meaning(cost: NDArray[np.float64], labels: list[str]) -> str:
    """Of two classes, what each error costs; a right answer where that is not free."""
    if len(labels) != 2 or cost.shape != (2, 2):
        return ""
    cells = [(0, 1), (1, 0), *((code, code) for code in (0, 1) if cost[code, code] != 0)]
    told = [
        f"a {labels[actual]} called {labels[said]} {'costs ' if not place else ''}"
        f"{cost[actual, said]:.6g}"
        for place, (actual, said) in enumerate(cells)
    ]
    return f" ({', '.join(told) if len(told) == 2 else listed(told)})"


# Which leaves not to trust, in a sentence that names the largest of them.

NAMED_LEAVES = 3
NAMED_TESTS = 2
LONGEST_TEST = 60


def last_tests(tree: dict[str, Any], leaf: int) -> str:
    """Tell the end of the way to a leaf; of two tests of a number the deeper is tighter.

    Examples
    --------
    >>> nodes = [
    ...     {"parent": None, "column": 0, "threshold_text": "9", "children": [1, 4], "edge": None},
    ...     {"parent": 0, "column": 0, "threshold_text": "5", "children": [2, 3], "edge": "x <= 9"},
    ...     {"parent": 1, "column": 1, "threshold_text": None, "children": [5], "edge": "x <= 5"},
    ...     {"parent": 1, "edge": "x > 5"}, {"parent": 0, "edge": "x > 9"},
    ...     {"parent": 2, "column": 2, "threshold_text": "1", "children": [6], "edge": "y = a"},
    ...     {"parent": 5, "edge": "z <= 1"}]
    >>> tree = {"nodes": nodes}
    >>> last_tests(tree, 2), last_tests(tree, 3), last_tests(tree, 6)
    ('x <= 5', 'x <= 9 and x > 5', '… y = a and z <= 1')
    """
    tests: dict[tuple[int, int], str] = {}
    node = leaf
    while (above := tree["nodes"][node]["parent"]) is not None:
        parent = tree["nodes"][above]
        side = parent["children"].index(node) if parent["threshold_text"] is not None else -1
        # Going up: what is there already is tighter.
        tests.setdefault((parent["column"], side), tree["nodes"][node]["edge"])
        node = above
    last = [_cut(test) for test in list(tests.values())[:NAMED_TESTS]]
    rule = " and ".join(reversed(last)) or "all rows"
    return f"… {rule}" if len(tests) > NAMED_TESTS else rule


def _cut(test: str) -> str:
    return test if len(test) <= LONGEST_TEST else f"{test[: LONGEST_TEST - 1]}…"


def leaves_sentence(document: dict[str, Any]) -> tuple[str, str]:
    """Return the tone and the text of the sentence about leaves.

    Examples
    --------
    >>> leaf = {"id": 0, "parent": None, "column": None, "n": 40.0, "flagged": False}
    >>> wanted = {"confidence": 0.95, "utility": None}
    >>> document = {"tree": {"nodes": [leaf], "wanted": wanted}}
    >>> leaves_sentence(document)[0]
    'good'
    """
    tree = document["tree"]
    leaves = [node for node in tree["nodes"] if node["column"] is None]
    weak = [node for node in leaves if node["flagged"]]
    total = sum(node["n"] for node in leaves)
    if not weak:
        words = wanted_words(tree["wanted"], reached=True, one=len(leaves) == 1)
        who = "The only leaf" if len(leaves) == 1 else f"All {len(leaves):,} leaves"
        return "good", f"{who} can be trusted: {words}."
    share = sum(node["n"] for node in weak) / total if total else 0.0
    of = "the only leaf" if len(leaves) == 1 else f"{len(weak):,} of the {len(leaves):,} leaves"
    words = wanted_words(tree["wanted"], reached=False, one=len(weak) == 1)
    text = (
        f"Do not trust {of} ({percent(share)} of the rows), of too few or too mixed rows: {words}."
    )
    filled = sorted((node for node in weak if node["n"] > 0), key=lambda node: -node["n"])
    if filled and len(leaves) > 1:
        named = [_named(document, node) for node in filled[:NAMED_LEAVES]]
        start = "The largest:" if len(weak) > len(named) else "That is"
        text += f" {start} {'; '.join(named)}."
    return "bad" if share > 0.5 else "warn" if share > 0.05 else "plain", text


def wanted_words(wanted: dict[str, Any], *, reached: bool, one: bool = False) -> str:
    """Say what is asked of a leaf, and that one, or each of some, reaches it or does not.

    Examples
    --------
    >>> wanted_words({"confidence": None, "utility": 0.8}, reached=False)
    'in each, the share of rows it is right about is below 80 %'
    """
    parts = []
    at = "at least" if reached else "below"
    if wanted["confidence"] is not None:
        parts.append(
            "the chance that the class it names is really the most frequent one there is "
            f"{at} {_asked(wanted['confidence'])}"
        )
    if wanted["utility"] is not None:
        parts.append(f"the share of rows it is right about is {at} {_asked(wanted['utility'])}")
    if not parts:
        parts.append(f"it is right {'more' if reached else 'less'} often than a coin")
    text = (" and " if reached else ", or ").join(parts)
    return text if one else f"in each, {text}"


def _asked(share: float) -> str:
    return f"{100 * share:g} %"


def _named(document: dict[str, Any], node: dict[str, Any]) -> str:
    label = document["data"]["classes"][node["prediction"]]["label"]
    rows = f"{node['n']:,.0f}"
    return (
        f"leaf {node['id']} ({last_tests(document['tree'], node['id'])}): {label}, "
        f"{'1 row' if rows == '1' else f'{rows} rows'}, chance {percent(node['confidence'], 1)}"
    )


NAMED_COLUMNS = 4
FEW_ROWS = 200
HELPS = "More rows of the same kind would help"


def answer_section(document: dict[str, Any]) -> dict[str, Any]:
    """Return the section of the answer, told from the other sections alone.

    Examples
    --------
    >>> from sureleaf.report import Budget, make_report
    >>> rows, labels = [[i] for i in range(60)], ["no"] * 30 + ["yes"] * 30
    >>> report = make_report(rows, labels, effort=Budget(3, 1, 3, 2, 10))
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
