import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hopyard.errors import InvalidName
from hopyard.store import Project
from hopyard.store.names import check_file, check_folder, check_name
from hopyard.testing.nasty_names import INVALID_PATHS, NASTY_NAMES

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("name", NASTY_NAMES, ids=ascii)
def test_unusual_name_is_kept_as_it_is(name: str) -> None:
    assert check_name(name) == name
    assert check_file(f"{name}/{name}") == f"{name}/{name}"


@pytest.mark.parametrize("path", INVALID_PATHS, ids=ascii)
def test_refusal_tells_the_path_and_a_reason(path: str) -> None:
    with pytest.raises(InvalidName) as caught:
        check_file(path)
    assert caught.value.value == path
    assert repr(path) in str(caught.value)
    assert len(caught.value.reason) > 10


def test_trailing_slash_names_a_folder() -> None:
    assert check_folder("Logs/") == "Logs"
    assert check_folder("") == ""
    with pytest.raises(InvalidName):
        check_folder("Logs//")
    with pytest.raises(InvalidName):
        check_folder("/")


def test_part_of_a_path_is_not_a_name() -> None:
    with pytest.raises(InvalidName):
        check_name("a/b")


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(exclude_categories=()), max_size=300))
def test_any_text_is_held_by_a_store_or_refused(text: str) -> None:
    project = Project("memory://names", "any")
    try:
        project.put(text, b"content")
    except InvalidName:
        return
    assert project.read(text) == b"content"
    assert text in {entry.path for entry in project.walk()}
    project.remove(text)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from(["a", "b c", ".", "..", "", "%2e%2e", "~", "\\", "..\\"]), max_size=5))
def test_no_path_leaves_the_project(parts: list[str]) -> None:
    project = Project("/root", "demo")
    try:
        url = project.url("/".join(parts))
    except InvalidName:
        return
    assert url.startswith("/root/Projects/demo/")
    assert ".." not in url.split("/")
