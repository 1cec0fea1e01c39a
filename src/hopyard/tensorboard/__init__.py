"""TensorBoard: where a node writes its events, and servers that show them, live or long after."""

from hopyard.tensorboard.node_folder import logdir
from hopyard.tensorboard.server import TensorBoardServer
from hopyard.tensorboard.view import visualize

__all__ = ["TensorBoardServer", "logdir", "visualize"]
