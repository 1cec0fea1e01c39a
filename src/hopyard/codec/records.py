"""Dataclasses to JSON and back, driven by the types that they declare: records in files, and messages on the wire.

An enum is stored by its value, what has a ``parse`` (a run id) as its text, a tuple as an array, bytes in base64. A float that
JSON cannot spell is stored as the string ``"NaN"``, ``"Infinity"`` or ``"-Infinity"``; in free-form mappings it is tagged (see
`hopyard.codec.json_value`). Fields that a record does not know go to its ``extra`` and come back on writing; what has no
``extra`` lets them go.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import operator
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

from hopyard.codec import json_value
from hopyard.codec.json_value import Json
from hopyard.errors import CorruptRecord

if TYPE_CHECKING:
    from hopyard.tracking.records import Record

R = TypeVar("R", bound="Record")
D = TypeVar("D")


EXTRA = "extra"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Field:
    """One stored field of a record.

    Attributes:
        name: What it is called.
        is_optional: Whether it may be None.
        is_required: Whether a file must have it.
        dump: Returns a value of it as JSON.
        load: Returns the value that JSON stands for.
    """

    name: str
    is_optional: bool
    is_required: bool
    dump: Callable[[Any], Json]
    load: Callable[[Any], Any]


def encode_line(record: Record) -> bytes:
    """Returns `record` as one line of JSON, without the line end.

    Raises:
        TypeError: A field holds something that cannot be stored; the text names the field.
    """
    return json_value.dumps(to_json(record))


def encode_file(record: Record) -> bytes:
    """Returns `record` as the content of a file of its own: for people, a line for each field.

    Raises:
        TypeError: A field holds something that cannot be stored; the text names the field.
    """
    fields = (f"  {_text(name)}: {_text(value)}" for name, value in to_json(record).items())
    return ("{\n" + ",\n".join(fields) + "\n}\n").encode("ascii")


def decode(kind: type[R], data: bytes, path: str) -> R:
    """Returns the record of type `kind` that `data`, found at `path`, holds.

    Raises:
        CorruptRecord: `data` is no JSON object, lacks a field, or a field holds what it cannot.
    """
    try:
        return from_json(kind, _expect(dict, json_value.loads(data)))
    except ValueError as error:
        raise CorruptRecord(path, str(error)) from error


def to_json(value: object) -> dict[str, Json]:
    """Returns a dataclass as a JSON object.

    Raises:
        TypeError: A field holds something that cannot be stored; the text names the field.
    """
    stored: dict[str, Json] = {}
    for known in _fields(type(value)):  # type: ignore[arg-type]  # mypy takes the __hash__ of a value for that of its class
        held = getattr(value, known.name)
        try:
            stored[known.name] = None if held is None and known.is_optional else known.dump(held)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{type(value).__name__}.{known.name}: {error}") from error
    extra: Mapping[str, Json] = getattr(value, EXTRA, {})
    if extra:
        clash = stored.keys() & extra.keys()
        if clash:
            raise TypeError(f"{type(value).__name__}.extra repeats fields of the record: {sorted(clash)}")
        stored.update(extra)
    return stored


def from_json(kind: type[D], stored: Mapping[str, Json]) -> D:
    """Returns the dataclass of type `kind` that a JSON object stands for.

    Raises:
        ValueError: It lacks a field, or a field holds what it cannot; the text names the field.
    """
    values: dict[str, Any] = {}
    unknown = dict(stored)
    for known in _fields(kind):  # type: ignore[arg-type]  # as above
        if known.name in unknown:
            values[known.name] = _load_field(known, unknown.pop(known.name))
        elif known.is_required:
            raise ValueError(f"the field {known.name!r} is missing")
    return kind(**{EXTRA: unknown}, **values) if hasattr(kind, EXTRA) else kind(**values)


@cache
def _fields(kind: type) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(kind) if f.name != EXTRA)


def _field(declared: dataclasses.Field[Any], hint: Any) -> _Field:
    is_optional = get_origin(hint) is UnionType
    core = next(arg for arg in get_args(hint) if arg is not NoneType) if is_optional else hint
    return _Field(
        name=declared.name,
        is_optional=is_optional,
        is_required=declared.default is dataclasses.MISSING
        and declared.default_factory is dataclasses.MISSING,
        dump=_dumper(core),
        load=_loader(core),
    )


def _dumper(hint: Any) -> Callable[[Any], Json]:
    """Returns what turns values of a type into JSON; made once for each field, used for each record."""
    if get_origin(hint) is tuple:
        parts = tuple(_dumper(part) for part in get_args(hint) if part is not Ellipsis)
        if ... in get_args(hint):
            return lambda value: [parts[0](item) for item in value]
        return lambda value: [dump(item) for dump, item in zip(parts, value, strict=True)]
    if _is_typed_mapping(hint):
        dump_value = _dumper(get_args(hint)[1])
        return lambda value: {key: dump_value(item) for key, item in value.items()}
    if get_origin(hint) is Mapping:
        return json_value.tag
    if dataclasses.is_dataclass(hint) and not _is_spelled(hint):
        return to_json
    if hint is bytes:
        return lambda value: base64.b64encode(_check(bytes, value)).decode()
    if hint is float:
        return json_value.spell_float
    if hint is int:
        # `index` takes the integers of numpy too, and refuses floats instead of rounding them.
        return operator.index
    if _is_spelled(hint):
        return lambda value: str(_check(hint, value))
    if issubclass(hint, Enum):
        return lambda value: _check(hint, value).value
    return lambda value: _check(hint, value)


def _check(hint: type, value: Any) -> Any:
    if not isinstance(value, hint):
        raise TypeError(f"expected {hint.__name__}, found {value!r:.80}")
    return value


def _load_field(known: _Field, value: Json) -> Any:
    if value is None and known.is_optional:
        return None
    try:
        return known.load(value)
    except ValueError as error:
        raise ValueError(f"the field {known.name!r}: {error}") from error


def _loader(hint: Any) -> Callable[[Any], Any]:
    """Returns what turns JSON into values of a type; made once, as by `_dumper`."""
    if get_origin(hint) is tuple:
        parts = tuple(_loader(part) for part in get_args(hint) if part is not Ellipsis)
        if ... in get_args(hint):
            return lambda value: tuple(parts[0](item) for item in _expect(list, value))
        return lambda value: tuple(load(item) for load, item in zip(parts, _expect(list, value), strict=True))
    if _is_typed_mapping(hint):
        load_value = _loader(get_args(hint)[1])
        return lambda value: {key: load_value(item) for key, item in _expect(dict, value).items()}
    if get_origin(hint) is Mapping:
        return lambda value: json_value.untag(_expect(dict, value))
    if dataclasses.is_dataclass(hint) and not _is_spelled(hint):
        kind: Any = hint
        return lambda value: from_json(kind, _expect(dict, value))
    if hint is bytes:
        return _load_bytes
    if hint is float:
        return json_value.unspell_float
    if _is_spelled(hint):
        return lambda value: hint.parse(_expect(str, value))
    if issubclass(hint, Enum):
        members = {member.value: member for member in hint}
        return lambda value: _member(members, value)
    return lambda value: _expect(hint, value)


def _is_spelled(hint: Any) -> bool:
    """Whether values of a type are stored as their text, which the type's ``parse`` reads."""
    return hasattr(hint, "parse")


def _is_typed_mapping(hint: Any) -> bool:
    """Whether the values of a mapping have a form of their own; all others are free-form JSON."""
    if get_origin(hint) is not Mapping:
        return False
    value = get_args(hint)[1]
    return value in (float, str) or get_origin(value) is tuple


def _load_bytes(value: Any) -> bytes:
    try:
        return base64.b64decode(_expect(str, value), validate=True)
    except binascii.Error as error:
        raise ValueError(f"no base64: {error}") from None


def _member(members: Mapping[object, Enum], value: object) -> Enum:
    if isinstance(value, str) and value in members:
        return members[value]
    raise ValueError(f"{value!r:.80} is not one of {', '.join(map(str, members))}")


def _expect(hint: type, value: Any) -> Any:
    # `type` and not isinstance: True is an int to Python and a mistake in a file.
    if type(value) is not hint:
        raise ValueError(f"expected {hint.__name__}, found {value!r:.80}")
    return value


def _text(value: Json) -> str:
    return json_value.dumps(value, spaced=True).decode("ascii")
