"""The feed of a node: a server in the node's own process, and the inbox that it fills."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TypeVar, cast

from hopyard.errors import BadArguments, FeedNotRead, HopyardError, NotFed, ResultsMissing
from hopyard.feed.cache.epoch_cache import EpochCache
from hopyard.feed.cache.validation_rows import StoredRows
from hopyard.feed.lockstep.hub import Uneven
from hopyard.feed.lockstep.member import LockstepGroups, LockstepMember
from hopyard.feed.node.inbox import Inbox
from hopyard.feed.node.inference_request import ENDED
from hopyard.feed.node.level import Unread
from hopyard.feed.node.row_feed import RowFeed
from hopyard.feed.node.service import FeedService
from hopyard.feed.remote import MESSAGE_BYTES
from hopyard.feed.signed_rows import RowSigner
from hopyard.feed.state import ADDRESS, ALONE, NANS, STATE, VALIDATION_UNREAD, FeedState
from hopyard.protocol.channel import Note
from hopyard.protocol.node_info import NodeInfo
from hopyard.wire import WireServer
from hopyard.worker.periodic import Periodic, PeriodicThread

R = TypeVar("R", bound=RowFeed)
TELL_SECONDS = 0.2
CLOSE_SECONDS = 4.0
ALL = "all of it"


class NodeFeed:
    """Takes in what is fed to this node, while its context is open; leaving it refuses the rest.

    Args:
        info: The node.
        signer: Opens rows that are pickled, and signs results that are.
        environ: Where the way to its supervisor is found.
    """

    def __init__(self, info: NodeInfo, signer: RowSigner, environ: Mapping[str, str] = os.environ) -> None:
        if not info.feed_token:
            reason = (
                "the run was not started with feed=True" if info.role in _FED else f"a {info.role} is not fed"
            )
            raise NotFed("feed()", reason)
        self._lock = threading.Lock()
        # the first attempt begins with the first epoch, later ones where the driver goes on
        self.inbox = Inbox(first_epoch=None if info.attempt else 0, on_read=self._tell)
        self.stored = StoredRows(Path(tempfile.gettempdir()))  # which goes with the node
        self.groups = LockstepGroups()
        self.has_addresses = False  # of the other nodes: whether the function has asked for them
        self._info = info
        self._signer = signer
        self._environ = environ
        self._has_failed = False
        self._told: FeedState | None = None
        self._resources = ExitStack()
        self._cache = EpochCache(self.inbox, Path(tempfile.gettempdir()))
        self._reader: tuple[str | None, RowFeed] | None = None

    def __enter__(self) -> Self:
        host = self._info.cluster[self._info.role][self._info.task_index].rpartition(":")[0]
        with ExitStack() as resources:
            resources.callback(self._cache.close)
            resources.callback(self.stored.close)
            server = WireServer(
                FeedService(self.inbox, self.stored, self._cache, self.groups, self._signer),
                address=host.strip("[]"),
                port=self._info.feed_ports,
                token=self._info.feed_token,
                tls=self._info.tls,
                max_message_bytes=MESSAGE_BYTES,
                close_timeout=CLOSE_SECONDS,
            )
            resources.enter_context(server)
            resources.push(self._stop)
            resources.enter_context(PeriodicThread(Periodic(self._tell, TELL_SECONDS)))
            Note(note=ADDRESS, text=json.dumps(server.endpoint.without_token())).send(self._environ)
            self._resources = resources.pop_all()
        return self

    def reader(self, uneven: str | None, make: Callable[[Inbox, LockstepMember | None], R]) -> R:
        """Returns what reads the inbox, which is made once.

        Args:
            uneven: As for `in_step`; None: nodes do not train in step.
            make: Makes it.

        Raises:
            BadArguments: There is no such `uneven`, or it was another one when the reader was made.
        """
        if self._reader is None:
            in_step = None if uneven is None else self.in_step(uneven)
            self._reader = (uneven, make(self.inbox, in_step))
        known, reader = self._reader
        if known != uneven:
            raise BadArguments("feed", f"uneven={uneven!r}, and it was opened with uneven={known!r} before")
        return cast("R", reader)

    @property
    def noted(self) -> tuple[Exception, ...]:
        """The last errors in reading of which a framework made its own."""
        readers = (self.stored,) if self._reader is None else (self._reader[1], self.stored)
        return tuple(reader.noted for reader in readers if reader.noted is not None)

    def in_step(self, uneven: str) -> LockstepMember:
        """Returns this node's part in training in step with the others.

        Args:
            uneven: What is done where some nodes get more rows: ``"drop"``, ``"pad"`` or ``"stop"``.

        Raises:
            BadArguments: It is none of these.
        """
        try:
            policy = Uneven(uneven)
        except ValueError:
            known = ", ".join(repr(policy.value) for policy in Uneven)
            raise BadArguments("feed", f"uneven={uneven!r} is not valid; give one of {known}") from None
        return LockstepMember(self._info.rank, policy, self.groups)

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        has_returned = isinstance(error, SystemExit) and error.code in (None, 0)
        if error is not None and not has_returned:
            self._resources.__exit__(kind, error, traceback)
            return
        with self._resources:
            self._finish()

    def _what_is_missing(self) -> HopyardError | None:
        """Returns what is wrong with a function that returns now."""
        handed_out = self.inbox.handed_out
        if handed_out:
            return ResultsMissing("returned", handed_out)
        reader = None if self._reader is None else self._reader[1]
        if reader is not None and reader.has_passed_all:
            return FeedNotRead(0, ALL)
        unread = self.inbox.unread(0 if reader is None else reader.rows_ahead)
        return None if unread is None else FeedNotRead(unread.consumed, _what_is_left(unread))

    def _finish(self) -> None:
        """Tells those who have to know that the function has returned.

        Raises:
            ResultsMissing, FeedNotRead: It should not have.
        """
        failure = self._what_is_missing()
        if failure is not None:
            raise failure
        self._tell_if_alone()
        self._tell_what_was_read()
        if self._reader is not None:
            self._reader[1].finish()  # of a node that fails, the others hear from the driver, which ends them

    def _tell_if_alone(self) -> None:
        """Tells the driver, which says it once for all, if this node of several has learnt without the others."""
        learns_alone = self._reader is not None and self._reader[1].learns_alone
        if self._info.trainers > 1 and learns_alone and not self.has_addresses:
            Note(note=ALONE, text="").send(self._environ)

    def _tell_what_was_read(self) -> None:
        """Tells the driver of rows for validation that nobody has read, and of nulls that were read as NaN."""
        if self.stored.is_unread:
            Note(note=VALIDATION_UNREAD, text="").send(self._environ)
        nans = Counter(self.stored.nans.counts)
        if self._reader is not None:
            nans.update(self._reader[1].nans.counts)
        if nans:
            Note(note=NANS, text=json.dumps(nans)).send(self._environ)

    def _stop(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        self._has_failed = error is not None
        self.inbox.stop(ENDED if error is None else _why_ended(error), has_failed=self._has_failed)
        self._tell()

    def _tell(self) -> None:
        """Tells the driver how the feed is doing, if that has changed."""
        with self._lock:  # so that no thread overtakes another one with older news
            level = self.inbox.level
            state = FeedState(
                received=level.received,
                consumed=level.consumed,
                blocked=level.blocked,
                is_stopped=level.is_stopped,
                has_failed=self._has_failed,
                asking=level.asking,
                refused=level.refused,
                replayed=self._cache.replayed,
                read=level.read,
                left_out=level.left_out,
            )
            if state != self._told:
                Note(note=STATE, text=state.to_note()).send(self._environ)
                self._told = state


def _why_ended(error: BaseException) -> str:
    return f"the function on the node has ended: {type(error).__name__}: {error}".rstrip(".")


def _what_is_left(unread: Unread) -> str:
    if not unread.was_asked:
        return ALL
    if unread.epochs_left < 2:
        return f"{unread.waiting} rows" if unread.waiting else "the end of an epoch"
    here = f" ({unread.waiting} rows of them are here)" if unread.waiting else ""
    return f"{unread.epochs_left} epochs{here}"


_FED = ("chief", "worker")
