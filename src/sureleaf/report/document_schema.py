"""The records of the document: estimates, and what follows from the types of all records.

That is plain values, a JSON schema, and tables of fields. The types are frozen dataclasses whose
annotations describe every field. A field whose name is a Python keyword has an underscore at its
end, which JSON does not have.
"""

import math
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from inspect import cleandoc
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from sureleaf.errors import InvalidArgumentError
from sureleaf.evaluation.evaluation import Evaluation
from sureleaf.evaluation.intervals import Estimate
from sureleaf.evaluation.measures.named import Measure

ReportSchema = Literal["sureleaf-report/1"]
REPORT_SCHEMA: Final[ReportSchema] = "sureleaf-report/1"
"""The version of the document; it changes if a key is renamed, removed or gets a new meaning."""

Record = TypeVar("Record")
_JSON_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_WORDS = {"string": "text", "boolean": "true or false"}


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


def by_column(records: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    """Turn records into columns, so that each name is written once."""
    return {name: [record[name] for record in records] for name in names}


def schema_of(root: type, title: str) -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of a document whose type is a dataclass."""
    definitions = {record.__name__: _object_schema(record) for record in _records(root)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **definitions.pop(root.__name__),
        "$defs": definitions,
    }


def field_tables(root: type) -> str:
    """Return a table in Markdown for each type: field, type and meaning."""
    parts = []
    for record in _records(root):
        lines = [
            f"| `{_key(name)}` | {_type_text(_type_schema(kind))} | {meaning} |"
            for name, (kind, meaning) in _hints(record).items()
        ]
        table = "\n".join(["| field | type | meaning |", "|---|---|---|", *lines])
        parts.append(f"### {record.__name__}\n\n{_summary(record)}\n\n{table}\n")
    return "\n".join(parts)


def _key(name: str) -> str:
    return name.rstrip("_")


@cache
def _hints(record: type) -> dict[str, tuple[Any, str]]:
    """Return the type of each field, and its description."""
    hints = get_type_hints(record, include_extras=True)
    types_ = get_type_hints(record)
    return {one.name: (types_[one.name], hints[one.name].__metadata__[0]) for one in fields(record)}


def _records(root: type) -> list[type]:
    """Return the root and every dataclass below it, in the order in which they are met."""
    records = [root]
    for kind, _ in _hints(root).values():
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


def _object_schema(record: type) -> dict[str, Any]:
    properties = {
        _key(name): _type_schema(kind) | {"description": meaning}
        for name, (kind, meaning) in _hints(record).items()
    }
    return {
        "type": "object",
        "description": _summary(record),
        "properties": properties,
        "required": list(properties),
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


def _type_text(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(map(_type_text, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f'`"{value}"`' for value in schema["enum"])
    if schema["type"] == "array":
        return f"list of {_type_text(schema['items'])}"
    if schema["type"] == "object":
        return f"object of {_type_text(schema['additionalProperties'])}"
    kind: str = schema["type"]
    return _WORDS.get(kind, kind)


# ---- estimates: what does not exist is null, never NaN ------------------------------------------


@dataclass(frozen=True, kw_only=True)
class IntervalEstimate:
    """A value with its interval."""

    value: Annotated[float, "The estimate."]
    low: Annotated[float | None, "Ends of the interval; null if there is no valid interval."]
    high: Annotated[float | None, "Ends of the interval; null if there is no valid interval."]
    level: Annotated[float, "Level of the interval, such as 0.95."]
    method: Annotated[str, "How the interval was computed."]


def finite(value: Any) -> float | None:
    """Return a number as a float, or None if it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def finite_list(values: Any) -> list[float | None]:
    """Return numbers as floats, None for those that are not finite."""
    return [finite(value) for value in np.asarray(values, dtype=np.float64).tolist()]


def interval_estimate(estimate: Estimate) -> IntervalEstimate | None:
    """Return an estimate for the document; None if the value itself is not finite."""
    if not math.isfinite(estimate.value):
        return None
    low, high = finite(estimate.low), finite(estimate.high)
    return record_of(IntervalEstimate, estimate, low=low, high=high)


def estimate_measure(
    evaluation: Evaluation, measure: str | Measure, *, level: float
) -> IntervalEstimate | None:
    """Estimate a measure with its interval over folds; None if the measure is not defined.

    If all folds agree, the interval over folds has no width. Then the interval over rows is used,
    and if that has no width either, the estimate has no interval.
    """
    try:
        estimate = evaluation.estimate(measure, level=level)
        if estimate.low == estimate.high and evaluation.find(measure).counted:
            estimate = evaluation.estimate(measure, level=level, of="model")
    except InvalidArgumentError:
        return None
    matrix = evaluation.cost_matrix
    if matrix is not None and evaluation.find(measure).name == "cost":
        low, high = float(matrix.min()), float(matrix.max())  # no mean cost lies outside
        estimate = replace(estimate, low=max(estimate.low, low), high=min(estimate.high, high))
    if estimate.low == estimate.high:
        method = f"{estimate.method}; all folds agree, so there is no valid interval"
        estimate = replace(estimate, low=math.nan, high=math.nan, method=method)
    return interval_estimate(estimate)
