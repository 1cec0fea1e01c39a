"""Control messages: JSON objects in UTF-8, of bounded size."""

from __future__ import annotations

import json
from collections.abc import Mapping

from hopyard.codec.json_value import Json
from hopyard.errors import InvalidMessage, MessageTooLarge

MAX_MESSAGE_BYTES = 1 << 20
"""Largest control message unless a server or client is told otherwise."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def encode(message: Mapping[str, Json], *, doing: str, limit: int) -> bytes:
    """Returns the bytes of a message.

    NaN and infinities travel as Python writes them: a diverged metric is still a metric.

    Raises:
        InvalidMessage: The message holds something that JSON has no form for.
        MessageTooLarge: The message takes more than `limit` bytes.
    """
    try:
        body = _ENCODER.encode(dict(message)).encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage(doing, str(error)) from error
    if len(body) > limit:
        raise MessageTooLarge(doing, len(body), limit)
    return body


def decode(body: bytes | memoryview, *, doing: str, limit: int) -> dict[str, Json]:
    """Returns the message in `body`; the size is looked at before the contents.

    Raises:
        MessageTooLarge: The body has more than `limit` bytes.
        InvalidMessage: The body is not UTF-8, not JSON, or JSON of something else than an object.
    """
    if len(body) > limit:
        raise MessageTooLarge(doing, len(body), limit)
    try:
        message = json.loads(str(body, "utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidMessage(doing, "it is not UTF-8") from error
    except RecursionError as error:
        raise InvalidMessage(doing, "it is nested too deeply") from error
    except ValueError as error:
        raise InvalidMessage(doing, str(error)) from error
    if not isinstance(message, dict):
        raise InvalidMessage(doing, f"it is a {type(message).__name__}")
    return message
