"""The demo as a user runs it, and what can be done with its run afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from ..unit.view.program_screen import watch_program  # noqa: TID252  tests are no package

pytestmark = [pytest.mark.spark, pytest.mark.tensorflow, pytest.mark.timeout(400)]
EPOCHS = 8
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A demo that has run."""

    environment: Mapping[str, str]
    output: str
    errors: str
    code: int

    @property
    def folder(self) -> Path:
        match = re.search(r"^Run folder +(.+)$", self.output, re.MULTILINE)
        assert match is not None, self.output
        return Path(match[1])

    @property
    def run_id(self) -> str:
        return "/".join(self.folder.parts[-3:])

    def hopyard(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "hopyard", *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def said(self, *arguments: str) -> str:
        with self.hopyard(*arguments) as process:
            output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        return output


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    environment = {
        **os.environ,
        "HOPYARD_ROOT": str(tmp_path_factory.mktemp("root")),
        "HOPYARD_PROJECT": "demo",
    }
    done = subprocess.run(
        [sys.executable, "-m", "hopyard", "demo", "--epochs", str(EPOCHS)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return Demo(environment=environment, output=done.stdout, errors=done.stderr, code=done.returncode)


def test_the_demo_learns_the_digits(demo: Demo) -> None:
    assert demo.code == 0, demo.errors
    match = re.search(r"^Accuracy on unseen digits: (0\.\d+)$", demo.output, re.MULTILINE)
    assert match is not None, demo.output
    assert float(match[1]) > 0.9


def test_the_terminal_stays_free_of_noise(demo: Demo) -> None:
    assert demo.errors == ""


def test_every_epoch_is_shown_once(demo: Demo) -> None:
    shown = re.findall(rf"^epoch (\d+)/{EPOCHS} accuracy 0\.\d+ loss ", demo.output, re.MULTILINE)
    assert shown == [str(number) for number in range(1, EPOCHS + 1)]


def test_it_ends_with_the_commands_that_lead_on(demo: Demo) -> None:
    log, board, runs = demo.output.splitlines()[-3:]
    assert log.endswith(f"python -m hopyard logs {demo.run_id}")
    assert board.endswith(f"python -m hopyard tensorboard {demo.run_id}")
    assert runs.endswith("python -m hopyard runs")


def test_the_run_folder_holds_events_and_a_model_that_can_be_loaded(demo: Demo) -> None:
    assert list(demo.folder.glob("train/events.out.tfevents.*"))
    assert list(demo.folder.glob("validation/events.out.tfevents.*"))
    code = f"import keras; print(keras.saving.load_model({str(demo.folder / 'model.keras')!r}).output_shape)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "KERAS_BACKEND": "tensorflow"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "(None, 10)\n"


def test_its_log_has_what_keras_printed(demo: Demo) -> None:
    log = demo.said("logs", "last")
    assert f"Epoch {EPOCHS}/{EPOCHS}" in log
    assert log == demo.said("logs", "demo", "-f")


def test_it_is_in_the_list_of_runs(demo: Demo) -> None:
    _, row = demo.said("runs").splitlines()
    assert row.startswith(f"{demo.run_id}  demo  FINISHED  1 ")
    assert re.search(r"accuracy=0\.9\d* loss=", row)


def test_tensorboard_shows_it_until_ctrl_c(demo: Demo) -> None:
    with demo.hopyard("tensorboard", "last") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"TensorBoard of {demo.folder}\n"
        url = process.stdout.readline().split()[0]
        with urllib.request.urlopen(f"{url}data/runs", timeout=60) as answer:
            assert answer.read() == b'["train", "validation"]'
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")


@pytest.mark.parametrize(("size", "backend", "epochs"), [((80, 24), "spark", 3), ((200, 50), "processes", 3)])
def test_on_a_terminal_the_epochs_are_above_a_bar_that_moves(
    size: tuple[int, int], backend: str, epochs: int, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "hopyard", "demo", "--epochs", str(epochs), "--backend", backend]
    environment = {**os.environ, "HOPYARD_ROOT": str(tmp_path), "HOPYARD_PROJECT": "demo"}
    seen = watch_program(command, columns=size[0], rows=size[1], environment=environment, timeout=300)
    assert seen.code == 0, "\n".join(seen.end)
    seen.check_no_line_twice()
    assert all(sum("━" in line for line in moment) <= 1 for moment in seen.moments)
    counts = [line.split("/")[0].split()[-1] for line in seen.bars()]
    assert counts == sorted(counts)
    assert counts[0] == "0"
    assert len(set(counts)) > 1
    first = next(number for number, line in enumerate(seen.end) if line.startswith("Starting"))
    assert all(line.startswith("Spark ") for line in seen.end[:first])
    shown = seen.end[first + 1 : first + 1 + epochs]
    assert [line.split()[1] for line in shown] == [f"{n}/{epochs}" for n in range(1, epochs + 1)]
    assert seen.end[first + 1 + epochs].startswith("Accuracy on unseen digits: 0.")
    assert seen.end[first + 2 + epochs].startswith("Run folder")
    assert seen.end[-1].startswith("All runs")


def test_the_first_example_runs_as_a_script(hopyard_root: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "first_run.py")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    match = re.fullmatch(r"loss (\S+), kept in (.+)\n", done.stdout)
    assert match is not None, done.stdout
    assert float(match[1]) < 1e-6
    assert Path(match[2], "run.json").is_relative_to(hopyard_root)
