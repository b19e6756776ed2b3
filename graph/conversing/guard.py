"""What a model says, sentence by sentence, before anybody sees it.

What tells of a machine (a queue, module, option, variable, command, path, limit, number) has to stand in what the tools
answered, in the facts, or in the person's own words; what does not is named in a line at the answer's end, as general
knowledge. What stands only in a log, a comment or a page that was pasted is named as theirs, unless the sentence says
that the log says so: it proves nothing. What is dangerous, claims a deed that nobody did, or hands over a script is
taken out. General explanations pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from graph.conversing.claims import (
    CITED,
    CODE,
    PATH,
    items_of,
    machine_names,
    queue_names,
    queues_of,
    standard,
    vocabulary,
)
from graph.conversing.dangers import dangerous, spoken
from graph.conversing.ground import Amounts, Ground, stands
from graph.conversing.numbers import NO_NUMBERS, NUMERAL, TOTALS, Quantity, follows, quantities, reckoned, times_of
from graph.conversing.said import in_digits

GENERAL = "General knowledge, not from this site's pages; check before you rely on it:"
PASTED = "Only your text says so, this site's pages do not:"
MOST_NAMED = 8
# Numbers of the sentences before, from which the next may follow.
MOST_STATED = 6
LEFT_OUT = "(A line is left out here: {}.)"
NO_SCRIPTS = "scripts come from the templates and from edits of the one in hand, not from the model's memory"
NOT_DONE = "it told of something done that was not"
SCRIPT = "[[script]]"
# The share of a script's lines that makes a block a copy of it.
MOST_SAME = 0.5
MARK = re.compile(r"\[\[[A-Za-z]\w*\]\]")
SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\betc\.)(?<!\bapprox\.)(?<!\bno\.)\s+(?=\S)"
    r"|(?<=:)\s+(?=[A-Z`*\"(])|\n+"
)
FENCE = re.compile(r"^\s*```\s*(\w*)\s*$")
LISTED = re.compile(r"^\s*(?:[-*+]|\d{1,2}[.)])\s+")
# What makes a sentence one about a machine; what is said to hold at most, or of every node, is the site's word: a job's
# own numbers prove nothing of it.
OF_MACHINE = spoken("of_machine")
LIMITED = spoken("limiting")
FILLERS = r"(?:\s+(?:jobs?|about|of|for|a|an|only|nur|de))*[\s`*~]*$"
LIMIT = re.compile(rf"(?:{LIMITED.pattern}|\bl[ií]mite?\b[^.,;:\d]{{0,40}}\b(?:is|ist|est|es)){FILLERS}", re.I)
# `debug allows ...`
BEFORE_LIMIT = re.compile(rf"[\w-]+(?= {LIMITED.pattern[2:]})", re.I)
HAS = spoken("has")
# `Your 2 nodes have 8 GPUs` tells of them together.
ENDS_COUNTED = re.compile(r"\d\s*$")
OF_NODE = frozenset(("gpu", "core", "G", "T"))
# A number in code is still a number.
NUMBER_SPAN = re.compile(rf"`({NUMERAL}(?::\d\d)*(?:\s?\w+)?)`")
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
NOT_RECKONED = re.compile(r"\b(?:quotas?|purged?|backups?|backed up|SUs? (?:per|an?)|per (?:node|GPU)[- ]hour)\b", re.I)
DENIED = re.compile(r"\bnothing (?:is|was|has been|to) change", re.I)
NOTHING_CHANGED = "(Nothing was changed in a script in this turn.)"
# What the person may say or add, as in: say *--ckpt PATH*. An option there is one of the person's own program.
PROPOSED = re.compile(r"(?<!\*)\*--[^*\n]+\*(?!\*)")
# A sentence that says whose word it is.
SAYS_WHOSE = re.compile(
    r"\b(?:log|log's|traceback|line \d+|lines \d+|you (?:said|say|wrote|gave|set|passed|pasted|named|asked)"
    r"|your (?:log|script|command|message|text|output|traceback|comment|own)|its output)\b",
    re.I,
)


@dataclass(slots=True)
class Guard:
    """Hears a streamed answer, hands on what passes, keeps it. changed: whether a script was changed in this turn;
    script: the one in hand, which stands for a copy of it that the model types.

    sums: what came out of sums of known numbers. sure: the sentences that stand on something; general, theirs: the
    values that stand on nothing, or on pasted text.
    """

    ground: Ground
    write: Callable[[str], None]
    changed: bool = False
    script: str = ""
    passed: list[str] = field(default_factory=list)
    sure: list[str] = field(default_factory=list)
    general: dict[str, None] = field(default_factory=dict)
    theirs: dict[str, None] = field(default_factory=dict)
    taken_out: int = 0
    sums: frozenset[float] = frozenset()
    stated: list[float] = field(default_factory=list)
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
        marks = self.marks()
        if marks:
            self.write(f"\n{marks}\n")
        return f"{text}\n\n{marks}" if marks else text

    def marks(self) -> str:
        """The lines that name what stands on nothing."""
        rows = [
            f"({says} {named(values)})" for says, values in ((GENERAL, self.general), (PASTED, self.theirs)) if values
        ]
        return "\n".join(rows)

    def take_row(self, row: str) -> None:
        """A line that is whole, or what is left of one."""
        fence = FENCE.match(row)
        if fence and self._block is None:
            self._block, self._kind = [], fence[1].lower()
        elif self._block is not None and row.strip() == "```":
            self.close_block()
        elif self._block is not None:
            self._block.append(row)
        elif not self._row and MARK.fullmatch(row.strip()):
            self.passed.append(row)  # what stands behind it comes with the whole answer
        elif not self._row and not row.strip():
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
        elif SCRIPT_LINE.search(text) and self.is_copy(rows):
            self.passed.append(SCRIPT)
        elif SCRIPT_LINE.search(text) and len(rows) > 1 and not all(self.is_known_line(row) for row in rows):
            self.leave_out(NO_SCRIPTS)
        else:
            if self._kind not in ("python", "py", "json", "yaml", "text"):
                for row in rows:
                    self.weigh(row, code=True)
            self.give(f"```{self._kind}\n{text}\n```")

    def is_copy(self, rows: Sequence[str]) -> bool:
        """Whether these are most of the lines of the script in hand: what stands there is shown, not what was typed."""
        lines = {row.strip() for row in self.script.splitlines() if row.strip()}
        same = lines & {row.strip() for row in rows}
        return bool(lines) and len(same) >= MOST_SAME * len(lines)

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
        self.weigh(sentence)
        return sentence

    def weigh(self, sentence: str, *, code: bool = False) -> None:
        """Note what the sentence says of a machine that stands on nothing, or only on what was pasted."""
        plain = CITED.sub("", MARK.sub("", LISTED.sub("", sentence)))
        claimed = plain if code else PROPOSED.sub(" ", plain)
        odd = [item for item in items_of(claimed, code=code) if not self.is_known(item)]
        odd += [name for name in queues_of(plain, code=code) if not self.ground.names_queue(name)]
        numbers = self.odd_numbers(plain)
        paged = CITED.search(sentence) and self.ground.pages
        if paged and all(any(stands(one, page.lower()) for page in self.ground.pages) for one in (*odd, *numbers)):
            odd, numbers = [], []
        if not odd and not numbers:
            self.sure.append(sentence)
        for one in (*odd, *numbers):
            shown = one if one in numbers else f"`{one}`"
            if not self.ground.is_pasted(one):
                self.general[counted(one, plain) if one in numbers else shown] = None
            elif not SAYS_WHOSE.search(sentence):
                self.theirs[counted(one, plain) if one in numbers else shown] = None

    def is_known(self, item: str) -> bool:
        known = item in vocabulary() or standard().fullmatch(item) is not None or self.ground.has(item)
        return known or ("/" in item.strip("/") and PATH.fullmatch(item) is not None and self.ground.has_path(item))

    def odd_numbers(self, sentence: str) -> list[str]:
        """Numbers about a machine that stand nowhere and do not follow from numbers that do."""
        self.sums |= reckoned(sentence, {*self.ground.numbers(), *self.sums})
        if not is_of_machine(sentence):
            return []
        plain = in_digits(NO_NUMBERS.sub(" ", CODE.sub(" ", NUMBER_SPAN.sub(r"\1", sentence))))
        has = any(not ENDS_COUNTED.search(sentence[: one.start()]) for one in HAS.finditer(sentence))
        said = [*times_of(plain), *quantities(plain)]
        strict = {
            one for one in said if one.kind != "charge" and (LIMIT.search(one.before) or (has and one.kind in OF_NODE))
        }
        named = limited_queues(sentence) if strict else ()
        beside = self.ground.facts_of(named) if named else None
        strict -= set() if beside is None else {one for one in strict if is_of(beside, one)}
        wrong = {
            one for one in strict if beside is not None and any(one.kind in kinds for kinds in beside.kinds.values())
        }
        sure = [
            value
            for one in said
            for value in one.values
            if one not in wrong and self.knows(value, one.kind, one in strict)
        ]
        rest = [one for one in said if not one.values & {*sure}]
        if not NOT_RECKONED.search(sentence):
            rest = [one for one in rest if one in strict or not self.follows(one, sure)]
        self.stated = [*sure, *self.stated][:MOST_STATED]
        return [one.text for one in rest]

    def knows(self, value: float, kind: str, strict: bool) -> bool:
        """Whether a number stands in what is known. strict: as the site's word, and not the person's or the job's."""
        if self.ground.facts().have(value, kind) or value in self.sums:
            return True
        own = self.ground.own()
        return not strict and (
            own.have(value, kind) or "" in own.kinds.get(value, ()) or (value in (0, 1) and kind != "time")
        )

    def follows(self, one: Quantity, sure: Sequence[float]) -> bool:
        sizes = self.ground.sizes
        return any(
            follows(value, [*sure, *self.stated], sizes, total=one.kind in TOTALS or one.kind == "node")
            for value in one.values
        )


def is_of(amounts: Amounts, one: Quantity) -> bool:
    return any(amounts.have(value, one.kind) for value in one.values)


def limited_queues(sentence: str) -> tuple[str, ...]:
    """The queues whose limits a sentence tells."""
    before = [found[0].split()[-1].lower() for found in BEFORE_LIMIT.finditer(sentence.lower())]
    found = (one.lower() for one in (*queues_of(sentence), *before))
    return tuple(one for one in dict.fromkeys(found) if one in queue_names())


def is_of_machine(sentence: str) -> bool:
    """Whether a sentence tells something of a machine: by a word for its parts, its name, or a queue with a limit."""
    lower = sentence.lower()
    if OF_MACHINE.search(sentence) or any(stands(name, lower) for name in machine_names()):
        return True
    return LIMITED.search(sentence) is not None and any(word in queue_names() for word in re.findall(r"[\w-]+", lower))


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


def named(values: dict[str, None]) -> str:
    shown = list(values)[:MOST_NAMED]
    more = len(values) - len(shown)
    return f"{', '.join(shown)}{f' and {more} more' if more else ''}"


def counted(number: str, sentence: str) -> str:
    """A number with the word behind it, which says what it counts."""
    behind = re.search(rf"(?<![\w.]){re.escape(number)}(?!\d)[ -]?([A-Za-z]+)?", sentence)
    return f"{number} {behind[1]}" if behind and behind[1] and not re.search(r"[a-z]$", number, re.I) else number
