"""A user's function with its arguments, checked on the driver and completed on the node."""

from __future__ import annotations

import difflib
import functools
import inspect
import reprlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hopyard.errors import BadArguments
from hopyard.frameworks.registry import explained, watching
from hopyard.protocol.payload import Call
from hopyard.run.context import NodeContext

if TYPE_CHECKING:
    from types import TracebackType

    from hopyard.feed.signed_rows import RowSigner

CONTEXT = "ctx"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCall:
    """What a node runs: the user's call, plus the node's context if the function asks for it.

    Attributes:
        call: The user's.
        wants_context: Whether the function has a parameter for it.
        signer: Of a run that is fed: opens rows that are pickled. It comes with the pickled call, and so is neither in
            the environment of the node nor in that of what the function starts.
    """

    call: Call
    wants_context: bool
    signer: RowSigner | None = None

    def __call__(self) -> Any:
        """Calls the user's function on a node."""
        context = NodeContext.current() if self.wants_context else None
        if context is None or not context.info.feed_token or self.signer is None:
            return self._explained_call(context)
        from hopyard.feed.node.node_feed import NodeFeed  # a node that is not fed needs none of it

        with NodeFeed(context.info, self.signer) as feed, watching():
            return self._explained_call(replace(context, node_feed=feed))

    def _explained_call(self, context: NodeContext | None) -> Any:
        """Calls the function; what its datasets raised within a framework comes out as itself, at the place of the call."""
        try:
            return self._call(context)
        except Exception as error:
            feed = None if context is None else context.node_feed
            told = explained(error, () if feed is None else feed.noted)
            if told is error:
                raise
            raise told.with_traceback(error.__traceback__) from None

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


def bind(function: Callable[..., Any], args: object = None, *, call: str = "launch") -> NodeCall:
    """Returns a function bound to its arguments, after checking that they fit.

    Args:
        function: Any callable. A parameter named ``ctx`` receives the `NodeContext`. What is bound already
            is returned as it is.
        args: Nothing, a mapping (keyword arguments) or a tuple or list (positional arguments).
        call: What the user called, for errors.

    Raises:
        BadArguments: It is no function that can run on a node, or the arguments do not fit its signature.
    """
    if isinstance(function, NodeCall):
        return function
    check_function(call, function)
    users = _call(function, args)
    try:
        signature = inspect.signature(function)
    except ValueError:  # some builtins tell no signature; then Python checks on the node
        return NodeCall(call=users, wants_context=False)
    wants_context = CONTEXT in signature.parameters and CONTEXT not in users.keywords
    context = {CONTEXT: None} if wants_context else {}
    try:
        signature.bind(*users.positional, **users.keywords, **context)
    except TypeError as error:
        unknown = unknown_parameters(users.keywords, signature)
        raise BadArguments(users.name, unknown or f"{error}; its signature is {signature}") from error
    return NodeCall(call=users, wants_context=wants_context)


def unknown_parameters(names: Iterable[str], signature: inspect.Signature) -> str:
    """Returns which of some names are no parameters of a function, and which may be meant; nothing if all are."""
    parameters = signature.parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return ""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    accepted = [parameter.name for parameter in parameters if parameter.kind in kinds]
    unknown = [name for name in names if name not in accepted]
    if not unknown:
        return ""
    near = [match for name in unknown for match in difflib.get_close_matches(str(name), accepted, n=1)]
    hint = f" (did you mean {', '.join(map(repr, near))}?)" if near else ""
    return f"it has no parameter {', '.join(map(repr, unknown))}{hint}; its signature is {signature}"


def check_function(call: str, given: object) -> None:
    """Checks that a user gave a function that a node can run: it is called there, and returns a value.

    Args:
        call: What the user called.
        given: What was given for the function.

    Raises:
        BadArguments: It is none, or calling it runs nothing of it.
    """
    if not callable(given):
        raise not_a_function(call, given)
    code = given if inspect.isroutine(given) or isinstance(given, functools.partial) else type(given).__call__
    name = Call(function=given).name
    if inspect.isgeneratorfunction(code):
        raise BadArguments(
            call, f"{name} has a yield, so a call of it runs nothing; give a function that returns"
        )
    if inspect.iscoroutinefunction(code) or inspect.isasyncgenfunction(code):
        remedy = "give a function without async, which may call asyncio.run()"
        raise BadArguments(call, f"{name} is async, so a call of it runs nothing; {remedy}")


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
