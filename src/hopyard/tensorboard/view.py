"""TensorBoard on a run, at once or years later."""

from __future__ import annotations

from hopyard.store import Project
from hopyard.tensorboard.server import TensorBoardServer


def visualize(
    path: str, *, project: Project | None = None, host: str = "127.0.0.1", port: int = 0
) -> TensorBoardServer:
    """Returns a running TensorBoard that shows a folder with all that is below it.

    It runs until `TensorBoardServer.stop` or the end of the program, also when nobody keeps what is
    returned here.

    Args:
        path: A run's folder (``RunResult.logdir``) or any folder above; see `TensorBoardServer`.
        project: The project that is meant where the path does not say.
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.

    Raises:
        PathNotFound: There is no such folder.
        MissingDependency: TensorBoard is not installed.
    """
    return TensorBoardServer(path, project=project, host=host, port=port).start()
