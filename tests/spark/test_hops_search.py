"""The searches that the documents of the Hops library print, run as printed."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hopyard.errors import NodeFailed, StudyFailed
from hopyard.search.study.study import Study
from hopyard.testing.watching import wait_until
from hopyard.tracking import TrialState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from hopyard.tensorboard import TensorBoardServer

pytestmark = pytest.mark.spark

TABLE = [
    {"learning_rate": 0.001, "dropout": 0.45},
    {"learning_rate": 0.001, "dropout": 0.7},
    {"learning_rate": 0.0005, "dropout": 0.45},
    {"learning_rate": 0.0005, "dropout": 0.7},
    {"learning_rate": 0.0001, "dropout": 0.45},
    {"learning_rate": 0.0001, "dropout": 0.7},
]


def training(learning_rate: float, dropout: float) -> float:
    from hops import hdfs, tensorboard

    hdfs.log(f"learning_rate={learning_rate} dropout={dropout}")
    Path(tensorboard.logdir(), "model.txt").write_text(f"{dropout}")
    return dropout - learning_rate


def training_with_events(learning_rate: float, dropout: float) -> float:
    from tensorboard.summary import Writer

    from hops import tensorboard

    writer = Writer(tensorboard.logdir())
    writer.add_scalar("loss", learning_rate, step=1)
    writer.close()
    return training(learning_rate, dropout)


def silent(learning_rate: float, dropout: float) -> None:
    from hops import hdfs

    hdfs.log(f"learning_rate={learning_rate} dropout={dropout}")


def fail_with_much(learning_rate: float, dropout: float) -> float:
    if dropout > 0.5:
        raise ValueError(f"dropped {dropout}")
    return learning_rate


def fail(learning_rate: float, dropout: float) -> float:
    raise ValueError("no such data")


@pytest.fixture(autouse=True)
def no_tensorboard(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server for each of these searches would take most of the time."""
    for module in ("launches", "searches"):
        monkeypatch.setattr(f"hops.{module}.has_tensorboard", lambda: False)


def runs_shown(server: TensorBoardServer, count: int) -> set[str]:
    """Returns the runs as TensorBoard's pages would get them, once it has loaded so many."""

    def look() -> bool:
        with urllib.request.urlopen(f"{server.url}data/plugin/scalars/tags", timeout=10) as answer:
            shown.update(run for run, tags in json.load(answer).items() if "loss" in tags)
        return len(shown) >= count

    shown: set[str] = set()
    wait_until(look, f"TensorBoard shows {count} runs", 60)
    return shown


def folder_name(row: dict[str, float]) -> str:
    return f"learning_rate={row['learning_rate']}.dropout={row['dropout']}"


def test_the_grid_of_the_documents_has_its_six_jobs_in_order_and_tensorboard_shows_them(
    spark: SparkSession,
) -> None:
    args_dict = {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]}

    from hops import experiment, tensorboard

    folder = experiment.grid_search(spark, training_with_events, args_dict, direction="max")

    assert f"/{spark.sparkContext.applicationId}/grid_search/run." in folder
    study = Study.load("last")
    assert [trial.params for trial in study.trials] == TABLE
    assert study.best_params == {"learning_rate": 0.0001, "dropout": 0.7}
    for row in TABLE:
        trial = Path(folder, folder_name(row))
        assert (
            f": learning_rate={row['learning_rate']} dropout={row['dropout']}\n"
            in (trial / "logfile").read_text()
        )
        assert float((trial / "metric").read_text()) == row["dropout"] - row["learning_rate"]
        assert (trial / "model.txt").read_text() == str(row["dropout"])
    with tensorboard.visualize(spark, folder) as server:
        assert runs_shown(server, len(TABLE)) == set(map(folder_name, TABLE))


def test_a_grid_made_beforehand_is_launched_row_by_row(spark: SparkSession) -> None:
    from hops import tflauncher, util

    args_dict = {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]}
    args_dict_grid = util.grid_params(args_dict)

    hdfs_path = tflauncher.launch(spark, silent, args_dict_grid)

    assert f"/{spark.sparkContext.applicationId}/launcher/run." in hdfs_path
    assert [trial.params for trial in Study.load("last").trials] == TABLE
    assert {path.parent.name for path in Path(hdfs_path).glob("*/logfile")} == set(map(folder_name, TABLE))


def test_lists_of_different_lengths_are_refused(spark: SparkSession) -> None:
    from hops import tflauncher

    with pytest.raises(ValueError, match="Length of each function argument list must be equal"):
        tflauncher.launch(spark, silent, {"learning_rate": [0.001, 0.0005, 0.0001], "dropout": [0.45, 0.7]})


def test_the_evolution_of_the_documents_stays_between_its_descending_bounds(spark: SparkSession) -> None:
    search_dict = {"learning_rate": [0.001, 0.0001], "dropout": [0.45, 0.7]}
    args_dict_grid = search_dict

    from hops import experiment

    folder = experiment.evolutionary_search(
        spark, training, args_dict_grid, direction="max", generations=2, popsize=4
    )

    trials = Study.load("last").trials
    assert len({trial.params["learning_rate"] for trial in trials}) > 1
    assert all(0.0001 <= trial.params["learning_rate"] <= 0.001 for trial in trials)
    assert all(0.45 <= trial.params["dropout"] <= 0.7 for trial in trials)
    generations = {path.name: len(list(path.iterdir())) for path in Path(folder).glob("generation.*")}
    assert generations == {"generation.0": 4, "generation.1": 4, "generation.2": 4}
    assert "/differential_evolution/run." in folder


def test_an_evolution_of_later_releases_returns_the_best_parameters(spark: SparkSession) -> None:
    from hops import experiment

    folder, best = experiment.evolutionary_search(
        training,
        {"learning_rate": [0.0001, 0.001], "dropout": [0.45, 0.7]},
        "min",
        1,
        4,
        cleanup_generations=True,
    )
    study = Study.load("last")
    assert best == study.best_params
    kept = {"generation.1", study.best_trial.folder.partition("/")[0]}
    assert {path.name for path in Path(folder).glob("generation.*")} == kept


def test_a_direction_of_later_releases_makes_the_result_a_tuple(spark: SparkSession) -> None:
    from hops import experiment
    from hops.experiment import Direction

    bounds = {"learning_rate": [0.0001, 0.001], "dropout": [0.45, 0.7]}
    folder, best, returned = experiment.random_search(training, bounds, direction=Direction.MAX, samples=2)
    assert Path(folder, "model.txt").read_text() == str(best["dropout"])
    assert returned == {"metric": best["dropout"] - best["learning_rate"], "log": f"{folder}/logfile"}


def test_a_launch_tells_of_a_combination_that_failed_when_all_have_ended(spark: SparkSession) -> None:
    from hops import experiment

    with pytest.raises(NodeFailed, match=r"dropped 0\.7"):
        experiment.launch(spark, fail_with_much, {"learning_rate": [1, 2, 3], "dropout": [0.1, 0.7, 0.2]})
    states = [trial.state for trial in Study.load("last").trials]
    assert states == [TrialState.FINISHED, TrialState.FAILED, TrialState.FINISHED]


def test_a_search_goes_on_without_a_trial_that_failed(spark: SparkSession) -> None:
    from hops import experiment

    folder = experiment.grid_search(spark, fail_with_much, {"learning_rate": [1, 2], "dropout": [0.1, 0.7]})
    assert Path(folder).is_dir()
    assert Study.load("last").best_params == {"learning_rate": 2, "dropout": 0.1}


def test_a_search_that_cannot_succeed_raises(spark: SparkSession) -> None:
    from hops import experiment

    with pytest.raises(NodeFailed, match="no such data"):
        experiment.grid_search(spark, fail, {"learning_rate": [1], "dropout": [0.1, 0.7]})
    with pytest.raises(StudyFailed, match="no such data"):
        experiment.grid_search(spark, fail, {"learning_rate": [1, 2, 3], "dropout": [0.1]})
