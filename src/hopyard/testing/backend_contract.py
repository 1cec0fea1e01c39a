"""What every backend promises, as a test suite: subclass `BackendContract` and give it a backend."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod

import pytest

from hopyard import Cluster, Project, launch
from hopyard.backends.base import Backend
from hopyard.errors import NodeFailed, NoProgress, RunStopped, StillRunning
from hopyard.protocol.node_status import Phase
from hopyard.testing.node_functions import (
    clobber_the_record,
    evaluate_until_the_training_is_done,
    fail_on_rank_1,
    fail_until_there_is_a_checkpoint,
    fail_while_the_chief_waits,
    kill_itself,
    know_the_cluster,
    leave_a_file,
    pid,
    quit_with_code_0,
    quit_with_code_3,
    rank_and_size,
    report_metrics,
    return_a_lock,
    serve_for_ever,
    speak,
    square,
    take_its_port_alone,
    vanish_with_code_0,
    wait_for_ever,
)
from hopyard.testing.watching import wait_until
from hopyard.tracking import NodeState, RunReader, RunState, find_run


class BackendContract(ABC):
    """The behaviour that a user may rely on, whatever runs the nodes."""

    @pytest.fixture
    @abstractmethod
    def backend(self) -> Backend:
        """The backend under test."""

    @pytest.fixture
    def project(self) -> Project:
        """The project that runs go to."""
        return Project.open()

    def test_the_value_of_the_function_comes_back(self, backend: Backend) -> None:
        """A function's value comes back, and the run is FINISHED."""
        result = launch(square, {"x": 7}, backend=backend)
        assert (result.value, result.state) == (49, RunState.FINISHED)

    def test_positional_arguments_arrive(self, backend: Backend) -> None:
        """A tuple of arguments is passed by position."""
        assert launch(square, (5,), backend=backend).value == 25

    def test_values_come_in_rank_order(self, backend: Backend) -> None:
        """Each node knows its rank, and its value has that place."""
        result = launch(rank_and_size, nodes=2, backend=backend)
        assert result.values == ((0, 2, "chief"), (1, 2, "worker"))

    def test_a_closure_travels_by_value(self, backend: Backend) -> None:
        """A nested function may use what surrounds it."""
        offset = 40

        def add(x: int) -> int:
            return x + offset

        assert launch(add, (2,), backend=backend).value == 42

    def test_output_is_kept_in_the_log(self, backend: Backend, project: Project) -> None:
        """Both output streams are in the run's log, line by line."""
        result = launch(speak, backend=backend)
        lines = list(RunReader(project, result.run_id).log())
        assert "to stdout, ünïcode" in lines
        assert "to stderr" in lines

    def test_metrics_are_kept_in_order(self, backend: Backend, project: Project) -> None:
        """What a function reports can be read afterwards."""
        result = launch(report_metrics, backend=backend)
        points = RunReader(project, result.run_id).metrics("loss")
        assert [(point.step, point.value) for point in points] == [(0, 1.0), (1, 0.5), (2, 1 / 3)]

    def test_files_in_the_logdir_are_kept_per_node(self, backend: Backend, project: Project) -> None:
        """The chief's files are in the run's folder, the others' in one folder per node."""
        result = launch(leave_a_file, nodes=2, backend=backend)
        folder = project.relative(result.logdir)
        assert project.read(f"{folder}/sub/left-by-0.txt") == b"kept"
        assert project.read(f"{folder}/node.1/sub/left-by-1.txt") == b"kept"

    def test_a_file_with_one_of_our_names_is_kept_under_another(
        self, backend: Backend, project: Project
    ) -> None:
        """A user's run.json neither replaces ours nor gets lost."""
        result = launch(clobber_the_record, backend=backend)
        assert project.read(f"{project.relative(result.logdir)}/run.json.user") == b"mine"
        assert RunReader(project, result.run_id).record().state is RunState.FINISHED

    def test_a_failure_names_the_node_and_shows_traceback_and_output(self, backend: Backend) -> None:
        """The error of a failed node says all that a user needs."""
        with pytest.raises(NodeFailed) as caught:
            launch(fail_on_rank_1, nodes=2, backend=backend)
        text = str(caught.value)
        assert caught.value.rank == 1
        assert "node 1 (worker)" in text
        assert "ZeroDivisionError" in text
        assert "in fail_on_rank_1" in text
        assert "about to divide" in text

    def test_a_failure_is_recorded(self, backend: Backend, project: Project) -> None:
        """The run is FAILED in the project, and each node's outcome can be read."""
        with pytest.raises(NodeFailed):
            launch(fail_on_rank_1, nodes=2, backend=backend, name="failing")
        run = find_run(project, "failing")
        assert run.record().state is RunState.FAILED
        chief, worker = run.outcomes()
        assert worker.state is NodeState.FAILED
        assert chief.state in (NodeState.FINISHED, NodeState.KILLED)  # as it was done in time or not

    def test_exit_with_a_code_is_a_failure(self, backend: Backend) -> None:
        """A function that calls sys.exit(3) has failed."""
        with pytest.raises(NodeFailed, match=r"sys\.exit\(3\)"):
            launch(quit_with_code_3, backend=backend)

    def test_exit_with_code_0_is_a_return(self, backend: Backend) -> None:
        """A function that calls sys.exit(0) has returned None."""
        assert launch(quit_with_code_0, backend=backend).value is None

    def test_a_value_that_cannot_be_pickled_is_told(self, backend: Backend) -> None:
        """The error says that it is the return value."""
        with pytest.raises(NodeFailed, match=r"return value \(a _thread\.lock\) cannot be pickled"):
            launch(return_a_lock, backend=backend)

    def test_the_environment_of_the_driver_is_left_alone(self, backend: Backend) -> None:
        """Nothing of a node stays in the driver's environment."""
        before = dict(os.environ)
        launch(pid, backend=backend)
        assert dict(os.environ) == before

    def test_nodes_know_their_roles_and_each_other(self, backend: Backend) -> None:
        """Each node has the addresses of all by role; TensorFlow is told of those that train."""
        result = launch(know_the_cluster, nodes=2, evaluator=True, backend=backend)
        chief, evaluator = result.values
        assert (chief["role"], evaluator["role"]) == (("chief", 0, 1), ("evaluator", 0, 1))
        assert chief["cluster"] == evaluator["cluster"]
        assert {role: len(places) for role, places in chief["cluster"].items()} == {
            "chief": 1,
            "evaluator": 1,
        }
        assert chief["tf_config"]["cluster"] == {"chief": chief["cluster"]["chief"]}
        assert evaluator["tf_config"]["task"] == {"type": "evaluator", "index": 0}

    def test_an_evaluator_sees_when_the_training_is_done(self, backend: Backend) -> None:
        """It may end by itself then, and its value counts."""
        result = launch(evaluate_until_the_training_is_done, nodes=2, evaluator=True, backend=backend)
        assert result.values == ("trained", "evaluated")

    def test_a_failed_run_is_started_again_and_finds_its_checkpoint(
        self, backend: Backend, project: Project
    ) -> None:
        """With `max_restarts` the function is called again, and what it had saved is there."""
        result = launch(fail_until_there_is_a_checkpoint, backend=backend, max_restarts=2)
        assert result.value == (1, "step 7")
        run = RunReader(project, result.run_id)
        assert (run.record().state, run.record().attempts) == (RunState.FINISHED, 2)
        assert "ValueError: no luck at first" in run.record().restarts[0]
        lines = list(run.log())
        assert lines.index("attempt 0 says something") < lines.index("attempt 1 says something")
        (outcome,) = run.outcomes()
        assert (outcome.state, outcome.attempt) == (NodeState.FINISHED, 1)

    def test_a_node_can_have_its_port_for_itself(self, backend: Backend) -> None:
        """A server that does not share may listen at the port after its release."""
        assert launch(take_its_port_alone, backend=backend).value == "listened"


class ProcessContract(BackendContract):
    """What holds besides where user code runs in supervised child processes."""

    def test_user_code_runs_in_a_process_of_its_own(self, backend: Backend) -> None:
        """The function does not run in the driver."""
        assert launch(pid, backend=backend).value != os.getpid()

    def test_a_kill_is_told_in_words_with_the_last_output(self, backend: Backend) -> None:
        """A process that dies by a signal fails with the signal's name and what it said last."""
        words = r"killed by signal 9 \(SIGKILL\), often the out-of-memory"
        with pytest.raises(NodeFailed, match=words) as caught:
            launch(kill_itself, backend=backend)
        assert "last words" in caught.value.tail

    def test_leaving_with_code_0_before_the_end_is_a_failure(self, backend: Backend) -> None:
        """Only a function that returned has succeeded."""
        with pytest.raises(NodeFailed, match="before the function returned"):
            launch(vanish_with_code_0, backend=backend)

    def test_the_first_failure_ends_the_other_nodes(self, backend: Backend, project: Project) -> None:
        """Nobody waits for nodes that wait for one that is no more."""
        with pytest.raises(NodeFailed, match=r"node 1 \(worker\).*ValueError: no luck"):
            launch(fail_while_the_chief_waits, nodes=2, backend=backend, name="unlucky")
        chief, worker = find_run(project, "unlucky").outcomes()
        assert (chief.state, chief.message) == (NodeState.KILLED, "it was stopped: node 1 failed")
        assert worker.state is NodeState.FAILED
        assert chief.ended - worker.ended < 5

    def test_a_parameter_server_is_ended_in_peace_when_the_chief_has_returned(
        self, backend: Backend, project: Project
    ) -> None:
        """The run is done when the chief is; what then ends the others is no failure."""
        result = launch(serve_for_ever, nodes=2, ps=1, backend=backend)
        chief, ps = result.values
        assert ps is None
        assert list(chief["tf_config"]["cluster"]) == ["chief", "ps"]
        _, outcome = RunReader(project, result.run_id).outcomes()
        assert (outcome.state, outcome.message) == (
            NodeState.FINISHED,
            "it was ended when the training was done",
        )

    def test_output_appears_at_the_driver_after_the_name_of_its_node(
        self, backend: Backend, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """With `stream_logs` a user need not look for the log."""
        launch(speak, backend=backend, stream_logs=True)
        shown = capsys.readouterr().out.splitlines()
        assert "[chief 0] to stdout, ünïcode" in shown
        assert "[chief 0] to stderr" in shown

    def test_a_wait_may_end_before_the_run_which_goes_on_until_it_is_stopped(
        self, backend: Backend, project: Project
    ) -> None:
        """`wait` has a timeout of its own; a stop ends all nodes and is told as such."""
        cluster = Cluster(wait_for_ever, nodes=2, backend=backend).start()
        with pytest.raises(StillRunning, match=r"is still running after 0\.1 s"):
            cluster.wait(0.1)
        wait_until(lambda: project.exists("waiting-0") and project.exists("waiting-1"), "both nodes run", 60)
        assert [status.phase for status in cluster.nodes()] == [Phase.RUNNING, Phase.RUNNING]
        cluster.stop("enough")
        with pytest.raises(RunStopped, match="was stopped: enough"):
            cluster.wait()
        run = RunReader(project, cluster.run_id)
        assert (run.record().state, run.record().error) == (RunState.KILLED, "enough")
        assert [(outcome.state, outcome.message) for outcome in run.outcomes()] == [
            (NodeState.KILLED, "it was stopped: enough")
        ] * 2

    def test_a_run_in_which_nothing_happens_is_ended(self, backend: Backend, project: Project) -> None:
        """With `timeout` a run that hangs does not hang for ever."""
        with pytest.raises(NoProgress, match=r"no node printed or reported anything for 0\.6 s"):
            launch(wait_for_ever, backend=backend, timeout=0.6, name="hanging")
        run = find_run(project, "hanging")
        assert run.record().state is RunState.FAILED
        (outcome,) = run.outcomes()
        assert outcome.state is NodeState.KILLED
