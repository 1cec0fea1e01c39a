"""`scripts/ensure_java.sh` on machines with a Java, without one, and with the wrong one."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.unit

TOOLS = ("sh", "sed", "env", "cp", "chmod")
UPDATE = "update -qq"
INSTALL_17 = "install -qq --no-install-recommends openjdk-17-jre-headless"
INSTALL_21 = "install -qq --no-install-recommends openjdk-21-jre-headless"


class Machine:
    """A PATH that holds nothing but a few tools and the stand-ins that a test puts there."""

    def __init__(self, folder: Path, script: Path) -> None:
        self.bin = folder / "bin"
        self.script = script
        self.log = folder / "apt.log"
        self.log.touch()
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or tool)
        self.program("id", "echo 0")

    def program(self, name: str, *lines: str) -> None:
        path = self.bin / name
        path.write_text("\n".join(("#!/bin/sh", *lines, "")))
        path.chmod(0o755)

    def java(self, version: str, name: str = "java") -> None:
        self.program(name, f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")

    def apt(self, *lines: str) -> None:
        self.program("apt-get", f'echo "$@" >> {self.log}', *lines)

    def run(self, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.script), *options],
            env={"PATH": str(self.bin), **variables},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )

    @property
    def apt_calls(self) -> list[str]:
        return self.log.read_text().splitlines()


@pytest.fixture
def machine(tmp_path: Path, root: Path) -> Machine:
    return Machine(tmp_path, root / "scripts" / "ensure_java.sh")


@pytest.mark.parametrize("version", ["17", "17.0.15", "21.0.1", "25-ea"])
def test_java_that_is_new_enough_is_taken_without_a_word(machine, version):
    machine.java(version)
    ended = machine.run()
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.22"])
def test_java_that_is_too_old_is_not_taken(machine, version):
    machine.java(version)
    ended = machine.run()
    assert ended.returncode == 1
    assert "Java 17 or newer" in ended.stderr


def test_without_apt_one_sentence_says_what_to_install(machine):
    ended = machine.run()
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "openjdk-17-jre-headless" in ended.stderr


def test_root_installs_with_apt(machine):
    machine.java("17.0.15", name="new-java")
    machine.apt(f'case "$*" in install*) cp {machine.bin}/new-java {machine.bin}/java;; esac')
    ended = machine.run()
    assert ended.returncode == 0, ended.stderr
    assert machine.apt_calls == [UPDATE, INSTALL_17]


def test_newer_package_is_tried_where_there_is_no_java_17(machine):
    machine.java("21.0.1", name="new-java")
    machine.apt(
        f'case "$*" in *openjdk-17*) exit 100;; install*) cp {machine.bin}/new-java {machine.bin}/java;; esac'
    )
    ended = machine.run()
    assert ended.returncode == 0, ended.stderr
    assert machine.apt_calls == [UPDATE, INSTALL_17, INSTALL_21]


def test_what_apt_says_is_shown_when_it_fails(machine):
    machine.apt("echo 'no network' >&2", "exit 100")
    ended = machine.run()
    assert ended.returncode == 1
    assert "no network" in ended.stderr
    assert "apt-get could not install it" in ended.stderr


def test_user_who_may_use_sudo_without_a_password_installs_through_it(machine):
    machine.program("id", "echo 1000")
    machine.apt()
    machine.program("sudo", "exit 0")
    ended = machine.run("--dry-run")
    assert ended.stdout.splitlines()[0] == "sudo -n apt-get update -qq"


def test_user_who_would_be_asked_for_a_password_gets_a_sentence(machine):
    machine.program("id", "echo 1000")
    machine.apt()
    machine.program("sudo", "exit 1")
    ended = machine.run()
    assert ended.returncode == 1
    assert "without a password" in ended.stderr
    assert machine.apt_calls == []


def test_dry_run_installs_nothing(machine):
    machine.apt()
    ended = machine.run("--dry-run")
    assert ended.returncode == 0
    assert "openjdk-17-jre-headless" in ended.stdout
    assert machine.apt_calls == []


def test_java_home_is_what_counts_where_it_is_set(machine, tmp_path):
    machine.java("17.0.15")
    machine.apt()
    ended = machine.run(JAVA_HOME=str(tmp_path / "old"))
    assert ended.returncode == 1
    assert f"JAVA_HOME is {tmp_path / 'old'}" in ended.stderr
    assert machine.apt_calls == []
