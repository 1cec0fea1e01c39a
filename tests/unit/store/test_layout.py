from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.errors import InvalidName
from hopyard.store import Layout, RunPaths, trial_name
from hopyard.store.layout import logfile_attempt, rank_and_attempt
from hopyard.store.names import check_name

pytestmark = pytest.mark.unit


def test_run_folders_lie_where_the_old_library_had_them() -> None:
    run = Layout().run("application_1_2", "grid_search", 3)
    assert run.folder == "Logs/TensorFlow/application_1_2/grid_search/run.3"
    assert run.inner("generation.2").folder.endswith("/run.3/generation.2")
    assert run.inner(trial_name({"a": 1, "b": 2})).folder.endswith("/run.3/a=1.b=2")


def test_folders_of_a_project_have_their_old_names() -> None:
    layout = Layout()
    assert (layout.resources, layout.notebooks, layout.models) == ("Resources", "Jupyter", "Models")
    assert layout.model("mnist", 2) == "Models/mnist/2"
    assert layout.application("app").startswith(f"{layout.logs}/")
    assert layout.kind("app", "launcher") == "Logs/TensorFlow/app/launcher"


@pytest.mark.parametrize("app_id", ["", "..", "a/b"])
def test_application_id_that_is_no_name_is_refused(app_id: str) -> None:
    with pytest.raises(InvalidName):
        Layout().run(app_id, "launcher", 1)


def test_files_of_ranks_and_attempts_are_apart() -> None:
    run = RunPaths("run.1")
    assert len({run.node_logdir(rank) for rank in range(12)}) == 12
    for path in (run.node_metrics, run.node_logs, run.node_logfile, run.outcome):
        assert len({path(rank, attempt) for rank in range(12) for attempt in range(12)}) == 144


def test_files_of_the_first_attempt_have_no_suffix() -> None:
    run = RunPaths("run.1")
    assert (run.node_logs(2), run.node_logs(2, 1)) == ("run.1/logs/2", "run.1/logs/2.1")
    assert (run.node_metrics(2), run.node_metrics(2, 1)) == ("run.1/metrics/2", "run.1/metrics/2.1")
    assert (run.outcome(2), run.outcome(2, 1)) == ("run.1/nodes/2.json", "run.1/nodes/2.1.json")
    assert (run.node_logfile(0), run.node_logfile(0, 1)) == ("run.1/logfile", "run.1/logfile.1")
    assert run.node_logfile(2, 10) == "run.1/node.2/logfile.10"


@pytest.mark.parametrize(("rank", "attempt"), [(0, 0), (0, 1), (12, 0), (12, 34)])
def test_names_tell_rank_and_attempt(rank: int, attempt: int) -> None:
    run = RunPaths("run.1")
    for path in (run.node_metrics, run.node_logs, run.outcome):
        assert rank_and_attempt(path(rank, attempt).rpartition("/")[2]) == (rank, attempt)
    assert logfile_attempt(run.node_logfile(rank, attempt).rpartition("/")[2]) == attempt


@pytest.mark.parametrize("name", ["", "x", "1.x", "01", "1.0", "1.01", "1.", ".1", "1.1.1", "-1", "1 "])
def test_other_names_are_nobodys(name: str) -> None:
    assert rank_and_attempt(name) is None


@pytest.mark.parametrize(
    "name", ["", "log", "logfiles", "logfile.0", "logfile.01", "logfile.1.user", "logfile."]
)
def test_other_names_are_no_logfile(name: str) -> None:
    assert logfile_attempt(name) is None


def test_attempts_share_their_checkpoints_and_the_user_may_write_there() -> None:
    run = RunPaths("run.1")
    assert run.checkpoints == "run.1/checkpoints"
    assert not any(fnmatchcase("checkpoints", pattern) for pattern in run.reserved_names)


def test_files_of_the_first_rank_go_into_the_run_folder_itself() -> None:
    run = RunPaths("Logs/run.1")
    assert run.node_logdir(0) == run.folder
    assert run.node_logdir(2) == f"{run.folder}/node.2"


def test_every_path_of_a_run_folder_is_reserved() -> None:
    run = RunPaths("run.1")
    ours = [run.record, run.study, run.node_logfile(0), run.metric, run.node_metrics(0), run.node_logs(3)]
    ours += [run.outcome(11, 1), run.node_logdir(1), run.node_logdir(12), run.node_logfile(0, 2)]
    for path in ours:
        first = path.split("/")[1]
        assert any(fnmatchcase(first, pattern) for pattern in run.reserved_names), first


class TestTrialName:
    def test_reads_as_the_hyper_parameters_in_their_order(self) -> None:
        assert trial_name({"learning_rate": 0.001, "dropout": 0.45}) == "learning_rate=0.001.dropout=0.45"
        assert trial_name({"b": -1, "a": 1e-05, "c": True}) == "b=-1.a=1e-05.c=True"

    def test_unusual_or_long_values_appear_as_a_hash(self) -> None:
        for value in ("a/b", "", "x" * 100, (1, 2), "a=b", "ü", "..", "a:b", "\ud800"):
            assert trial_name({"a": value}).startswith("a=sha-")

    def test_no_parameters_have_a_name_too(self) -> None:
        assert trial_name({}) == "default"

    def test_keys_with_dots_do_not_make_two_trials_one(self) -> None:
        assert trial_name({"a": "1", "x.b": 2}) != trial_name({"a": "1.x", "b": 2})

    @settings(deadline=None, max_examples=60)
    @given(st.dictionaries(st.text(), st.one_of(st.text(), st.floats(), st.integers()), max_size=30))
    def test_is_always_a_valid_name(self, params: dict[str, object]) -> None:
        assert check_name(trial_name(params))

    @settings(deadline=None, max_examples=60)
    @given(*[st.dictionaries(st.sampled_from("abc.="), st.sampled_from(["1", "1.a", "1.b=2", "2"]))] * 2)
    def test_different_parameters_have_different_names(
        self, one: dict[str, str], other: dict[str, str]
    ) -> None:
        assert (trial_name(one) == trial_name(other)) == (list(one.items()) == list(other.items()))
