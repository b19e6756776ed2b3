"""A conversation as one Markdown file: what was said, what was answered, when."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assistant.attachments import worded
from assistant.drawing import fenced, markdown
from assistant.turns import Turn


def exported(title: str, turns: Sequence[Turn]) -> str:
    """The whole conversation, its scripts with it. An unfinished turn is said to be one."""
    return "\n\n".join([f"# {title}", *(part for turn in turns for part in parts(turn))]) + "\n"


def parts(turn: Turn) -> Iterable[str]:
    """One turn; the person's words are a block of their own, so that no sign in them is taken for a heading."""
    yield f"## {turn.at.astimezone():%Y-%m-%d %H:%M}"
    if turn.text:
        yield fenced("", turn.text, "text")
    yield from (f"Attached: {worded(attachment)} (`{attachment.path}`)" for attachment in turn.attachments)
    if turn.answer is None:
        yield "(not answered yet)"
    yield from filter(None, map(markdown, turn.answer or ()))
