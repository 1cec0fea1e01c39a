"""Errors of Hopyard whose remedies name things that programs of TensorFlowOnSpark do not have: the same, with theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from hopyard import errors


class FeedNotRead(errors.FeedNotRead):
    """A function returned before it had read what it was fed."""

    remedy = (
        "Read on until tf_feed.should_stop(), or call tf_feed.terminate() if it is meant to end early: "
        "tf_feed = TFNode.DataFeed(ctx.mgr)."
    )


class NodesMissing(errors.NodesMissing):
    """Not all nodes of a cluster arrived in time."""

    option = "reservation_timeout"


class InvalidPlan(errors.InvalidPlan):
    """The numbers of a cluster's nodes do not fit together."""

    def __str__(self) -> str:
        return _ARGUMENT.sub(lambda found: _ARGUMENTS[found[0]], super().__str__())


_ARGUMENTS = {"nodes": "num_executors", "ps": "num_ps", "evaluator": "eval_node"}
_ARGUMENT = re.compile(rf"\b({'|'.join(_ARGUMENTS)})(?==)|(?<=\braise )nodes\b")
_RENAMED: dict[type[errors.HopyardError], type[errors.HopyardError]] = {
    errors.FeedNotRead: FeedNotRead,
    errors.InvalidPlan: InvalidPlan,
    errors.NodesMissing: NodesMissing,
}


@contextmanager
def old_names() -> Iterator[None]:
    """Gives a context whose errors name what programs of TensorFlowOnSpark have."""
    try:
        yield
    except errors.HopyardError as error:
        kind = _RENAMED.get(type(error))
        if kind is None:
            raise
        raise kind(*error.args).with_traceback(error.__traceback__) from None
