from __future__ import annotations

import base64
import hashlib
import shutil
from pathlib import Path

import pytest

from hopyard.cli.doctor.facades import check_facades
from hopyard.cli.doctor.finding import Verdict
from hopyard.foreign_package import State, state_of

pytestmark = pytest.mark.unit

OURS = {"hops/__init__.py": "__hopyard__ = True\n", "hops/experiment.py": "# ours\n"}
FOREIGN = {"hops/__init__.py": "# theirs\n", "hops/experiment.py": "# theirs\n", "hops/kafka.py": "\n"}


def install(site: Path, distribution: str, files: dict[str, str]) -> None:
    """Does what pip does: writes the files over what is there, and notes them."""
    folder = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
    files = {**files, f"{folder.name}/METADATA": metadata}
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    lines = [f"{name},sha256={digest(text)},{len(text)}" for name, text in files.items()]
    (folder / "RECORD").write_text("\n".join([*lines, f"{folder.name}/RECORD,,", "hops/x.pyc,,\n"]))


def uninstall(site: Path, distribution: str, files: dict[str, str]) -> None:
    """Does what pip does: removes the files that were noted, whoever wrote them since."""
    for name in files:
        (site / name).unlink()
    shutil.rmtree(site / f"{distribution.replace('-', '_')}-1.0.dist-info")


def digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


def test_nothing_is_installed(tmp_path: Path) -> None:
    assert state_of("hops", [str(tmp_path)]) is State.NOTHING


def test_ours_is_installed(tmp_path: Path) -> None:
    install(tmp_path, "hopyard-hops", OURS)
    assert state_of("hops", [str(tmp_path)]) is State.OURS


def test_another_package_of_the_name_is_installed_and_ours_is_not(tmp_path: Path) -> None:
    install(tmp_path, "hops", FOREIGN)
    assert state_of("hops", [str(tmp_path)]) is State.FOREIGN


@pytest.mark.parametrize("ours_last", [True, False])
def test_both_are_installed(ours_last: bool, tmp_path: Path) -> None:
    order = [("hops", FOREIGN), ("hopyard-hops", OURS)]
    for distribution, files in order if ours_last else reversed(order):
        install(tmp_path, distribution, files)
    assert state_of("hops", [str(tmp_path)]) is State.BOTH


def test_what_the_other_package_leaves_when_it_is_uninstalled_is_damaged(tmp_path: Path) -> None:
    install(tmp_path, "hops", FOREIGN)
    install(tmp_path, "hopyard-hops", OURS)
    uninstall(tmp_path, "hops", FOREIGN)
    assert state_of("hops", [str(tmp_path)]) is State.DAMAGED
    finding = next(iter(check_facades([str(tmp_path)])))
    assert finding.verdict is Verdict.PROBLEM
    assert finding.text.endswith(": pip install --force-reinstall --no-deps hopyard-hops")


def test_a_file_that_another_has_overwritten_is_damage(tmp_path: Path) -> None:
    install(tmp_path, "hopyard-hops", OURS)
    (tmp_path / "hops/experiment.py").write_text("# theirs\n")
    assert state_of("hops", [str(tmp_path)]) is State.DAMAGED


def test_the_command_that_puts_both_right_is_told(tmp_path: Path) -> None:
    for distribution in ("tensorflowonspark", "hopyard-tensorflowonspark"):
        install(tmp_path, distribution, {})
    *_, finding = check_facades([str(tmp_path)])
    assert finding.verdict is Verdict.PROBLEM
    command = "pip uninstall -y tensorflowonspark && pip install --force-reinstall --no-deps hopyard-tensorflowonspark"
    assert finding.text.endswith(command)
