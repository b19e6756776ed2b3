"""What a sentence says that a site decides: queues, modules, paths, hosts; and options of a scheduler."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from graph.conversing.dangers import spoken
from graph.verification.checks.option_tables import FLUX_LONG, SLURM_PLUGINS
from knowledge.catalogue import catalogue
from knowledge.slurm_options import slurm_options

SHIPPED = Path(__file__).parents[2] / "knowledge"
CITED = re.compile(r"\[\d{1,2}\]")
CODE = re.compile(r"`([^`\n]+)`")
# At least two folders deep: `and/or` and `/scratch` are none of a site's own.
PATH = re.compile(r"(?<![\w./:~${}<>*-])/[\w.<>${}*-]+(?:/[\w.<>${}*-]+)+")
URL = re.compile(r"\bhttps?://(?P<host>[\w.-]*\w)[^\s)>\]`]*|\b[\w.+-]+@(?P<mail>[\w-]+\.[\w.-]*\w)")
LOADED = re.compile(
    r"\b(?:module|ml)\s+(?:load|add|swap)\s+([^\n`;,()&|#]+)|\b(?:module|Modul|módulo)\s+[`*]*([a-zA-Z][\w+-]*/\d[\w.+-]*)"
)
MODULE = re.compile(r"[a-zA-Z][\w+-]*(?:/[\w.+-]+)*")
SUBMITS = re.compile(
    r"(?:^|[\s`;&|(])(?:#\s?(?P<mark>SBATCH)|(?P<command>sbatch|srun|salloc)"
    r"|(?P<flux>flux) (?:run|submit|batch|alloc))\s+(?P<rest>[^\n;|&]*)"
)
NOUN = spoken("queue").pattern
# Whole: `gp_` and `gpu*` are how several begin.
NAME = r"(?:[^\W_][\w.-]*[^\W_]|[^\W_])(?![\w*])"
PLACEHOLDER = re.compile(r"[A-Z_]*(?:YOUR|QOS|QUEUE|PARTITION|NAME)[A-Z_]*")
QUEUE_AFTER = re.compile(
    rf"{NOUN}\s+(?:(?:called|named|namens|nommée|appelée|llamada|is|ist|est|es)\s+)?(?P<tick>[`*\"]*)(?P<name>{NAME})",
    re.I,
)
QUEUE_BEFORE = re.compile(rf"(?P<tick>[`*\"]*)(?P<name>{NAME})(?P=tick)[ -]{NOUN}", re.I)
QUEUE_OPTION = re.compile(
    rf"(?:^|\s)(?:--partition|--qos|--queue|(?<=#SBATCH )-[pq]|(?<=sbatch )-[pq]|(?<=srun )-[pq])[= ]\s*({NAME})"
)
# Folders of any Unix or of nobody's, and where a person's own lie.
FREE_PATHS = re.compile(
    r"^/(?:path|tmp|dev|proc|sys|usr|etc|opt|bin|lib(?:64)?|var|run|root|home|mnt|workspace|app|data|your|some|my"
    r"|percorso|ruta|camino|caminho|chemin|pfad|hub|snapshots"
    r"|Users|Volumes|Applications|content|kaggle)\b|[<>{}$]|/[A-Z][A-Z_-]{2,}(?:/|$)|YOUR"
)
ELIDED = re.compile(r"/(?:\.{3}|…)")
# `-v "$PWD":/out`, `--bind /work/data:/data`, `--mount type=bind,source=a,target=/data`
MOUNTED = re.compile(
    r"(?:(?<=\s)(?:-v|-B|--volume|--bind)[ =][\"']?(?P<from>[^\s:]+):"
    r"|--mount[ =][^\s]{0,120}?(?:target|dst|destination)=)(?P<to>/[\w./-]+)"
)
# Hosts under these names are anybody's, or the person's own computer; a site's own stand under its country's, or under
# .gov, .edu and the like.
ANYBODYS = re.compile(r"\.(?:com|org|io|ai|dev|net|sh|co|app)$|^[^.]+$|^(?:127|10|192\.168)\.|\.local(?:host|domain)?$")
# A time or a size, also as an adjective: `4-day queue`.
LENGTH = r"[\d.:hms-]+|\d+-(?:day|hour|minute|node|gpu|card|week|tag|stunde|jour|heure|d[ií]a|hora|giorn|or)\w{0,2}"
QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
# Which any command takes.
ALWAYS = frozenset(("help", "usage", "version"))


def modules_of(text: str) -> list[str]:
    """The modules that a text loads or names as such."""
    found = [word for loaded, named in LOADED.findall(text) for word in (loaded or named).split()]
    return [word.rstrip(".:") for word in found if MODULE.fullmatch(word.rstrip(".:")) and word not in ("and", "or")]


def paths_of(text: str) -> list[str]:
    """The folders and files of a site; of one that is told in short (`/pscratch/.../x`), what stands before that."""
    found = (ELIDED.split(path)[0].rstrip("/.") for path in PATH.findall(URL.sub(" ", text)))
    return [path for path in dict.fromkeys(found) if not FREE_PATHS.search(path)]


def mounted_in(text: str) -> list[str]:
    """The folders within a container that a command of the text makes there, under other names than outside."""
    found = (one["to"].rstrip("/.") for one in MOUNTED.finditer(text) if one["from"] != one["to"])
    return [path for path in found if path]


def hosts_of(text: str) -> dict[str, str]:
    """The hosts of addresses, each with the address as it is written."""
    return {found["host"] or found["mail"]: found[0].rstrip(".:,;!?") for found in URL.finditer(text)}


def is_public_host(host: str) -> bool:
    """Whether our own pages name that host, or another of the same owner."""
    owner = ".".join(host.lower().split(".")[-2:])
    return any(one == owner or one.endswith(f".{owner}") for one in page_hosts())


def wrong_options(text: str) -> list[tuple[str, str]]:
    """The commands of Slurm and Flux with each long option that none of their releases has."""
    wrong = []
    for found in SUBMITS.finditer(text):
        name = "sbatch" if found["mark"] else found["command"] or "flux"
        options = slurm_options().of(name)
        flags = frozenset(one for one, option in options.items() if option.takes != "value")
        known = frozenset(options) | frozenset(slurm_options().aliases) | SLURM_PLUGINS
        known = (FLUX_LONG if found["flux"] else known) | ALWAYS
        wrong += [(name, f"--{one}") for one in options_before(found["rest"], flags) if not is_option(one, known)]
    return list(dict.fromkeys(wrong))


def options_before(rest: str, flags: frozenset[str] = frozenset()) -> list[str]:
    """The long options before the program: what stands behind that is the program's own. flags: those that take no
    word of their own (`--pty bash`)."""
    options, goes_on = [], False
    for word in QUOTED.sub("x", rest).replace("`", " ` ").split():
        if word.startswith("--") and len(word) > 2:
            options.append(word[2:].partition("=")[0])
            goes_on = "=" not in word and options[-1] not in flags
        elif word.startswith("-") and len(word) > 1:
            goes_on = len(word) == 2
        elif goes_on and word != "`":
            goes_on = False
        else:
            break
    return [one for one in options if re.fullmatch(r"[a-z][\w-]+", one)]


def is_option(name: str, known: frozenset[str]) -> bool:
    """Whether a command takes the option, or the beginning of one, which is enough for it."""
    return name in known or any(one.startswith(name) for one in known)


def queues_of(sentence: str) -> list[str]:
    """The queues that a sentence names: by an option, beside the word for one in code or in the form of a name, or in
    code as a queue of any machine is called. A plain word beside `queue` may be any adjective."""
    found = QUEUE_OPTION.findall(sentence)
    found += [one["name"] for one in beside_queue(sentence) if one["tick"] or has_sign(one["name"])]
    spans = (span.strip() for span in CODE.findall(sentence))
    found += [one for one in spans if has_sign(one) and one.lower() in queue_names()]
    names = dict.fromkeys(one.strip("`*\"',;.") for one in found)
    return [one for one in names if one and not (PLACEHOLDER.fullmatch(one) and one.lower() not in queue_names())]


def beside_queue(sentence: str) -> list[re.Match[str]]:
    """Every word beside the word for a queue, which may be its name."""
    return [*QUEUE_AFTER.finditer(sentence), *QUEUE_BEFORE.finditer(sentence)]


def has_sign(word: str) -> bool:
    """Whether a word has the form of a name: a digit or an underscore, and is no length of time."""
    return bool(re.search(r"\d|_", word)) and not re.fullmatch(LENGTH, word, re.I)


@cache
def queue_names() -> frozenset[str]:
    return frozenset(queue.id.lower() for one in catalogue().clusters.values() for queue in one.queues)


@cache
def page_hosts() -> frozenset[str]:
    """The hosts that the shipped pages and facts name."""
    text = f"{page_text()}\n{shipped_text(sorted(SHIPPED.glob('clusters/*.yaml')))}"
    return frozenset(found["host"].lower() for found in URL.finditer(text) if found["host"])


@cache
def page_text() -> str:
    """The shipped pages that hold for any machine."""
    files = [*SHIPPED.glob("cards/*.yaml"), *SHIPPED.glob("guides/*.yaml"), *SHIPPED.glob("launchers/*.yaml")]
    files += [SHIPPED / f"{name}.yaml" for name in ("options", "network_env", "causes", "glossary", "job_life")]
    return shipped_text(files)


def shipped_text(files: Iterable[Path]) -> str:
    """Files of the package itself, one behind the other."""
    return "\n".join((SHIPPED / path).read_text(encoding="utf-8") for path in files)
