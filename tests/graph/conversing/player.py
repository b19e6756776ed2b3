"""A model that leads by a script: text is an answer, calls are calls, an exception is a fault."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from assistant.drawing import markdown
from assistant.events import event_of
from assistant.running import lent
from graph.context import Context
from graph.modelling.asking import Models
from graph.modelling.model import Completion, ModelMessage, NoToolsError, Schema, Tool, ToolCall, guessed
from graph.nodes.converse import rules_graph
from graph.state import State, new_turn

Move = str | ToolCall | list[ToolCall] | Exception | Callable[[Sequence[ModelMessage]], Any]


FIRST = "perlmutter, pytorch fsdp, 2 nodes, train.py --bs 8, account m1234_g, 4 hours"


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, f"id-{name}")


class Player:
    """Makes each move once, the last one for ever, and keeps what it was asked."""

    name, leaves = "player", False

    def __init__(self, *moves: Move, takes_tools: bool = True, context: int = 32_768) -> None:
        self.moves, self.takes_tools, self.context = list(moves), takes_tools, context
        self.asked: list[list[ModelMessage]] = []
        self.schemas: list[Schema | None] = []
        self.offered: list[Sequence[Tool]] = []

    def tokens(self, text: str) -> int:
        return guessed(text)

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
        if tools and not self.takes_tools:
            raise NoToolsError("no tools")
        self.asked.append(list(messages))
        self.schemas.append(schema)
        self.offered.append(tools)
        move = self.moves.pop(0) if len(self.moves) > 1 else self.moves[0]
        while callable(move):
            move = move(messages)
        if isinstance(move, Exception):
            raise move
        sent = sum(self.tokens(one.text) for one in messages)
        if not isinstance(move, str):
            return Completion("", sent, 10, "end", calls=tuple(move) if isinstance(move, list) else (move,))
        for piece in (move[at : at + 9] for at in range(0, len(move), 9)):
            if on_text:
                on_text(piece)
        return Completion(move, sent, 10, "end")


@cache
def first_script() -> State:
    """A thread with a first script in hand, which the model took from the rules in one call."""
    thread = Thread(Player("Here it is.\n\n[[rules]]"))
    thread.say(FIRST)
    return thread.state


class Thread:
    """A conversation through the real graph, led by a player. began: the state that it goes on from."""

    def __init__(self, player: Player, began: State | None = None, **more: Any) -> None:
        models = Models({"large": lambda: player}, trust={"large": "leads"}, timeout_s=more.pop("timeout_s", 60.0))
        self.player, self.models = player, models
        self.context = Context(model=models, lent=lent, **more)
        self.turn = 0
        self.state: State = began or State()

    def say(self, text: str) -> str:
        """The answer as a person reads it."""
        self.turn += 1
        entry: Any = {**self.state, **new_turn(self.turn, text)}
        self.state = rules_graph().invoke(entry, context=self.context)  # type: ignore[assignment]
        assert self.state["said"], "no turn ends without an answer"
        return "\n".join(markdown(event_of(part)) for part in self.state["said"])

    @property
    def script(self) -> str:
        bundle = self.state.get("bundle")
        return bundle.script if bundle else ""
