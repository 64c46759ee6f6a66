"""Which leaves not to trust, in a sentence that names the largest of them."""

from typing import Any

from sureleaf.report.findings.plain import percent

__all__ = ["last_tests", "leaves_sentence", "wanted_words"]

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
