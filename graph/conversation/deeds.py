"""Plain orders of deeds outside of the conversation, which nobody does here: each is refused with the way to do it."""

from __future__ import annotations

import re

from graph.conversation.turn import TurnContext
from graph.state import State
from knowledge.types import Say

THING = r"(?:it|them|(?:the|this|that|my) (?:[\w.-]+ )?(?:scripts?|files?|job script))"
BEFORE = r"\W*(?:(?:ok(?:ay)?|now|then|and|please|pls|can you|could you|will you|just)[, ]+)*"
SENDS = re.compile(
    rf"(?i){BEFORE}(?:(?:send|forward|e?mail|share|give|pass|hand) {THING} (?:to|with|over to)\b.*"
    rf"|(?:send|forward|e?mail|give) (?:me|us|him|her|them|my \w+) {THING}\W*)"
)
DELETES = re.compile(rf"(?i){BEFORE}(?:delete|erase|trash|rm|throw away|get rid of) {THING}(?:[, ]+(?:now|please))*\W*")
SENT = (
    "I send nothing. Save it as `{name}` and give that file along; on the machine, into a folder that both can read: "
    "`cp {name} FOLDER/ && chmod g+r FOLDER/{name}`. Who takes it over needs an account and paths of their own."
)
DELETED = (
    "I delete no files: where you saved it, `rm {name}` does. Here the script stays until you say *start over*; a job "
    "that was submitted keeps its own copy."
)
DEEDS = ((SENDS, SENT), (DELETES, DELETED))


def by_deed(turn: TurnContext) -> State | None:
    """What to do instead; None where no such deed is ordered, or no script is in hand."""
    script = turn.script
    if script is None or turn.message.scripts or turn.message.logs:
        return None
    told = next((says for pattern, says in DEEDS if pattern.fullmatch(turn.words.strip())), None)
    return State(said=(Say(told.format(name=script.name)),), act="outside") if told else None
