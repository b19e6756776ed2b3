"""A model that says what it is told to, and remembers what it was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph.modelling.model import Completion, ModelMessage, Schema, Tool, guessed


class Scripted:
    """Each answer once, the last one for ever; an exception is raised. leaves: as if the text left the process."""

    name, takes_tools = "scripted", False

    def __init__(self, *answers: str | Exception, leaves: bool = True, context: int = 8192) -> None:
        self.answers, self.leaves, self.context = list(answers), leaves, context
        self.asked: list[list[ModelMessage]] = []

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
        self.asked.append(list(messages))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        said = ""
        for piece in (answer[n : n + 7] for n in range(0, len(answer), 7)):
            said += piece
            if on_text and not on_text(piece):
                return Completion(said, 10, 10, "stop")
        return Completion(said, 10, 10, "end")
