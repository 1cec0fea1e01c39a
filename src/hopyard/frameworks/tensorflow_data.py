"""A feed as a `tf.data.Dataset`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import tensorflow as tf

from hopyard.errors import BadArguments, EmptyEpoch, NothingFed
from hopyard.frameworks.batch_form import OBJECT, ColumnForm, Ragged, columns_of, forms, nans_of
from hopyard.frameworks.joined import is_joined
from hopyard.frameworks.selection import Selection
from hopyard.frameworks.source import EpochSource, FedSource, Rows

ASKED_BY = "as_tf_dataset"
# How long an iterator that nobody wants any more is kept from ending.
PATIENCE_SECONDS = 0.1
# How many elements TensorFlow makes before it is asked for them.
READ_AHEAD = 2

T = TypeVar("T")
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
    layout = _Layout.of(_first(_peek(source, batch_size)), selection)
    dataset = _dataset(source, layout, lambda: _fed_parts(source, batch_size, layout))
    source.note_joined(is_joined=is_joined() or _has_peers())
    return dataset


def _has_peers() -> bool:
    """Tells whether TensorFlow is part of a cluster, as its strategies for several nodes make it before all else."""
    return any("/job:" in device.name for device in tf.config.list_logical_devices())


def _peek(source: FedSource, rows: int) -> Rows:
    """Returns the first batch of the epoch that comes next, which the next loop begins with, too."""
    loop = source.begin_loop(rows)
    batch = loop.batch()
    if not len(batch):
        loop.end()  # which is an error where no other epoch comes
    return batch


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
    # A flat_map stays as it is, whereas TensorFlow runs a map for several elements at once, and so reads ahead.
    elements = tf.autograph.experimental.do_not_convert(layout.elements)
    return dataset.prefetch(READ_AHEAD).flat_map(elements).with_options(_options())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Layout:
    """How columns become the elements of the dataset."""

    columns: tuple[ColumnForm, ...]
    label: str | None

    @classmethod
    def of(cls, sample: pa.RecordBatch, selection: Selection) -> _Layout:
        columns = forms(sample, selection, ASKED_BY)
        strange = [form for form in columns if form.dtype == OBJECT and not form.is_text]
        if strange:
            which = ", ".join(f"{form.name!r} ({form.kind})" for form in strange)
            raise BadArguments(ASKED_BY, f"there are no tensors of {which}; name the others in columns=")
        return cls(columns=columns, label=selection.label)

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

    def noted_parts(self, source: EpochSource, batch: pa.RecordBatch) -> Parts:
        """Returns a batch in parts, of which the source has taken note."""
        parts = self.parts(batch)
        source.note_nans(nans_of(self.columns, batch))
        return parts

    def nothing(self) -> Parts:
        """Returns a batch without rows in parts."""
        no_splits = np.zeros(1, np.int64)
        return 0, {
            form.name: (np.empty((0, *form.inner_shape), form.dtype), *[no_splits] * form.ragged_levels)
            for form in self.columns
        }

    def elements(self, rows: Any, parts: dict[str, tuple[Any, ...]]) -> Any:
        """Returns a dataset of the element that TensorFlow makes of parts; of none if they have no rows."""
        return tf.data.Dataset.from_tensors(self._element(parts)).take(tf.cast(rows > 0, tf.int64))

    def _element(self, parts: dict[str, tuple[Any, ...]]) -> Any:
        tensors = {name: _tensor(values, splits) for name, (values, *splits) in parts.items()}
        if self.label is None:
            return tensors
        label = tensors.pop(self.label)
        return (next(iter(tensors.values())) if len(tensors) == 1 else tensors), label


def _noting_errors(source: EpochSource, parts: Iterator[Parts]) -> Iterator[Parts]:
    """Yields parts; of an error TensorFlow keeps only the text, so the source keeps it."""
    try:
        yield from parts
    except Exception as error:
        source.note_error(error)
        raise


def _fed_parts(source: FedSource, rows: int, layout: _Layout) -> Iterator[Parts]:
    """Yields the batches of an epoch in parts, and one without rows whenever there is none yet.

    TensorFlow cannot interrupt Python code: who ends an iterator waits until the code that makes its next element has
    returned. So that code never waits for long, and the feed is read in a thread. What a loop that is left has read is
    given back when the next one begins.
    """
    nothing, count = layout.nothing(), 0
    thread = ThreadPoolExecutor(1, thread_name_prefix="hopyard-feed")
    try:
        loop = yield from _awaited(thread.submit(source.begin_loop, rows), nothing)
        while len(batch := (yield from _awaited(thread.submit(loop.batch), nothing))):
            count += 1
            yield layout.noted_parts(source, columns_of(batch, ASKED_BY))
        # more than are made ahead: the end is passed only if whoever loops asks for more after the last batch
        yield from [nothing] * (READ_AHEAD + 2)
        epochs = yield from _awaited(thread.submit(loop.end), nothing)
    finally:
        thread.shutdown(wait=False)
    if not count:
        raise EmptyEpoch(ASKED_BY, epochs)


def _awaited(future: Future[T], nothing: Parts) -> Generator[Parts, None, T]:
    """Returns a result, and yields a batch without rows now and then until it is there."""
    while not wait([future], PATIENCE_SECONDS).done:
        yield nothing
    return future.result()


def _stored_parts(source: EpochSource, rows: int, layout: _Layout) -> Iterator[Parts]:
    for batch in source.epoch_batches(rows):
        yield layout.noted_parts(source, columns_of(batch, ASKED_BY))


def _column_parts(array: npt.NDArray[Any] | Ragged) -> tuple[npt.NDArray[Any], ...]:
    return (array.values, *array.splits) if isinstance(array, Ragged) else (array,)


def _tensor_type(form: ColumnForm) -> Any:
    return tf.string if form.is_text else tf.as_dtype(form.dtype)


def _tensor(values: Any, splits: list[Any]) -> Any:
    return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False) if splits else values


def _options() -> Any:
    options = tf.data.Options()
    # A node gets its own rows already; sharding would throw away those that are not the n-th.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    # It would read ahead of a loop that is only to look at the first batch, maybe beyond the end of a short epoch.
    options.experimental_optimization.inject_prefetch = False
    return options
