"""What a node keeps of the first epoch of a feed, and reads again in the later ones."""

from __future__ import annotations

import errno
import logging
import shutil
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pyarrow as pa

from hopyard.errors import WrongEpochState
from hopyard.feed.cache.piece_files import FILE_BYTES, PieceFiles, Place, stored_size
from hopyard.feed.cache.shuffle import generator_of, mixed
from hopyard.feed.pieces import is_pickled

LOG = logging.getLogger(__name__)

WINDOW_BYTES = 64 << 20
"""How much of an epoch is mapped, and shuffled together, at a time."""

MOST_BYTES = 64 << 30
_OBJECT_WEIGHT = 8  # objects take several times the memory of their pickles
_FULL = (errno.ENOSPC, errno.EDQUOT)


class EpochState(Enum):
    """What can be done with a kept epoch."""

    OPEN = "open"
    SEALED = "sealed"
    DROPPED = "dropped"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A piece: where it lies, how many rows it has, which schema, and what it takes of a window."""

    place: Place
    rows: int
    schema: int
    weight: int


def default_limit(folder: Path) -> int:
    """Returns how much an epoch may take of the disk of a folder: half of what is free, at most 64 GiB."""
    return min(shutil.disk_usage(folder).free // 2, MOST_BYTES)


class EpochStore:
    """Pieces of one epoch on this host's disk; open it as a context, which removes its files.

    Any thread may append, and one may replay. An epoch that does not fit is dropped as a whole.

    Args:
        folder: Place of the files, of this store alone; made when the first piece comes.
        limit_bytes: How much the files may take.
        window_bytes: How much is mapped, and shuffled together, at a time.
        file_bytes: From this size on, a file gets no further piece.
    """

    def __init__(
        self,
        folder: Path,
        *,
        limit_bytes: int,
        window_bytes: int = WINDOW_BYTES,
        file_bytes: int = FILE_BYTES,
    ) -> None:
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._window_bytes = window_bytes
        self._files = PieceFiles(folder, file_bytes=file_bytes)
        self._lock = threading.Lock()
        self._state = EpochState.OPEN
        self._pieces: list[_Kept] = []
        self._schemas: list[pa.Schema] = []
        self._rows = 0
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._end(EpochState.CLOSED)

    @property
    def is_whole(self) -> bool:
        """Whether every piece that was appended is there."""
        return self._state in (EpochState.OPEN, EpochState.SEALED)

    @property
    def rows(self) -> int:
        """Number of rows that are kept; 0 once they are dropped."""
        return self._rows

    @property
    def bytes(self) -> int:
        """Bytes that the kept pieces take on disk; 0 once they are dropped."""
        return self._bytes

    def append(self, batch: pa.RecordBatch, rows: int) -> bool:
        """Keeps a piece; returns whether the epoch is still whole.

        Args:
            batch: The piece. It is written out before this returns.
            rows: Its number of rows, which is not that of the batch if they are pickled.

        Raises:
            WrongEpochState: The store is sealed or closed.
            OSError: The piece cannot be written, for another reason than a full disk.
        """
        with self._lock:
            if self._state is EpochState.DROPPED:
                return False
            self._expect(EpochState.OPEN, "take a piece")
            if rows == 0:
                return True
            if self._bytes + stored_size(batch) > self._limit_bytes:
                LOG.info("An epoch takes more than %d bytes and is not kept on this host", self._limit_bytes)
                self._end(EpochState.DROPPED)
            else:
                self._keep(batch, rows)
            return self.is_whole

    def seal(self) -> None:
        """Ends the appending; from then on the epoch can be replayed, unless it has been dropped."""
        with self._lock:
            if self._state is EpochState.DROPPED:
                return
            self._expect(EpochState.OPEN, "be sealed")
            self._files.finish()
            self._state = EpochState.SEALED

    def replay(self, *, epoch: int, seed: int | None) -> Iterator[tuple[pa.RecordBatch, int]]:
        """Returns every row once: pieces and their numbers of rows.

        Without a seed they come as they arrived, and point into the files. With a seed, the order of
        pieces is random, and so is that of rows within a window of pieces; seed, epoch and order of
        arrival decide on it.

        Raises:
            WrongEpochState: The store is not sealed, is dropped, or is closed (then also later on,
                by the iterator).
        """
        self._expect(EpochState.SEALED, "be replayed")
        if seed is None:
            return self._in_order()
        return self._shuffled(generator_of(seed=seed, epoch=epoch))

    def _in_order(self) -> Iterator[tuple[pa.RecordBatch, int]]:
        for window in _windows(self._pieces, self._window_bytes):
            for kept, batch in zip(window, self._read(window), strict=True):
                yield batch, kept.rows

    def _shuffled(self, generator: np.random.Generator) -> Iterator[tuple[pa.RecordBatch, int]]:
        pieces = [self._pieces[number] for number in generator.permutation(len(self._pieces))]
        # a stable sort: mixing takes pieces of one schema, of which there are rarely two
        pieces.sort(key=lambda kept: kept.schema)
        for window in _windows(pieces, self._window_bytes):
            yield from mixed(self._read(window), generator)

    def _read(self, window: list[_Kept]) -> list[pa.RecordBatch]:
        self._expect(EpochState.SEALED, "be replayed")
        return self._files.read([kept.place for kept in window])

    def _keep(self, batch: pa.RecordBatch, rows: int) -> None:
        try:
            place = self._files.write(batch)
        except OSError as error:
            self._end(EpochState.DROPPED)
            if error.errno not in _FULL:
                raise
            LOG.warning("The disk of %s is full: an epoch is not kept on this host (%s)", self._folder, error)
            return
        weight = place.size * (_OBJECT_WEIGHT if is_pickled(batch.schema) else 1)
        self._pieces.append(
            _Kept(place=place, rows=rows, schema=self._number_of(batch.schema), weight=weight)
        )
        self._rows += rows
        self._bytes += place.size

    def _number_of(self, schema: pa.Schema) -> int:
        for number, known in enumerate(self._schemas):
            if known.equals(schema, check_metadata=True):
                return number
        self._schemas.append(schema)
        return len(self._schemas) - 1

    def _end(self, state: EpochState) -> None:
        self._state = state
        self._pieces = []
        self._rows = self._bytes = 0
        self._files.remove()

    def _expect(self, state: EpochState, asked: str) -> None:
        if self._state is not state:
            raise WrongEpochState(self._state.value, asked)


def _windows(pieces: Iterable[_Kept], most: int) -> Iterator[list[_Kept]]:
    """Yields runs of pieces of one schema that weigh `most` together, or are one piece."""
    window: list[_Kept] = []
    weight = 0
    for kept in pieces:
        if window and (weight + kept.weight > most or kept.schema != window[0].schema):
            yield window
            window, weight = [], 0
        window.append(kept)
        weight += kept.weight
    if window:
        yield window
