"""What a console, a notebook or an editor offers after ``hopyard.`` and inside a call."""

from __future__ import annotations

import inspect
import subprocess
import sys

import jedi
import pytest
from jedi.api.environment import InterpreterEnvironment

import hopyard
from hopyard.run.options import RunOptions, run_options

pytestmark = pytest.mark.unit


def in_an_editor(text: str) -> set[str]:
    """Returns the completions of a file, which is read and not run."""
    here = InterpreterEnvironment()  # otherwise jedi starts a process and does not end it
    return {each.name for each in jedi.Script(f"import hopyard\n{text}", environment=here).complete()}


def in_a_notebook(text: str) -> set[str]:
    """Returns the completions of a cell, where the module is loaded; IPython asks the same way."""
    return {each.name for each in jedi.Interpreter(text, [{"hopyard": hopyard}]).complete()}


def public(names: set[str]) -> set[str]:
    return {name for name in names if not name.startswith("_")}


def test_dir_shows_the_public_names_and_no_others():
    program = "import hopyard; print(*[name for name in dir(hopyard) if name[0] != '_'])"
    fresh = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(fresh.stdout.split()) == set(hopyard.__all__)


def test_notebook_completes_the_public_names_and_no_others():
    assert public(in_a_notebook("hopyard.")) == set(hopyard.__all__)


def test_editor_completes_the_public_names():
    assert in_an_editor("hopyard.") >= set(hopyard.__all__)


@pytest.mark.parametrize("complete", [in_an_editor, in_a_notebook])
@pytest.mark.parametrize("name", ["launch", "Cluster"])
def test_options_are_completed_inside_a_call(complete, name):
    assert complete(f"hopyard.{name}(print, max_") == {"max_restarts="}


@pytest.mark.parametrize("complete", [in_an_editor, in_a_notebook])
@pytest.mark.parametrize("name", ["search", "grid_search", "ablation"])
def test_options_of_a_search_are_completed_inside_a_call(complete, name):
    assert complete(f"hopyard.{name}(print, {{}}, trial_") == {"trial_timeout="}


@pytest.mark.parametrize("complete", [in_an_editor, in_a_notebook])
def test_result_of_a_call_is_completed(complete):
    assert complete("hopyard.launch(print).val") == {"value", "values"}
    assert complete("hopyard.load_run('last').pa") == {"parameters", "path"}


@pytest.mark.parametrize("name", ["launch", "Cluster"])
def test_every_option_is_in_the_signature_and_explained_in_the_docstring(name):
    shown = getattr(hopyard, name)
    options = set(inspect.signature(run_options).parameters)
    assert options == set(RunOptions.__annotations__)
    assert options <= set(inspect.signature(shown).parameters)
    assert [option for option in options if f"    {option}: " not in inspect.getdoc(shown)] == []


def test_options_of_a_run_are_annotated_alike_in_both_places():
    parameters = inspect.signature(run_options).parameters.values()
    annotated = {name: hint.__forward_arg__ for name, hint in RunOptions.__annotations__.items()}
    assert {each.name: each.annotation for each in parameters} == annotated
