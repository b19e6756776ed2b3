"""What a sentence says of a machine: options, variables, modules, queues, paths, addresses, commands, numbers."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from graph.conversing.dangers import guard_data
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
QUEUE_SAID = re.compile(
    r"\b(?:partition|queue|qos)s?\s+(?:called\s+|named\s+|is\s+)?([`*\"]*)([\w.-]+)"
    r"|(?:^|\s)(--partition|--qos|(?<=#SBATCH )-[pq]|(?<=sbatch )-[pq]|(?<=srun )-[pq])[= ]\s*([\w.-]+)",
    re.I,
)
QUEUE_BEFORE = re.compile(r"(`?)([\w.-]+)\1 (?:partition|queue|qos)\b", re.I)
NUMBER = re.compile(r"(?<![\w.$/-])\d[\d,]*(?:\.\d+)?(?::\d\d)*")
COMMAND = re.compile(r"^\s*(?:\$\s+)?(?:[A-Z_]+=\S+\s+)*([a-z][\w.+-]*)(?=\s|$)")
FREE_PATHS = re.compile(
    r"^(?:~|\$HOME|/path|/tmp|/dev/(?:shm|null)|/proc|/sys|/home/<|/etc/hosts|\$USER|\$SLURM_TMPDIR)|<"
)


def items_of(sentence: str, *, code: bool = False) -> list[str]:
    """What has to stand somewhere: options, variables, modules, queues, paths, addresses, first words of commands."""
    found: list[str] = [*OPTION.findall(sentence), *URL.findall(sentence)]
    found += [name for a, b in VARIABLE.findall(sentence) if not (name := a or b).startswith(PLACEHOLDER)]
    found += [path.rstrip("/.") for path in PATH.findall(URL.sub(" ", sentence)) if not FREE_PATHS.search(path)]
    for loaded, versioned in MODULE.findall(sentence):
        found += [word for word in (loaded or versioned).split() if word[0] not in "<$-"]
    spans = [sentence] if code else CODE.findall(sentence)
    found += [head[1] for span in spans if (" " in span.strip() or code) and (head := COMMAND.match(span))]
    plain = (item.strip("`*\"',;").rstrip(".:!?") for item in dict.fromkeys(found))
    return [item for item in plain if item]


def queues_of(sentence: str, *, code: bool = False) -> list[str]:
    """The queues that a sentence names: behind the word or the option, or alone in a code span."""
    said = [(a or c, (b or d).strip("`*\"',;.")) for a, b, c, d in QUEUE_SAID.findall(sentence)]
    said += QUEUE_BEFORE.findall(sentence)
    spans = [] if code else [span.strip() for span in CODE.findall(sentence)]
    found = [name for tick, name in said if name and (tick or is_queue(name))]
    return [*found, *(span for span in spans if span.lower() in queue_names())]


def is_queue(word: str) -> bool:
    """Whether the word is the name of a queue anywhere, or has the form of one and no meaning of its own."""
    return word.lower() in queue_names() or (bool(re.search(r"\d|_", word)) and not re.fullmatch(r"[\d.:hms]+", word))


@cache
def queue_names() -> frozenset[str]:
    return frozenset(queue.id.lower() for one in catalogue().clusters.values() for queue in one.queues)


@cache
def machine_names() -> tuple[str, ...]:
    names = {name.lower() for one in catalogue().clusters.values() for name in (one.id, one.title, *one.names)}
    return tuple(sorted(names))


@cache
def vocabulary() -> frozenset[str]:
    """Options, variables and commands that the shipped pages speak of, whatever the machine."""
    files = [*SHIPPED.glob("cards/*.yaml"), *SHIPPED.glob("guides/*.yaml"), *SHIPPED.glob("launchers/*.yaml")]
    files += [SHIPPED / f"{name}.yaml" for name in ("options", "network_env", "causes", "glossary", "job_life")]
    text = "\n".join((SHIPPED / path).read_text(encoding="utf-8") for path in files)
    words = {*OPTION.findall(text), *(a or b for a, b in VARIABLE.findall(text))}
    words |= {head[1] for span in CODE.findall(text) if (head := COMMAND.match(span))}
    return frozenset(words) | frozenset(guard_data()["commands"].split())


@cache
def standard() -> re.Pattern[str]:
    return re.compile(guard_data()["variables"].replace(" ", ""))
