from __future__ import annotations

import pytest

from hopyard.errors import NotInsideRun
from hopyard.protocol.node_info import NodeInfo
from hopyard.tensorboard import logdir

pytestmark = pytest.mark.unit

NODE = NodeInfo(
    run_id="app/launcher/1",
    rank=0,
    size=1,
    trainers=1,
    role="chief",
    task_index=0,
    logdir="/scratch/logdir",
    checkpoint_dir="/scratch/checkpoints",
    stop_file="/scratch/stop",
)


def test_a_node_writes_to_its_own_log_folder() -> None:
    assert logdir(NODE.to_env()) == "/scratch/logdir"


def test_the_variable_of_the_environment_wins() -> None:
    assert logdir({**NODE.to_env(), "TENSORBOARD_LOGDIR": "/elsewhere"}) == "/elsewhere"


def test_outside_of_a_run_there_is_no_log_folder() -> None:
    with pytest.raises(NotInsideRun, match="exists only on a node"):
        logdir({})
