"""What follows from the types of the document: plain values, a JSON schema, tables of fields.

The types are frozen dataclasses whose annotations describe every field. A field whose name is a
Python keyword has an underscore at its end, which JSON does not have.
"""

import math
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import cleandoc
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

ReportSchema = Literal["sureleaf-report/1"]
REPORT_SCHEMA: Final[ReportSchema] = "sureleaf-report/1"
"""The version of the document; it changes if a key is renamed, removed or gets a new meaning."""

Record = TypeVar("Record")
_LARGEST: Final = 1e300
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_WORDS = {str: "text", bool: "true or false", int: "integer", float: "number", type(None): "null"}


def plain_values(value: Any) -> Any:
    """Return a value of the document as JSON has it: dicts, lists, text, numbers and None."""
    if is_dataclass(value):
        return {_key(one.name): plain_values(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"a number of the document must be finite; got {value}. Use None.")
    return value


def record_of(kind: type[Record], source: object, **more: Any) -> Record:
    """Return a record of the document: fields of a result that have the same names, and more."""
    own = {
        one.name: getattr(source, one.name)
        for one in fields(kind)  # type: ignore[arg-type]
        if one.name not in more and hasattr(source, one.name)
    }
    return kind(**own, **more)


def schema_of(root: type, title: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a document whose type is a dataclass."""
    definitions = {record.__name__: _object_schema(record) for record in _records(root)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **definitions.pop(root.__name__),
        "$defs": definitions,
    }


def type_fault(kind: Any, value: Any, where: str = "") -> str | None:
    """Return what is wrong with a value that was read from JSON; None if it is of the type.

    Fields that are missing or unknown are no fault: other versions may have them.

    Examples
    --------
    >>> type_fault(dict[str, list[float | None]], {"accuracy": [0.9, "high"]}, "values")
    "values.accuracy[1] must be number or null; got 'high'"
    """
    fault = _fault(kind, value, where)
    if fault is None:
        return None
    place, wanted, got = fault
    return f"{place} must be {_type_text(wanted)}; got {repr(got)[:80]}"


_Fault = tuple[str, Any, Any]
"""Where a value is, its type, and the value."""


def _fault(kind: Any, value: Any, where: str) -> _Fault | None:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        faults = [_fault(part, value, where) for part in parts]
        deeper = [one for one in faults if one and one[0] != where]
        return None if None in faults else deeper[0] if deeper else (where, kind, value)
    inner = _parts(kind, value)
    if inner is None:
        return where, kind, value
    named = ((f"{where}{place}".removeprefix("."), one, cell) for place, one, cell in inner)
    return next(filter(None, (_fault(one, cell, place) for place, one, cell in named)), None)


def _parts(kind: Any, value: Any) -> list[_Fault] | None:
    """Return the parts of a value, with place and type; None if it is of another type itself."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return [] if value in parts else None
    if origin in (list, tuple):
        is_list = isinstance(value, list)
        return [(f"[{i}]", parts[0], one) for i, one in enumerate(value)] if is_list else None
    is_record = is_dataclass(kind) and isinstance(kind, type)
    if not is_record and origin is not dict:
        return [] if _is_of(kind, value) else None
    if not isinstance(value, dict):
        return None
    known = (
        {_key(name): hint for name, hint in _hints(kind).items()}
        if is_record
        else dict.fromkeys(value, parts[1])
    )
    return [(f".{key[:80]}", known[key], one) for key, one in value.items() if key in known]


def _is_of(kind: type, value: Any) -> bool:
    if kind is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and abs(value) <= _LARGEST
    if kind is int:
        return type(value) is int and abs(value) <= _LARGEST
    return isinstance(value, kind)


def field_tables(root: type) -> str:
    """Return a table in Markdown for each type: field, type and meaning."""
    parts = []
    for record in _records(root):
        described = _descriptions(record)
        lines = [
            f"| `{_key(name)}` | {_type_text(kind)} | {described[name]} |"
            for name, kind in _hints(record).items()
        ]
        table = "\n".join(["| field | type | meaning |", "|---|---|---|", *lines])
        parts.append(f"### {record.__name__}\n\n{_summary(record)}\n\n{table}\n")
    return "\n".join(parts)


def _key(name: str) -> str:
    return name.rstrip("_")


@cache
def _hints(record: type) -> dict[str, Any]:
    hints = get_type_hints(record)
    return {one.name: hints[one.name] for one in fields(record)}


def _records(root: type) -> list[type]:
    """Return the root and every dataclass below it, in the order in which they are met."""
    records = [root]
    for kind in _hints(root).values():
        for record in _dataclasses_in(kind):
            records += [one for one in _records(record) if one not in records]
    return records


def _dataclasses_in(kind: Any) -> Iterator[type]:
    if is_dataclass(kind) and isinstance(kind, type):
        yield kind
    for part in get_args(kind):
        yield from _dataclasses_in(part)


def _summary(record: type) -> str:
    return cleandoc(record.__doc__ or "").split("\n\n")[0].replace("\n", " ")


def _descriptions(record: type) -> dict[str, str]:
    hints = get_type_hints(record, include_extras=True)
    return {one.name: hints[one.name].__metadata__[0] for one in fields(record)}


def _object_schema(record: type) -> dict[str, Any]:
    described = _descriptions(record)
    return {
        "type": "object",
        "description": _summary(record),
        "properties": {
            _key(name): _type_schema(kind) | {"description": described[name]}
            for name, kind in _hints(record).items()
        },
        "required": [_key(name) for name in _hints(record)],
        "additionalProperties": False,
    }


def _type_schema(kind: Any) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type_schema(part) for part in parts]}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin in (list, tuple):
        return {"type": "array", "items": _type_schema(parts[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": _type_schema(parts[1])}
    return {"type": _JSON_TYPES[kind]}


def _type_text(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    if origin in (Union, types.UnionType):
        return " or ".join(_type_text(part) for part in parts)
    if origin is Literal:
        return " or ".join(f'`"{part}"`' for part in parts)
    if origin in (list, tuple):
        return f"list of {_type_text(parts[0])}"
    if origin is dict:
        return f"object of {_type_text(parts[1])}"
    return _WORDS[kind]
