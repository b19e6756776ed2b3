"""What a language model is to the nodes: messages in, words or JSON out, within a time and a number of tokens.

The back ends are in assistant/models; a node never sees them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from knowledge.errors import UnavailableError

Role = Literal["small", "large"]
ROLES: tuple[Role, ...] = ("small", "large")
# end: the model was done. length: the tokens allowed were used up. time: the time was. stop: who listens had enough.
Stopped = Literal["end", "length", "time", "stop"]
Schema = Mapping[str, Any]
# A rough guess that errs on the safe side for logs, which are full of numbers and signs.
LETTERS_PER_TOKEN = 2.7
# What would end the part of a prompt that holds data, or begin another; `<<< "$x"` inside a line is a here-string.
FENCES = re.compile(r"(?m)^<{3,}|<{3,}(?![ \t]?[\"'$])|>{3,}")


class ModelError(UnavailableError):
    """A model did not load or did not answer; the message is one line for a person."""


class BadAnswerError(ModelError):
    """It answered, but not what was asked for."""


class NoToolsError(ModelError):
    """The server takes no tool calls: what is to be called is asked for as JSON."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: its name, what it does in a line, and its arguments as JSON Schema."""

    name: str
    says: str
    parameters: Schema


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool. arguments None: what came was no JSON object."""

    name: str
    arguments: Mapping[str, Any] | None
    id: str = ""


@dataclass(frozen=True, slots=True)
class ModelMessage:
    """One message to a model. What a person or a log says is only ever in a `user` or a `tool` message.

    calls: what an `assistant` message called; call_id: which of them a `tool` message answers.
    """

    role: Literal["system", "user", "assistant", "tool"]
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """What came back. reused: how many of the tokens in were not evaluated again; seconds is wall time."""

    text: str
    tokens_in: int
    tokens_out: int
    stopped: Stopped
    seconds: float = 0.0
    first_token_s: float = 0.0
    reused: int = 0
    calls: tuple[ToolCall, ...] = ()


class Model(Protocol):
    """One model that is ready to answer.

    name is for people. context: tokens that prompt and answer share. leaves: whether text leaves this process, so that
    it has to be masked. takes_tools: whether tools may be handed to it; else they are asked for as JSON.
    """

    name: str
    context: int
    leaves: bool
    takes_tools: bool

    def tokens(self, text: str) -> int:
        """How many tokens a text takes: counted, or guessed where the back end cannot tell."""
        ...

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        schema: Schema | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int = 256,
        timeout: float = 60.0,
        on_text: Callable[[str], bool] | None = None,
    ) -> Completion:
        """One answer. schema: JSON Schema that it keeps (enforced where the back end can, checked by the caller).

        tools: what it may call instead of answering; NoToolsError where the server takes none.

        on_text hears each piece and answers whether to go on. timeout is in seconds, for all of it. Raises ModelError.
        """
        ...


def fenced(text: str) -> str:
    """What a person, a log or a document says, between marks that it cannot itself hold: it ends where we say."""
    return f"<<<\n{FENCES.sub(lambda found: ' '.join(found[0]), text)}\n>>>"


def guessed(text: str) -> int:
    """About how many tokens a text takes."""
    return int(len(text) / LETTERS_PER_TOKEN) + 1
