"""The work of the slots of a study: trials in processes, or as clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hopyard.search.trial.cluster_trials import Clusters, ClusterTrials
from hopyard.search.trial.process_trials import ProcessTrials
from hopyard.search.trial.slot import CALL_SECONDS, Slot, SlotOrders
from hopyard.worker.driver_link import Driver
from hopyard.worker.work import Host, Member


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotWork:
    """Runs trials in a process of the machine that the slot is on.

    Attributes:
        orders: What the slots have in common.
    """

    orders: SlotOrders

    def run(self, member: Member, driver: Driver, host: Host) -> None:
        """Runs trials until the driver has no more."""
        orders, lease = self.orders, self.orders.lease_seconds
        with (
            driver.open(call_seconds=CALL_SECONDS, patience=lease) as link,
            ProcessTrials(orders, member.number, gpus=host.gpus, is_remote=driver.is_remote) as trials,
        ):
            Slot(member.number, link, trials, lease_seconds=lease).run()

    def describe(self, numbers: Sequence[int]) -> str:
        """Returns the study and how many trials it runs at a time."""
        return f"hopyard: study {self.orders.study}, {len(numbers)} at once"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSlotWork:
    """Runs trials as clusters; the slot itself is beside the driver.

    Attributes:
        orders: What the slots have in common.
        clusters: What its clusters have in common.
    """

    orders: SlotOrders
    clusters: Clusters

    def run(self, member: Member, driver: Driver, host: Host) -> None:  # noqa: ARG002  clusters have hosts of their own
        """Runs trials until the driver has no more."""
        orders, lease = self.orders, self.orders.lease_seconds
        with driver.open(call_seconds=CALL_SECONDS, patience=lease) as link:
            trials = ClusterTrials(orders, self.clusters, member.number)
            Slot(member.number, link, trials, lease_seconds=lease).run()

    def describe(self, numbers: Sequence[int]) -> str:
        """Returns the study and how many clusters it has at a time."""
        return f"hopyard: study {self.orders.study}, {len(numbers)} at once"
