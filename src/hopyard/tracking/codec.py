"""Records to JSON and back, driven by the types that the records declare.

An enum is stored by its value, a run id as its text, a tuple as an array. A float that JSON cannot spell is
stored as the string ``"NaN"``, ``"Infinity"`` or ``"-Infinity"``; in free-form mappings it is tagged (see
`hopyard.tracking.jsonvalue`). Fields that a record does not know go to its ``extra`` and come back on writing.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from hopyard.errors import CorruptRecord
from hopyard.tracking import jsonvalue
from hopyard.tracking.jsonvalue import Json
from hopyard.tracking.records import Record
from hopyard.tracking.runid import RunId

R = TypeVar("R", bound=Record)


@dataclasses.dataclass(frozen=True, slots=True)
class _Field:
    """One stored field of a record: its name, the type of its value, and whether a file may leave it out."""

    name: str
    hint: Any
    optional: bool
    required: bool


def encode_line(record: Record) -> bytes:
    """Returns `record` as one line of JSON, without the line end.

    Raises:
        TypeError: A field holds something that cannot be stored; the text names the field.
    """
    return jsonvalue.dumps(_to_json(record))


def encode_file(record: Record) -> bytes:
    """Returns `record` as the content of a file of its own, indented for people.

    Raises:
        TypeError: A field holds something that cannot be stored; the text names the field.
    """
    return jsonvalue.dumps(_to_json(record), indent=2) + b"\n"


def decode(kind: type[R], data: bytes, path: str) -> R:
    """Returns the record of type `kind` that `data`, found at `path`, holds.

    Raises:
        CorruptRecord: `data` is no JSON object, lacks a field, or a field holds what it cannot.
    """
    try:
        return _from_json(kind, _expect(dict, jsonvalue.loads(data)))
    except ValueError as error:
        raise CorruptRecord(path, str(error)) from error


@cache
def _origin(hint: Any) -> Any:
    """Returns what a generic type is made of; asked for each field of each record."""
    return get_origin(hint)


def _fields(kind: type[Record]) -> tuple[_Field, ...]:
    # mypy takes the __hash__ of a record for that of its class.
    return _read_fields(kind)  # type: ignore[arg-type]


@cache
def _read_fields(kind: type[Record]) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(kind) if f.name != "extra")


def _field(declared: dataclasses.Field[Any], hint: Any) -> _Field:
    optional = _origin(hint) is UnionType
    core = next(arg for arg in get_args(hint) if arg is not NoneType) if optional else hint
    required = declared.default is dataclasses.MISSING and declared.default_factory is dataclasses.MISSING
    return _Field(declared.name, core, optional, required)


def _to_json(record: Record) -> Json:
    stored: dict[str, Json] = {}
    for known in _fields(type(record)):
        value = getattr(record, known.name)
        try:
            stored[known.name] = None if known.optional and value is None else _dump(known.hint, value)
        except TypeError as error:
            raise TypeError(f"{type(record).__name__}.{known.name}: {error}") from error
    clash = stored.keys() & record.extra.keys()
    if clash:
        raise TypeError(f"{type(record).__name__}.extra repeats fields of the record: {sorted(clash)}")
    return stored | dict(record.extra)


def _dump(hint: Any, value: Any) -> Json:
    if _origin(hint) is tuple:
        return [_dump(get_args(hint)[0], item) for item in value]
    if _origin(hint) is Mapping:
        return jsonvalue.tag(value)
    if hint is float:
        return jsonvalue.spell_float(value)
    if hint is int:
        # `index` takes the integers of numpy too, and refuses floats instead of rounding them.
        return operator.index(value)
    if not isinstance(value, hint):
        raise TypeError(f"expected {hint.__name__}, found {value!r:.80}")
    if isinstance(value, Enum):
        stored: Json = value.value
        return stored
    return str(value) if hint is RunId else value


def _from_json(kind: type[R], stored: Mapping[str, Json]) -> R:
    fields = _fields(kind)
    values: dict[str, Any] = {}
    for known in fields:
        if known.name in stored:
            values[known.name] = _load_field(known, stored[known.name])
        elif known.required:
            raise ValueError(f"the field {known.name!r} is missing")
    names = {known.name for known in fields}
    return kind(extra={name: value for name, value in stored.items() if name not in names}, **values)


def _load_field(known: _Field, value: Json) -> Any:
    if value is None and known.optional:
        return None
    try:
        return _load(known.hint, value)
    except ValueError as error:
        raise ValueError(f"the field {known.name!r}: {error}") from error


def _load(hint: Any, value: Any) -> Any:
    if _origin(hint) is tuple:
        return tuple(_load(get_args(hint)[0], item) for item in _expect(list, value))
    if _origin(hint) is Mapping:
        return jsonvalue.untag(_expect(dict, value))
    if hint is float:
        return jsonvalue.unspell_float(value)
    if hint is RunId:
        return RunId.parse(_expect(str, value))
    if issubclass(hint, Enum):
        return _load_enum(hint, value)
    return _expect(hint, value)


def _load_enum(hint: type[Enum], value: object) -> Enum:
    for member in hint:
        if member.value == value:
            return member
    known = ", ".join(str(member.value) for member in hint)
    raise ValueError(f"{value!r:.80} is not one of {known}")


def _expect(hint: type, value: Any) -> Any:
    # `type` and not isinstance: True is an int to Python and a mistake in a file.
    if type(value) is not hint:
        raise ValueError(f"expected {hint.__name__}, found {value!r:.80}")
    return value
