"""Where the parts meet: a function goes in, a run takes place, a result comes out."""

from hopyard.training.context import NodeContext
from hopyard.training.launch import launch
from hopyard.training.result import RunResult

__all__ = ["NodeContext", "RunResult", "launch"]
