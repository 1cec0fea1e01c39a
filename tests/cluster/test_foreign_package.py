"""PyPI's `hops` and `tensorflowonspark` beside our facades, in real venvs with the real pip.

The packages of PyPI are stand-ins with the same names of distributions and files; nothing is downloaded.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import hopyard
from hopyard.foreign_package import FACADES

pytestmark = pytest.mark.cluster

ROOT = Path(__file__).resolve().parents[2]
FOREIGN = {
    "hops": ("3.8.0.0", ["__init__", "experiment", "hdfs", "tensorboard", "util", "kafka"]),
    "tensorflowonspark": ("2.2.5", ["__init__", "TFCluster", "TFNode", "util", "pipeline"]),
}
BOTH_INSTALLED = "are both installed and overwrite each other's files"
MISSING = "are missing: uninstalling PyPI's"


def stand_in(name: str, folder: Path) -> None:
    """Writes a wheel with the names of PyPI's package."""
    version, modules = FOREIGN[name]
    info = f"{name}-{version}.dist-info"
    files = {f"{name}/{module}.py": "WHOSE = 'PyPI'\n" for module in modules}
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{info}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = (
        "".join(record(path, text) for path, text in files.items()) + f"{info}/RECORD,,\n"
    )
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)


def record(path: str, text: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(text)}\n"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our facades and what PyPI has under their names."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in FACADES:
        stand_in(name, folder)
        subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=ROOT / "facades" / name,
            check=True,
            capture_output=True,
        )
    return folder


class Machine:
    """A venv whose pip knows only the folder of wheels, and whose Python finds this `hopyard`."""

    def __init__(self, folder: Path, wheels: Path) -> None:
        venv.create(folder)
        self.bin = folder / "bin"
        pip = self.bin / "pip"  # the pip of the tests, which saves installing another
        pip.write_text(f'#!/bin/sh\nexec {sys.executable} -m pip --python {self.bin}/python "$@"\n')
        pip.chmod(0o755)
        self.pip_settings = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(wheels),
        }

    def shell(self, command: str) -> None:
        ended = subprocess.run(
            command, shell=True, env=self.pip_settings, capture_output=True, text=True, check=False
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr

    def install(self, *distributions: str) -> None:
        self.shell("pip install --no-deps " + " ".join(distributions))

    def python(self, program: str, *, hopyard_is_there: bool = True) -> str:
        """Returns the last line that a program printed, or died with."""
        ended = subprocess.run(
            [str(self.bin / "python"), "-c", program],
            env={"PYTHONPATH": str(Path(hopyard.__file__).parents[1])} if hopyard_is_there else {},
            capture_output=True,
            text=True,
            check=False,
        )
        return (ended.stderr or ended.stdout).strip().splitlines()[-1]

    def imported(self, name: str) -> str:
        return self.python(
            f"import {name}; print('ours' if getattr({name}, '__hopyard__', False) else {name}.WHOSE)"
        )

    def state(self, name: str) -> str:
        return self.python(
            f"import sys; from hopyard.foreign_package import state_of; print(state_of({name!r}, sys.path).value)"
        )

    def follow(self, text: str) -> None:
        """Does what an error says is to be run."""
        self.shell(text.partition("Run: ")[2])


@pytest.fixture
def machine(tmp_path: Path, wheels: Path) -> Machine:
    return Machine(tmp_path / "venv", wheels)


def is_well(machine: Machine, name: str) -> bool:
    """Tells whether the facade is whole and nothing of the other is left."""
    left = [path for path in machine.bin.parent.rglob(f"{name}/*.py") if "PyPI" in path.read_text()[:20]]
    return (machine.imported(name), machine.state(name), left) == ("ours", "ours", [])


@pytest.mark.parametrize("name", FACADES)
@pytest.mark.parametrize("ours_last", [True, False])
def test_both_packages_in_either_order_say_the_command_that_puts_it_right(machine, name, ours_last):
    machine.install("hopyard-tensorflowonspark")  # which hopyard-hops asks for
    for distribution in (name, f"hopyard-{name}") if ours_last else (f"hopyard-{name}", name):
        machine.install(distribution, "--force-reinstall")
    said = machine.imported(name)
    assert BOTH_INSTALLED in said
    assert machine.state(name) == "both"
    machine.follow(said)
    assert is_well(machine, name)


def test_what_is_left_when_the_foreign_package_is_uninstalled_says_the_command(machine):
    machine.install(*FACADES)
    machine.install(*[f"hopyard-{name}" for name in FACADES])
    machine.shell("pip uninstall -y " + " ".join(FACADES))
    for name in FACADES:
        said = machine.imported(name)
        assert MISSING in said
        assert machine.state(name) == "damaged"
        machine.follow(said)
        assert is_well(machine, name)


def test_foreign_package_alone_is_no_conflict(machine):
    machine.install(*FACADES)
    assert [(machine.imported(name), machine.state(name)) for name in FACADES] == [("PyPI", "foreign")] * 2


def test_facade_that_is_overwritten_without_hopyard_is_left_alone(machine):
    machine.install("hopyard-tensorflowonspark")
    machine.install("tensorflowonspark")
    program = "import tensorflowonspark; print(tensorflowonspark.WHOSE)"
    assert machine.python(program, hopyard_is_there=False) == "PyPI"
