"""Which steps a diagnosis advises: those that the telling line and what stands round it make certain, else those of its
signature, else what the message expected and was given, else what it says to do, else where to look.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.debugging.events import Event, Scan
from graph.debugging.facts import divisors_near, share_free
from graph.debugging.log import message, printable
from graph.debugging.secrets import masked
from graph.debugging.settings import Settings, holds, steps_of
from graph.debugging.trouble import Tail
from knowledge.signatures.loader import Cause, SpecificStep, library

NAME = re.compile(r"\{(\w+)\}")
# What is left out where one of its names is missing.
OPTIONAL = re.compile(r"\[([^\[\]]*\{\w+\}[^\[\]]*|(?: or| on)[^\[\]]*)\]")
# Of the steps that the facts make certain, the first ones are enough; nobody tries more than a few at all.
MOST_CERTAIN, MOST = 2, 3
# So many lines before and after the telling one may hold the reason that it does not name itself.
BEFORE, AFTER = 10, 20
# What stands above a message: `Fatal error:`, `ERROR IN FILE x.f90 LINE: 7`.
HEADING = re.compile(r"(?i)(?::|\bline:? +\d+)\s*$")
# So many lines of a message that goes on, and what such a line is not: blank, a rule, a frame, another program's word;
# below a line that is no heading one is set in and begins small.
MOST_BELOW, LONGEST_LINE = 6, 400
PARAGRAPH = re.compile(r"(?!#?\d+ |at |\[\d|\w+(?:\[\d+\])?: (?:error|fatal|task))\W{0,3}\w")
SMALL = re.compile(r"\s+(?![\w./-]+(?:\[\d+\])?: )[a-z]")
# Whose messages are written for the person who reads them, and often say what to do.
OF_A_PROGRAM = ("framework", "user", "none")
LONGEST_REMEDY = 240
# Steps for the kind of work or the program stand for those that hold for any.
OF_WORK = ("work", "program")
# The cause whose steps for the words of a message hold wherever a program says them.
OF_WORDS = "user-code"
# How the ids begin of signatures that a site has accepted: what cured it there comes first.
OF_SITE = "site-"
SENTENCE = re.compile(
    r"(?<=[.!?;])\s+(?=[A-Z`'\"(])|(?<=[:,])\s+(?=(?:please )?(?:use|set|try|increase|reduce|raise|lower) )"
    r"|\s+(?=[Pp]lease [a-z])"
)
ORDERED = re.compile(
    r"(?i)^(?:(?:please|then|so|to \w+ (?:this|it|that)[\w ]*,?|if [^,]{1,90},|you (?:should|must|can|need to|may)"
    r"|consider|make sure(?: to)?) )*(?:please|try|use|set|run|make sure|consider|check|ensure|install|pass|specify|add"
    r"|change|rerun|rebuild|recompile|increase|reduce|decrease|lower|raise|disable|enable|upgrade|downgrade|update|call|provide|convert|remove)\b"
)
# What speaks to the authors of a program, only points elsewhere, or is no advice to hand on from a log.
NO_REMEDY = re.compile(
    r"(?i)\b(?:report|file a|issue|bug|trace|traceback|stack ?trace|HYDRA_FULL_ERROR)\b"
    r"|\b(?:curl|wget|sudo|eval|chmod)\b|\brm -|\bexport \w+="
    r"|\bcheck (?:the|your|that|if|out)\b|\bmore (?:information|details)\b"
    r"|\|\s*(?:ba)?sh\b|https?://|\b(?:instructions?|assistant|ignore)\b|is deprecated|set but|\braise [\w.]+\("
)
SAYS_ITSELF = 'The message itself says what to do: "{}"'


@dataclass(frozen=True, slots=True)
class TellingLines:
    """The telling line, and what stands round it in the log."""

    line: str
    around: str
    log: str


def steps(
    winner: Event, own: tuple[str, ...], told: Cause, names: Mapping[str, str], here: Settings, scan: Scan
) -> tuple[str, ...]:
    """The steps for a telling line, the curing one first. own: those of its signature. None that names what is known
    not to be there."""
    text = winner.text if winner.error else with_more(winner.text, winner.line, scan.tails.get(winner.file))
    passage = TellingLines(text, around(winner, scan), whole(winner, scan))
    said = own_remedy(text)
    names = {**names, "said": said} if said else names
    kept = [fill(step, names) for step in own if holds(step, here)]
    if kept and (winner.settled or winner.signature.id.startswith(OF_SITE)):
        return tuple(dict.fromkeys(kept))[:MOST]
    certain = certain_steps(told.specific, passage, names, here)
    if any(of_this_log(one) for one, _ in certain):
        kept = []
    elif kept:
        certain = [(one, step) for one, step in certain if not one.line]
    if not (certain or kept) and told.group in OF_A_PROGRAM:
        certain = certain_steps(telling(library().causes[OF_WORDS]), passage, names, here)
    if not (certain or kept):
        kept = general_steps(text, told, names, here)
    elif told.group == "gpu" and not any(one.line or one.near or one.log for one, _ in certain) and not kept:
        kept = general_steps(text, told, names, here)[1:]
    return tuple(dict.fromkeys(filter(None, (*(step for _, step in certain), *kept))))[:MOST]


def of_this_log(one: SpecificStep) -> bool:
    """Whether a step rests on more than words of the line, which the line's own signature knows better: on names that
    the line tells, on facts, or on what stands elsewhere in the log."""
    return bool(one.near or one.log or "(?P<" in one.line or one.line == ".")


def telling(cause: Cause) -> list[SpecificStep]:
    """The steps of a cause that repeat something of the message: those hold for another cause, too."""
    return [one for one in cause.specific if one.line and set(NAME.findall(one.step)) - {"place", "frame"}]


def certain_steps(
    every: Sequence[SpecificStep], passage: TellingLines, names: Mapping[str, str], here: Settings
) -> list[tuple[SpecificStep, str]]:
    """The steps for this very line, filled: behind the first that fits its words, what is more general adds nothing."""
    found: list[tuple[SpecificStep, str]] = []
    for one in every:
        known = matched(one, passage, names)
        if known is not None and set(NAME.findall(OPTIONAL.sub("", one.step))) <= set(known) and holds(one.step, here):
            found.append((one, fill(one.step, known)))
            if one.line or one.near or one.log:
                break
    return found[:MOST_CERTAIN]


def matched(one: SpecificStep, passage: TellingLines, names: Mapping[str, str]) -> dict[str, str] | None:
    """The names with those that the step's own patterns find; None where they do not match."""
    pairs = ((one.log, passage.log), (one.near, passage.around), (one.line, passage.line))
    found = [re.search(pattern, text) for pattern, text in pairs]
    if not all(found) or (one.unless and re.search(one.unless, f"{passage.around}\n{passage.log}")):
        return None
    caught = {k.rstrip("0123456789"): v for each in found if each for k, v in each.groupdict().items() if v}
    caught |= divisors_near(caught, names) | share_free(caught)
    return {**names, **{name: masked(printable(value))[:200] for name, value in caught.items() if value}}


def general_steps(text: str, told: Cause, names: Mapping[str, str], here: Settings) -> list[str]:
    """What holds for the whole cause, where the line decides nothing."""
    of_work = steps_of(told, here, OF_WORK)
    closer = steps_of(told, here, [kind for kind in here if kind not in ("scheduler", *OF_WORK)])
    said = own_remedy(text) if told.group in OF_A_PROGRAM else ""
    stock = [] if of_work else [step for step in told.fix if holds(step, here)]
    general = [*of_work, *closer, *stock, *steps_of(told, here, ("scheduler",))]
    return [said] if said else [fill(step, names) for step in general]


def always(told: Cause) -> list[str]:
    """The cause's own steps that ask for no fact and no words of a line."""
    return [one.step for one in told.specific if not (one.line or one.near or one.log) and not NAME.search(one.step)]


def with_more(text: str, line: int, tail: Tail | None) -> str:
    """A line, of that number, with what its message goes on with below: all of the paragraph under a heading (`Fatal
    error:`), else lines that are set in and begin small; a line that begins large begins a sentence."""
    if tail is None or line < tail.first_line:
        return text
    heading, at = HEADING.search(text) is not None, line - tail.first_line + 1
    for below in tail.data.split(b"\n")[at : at + MOST_BELOW]:
        shown = message(below[:LONGEST_LINE].decode("utf-8", "replace"))[0]
        more = printable(shown).strip()
        if not PARAGRAPH.match(more) or not (heading or SMALL.match(shown)):
            break
        text += f" {more}" if more[0].islower() or text.rstrip().endswith((":", ".")) else f". {more}"
    return text


def around(winner: Event, scan: Scan) -> str:
    """The lines round the telling one, as far as the pass over the log has kept them."""
    first, last = winner.line - BEFORE, winner.last_line + AFTER
    found = [e.text for e in scan.events if e.file == winner.file and first <= e.line <= last]
    tail = scan.tails.get(winner.file)
    if tail is None:
        return "\n".join(found)
    kept = tail.data.split(b"\n")[max(0, first - tail.first_line) : max(0, last - tail.first_line + 1)]
    return "\n".join([*found, *(line.decode("utf-8", "replace")[:2000] for line in kept)])


def whole(winner: Event, scan: Scan) -> str:
    """What the pass has kept of the log: its events and its end."""
    tail = scan.tails.get(winner.file)
    end = tail.data.decode("utf-8", "replace") if tail else ""
    return "\n".join([*(e.text for e in scan.events if e.file == winner.file), end])


def own_remedy(text: str) -> str:
    """A sentence of the message that tells what to do, quoted; empty where there is none."""
    message = masked(printable(text))
    for sentence in SENTENCE.split(re.sub(r"^(?:[\w.]+(?:Error|Exception|Exit|Warning)\w*: )+", "", message)):
        short = sentence.strip().rstrip(".")
        if ORDERED.search(short) and not NO_REMEDY.search(short) and len(short) <= LONGEST_REMEDY:
            return SAYS_ITSELF.format(short)
    return ""


def own_words(text: str) -> list[str]:
    """The one step for a line that no cause is known for: what it expected and was given, or what it says to do."""
    told = certain_steps(telling(library().causes[OF_WORDS]), TellingLines(text, text, text), {}, {})
    return [step for _, step in told] or list(filter(None, [own_remedy(text)]))


def fill(sentence: str, captured: Mapping[str, str]) -> str:
    """The sentence with {names} filled in; a [part] whose name is missing is left out, a bare one becomes NAME."""

    def part(found: re.Match[str]) -> str:
        inside = found[1]
        names = NAME.findall(inside)
        return inside if not names or all(n in captured for n in names) else ""

    filled = NAME.sub(lambda m: captured.get(m[1], m[1].upper()), OPTIONAL.sub(part, sentence))
    return filled[:1].upper() + filled[1:] if sentence.startswith("[") else filled
