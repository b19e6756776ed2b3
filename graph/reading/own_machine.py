"""What a message tells of a machine that nobody described: its name, scheduler, queue and cards."""

from __future__ import annotations

import re
from functools import cache

from graph.extraction.sentences.lexicon import fold, lexicon, read_yaml
from graph.extraction.sentences.machines import names as known_names
from graph.reading.mentions import find_mentions
from knowledge.types import Scheduler
from templates.nearest import vendor_of

YOURS = "your cluster"
MOST_WORDS = 1000
KIND = r"(?:super-?computer|cluster|hpc(?: system| cluster)?|machine|system|server|box|workstation)"
NAME = r"(?P<name>[A-Za-z][\w-]{2,20}(?:[ -]\d{1,4}\b)?)"
# A name that is said to be a machine's: `a cluster called Titania`, `machine 'titania'`, `our cluster (Hummel-2, ...)`.
CALLED = re.compile(
    rf"\b{KIND}\b\s*(?:(?:here|there|is|it'?s|which is)\s+)*(?:(?P<said>called|named|[\"'`])|[,:(])?\s*[\"'`]?{NAME}",
    re.I,
)
# A name where a machine's stands: `on Kestrel`, `a job for BigRed200`, `port this to Kestrel`.
PLACED = re.compile(
    r"(?:\b[Oo]n(?:to)?|\b[Aa]uf|\b[Ss]ur|\b(?:job|script|file|it|this|one|header) (?:for|to)"
    r"|\b(?:port|move|submit|migrate)"
    rf"(?: \w+){{0,3}} to)\s+(?:the\s+|our\s+)?[\"'`]?{NAME}[\"'`]?(?![\w./-])"
)
# `BigRed200`, `Hummel-2`, `Kestrel`: a capital inside or in front, or a number behind.
LIKE_A_NAME = re.compile(r"[A-Z][a-z]+(?:[A-Z]\w*|[- ]?\d+)?|[A-Z]?[a-z]+-?\d{1,4}|[a-z]+[A-Z]\w*")
OF_THEIRS = r"own|uni|university|local|lab|company|institute|department|group|campus|in-?house|private|small|new|office"
# A machine of their own, without a name.
OWN = re.compile(
    rf"\b(?:our|my|a|the)\s+(?:\w+\s+){{0,3}}?(?:{OF_THEIRS})(?:'?s)?\s+(?:\w+\s+)?{KIND}\b"
    rf"|\b(?:our|my|we have a|i have a)\s+(?:\w+\s+)?{KIND}\b"
    rf"|\b{KIND}\s+(?:of|at|in)\s+(?:our|my|the)\s+(?:{OF_THEIRS})\b"
    r"|\bat (?:our|my|the) (?:company|uni\w*|lab|institute|department|work|office)\b|\bat a company\b"
    r"|\b(?:slurm|(?:open)?pbs(?:[ -]?pro\w*)?|torque|(?:ibm )?(?:spectrum )?lsf|flux)"
    rf"(?:[ -](?:based|managed|run))?\s+{KIND}\b"
    rf"|\b{KIND}\s+(?:with|running|under|that (?:runs|uses)|using)\s+(?:slurm|pbs|lsf|flux)\b"
    rf"|\b{KIND}\b.{{0,20}}\b(?:is ?n[o']?t|not) (?:in|on) (?:any|the|your|that) list\b"
    r"|\bnot (?:in|on) (?:your|the|that) list\b"
    rf"|\bunsere[mn]?\s+(?:\w+\s+)?(?:cluster|rechner|server)\b|\bnotre\s+cluster\b|\bnuestro\s+cl[uú]ster\b",
    re.I,
)
NO_ACCOUNT = re.compile(r"\b(?:no|without|do(?:n'?t| not) (?:have|need|use)(?: any| an)?) accounts?\b", re.I)
DIRECTIVE_MARK = re.compile(r"#\s?(?:SBATCH|PBS|BSUB)\b|#flux:")
OF_SCHEDULER: tuple[tuple[Scheduler, re.Pattern[str]], ...] = (
    ("slurm", re.compile(r"\b(?:slurm|sbatch|squeue|srun|sinfo)\b", re.I)),
    ("pbs", re.compile(r"\b(?:pbs(?:[ -]?pro)?|openpbs|torque|qsub|qstat)\b", re.I)),
    ("lsf", re.compile(r"\b(?:lsf|bsub|bjobs)\b", re.I)),
    ("flux", re.compile(r"\bflux\b", re.I)),
)
# What a script or a model tells of the scheduler, in front of what the person told of the machine.
RUNS = re.compile(r"\AIt runs (slurm|pbs|lsf|flux)\.\n")
# Schedulers for which nothing is written: their directives are none of the four.
OTHER_SCHEDULER = re.compile(
    r"\b(?:(?:son of |sun |univa |open )?grid ?engine|[sou]ge|ht-?condor|condor_submit|oar(?:sub)?|load ?leveler"
    r"|llsubmit|pjm|pjsub|nqsv?|kubernetes|k8s|nomad)\b",
    re.I,
)
# `queue is named gpu_prio`, `the h100 partition`
QUEUE = re.compile(
    r"\b(?:queue|partition|qos|partici[oó]n|partizione|parti[cç][aã]o|cola|coda|fila|warteschlange)\s+(?:(?:there|is|are|name|it'?s)\s+)*(?:called|named|[=:])?\s*[\"'`]?"
    r"(?P<behind>[A-Za-z][\w.-]*)|[\"'`]?(?P<front>[A-Za-z][\w.-]*[_\d-][\w.-]*)[\"'`]?\s+(?:queue|partition)\b",
    re.I,
)
ACCOUNT = re.compile(
    r"\b(?:account|project|allocation)\s+(?:(?:there|is|name|it'?s)\s+)+(?:called|named|[=:])?\s*[\"'`]?(?P<name>\w[\w.-]+)",
    re.I,
)
CARD = re.compile(
    r"\b(?:(?:rtx|gtx|quadro|tesla|instinct|radeon|titan)\s?(?:pro\s)?\w*\d\w*(?:\s?(?:ada|ti|super))?"
    r"|[abhlv]\d{2,3}[ls]?|g[bh]200|mi\d{2,3}[axi]?|t4|p100)\b",
    re.I,
)


@cache
def no_names() -> frozenset[str]:
    return frozenset(read_yaml("places.yaml")["no_machines"])


def machine_told(words: str) -> str | None:
    """The machine that a message tells of and that nobody described: its name, or that it is their own."""
    called = (one["name"] for one in CALLED.finditer(words) if is_name(one["name"], named=bool(one["said"])))
    placed = (found["name"] for found in PLACED.finditer(words) if is_name(found["name"]))
    name = next(called, None) or next(placed, None)
    return name or (YOURS if OWN.search(words) else None)


def is_name(word: str, *, named: bool = False) -> bool:
    """Whether a word may be a machine's name: no word of the language or of the field. named: it is said to be one."""
    plain = fold(word).split()[0]
    if plain in no_names() or plain in known_names().not_names or lexicon().knows(plain):
        return False
    _, mentions = find_mentions(word)
    if any(one.kind not in ("Machine", "Name", "Quantity") for one in mentions):
        return False
    return named or LIKE_A_NAME.fullmatch(word) is not None


def scheduler_told(words: str) -> Scheduler | None:
    """The scheduler that the words name, or whose commands they do; a directive tells it only where nothing else does:
    `it uses qsub, someone told me to write #SBATCH`."""
    if found := RUNS.match(words):
        return next(name for name, _ in OF_SCHEDULER if name == found[1])
    plain = DIRECTIVE_MARK.sub(" ", words)
    return next((name for text in (plain, words) for name, pattern in OF_SCHEDULER if pattern.search(text)), None)


def running(words: str, scheduler: str) -> str:
    """What was told of a machine, with its scheduler in front, whatever else the words name."""
    return f"It runs {scheduler}.\n{RUNS.sub('', words)}"[:MOST_WORDS]


def other_scheduler(words: str) -> str:
    """The scheduler that the words name and for which nothing can be written here; empty where none is."""
    found = OTHER_SCHEDULER.search(words)
    return found[0] if found else ""


def tells_of_site(words: str) -> bool:
    """Whether words say what kind of machine it is: its scheduler, its GPUs, or that it has no accounts."""
    return bool(scheduler_told(words) or vendor_of(words) or NO_ACCOUNT.search(words))


def queue_told(words: str) -> str | None:
    """The queue that a message names; on a machine that nobody described it is taken as said."""
    named = ((one["behind"] or one["front"]).strip(".") for one in QUEUE.finditer(words))
    return next((name for name in named if not is_word(name)), None)


def account_told(words: str) -> str | None:
    return next((one["name"] for one in ACCOUNT.finditer(words) if not is_word(one["name"])), None)


def is_word(name: str) -> bool:
    """Whether it is a word of the language rather than a queue's or account's name: `gpu` and `main` are names."""
    no_queues = no_names() | frozenset(read_yaml("labels.yaml")["stop"])
    return name.lower() in no_queues - {"gpu", "gpus", "cpu", "login", "compute", "short", "long"}


def card_told(words: str) -> str:
    found = CARD.search(words)
    return found[0] if found else ""
