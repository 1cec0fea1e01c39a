"""Tells the driver of a node whose supervisor cannot do so: it was killed, or never began."""

from __future__ import annotations

import socket

from hopyard.protocol.messages import Left
from hopyard.worker.detach.lost_outcome import lost_outcome
from hopyard.worker.detach.start import Orders
from hopyard.worker.driver_link import deliver, within
from hopyard.worker.lease import CALL_SECONDS


def tell(orders: Orders, reason: str, last_lines: tuple[str, ...], *, seconds: float | None = None) -> None:
    """Tells driver and project that a node has failed, and why; what the supervisor told before stands.

    Args:
        orders: Those of the supervisor.
        reason: What became of it.
        last_lines: What it said last.
        seconds: How long to go on trying; the node's lease if not given.

    Raises:
        DriverOutOfReach: The driver is gone.
    """
    task = orders.task
    cause = f": {last_lines[-1]}" if last_lines else ""
    outcome = lost_outcome(task, socket.gethostname(), f"{reason}{cause}", last_lines)
    patience = task.lease_seconds if seconds is None else seconds
    rank, incarnation = task.node.rank, orders.incarnation
    with orders.driver.open(call_seconds=CALL_SECONDS, patience=patience) as link:
        deliver(link, rank, incarnation, outcome, as_long_as=within(patience))
        link.ask(Left(number=rank, incarnation=incarnation))
