"""Fitted models in the formats of other programs; docs/exports.md describes each format.

A format is a function from an estimator to text or bytes, registered in `FORMATS`. The functions
read the tree through `tree_view.TreeView`.
"""

from collections.abc import Callable
from inspect import signature
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError, suggestion
from sureleaf.exports.drawings import to_dot, to_svg
from sureleaf.exports.json_text import from_json, to_json
from sureleaf.exports.onnx import to_onnx
from sureleaf.exports.python import to_python
from sureleaf.exports.scikit_learn import sklearn_columns, to_sklearn
from sureleaf.exports.sql import to_sql
from sureleaf.exports.tree_view import single_tree

__all__ = [
    "FORMATS",
    "export",
    "from_json",
    "sklearn_columns",
    "to_dot",
    "to_json",
    "to_onnx",
    "to_python",
    "to_rules",
    "to_sklearn",
    "to_sql",
    "to_svg",
]


def to_rules(model: Any) -> str:
    """Write a tree as rules, like `model.rules()`."""
    return str(single_tree(model, "rules").rules())


FORMATS: Final[dict[str, Callable[..., str | bytes]]] = {
    "rules": to_rules,
    "json": to_json,
    "sql": to_sql,
    "python": to_python,
    "dot": to_dot,
    "svg": to_svg,
    "onnx": to_onnx,
}
"""Name of a format -> how to write it. "text" is accepted as another name of "rules"."""


def export(model: Any, form: str, **options: Any) -> str | bytes:
    """Write a fitted model in the format of another program.

    Parameters
    ----------
    model : TreeClassifier
        Fitted; for "json" also a BaggedTreesClassifier.
    form : {"rules", "json", "sql", "python", "dot", "svg", "onnx"}
        Readable rules (also "text"); a model to load again; a query; a Python module; a graph for
        Graphviz; a drawing; a model for ONNX runtimes.
    **options
        Of the format: `dialect`, `table` and `keep` for "sql", `indent` for "json",
        `max_leaves` and `computes_levels` for "svg".

    Returns
    -------
    str or bytes
        Text; bytes for "onnx".

    Raises
    ------
    InvalidArgumentError
        If the format or an option is unknown, or the format cannot represent the model.

    Examples
    --------
    >>> import sureleaf
    >>> model = sureleaf.TreeClassifier.c45().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> sureleaf.export(model, "sql", dialect="sqlite", table="people")[:42]
    '-- A decision tree of 2 leaves, written by'
    """
    name = "rules" if form == "text" else form
    if not isinstance(name, str) or name not in FORMATS:
        hint = suggestion(name, tuple(FORMATS), listed=False) if isinstance(name, str) else ""
        raise InvalidArgumentError(f"form must be one of {', '.join(FORMATS)}; got {form!r}.{hint}")
    write = FORMATS[name]
    known = [p.name for p in signature(write).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            expected = f"one of {', '.join(known)}" if known else "left out"
            raise InvalidArgumentError(
                f"options of an export to {name!r} must be {expected}; got {option!r}."
            )
    return write(model, **options)
