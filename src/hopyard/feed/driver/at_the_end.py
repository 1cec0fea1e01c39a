"""What a user is told of the feed of a run that has ended well, since it may not be what was meant."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from hopyard.feed.state import ALONE, NANS, VALIDATION_UNREAD
from hopyard.protocol.node_status import NodeStatus

HAS_LEARNT_ALONE = (
    "each of the {count} nodes has trained a model of its own: no strategy of TensorFlow and no torch.distributed joined them. "
    "If they were to train one model together, see https://github.com/hopyard/hopyard/blob/main/docs/distributed.md"
)
UNREAD = (
    'no node has read the rows to validate with: the function reads them from ctx.feed("validation"), or leave '
    "validation= out of train()"
)
AS_NAN = (
    "nulls were read as NaN ({counts}): say what stands for them (fill_nulls={{{column!r}: 0.0}}, or float('nan') if NaN "
    "is meant), or have Spark drop them before (df.na.drop)"
)


def warnings_of(nodes: Sequence[NodeStatus]) -> Iterator[str]:
    """Yields a sentence for each thing that a user should know of nodes that were fed."""
    alone = sum(ALONE in node.notes for node in nodes)
    if alone > 1:
        yield HAS_LEARNT_ALONE.format(count=alone)
    if nodes and all(VALIDATION_UNREAD in node.notes for node in nodes):
        yield UNREAD
    nans: Counter[str] = Counter()
    for node in nodes:
        nans.update(json.loads(node.notes.get(NANS, "{}")))
    if nans:
        counts = ", ".join(f"column {column!r}: {count}" for column, count in nans.items())
        yield AS_NAN.format(counts=counts, column=next(iter(nans)))
