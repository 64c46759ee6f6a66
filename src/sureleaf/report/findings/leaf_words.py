"""Which leaves not to trust, in a sentence that names the largest of them."""

import math
from typing import Any

from sureleaf.report.findings.plain import percent

__all__ = ["leaves_sentence", "short_rule", "wanted_words"]

NAMED_LEAVES = 3
LONGEST_RULE = 140


def short_rule(tree: dict[str, Any], leaf: int) -> str:
    """Tell the way to a leaf with each bound once: of two tests of a number the deeper is tighter.

    Examples
    --------
    >>> nodes = [
    ...     {"parent": None, "column": 0, "threshold_text": "9", "children": [1, 4], "edge": None},
    ...     {"parent": 0, "column": 0, "threshold_text": "5", "children": [2, 3], "edge": "x <= 9"},
    ...     {"parent": 1, "edge": "x <= 5"}, {"parent": 1, "edge": "x > 5"}]
    >>> tree = {"nodes": nodes, "columns": [{"name": "x"}]}
    >>> short_rule(tree, 2), short_rule(tree, 3)
    ('x <= 5', 'x <= 9 and x > 5')
    """
    tests: dict[tuple[int, int], str] = {}
    node = leaf
    while (above := tree["nodes"][node]["parent"]) is not None:
        parent = tree["nodes"][above]
        side = parent["children"].index(node) if parent["threshold_text"] is not None else -1
        # Going up: what is there already is tighter. The place is that of the highest test.
        text = tests.pop((parent["column"], side), tree["nodes"][node]["edge"])
        tests[parent["column"], side] = text
        node = above
    rule = " and ".join(reversed(tests.values())) or "all rows"
    return rule if len(rule) <= LONGEST_RULE else f"{rule[: LONGEST_RULE - 1]}…"


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
        who = "The one leaf" if len(leaves) == 1 else f"All {len(leaves):,} leaves"
        return "good", f"{who} can be trusted: {wanted_words(tree['wanted'], reached=True)}."
    share = sum(node["n"] for node in weak) / total if total else 0.0
    of = "the only leaf" if len(leaves) == 1 else f"{len(weak):,} of the {len(leaves):,} leaves"
    text = (
        f"Do not trust {of} ({percent(share)} of the rows), of too few or too mixed rows: "
        f"{wanted_words(tree['wanted'], reached=False)}."
    )
    filled = sorted((node for node in weak if node["n"] > 0), key=lambda node: -node["n"])
    if filled and len(leaves) > 1:
        named = [_named(document, node) for node in filled[:NAMED_LEAVES]]
        start = "The largest of them:" if len(weak) > len(named) else "That is"
        text += f" {start} {'; '.join(named)}."
    return "bad" if share > 0.5 else "warn" if share > 0.05 else "plain", text


def wanted_words(wanted: dict[str, Any], *, reached: bool) -> str:
    """Say what is asked of a leaf, and that each of some reaches it or does not.

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
    return f"in each, {(' and ' if reached else ', or ').join(parts)}"


def _asked(share: float) -> str:
    return f"{100 * share:g} %"


def _named(document: dict[str, Any], node: dict[str, Any]) -> str:
    label = document["data"]["classes"][node["prediction"]]["label"]
    rows = f"{node['n']:,.0f}"
    chance = math.floor(100 * node["confidence"])  # never the 95 % that it falls short of
    return (
        f"leaf {node['id']}, {short_rule(document['tree'], node['id'])}: {label} "
        f"({'1 row' if rows == '1' else f'{rows} rows'}, chance {chance} %)"
    )
