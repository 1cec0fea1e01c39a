"""Metrics from a training loop that ends when its trial is no longer worth going on with."""

from __future__ import annotations

from typing import Any, Protocol, SupportsFloat, SupportsIndex

from hopyard.errors import BadArguments, TrialStopped
from hopyard.frameworks.registry import kind_of
from hopyard.run.context import NodeContext
from hopyard.run.scalar import as_metrics, as_step

_NO_CALLBACK = (
    "a Reporter is no callback of Keras; give callbacks=[hopyard.Reporter(ctx).as_keras_callback()]"
)
_CONTEXT = "give the ctx that the function is called with: Reporter(ctx), then report(step, loss=...)"


class ReportingContext(Protocol):
    """What a reporter needs of a `NodeContext`."""

    def report(self, step: int, **metrics: float) -> None:
        """Records metrics of a step."""

    def should_stop(self) -> bool:
        """Whether the node is to end."""


class Reporter:
    """A function to call with each step's metrics: it reports them, and ends the trial if it is to end.

    ::

        report = Reporter(ctx)
        for epoch in range(epochs):
            ...
            report(epoch, accuracy=accuracy)

    Args:
        ctx: The node's context; `NodeContext.current` if not given.
        every: Of how many steps one is reported: those whose number it divides. At the others, which cost nothing, not
            even the transfer of a value from the GPU, the trial does not end either.

    Raises:
        NotInsideRun: No context was given, and this process is no node.
        BadArguments: `every` is below 1, or `ctx` is no context.
    """

    def __init__(self, ctx: ReportingContext | None = None, *, every: int = 1) -> None:
        if type(every) is not int or every < 1:
            raise BadArguments("Reporter", f"every={every!r} is not valid; give a whole number of at least 1")
        if ctx is not None and not hasattr(ctx, "report"):
            raise BadArguments("Reporter", f"ctx={ctx!r} is no context; {_CONTEXT}")
        self._ctx = NodeContext.current() if ctx is None else ctx
        self._every = every

    def __call__(self, step: SupportsIndex, /, **metrics: SupportsFloat) -> None:
        """Reports the metrics of a step.

        Args:
            step: The number of the step or epoch: a whole number.
            **metrics: Numbers, or scalars of NumPy, PyTorch or TensorFlow.

        Raises:
            BadReport: The step is no whole number, a metric is no number, or there is no metric.
            TrialStopped: The trial is to end here; let it pass. What was reported counts.
        """
        number = as_step(step)
        if number % self._every:
            return
        self._ctx.report(number, **as_metrics(metrics))
        if self._ctx.should_stop():
            raise TrialStopped(number)

    def as_keras_callback(self, *, package: str = "keras") -> Any:
        """Returns a callback for ``model.fit`` that reports all numbers that Keras logs of an epoch.

        It raises TrialStopped out of ``fit`` if the trial is to end. Callbacks that follow it in the list do not see
        that epoch's end, so it is best the last one.

        Args:
            package: The Keras that the model is of: ``keras`` or ``tf_keras``.
        """
        return kind_of("keras").load().callback(self, package)

    def set_params(self, _params: object) -> None:
        """Refuses to be a callback of Keras; Keras calls it.

        Raises:
            BadArguments: Always; the error says what is one.
        """
        raise BadArguments("fit", _NO_CALLBACK)

    set_model = set_params  # which of the two Keras calls first depends on its version
