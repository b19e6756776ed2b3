"""The names of persons that a ticket itself tells: its own columns, greetings, signatures, telephone lines.

knowledge/masking.py knows what names an account or a machine by its form; a person's name in a sentence has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

COLUMNS = re.compile(
    r"(?i)(?:requester|requestor|requested_?(?:by|for)|reporter|author|owner|assignee|assigned_?to|agent|user|username"
    r"|name|full_?name|first_?name|last_?name|email|e-?mail|customer|caller|contact|creator|opened_?by|closed_?by|from)"
)
NAME = r"[A-Z](?:[\w'-]{1,30}|\.)"
# What stands before a name. The name itself is the group that matched.
PLACES = (
    rf"\b(?:[Dd]ear|[Hh]i|[Hh]ello|HI|[Hh]ey|[Tt]hanks|[Tt]hank you),? ({NAME}(?: {NAME}){{0,2}})\s*[,!.:\n]",
    rf"\b(?:[Mm]y name is|[Tt]his is|I am|I'm) ({NAME} {NAME}(?: {NAME})?)",
    rf"\b(?:Prof|Dr|Mr|Mrs|Ms)\.? ({NAME}(?: {NAME})?)",
    r"(?i:regards|cheers|sincerely|best|thanks|thank you|greetings|yours)[,!.]?[ \t]*\n+"
    rf"[ \t]*({NAME}(?: {NAME}){{0,3}})[ \t]*(?:\n|$)",
    rf"^[ \t]*--[ \t]*\n[ \t]*({NAME}(?: {NAME}){{0,3}})[ \t]*(?:\n|$)",
)
SAID = re.compile("|".join(PLACES), re.MULTILINE)
NOBODIES = """
all team support everyone everybody both there folks sir madam colleagues again help desk user users helpdesk staff
admin admins sirs you for the in and slurm pytorch job node nodes cluster
"""
NOBODY = frozenset(NOBODIES.split())
TELEPHONE = re.compile(
    r"(?im)\b(?:tel|phone|telephone|mobile|cell|fax|handy|call|ring)\b(?: me| us)?(?: at| on| under)?[.:]*[ \t]*"
    r"(?P<v>[+(]?\d[\d ()/.-]{6,20}\d)"
)
PARTS = re.compile(r"[^\W\d_][\w'-]{2,}")


def persons(row: Mapping[str, str], shown: Iterable[str]) -> dict[str, str]:
    """The names in a ticket, whole and each part of them, as the masking takes them: name -> kind."""
    taken = set(shown)
    found = [value for name, value in row.items() if name not in taken and COLUMNS.fullmatch(name.strip())]
    for name in taken:
        found += [next(filter(None, said.groups())) for said in SAID.finditer(row.get(name, ""))]
    known: dict[str, str] = {}
    for whole in (value.strip() for value in found):
        parts = [part for part in PARTS.findall(whole.partition("@")[0]) if part.lower() not in NOBODY]
        if parts:
            known.update(dict.fromkeys((whole, *parts), "PERSON"))
    return known


def without_phones(text: str) -> str:
    """The text with the numbers of telephone lines left out, however they are written."""
    return TELEPHONE.sub(lambda found: found[0].replace(found["v"], "<PHONE_0>"), text)
