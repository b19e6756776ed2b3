"""Whether a message asks for nothing but what a word of the glossary means, or how two of them differ: read by its
form, since words as plain as *task* or *port* stand in questions of everything else."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from knowledge.data_file import read_data
from knowledge.glossary import common_names, difference, name_pattern, term_names

# A question of that form is short.
LONGEST = 140
# Stands for a name of the glossary, which are too many for the form's own pattern.
WORD = "\N{REPLACEMENT CHARACTER}"
QUOTES = "*`'\"\u201c\u201d\u2018\u2019\u00ab\u00bb\u201e"


@cache
def forms() -> dict[str, str]:
    """The alternatives of each list of defining.yaml."""
    lists: dict[str, list[str]] = read_data(Path(__file__).with_name("defining.yaml"))
    joined = {name: "|".join(rows) for name, rows in lists.items()}
    return {name: said.replace("{asks}", joined["asks"]).replace("{word}", WORD) for name, said in joined.items()}


@cache
def hints() -> re.Pattern[str]:
    """What one of the forms has at least: looked for before the names are loaded."""
    return re.compile(rf"(?i)(?:{forms()['leads']}|{forms()['asks']}|{forms()['versus']})")


@cache
def whole_form() -> re.Pattern[str]:
    """A message that is only such a question, of up to three words, each put as WORD."""
    form = forms()
    gap = r"[\s!-/:-@\[-`{-~\u00a1\u00ab\u00bb\u00bf\u2000-\u206f\u3000-\u303f\uff00-\uff65]*"
    one, two, three = (rf"(?:(?:{form['article']})\s+|l['\u2019])?{gap}(?P<w{at}>{WORD}){gap}" for at in "123")
    return re.compile(
        rf"{gap}(?:(?:{form['opens']})(?!\w){gap}){{0,3}}(?:(?P<lead>{form['leads']}){gap})?{one}"
        rf"(?:(?:(?P<versus>{form['versus']})|{form['joins']}|,){gap}{two})?(?:(?:{form['joins']}|,){gap}{three})?"
        rf"(?:(?:(?P<asks>{form['asks']})|{form['ends']})(?![^\W\d_]){gap}){{0,3}}"
    )


@cache
def right_before() -> re.Pattern[str]:
    """A lead that ends where the word begins."""
    return re.compile(rf"(?:^|\W)(?:{forms()['leads']})\W*(?:(?:{forms()['article']})\s+)?[{QUOTES}]?$")


def words_asked(text: str) -> tuple[str, ...]:
    """The ids of the terms of which the text asks what they mean or how they differ, and nothing else; else none.

    Two with no more than a *versus* between them are also a choice: they count where it is written how they differ.
    """
    plain = text.lower().replace(WORD, " ").strip()
    if len(plain) > LONGEST or not hints().search(plain):
        return ()
    names = [name[0] for name in name_pattern().finditer(plain)]
    marked = name_pattern().sub(WORD, plain)
    found = whole_form().fullmatch(marked)
    if not found:
        return ()
    at = [marked.count(WORD, 0, found.start(part)) for part in ("w1", "w2", "w3") if found[part]]
    terms = tuple(dict.fromkeys(term_names()[names[one]] for one in at))
    if found["lead"] or found["asks"]:
        return terms
    return terms if found["versus"] and len(terms) == 2 and difference(*terms) else ()


def find_terms(text: str) -> tuple[str, ...]:
    """The ids of the terms that the words name, in their order, each once.

    A name that is an everyday word counts only where the word itself is asked for.
    """
    if asked := words_asked(text):
        return asked
    plain = text.lower()
    names = (
        found[0]
        for found in name_pattern().finditer(plain)
        if found[0] not in common_names() or right_before().search(plain[: found.start()])
    )
    return tuple(dict.fromkeys(term_names()[name] for name in names))
