"""Slack's text: into plain words when it comes in, and out of Markdown when it goes out.

A live mention in Slack is `<!here>` or `<@U1>`: what is escaped can notify nobody. https://docs.slack.dev/messaging/formatting-message-text
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assistant.printing.marks import EMPHASIS, STRONG

MARKED = re.compile(r"<([^<>\n]+)>")
FENCE = re.compile(r"^(?P<fence>`{3,})[^\n`]*\n(?P<block>.*?)\n?(?P=fence)[ \t]*$", re.M | re.S)
PASTED = re.compile(r"```\n?(?P<block>.*?)\n?```", re.S)
CODE = re.compile(r"(?P<ticks>`+)(?P<code>[^\n]+?)(?P=ticks)(?!`)")
LINK = re.compile(r"\[([^\]\n]+)\]\((https?://[^)\s<>|]+)\)")
# In escaped words: `&amp;` belongs to an address, `&lt;` and `&gt;` end it.
BARE = re.compile(r"(?<![<|\w])https?://(?:(?!&[lg]t;)[^\s<>|`])*[\w/#=]")
HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.M)
BULLET = re.compile(r"^([ \t]*)[-*][ \t]+", re.M)
FEWEST_LINES = 4


@dataclass(frozen=True, slots=True)
class MarkdownPiece:
    """A stretch of Markdown: words, or the text of a code block."""

    text: str
    code: bool


def text_of(message: dict[str, Any]) -> str:
    """What a message says, also in what it forwards or another app attached; previews of links are left out."""
    said = [part.get("text") for part in (message, *attached(message))]
    return "\n".join(text for text in said if isinstance(text, str) and text)


def files_of(message: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """The files of a message and of what it forwards."""
    return tuple(file for part in (message, *attached(message)) for file in objects(part.get("files")))


def attached(message: dict[str, Any]) -> list[dict[str, Any]]:
    parts = objects(message.get("attachments"))
    return [part for part in parts if part.get("is_share") or part.get("is_msg_unfurl") or not part.get("from_url")]


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of a JSON list; nothing of anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def plain(text: str, bot_user: str) -> str:
    """A message as it was typed: marks resolved, escapes undone, the mention of the bot itself gone."""
    words = MARKED.sub(lambda mark: resolved(mark[1], bot_user), text)
    return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


def resolved(mark: str, bot_user: str) -> str:
    """`<...>` in words. Slack turns addresses in a pasted log into links; they become text again."""
    target, _, label = mark.partition("|")
    if target == f"@{bot_user}":
        return ""
    if target[:1] in "@#!":
        name = label.lstrip("@#") or target[1:]
        return name if target.startswith("!date") else f"{'#' if target[0] == '#' else '@'}{name}"
    bare = re.sub(r"^(https?://|mailto:|tel:)", "", target)
    return label if label and label.strip("/") in (bare.strip("/"), target.strip("/")) else target


def without_blocks(text: str) -> tuple[str, tuple[str, ...]]:
    """The words of a message and the pasted blocks in it: a block of a few lines is a log or a script, not words."""
    blocks: list[str] = []

    def take(found: re.Match[str]) -> str:
        if found["block"].count("\n") + 1 < FEWEST_LINES:
            return found[0]
        blocks.append(found["block"])
        return ""

    return PASTED.sub(take, text).strip(), tuple(blocks)


def escape(text: str) -> str:
    """Text as Slack shows it, with nothing live in it."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def pieces(markdown: str) -> Iterator[MarkdownPiece]:
    """Words and code blocks, in order."""
    place = 0
    for found in FENCE.finditer(markdown):
        if words := markdown[place : found.start()].strip():
            yield MarkdownPiece(words, False)
        yield MarkdownPiece(found["block"], True)
        place = found.end()
    if words := markdown[place:].strip():
        yield MarkdownPiece(words, False)


def mrkdwn(markdown: str) -> str:
    """Words in Slack's own marks. Code keeps its text; a tick inside it becomes a quote, since Slack ends there."""
    parts, place = [], 0
    for found in CODE.finditer(markdown):
        code = escape(found["code"].strip()).replace("`", "'")
        parts += [marked(markdown[place : found.start()]), f"`{code}`"]
        place = found.end()
    return "".join([*parts, marked(markdown[place:])])


def marked(words: str) -> str:
    """Words without code. Strong is set apart first, so that emphasis does not eat its stars."""
    words = escape(words)
    words = BARE.sub(r"<\g<0>>", LINK.sub(r"<\2|\1>", words))
    words = BULLET.sub(r"\1• ", words)
    words = HEADING.sub("\x01\\1\x01", words)
    words = STRONG.sub("\x01\\1\x01", words)
    return EMPHASIS.sub(r"_\1_", words).replace("\x01", "*")


def cut(text: str, most: int) -> list[str]:
    """Text in stretches of at most `most` characters, ended at a blank line, a line, a sentence or a word."""
    stretches = []
    while len(text) > most:
        place = sensible_end(text, most)
        stretches.append(text[:place].rstrip())
        text = text[place:].lstrip("\n")
    return [*stretches, text] if text else stretches


def sensible_end(text: str, most: int) -> int:
    """Where to end a stretch; in the middle of a word only where there is no better place in its second half."""
    for mark in ("\n\n", "\n", ". ", " "):
        place = text.rfind(mark, most // 2, most)
        if place > 0:
            return place + len(mark)
    return most


def sections(markdown: str, most: int) -> list[str]:
    """Words in Slack's marks, in stretches that fit. Code that a cut would open is closed before and opened after."""
    whole = mrkdwn(markdown)
    if len(whole) <= most:
        return [whole]
    place = sensible_end(markdown, max(2, len(markdown) * most // len(whole) // 2))
    head, tail = markdown[:place].rstrip(), markdown[place:].lstrip("\n")
    if head.count("`") % 2:
        head, tail = f"{head}`", f"`{tail}"
    return [*sections(head, most), *sections(tail, most)]


def shortened(text: str, most: int) -> str:
    """One line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
