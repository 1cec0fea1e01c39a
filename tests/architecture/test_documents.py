"""What the documents point at exists."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.unit

LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
README_LINES = 150


def documents(root):
    return [*sorted(root.glob("*.md")), *sorted(root.glob("docs/**/*.md"))]


def test_every_relative_link_leads_to_a_file(root):
    broken = [
        f"{document.relative_to(root)}: {target}"
        for document in documents(root)
        for target in LINK.findall(document.read_text())
        if "://" not in target and not (document.parent / target).exists()
    ]
    assert broken == []


def test_every_page_is_linked_from_the_list_of_pages(root):
    linked = set(LINK.findall((root / "docs" / "README.md").read_text()))
    pages = {page.name for page in root.glob("docs/*.md")} - {"README.md"}
    assert pages - linked == set()


def test_readme_is_read_in_one_go(root):
    assert len((root / "README.md").read_text().splitlines()) <= README_LINES


def test_every_make_command_in_the_readme_exists(root):
    targets = set(re.findall(r"^([a-z]+):", (root / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"`make ([a-z]+)`", (root / "README.md").read_text()))
    assert named
    assert named <= targets


MODULE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+)(?:\.py)?`")


@pytest.mark.parametrize(
    "page", ["docs/design/README.md", "docs/design/search.md", "docs/how-a-run-works.md"]
)
def test_modules_that_a_page_names_exist(root, page):
    found = MODULE.findall((root / page).read_text())
    named = {name for name in found if not name.startswith(("src/", "tests/"))}
    assert len(named) > 5
    source = root / "src" / "hopyard"
    assert {
        name
        for name in named
        if not ((source / name).with_suffix(".py").exists() or (source / name).is_dir())
    } == set()
