"""`Datasets`: rows in the form that a framework wants, one epoch at a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments
from hopyard.feed.node.epoch_loop import EpochLoop
from hopyard.feed.node.rows import Rows
from hopyard.frameworks.registry import dataset
from hopyard.frameworks.selection import Selection

if TYPE_CHECKING:
    import numpy as np

    from hopyard.frameworks.torch_data import FeedDataset


class Datasets(ABC):
    """Batches of rows. Each loop over one of its datasets reads one epoch; the next loop reads the next."""

    @abstractmethod
    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields the batches of an epoch, so many rows at a time; the last one may have fewer."""

    @abstractmethod
    def note_nans(self, nulls: Mapping[str, int]) -> None:
        """Records nulls that were read as NaN, by column."""

    @abstractmethod
    def note_error(self, error: Exception) -> None:
        """Records an error in reading, of which a framework makes one of its own."""

    def as_numpy(
        self,
        batch_size: int,
        *,
        columns: Sequence[str] | None = None,
        fill_nulls: Mapping[str, object] | None = None,
    ) -> NumpyBatches:
        """Returns batches as arrays by column, the row as first axis; see `hopyard.columns.arrays.to_numpy`.

        Args:
            batch_size: How many rows a batch has; the last one of an epoch may have fewer.
            columns: Which columns, in which order; None: all.
            fill_nulls: By column, what stands for a null.

        Raises:
            BadArguments: `batch_size` is less than 1. In the loop: the rows are those of an RDD, which has no columns.
            NullValues: In the loop: a column that has no form for it holds a null.
            NoMoreEpochs: In the loop: all epochs have been read.
        """
        _check_size("as_numpy", "batch_size", batch_size)
        _check_columns("as_numpy", columns)
        _check_by_column("as_numpy", "fill_nulls", fill_nulls)
        return NumpyBatches(self, batch_size, columns, fill_nulls)

    def as_tf_dataset(
        self,
        batch_size: int,
        *,
        columns: Sequence[str] | None = None,
        fill_nulls: Mapping[str, object] | None = None,
        label: str | None = None,
        dtypes: Mapping[str, str] | None = None,
        ragged: Collection[str] = (),
    ) -> Any:
        """Returns a `tf.data.Dataset` of batches, for ``model.fit(dataset, epochs=n)``: tensors by column.

        It waits for the first batch, since that tells which tensors there are: dense ones of numbers, and of lists and
        Spark ML vectors of the same length; ragged ones of lists that vary; `tf.string` for text. Dates are int64, in
        days since 1970, and timestamps and durations in microseconds. Rows are read ahead while the model trains:
        `terminate()` ends the dataset after those.

        With ``fit(steps_per_epoch=k)`` give it ``dataset.repeat()``, since Keras then reads on in one loop.

        Args:
            batch_size: How many rows a batch has; the last one of an epoch may have fewer.
            columns: Which columns, in which order; None: all.
            fill_nulls: By column, what stands for a null; see `hopyard.columns.arrays.to_numpy`.
            label: The column to learn. With it, elements are pairs, as Keras wants them: features and label. If there
                is but one other column, the features are its tensor, else tensors by column.
            dtypes: By column, what its numbers are cast to, for example ``{"x": "float32"}``.
            ragged: Columns of lists that vary in length, although those of the first batch may not.

        Raises:
            MissingDependency: TensorFlow is not installed.
            NothingFed: There is no row for this node.
            BadArguments: The rows are those of an RDD, or a column has no form as a tensor.
            UnknownColumns: Something is wanted of a column that is not there.
        """
        _check_size("as_tf_dataset", "batch_size", batch_size)
        _check_columns("as_tf_dataset", columns)
        selection = _selection("as_tf_dataset", columns, fill_nulls, dtypes, ragged, label)
        return dataset("tensorflow", "as_tf_dataset", self, batch_size, selection)

    def as_torch_dataset(
        self,
        batch_size: int,
        *,
        columns: Sequence[str] | None = None,
        fill_nulls: Mapping[str, object] | None = None,
        label: str | None = None,
        dtypes: Mapping[str, str] | None = None,
        ragged: Collection[str] = (),
    ) -> FeedDataset:
        """Returns a `torch.utils.data.IterableDataset` of batches: tensors by column, the row as first axis.

        It is for a loop, or for ``DataLoader(dataset, batch_size=None)``; its batches are whole already. Lists that
        vary in length are lists of tensors; strings, and all else that is no number, are lists of Python objects.
        Dates are int64, in days since 1970, and timestamps and durations in microseconds.

        Args:
            batch_size: How many rows a batch has; the last one of an epoch may have fewer.
            columns: Which columns, in which order; None: all.
            fill_nulls: By column, what stands for a null; see `hopyard.columns.arrays.to_numpy`.
            label: The column to learn. With it, elements are pairs: features and label. If there is but one other column,
                the features are its tensor, else tensors by column.
            dtypes: By column, what its numbers are cast to, for example ``{"x": "float32"}``.
            ragged: Columns of lists that vary in length, although those of the first batch may not.

        Raises:
            MissingDependency: PyTorch is not installed.
            BadArguments: `batch_size` is less than 1. In the loop: the rows are those of an RDD, or a DataLoader
                reads in a process of its own (``num_workers``).
            NoMoreEpochs: In the loop: all epochs have been read.
        """
        _check_size("as_torch_dataset", "batch_size", batch_size)
        _check_columns("as_torch_dataset", columns)
        selection = _selection("as_torch_dataset", columns, fill_nulls, dtypes, ragged, label)
        made: FeedDataset = dataset("torch", "as_torch_dataset", self, batch_size, selection)
        return made


class FedDatasets(Datasets):
    """Datasets whose rows are fed."""

    @abstractmethod
    def begin_loop(self, rows: int) -> EpochLoop:
        """Begins a loop over an epoch, in batches of so many rows."""

    @abstractmethod
    def note_joined(self, *, is_joined: bool) -> None:
        """Records whether something joins the nodes to train one model, as a framework begins to read."""

    def epoch_batches(self, rows: int) -> Iterator[Rows]:
        """Yields the batches of an epoch.

        Raises:
            NoMoreEpochs: All epochs have been read, and nothing more will come.
            EpochLeft: An earlier loop was left so late that the epoch cannot be begun again.
            BadArguments: Another loop has begun meanwhile.
        """
        loop = self.begin_loop(rows)
        while len(batch := loop.batch()):
            yield batch
        loop.end()


@dataclass(frozen=True, slots=True)
class NumpyBatches:
    """Batches as arrays by column; each loop over it reads one epoch."""

    source: Datasets
    rows: int
    columns: Sequence[str] | None = None
    fill_nulls: Mapping[str, object] | None = None

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        """Yields the batches of the next epoch."""
        from hopyard.columns.arrays import to_numpy  # the one place that needs numpy
        from hopyard.columns.nulls import read_as_nan

        for batch in self.source.epoch_batches(self.rows):
            if isinstance(batch, list):
                raise BadArguments(
                    "as_numpy", "the rows of an RDD have no columns; feed a DataFrame, or use next_batch()"
                )
            arrays = to_numpy(batch, columns=self.columns, fill_nulls=self.fill_nulls)
            self.source.note_nans(read_as_nan(batch, arrays, self.fill_nulls or ()))
            yield arrays


def _check_size(asked_by: str, name: str, rows: int) -> None:
    if type(rows) is not int or rows < 1:
        raise BadArguments(asked_by, f"{name}={rows!r} is not valid; give a whole number of at least 1")


def _check_columns(asked_by: str, columns: object) -> None:
    is_list = isinstance(columns, Sequence) and all(isinstance(name, str) for name in columns)
    if isinstance(columns, str) or not (columns is None or is_list):
        raise BadArguments(asked_by, f"columns={columns!r} is not valid; give a list of names")


def _check_by_column(asked_by: str, name: str, given: object) -> None:
    if given is not None and not isinstance(given, Mapping):
        remedy = f"give a dict by column, such as {{'x': {given!r:.40}}}"
        raise BadArguments(asked_by, f"{name}={given!r:.40} is not valid; {remedy}")


def _selection(
    asked_by: str,
    columns: Sequence[str] | None,
    fill_nulls: Mapping[str, object] | None,
    dtypes: Mapping[str, str] | None,
    ragged: Collection[str],
    label: str | None,
) -> Selection:
    if label is not None and not isinstance(label, str):
        raise BadArguments(asked_by, f"label={label!r} is not valid; give the name of one column")
    _check_by_column(asked_by, "fill_nulls", fill_nulls)
    _check_by_column(asked_by, "dtypes", dtypes)
    wanted = columns if columns is None or label is None else (*columns, label)
    return Selection(
        columns=wanted, fill_nulls=fill_nulls or {}, dtypes=dtypes or {}, ragged=ragged, label=label
    )
