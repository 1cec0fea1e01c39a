"""Records to JSON and back, driven by the types that the records declare.

An enum is stored by its value, what has a ``parse`` (a run id) as its text, a tuple as an array. A float that JSON cannot spell is
stored as the string ``"NaN"``, ``"Infinity"`` or ``"-Infinity"``; in free-form mappings it is tagged (see
`hopyard.codec.json_value`). Fields that a record does not know go to its ``extra`` and come back on writing.
"""

from __future__ import annotations

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
    return json_value.dumps(_to_json(record))


def encode_file(record: Record) -> bytes:
    """Returns `record` as the content of a file of its own: for people, a line for each field.

    Raises:
        TypeError: A field holds something that cannot be stored; the text names the field.
    """
    fields = (f"  {_text(name)}: {_text(value)}" for name, value in _to_json(record).items())
    return ("{\n" + ",\n".join(fields) + "\n}\n").encode("ascii")


def decode(kind: type[R], data: bytes, path: str) -> R:
    """Returns the record of type `kind` that `data`, found at `path`, holds.

    Raises:
        CorruptRecord: `data` is no JSON object, lacks a field, or a field holds what it cannot.
    """
    try:
        return _from_json(kind, _expect(dict, json_value.loads(data)))
    except ValueError as error:
        raise CorruptRecord(path, str(error)) from error


def _fields(kind: type[Record]) -> tuple[_Field, ...]:
    # mypy takes the __hash__ of a record for that of its class.
    return _read_fields(kind)  # type: ignore[arg-type]


@cache
def _read_fields(kind: type[Record]) -> tuple[_Field, ...]:
    hints = get_type_hints(kind)
    return tuple(_field(f, hints[f.name]) for f in dataclasses.fields(kind) if f.name != "extra")


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


def _to_json(record: Record) -> dict[str, Json]:
    stored: dict[str, Json] = {}
    for known in _fields(type(record)):
        value = getattr(record, known.name)
        try:
            stored[known.name] = None if value is None and known.is_optional else known.dump(value)
        except TypeError as error:
            raise TypeError(f"{type(record).__name__}.{known.name}: {error}") from error
    if record.extra:
        clash = stored.keys() & record.extra.keys()
        if clash:
            raise TypeError(f"{type(record).__name__}.extra repeats fields of the record: {sorted(clash)}")
        stored.update(record.extra)
    return stored


def _dumper(hint: Any) -> Callable[[Any], Json]:
    """Returns what turns values of a type into JSON; made once for each field, used for each record."""
    if get_origin(hint) is tuple:
        dump = _dumper(get_args(hint)[0])
        return lambda value: [dump(item) for item in value]
    if get_origin(hint) is Mapping:
        return json_value.tag
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


def _from_json(kind: type[R], stored: Mapping[str, Json]) -> R:
    values: dict[str, Any] = {}
    unknown = dict(stored)
    for known in _fields(kind):
        if known.name in unknown:
            values[known.name] = _load_field(known, unknown.pop(known.name))
        elif known.is_required:
            raise ValueError(f"the field {known.name!r} is missing")
    return kind(extra=unknown, **values)


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
        load = _loader(get_args(hint)[0])
        return lambda value: tuple(load(item) for item in _expect(list, value))
    if get_origin(hint) is Mapping:
        return lambda value: json_value.untag(_expect(dict, value))
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
