"""Changes of the program's own arguments: `--seed 1 as well`, `remove --a and use --b x instead`, `lr to 1e-4`.

An argument is known by the program's own line ("seq to 8192" where it says `--seq 4096`); a name that stands nowhere is
written as the others are: `--name value`, or `name=value` where they look so.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from graph.reading.edits import Add, Edit
from graph.reading.parts import JOBS
from graph.reading.scope import stretch_at
from knowledge.data_file import read_data
from knowledge.job_parts import ArgumentEdit, EditKind
from knowledge.types import JobRequest

# One argument: an option with its value, or key=value.
OPTION = re.compile(
    r"(?<![\w/.-])(?P<name>--?[A-Za-z](?:[\w.-]*\w)?)"
    r"(?:=(?P<given>\"[^\"]*\"|'[^']*'|[^\s,;]+)"
    r"|\s+(?:(?:from|to|at|in|into|be|is)\s+(?=[~$./]\S*\w))?(?P<value>\"[^\"]*\"|'[^']*'|[^\s,;-][^\s,;]*))?"
)
PAIR = re.compile(r"(?<![\w$/.-])(?P<name>\+{0,2}[a-z]\w*(?:[._]\w+)*)=(?P<given>\"[^\"]*\"|'[^']*'|[^\s,;]+)")
# Words that go on a sentence behind an option, and are no value of it.
NO_VALUE_WORDS = """
and also as be too please instead with to for on in from at by the it then but or not use add remove drop is of off und
auch statt bitte et aussi y también e anche well now again only takes if my pls merci svp por favor noch dazu here there
away off out back because przez oraz żeby i na w z pour avec par dans con por para mit auf sowie avant sem com um uma
для через してください ください を に と で 改成 改为 设为 换成
"""
NO_VALUES = frozenset(NO_VALUE_WORDS.split())
# The verb before arguments decides what becomes of them, until the next verb.
VERB = re.compile(
    r"\b(?:(?P<remove>remove|drop|delete|without|take out|leave out|leave off|get rid of|no more|no longer"
    r"|kill|strip|rm"
    r"|not|no|instead of|entferne|ohne|enl[eè]ve|retire|sans|quita|sin|togli|senza|rimuovi|tira|sem)"
    r"|(?P<replace>replace|swap|substitute|ersetze|remplace|reemplaza|sostituisci|troca)"
    r"|(?P<add>add|append|use|with|plus|also|pass|include|set|change|put|take|have|want|ajoute|mets|a[ñn]ade"
    r"|pon|aggiungi"
    r"|metti|mit|nimm|avec|con|adiciona|coloca|usa|utilise|nutze|verwende|setze))\b",
    re.I,
)
BY = re.compile(r"\s*\b(?:by|with|for|durch|par|por|con)\b", re.I)
# A field of the job, said as `set queue=debug`: none of the program's arguments.
FIELDS = re.compile(
    r"(?:machine|framework|strategy|nodes|gpus_per_node|total_gpus|walltime|queue|partition|qos|account|entry|args"
    r"|environment|container|job_name)$",
    re.I,
)
# What people call an argument -> how it may be spelled.
SPELLED: dict[str, list[str]] = read_data(Path(__file__).with_suffix(".yaml"))
BEFORE_NUMBER = (
    r"(?P<joint>\s*(?:=|:)\s*|\s+(?:back\s+|from\s+\S+\s+)?(?:to|auf|at|a|sur|of|is|should be)\s+|\s+)"
    r"(?P<value>\d[\w.+-]*|(?<=to )[\w./~$-]*[\w]|(?<=auf )[\w./~$-]*\w)"
)
DOTTED = r"[a-z]\w*(?:[._]\w+)+"
# `20 epochs`, `12 workers`: counted like things of the job, but the program's own.
COUNTED = re.compile(
    r"(?<!every )(?<![\w.,/=-])(?P<value>\d{1,7})\s+(?:more\s+)?"
    r"(?P<name>epochs?|steps|workers|warmup steps|seeds)\b(?!\s+per\b)",
    re.I,
)
DICTATED = re.compile(r"\bdash dash ([a-z]\w*(?: (?:dot|dash|underscore) [a-z]\w*)*)", re.I)


@dataclass(frozen=True, slots=True)
class Found:
    """One change read: its edit and where its words stand."""

    edit: ArgumentEdit
    start: int
    end: int


def spelled_out(text: str) -> str:
    """Dictated options as they are written: `dash dash trainer dot precision` is `--trainer.precision`."""

    def written(match: re.Match[str]) -> str:
        name = match[1]
        for word, sign in ((" dot ", "."), (" dash ", "-"), (" underscore ", "_")):
            name = name.replace(word, sign)
        return f"--{name}"

    spelled = DICTATED.sub(written, text)
    spelled = re.sub(r"(?<=\w) underscore (?=\w)", "_", spelled)
    if spelled == text:
        return text
    return re.sub(r"(?<=\w) dash (?=\w)", "-", re.sub(r"\bbf sixteen\b", "bf16", spelled))


def find_argument_edits(text: str, request: JobRequest) -> tuple[list[Edit], list[tuple[int, int]]]:
    """The changes of the program's arguments that a text makes, and where their words stand."""
    known = known_arguments(request)
    text = re.sub(r"`[^`]*`", lambda quoted: " " * len(quoted[0]), text)
    found = sorted(_disjoint([*_written(text, known), *_named(text, known)]), key=lambda f: f.start)
    return [Add("argument_edits", f.edit, text[f.start : f.end]) for f in found], [(f.start, f.end) for f in found]


def known_arguments(request: JobRequest) -> list[str]:
    """The names of the arguments that the program has, as they are written; key=value ones with their sign."""
    try:
        words = shlex.split(request.args or "")
    except ValueError:
        words = (request.args or "").split()
    names = [w.partition("=")[0] + ("" if w.startswith("-") else "=") for w in words if w.startswith("-") or "=" in w]
    return [*names, *(e.name for e in request.argument_edits if e.kind != "remove")]


def _written(text: str, known: Sequence[str]) -> Iterator[Found]:
    """Arguments as they stand on a command line, each with what the verb before it says."""
    for match in sorted([*OPTION.finditer(text), *PAIR.finditer(text)], key=lambda m: m.start()):
        name = match["name"]
        short = name.startswith("-") and not name.startswith("--")
        ours = JOBS.match(name) or (FIELDS.match(name) and f"{name}=" not in known)
        if ours or (short and name not in known):
            continue
        value, end = _value(match)
        inside = stretch_at(text, match.start())
        if inside and (inside.scope != "negated" or inside.keeps or (name not in known and f"{name}=" not in known)):
            continue
        kind = "remove" if inside else _kind(text, match.start())
        if kind == "remove":
            yield Found(ArgumentEdit("remove", name), _from_verb(text, match.start()), end)
        else:
            there = name in known or f"{name}=" in known
            yield Found(ArgumentEdit("set" if there else "add", name, value), _from_verb(text, match.start()), end)


def _value(match: re.Match[str]) -> tuple[str | None, int]:
    """An option's value and where it ends; a word that goes on the sentence is none."""
    got = match.groupdict()
    if got.get("given"):
        return got["given"].strip("\"'").rstrip(".?!"), match.end("given") - (
            len(got["given"]) - len(got["given"].rstrip(".?!"))
        )
    value = got.get("value")
    if not value or value.lower().rstrip(".!?") in NO_VALUES:
        return None, match.end("name")
    bare = value.rstrip(".!?") if not value.endswith("..") else value
    return bare.strip("\"'`"), match.start("value") + len(bare)


def _kind(text: str, at: int) -> EditKind:
    """What the last verb before a place says; `replace A by B` removes A and adds B."""
    verbs = [v for v in VERB.finditer(text, 0, at) if not _inside_option(text, v.start())]
    option = OPTION.match(text, at)
    if option and AWAY.match(text, option.end("name")):
        return "remove"
    if not verbs:
        return "add"
    last = verbs[-1]
    if last["replace"]:
        return "add" if BY.search(text, last.end(), at) else "remove"
    return "remove" if last["remove"] else "add"


def _inside_option(text: str, at: int) -> bool:
    return at > 0 and text[at - 1] in "-_.="


# `take the --debug away`, `switch --amp off`: the word behind an option takes it out.
AWAY = re.compile(r"\s+(?:away|off|out|weg|raus)\b(?!\s*(?:to|into|of)\b)", re.I)


def _from_verb(text: str, at: int) -> int:
    """Where the words of a change begin: its verb counts to it where nothing but small words lie between."""
    before = re.search(
        r"(?:\b(?:please|and|also|then|just|now|but|the|argument|arguments|option|flag|an?|program)\s+|"
        + VERB.pattern
        + r"\s+)+$",
        text[:at],
        re.I,
    )
    return before.start() if before else at


def _named(text: str, known: Sequence[str]) -> Iterator[Found]:
    """`lr to 1e-4`, `epochs 20`, `20 epochs`: an argument by what people call it."""
    for match in (*_pattern(tuple(known)).finditer(text), *COUNTED.finditer(text)):
        name = " ".join(re.split(r"[\s_-]+", match["name"].lower())) if "." not in match["name"] else match["name"]
        joint = match.groupdict().get("joint", "of")
        written = spelling(name, known) or spelling(match["name"].lower(), known)
        if stretch_at(text, match.start()):
            continue
        if written is None and (name in ("model", "seeds") or (name not in SPELLED and joint.isspace())):
            continue
        value = match["value"].rstrip(".!?")
        kind: EditKind = "set" if written else "add"
        start, end = match.span()
        shown = end if match["name"] == text[end - len(match["name"]) : end] else match.start("value") + len(value)
        yield Found(ArgumentEdit(kind, written or new_name(name, known), value), _from_verb(text, start), shown)


@lru_cache(maxsize=64)
def _pattern(known: tuple[str, ...]) -> re.Pattern[str]:
    """What arguments are called: the usual names, and those of the program's own line, as words too."""
    own = (
        re.sub(r"[_-]", "[ _-]", re.escape(k.strip("-=")).replace("\\-", "-")) for k in known if len(k.strip("-=")) > 1
    )
    names = sorted({*map(re.escape, SPELLED), *own}, key=len, reverse=True)
    return re.compile(rf"(?<![\w./=-])(?P<name>{'|'.join(names)}|{DOTTED}){BEFORE_NUMBER}", re.I)


def spelling(name: str, known: Sequence[str]) -> str | None:
    """The program's own name for what people call so."""
    squeezed = {re.sub(r"[^a-z0-9]", "", one.lower().split(".")[-1]): one for one in reversed(known)}
    whole = {one.rstrip("="): one for one in known}
    if name in whole or f"--{name}" in whole:
        return (whole.get(name) or whole[f"--{name}"]).rstrip("=")
    for one in SPELLED.get(name, (re.sub(r"[^a-z0-9]", "", name),)):
        if one in squeezed:
            return squeezed[one].rstrip("=")
    return None


def new_name(name: str, known: Sequence[str]) -> str:
    """A name that stands nowhere yet, written as the program's others are."""
    plain = SPELLED[name][0] if name in SPELLED and " " in name else name
    pairs = sum(one.endswith("=") for one in known)
    if "." in plain or pairs > len(known) - pairs:
        return plain
    joint = "_" if any("_" in one for one in known) else "-"
    return f"--{name.replace(' ', joint)}" if name != "learning rate" else "--lr"


def _disjoint(found: Sequence[Found]) -> list[Found]:
    out: list[Found] = []
    for one in found:
        if not any(o.start < one.end and one.start < o.end for o in out):
            out.append(one)
    return out
