"""The wishes among a script's directives that go along to another machine: who is told of the job's end."""

from __future__ import annotations

from graph.extraction.script import ReadScript
from knowledge.job_parts import MAIL_EVENTS, Mail, MailEvent

# What a scheduler's word for an event means.
EVENTS: dict[str, tuple[MailEvent, ...]] = {
    "begin": ("begin",), "end": ("end",), "fail": ("fail",), "time_limit": ("limit",), "all": ("begin", "end", "fail"),
}  # fmt: skip
LETTERS: dict[str, MailEvent] = {"b": "begin", "e": "end", "a": "fail"}
# The directives that say it, in any scheduler's words.
MAIL_OPTIONS = ("mail-user", "mail-type", "mail", "mail-begin", "mail-end")


def own_mail(script: ReadScript) -> Mail | None:
    """Who is told of what, as the script's directives say it; None where they say nothing, or something else."""
    said = {name: script.active[name].value for name in MAIL_OPTIONS if name in script.active}
    address = said.get("mail-user") or None
    if not said or "$" in (address or ""):
        return None
    types = [one.value for one in script.directives if one.active and one.option == "mail-type"]
    words = ",".join(types).lower().split(",")
    found = [event for word in words for event in EVENTS.get(word.strip(), ())]
    found += [LETTERS[one] for one in said.get("mail", "") if one in LETTERS]
    found += [event for event in ("begin", "end") if f"mail-{event}" in said]
    events = tuple(one for one in MAIL_EVENTS if one in found)
    if said.keys() <= {"mail-user"}:
        return Mail(address)
    return Mail(address, events) if events else None
