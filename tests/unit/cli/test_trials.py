from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from typer.testing import CliRunner, Result

from hopyard import launch
from hopyard.cli.main import build_app
from hopyard.search.api import grid_search
from hopyard.search.study.study import Study
from hopyard.store import Project
from hopyard.tracking import RunWriter, run_paths

pytestmark = pytest.mark.unit
Command = Callable[..., Result]


def train(x: float, barrel: str) -> float:
    print(f"{barrel} barrel, x={x}")
    if x == 0.5:
        raise ValueError("the grapes are sour\nand green")
    return -x


def nothing() -> None:
    pass


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of four trials, of which number 2 failed and number 3 is the best."""
    project = Project.open(str(tmp_path_factory.mktemp("root")), "vineyard")
    space = {"x": [3.25, 2.0, 0.5, 1.0], "barrel": "oak"}
    return grid_search(train, space, name="pinot", backend="processes", parallel=1, project=project)


@pytest.fixture
def command(study: Study) -> Command:
    """Calls ``hopyard`` on the project of the study."""
    root = study.logdir.partition("/Projects/")[0]

    def call(*arguments: str) -> Result:
        options = ["--root", root, "--project", "vineyard"]
        return CliRunner().invoke(build_app(), [*options, *arguments], prog_name="hopyard")

    return call


def numbers(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line.split()[0] for line in result.stdout.splitlines()[1:]]


@pytest.mark.parametrize("text", ["last", "pinot", "grid_search/run.1"])
def test_a_study_is_found_by_any_of_its_names(command: Command, text: str) -> None:
    assert numbers(command("trials", text)) == ["0", "1", "2", "3"]


def test_trials_are_listed_without_optuna_and_spark(study: Study) -> None:
    root = study.logdir.partition("/Projects/")[0]
    program = (
        "import sys\n"
        "from hopyard.cli.main import build_app\n"
        f"build_app()(['--root', {root!r}, '--project', 'vineyard', 'trials'], standalone_mode=False)\n"
        "print(sorted({'optuna', 'pyspark', 'pandas', 'numpy', 'pyarrow'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
    assert len(done.stdout.splitlines()) == 6


@pytest.fixture
def starting(study: Study, tmp_path: Path) -> Callable[..., Result]:
    """Calls ``hopyard trials`` on a study that has its record and no journal yet."""
    project = Project.open(str(tmp_path), "vineyard")
    run = RunWriter.begin(project, app_id="app", kind="search", name="new", nodes=1, backend="processes")
    project.put(run_paths(project, run.id).study, Path(study.logdir, "study.json").read_bytes())

    def call(*arguments: str) -> Result:
        options = ["--root", str(tmp_path), "--project", "vineyard", "trials", "new"]
        return CliRunner().invoke(build_app(), [*options, *arguments], prog_name="hopyard")

    return call


def test_a_study_that_is_just_starting_has_no_trials_yet(starting: Callable[..., Result]) -> None:
    result = starting()
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Study app/search/run.1 has no trials yet.\n"
    assert (starting("--json").exit_code, starting("--json").stdout) == (0, "[]\n")
    assert starting("--csv").stdout == "number,state,metric,seconds,folder,error\n"


def test_a_trial_shows_value_parameters_and_error(command: Command) -> None:
    headings, first, _, failed, _ = command("trials").stdout.splitlines()
    assert headings.split() == ["TRIAL", "STATE", "metric", "PARAMETERS", "DURATION", "ERROR"]
    assert first.startswith("0      FINISHED  -3.25   x=3.25 barrel=oak  ")
    assert failed.startswith("2      FAILED            x=0.5 barrel=oak  ")
    assert failed.endswith("the grapes are sour")


def test_the_best_comes_first_where_they_are_sorted_by_value(command: Command) -> None:
    assert numbers(command("trials", "--sort", "value")) == ["3", "1", "0", "2"]


def test_only_failed_ones_can_be_listed(command: Command) -> None:
    assert numbers(command("trials", "--failed")) == ["2"]


def test_a_limit_cuts_the_list_and_says_so(command: Command) -> None:
    result = command("trials", "-n", "3")
    assert numbers(result) == ["0", "1", "2"]
    assert "There are 1 more: --limit 4 shows all." in result.stderr


def test_csv_has_a_column_for_each_parameter(command: Command) -> None:
    headings, *rows = csv.reader(command("trials", "--csv").stdout.splitlines())
    assert headings == ["number", "state", "metric", "x", "barrel", "seconds", "folder", "error"]
    assert rows[0][:5] == ["0", "FINISHED", "-3.25", "3.25", "oak"]
    assert rows[0][6] == "x=3.25.barrel=oak"
    assert (rows[2][2], rows[2][7]) == ("", "ValueError: the grapes are sour")


def test_optuna_reads_the_journal_that_is_written(command: Command, study: Study, tmp_path: Path) -> None:
    file = tmp_path / "pinot.log"
    result = command("trials", "--journal", str(file))
    assert result.stdout == f"{file}: for optuna-dashboard {file}\n"
    assert f"{study.logdir}/study.log is the same" in result.stderr
    loaded = optuna.load_study(study_name=None, storage=JournalStorage(JournalFileBackend(str(file))))
    assert [trial.params["x"] for trial in loaded.trials] == [3.25, 2.0, 0.5, 1.0]
    assert loaded.best_trial.number == 3


def test_the_log_of_a_trial_is_found_by_its_number(command: Command) -> None:
    assert command("logs", "pinot", "--trial", "1").stdout == "oak barrel, x=2.0\n"


@pytest.mark.parametrize("text", ["last", "pinot", "grid_search/run.1"])
def test_the_log_of_a_trial_is_found_by_its_folder(command: Command, text: str) -> None:
    assert command("logs", f"{text}/x=1.0.barrel=oak").stdout == "oak barrel, x=1.0\n"


def test_the_log_of_a_trial_can_be_followed_to_its_end(command: Command, study: Study) -> None:
    result = command("logs", f"{study.run_id}/x=0.5.barrel=oak", "-f")
    assert result.stdout.startswith("oak barrel, x=0.5\nTraceback")
    assert result.stderr == f"Run {study.run_id}/x=0.5.barrel=oak is FAILED.\n"


def test_a_trial_that_there_is_none_of_is_refused(command: Command) -> None:
    result = command("logs", "pinot", "--trial", "4")
    assert result.exit_code == 2
    assert "has 4 trials, from 0." in result.stderr
    assert command("logs", "pinot/x=7").exit_code == 1


def test_the_last_study_is_meant_though_something_else_was_run_since(tmp_path: Path) -> None:
    project = Project.open(str(tmp_path), "vineyard")
    grid_search(train, {"x": [1.0], "barrel": "oak"}, backend="processes", project=project)
    launch(nothing, name="plain", backend="inline", project=project)
    options = ["--root", str(tmp_path), "--project", "vineyard"]
    assert numbers(CliRunner().invoke(build_app(), [*options, "trials"])) == ["0"]
    plain = CliRunner().invoke(build_app(), [*options, "trials", "plain"])
    assert plain.exit_code == 2
    assert "is not a study" in plain.stderr


def test_a_project_without_studies_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(build_app(), ["--root", str(tmp_path), "trials"])
    assert result.exit_code == 2
    assert "there are no studies yet" in result.stderr
