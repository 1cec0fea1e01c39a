"""Errors of servers that tests start."""

from __future__ import annotations

from hopyard.errors.base import HopyardError


class FetchFailed(HopyardError, RuntimeError):
    """The parts of a test server could not be downloaded."""

    command: str
    output: str
    text = "`{command}` failed; run it by hand to see whether the network is the cause. It said:\n{output}"


class ServerNotReady(HopyardError, TimeoutError):
    """A server did not become ready in time, or ended on the way."""

    server: str
    seconds: float
    state: str
    log: str
    text = (
        "{server} is not ready after {seconds:.0f} s ({state}). If it is only slow, raise "
        "start_timeout_seconds. The end of its log:\n{log}"
    )
