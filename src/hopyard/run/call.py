"""A user's function with its arguments, checked on the driver and completed on the node."""

from __future__ import annotations

import inspect
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments
from hopyard.frameworks.keras_choice import keras_advice
from hopyard.frameworks.tensorflow_errors import hidden_error
from hopyard.protocol.payload import Call
from hopyard.run.context import NodeContext

if TYPE_CHECKING:
    from types import TracebackType

    from hopyard.feed.node.node_feed import NodeFeed

CONTEXT = "ctx"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCall:
    """What a node runs: the user's call, plus the node's context if the function asks for it."""

    call: Call
    wants_context: bool

    def __call__(self) -> Any:
        """Calls the user's function on a node."""
        context = NodeContext.current() if self.wants_context else None
        with keras_advice():
            if context is None or not context.info.feed_token:
                return self._call(context)
            from hopyard.feed.node.node_feed import NodeFeed  # a node that is not fed needs none of it

            with NodeFeed(context.info) as feed:
                return self._fed_call(feed, replace(context, node_feed=feed))

    def _fed_call(self, feed: NodeFeed, context: NodeContext) -> Any:
        """Calls the function; what its datasets raised within TensorFlow comes out as itself, at the place of the call."""
        try:
            return self._call(context)
        except Exception as error:
            hidden = hidden_error(error, feed.noted)
            if hidden is None:
                raise
            raise hidden.with_traceback(error.__traceback__) from None

    def _call(self, context: NodeContext | None) -> Any:
        extra = {} if context is None else {CONTEXT: context}
        return self.call.function(*self.call.positional, **self.call.keywords, **extra)


def users_part(traceback: TracebackType | None) -> TracebackType | None:
    """Returns the part of a traceback that lies in a user's function; None if none was called in this process."""
    part = None
    while traceback is not None:
        part = traceback.tb_next if traceback.tb_frame.f_globals.get("__name__") == __name__ else part
        traceback = traceback.tb_next
    return part


def bind(function: Callable[..., Any], args: object = None) -> NodeCall:
    """Returns a function bound to its arguments, after checking that they fit.

    Args:
        function: Any callable. A parameter named ``ctx`` receives the `NodeContext`. What is bound already
            is returned as it is.
        args: Nothing, a mapping (keyword arguments) or a tuple or list (positional arguments).

    Raises:
        BadArguments: The arguments do not fit the function's signature.
    """
    if isinstance(function, NodeCall):
        return function
    if not callable(function):
        raise not_a_function("launch", function)
    call = _call(function, args)
    try:
        signature = inspect.signature(function)
    except ValueError:  # some builtins tell no signature; then Python checks on the node
        return NodeCall(call=call, wants_context=False)
    wants_context = CONTEXT in signature.parameters and CONTEXT not in call.keywords
    context = {CONTEXT: None} if wants_context else {}
    try:
        signature.bind(*call.positional, **call.keywords, **context)
    except TypeError as error:
        raise BadArguments(call.name, f"{error}; its signature is {signature}") from error
    return NodeCall(call=call, wants_context=wants_context)


def _call(function: Callable[..., Any], args: object) -> Call:
    if args is None:
        return Call(function=function)
    if isinstance(args, Mapping):
        return Call(function=function, keywords=dict(args))
    if isinstance(args, (tuple, list)):
        return Call(function=function, positional=tuple(args))
    name = Call(function=function).name
    remedy = "give a dict (by name), or a tuple or list (by position)"
    raise BadArguments(name, f"args={reprlib.repr(args)} cannot be passed; {remedy}")


def not_a_function(call: str, given: object) -> BadArguments:
    """Returns the error for something that a user gave as the function."""
    return BadArguments(
        call, f"fn={reprlib.repr(given)} is not a function; give the function itself, without calling it"
    )
