"""What a model says, sentence by sentence, before anybody sees it.

What tells of a machine (a queue, module, option, variable, command, path, limit, number) has to stand in what the tools
answered, in the facts, or in the person's own words; else the sentence is marked as general knowledge. What stands only
in a log, a comment or a page that was pasted is marked as theirs: it proves nothing. What is dangerous, claims a deed
that nobody did, or hands over a script is taken out. General explanations pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path

from graph.conversing.dangers import dangerous, guard_data
from graph.conversing.said import numbers_in
from knowledge.catalogue import catalogue

GENERAL = "(general knowledge, not from this site's pages)"
PASTED = "(only your text says so; this site's pages do not)"
LEFT_OUT = "(A line is left out here: {}.)"
NO_SCRIPTS = "scripts come from the templates and from edits of the one in hand, not from the model's memory"
NOT_DONE = "it told of something done that was not"
MARK = re.compile(r"\[\[[A-Za-z]\w*\]\]")
SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bapprox\.)(?<!\bno\.)\s+(?=\S)"
    r"|(?<=:)\s+(?=[A-Z`*\"(])|\n+"
)
FENCE = re.compile(r"^\s*```\s*(\w*)\s*$")
CITED = re.compile(r"\[\d{1,2}\]")
LISTED = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")
CODE = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--[A-Za-z][\w-]+")
VARIABLE = re.compile(r"(?<![\w$])\$?\{?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b|\$\{?([A-Z][A-Z0-9_]{2,})\b")
PATH = re.compile(r"(?<![\w./:~-])(?:~|\$\w+)?/[\w.<>${}/*-]{2,}")
URL = re.compile(r"\bhttps?://[^\s)>\]`]+|\b[\w.+-]+@[\w-]+\.[\w.]+\b")
MODULE = re.compile(r"\bmodule\s+(?:load|add|swap)\s+([^\n`;,.]+(?:\.\d+)*)|(?<![\w/.:-])([a-zA-Z][\w+-]*/\d[\w.+-]*)")
QUEUE_SAID = re.compile(
    r"\b(?:partition|queue|qos)s?\s+(?:called\s+|named\s+|is\s+)?([`*\"]*)([\w.-]+)"
    r"|(?:^|\s)(--partition|--qos|(?<=#SBATCH )-[pq]|(?<=sbatch )-[pq]|(?<=srun )-[pq])[= ]\s*([\w.-]+)",
    re.I,
)
QUEUE_BEFORE = re.compile(r"(`?)([\w.-]+)\1 (?:partition|queue|qos)\b", re.I)
NUMBER = re.compile(r"(?<![\w.$/-])\d[\d,]*(?:\.\d+)?(?::\d\d)*")
# Lengths of time, which have to be known as such; and numbers that count nothing: dates, pages, versions, names.
TIME = re.compile(
    r"(?<![\w.:-])(?:(?P<d>\d+)-)?(?P<h>\d+):(?P<m>\d\d)(?::\d\d)?(?![\w:])"
    r"|(?<![\w.:-])(?P<n>\d+(?:\.\d+)?)[ -]?(?P<unit>s|sec\w*|m|min\w*|h|hrs?|hours?|d|days?|weeks?|months?|years?)\b",
    re.I,
)
UNITS = {"s": 1 / 3600, "m": 1 / 60, "h": 1.0, "d": 24.0, "w": 168.0, "mo": 720.0, "y": 8760.0}
NO_NUMBERS = re.compile(
    r"https?://\S+|\b20\d\d-\d\d(?:-\d\d)?\b|\[\d{1,3}\]|(?m:^\s*\d{1,2}[.)] )|\b\w*[a-z]\w*\d\w*\b"
    r"|\b\d+\.\d+\.\d+\b"
)
# What makes a sentence one about a machine.
OF_MACHINE = re.compile(
    r"\b(?:queues?|partitions?|qos|wall ?time|time limit|limits?|quota|purge[ds]?|node[- ]hours?|charge[ds]?|SUs?"
    r"|per node|(?:each|every|a|one) node|nodes (?:have|has|with)|login nodes?|allocation|site|this (?:machine|cluster)"
    r"|backup|backed up)\b",
    re.I,
)
COMMAND = re.compile(r"^\s*(?:\$\s+)?(?:[A-Z_]+=\S+\s+)*([a-z][\w.+-]*)(?=\s|$)")
SCRIPT_LINE = re.compile(r"^\s*#\s?(?:!|SBATCH\b|PBS\b|BSUB\b|flux:)", re.M)
DID = re.compile(
    r"\bI(?:'ve| have)?(?: just| now)? (?:submitted|cancell?ed|killed|deleted|launched|started|ran|e?mailed|sent"
    r"|searched|looked (?:it )?up on the web|logged in|checked (?:the|your) queue)\b"
    r"|\b(?:your job|it) (?:has been|is|was) (?:now )?submitted by me\b",
    re.I,
)
CHANGED = re.compile(
    r"\bI(?:'ve| have)(?: now| just)? (?:changed|set|added|removed|updated|edited|patched|put|switched|replaced)\b"
    r"|\bI (?:just |now )?(?:changed|added|removed|updated|edited|patched|switched|replaced|wrote)\b"
    r"|\bthe (?:script|job) (?:now \w+s\b|(?:uses|asks|has|runs|takes)\b[^.\n]* now\b)",
    re.I,
)
# What a site sets and nobody works out: its numbers have to stand somewhere.
NOT_RECKONED = re.compile(r"\b(?:quotas?|purged?|backups?|backed up)\b", re.I)
DENIED = re.compile(r"\bnothing (?:is|was|has been|to) change", re.I)
NOTHING_CHANGED = "(Nothing was changed in a script in this turn.)"
FREE_PATHS = re.compile(
    r"^(?:~|\$HOME|/path|/tmp|/dev/(?:shm|null)|/proc|/sys|/home/<|/etc/hosts|\$USER|\$SLURM_TMPDIR)|<"
)


@dataclass(slots=True)
class Ground:
    """What a sentence may stand on. known: facts and tools' answers; words: the person's own, which make no queue;
    pasted: logs and comments, which prove nothing; pages: passages that were read in, which a sentence has to cite;
    sizes: the job's own nodes, GPUs and hours.
    """

    known: list[str] = field(default_factory=list)
    words: str = ""
    pasted: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    sizes: tuple[float, ...] = ()
    _text: str = ""
    _numbers: frozenset[float] = frozenset()
    _times: frozenset[float] = frozenset()

    def add(self, *texts: str) -> None:
        self.known += texts
        self._text = ""

    def text(self) -> str:
        if not self._text:
            self._text = "\n".join(self.known).lower()
            plain = NO_NUMBERS.sub(" ", f"{self._text}\n{self.words.lower()}")
            self._numbers, self._times = numbers_in(plain), times_in(plain)
        return self._text

    def has(self, item: str) -> bool:
        return stands(item, self.text()) or stands(item, self.words.lower())

    def is_pasted(self, item: str) -> bool:
        return any(stands(item, text.lower()) for text in (self.words, *self.pasted))

    def numbers(self) -> tuple[frozenset[float], frozenset[float]]:
        """Every number that is known, and every length of time, in hours."""
        self.text()
        return self._numbers, self._times


def stands(item: str, text: str) -> bool:
    """Whether the item stands there as a word of its own."""
    return re.search(rf"(?<![\w-]){re.escape(item.lower())}(?![\w-])", text) is not None


@dataclass(slots=True)
class Guard:
    """Hears a streamed answer, hands on what passes, keeps it. changed: whether a script was changed in this turn."""

    ground: Ground
    write: Callable[[str], None]
    changed: bool = False
    passed: list[str] = field(default_factory=list)
    taken_out: int = 0
    marked: int = 0
    _waiting: str = ""
    _row: list[str] = field(default_factory=list)
    _block: list[str] | None = None
    _kind: str = ""

    def hear(self, piece: str) -> bool:
        self._waiting += piece
        while "\n" in self._waiting:
            row, _, self._waiting = self._waiting.partition("\n")
            self.take_row(row)
        if self._block is None and not self._waiting.lstrip().startswith(("`", "[", "|")):
            *whole, self._waiting = sentences(self._waiting, last=True)
            for sentence in whole:
                self.say(sentence)
        return True

    def end(self) -> str:
        """The whole answer as it passed."""
        self.take_row(self._waiting)
        self._waiting = ""
        if self._block is not None:
            self.close_block()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self.passed)).strip()
        if not self.changed and CHANGED.search(MARK.sub("", text)) and not DENIED.search(text):
            text = f"{text}\n\n{NOTHING_CHANGED}"
        return text

    def take_row(self, row: str) -> None:
        """A line that is whole, or what is left of one."""
        fence = FENCE.match(row)
        if fence and self._block is None:
            self._block, self._kind = [], fence[1].lower()
        elif self._block is not None and row.strip() == "```":
            self.close_block()
        elif self._block is not None:
            self._block.append(row)
        elif not self._row and (not row.strip() or MARK.fullmatch(row.strip())):
            self.give(row)
        else:
            for sentence in sentences(row):
                self.say(sentence)
            self.give(" ".join(self._row), told=True) if self._row else None
            self._row = []

    def say(self, sentence: str) -> None:
        judged = self.judged(sentence)
        self._row.append(judged)
        self.write(f"{judged} ")

    def close_block(self) -> None:
        """A block of code: commands line by line; a script that does not stand in what is known is left out."""
        rows, self._block = self._block or [], None
        text = "\n".join(rows)
        danger = dangerous(text)
        if danger:
            self.leave_out(danger)
        elif SCRIPT_LINE.search(text) and len(rows) > 1 and not all(self.is_known_line(row) for row in rows):
            self.leave_out(NO_SCRIPTS)
        else:
            shell = self._kind not in ("python", "py", "json", "yaml", "text")
            odd = next(filter(None, (self.mark_of(row, code=True) for row in rows)), "") if shell else ""
            self.marked += bool(odd)
            self.give(f"```{self._kind}\n{text}\n```" + (f"\n{odd}" if odd else ""))

    def is_known_line(self, row: str) -> bool:
        return not row.strip() or row.strip().lower() in self.ground.text() or not SCRIPT_LINE.match(row)

    def leave_out(self, why: str) -> None:
        self.taken_out += 1
        self.give(LEFT_OUT.format(why))

    def give(self, text: str, *, told: bool = False) -> None:
        self.passed.append(text)
        self.write("\n" if told else f"{text}\n")

    def judged(self, sentence: str) -> str:
        danger = dangerous(sentence, code=False) or next(filter(None, map(dangerous, CODE.findall(sentence))), "")
        if danger or DID.search(sentence):
            self.taken_out += 1
            return LEFT_OUT.format(danger or NOT_DONE)
        if SCRIPT_LINE.match(sentence) and not self.is_known_line(sentence):
            self.taken_out += 1
            return LEFT_OUT.format(NO_SCRIPTS)
        mark = self.mark_of(sentence)
        self.marked += bool(mark)
        return f"{sentence} {mark}" if mark else sentence

    def mark_of(self, sentence: str, *, code: bool = False) -> str:
        """The mark that a sentence needs; empty where all that it says of a machine stands on something."""
        plain = CITED.sub("", MARK.sub("", LISTED.sub("", sentence)))
        odd = [item for item in items_of(plain, code=code) if not self.is_known(item)]
        odd += [name for name in queues_of(plain, code=code) if not self.is_known_queue(name)]
        odd += self.odd_numbers(plain)
        cites = CITED.search(sentence)
        if not odd or (cites and all(any(stands(item, page.lower()) for page in self.ground.pages) for item in odd)):
            return ""
        return PASTED if all(self.ground.is_pasted(item) for item in odd) else GENERAL

    def is_known(self, item: str) -> bool:
        return item in vocabulary() or standard().fullmatch(item) is not None or self.ground.has(item)

    def is_known_queue(self, name: str) -> bool:
        """A queue of a machine's facts, spoken of here; a name that only somebody said is none."""
        return name.lower() in queue_names() and self.ground.has(name)

    def odd_numbers(self, sentence: str) -> list[str]:
        """Numbers about a machine that stand nowhere and do not follow from numbers that do."""
        lower = sentence.lower()
        if not (OF_MACHINE.search(sentence) or any(stands(name, lower) for name in machine_names())):
            return []
        plain = NO_NUMBERS.sub(" ", CODE.sub(" ", sentence))
        known, known_times = self.ground.numbers()
        times = {found[0]: found for found in TIME.finditer(plain)}
        said = [(text, value_of(text)) for text in NUMBER.findall(TIME.sub(" ", plain))]
        sure = [value for text, value in said if value in known or value in (0, 1)]
        own = numbers_in(self.ground.words)
        sure += [hours for one in times.values() if (hours := hours_of(one)) in known_times or value_of(one[0]) in own]
        rest = [(text, value) for text, value in said if value not in sure]
        rest += [(text, hours) for text, found in times.items() if (hours := hours_of(found)) not in sure]
        if NOT_RECKONED.search(sentence):
            return [text for text, _ in rest]
        return [text for text, value in rest if not follows(value, [*sure, *self.ground.sizes, 60.0, 1000.0, 1024.0])]


def sentences(row: str, *, last: bool = False) -> list[str]:
    """The sentences of a line; code spans stay whole. last: the last one may go on, and stands there even if empty."""
    spans: list[str] = []

    def hide(found: re.Match[str]) -> str:
        spans.append(found[0])
        return f"\x00{len(spans) - 1}\x01"

    parts = SENTENCE_END.split(CODE.sub(hide, row))
    if last and "`" in "".join(parts):  # a code span is still open
        return [row]
    whole = [re.sub("\x00(\\d+)\x01", lambda found: spans[int(found[1])], part) for part in parts]
    return whole if last else [part for part in whole if part.strip()]


def items_of(sentence: str, *, code: bool = False) -> list[str]:
    """What has to stand somewhere: options, variables, modules, queues, paths, addresses, first words of commands."""
    found: list[str] = [*OPTION.findall(sentence), *URL.findall(sentence)]
    found += [a or b for a, b in VARIABLE.findall(sentence)]
    found += [path.rstrip("/.") for path in PATH.findall(URL.sub(" ", sentence)) if not FREE_PATHS.search(path)]
    for loaded, versioned in MODULE.findall(sentence):
        found += [word for word in (loaded or versioned).split() if word[0] not in "<$-"]
    spans = [sentence] if code else CODE.findall(sentence)
    found += [head[1] for span in spans if (" " in span.strip() or code) and (head := COMMAND.match(span))]
    return [item.strip("`*\"',;") for item in dict.fromkeys(found) if item.strip("`*\"',;")]


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
    folder = Path(__file__).parents[2] / "knowledge"
    files = [*folder.glob("cards/*.yaml"), *folder.glob("guides/*.yaml"), *folder.glob("launchers/*.yaml")]
    files += [folder / f"{name}.yaml" for name in ("options", "network_env", "causes", "glossary", "job_life")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    words = {*OPTION.findall(text), *(a or b for a, b in VARIABLE.findall(text))}
    words |= {head[1] for span in CODE.findall(text) if (head := COMMAND.match(span))}
    return frozenset(words) | frozenset(guard_data()["commands"].split())


@cache
def standard() -> re.Pattern[str]:
    return re.compile(guard_data()["variables"].replace(" ", ""))


def times_in(text: str) -> frozenset[float]:
    """The lengths of time that a text names, in hours."""
    return frozenset(hours_of(found) for found in TIME.finditer(text))


def hours_of(found: re.Match[str]) -> float:
    if found["h"]:
        return 24 * int(found["d"] or 0) + int(found["h"]) + int(found["m"]) / 60
    unit = found["unit"].lower()
    return float(found["n"]) * UNITS["mo" if unit.startswith("mo") else unit[0]]


def value_of(text: str) -> float:
    """The number; a time as hours; without its unit."""
    text = re.sub(r"[ -]?[A-Za-z]+$", "", text)
    if ":" in text:
        parts = [float(part) for part in text.split(":")]
        return parts[0] + parts[1] / 60 if len(parts) > 1 else parts[0]
    return float(text.replace(",", ""))


def follows(value: float, known: Iterable[float]) -> bool:
    """Whether the number is a sum, difference, product or quotient of two or three that are known."""
    numbers = [one for one in dict.fromkeys(known) if one not in (0, 1)][:12]
    pairs = {out for a, b in combinations(numbers, 2) for out in (a + b, abs(a - b), a * b, *quotients(a, b))}
    three = {out for a in pairs for b in numbers for out in (a * b, *quotients(a, b))}
    return any(abs(value - one) <= 0.01 * abs(one) for one in (*pairs, *three) if one)


def quotients(a: float, b: float) -> tuple[float, ...]:
    return tuple(x / y for x, y in ((a, b), (b, a)) if y)
