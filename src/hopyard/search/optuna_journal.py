"""Optuna's journal in the project: what its storage writes line by line, on any store."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from hopyard.store import Journal


class JournalBackend(BaseJournalBackend):
    """What Optuna's ``JournalStorage`` needs to keep a study in a journal that only this process writes.

    Optuna's own file backend looks at the file again for each operation, waits for the disk, and holds a lock that
    a killed process never gives back. Here the storage gets back what it wrote from memory, and whoever
    answers for the study commits the journal.

    Args:
        written: The lines that are there already.
        journal: Takes new lines; None for a study that is only looked at.
    """

    def __init__(self, written: Iterable[bytes], journal: Journal | None = None) -> None:
        self._unread = [json.loads(line) for line in written]
        self._first = 0
        self._journal = journal

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        """Returns the operations that the storage has not seen yet."""
        if log_number_from != self._first:
            raise LookupError(f"operation {log_number_from} was asked for; the next one is {self._first}")
        unread, self._unread = self._unread, []
        self._first += len(unread)
        return unread

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Takes operations; they are safe once the journal has been committed."""
        for log in logs:
            line = json.dumps(log, separators=(",", ":"))
            if self._journal is not None:
                self._journal.append(line.encode())
            self._unread.append(json.loads(line))  # as a reader of the journal would get it
