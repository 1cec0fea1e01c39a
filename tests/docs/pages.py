"""The code blocks of README.md and docs/*.md, and the programs that they make.

A block of Python is a program of its own. Comments on the lines before its fence, which readers do not see, change that:

    <!-- continues -->          the block goes on where the one before ended
    <!-- raises: NodeFailed --> the block ends with this error
    <!-- not run: needs YARN -->  the block is only compiled

A block of text after ``<!-- prints -->`` shows what the program before it prints; ``…`` stands for anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
LANES = {
    "tensorflow": ("keras", "tensorflow"),
    "torch": ("torch",),
    "hdfs": ("hopyard.testing.mini_hdfs",),
    "s3": ("hopyard.testing.s3_server",),
}
MARK = re.compile(r"<!-- (continues|prints|raises|not run)(?:: (.+?))? -->")
FENCE = re.compile(r"```(\w*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What is between two fences; `line` is that of its first line."""

    page: str
    line: int
    language: str
    text: str
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def error(self) -> str:
        """The class of the error that it ends with; empty if it ends well."""
        return self.marks.get("raises", "")

    @property
    def at(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def padded(self) -> str:
        """The text, with its lines where they are in the page, so that tracebacks name them."""
        return "\n" * (self.line - 1) + self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Blocks that run one after the other, and what they print."""

    blocks: list[Block]
    printed: list[Block] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(block.text for block in self.blocks)

    @property
    def at(self) -> str:
        return self.blocks[0].at

    @property
    def uses_spark(self) -> bool:
        return "spark" in self.text and 'backend="processes"' not in self.text

    @property
    def lanes(self) -> list[str]:
        """The lanes of tests that it belongs to."""
        modules = set(re.findall(r"^ *(?:import|from) ([\w.]+)", self.text, re.MULTILINE))
        imported = modules | {module.partition(".")[0] for module in modules}
        needed = [lane for lane, names in LANES.items() if imported.intersection(names)]
        return [*needed, *(["spark"] if self.uses_spark else [])]

    @property
    def error(self) -> str:
        """The class of the error that the last block ends with; empty if it ends well."""
        return self.blocks[-1].error


def pages() -> list[Path]:
    """Returns the pages that users read."""
    return [README, *sorted(ROOT.glob("docs/*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Yields all blocks of a page."""
    name = str(page.relative_to(ROOT))
    marks: dict[str, str] = {}
    language, begun, lines = "", 0, list[str]()
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if begun and line.startswith("```"):
            text = "\n".join(lines) + "\n"
            yield Block(page=name, line=begun, language=language, text=text, marks=marks)
            begun, marks, lines = 0, {}, []
        elif begun:
            lines.append(line)
        elif found := FENCE.fullmatch(line):
            language, begun = found[1], number + 1
        elif found := MARK.fullmatch(line):
            marks[found[1]] = found[2] or ""
        elif line.strip():
            marks = {}


def programs(page: Path) -> list[Program]:
    """Returns the programs of a page."""
    made: list[Program] = []
    for block in blocks(page):
        if "prints" in block.marks:
            made[-1].printed.append(block)
        elif block.language != "python" or "not run" in block.marks:
            continue
        elif "continues" in block.marks:
            made[-1].blocks.append(block)
        else:
            made.append(Program(blocks=[block]))
    return made


def missing(printed: str, shown: str) -> str:
    """Returns the first line of `shown` that `printed` does not have, in this order; empty if it has all."""
    place = 0
    for line in filter(str.strip, shown.splitlines()):
        pattern = ".*?".join(re.escape(part) for part in line.strip().split("…"))
        found = re.compile(pattern).search(printed, place)
        if found is None:
            return line
        place = found.end()
    return ""
