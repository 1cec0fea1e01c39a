from __future__ import annotations

import pytest

import hopyard
from hopyard.errors import NodeFailed
from hopyard.worker.tail import SEARCHED_LINES, TAIL_LINES, Tail, last_lines

pytestmark = pytest.mark.unit

TRACEBACK = """\
Traceback (most recent call last):
  File "train.py", line 7, in train
    raise ValueError("row 17 is\\nbroken")
ValueError: row 17 is
broken
"""
# What nodes of a MultiWorkerMirroredStrategy of TensorFlow 2.21 wrote around their last steps, when another one had left
# (ABANDONED), and when another one was killed (CUT_OFF).
ABANDONED = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1795016790.602359    4241 cpu_feature_guard.cc:227] This TensorFlow binary is optimized to use available CPU
To enable the following instructions: AVX2 FMA, in other operations, rebuild TensorFlow with the appropriate compiler flags.
I0000 00:00:1795016791.051383    2017 coordination_service.cc:505] Example stragglers:
/job:worker/replica:0/task:0
epoch 1 done
step 9 2.0
E0000 00:00:1795016802.732211   31819 base_collective_executor.cc:252] BaseCollectiveExecutor::StartAbort UNAVAILABLE: Error reported
/job:worker/replica:0/task:0
The tasks have crashed. Check the task logs for an earlier error, or scheduler events (e.g. preemption, eviction)
E0000 00:00:1795016802.732290   31819 ring_alg.cc:291] Aborting RingReduce with UNAVAILABLE: Collective ops is aborted by: Error
The error could be from a previous operation. Restart your program to reset. [type.googleapis.com/tensorflow.DerivedStatus='']
W0000 00:00:1795016802.732502   31929 local_rendezvous.cc:412] Local rendezvous is aborting with status: UNAVAILABLE: Collective
\t [[{{node CollectiveReduceV2}}]] [type.googleapis.com/tensorflow.DerivedStatus='']
"""
CUT_OFF = """\
epoch 1 done
step 9 2.0
E0000 00:00:1795016812.856861     812 base_collective_executor.cc:252] BaseCollectiveExecutor::StartAbort UNAVAILABLE: recvmsg:Connection
Additional GRPC error information from remote target /job:chief/replica:0/task:0 while calling /tensorflow.WorkerService/CompleteInstance:
:UNKNOWN:Error received from peer  {grpc_message:"recvmsg:Connection reset by peer", grpc_status:14}
The error could be from a previous operation. Restart your program to reset.
"""
# What a node of TensorFlow 2.21 wrote of an error in a generator of its dataset, abridged; 2.19 begins lines with a date.
STATUS = """\
Epoch 4/5
W0000 00:00:1795025865.116201   20008 op_kernel.cc:1845] UNKNOWN: NoMoreEpochs: the feed has only 3.
Traceback (most recent call last):

  File "row_feed.py", line 82, in epoch_batch
    raise NoMoreEpochs(self._course.epochs)

hopyard.errors.NoMoreEpochs: the feed has only 3.


2026-01-01 10:00:00.1: W core/framework/local_rendezvous.cc:412] rendezvous is aborting with status: UNKNOWN: NoMoreEpochs: the feed has only 3.
Traceback (most recent call last):

  File "row_feed.py", line 82, in epoch_batch
    raise NoMoreEpochs(self._course.epochs)

hopyard.errors.NoMoreEpochs: the feed has only 3.


\t [[{{node PyFunc}}]]
\t [[IteratorGetNext]]
bye
"""


def print_and_fail() -> None:
    print("epoch 1")
    print("ValueError: not this one")
    raise ValueError("row 17" + "\nis broken" * 6)


def test_the_traceback_that_the_error_shows_is_not_repeated() -> None:
    assert last_lines(["epoch 1", *TRACEBACK.splitlines(), "bye"], TRACEBACK) == ("epoch 1", "bye")


def test_another_traceback_stays() -> None:
    other = TRACEBACK.replace("17", "18").splitlines()
    assert last_lines(other, TRACEBACK) == tuple(other)


def test_a_traceback_of_which_the_beginning_is_forgotten_is_not_repeated() -> None:
    long = "\n".join(f"  frame {number}" for number in range(SEARCHED_LINES + 5))
    tail = Tail()
    for line in ("epoch 1", *long.splitlines(), "bye"):
        tail.add(line)
    assert tail.last(long) == ("bye",)


@pytest.mark.parametrize("output", [ABANDONED, CUT_OFF], ids=["abandoned", "cut off"])
def test_what_tensorflow_repeats_when_a_collective_operation_ends_is_left_out(output: str) -> None:
    assert last_lines(output.splitlines()) == ("epoch 1 done", "step 9 2.0")


def test_what_tensorflow_logs_of_the_error_that_is_shown_is_left_out() -> None:
    shown = "Traceback (most recent call last):\n  ...\nhopyard.errors.NoMoreEpochs: the feed has only 3.\n"
    assert last_lines(STATUS.splitlines(), shown) == ("Epoch 4/5", "bye")


def test_what_tensorflow_logs_of_another_error_stays() -> None:
    lines = STATUS.splitlines()[:9]
    assert last_lines(lines, TRACEBACK) == tuple(lines)


def test_warnings_of_tensorflow_stay() -> None:
    line = "W0000 00:00:1795016775.960946   31205 preemption_notifier.cc:90] SIGTERM caught"
    assert last_lines([line]) == (line,)


def test_a_node_that_wrote_nothing_else_shows_what_there_is() -> None:
    lines = ABANDONED.splitlines()[:5]
    assert last_lines(lines) == tuple(lines)


def test_only_so_many_lines_are_shown() -> None:
    lines = [f"line {number}" for number in range(100)]
    assert last_lines(lines) == tuple(lines[-TAIL_LINES:])


def test_an_error_shows_its_traceback_once() -> None:
    with pytest.raises(NodeFailed) as caught:
        hopyard.launch(print_and_fail, backend="processes")
    assert caught.value.tail == ("epoch 1", "ValueError: not this one")
    assert str(caught.value).count("Traceback (most recent call last)") == 1
    assert str(caught.value).count("\nis broken") == caught.value.message.count("\nis broken") == 6
