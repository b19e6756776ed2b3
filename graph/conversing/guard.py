"""What a model says, sentence by sentence, before anybody sees it.

What a site decides (the name of a queue or module, a path, a host, a limit, quota or price of a described machine) is
weighed against the machine's facts, what tools answered and the person's own words. Where the facts say otherwise, they
stand beside the sentence; what nobody knows is named at the answer's end, unless the words themselves say that it is
unsure. What stands only in a log, a comment or a page that was pasted is named as theirs. What is dangerous, claims a
deed that nobody did is taken out; a job script that the model typed is checked.
All else passes: general knowledge is the model's own. What the guard says, it says in the answer's language.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graph.conversing.claims import (
    ANYBODYS,
    CITED,
    CODE,
    hosts_of,
    is_public_host,
    modules_of,
    mounted_in,
    paths_of,
    queues_of,
    wrong_options,
)
from graph.conversing.dangers import dangerous, note, spoken, without_dangers
from graph.conversing.ground import Ground, stands
from graph.conversing.hand import lines_that_do
from graph.conversing.limits import judge
from graph.conversing.numbers import times_in, values_in
from graph.nodes.verify import worded
from graph.verification.checks import check
from graph.waiting.languages import language_of
from knowledge.cluster import Cluster

NOT_IN_PAGES, PASTED, UNDESCRIBED = note("not_in_pages"), note("pasted"), note("undescribed")
MOST_NAMED = 8
NOT_DONE = "it told of something done that was not"
SCRIPT = "[[script]]"
# The share of a script's lines that makes a block a copy of it, and how many lines it may have of its own.
MOST_SAME, MOST_OWN = 0.5, 1
# A script that a command writes to a file.
HEREDOC = re.compile(r"(?:cat\b[^\n]*?>\s*|tee\s+(?:-a\s+)?)[\"']?(?P<name>[^\s\"'<>|]+)|(?:cat|tee)\b[^\n]*<<")
HEREDOC_BEGINS = re.compile(r"<<-?\s*[\"']?(?P<end>\w+)")
FILE_NAME = re.compile(r"(?<![\w./-])(?:[\w.-]+/)*(?P<name>[\w-][\w.-]*\.(?:sh|slurm|sbatch|pbs|lsf|bsub|job|batch))\b")
# With so many directives before commands it is a script.
LEAST_DIRECTIVES = 3
WARNS = re.compile(
    r"(?i)(?:n['\u2019]t|\b(?:not|never|avoid|nicht|nie|kein\w*|pas|jamais|nunca|jamás))\b[^.,;:!?]{0,60}$"
)
MARK = re.compile(r"\[\[(?:rules|script|diagnosis|search|T\d+)\]\]|^\[\[[A-Za-z]\w*\]\]$", re.M)
SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bapprox\.)(?<!\bno\.)\s+(?=\S)"
    r"|(?<=:)\s+(?=[A-Z`*\"(])|\n+"
)
FENCE = re.compile(r"^(\s*)```\s*(\w*)\s*$")
LISTED = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])(?:\s+|$)")
HEDGED = spoken("hedged")
SCRIPT_LINE = re.compile(r"^[^\S\n]*#\s?(?:!|SBATCH\b|PBS\b|BSUB\b|flux:)", re.M)
DID = re.compile(
    r"\bI(?:'ve| have)?(?: just| now)? (?:submitted|cancell?ed|killed|deleted|launched|started|ran|e?mailed|sent"
    r"|searched|looked (?:it )?up on the web|logged in|checked (?:the|your) queue)\b"
    r"|\b(?:your job|it) (?:has been|is|was) (?:now )?submitted by me\b",
    re.I,
)
CHANGED = re.compile(
    r"\bI(?:'ve| have)(?: now| just)? (?:changed|set|added|removed|updated|edited|patched|put|switched|replaced)\b"
    r"|(?<!\bscript )(?<!\blines )\bI (?:just |now )?"
    r"(?:changed|added|removed|updated|edited|patched|switched|replaced)\b"
    r"|\bthe (?:script now \w+s\b|job now (?:uses|asks|has|takes)\b"
    r"|(?:script|job) (?:uses|asks|has|runs|takes)\b[^.\n]* now\b)",
    re.I,
)
# That nothing was changed, or that it was in an earlier turn.
DENIED = re.compile(
    r"\bnothing (?!else\b)[^.;\n]{0,20}\bchang|\b(?:changed|edited|touched) nothing\b(?! else)"
    r"|\bI (?:have not|haven['\u2019]t|did not|didn['\u2019]t)\b[^.;\n]{0,20}\b(?:chang|edit|touch)"
    r"|\bnot (?:been )?(?:changed|edited|touched)\b|\bno (?:change|edit)s? (?:was|were|is|are|ha\w+ been) made\b"
    r"|\b(?:script|file|it) (?:is|stays|remains|stands) (?:just |exactly )?(?:as it|unchanged|untouched|the same)\b"
    r"|\bleft (?:it|(?:the|your) \w+) (?:as|un\w+)\b",
    re.I,
)
EARLIER = re.compile(r"\b(?:already|earlier|before|previous\w*|last (?:turn|time|message|step)|so far)\b", re.I)
# What a claim names: code, or a number.
CLAIMED = re.compile(r"`([^`\n]+)`|(?<![\w.])(\d[\d:.,]*\d|\d)(?![\w])")
NOTHING_CHANGED = note("nothing_changed")
# A sentence that says whose word it is.
SAYS_WHOSE = re.compile(
    r"\b(?:log|log's|traceback|line \d+|lines \d+|you (?:said|say|wrote|gave|set|passed|pasted|named|asked)"
    r"|your (?:log|script|command|message|text|output|traceback|comment|own)|its output)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Unproved:
    """What a part of the answer says and nothing proves: of which machine, and whether pasted text says it."""

    item: str
    machine: str
    pasted: bool
    part: int


@dataclass(slots=True)
class Guard:
    """Hears a streamed answer, hands on what passes, keeps it. changed: whether a script was changed in this turn;
    wanted: whether the person asks to see it; script: the one in hand, which stands for a copy of it that the model
    types; file: its name.

    named: the machines that the answer names, the last one first; unproved: what nothing proves; hedged: the parts of
    the answer that say so themselves, a part being what stands between blank lines, with the code behind it and what
    its last line announces; worked: the numbers of each part so far; derived: those that a sentence works out; below:
    facts that contradict an item of a list, for the answer's end; typed: job scripts that the model typed itself;
    refused: what the checks hold against these; taken_out: why something was left out; is_cut: the answer had no room
    for its end.
    """

    ground: Ground
    write: Callable[[str], None]
    changed: bool = False
    script: str = ""
    file: str = ""
    wanted: bool = False
    passed: list[str] = field(default_factory=list)
    unproved: list[Unproved] = field(default_factory=list)
    hedged: set[int] = field(default_factory=set)
    no_options: dict[tuple[str, str], None] = field(default_factory=dict)
    mounted: set[str] = field(default_factory=set)
    facts: dict[str, None] = field(default_factory=dict)
    named: list[Cluster] = field(default_factory=list)
    part: int = 0
    worked: dict[int, set[float]] = field(default_factory=dict)
    derived: set[float] = field(default_factory=set)
    below: list[str] = field(default_factory=list)
    typed: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    taken_out: list[str] = field(default_factory=list)
    is_cut: bool = False
    _said: str | None = None
    _announces: bool = False
    _gap: bool = False
    _quotes: bool = False
    _waiting: str = ""
    _row: list[str] = field(default_factory=list)
    _block: list[str] | None = None
    _kind: str = ""
    _indent: str = ""

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
        if self._said is None:
            self._said = self.ended()
        return self._said

    def ended(self) -> str:
        self.take_row(self._waiting)
        self._waiting = ""
        if self._block is not None:
            self.close_block()
        text = re.sub(r"\n{3,}", "\n\n", "\n".join(self.passed)).strip()
        self.refused = [one for script in self.typed for one in refusals(script, self.ground)]
        # Without a script in hand, what was changed stands in the answer's own blocks.
        of_script = bool(self.script) or ("script" in text and "```" not in text)
        if of_script and not self.changed and not DENIED.search(text) and any(map(self.is_claim, sentences(text))):
            self.taken_out.append(NOTHING_CHANGED.strip("()"))
            text = f"{text}\n\n{note('nothing_changed', self.language())}"
        marks = self.marks()
        return f"{text}\n\n{marks}" if marks else text

    def is_claim(self, sentence: str) -> bool:
        """Whether a sentence tells of a change in this turn that the script does not bear out."""
        if not CHANGED.search(MARK.sub("", sentence)) or EARLIER.search(sentence):
            return False
        named = [one[1] or one[2] for one in CLAIMED.finditer(sentence)]
        does = "\n".join(lines_that_do(self.script))
        return not named or not all(one in does for one in named)

    def marks(self) -> str:
        """The lines that name what nothing proves, and options that no release has."""
        language, open_ = self.language(), self.open_items()
        rows = [
            *self.against(),
            *([note("not_checked", language)] if self.typed and len(self.ground.here) > 1 else []),
        ]
        if self.ground.undescribed and not self.hedged and any(not one.machine and not one.pasted for one in open_):
            rows.append(note("undescribed", language).format(self.ground.undescribed))
        rows += [note("cut", language)] if self.is_cut else []
        return "\n".join(f"({row})" for row in rows)

    def against(self) -> list[str]:
        """What facts and checks hold against the answer, beside what stands in its sentences."""
        language, open_ = self.language(), self.open_items()
        rows = [note("no_option", language).format(command, f"`{option}`") for command, option in self.no_options]
        rows = [*self.below, *rows, *self.refused]
        for machine in dict.fromkeys(one.machine for one in open_ if one.machine and not one.pasted):
            items = [one.item for one in open_ if one.machine == machine and not one.pasted]
            rows.append(note("not_in_pages", language).format(machine, *listed(items)))
        if items := [one.item for one in open_ if one.pasted]:
            rows.append(note("pasted", language).format(*listed(items)))
        return rows

    def open_items(self) -> list[Unproved]:
        """What nothing proves and no words call unsure."""
        return [one for one in self.unproved if one.part not in self.hedged and not self.is_derived(one.item)]

    def language(self, more: str = "") -> str:
        """The language of the answer so far; empty for English."""
        return language_of(CODE.sub(" ", " ".join([*self.passed, *self._row, more])))

    def is_derived(self, item: str) -> bool:
        """Whether it is a number that a sentence of the answer works out."""
        return item[:1].isdigit() and bool(values_in(item) & self.derived)

    def take_row(self, row: str) -> None:
        """A line that is whole, or what is left of one."""
        fence = FENCE.match(row)
        if fence and self._block is None:
            self._block, self._indent, self._kind, self._gap = [], fence[1], fence[2].lower(), False
        elif self._block is not None and row.strip() == "```":
            self.close_block()
        elif self._block is not None:
            self._block.append(row)
        elif not self._row and MARK.fullmatch(row.strip()):
            self.passed.append(row)  # what stands behind it comes with the whole answer
        elif not self._row and not row.strip():
            self._gap = True
            self.give(row)
        else:
            self._quotes = row.lstrip().startswith(">")  # a letter that is proposed: its writer is another
            for sentence in sentences(row):
                self.say(sentence)
            self.give(" ".join(self._row), told=True) if self._row else None
            self._row = []

    def say(self, sentence: str) -> None:
        self.part += self._gap and not self._announces
        self._gap = False
        judged = self.judged(sentence)
        self._announces = sentence.rstrip(" *").endswith(":")
        self._row.append(judged)
        self.write(f"{judged} ")

    def close_block(self) -> None:
        """A block of code: commands line by line; that of a job script from memory nobody checked it, is said."""
        rows, self._block = self._block or [], None
        harmless = without_dangers(rows, self.language())
        self.taken_out += [row.lstrip("# ") for row in harmless if row not in rows]
        rows, text = harmless, "\n".join(harmless)
        if SCRIPT_LINE.search(text) and self.is_copy(rows):
            self.passed.append(SCRIPT)
        else:
            body = written_to_file(rows)[1] or rows
            whole = is_whole_script(body)
            self.typed += ["\n".join(body)] if whole and not all(self.is_known_line(row) for row in body) else []
            if self._kind not in ("python", "py", "json", "yaml", "text"):
                for row in rows:
                    self.weigh(row, code=True)
            self.give(f"{self._indent}```{self._kind}\n{text}\n{self._indent}```")

    def is_copy(self, rows: Sequence[str]) -> bool:
        """Whether these are the script in hand, under no other file's name: what stands there is shown, not what was
        typed. One that was changed in this turn, or that the person wants to see, may be typed with a slip; else each
        line that does something has to be there, and no other: a changed one is the model's proposal."""
        name, body = written_to_file(rows)
        lines = {row.strip() for row in self.script.splitlines() if row.strip()}
        typed = {row.strip() for row in body or rows if row.strip()}
        own = lines_that_do("\n".join(typed - lines))
        if not (self.changed or self.wanted) and (own or not set(lines_that_do("\n".join(lines))) <= typed):
            return False
        same = len(typed & lines) >= MOST_SAME * len(lines) and len(own) <= MOST_OWN
        return bool(lines) and same and (name or self.announced()) in ("", self.file)

    def announced(self) -> str:
        """The file that the words right before name last; empty where they name none."""
        before = next((row for row in reversed(self.passed) if row.strip()), "")
        names = [one["name"] for one in FILE_NAME.finditer(before)]
        return names[-1] if names and not before.lstrip().startswith("```") else ""

    def is_known_line(self, row: str) -> bool:
        return not row.strip() or row.strip().lower() in self.ground.text() or not SCRIPT_LINE.match(row)

    def give(self, text: str, *, told: bool = False) -> None:
        self.passed.append(text)
        self.write("\n" if told else f"{text}\n")

    def judged(self, sentence: str) -> str:
        """The sentence as it is shown: with the fact beside it that it contradicts, without what does harm."""
        language = self.language(sentence)
        sentence = CODE.sub(lambda span: without_danger(span, language), sentence)
        danger = dangerous(CODE.sub(" ", sentence), code=False)
        if danger or (DID.search(sentence) and not self._quotes):
            self.taken_out.append(f"{danger or NOT_DONE}: {sentence.strip()}")
            return note("left_out", language).format(danger or NOT_DONE)
        if HEDGED.search(sentence):
            self.hedged.add(self.part)
        facts = self.weigh(sentence, language=language)
        if facts and LISTED.match(self._row[0] if self._row else sentence):
            self.below += facts
            return sentence
        if not facts:
            return sentence
        beside = f" ({' '.join(facts)})"
        return f"{sentence[:-1].rstrip()}{beside} |" if sentence.endswith("|") else f"{sentence}{beside}"

    def weigh(self, sentence: str, *, code: bool = False, language: str = "") -> list[str]:
        """Note what the sentence says of a machine that nothing proves; the facts that it contradicts."""
        ground, plain = self.ground, CITED.sub("", MARK.sub("", LISTED.sub("", sentence)))
        self.no_options.update(dict.fromkeys(wrong_options(plain)))
        mentioned = ground.machines_in(plain)
        self.named = [*mentioned, *(one for one in self.named if one not in mentioned)]
        at = mentioned or [*self.named, *(one for one in ground.here if one not in self.named)]
        odd = [f"`{one}`" for one in queues_of(plain) if not ground.has_queue(one, at)]
        odd += [f"`{one}`" for one in modules_of(plain) if not ground.has(one, at)]
        self.mounted.update(mounted_in(plain))
        odd += [f"`{one}`" for one in paths_of(plain) if not (self.is_mounted(one) or ground.has_path(one, at))]
        odd += [address for host, address in hosts_of(plain).items() if not self.is_known_host(host, at)]
        found = judge(plain, ground, at, self.worked.get(self.part, ()), language) if at and not code else None
        self.worked.setdefault(self.part, set()).update(values_in(plain) | times_in(plain))
        if found:
            odd += found.odd
            self.derived |= found.derived
        if CITED.search(sentence) and ground.pages:
            odd = [one for one in odd if not any(stands(one.strip("`"), page.lower()) for page in ground.pages)]
        machine = at[0].title if at else ""
        for one in dict.fromkeys(odd):
            pasted = ground.is_pasted(one.strip("`"))
            if not (pasted and SAYS_WHOSE.search(sentence)) and one not in (before.item for before in self.unproved):
                self.unproved.append(Unproved(one, machine, pasted, self.part))
        facts = [one for one in (found.facts if found else ()) if one not in self.facts]
        self.facts.update(dict.fromkeys(facts))
        return facts

    def is_mounted(self, path: str) -> bool:
        """Whether a path lies in a folder that the answer's own commands make in a container."""
        return any(f"{path}/".startswith(f"{one}/") for one in self.mounted)

    def is_known_host(self, host: str, at: Sequence[Cluster]) -> bool:
        """Whether a host is known, or anybody's and not one that only a log names."""
        if self.ground.has(host, at) or is_public_host(host):
            return True
        return ANYBODYS.search(host) is not None and not any(host in text for text in self.ground.pasted)


def refusals(script: str, ground: Ground) -> list[str]:
    """What the checks hold against a job script; nothing where it may be for one of several machines."""
    if len(ground.here) > 1:
        return []
    return [worded(one) for one in check(script, next(iter(ground.here), None)) if one.severity == "error"]


def written_to_file(rows: Sequence[str]) -> tuple[str, list[str]]:
    """The file that a command of the block writes a script to, and that script; empty where there is no such."""
    for at, row in enumerate(rows):
        begins = HEREDOC_BEGINS.search(row)
        if begins and (found := HEREDOC.match(row.strip())):
            end = next((n for n in range(at + 1, len(rows)) if rows[n].strip() == begins["end"]), len(rows))
            return (found["name"] or "").rpartition("/")[2], list(rows[at + 1 : end])
    return "", []


def is_whole_script(rows: Sequence[str]) -> bool:
    """Whether it is a script that could be handed in, and not some lines of one."""
    directives = [row for row in rows if SCRIPT_LINE.match(row)]
    if not next((row for row in rows if row.strip()), "").startswith("#!"):
        return False  # lines for a script of theirs
    works = any(row.strip() and not row.lstrip().startswith("#") for row in rows)
    return len(directives) >= LEAST_DIRECTIVES and works


def without_danger(span: re.Match[str], language: str) -> str:
    """A piece of code in a sentence; a dangerous one only where the words before it warn of it."""
    danger = dangerous(span[1])
    warns = WARNS.search(span.string[: span.start()])
    return note("span_left_out", language).format(danger) if danger and not warns else span[0]


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


def listed(items: Sequence[str]) -> tuple[str, str]:
    """Items in a row, and the word for them."""
    shown = list(dict.fromkeys(items))
    more = len(shown) - MOST_NAMED
    row = f"{', '.join(shown[:MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"
    return row, "it" if len(shown) == 1 else "them"
