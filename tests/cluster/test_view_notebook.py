"""The view in a real kernel of Jupyter."""

from __future__ import annotations

from pathlib import Path

import nbclient
import nbformat
import pytest

pytestmark = pytest.mark.cluster

CELL = """
import threading
from hopyard.protocol.node_status import NodeStatus, Phase
from hopyard.protocol.plan import Plan
from hopyard.view.view import View

class Run:
    run_id = "run.1"
    phase = Phase.RUNNING
    looked = threading.Semaphore(0)

    def nodes(self):
        self.looked.release()
        return (NodeStatus(rank=0, role="chief", phase=self.phase, host="a"),)

    def has_ended(self, within_seconds=0.0):
        return self.phase is Phase.FINISHED

run = Run()
view = View(Plan.of(1), progress=None, stream_logs=True)
with view.showing(run):
    run.looked.acquire(), run.looked.acquire()
    view.lines(0, ("hello",))
    run.phase = Phase.FINISHED
"""


def test_a_cell_ends_with_one_table_and_the_output_of_the_nodes() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    table, output = notebook.cells[0].outputs
    assert table.output_type == "display_data"
    assert "finished</span>" in table.data["text/html"]
    assert (output.output_type, output.name, output.text) == ("stream", "stdout", "[chief 0] hello\n")


STOPPED = """
import hopyard

def train():
    import threading
    threading.Event().wait()

with hopyard.Cluster(train, backend="processes", progress=False) as cluster:
    cluster.ready()
    raise KeyboardInterrupt
"""


def test_a_cell_that_is_stopped_shows_what_was_stopped_and_no_frames(hopyard_root: Path) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(STOPPED)])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", allow_errors=True).execute()
    (output,) = notebook.cells[0].outputs
    name, said = output.traceback
    assert (output.ename, name) == ("KeyboardInterrupt", "KeyboardInterrupt")
    assert said.startswith("Interrupted: the run process-")
