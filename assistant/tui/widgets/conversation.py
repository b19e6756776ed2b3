"""What was said, oldest first; it stays at the newest line until the person scrolls up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Markdown, Static

from assistant.attachments import worded
from assistant.drawing import markdown
from assistant.events import Event, Report
from assistant.turns import Turn
from knowledge.types import Attachment

MOST_TURNS = 12
WELCOME = """\
**maple-chat** writes launch scripts for deep learning on HPC machines, and tells why a job failed.

Three things to try (↑ brings each into the box, Enter sends):

- `help me run my training`
- `train ViT with FSDP on Perlmutter, 4 nodes, account m1234`
- paste the log of a job that failed, or `/why slurm-123.out`

F5 picks machine, framework and the rest from lists. F1 shows all keys, `/` all commands.
"""
EXAMPLES = ("train ViT with FSDP on Perlmutter, 4 nodes, account m1234", "help me run my training")


class Said(Static):
    """A message of the person, as typed."""


class Note(Static):
    """A word of the program itself, not of the conversation."""

    def on_resize(self) -> None:
        self.query_ancestor(Conversation).read_from_top(self)


class AnswerView(Markdown):
    """What the assistant said. Its height is known only once it is laid out."""

    def on_resize(self) -> None:
        self.query_ancestor(Conversation).read_from_top(self)


class Conversation(VerticalScroll):
    """Messages and answers; `live` is the answer that grows while a model words it."""

    can_focus = False
    live: AnswerView | None = None

    def on_mount(self) -> None:
        self.anchor()

    async def restore(self, turns: Sequence[Turn]) -> None:
        """Show a thread: its last turns, or the welcome where it is new."""
        await self.remove_children()
        if not turns:
            await self.mount(AnswerView(WELCOME))
            return
        left_out = len(turns) - MOST_TURNS
        first = [Note(f"({left_out} earlier turns are kept and not shown)")] if left_out > 0 else []
        await self.mount(*first, *(part for turn in turns[-MOST_TURNS:] for part in drawn(turn)))

    async def ask(self, text: str, attachments: Sequence[Attachment]) -> None:
        await self.mount(message(text, attachments))

    async def stream(self, text: str) -> None:
        """A piece of an answer while it is still worded."""
        if self.live is None:
            self.live = AnswerView("")
            await self.mount(self.live)
        await self.live.append(text)

    async def answer(self, events: Sequence[Event]) -> None:
        """The whole answer, in the place of what was streamed of it."""
        live, self.live = self.live, None
        await self.show(events)
        if live is not None:
            await live.remove()

    async def show(self, events: Sequence[Event]) -> None:
        """An answer that takes no other's place."""
        await self.mount(*answered(events))

    async def note(self, text: str) -> None:
        await self.mount(Note(text, markup=False))

    def read_from_top(self, answer: AnswerView | Note) -> None:
        """What does not fit is read from its first line: the newest line stays in sight only if nothing is lost."""
        if self.children and self.children[-1] is answer and answer.outer_size.height > self.size.height:
            self.release_anchor()
            self.scroll_to_widget(answer, top=True, animate=False)


def drawn(turn: Turn) -> Iterator[Widget]:
    yield message(turn.text, turn.attachments)
    yield from answered(turn.answer or ())


def answered(events: Sequence[Event]) -> Iterator[Widget]:
    """The words of an answer; what a check or a rehearsal says has its lines as they are, wrapped."""
    text = in_words([event for event in events if not isinstance(event, Report)])
    if text:
        yield AnswerView(text)
    for event in events:
        if isinstance(event, Report):
            yield Note(event.text, markup=False, classes="report")


def message(text: str, attachments: Sequence[Attachment]) -> Said:
    parts = [*([text] if text else []), *(f"[{worded(attachment)}]" for attachment in attachments)]
    return Said("\n".join(parts), markup=False)


def in_words(events: Sequence[Event]) -> str:
    """An answer in Markdown; the script itself is in its pane."""
    return "\n\n".join(filter(None, (markdown(event, whole_script=False) for event in events)))
