"""From a log to a diagnosis: the cause, the lines that show it, what else it could be and why not.

Pure: no LangGraph, no Chroma, no network. The log's text is only ever matched and quoted; nothing in it is obeyed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from graph.debugging.events import Event, Scan
from graph.debugging.facts import facts_of, named_extension, named_module
from graph.debugging.lines import PROGRESS
from graph.debugging.log import LogSource, from_paths, from_text, message, printable
from graph.debugging.memory_sum import with_sum
from graph.debugging.ordering import ChosenEvent, choose, last_runs
from graph.debugging.plain_words import cause_by_words
from graph.debugging.ranking import OF_CODE, PYTHON_EXCEPTION
from graph.debugging.run_signs import signs_of, with_signs
from graph.debugging.scan import Scanner
from graph.debugging.secrets import masked
from graph.debugging.settings import Settings, holds, settings_of_log, settings_of_text, steps_of
from graph.debugging.steps import HEADING, MOST, always, fill, own_words, steps, with_more
from graph.debugging.texts import Look, marked_as_log
from graph.debugging.together import read_together, silent
from graph.debugging.trouble import FEWEST
from graph.debugging.unexplained import in_own_words, unexplained, used_all_memory
from graph.debugging.weighing import EFFECT, GENERAL, STRONG, weight
from knowledge.signatures.loader import Cause, library
from knowledge.signatures.matcher import Matcher, compiled, matcher
from knowledge.signatures.model import Signature
from knowledge.signatures.wording import PLAIN, likely_cause
from knowledge.types import Considered, Diagnosis, LogEvidence

LONGEST_SHOWN = 600
MOST_EVIDENCE = 8
CERTAIN, LIKELY, WORDED, POSSIBLE, FAINT = 0.95, 0.75, 0.6, 0.5, 0.2
# What the file that raised an exception may tell better: a message that is plain enough keeps its word.
MOST_GENERAL = 52
# A frame in a library of the network tells of the network only where the exception speaks of it too.
ITS_WORDS = {
    "env-no-internet": re.compile(
        r"(?i)connect|time(?:d |-)?out|resol|ssl|certificate|proxy|http|network|unreach|host|socket|retr|url|address"
    )
}
BY_WORDS = "words"
SAID = re.compile(rb"^[\w ./-]{0,40}\berror: ")
NAMED = rb"([\w./:-]*(?:ckpt|checkpoint|\bck/|step|epoch|state)[\w./-]*\d[\w-]*(?:\.\w{1,12})?)"
SAVED = re.compile(rb"(?i)\b(?:sav(?:ed?|ing)|wrote|stored|gespeichert)\b[^\n]{0,80}?" + NAMED)
DECIDE = (
    "Line {} speaks for this ({}), line {} for another cause ({}): see which of the two came first, and on which rank, "
    "before anything is changed."
)
NO_LOG = {
    "prose": "This reads like a description or a question, not like the output of a job.",
    "words": "This reads like a description, not like the output of a job.",
    "source": "This reads like a script or source code, not like the output of a job.",
}
# More causes than this in the quoted lines of one page: it is about failures.
MOST_QUOTED = 2
# Below this the answer is `unknown`.
THRESHOLD = 0.4
# How sure a text's first lines make that it is no log.
SEEN_AT_A_GLANCE = 0.7


def diagnose(source: str | bytes | Path | Sequence[Path] | Sequence[LogSource]) -> Diagnosis:
    """Why the job of this log failed. A str or bytes is the log itself; paths are files or folders, one a rank.

    Raises InputError when a file cannot be read.
    """
    sources: Sequence[LogSource]
    if isinstance(source, str | bytes):
        sources = [from_text(source)]
    elif isinstance(source, Path):
        sources = from_paths([source])
    else:
        sources = [s for s in source if isinstance(s, LogSource)] or from_paths(
            [p for p in source if isinstance(p, Path)]
        )
    return judge(Scanner(matcher()).read(sources), matcher())


def judge(scan: Scan, use: Matcher) -> Diagnosis:
    """The diagnosis of what a pass over the logs has found. Changes the scan's events."""
    found = conclude(scan, choose(understood(scan, use), library().causes), use)
    signs = signs_of(scan.noted.lines)
    return with_signs(replace(found, facts=tuple(sorted((dict(found.facts) | signs).items())))) if signs else found


def understood(scan: Scan, use: Matcher) -> Scan:
    """The scan, its events read together, judged by their frames, and without those of sources that are no logs."""
    read_together(last_runs(scan.events))
    for event in scan.events:
        event.signature = by_frames(event, use)
    scan.events = from_logs(scan)
    return scan


def from_logs(scan: Scan) -> list[Event]:
    """The events without those that prose or source code merely names; a log line that a page quotes counts.

    A page that quotes lines of many causes explains failures, and shows none.
    """
    if not scan.no_logs:
        return scan.events
    kept = [e for e in scan.events if _in_a_log(e, scan.no_logs.get(e.file, "log"))]
    quoted = {e.signature.cause for e in kept if e.file in scan.no_logs and weight(e) >= STRONG}
    return [e for e in kept if e.file not in scan.no_logs] if len(quoted) > MOST_QUOTED else kept


def _in_a_log(event: Event, kind: Look) -> bool:
    if kind == "log" or event.rank is not None or marked_as_log(event.text, kind):
        return True
    if kind != "words" or weight(event) < GENERAL:
        return False
    # "... error: ": a program speaks, and what follows is its message.
    said = SAID.sub(b"", event.raw)
    strong = weight(event) >= STRONG or said != event.raw
    return strong and compiled(event.signature.pattern).match(said) is not None


def by_frames(event: Event, use: Matcher) -> Signature:
    """A general exception is judged by the library file that raised it, where that file tells more.

    Python's own library raises for whoever called it, so the frames above it count.
    """
    said = event.signature
    bare = said.kind in ("error", "fallback") or (said.kind == "effect" and _by_type(event))
    # An interrupt hits wherever the program is: its frames tell nothing.
    interrupted = event.error is not None and event.error.type == "KeyboardInterrupt"
    if event.settled or interrupted or not bare or said.strength > MOST_GENERAL:
        return said
    if event.error is None:
        told = (worded(event) if said.cause == "unknown" else None) or named(event)
        told = None if event.level else told
        return replace(told, strength=max(said.strength, GENERAL)) if told else said
    return worded(event) or _by_place(event, use) or named(event) or said


def _by_place(event: Event, use: Matcher) -> Signature | None:
    """What the library file that raised the exception tells of it, if anything."""
    for frame in reversed(event.error.frames if event.error else ()):
        told = use.frame(frame.file)
        if told and (told.cause not in ITS_WORDS or ITS_WORDS[told.cause].search(event.text)):
            return told
        if not frame.standard:
            return None
    return None


def worded(event: Event) -> Signature | None:
    """A general exception as its words make likely, where they are plain enough; the folder it came from says less."""
    kind = event.error.type.rpartition(".")[2] if event.error else ""
    if event.signature.kind != "fallback" or kind in OF_CODE:
        return None
    cause, chance = likely_cause(event.text)
    return _as_worded(event, cause) if cause != "calm" and chance >= PLAIN else None


def named(event: Event) -> Signature | None:
    """A general exception as the thing tells that it speaks of: a library, a device, a host, a file. One that says next
    to nothing is read by the line that its logger put above it."""
    kind = event.error.type.rpartition(".")[2] if event.error else ""
    if event.signature.kind != "fallback" or event.signature.cause not in ("user-code", "unknown") or kind in OF_CODE:
        return None
    said = event.announced if event.error and len(event.error.text.split()) < FEWEST else ""
    return _as_worded(event, cause_by_words(said or f"{event.text} {_told_below(event)}"))


def _told_below(event: Event) -> str:
    """The line below one that is a heading and says nothing itself (`Error in f(x) :`)."""
    below = event.beside.rpartition("\n")[2]
    return message(printable(below))[0].strip() if event.error is None and HEADING.search(event.text) else ""


def _as_worded(event: Event, cause: str) -> Signature | None:
    if cause in ("", event.signature.cause):
        return None
    return replace(event.signature, id=BY_WORDS, cause=cause, says="", fix=())


def _by_type(event: Event) -> bool:
    """Whether an after-effect is told by the type of an exception that any library may raise."""
    raised = event.error.type.rpartition(".")[2] if event.error else "RuntimeError"
    return event.signature.group == "python" or raised not in ("RuntimeError", "DistBackendError")


def conclude(scan: Scan, choice: ChosenEvent, use: Matcher) -> Diagnosis:
    """The diagnosis in words, from the choice."""
    causes = library().causes
    winner = choice.winner
    confidence = _confidence(choice)
    if winner is None or confidence < THRESHOLD or _only_advised(choice) or _guessed(scan, choice, use):
        return _unexplained(scan, choice, use, causes)
    cause = winner.signature.cause
    captured = _captured(winner, use)
    if ranks := silent(winner, scan.events):
        captured["silent"] = ranks
    told, own = causes[cause], winner.signature
    facts = {name: masked(printable(value))[:200] for name, value in facts_of(winner, choice.others, scan).items()}
    names = _named_packages(facts | captured)
    here = settings_of_log(winner, scan)
    facts |= {kind: next(iter(known)) for kind, known in here.items() if len(known) == 1}
    todo = steps(winner, own.fix, told, names, here, scan)
    # What was being saved when the run ended may not be whole: steps must have followed on it.
    ends = {t.data: max((step.start() for step in PROGRESS.finditer(t.data)), default=0) for t in scan.tails.values()}
    if saved := [found for data, end in ends.items() for found in SAVED.findall(data, 0, end)]:
        named = f"last checkpoint (the log names {masked(printable(saved[-1].decode('utf-8', 'replace'))).rstrip('.')})"
        todo = tuple(step.replace("last checkpoint", named) for step in todo)
    if near := choice.near:
        todo = (DECIDE.format(winner.line, told.means, near.line, causes[near.signature.cause].means), *todo[:1])
    found = Diagnosis(
        cause=cause,
        says=fill(own.says or told.says, names),
        confidence=confidence,
        evidence=_evidence(winner, choice.others),
        fix=todo,
        considered=_considered(winner, choice.others, causes),
        send_next=_wanted(winner, told, causes, here),
        sources=(own.source,) if own.source else (),
        captured=tuple(captured.items()),
        facts=tuple(sorted(facts.items())),
        signature=own.id,
    )
    return with_sum(found)


def _wanted(winner: Event, told: Cause, causes: Mapping[str, Cause], here: Settings) -> tuple[str, ...]:
    """What to send next. A traceback that ends in an uncaught exception is whole: no more of the log tells more."""
    if told.group == "user" and winner.error is not None and winner.error.frames:
        return told.send
    return told.send or tuple(one for one in causes["unknown"].send if holds(one, here))


def _named_packages(names: dict[str, str]) -> dict[str, str]:
    """With the name that pip knows, where a module is missing or a compiled part does not load."""
    more = named_module(names["package"]) if "package" in names else {}
    return names | more | named_extension(names.get("extension", ""))


def _guessed(scan: Scan, choice: ChosenEvent, use: Matcher) -> bool:
    """Whether only the way in which a process ended speaks for the cause, and something else in the log says more."""
    if choice.winner is None or choice.winner.signature.kind != "effect":
        return False
    return used_all_memory(scan) or (choice.weight < EFFECT and in_own_words(scan, choice, use))


def _only_advised(choice: ChosenEvent) -> bool:
    """Whether all that the log holds are warnings and remarks, and nothing says that the program failed."""
    events = [e for e in (choice.winner, *choice.others) if e is not None]
    return bool(events) and all(
        e.level in ("warning", "info") and e.error is None and weight(e) < GENERAL for e in events
    )


def _unexplained(scan: Scan, choice: ChosenEvent, use: Matcher, causes: Mapping[str, Cause]) -> Diagnosis:
    """No event names a cause: the log is no log, or something is said all the same."""
    if choice.winner is None and (says := _no_log(scan)):
        return Diagnosis("unknown", says, SEEN_AT_A_GLANCE if scan.bytes else 1.0, send_next=causes["unknown"].send)
    advised = choice.winner if _only_advised(choice) else None
    found = unexplained(scan, replace(choice, winner=None, others=()) if advised else choice, use)
    told = causes[found.cause]
    shown = tuple(replace(e, text=_cropped(masked(e.text))) for e in found.evidence)
    rivals = () if choice.winner is None else _considered(choice.winner, choice.others, causes)
    if advised:
        why = f"the line is only a {advised.level} message"
        rivals = (Considered(advised.signature.cause, why, _shown(advised)), *rivals)
    here = settings_of_text([e.text for e in shown], scan)
    first = [with_more(e.text, e.line, scan.tails.get(e.file)) for e in shown[:1] if found.cause != "user-code"]
    seen = [*(step for text in first for step in own_words(text)), *steps_of(told, here, here)]
    captured = {"frame": shown[0].text} if shown and found.cause == "user-code" else {}
    filled = [fill(step, captured) for step in (*seen, *always(told), *told.fix) if holds(step, here)]
    return Diagnosis(
        found.cause,
        found.says or fill(told.says, {}),
        found.confidence,
        shown,
        tuple(dict.fromkeys(filter(None, filled)))[:MOST],
        considered=tuple(c for c in rivals if c.cause != found.cause),
        send_next=found.ask or tuple(one for one in told.send if holds(one, here)),
    )


def _no_log(scan: Scan) -> str:
    """Why there is nothing to tell: an empty text, or one that is no log; empty where it is one."""
    if not scan.bytes:
        binary = next(iter(scan.no_texts.values()), "")
        return f"This is not a text log: it is {binary}." if binary else "The log is empty."
    if scan.no_logs and not any(e.file not in scan.no_logs for e in scan.events):
        return NO_LOG[next(iter(scan.no_logs.values()))]
    return ""


def _confidence(choice: ChosenEvent) -> float:
    if choice.winner is None or choice.winner.signature.cause == "unknown":
        return FAINT
    if choice.weight >= STRONG:
        rivals = {e.signature.cause for e in choice.others if weight(e) >= STRONG} - {choice.winner.signature.cause}
        return CERTAIN - 0.05 * min(4, len(rivals))
    if choice.weight >= GENERAL:
        if choice.winner.signature.id == BY_WORDS:
            return WORDED
        return POSSIBLE if _of_any_kind(choice.winner) else LIKELY
    return POSSIBLE if choice.weight >= 15 else FAINT


def _of_any_kind(event: Event) -> bool:
    """Whether an exception is taken for the program's own only because nothing tells otherwise."""
    kind = event.error.type.rpartition(".")[2] if event.error else ""
    return event.signature.id == PYTHON_EXCEPTION and kind not in OF_CODE


def _captured(event: Event, use: Matcher) -> dict[str, str]:
    """The names that the signature captured, cleaned; and those of the traceback."""
    found = {k: masked(printable(v))[:200] for k, v in use.captured(event.signature, event.raw).items()}
    if event.error is not None:
        found.setdefault("exception", masked(printable(f"{event.error.type}: {event.error.text}"))[:200])
        if own := event.error.own_frame:
            found["frame"] = f"{printable(own.file)}:{own.at}"
    return found


def _shown(event: Event) -> LogEvidence:
    return LogEvidence(event.line, _cropped(masked(event.text)), event.rank, event.file, event.count)


def _cropped(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + " ..."


def _evidence(winner: Event, others: Sequence[Event]) -> tuple[LogEvidence, ...]:
    """The winning line, the person's own frame, then what else speaks for it or came with it; no line twice."""
    shown = [_shown(winner)]
    if winner.error is not None and (frame := winner.error.own_frame):
        shown.append(LogEvidence(frame.log_line, _cropped(masked(frame.text)), winner.rank, winner.file))
    if below := _told_below(winner):
        shown.append(LogEvidence(winner.line + 1, _cropped(masked(below)), winner.rank, winner.file))
    same = [e for e in others if e.signature.cause == winner.signature.cause]
    rest = [e for e in others if e.signature.cause != winner.signature.cause and weight(e) >= EFFECT]
    for event in [*same[:3], *rest[:4]]:
        if all((event.line, event.file) != (e.line, e.file) for e in shown):
            shown.append(_shown(event))
    return tuple(shown[:MOST_EVIDENCE])


def _considered(winner: Event, others: Sequence[Event], causes: Mapping[str, Cause]) -> tuple[Considered, ...]:
    """Other causes that the log speaks of, each once, and why it is not the answer."""
    found: dict[str, Considered] = {}
    for event in others:
        cause = event.signature.cause
        if cause in found or cause in ("", "unknown", winner.signature.cause) or len(found) >= 4:
            continue
        found[cause] = Considered(cause, _why_not(event, winner, causes), _shown(event))
    return tuple(found.values())


def _why_not(event: Event, winner: Event, causes: Mapping[str, Cause]) -> str:
    if event.signature.cause in causes[winner.signature.cause].explains:
        return "it follows from the cause above"
    if event.level:
        return f"the line is only a {event.level} message"
    if event.signature.kind in ("effect", "final"):
        return "it is what the other processes print when one has failed"
    if event.order > winner.order:
        return "it came later"
    if event.progress_after:
        return "the run went on after it"
    if event.signature.kind == "fallback" or weight(event) < weight(winner):
        return "another line names its cause more plainly"
    return "it is less likely to come first"
