"""The certificate of a server: self-signed, made for it alone."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass, field

from hopyard.errors import MissingDependency

_VALIDITY = datetime.timedelta(days=397)
_CLOCK_SKEW = datetime.timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A certificate with its private key, both in PEM. The key never leaves the process."""

    certificate: str
    private_key: str = field(repr=False)


def make_identity(address: str, *, now: datetime.datetime) -> Identity:
    """Returns a fresh certificate for the server at `address`.

    Args:
        address: The IP address that clients connect to.
        now: The present time, aware of its zone; the certificate is valid from a day before it, since
            the clocks of a cluster differ.

    Raises:
        MissingDependency: The package `cryptography` is not installed.
    """
    try:
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
    except ImportError as error:
        raise MissingDependency("cryptography", "a wire with TLS", "tls") from error

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "hopyard")])
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + _VALIDITY)
        .add_extension(names, critical=False)
        # not an authority: nothing that this key signs is trusted, only this very certificate
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return Identity(certificate=certificate.public_bytes(pem).decode(), private_key=secret.decode())
