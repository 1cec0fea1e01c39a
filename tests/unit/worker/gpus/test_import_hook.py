"""An action runs right after an import, once, and leaves no trace in the machinery of imports."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.unit

# A package that stands in for a framework: it tells when it is loaded, and has a file of data.
STAND_IN = "print('loading'); from standin import part; print('loaded')"


@pytest.fixture
def run(tmp_path):
    """Runs a program in a fresh interpreter that has the stand-in; returns what it printed."""
    package = tmp_path / "path" / "standin"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(STAND_IN)
    (package / "part.py").write_text("")
    (package / "data.txt").write_text("data")

    def run(program: str, *, code: int = 0) -> str:
        text = "import sys\nfrom hopyard.worker.gpus.import_hook import after_import\n" + textwrap.dedent(
            program
        )
        ended = subprocess.run(
            [sys.executable, "-c", text],
            env={"PYTHONPATH": str(package.parent)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ended.returncode == code, ended.stderr
        return ended.stdout + (ended.stderr if code else "")

    return run


def test_action_runs_when_the_module_is_loaded_and_before_its_importer_goes_on(run):
    out = run("""
        after_import({"standin": lambda module: print("action", module.__name__, hasattr(module, "part"))})
        print("importing")
        import standin
        print("imported")
    """)
    assert out.splitlines() == ["importing", "loading", "loaded", "action standin True", "imported"]


def test_action_runs_also_if_only_a_part_of_the_module_is_imported(run):
    out = run("""
        after_import({"standin": lambda module: print("action")})
        from standin.part import __name__ as name
        print(name)
    """)
    assert out.splitlines() == ["loading", "loaded", "action", "standin.part"]


def test_action_runs_at_once_for_a_module_that_is_loaded(run):
    out = run("""
        import standin
        before = list(sys.meta_path)
        after_import({"standin": lambda module: print("action")})
        print(sys.meta_path == before)
    """)
    assert out.splitlines() == ["loading", "loaded", "action", "True"]


def test_nothing_is_left_after_the_last_action(run):
    out = run("""
        before = list(sys.meta_path)
        after_import({"standin": lambda module: None, "wave": lambda module: None})
        import standin
        print(len(sys.meta_path) - len(before))
        import wave
        print(sys.meta_path == before, vars(standin.__loader__).keys() == vars(wave.__loader__).keys())
    """)
    assert out.splitlines()[2:] == ["1", "True True"]


def test_looking_for_a_module_does_not_use_up_its_action(run):
    out = run("""
        import importlib.util
        after_import({"standin": lambda module: print("action")})
        print(importlib.util.find_spec("standin").name, importlib.util.find_spec("missing_module"))
        import standin
    """)
    assert out.splitlines() == ["standin None", "loading", "loaded", "action"]


def test_data_of_the_module_can_be_read(run):
    out = run("""
        import importlib.resources
        def read(module):
            print(importlib.resources.files(module).joinpath("data.txt").read_text())
        after_import({"standin": read})
        import standin
        read(standin)
    """)
    assert out.splitlines()[2:] == ["data", "data"]


def test_missing_module_is_missing_as_ever(run):
    out = run("""
        after_import({"missing_module": print})
        import missing_module
    """, code=1)  # fmt: skip
    assert "ModuleNotFoundError: No module named 'missing_module'" in out


def test_action_that_fails_makes_every_try_to_import_fail(run):
    out = run("""
        def fail(module):
            raise RuntimeError("no")
        after_import({"standin": fail})
        for _ in range(2):
            try:
                import standin
            except RuntimeError as error:
                print(error)
    """)
    assert out.splitlines() == ["loading", "loaded", "no"] * 2
