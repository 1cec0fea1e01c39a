"""GPUs that Spark's resource scheduler gives a task are what the node's own process sees."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytestmark = pytest.mark.spark

DISCOVERY = """\
#!/bin/sh
echo '{"name": "gpu", "addresses": ["3", "5"]}'
"""

DRIVER = """
    import json, sys
    from pathlib import Path
    import hopyard

    def train():
        import os
        from hops import devices
        return os.environ["CUDA_VISIBLE_DEVICES"], devices.get_num_gpus()

    with hopyard.local_spark(executors=2, memory="512m", gpus=1, gpu_discovery_script=Path(sys.argv[1])):
        print(json.dumps(hopyard.launch(train, nodes=2).values))
"""


def test_each_node_sees_the_gpus_of_its_own_task(tmp_path: Path) -> None:
    script = tmp_path / "gpus.sh"
    script.write_text(DISCOVERY)
    script.chmod(0o755)
    driver = [sys.executable, "-c", textwrap.dedent(DRIVER), str(script)]
    said = subprocess.run(driver, capture_output=True, text=True, check=True, timeout=170).stdout
    assert sorted(json.loads(said)) == [["3", 1], ["5", 1]]
