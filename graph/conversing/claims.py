"""What a sentence says of a machine: options, variables, modules, queues, paths, addresses, commands, numbers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from graph.conversing.dangers import guard_data, spoken
from knowledge.catalogue import catalogue

SHIPPED = Path(__file__).parents[2] / "knowledge"
PLACEHOLDER = "YOUR_"  # what our own scripts leave to be filled in
CITED = re.compile(r"\[\d{1,2}\]")
CODE = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]+")
VARIABLE = re.compile(r"(?<![\w$])\$?\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b|\$\{?([A-Z][A-Z0-9_]{2,})\b")
PATH = re.compile(r"(?<![\w./:~-])(?:~|\$\w+)?/[\w.<>${}/*-]{2,}")
URL = re.compile(r"\bhttps?://[^\s)>\]`]+|\b[\w.+-]+@[\w-]+\.[\w.]+\b")
MODULE = re.compile(
    r"\bmodule\s+(?:load|add|swap)\s+([^\n`;,.&|]+(?:\.\d[\w+-]*)*)|(?<![\w/.:-])([a-zA-Z][\w+-]*/\d[\w.+-]*)"
)
# `A100/80GB` is a card.
CARD = re.compile(r"(?:A|B|H|L|V|P|T|MI|GH|GB|RTX)\d{2,4}\w*/.*")
NOUN = spoken("queue").pattern
NAME = r"[^\W_][\w.-]*[^\W_]|[^\W_]"
ADJECTIVE_BEHIND = re.compile("|".join(guard_data()["queue"][one] for one in ("fr", "es")), re.I)
ENGLISH = re.compile(guard_data()["queue"]["en"], re.I)
QUEUE_AFTER = re.compile(
    rf"(?P<noun>{NOUN})\s+(?:(?P<called>called|named|namens|nommée|appelée|llamada|is|ist|est|es)\s+)?(?P<tick>[`*\"]*)(?P<name>{NAME})",
    re.I,
)
QUEUE_OPTION = re.compile(
    rf"(?:^|\s)(?:--partition|--qos|--queue|(?<=#SBATCH )-[pq]|(?<=sbatch )-[pq]|(?<=srun )-[pq])[= ]\s*({NAME})"
)
QUEUE_BEFORE = re.compile(
    rf"(?:(?P<article>[^\W\d]+)\s+)?(?P<tick>[`*\"]*)(?P<name>{NAME})(?P=tick)(?P<sign>[ -])(?P<noun>{NOUN})", re.I
)
# Before an ordinary word that is a queue's name here: `a normal queue` names none.
NAMING = spoken("naming")
ENDINGS = re.compile(r"(?:est|er|ing|ed|ly|al|ous|ive|able|less|ful|ish|ary|ern|ible|ent|ant|ate)$")
COMMAND = re.compile(r"^\s*(?:\$\s+)?(?:[A-Z_]+=\S+\s+)*([a-z][\w.+-]*)(?=\s|$)(?!\s*=)")
FREE_PATHS = re.compile(
    r"^(?:~|\$HOME|/path|/tmp|/dev/(?:shm|null)|/proc|/sys|/home/<|/etc/hosts|\$USER|\$SLURM_TMPDIR)|<"
)


def items_of(sentence: str, *, code: bool = False) -> list[str]:
    """What has to stand somewhere: options, variables, modules, queues, paths, addresses, first words of commands."""
    spans = [sentence] if code else CODE.findall(sentence)
    heads = [head[1] for span in spans if (" " in span.strip() or code) and (head := COMMAND.match(span))]
    # What ssh or git is told says nothing of a machine.
    general = [span for span in spans if (head := COMMAND.match(span)) and head[1] in general_tools()]
    optioned = "" if code and general else sentence
    for span in general:
        optioned = optioned.replace(span, " ")
    found: list[str] = [*OPTION.findall(optioned), *URL.findall(sentence)]
    found += [name for a, b in VARIABLE.findall(sentence) if not (name := a or b).startswith(PLACEHOLDER)]
    found += [path.rstrip("/.") for path in PATH.findall(URL.sub(" ", sentence)) if not FREE_PATHS.search(path)]
    for loaded, versioned in MODULE.findall(sentence):
        found += [word for word in (loaded or versioned).split() if word[0] not in "<$-" and not CARD.fullmatch(word)]
    plain = (item.strip("`*\"',;").rstrip(".:!?") for item in dict.fromkeys([*found, *heads]))
    return [item for item in plain if item]


def queues_of(sentence: str, *, code: bool = False) -> list[str]:
    """The queues that a sentence names: by an option, in quotes or code beside the word, or as a name and no other
    word of the language."""
    found = QUEUE_OPTION.findall(sentence)
    found += [one["name"] for one in QUEUE_AFTER.finditer(sentence) if names_after(one)]
    found += [one["name"] for one in QUEUE_BEFORE.finditer(sentence) if names_before(one)]
    alone = [] if code else [span.strip() for span in CODE.findall(sentence)]
    spoken = re.search(NOUN, sentence, re.I) is not None
    found += [one for one in alone if one.lower() in queue_names() and (spoken or not is_ordinary(one))]
    return [name for name in dict.fromkeys(one.strip("`*\"',;.") for one in found) if name]


def names_after(found: re.Match[str]) -> bool:
    """Whether what stands behind `queue` is a name."""
    name = found["name"]
    if found["tick"] or has_sign(name):
        return True
    if name.lower() not in queue_names() or not is_ordinary(name):
        return name.lower() in queue_names()
    # `La cola normal` is a usual one: there an adjective stands behind its noun.
    return not (found["called"] or name[0].isupper() or ADJECTIVE_BEHIND.fullmatch(found["noun"]))


def names_before(found: re.Match[str]) -> bool:
    """Whether what stands before `queue` is a name: `the turbo queue`, and not `a normal queue` or `the last queue`."""
    name, article = found["name"], (found["article"] or "").lower()
    if found["tick"] or has_sign(name):
        return True
    if name.lower() in queue_names() and not is_ordinary(name):
        return True
    if found["sign"] == "-":
        return name.islower() and not is_word(name)
    if NAMING.fullmatch(article) is None:
        return False
    # Our pages, by which a word is told from a name, are in English.
    return is_ordinary(name) or (ENGLISH.fullmatch(found["noun"]) is not None and name.islower() and not is_word(name))


def has_sign(word: str) -> bool:
    """Whether a word has the form of a name: a digit or an underscore, and is no length of time."""
    return bool(re.search(r"\d|_", word)) and not re.fullmatch(r"[\d.:hms-]+", word)


def is_ordinary(name: str) -> bool:
    """Whether the name of a queue is a word of the language too: normal, debug, long."""
    return name.lower() in ordinary()


def is_word(name: str) -> bool:
    """Whether the word stands in our own pages, or has a word's ending, and so need not be a name."""
    return len(name) < 4 or name in page_words() or ENDINGS.search(name) is not None


@cache
def ordinary() -> frozenset[str]:
    return frozenset(guard_data()["ordinary"].split())


@cache
def general_tools() -> frozenset[str]:
    return frozenset(guard_data()["general_tools"].split())


@cache
def page_words() -> frozenset[str]:
    """The lower-case words of the shipped pages."""
    return frozenset(re.findall(r"\b[a-z]{3,}\b", page_text()))


@cache
def queue_names() -> frozenset[str]:
    return frozenset(queue.id.lower() for one in catalogue().clusters.values() for queue in one.queues)


@cache
def machine_names() -> tuple[str, ...]:
    clusters = catalogue().clusters.values()
    return tuple(sorted({name.lower() for one in clusters for name in (one.id, one.title, one.site, *one.names)}))


@cache
def page_text() -> str:
    """The shipped pages that hold for any machine."""
    files = [*SHIPPED.glob("cards/*.yaml"), *SHIPPED.glob("guides/*.yaml"), *SHIPPED.glob("launchers/*.yaml")]
    files += [SHIPPED / f"{name}.yaml" for name in ("options", "network_env", "causes", "glossary", "job_life")]
    return "\n".join((SHIPPED / path).read_text(encoding="utf-8") for path in files)


@cache
def vocabulary() -> frozenset[str]:
    """Options, variables and commands that the shipped pages speak of, whatever the machine."""
    text = page_text()
    words = {*OPTION.findall(text), *(a or b for a, b in VARIABLE.findall(text))}
    words |= {head[1] for span in CODE.findall(text) if (head := COMMAND.match(span))}
    return frozenset(words) | frozenset(guard_data()["commands"].split()) | general_tools()


@cache
def standard() -> re.Pattern[str]:
    return re.compile(guard_data()["variables"].replace(" ", ""))
