"""Just enough HTTP/2 to say anything at all to a gRPC server, right or wrong."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

SERVICE = "/arrow.flight.protocol.FlightService/"
METHODS = (
    "Handshake",
    "ListFlights",
    "GetFlightInfo",
    "PollFlightInfo",
    "GetSchema",
    "DoGet",
    "DoPut",
    "DoExchange",
    "DoAction",
    "ListActions",
)
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 0x1, 0x1, 0x4


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One gRPC call: a Flight method, what stands in the authorization headers, the messages."""

    method: str
    messages: tuple[bytes, ...] = ()
    authorization: tuple[bytes, ...] = ()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def header(name: bytes, value: bytes) -> bytes:
    return b"\x00" + _string(name) + _string(value)


def request(stream: int, call: Call) -> bytes:
    fields = [
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", (SERVICE + call.method).encode()),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        *((b"authorization", value) for value in call.authorization),
    ]
    block = b"".join(header(name, value) for name, value in fields)
    body = b"".join(b"\x00" + struct.pack(">I", len(message)) + message for message in call.messages)
    chunks = [body[start : start + 16384] for start in range(0, len(body), 16384)] or [b""]
    data = [frame(DATA, END_STREAM if chunk is chunks[-1] else 0, stream, chunk) for chunk in chunks]
    return frame(HEADERS, END_HEADERS, stream, block) + b"".join(data)


def opening() -> bytes:
    return PREFACE + frame(SETTINGS, 0, 0, b"")


def field(number: int, value: bytes) -> bytes:
    """A length-delimited protobuf field."""
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def action(method: str, body: bytes) -> bytes:
    return field(1, method.encode()) + field(2, body)


def flight_data(header: bytes, body: bytes, *, stream: str | None = None, metadata: bytes = b"") -> bytes:
    descriptor = b"" if stream is None else field(1, b"\x08\x01" + field(3, stream.encode()))
    # the body is field 1000
    return descriptor + field(2, header) + field(3, metadata) + b"\xc2\x3e" + _varint(len(body)) + body


def converse(address: tuple[str, int], calls: list[Call], *, timeout: float = 10.0) -> bytes:
    """Sends calls over one connection and returns every byte of the answers once all have ended."""
    with socket.create_connection(address, timeout=timeout) as connection:
        requests = [request(1 + 2 * number, call) for number, call in enumerate(calls)]
        connection.sendall(opening() + b"".join(requests))
        return _until_ended(connection, len(calls))


def _until_ended(connection: socket.socket, streams: int) -> bytes:
    received, position, ended = bytearray(), 0, 0
    while ended < streams:
        data = connection.recv(65536)
        if not data:
            break
        received += data
        while len(received) - position >= 9:
            length = int.from_bytes(received[position : position + 3])
            if len(received) - position < 9 + length:
                break
            kind, flags = received[position + 3], received[position + 4]
            ended += (kind in (DATA, HEADERS) and bool(flags & END_STREAM)) or kind == RST_STREAM
            position += 9 + length
    return bytes(received)


def _string(value: bytes) -> bytes:
    if len(value) < 127:
        return bytes([len(value)]) + value
    return b"\x7f" + _varint(len(value) - 127) + value


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))
