"""Fitted models for other programs; docs/exports.md says what each format promises.

::

    node_tests.py  FittedTree: what a tree asks at each node
    node_words.py  NodeWords: what drawings say at each node
    json_text.py   to_json, from_json
    sql.py         to_sql, in the dialects of dialects.py
    python.py      to_python
    onnx.py        to_onnx
    dot.py, svg.py to_dot, to_svg, in the colours of palette.py
"""

from collections.abc import Callable
from typing import Any, Final

from sureleaf.errors import InvalidArgumentError
from sureleaf.exports.dot import to_dot
from sureleaf.exports.json_text import from_json, to_json
from sureleaf.exports.node_tests import fitted_tree
from sureleaf.exports.onnx import to_onnx
from sureleaf.exports.python import to_python
from sureleaf.exports.sql import to_sql
from sureleaf.exports.svg import to_svg

__all__ = [
    "EXPORTS",
    "export",
    "from_json",
    "to_dot",
    "to_json",
    "to_onnx",
    "to_python",
    "to_sql",
    "to_svg",
    "to_text",
]


def to_text(model: Any) -> str:
    """Write a tree as rules, as `model.rules()` does.

    Examples
    --------
    >>> from sureleaf import TreeClassifier
    >>> print(to_text(TreeClassifier().fit([[1], [2], [3], [4]], [0, 0, 1, 1])))
    x0 <= 2: 0   75.0 % (2 rows: 0 2)
    x0 > 2: 1   75.0 % (2 rows: 1 2)
    """
    fitted_tree(model, "rules")
    return str(model.rules())


EXPORTS: Final[dict[str, Callable[..., str | bytes]]] = {
    "rules": to_text,
    "text": to_text,
    "json": to_json,
    "sql": to_sql,
    "python": to_python,
    "dot": to_dot,
    "svg": to_svg,
    "onnx": to_onnx,
}
"""Name of a format -> what writes it; keyword arguments are its options."""


def export(model: Any, form: str, **options: Any) -> str | bytes:
    """Write a fitted model in the form of another program.

    Parameters
    ----------
    model : TreeClassifier
        Fitted; for "json" also a BaggedTreesClassifier.
    form : {"rules", "json", "sql", "python", "dot", "svg", "onnx"}
        Rules to read (also "text"); a model to load again; a query; a Python module; a graph for
        Graphviz; a drawing; a model for ONNX runtimes.
    **options
        Of the format: `dialect`, `table` and `keep` for "sql", `indent` for "json".

    Returns
    -------
    str or bytes
        Text; bytes for "onnx".

    Raises
    ------
    InvalidArgumentError
        If there is no such format or option, or the format cannot hold the model.

    Examples
    --------
    >>> import sureleaf
    >>> model = sureleaf.TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "yes", "yes"])
    >>> sureleaf.export(model, "sql", dialect="sqlite", table="people")[:42]
    '-- A decision tree of 2 leaves, written by'
    """
    if not isinstance(form, str) or form not in EXPORTS:
        raise InvalidArgumentError(f"form must be one of {', '.join(EXPORTS)}; got {form!r}.")
    write = EXPORTS[form]
    names = [name for name in write.__annotations__ if name not in ("model", "return")]
    for name in options:
        if name not in names:
            raise InvalidArgumentError(
                f"{form!r} has {'the options ' + ', '.join(names) if names else 'no options'}; "
                f"got {name!r}."
            )
    return write(model, **options)
