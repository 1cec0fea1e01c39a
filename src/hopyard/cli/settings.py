"""What the options before the subcommand decide: which project, and how errors are shown."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hopyard.store import Project


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The global options of one call of the command.

    Attributes:
        program: The program as the user typed it.
        root: The folder of all projects, if given.
        project: The name of the project, if given.
        words: All that the user typed after the program.
    """

    program: str
    root: str | None = None
    project: str | None = None
    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, context: typer.Context) -> Settings:
        """Returns the settings of the call that a subcommand is part of."""
        settings = context.obj
        assert isinstance(settings, cls)
        return settings

    def open_project(self) -> Project:
        """Returns the project that the options name; the variables and defaults of `Project.open` fill gaps."""
        from hopyard.store import Project

        return Project.open(self.root, self.project)

    def command(self, *arguments: str) -> str:
        """Returns a command line that the user can paste to go on with the same project."""
        options = [
            *(("--root", self.root) if self.root else ()),
            *(("--project", self.project) if self.project else ()),
        ]
        return f"{self.program} {shlex.join([*options, *arguments])}"

    def again(self, *options: str) -> str:
        """Returns the command line of this call with more options, for the user to paste.

        Args:
            options: Names of options, each with its value, if it has one; those that the call has stay as they are.
        """
        words, is_new = list(self.words), True
        for word in options:
            if word.startswith("--"):
                is_new = not any(given.partition("=")[0] == word for given in self.words)
            if is_new:
                words.append(word)
        return f"{self.program} {shlex.join(words)}"
