"""A document inside a page, as data that no text of it can turn into markup."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

__all__ = ["embedded_json", "what_scripts_read"]

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


def what_scripts_read(document: Mapping[str, Any]) -> dict[str, Any]:
    """Take from a document what the page computes with; the rest is in its text already.

    Nodes come without their nulls and without rules, which are their branches joined by "and":
    of a large tree that is a third of the page.

    Examples
    --------
    >>> node = {"id": 0, "rule": "all rows", "edge": None, "children": [], "n": 4.0}
    >>> tree = {"wanted": {}, "unseen": "stop", "columns": [], "example_rows": [], "nodes": [node]}
    >>> quality = dict.fromkeys(
    ...     ("positive", "labels", "roc", "calibration", "scores", "cost", "cost_given"))
    >>> document = {"data": {"target": "class", "classes": [], "rows": 4}, "tree": tree,
    ...             "quality": quality, "error": {"curve": None}}
    >>> what_scripts_read(document)["tree"]["nodes"]
    [{'id': 0, 'n': 4.0}]
    """
    tree, quality = document["tree"], document["quality"]
    nodes = [
        {key: value for key, value in node.items() if key != "rule" and _said(value)}
        for node in tree["nodes"]
    ]
    return {
        "data": _of(document["data"], ("target", "classes")),
        "tree": _of(tree, ("wanted", "unseen", "columns", "example_rows")) | {"nodes": nodes},
        "quality": _of(
            quality, ("positive", "labels", "roc", "calibration", "scores", "cost", "cost_given")
        ),
        "error": _of(document["error"], ("curve",)),
    }


def _of(section: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: section[name] for name in names}


def _said(value: Any) -> bool:
    return value is not None and value is not False and value != []
