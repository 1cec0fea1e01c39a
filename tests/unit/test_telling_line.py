"""The first line of an error's text, where another one tells what went wrong."""

from __future__ import annotations

from pathlib import Path

import cloudpickle
import pytest

from hopyard.frameworks.registry import empty_lines
from hopyard.store import Project
from hopyard.telling_line import telling_line
from hopyard.tracking import RunReader, RunWriter
from hopyard.worker.execution import execute

pytestmark = pytest.mark.unit

GRAPH = """Graph execution error:

Detected at node Cast_1 defined at (most recent call last):
  File "/work/train.py", line 9, in f

  File "/site-packages/keras/src/backend/tensorflow/trainer.py", line 399, in fit

Cast string to float is not supported
\t [[{{node Cast_1}}]] [Op:__inference_multi_step_on_iterator_123]"""
OF_NO_CODE = """Graph execution error:

Detected at node PyFunc defined at (most recent call last):
<stack traces unavailable>
KeyError: 'no such row'
\t [[{{node PyFunc}}]]"""
LAYER = """Exception encountered when calling Sequential.call().

\x1b[1mInput 0 of layer "dense" is incompatible with the layer: expected axis -1 to have value 4\x1b[0m

Arguments received by Sequential.call():
  • inputs=tf.Tensor(shape=(32, 3), dtype=float32)"""
WORKER = """Caught BadArguments in DataLoader worker process 0.
Original Traceback (most recent call last):
  File "/site-packages/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "/site-packages/hopyard/frameworks/torch_data.py", line 104, in __iter__
    raise BadArguments(ASKED_BY, IN_A_WORKER)
hopyard.errors.BadArguments: wrong arguments for as_torch_dataset(): the feed is in the node's own process."""
PYTHON_WORKER = """
  An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "/work/rows.py", line 4, in invert
    return 1 / row
           ~~^~~~~
ZeroDivisionError: division by zero
"""
JAVA = """An error occurred while calling o44.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: PythonException: Traceback (most recent call last):
  File "/work/rows.py", line 4, in invert
    return 1 / row
           ~~^~~~~
ZeroDivisionError: division by zero

\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:581)
Caused by: something else of Java
"""


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        (GRAPH, "Cast string to float is not supported"),
        (OF_NO_CODE, "KeyError: 'no such row'"),
        (LAYER, 'Input 0 of layer "dense" is incompatible with the layer: expected axis -1 to have value 4'),
        (WORKER, WORKER.splitlines()[-1]),
        (PYTHON_WORKER, "ZeroDivisionError: division by zero"),
        (JAVA, "ZeroDivisionError: division by zero"),
    ],
)
def test_a_first_line_that_tells_nothing_is_passed_over(text: str, telling: str) -> None:
    assert telling_line(text, empty_lines()) == telling


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Graph execution error:",
        f"the child failed\n{PYTHON_WORKER}",
        "node 0 (chief) on here failed: KeyError: 'x'\n\nTraceback on the node:\nTraceback (most recent call last):",
    ],
)
def test_a_first_line_that_tells_something_stays_so_does_one_with_nothing_behind_it(text: str) -> None:
    assert telling_line(text, empty_lines()) is None


def fail_in_a_graph() -> None:
    raise ValueError(GRAPH)


def test_the_message_of_a_failed_function_is_the_line_that_tells_and_its_traceback_has_all() -> None:
    failure = execute(cloudpickle.dumps(fail_in_a_graph)).failure
    assert failure is not None
    assert failure.message == "ValueError: Cast string to float is not supported"
    assert GRAPH in failure.traceback


def fail_as_keras_quotes() -> None:
    raise KeyError(LAYER)


def test_the_text_of_a_key_error_is_read_without_its_quotes() -> None:
    failure = execute(cloudpickle.dumps(fail_as_keras_quotes)).failure
    assert failure is not None
    assert failure.message.startswith('KeyError: Input 0 of layer "dense" is incompatible')


def test_the_record_of_a_run_that_an_error_of_spark_ended_tells_what_rows_died_of(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path))

    class PythonException(Exception):
        pass

    with (
        pytest.raises(PythonException),
        RunWriter.begin(project, app_id="app", kind="launcher", name="job", nodes=1, backend="x") as run,
    ):
        raise PythonException(PYTHON_WORKER)
    assert (
        RunReader(project, str(run.id)).record().error
        == "PythonException: ZeroDivisionError: division by zero"
    )
