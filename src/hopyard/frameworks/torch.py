"""PyTorch: its share of a GPU, its datasets, and whether it has joined processes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

from hopyard.frameworks.base import Framework, GpuShare, text_of

if TYPE_CHECKING:
    from hopyard.frameworks.selection import Selection
    from hopyard.frameworks.source import EpochSource

ALLOCATOR = "PYTORCH_ALLOC_CONF"
OLD_ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"  # if it is set, the other does not count
OPTION = "per_process_memory_fraction"
# Older ones do not know the option, or do not read it from both variables.
OPTION_SINCE = (2, 13)


# What a DataLoader says that got a feed, and not a dataset of it.
_NO_DATASET = re.compile(r"'(DataFeed|Epoch|ValidationFeed)' (?:has no len\(\)|object is not subscriptable)")
_DATASET = "A feed is no dataset: give DataLoader(ctx.feed().as_torch_dataset(32), batch_size=None)."


class Torch(Framework):
    """PyTorch, which newer ones tell of their limit by the environment, and older ones by a call."""

    empty = re.compile(r"^Caught \w+ in (DataLoader worker process|replica) ")

    def memory_variables(self, share: GpuShare) -> dict[str, str]:
        """Returns the allocator's settings of before, with the limit added, if the installed PyTorch reads it there."""
        if not _reads_option():
            return {}
        name = _variable(share.environ)
        options = [each for each in share.environ.get(name, "").split(",") if each and OPTION not in each]
        return {name: ",".join([*options, f"{OPTION}:{share.text}"])}

    def limit_memory(self, module: Any, share: GpuShare) -> None:
        """Limits the allocator of PyTorch, unless its environment does it already or there is no GPU."""
        if OPTION not in share.environ.get(_variable(share.environ), "") and module.cuda.is_available():
            module.cuda.set_per_process_memory_fraction(share.fraction, 0)

    def dataset(self, source: EpochSource, batch_size: int, selection: Selection) -> Any:
        """Returns a `torch.utils.data.IterableDataset` of batches."""
        from hopyard.frameworks.torch_data import FeedDataset

        return FeedDataset(source, batch_size, selection)

    def explain(self, error: Exception, module: Any, noted: Sequence[Exception]) -> Exception:
        """Adds a note to the error of a DataLoader that got the feed itself."""
        if _NO_DATASET.search(text_of(error)):
            error.add_note(_DATASET)
        return error

    def is_joined(self, module: Any) -> bool:
        """Tells whether there is a process group."""
        distributed = getattr(module, "distributed", None)
        return distributed is not None and distributed.is_available() and bool(distributed.is_initialized())


def _variable(environ: Mapping[str, str]) -> str:
    return OLD_ALLOCATOR if OLD_ALLOCATOR in environ else ALLOCATOR


def _reads_option() -> bool:
    try:
        version = re.match(r"(\d+)\.(\d+)", metadata.version("torch"))
    except metadata.PackageNotFoundError:
        return False
    return version is not None and (int(version[1]), int(version[2])) >= OPTION_SINCE
