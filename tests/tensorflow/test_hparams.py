"""The HPARAMS tab of a real TensorBoard compares the trials of a study."""

from __future__ import annotations

import json
import math
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hopyard.store import Project
from hopyard.tensorboard import TensorBoardServer
from hopyard.tensorboard.hparams import EventFile, Interval, StudyEvents
from hopyard.testing.watching import wait_until

pytestmark = pytest.mark.tensorflow  # TensorBoard loads TensorFlow where there is one

Events = Callable[[Iterable[float]], bytes]
Scalars = Callable[[str, str, int], list[float]]
STUDY = StudyEvents(
    params={"lr": Interval(low=0.001, high=0.1), "units": [16, 32], "dropout": [None, 0.5]},
    metrics=["loss", "accuracy"],
)
BEST, FAILED, RUNNING = "generation.0/best", "generation.0/failed", "generation.1/running"
ALL = ["STATUS_UNKNOWN", "STATUS_SUCCESS", "STATUS_FAILURE", "STATUS_RUNNING"]


def store(folder: Path, events: EventFile) -> None:
    """Puts a file in place as a project does: whole, and instead of the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "new").write_bytes(events.data)
    (folder / "new").replace(folder / events.name)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study")
    store(folder, STUDY.columns(created=100.0))
    best = STUDY.begin(params={"lr": 0.01, "units": 32, "dropout": 0.5}, started=101.0)
    store(folder / BEST, best.end({"loss": 0.5, "accuracy": 0.75}, ok=True, ended=102.0))
    failed = STUDY.begin(params={"lr": 0.1, "units": 16, "dropout": None}, started=101.0)
    store(folder / FAILED, failed.end({"loss": math.nan}, ok=False, ended=103.0))
    running = STUDY.begin(params={"lr": 0.02, "units": 16, "dropout": None}, started=104.0, name="running")
    store(folder / RUNNING, running)
    return folder


@pytest.fixture(scope="module")
def server(study: Path, events: Events) -> Iterator[TensorBoardServer]:
    # What a training function writes into the folder of its trial: a curve with the name of a metric.
    (study / BEST / "events.out.tfevents.0000000101.host.1.0").write_bytes(events([3.0, 2.0, 1.0]))
    with TensorBoardServer(str(study), refresh_seconds=0.2) as server:
        yield server


def ask(server: TensorBoardServer, route: str, **question: object) -> Any:
    """Returns what the plugin answers to TensorBoard's own page."""
    request = urllib.request.Request(
        f"{server.url}data/plugin/hparams/{route}",
        data=json.dumps(question).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        return json.load(answer)


def rows(server: TensorBoardServer, *columns: dict[str, object]) -> list[Any]:
    """Returns the rows of the table, once all are there."""
    question = {"allowedStatuses": ALL, "colParams": columns, "startIndex": 0, "sliceSize": 100}
    answers: list[list[Any]] = []

    def all_are_there() -> bool:
        answers.append(ask(server, "session_groups", **question).get("sessionGroups", []))
        return len(answers[-1]) == 3

    wait_until(all_are_there, "TensorBoard shows three trials", 30)
    return answers[-1]


def metrics(row: Any) -> dict[str, float]:
    return {metric["name"]["tag"]: metric["value"] for metric in row["metricValues"]}


def test_each_trial_is_a_row_with_its_parameters(server: TensorBoardServer) -> None:
    assert {row["name"]: row["hparams"] for row in rows(server)} == {
        BEST: {"lr": 0.01, "units": 32, "dropout": "0.5"},
        FAILED: {"lr": 0.1, "units": 16, "dropout": "None"},
        "running": {"lr": 0.02, "units": 16, "dropout": "None"},
    }


def test_rows_have_the_final_values(server: TensorBoardServer) -> None:
    assert {row["name"]: metrics(row) for row in rows(server)} == {
        BEST: {"final/loss": 0.5, "final/accuracy": 0.75},
        FAILED: {},
        "running": {},
    }


def test_rows_tell_how_trials_ended(server: TensorBoardServer) -> None:
    sessions = [row["sessions"][0] for row in rows(server)]
    assert {session["name"]: session["status"] for session in sessions} == {
        BEST: "STATUS_SUCCESS",
        FAILED: "STATUS_FAILURE",
        RUNNING: "STATUS_UNKNOWN",
    }
    assert {session["name"]: (session["startTimeSecs"], session["endTimeSecs"]) for session in sessions} == {
        BEST: (101.0, 102.0),
        FAILED: (101.0, 103.0),
        RUNNING: (104.0, 0.0),
    }


def test_columns_are_those_of_the_study(server: TensorBoardServer) -> None:
    rows(server)
    experiment = ask(server, "experiment")
    assert {column["name"] for column in experiment["hparamInfos"]} == {"lr", "units", "dropout"}
    assert [metric["displayName"] for metric in experiment["metricInfos"]] == ["loss", "accuracy"]


@pytest.mark.parametrize(
    "column", [{"hparam": "lr"}, {"hparam": "dropout"}, {"metric": {"tag": "final/loss"}}], ids=str
)
def test_every_column_can_be_sorted_by(server: TensorBoardServer, column: dict[str, object]) -> None:
    assert rows(server, {**column, "order": "ORDER_DESC"})


def test_a_curve_that_the_function_wrote_stays_whole(server: TensorBoardServer, scalars: Scalars) -> None:
    assert scalars(server.url, BEST, 3) == [3.0, 2.0, 1.0]


def test_a_trial_that_ends_while_it_is_watched_gets_its_values(
    tmp_path: Path, events: Events, scalars: Scalars
) -> None:
    project = Project.open(str(tmp_path), "p")  # a project replaces files that grow
    trial = STUDY.begin(params={"lr": 0.01}, started=101.0)
    project.put(f"study/1/{trial.name}", trial.data)
    project.put("study/1/events.out.tfevents.0000000102.host.1.0", events([1.0]))
    with TensorBoardServer(project.url("study"), refresh_seconds=0.2) as server:
        scalars(server.url, "1", 1)
        project.put(f"study/1/{trial.name}", trial.end({"loss": 0.5}, ok=True, ended=103.0).data)
        question = {"allowedStatuses": ["STATUS_SUCCESS"], "sliceSize": 10}
        wait_until(
            lambda: bool(ask(server, "session_groups", **question).get("sessionGroups")),
            "the trial has ended",
            30,
        )
