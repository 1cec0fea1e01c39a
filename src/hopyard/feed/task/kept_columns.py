"""Columns of the rows that want results, to stand beside the results."""

from __future__ import annotations

import difflib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from hopyard.errors import BadArguments
from hopyard.feed.node.rows import Rest, joined

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType


class KeptColumns:
    """Some columns of the batches that go to a node, until their results are there.

    One thread adds, another one takes. Results come in the order of the rows, and none before its row was added.

    Args:
        places: Which columns, by their place in a batch.
    """

    def __init__(self, places: Sequence[int]) -> None:
        self._places = list(places)
        self._waiting: deque[Rest] = deque()

    def watched(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yields the batches, and keeps what is wanted of each."""
        for batch in batches:
            if batch.num_rows:
                kept = batch.select(self._places)
                # a copy, since a column of a batch from Spark holds the memory of the whole batch
                self._waiting.append(Rest(pa.concat_batches([kept, kept.slice(0, 0)])))
            yield batch

    def beside(self, results: pa.RecordBatch) -> pa.RecordBatch:
        """Returns results with the columns of their rows before them."""
        parts, missing = [], results.num_rows
        while missing:
            parts.append(self._waiting[0].take(missing))
            missing -= len(parts[-1])
            if not self._waiting[0]:
                self._waiting.popleft()
        rows: pa.RecordBatch = joined(parts)
        names = [*rows.schema.names, *results.schema.names]
        return pa.record_batch([*rows.columns, *results.columns], names=names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultColumns:
    """The columns of a DataFrame with results.

    Attributes:
        places: Which columns of the rows are kept, by place.
        schema: Names and types of those, and then of the results.
    """

    places: tuple[int, ...]
    schema: StructType

    @classmethod
    def of(cls, frame: DataFrame, results: StructType, keep: object) -> ResultColumns:
        """Returns what is to be kept, after checking it.

        Args:
            frame: The rows.
            results: The columns of the results.
            keep: A name of a column, or several.

        Raises:
            BadArguments: There is no such column, or it would not be told from others.
        """
        from pyspark.sql.types import StructType

        names = _names(keep)
        for name in names:
            _check(frame, results, name)
        if len(set(names)) < len(names):
            raise BadArguments("inference", f"keep={names} has a column twice")
        places = tuple(frame.columns.index(name) for name in names)
        fields = [frame.schema.fields[place] for place in places]
        return cls(places=places, schema=StructType([*fields, *results.fields]))


def _names(keep: object) -> list[str]:
    names = [keep] if isinstance(keep, str) else keep
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        return list(names)
    raise BadArguments("inference", f'keep={keep!r} is no list of column names, such as keep=["id"]')


def _check(frame: DataFrame, results: StructType, name: str) -> None:
    count = Counter(frame.columns)[name]
    if not count:
        near = difflib.get_close_matches(name, frame.columns, n=1)
        guess = f"; did you mean {near[0]!r}?" if near else ""
        there = ", ".join(frame.columns)
        raise BadArguments(
            "inference", f"keep: there is no column {name!r}{guess or '.'} The columns are {there}"
        )
    if count > 1:
        raise BadArguments("inference", f"keep: {count} columns are named {name!r}; rename them")
    is_exact = str(frame.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true"
    if name in results.names or (not is_exact and name.lower() in map(str.lower, results.names)):
        raise BadArguments(
            "inference", f"keep: the results have a column {name!r}, too; give one of the two another name"
        )
