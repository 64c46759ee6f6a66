"""Parameters, labels, schemas and leaf estimates as plain values, and back."""

import datetime
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from math import isfinite, isinf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sureleaf import probability
from sureleaf.errors import InvalidArgumentError, InvalidTypeError
from sureleaf.files.state_file import Damaged
from sureleaf.table import Schema

__all__ = [
    "classes_from_plain",
    "classes_to_plain",
    "estimate_from_plain",
    "estimate_to_plain",
    "from_plain",
    "schema_from_plain",
    "schema_to_plain",
    "to_plain",
]


_ESTIMATES: Final = {
    name: value
    for name, value in vars(probability).items()
    if isinstance(value, type) and is_dataclass(value)
}
_INFINITIES: Final = {"inf": float("inf"), "-inf": float("-inf")}
_TEXT: Final = "text"
_TEXT_OBJECTS: Final = "text objects"
_TIMES: Final = "times"
_LARGEST_LABELS: Final = 1 << 26
"""Bytes of NumPy text, in which every label takes as much memory as the longest."""
_INTEGERS: Final = "integers"
"""Whole numbers, of which some do not fit into 64 bits."""
_LABEL_DTYPE: Final = re.compile(r"\|b1|[<>|][iu][1248]|[<>]f[248]|[<>][mM]8\[\d*\w{1,2}\]")


def to_plain(name: str, value: Any) -> Any:
    """Turn a parameter into a value that JSON holds exactly.

    An infinite number becomes ``{"float": "inf"}``, a mapping ``{"mapping": [[key, value], ...]}``
    (its keys may be numbers), a Schema ``{"schema": {...}}``.

    Examples
    --------
    >>> to_plain("max_depth", np.int64(3)), to_plain("min_samples_leaf", float("inf"))
    (3, {'float': 'inf'})
    >>> to_plain("categorical_features", {0: ["s", "l"]})
    {'mapping': [[0, ['s', 'l']]]}
    """
    if isinstance(value, Schema):
        return {"schema": schema_to_plain(value)}
    if isinstance(value, Mapping):
        return {"mapping": [to_plain(name, pair) for pair in value.items()]}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [to_plain(name, entry) for entry in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if isfinite(value):
            return float(value)
        if isinf(value):
            return {"float": repr(float(value))}
    raise InvalidTypeError(
        f"{name} must be text, a number, a bool, None or a list of these to be saved; got "
        f"{value!r}. It is not needed after fit: call levels(), then set_params({name}=...) to a "
        "plain value, and save again; the fitted tree stays as it is."
    )


def from_plain(value: Any) -> Any:
    """Turn a value of `to_plain` back into the parameter."""
    if isinstance(value, list):
        return [from_plain(entry) for entry in value]
    if isinstance(value, dict):
        infinity = _INFINITIES.get(str(value.get("float")))
        if len(value) == 1 and infinity is not None:
            return infinity
        if len(value) == 1 and "schema" in value:
            return schema_from_plain(value["schema"])
        pairs = value.get("mapping") if len(value) == 1 else None
        if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
            raise Damaged("its header has an object where a value was expected")
        return {key: from_plain(entry) for key, entry in pairs}
    return value


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str | int)


def estimate_to_plain(estimate: Any) -> Any:
    """Turn a leaf estimate into its name, or into the class and parameters of a built-in one."""
    if isinstance(estimate, str):
        return estimate
    kind = type(estimate)
    if _ESTIMATES.get(kind.__name__) is not kind:
        raise InvalidTypeError(
            "leaf_estimate must be a name or an object of sureleaf.probability to be saved; got "
            f"{estimate!r}, whose code a file cannot hold. Save a copy with another estimate: "
            "model.with_leaf_estimate('auto').save(path)."
        )
    parameters = {field.name: getattr(estimate, field.name) for field in fields(estimate)}
    return {
        "estimate": kind.__name__,
        "parameters": {
            name: estimate_to_plain(value) if callable(value) else to_plain(name, value)
            for name, value in parameters.items()
        },
    }


def estimate_from_plain(written: Any) -> Any:
    """Turn a value of `estimate_to_plain` back into the estimate."""
    if isinstance(written, str):
        return written
    if not isinstance(written, dict):
        raise Damaged("its leaf estimate has neither name nor class")
    kind = _ESTIMATES.get(str(written.get("estimate")))
    parameters = written.get("parameters")
    if kind is None or not isinstance(parameters, dict):
        raise Damaged(f"there is no leaf estimate {str(written.get('estimate'))[:80]!r}")
    if any(type(value) is int and abs(value) >= 2**63 for value in parameters.values()):
        raise Damaged("a parameter of its leaf estimate is too large")
    try:
        return kind(
            **{
                name: estimate_from_plain(value)
                if isinstance(value, dict) and "estimate" in value
                else from_plain(value)
                for name, value in parameters.items()
            }
        )
    except (TypeError, InvalidArgumentError) as error:
        raise Damaged(f"its leaf estimate cannot be made ({error})") from None


def classes_to_plain(classes: NDArray[Any]) -> dict[str, Any]:
    """Turn class labels into plain values with their type."""
    kind = classes.dtype.kind
    labels = classes.tolist()
    if kind == "U":
        dtype = _TEXT if classes.nbytes <= _LARGEST_LABELS else _TEXT_OBJECTS
        return {"dtype": dtype, "values": labels}
    if kind == "O" and all(isinstance(label, str) for label in labels):
        return {"dtype": _TEXT_OBJECTS, "values": labels}
    if kind == "O" and all(type(label) is int for label in labels):
        return {"dtype": _INTEGERS, "values": labels}
    if kind == "O" and all(isinstance(label, datetime.time) for label in labels):
        return {"dtype": _TIMES, "values": [label.isoformat() for label in labels]}
    if kind in "mM":
        labels = classes.astype(np.int64).tolist()
    elif not _LABEL_DTYPE.fullmatch(classes.dtype.str):
        raise InvalidTypeError(
            "labels must be text, bools, whole numbers, dates or times to be saved; got "
            f"{classes.dtype}. Fit again with labels of such a type."
        )
    return {"dtype": classes.dtype.str, "values": labels}


def classes_from_plain(written: Any) -> NDArray[Any]:
    """Turn a value of `classes_to_plain` back into class labels."""
    dtype, values = (
        (written.get("dtype"), written.get("values")) if isinstance(written, dict) else (0, 0)
    )
    if not isinstance(dtype, str) or not isinstance(values, list) or not values:
        raise Damaged("it has no classes")
    try:
        classes = _labels(dtype, values)
    except (TypeError, ValueError, OverflowError) as error:
        raise Damaged(f"its classes are not of type {dtype[:40]!r} ({error})") from None
    if len(set(classes.tolist())) < len(classes):
        raise Damaged("it has the same class twice")
    return classes


def _labels(dtype: str, values: list[Any]) -> NDArray[Any]:
    kinds: set[type] = set(map(type, values))
    if dtype in (_TEXT, _TEXT_OBJECTS, _TIMES):
        if kinds != {str}:
            raise TypeError("one is not text")
        if dtype == _TIMES:
            values = [datetime.time.fromisoformat(value) for value in values]
        if dtype == _TEXT and 4 * len(values) * max(map(len, values)) > _LARGEST_LABELS:
            raise ValueError("as text of one length they would need too much memory")
        return np.array(values, dtype=np.str_ if dtype == _TEXT else object)
    if dtype == _INTEGERS:
        if kinds != {int}:
            raise TypeError("one is not a whole number")
        return np.array(values, dtype=object)
    if not _LABEL_DTYPE.fullmatch(dtype):
        raise TypeError("labels never have this type")
    wanted = {"b": bool, "f": float}.get(dtype[1], int)
    if kinds != {wanted}:
        raise TypeError(f"one is not of type {wanted.__name__}")
    labels: NDArray[Any] = np.array(values, dtype="<i8" if dtype[1] in "mM" else dtype)
    return labels.astype(dtype)


def schema_to_plain(schema: Schema) -> dict[str, Any]:
    """Turn a schema into plain values; infinite categories as in `to_plain`."""
    written = schema.to_json()
    for column in written["columns"]:
        column["name"] = str(column["name"])
        if "categories" in column:
            column["categories"] = to_plain("categories", column["categories"])
    return written


def schema_from_plain(written: Any) -> Schema:
    """Turn a value of `schema_to_plain` back into a schema."""
    columns = written.get("columns") if isinstance(written, dict) else None
    if not isinstance(columns, list) or not all(isinstance(c, dict) for c in columns):
        raise Damaged("it has no columns")
    if not all(isinstance(column.get("name"), str) for column in columns):
        raise Damaged("a column has no name")
    try:
        return Schema.from_json(
            {
                "named": written.get("named"),
                "columns": [
                    {**column, "categories": from_plain(column.get("categories", []))}
                    for column in columns
                ],
            }
        )
    except (InvalidArgumentError, TypeError) as error:
        raise Damaged(f"its columns cannot be read ({error})") from None
