"""A feed as a `torch.utils.data.IterableDataset`."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import torch
from torch.utils._pytree import register_pytree_node
from torch.utils.data import IterableDataset, get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from hopyard.columns.arrays import to_numpy
from hopyard.errors import BadArguments
from hopyard.frameworks.batch_form import OBJECT, ColumnForm, Ragged, columns_of, forms, nans_of
from hopyard.frameworks.joined import is_joined
from hopyard.frameworks.selection import Selection
from hopyard.frameworks.source import EpochSource, FedSource

ASKED_BY = "as_torch_dataset"
IN_A_WORKER = "the feed is in the node's own process; use DataLoader(dataset, batch_size=None, num_workers=0)"

Column: TypeAlias = "torch.Tensor | list[Any]"


class Batch(dict[str, Column]):
    """A batch as it comes out of the dataset: a dict that a DataLoader knows to be whole.

    With its default ``batch_size=1`` a DataLoader puts each batch into a batch of one, and so gives every tensor an axis
    more. What it makes of elements is decided by their type, so there is one for these. A copy is a plain dict,
    and what was pickled is an `OrderedDict`.
    """

    def __copy__(self) -> dict[str, Column]:
        return dict(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return OrderedDict, (), None, None, iter(self.items())  # of which `torch.load` has no doubts


class Pair(tuple[Any, Any]):
    """Features and label of a batch, which a DataLoader knows to be whole as it does a `Batch`."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def unwrapped(batches: Sequence[Batch | Pair], **_: object) -> dict[str, Column] | tuple[Any, Any]:
    """Returns the one batch that a DataLoader wants to make a batch of; PyTorch calls it.

    Raises:
        BadArguments: There are several.
    """
    if len(batches) > 1:
        raise BadArguments(
            ASKED_BY,
            f"a DataLoader puts {len(batches)} batches of this dataset into one; use DataLoader(dataset, batch_size=None), "
            f"and say how many rows a batch has in {ASKED_BY}(rows)",
        )
    batch = batches[0]
    return tuple(batch) if isinstance(batch, Pair) else dict(batch)


# how PyTorch is told of a type: its DataLoader, and what looks for tensors in structures of dicts and lists
default_collate_fn_map[Batch] = default_collate_fn_map[Pair] = unwrapped
register_pytree_node(
    Batch,
    lambda batch: (list(batch.values()), list(batch)),
    lambda values, names: dict(zip(names, values, strict=True)),
)
register_pytree_node(Pair, lambda pair: (list(pair), None), lambda parts, _: tuple(parts))


class FeedDataset(IterableDataset[Any]):
    """Batches, of one epoch in each loop: tensors by column, or lists where rows are no tensor together.

    With a label they are pairs of features and label.

    Args:
        source: Where the rows come from.
        batch_size: How many rows a batch has.
        selection: What is wanted of the columns.
    """

    def __init__(self, source: EpochSource, batch_size: int, selection: Selection) -> None:
        super().__init__()
        self._source = source
        self._rows = batch_size
        self._selection = selection

    def __iter__(self) -> Iterator[Batch | Pair]:
        """Returns the batches of the next epoch, or of the one under way again if a loop was left within it.

        Raises:
            BadArguments: This is a worker process of a DataLoader.
        """
        if get_worker_info() is not None:
            raise BadArguments(ASKED_BY, IN_A_WORKER)
        if isinstance(self._source, FedSource):
            self._source.note_joined(is_joined=is_joined())
        return self._batches()

    def __reduce__(self) -> NoReturn:
        raise BadArguments(ASKED_BY, IN_A_WORKER)

    def _batches(self) -> Iterator[Batch | Pair]:
        layout: tuple[ColumnForm, ...] = ()
        for rows in self._source.epoch_batches(self._rows):
            batch = columns_of(rows, ASKED_BY)
            layout = layout or forms(batch, self._selection, ASKED_BY)
            columns = Batch({form.name: _column(form, batch) for form in layout})
            self._source.note_nans(nans_of(layout, batch))
            yield columns if self._selection.label is None else _pair(columns, self._selection.label)


def _pair(columns: Batch, label: str) -> Pair:
    learnt = columns.pop(label)
    return Pair((next(iter(columns.values())) if len(columns) == 1 else columns, learnt))


def _column(form: ColumnForm, batch: pa.RecordBatch) -> Column:
    if form.dtype == OBJECT:
        values: list[Any] = to_numpy(batch, columns=[form.name], fill_nulls=form.fills)[form.name].tolist()
        return values
    array = form.array(batch)
    return _rows(array) if isinstance(array, Ragged) else _tensor(array)


def _tensor(array: npt.NDArray[Any]) -> torch.Tensor:
    # A tensor can be written to, and the memory of a batch must not be.
    return torch.from_numpy(array if array.flags.writeable else np.array(array))


def _rows(ragged: Ragged) -> list[Any]:
    """Returns lists, as deep as lengths vary, of tensors."""
    lengths = [np.diff(splits).tolist() for splits in ragged.splits]
    rows: list[Any] = list(torch.split(_tensor(ragged.values), lengths.pop()))
    while lengths:
        elements = iter(rows)
        rows = [[next(elements) for _ in range(count)] for count in lengths.pop()]
    return rows
