"""A feed as a `tf.data.Dataset`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import tensorflow as tf

from hopyard.errors import BadArguments, EmptyEpoch, NothingFed, UnknownColumns
from hopyard.frameworks.batch_form import OBJECT, ColumnForm, Ragged, columns_of, forms
from hopyard.frameworks.joined import is_joined
from hopyard.frameworks.selection import Selection
from hopyard.frameworks.source import EpochSource, FedSource, Rows

ASKED_BY = "as_tf_dataset"
# How long an iterator that nobody wants any more is kept from ending.
PATIENCE_SECONDS = 0.1

# How many rows, and by column the parts of its tensor: values, then the splits if rows vary in length.
Parts: TypeAlias = "tuple[int, dict[str, tuple[npt.NDArray[Any], ...]]]"


def feed_dataset(source: EpochSource, batch_size: int, selection: Selection) -> Any:
    """Returns a dataset of batches, of one epoch in each loop; waits for the first, which tells what they look like.

    Raises:
        NothingFed: There is no row.
        BadArguments: The rows are those of an RDD, or a column has no form as a tensor.
        UnknownColumns: Something is wanted of a column that is not there.
    """
    if not isinstance(source, FedSource):
        layout = _Layout.of(_first(next(source.epoch_batches(batch_size), [])), selection)
        return _dataset(source, layout, lambda: _stored_parts(source, batch_size, layout))
    source.check_new_dataset(ASKED_BY)
    first = _first(source.epoch_batch(batch_size))
    layout = _Layout.of(first, selection)
    batches = _Batches(source, batch_size, first)
    dataset = _dataset(source, layout, lambda: _fed_parts(batches, layout))
    source.note_joined(is_joined=is_joined() or _has_peers())
    return dataset


def _has_peers() -> bool:
    """Tells whether TensorFlow is part of a cluster, as its strategies for several nodes make it before all else."""
    return any("/job:" in device.name for device in tf.config.list_logical_devices())


def _first(batch: Rows) -> pa.RecordBatch:
    if not len(batch):
        raise NothingFed(ASKED_BY)
    return columns_of(batch, ASKED_BY)


def _dataset(source: EpochSource, layout: _Layout, parts: Callable[[], Iterator[Parts]]) -> Any:
    dataset = tf.data.Dataset.from_generator(
        lambda: _noting_errors(source, parts()),
        output_signature=(tf.TensorSpec([], tf.int64), layout.part_specs()),
    )
    # What is prefetched includes the batches without rows: between any two elements TensorFlow can end its thread.
    dataset = dataset.prefetch(tf.data.AUTOTUNE).filter(_has_rows)
    return dataset.map(tf.autograph.experimental.do_not_convert(layout.element)).with_options(_options())


class _Batches:
    """The batches of a feed, drawn in a thread of their own.

    TensorFlow cannot interrupt Python code: who ends an iterator waits until the code that makes its next element has
    returned. So that code never waits for long. What it has not waited for comes to the next iterator.
    """

    def __init__(self, feed: FedSource, rows: int, first: pa.RecordBatch) -> None:
        self._feed = feed
        self._rows = rows
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hopyard-feed")
        self._one_at_a_time = threading.Lock()
        self._next: Future[pa.RecordBatch] | None = Future()
        self._next.set_result(first)
        self._given = 0
        self._given_before = 0
        self._epochs = 0
        self._is_new = True

    def begin(self) -> None:
        """Takes note that an iterator begins."""
        with self._one_at_a_time:
            self._is_new = True

    def take(self, seconds: float) -> pa.RecordBatch | None:
        """Returns the next batch of the epoch, empty after the last; None if it does not come in time.

        Raises:
            EmptyEpoch: The epoch has none.
            NoMoreEpochs: All epochs have been read.
        """
        with self._one_at_a_time:
            if self._next is None:
                self._next = self._thread.submit(self._draw)
            coming = self._next
            if not wait([coming], seconds).done:
                return None
            if coming.exception() is not None:
                self._thread.shutdown(wait=False)  # it is the end also for all who come later
                return coming.result()
            self._next = None
            return self._checked(coming.result())

    def _draw(self) -> pa.RecordBatch:
        return columns_of(self._feed.epoch_batch(self._rows), ASKED_BY)

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch | None:
        """Returns a batch, or the end; None for what an iterator that begins is not to see of the epoch before."""
        # Keras reads no more batches of an epoch than the one before had, and one for its end
        is_left_over = self._is_new and 0 < self._given_before < self._given
        if len(batch):
            self._is_new = is_left_over
            self._given += 1
            return None if is_left_over else batch
        if not self._given:
            raise EmptyEpoch(ASKED_BY, self._epochs + 1)
        self._given_before, self._given = self._given, 0
        self._epochs += 1
        return None if self._is_new else batch


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How columns become the elements of the dataset."""

    columns: tuple[ColumnForm, ...]
    label: str | None

    @classmethod
    def of(cls, sample: pa.RecordBatch, selection: Selection) -> _Layout:
        label = selection.label
        if label is not None and label not in sample.schema.names:
            raise UnknownColumns((label,), tuple(sample.schema.names))
        columns = forms(sample, selection, ASKED_BY)
        strange = [form for form in columns if form.dtype == OBJECT and not form.is_text]
        if strange:
            which = ", ".join(f"{form.name!r} ({form.kind})" for form in strange)
            raise BadArguments(ASKED_BY, f"there are no tensors of {which}; name the others in columns=")
        if not [form for form in columns if form.name != label]:
            raise BadArguments(ASKED_BY, f"the label {label!r} is the only column")
        return cls(columns=columns, label=label)

    def part_specs(self) -> dict[str, tuple[Any, ...]]:
        """Returns what the parts of all columns look like to TensorFlow."""
        return {
            form.name: (
                tf.TensorSpec([None, *form.inner_shape], _tensor_type(form)),
                *[tf.TensorSpec([None], tf.int64)] * form.ragged_levels,
            )
            for form in self.columns
        }

    def parts(self, batch: pa.RecordBatch) -> Parts:
        """Returns a batch in parts."""
        return len(batch), {form.name: _column_parts(form.array(batch)) for form in self.columns}

    def nothing(self) -> Parts:
        """Returns a batch without rows in parts."""
        no_splits = np.zeros(1, np.int64)
        return 0, {
            form.name: (np.empty((0, *form.inner_shape), form.dtype), *[no_splits] * form.ragged_levels)
            for form in self.columns
        }

    def element(self, _: Any, parts: dict[str, tuple[Any, ...]]) -> Any:
        """Returns the element of the dataset that TensorFlow makes of parts."""
        tensors = {name: _tensor(values, splits) for name, (values, *splits) in parts.items()}
        if self.label is None:
            return tensors
        label = tensors.pop(self.label)
        return (next(iter(tensors.values())) if len(tensors) == 1 else tensors), label


def _noting_errors(source: EpochSource, parts: Iterator[Parts]) -> Iterator[Parts]:
    """Yields parts; of an error TensorFlow keeps only the text, so the source takes note of it."""
    try:
        yield from parts
    except Exception as error:
        source.note_error(error)
        raise


def _fed_parts(batches: _Batches, layout: _Layout) -> Iterator[Parts]:
    """Yields batches in parts, and one without rows whenever there is none yet."""
    batches.begin()
    while (batch := batches.take(PATIENCE_SECONDS)) is None or len(batch):
        yield layout.nothing() if batch is None else layout.parts(batch)


def _stored_parts(source: EpochSource, rows: int, layout: _Layout) -> Iterator[Parts]:
    for batch in source.epoch_batches(rows):
        yield layout.parts(columns_of(batch, ASKED_BY))


def _column_parts(array: npt.NDArray[Any] | Ragged) -> tuple[npt.NDArray[Any], ...]:
    return (array.values, *array.splits) if isinstance(array, Ragged) else (array,)


def _tensor_type(form: ColumnForm) -> Any:
    return tf.string if form.is_text else tf.as_dtype(form.dtype)


def _tensor(values: Any, splits: list[Any]) -> Any:
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False) if splits else values


@tf.autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
def _has_rows(rows: Any, _: Any) -> Any:
    return rows > 0


def _options() -> Any:
    options = tf.data.Options()
    # A node gets its own rows already; sharding would throw away those that are not the n-th.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return options
