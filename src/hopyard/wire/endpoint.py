"""Where a server is and what it takes to talk to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hopyard.codec.json_value import Json
from hopyard.errors import InvalidMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Address and credentials of one `WireServer`: the value that travels instead of a connection.

    Whoever holds an endpoint may talk to its server, so treat it like a password. Its ``repr`` shows
    neither the token nor the certificate and is safe to log.

    Attributes:
        host: The address that the server is bound to.
        port: The port that the server listens on.
        token: The secret of the run.
        certificate: The server's certificate in PEM, or None on a wire without TLS.
    """

    host: str
    port: int
    token: str = field(repr=False)
    certificate: str | None = field(default=None, repr=False)

    @property
    def peer(self) -> str:
        """``host:port``, the name of this server in errors and logs."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def uri(self) -> str:
        """The location that Arrow Flight connects to."""
        scheme = "grpc+tcp" if self.certificate is None else "grpc+tls"
        return f"{scheme}://{self.peer}"

    def to_json(self) -> dict[str, Json]:
        """Returns the endpoint, token included, as a JSON object."""
        return {"host": self.host, "port": self.port, "token": self.token, "certificate": self.certificate}

    def without_token(self) -> dict[str, Json]:
        """Returns what of the endpoint is no secret, as a JSON object; `from_json` takes it with a token added."""
        return {name: value for name, value in self.to_json().items() if name != "token"}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Endpoint:
        """Returns the endpoint that `to_json` wrote.

        Raises:
            InvalidMessage: The object lacks a field or has one of another type. The text names the
                field, never its value.
        """
        match value:
            case {
                "host": str(host),
                "port": int(port),
                "token": str(token),
                "certificate": None | str() as pem,
            }:
                return cls(host=host, port=port, token=token, certificate=pem)
        expected = "host, port, token and certificate"
        raise InvalidMessage(
            "endpoint", f"it needs {expected}, and has {', '.join(sorted(value)) or 'nothing'}"
        )
