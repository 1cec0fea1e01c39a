"""What README and docs name exists: anchors, names of hopyard, commands and their options."""

from __future__ import annotations

import re
import shlex
from importlib import import_module

import pytest
from typer.main import get_command

from hopyard.cli.main import build_app

from ..docs.pages import ROOT, blocks, pages  # noqa: TID252  tests are no package

pytestmark = pytest.mark.unit
LINK = re.compile(r"\]\(([^)#\s]*)#([^)\s]+)\)")
NAME = re.compile(r"`[^`]*?\b(hopyard(?:\.[A-Za-z_]\w*)+)[^`]*`")
NOT_NAMES = {"hopyard.folder"}  # of a Spark setting
# Words that sent readers to a glossary, or needed a second reading.
AVOIDED = (
    "pours",
    "pour a",
    "the last is had with",
    "under way for bad",
    "tells a metric",
    "Mend it",
    "hopeless",
    "warden",
    "keeper",
)
MAY_SAY = {
    "docs/glossary.md",
    "docs/how-a-run-works.md",
    "docs/wire.md",
    "docs/testing.md",
}  # for contributors, in part


def anchors(page) -> set[str]:
    """Returns the anchors that GitHub makes of a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def resolve(name: str) -> object:
    """Returns what a dotted name means.

    Raises:
        AttributeError: Nothing.
    """
    found: object = import_module("hopyard")
    walked = "hopyard"
    for part in name.split(".")[1:]:
        walked = f"{walked}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = import_module(walked)
            except ModuleNotFoundError as error:
                raise AttributeError(name) from error
    return found


def test_every_anchor_is_a_heading_of_its_page():
    broken = [
        f"{page.relative_to(ROOT)}: {target}#{anchor}"
        for page in pages()
        for target, anchor in LINK.findall(page.read_text())
        if "://" not in target and anchor not in anchors(page.parent / target if target else page)
    ]
    assert broken == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_name_of_hopyard_in_a_page_exists(page):
    for name in sorted(set(NAME.findall(page.read_text())) - NOT_NAMES):
        try:
            resolve(name)
        except AttributeError as error:
            raise AssertionError(f"{page.name} names {name}, which does not exist") from error


def commands() -> list[tuple[str, str]]:
    """Returns each `hopyard` command of the shell blocks, and where it is."""
    return [
        (block.at, line.split("#")[0].strip().removeprefix("$ "))
        for page in pages()
        for block in blocks(page)
        if block.language == "sh"
        for line in block.text.splitlines()
        if line.removeprefix("$ ").startswith("hopyard ")
    ]


@pytest.mark.parametrize(("at", "line"), commands(), ids=lambda text: text)
def test_every_command_in_a_page_exists_with_its_options(at, line):
    app = get_command(build_app())
    command, *words = shlex.split(line)[1:]
    assert command in app.commands, f"{at}: there is no command {command!r}"
    known = {option for parameter in app.commands[command].params for option in parameter.opts}
    known |= {option for parameter in app.params for option in parameter.opts} | {"-h", "--help"}
    assert [word for word in words if word.startswith("-") and word not in known] == [], at


def test_blocks_that_do_not_run_are_correct_python():
    for page in pages():
        for block in blocks(page):
            if "not run" in block.marks:
                assert block.marks["not run"], f"{block.at} does not say why"
                compile(block.padded, block.at, "exec")


def test_marks_stand_before_blocks_of_their_kind():
    for page in pages():
        for block in blocks(page):
            expected = "text" if "prints" in block.marks else "python"
            assert not block.marks or block.language == expected, block.at


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_page_for_users_is_in_plain_words(page):
    if str(page.relative_to(ROOT)) not in MAY_SAY:
        assert [word for word in AVOIDED if word in page.read_text()] == []
