"""A launch chain: the programs that start one another, from the outermost word to the training program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from graph.extraction.shell_words import Field
from knowledge.launcher_options import Kind


@dataclass(frozen=True, slots=True)
class Layer:
    """One program of a chain with its own options; operand is an image or a host name."""

    name: str
    kind: Kind
    written: str
    options: tuple[tuple[str, Field], ...] = ()
    roles: tuple[tuple[str, Field], ...] = ()
    operand: Field | None = None

    def role(self, name: str) -> Field | None:
        """The last value given for what an option means (`nodes`, `per_node`, `container`, ...)."""
        return next((value for role, value in reversed(self.roles) if role == name), None)

    def has(self, option: str) -> bool:
        return any(name == option for name, _ in self.options)


@dataclass(frozen=True, slots=True)
class LaunchedProgram:
    """What a chain starts in the end."""

    entry: Field
    kind: Literal["script", "module", "inline", "executable", "shell"]
    args: tuple[Field, ...] = ()
    interpreter: str = ""


@dataclass(frozen=True, slots=True)
class LaunchChain:
    """The layers, outermost first, and the program; or text that a shell of the chain runs, with its arguments."""

    layers: tuple[Layer, ...] = ()
    program: LaunchedProgram | None = None
    shell_text: Field | None = None
    positional: tuple[Field, ...] = ()
