"""Training tools with a command and a configuration of their own (Axolotl, torchtune, nnU-Net): training_tools.yaml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from knowledge.cards import Address, Day, Id
from knowledge.data_file import read_facts
from knowledge.strict import Checked, Facts, check_filled
from knowledge.types import Framework, JobRequest

FILE = Path(__file__).parent / "training_tools.yaml"
# What stands for a word of the program that nobody said, and the name of a configuration that is to be put there.
STANDS_OPEN = re.compile(r"YOUR_[A-Z_]+(?:\.\w+)?")
# A program of this name may be anybody's.
ANYBODYS = re.compile(r"(?:tools/|YOUR_\w+)?(?:train)?\.py")
OPEN_CONFIG, OPEN_MODEL = "YOUR_CONFIG.{}", "YOUR_MODEL"
ORGANISATION_AND_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")

Filled = Annotated[tuple[str, ...], Checked(check_filled)]


@dataclass(frozen=True, slots=True)
class ToolCommand:
    """What is started: program and arguments, and the words of the order that gave some of them."""

    entry: str
    args: str | None
    told: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVariant(Facts):
    """Another program of a tool, by further words of the order."""

    names: Filled
    program: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTool(Facts):
    """One tool; the head of its file says what each field holds."""

    id: Id
    title: str
    names: Filled
    program: str
    frameworks: Annotated[tuple[Framework, ...], Checked(check_filled)]
    needs: str
    notes: Filled
    source: Address
    with_config: str = ""
    variants: tuple[ToolVariant, ...] = ()
    configs: tuple[str, ...] = ()
    starts: Literal["ranks", "one"] = "ranks"
    spread: Literal["config", "launcher"] = "config"
    counts: Mapping[str, str] = field(default_factory=dict)
    gpus: int | None = None
    one_node: str = ""
    assigns: bool = False
    said: Mapping[str, str] = field(default_factory=dict)

    @property
    def programs(self) -> tuple[str, ...]:
        """Every program that it may start, as templates."""
        own = (self.program, self.with_config, *(one.program for one in self.variants))
        return tuple(one for one in own if one)

    def chosen(self, text: str, config: str | None) -> tuple[str, str]:
        """The program that these words ask for, as a template, and the words that tell it apart."""
        for one in self.variants:
            if found := named(one.names, text):
                return one.program, found[0]
        return (self.with_config if config and self.with_config else self.program), ""

    def command(self, template: str, config: str | None, model: str | None, text: str) -> ToolCommand:
        """A template filled in from the order; what nobody said stands open."""
        known = model if model and ORGANISATION_AND_NAME.fullmatch(model) else OPEN_MODEL
        open_config = OPEN_CONFIG.format(self.configs[0]) if self.configs else ""
        words = template.format(config=config or open_config, model=known).split()
        told = []
        for key, pattern in self.said.items():
            if found := re.search(pattern, text, re.I):
                words = [word.replace(key, found[1]) if holds(word, key) else word for word in words]
                told.append(found[0])
        at = 2 if words[0] == "-m" else 1
        return ToolCommand(" ".join(words[:at]), " ".join(words[at:]) or None, tuple(told))

    def is_config(self, name: str) -> bool:
        """Whether a file has an ending of the tool's configuration."""
        return name.rpartition(".")[2].lower() in self.configs


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingTools(Facts):
    as_of: Day
    others: Filled
    tools: tuple[TrainingTool, ...]


def holds(word: str, key: str) -> bool:
    """Whether a word of a command is that word, or an argument of it: `model=KEY.pt`."""
    return word == key or (STANDS_OPEN.match(key) is not None and key in word)


@cache
def _table() -> TrainingTools:
    return read_facts(FILE, TrainingTools)


def training_tools() -> tuple[TrainingTool, ...]:
    """Every tool whose command is known. Raises FactsError on a wrong file."""
    return _table().tools


def other_tool(text: str) -> str:
    """The tool that a text names and whose command is not known here; empty where it names none."""
    found = named(_table().others, text)
    return text[found.start() : found.end()] if found else ""


def named(names: tuple[str, ...], text: str) -> re.Match[str] | None:
    """Where one of the names stands as a word of its own: in no path, module or name of a file."""
    return re.search(rf"(?<![\w./-])(?:{'|'.join(names)})(?![\w/]|\.\w|-\w)", text.lower())


def tools_named(text: str) -> list[tuple[TrainingTool, re.Match[str]]]:
    """The tools that a text names, in its order, and where."""
    found = [(one, match) for one in training_tools() if (match := named(one.names, text))]
    return sorted(found, key=lambda hit: hit[1].start())


@cache
def _by_program() -> Mapping[str, tuple[TrainingTool, ...]]:
    found: dict[str, tuple[TrainingTool, ...]] = {}
    for one in training_tools():
        for head in {program_head(program) for program in one.programs}:
            found[head] = (*found.get(head, ()), one)
    return found


def program_head(command: str) -> str:
    """The module or file that a command starts; empty where it starts none."""
    words = [one for one in command.split() if one != "-u"]
    if words[:1] and words[0].rpartition("/")[2].startswith("python"):
        words = words[1:]
    return "".join(words[1:2] if words[:1] == ["-m"] else words[:1])


def tool_of(request: JobRequest) -> TrainingTool | None:
    """The tool whose program a job starts: it was ordered by the tool's name, or the program is nobody else's."""
    return tool_starting(request.entry or "", " ".join(one.words for one in request.heard if one.field == "entry"))


def tool_starting(command: str, said: str = "") -> TrainingTool | None:
    """The tool whose program a command starts. said: the words that the program was read from."""
    head = program_head(command)
    library = (one for one in training_tools() if STANDS_OPEN.match(one.program) and named(one.names, said))
    tools = (*(library if head else ()), *_by_program().get(head, ()))
    by_name = next((one for one in tools if named(one.names, said)), None)
    return by_name or next((one for one in tools if not ANYBODYS.fullmatch(head)), None)
