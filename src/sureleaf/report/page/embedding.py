"""A document inside a page, as data that no text of it can turn into markup."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

__all__ = ["embedded_json", "packed", "what_scripts_read"]

_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def embedded_json(document: Mapping[str, Any]) -> Markup:
    r"""Write JSON that can stand between script tags: it holds no ``<``, ``>`` or ``&``.

    These signs occur in JSON only inside text, where ``\u003c`` means the same.

    Raises
    ------
    ValueError
        If a number is not finite: JSON has no word for it.

    Examples
    --------
    >>> print(embedded_json({"label": "</script>"}))
    {"label":"\u003c/script\u003e"}
    """
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign, escape in _ESCAPES.items():
        text = text.replace(sign, escape)
    return Markup(text)


OF_EVERY_NODE = ("id", "parent", "edge", "counts", "n", "prediction", "probabilities")
OF_A_LEAF = (
    "probability",
    "low",
    "high",
    "confidence",
    "utility",
    "rows_needed",
    "flagged",
    "repair",
)
OF_AN_INNER_NODE = (
    "column",
    "threshold",
    "threshold_text",
    "branch_of_category",
    "children",
    "shares",
)

OF_QUALITY = (
    "positive",
    "labels",
    "confusion",
    "roc",
    "calibration",
    "scores",
    "cost",
    "cost_given",
)


def what_scripts_read(document: Mapping[str, Any]) -> dict[str, Any]:
    """Take from a document what the page computes with; the rest is in its text already.

    Nodes come column by column, with what only leaves or only inner nodes have apart, and without
    rules, which are their branches joined by "and": names and rules would be half of the page of a
    large tree.

    Examples
    --------
    >>> node = dict.fromkeys((*OF_EVERY_NODE, *OF_A_LEAF, *OF_AN_INNER_NODE))
    >>> node |= {"id": 0, "rule": "all rows", "children": [], "n": 4.0, "low": 0.2}
    >>> tree = {"wanted": {}, "unseen": "stop", "columns": [], "example_rows": [], "nodes": [node]}
    >>> quality = dict.fromkeys(OF_QUALITY)
    >>> document = {"data": {"target": "class", "classes": [], "rows": 4}, "tree": tree,
    ...             "quality": quality, "error": {"curve": None}}
    >>> packed = what_scripts_read(document)["tree"]
    >>> packed["nodes"]["n"], packed["leaf"]["low"], packed["inner"]["children"]
    ([4.0], [0.2], [])
    """
    tree, quality = document["tree"], document["quality"]
    nodes = tree["nodes"]
    return {
        "data": _of(document["data"], ("target", "classes")),
        "tree": _of(tree, ("wanted", "unseen", "columns", "example_rows"))
        | {
            "terms": dict(tree.get("terms") or {}),
            "nodes": packed(nodes, OF_EVERY_NODE),
            "leaf": packed([node for node in nodes if not node["children"]], OF_A_LEAF),
            "inner": packed([node for node in nodes if node["children"]], OF_AN_INNER_NODE),
        },
        "quality": _of(quality, OF_QUALITY),
        "error": _of(document["error"], ("curve",)),
    }


def packed(records: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, list[Any]]:
    """Turn records into columns, so that names are written once.

    Examples
    --------
    >>> packed([{"n": 1, "rule": "a"}, {"n": 2, "rule": "b"}], ["n"])
    {'n': [1, 2]}
    """
    return {name: [record[name] for record in records] for name in names}


def _of(section: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: section[name] for name in names}
