"""One case through its use case, and whether what came is right."""

from __future__ import annotations

import asyncio
import re
import shlex
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assistant.evaluating.case_types import (
    AnyCase,
    CheckCase,
    ConversationCase,
    ConversationTurn,
    DialogueCase,
    Expected,
    LogCase,
    PendingCase,
    QuestionCase,
    RequestCase,
    ScriptCase,
    SentenceCase,
)

if TYPE_CHECKING:
    from assistant.settings import Settings
    from graph.modelling.asking import Models

# Whether two values of a field mean the same.


def same(name: str, want: Any, got: Any) -> bool:
    """Whether two values mean the same: without case, models without blanks and hyphens, arguments word by word."""
    if want is None or got is None:
        return want is got
    if isinstance(want, int | float):
        try:
            return float(got) == float(want)
        except (TypeError, ValueError):
            return False
    if name == "args":
        left, right = words_of(want), words_of(got)
        return left == right or stands_for(left, right) or stands_for(right, left)
    if name == "model":
        want, got = (re.sub(r"[\s_-]+", "", str(one)) for one in (want, got))
    return str(want).strip().lower() == str(got).strip().lower()


def words_of(value: Any) -> list[str]:
    try:
        return shlex.split(value) if isinstance(value, str) else [str(one) for one in value]
    except ValueError:
        return str(value).split()


VARIABLE = re.compile(r"\$\{[^}]*\}|\$\([^)]*\)|\$[\w@*]+")


def stands_for(words: Sequence[str], values: Sequence[str]) -> bool:
    """Whether the words read as the values, each shell variable standing for any text."""
    if not any(VARIABLE.search(word) for word in words):
        return False
    parts = [".*".join(map(re.escape, VARIABLE.split(word))) for word in words]
    pattern = "".join(r"(?: .*)?" if part == ".*" else f" {part}" for part in parts)
    return re.fullmatch(pattern, "".join(f" {value}" for value in values)) is not None


Record = Mapping[str, Any]
# What a request may say; with `fields` those that are not named must stay empty.
REQUEST_FIELDS = (
    *("machine", "source_machine", "framework", "strategy", "nodes", "gpus_per_node", "total_gpus"),
    *("walltime", "model", "entry", "account", "queue"),
)
ASKING = ("generate", "port")
NO_LINE = ("no-failure", "unknown")
# Of these states nobody waits for a start.
NOT_WAITING = ("not-waiting", "no-job", "client-error")
# A raise and its message are one: a line that stands so near the labelled one shows it.
NEAR = 3


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """Whether a case is right, mark by mark (the first is the one that counts), and what is wrong.

    group: what figures are told apart by (a log's cause, a check's rule). confidence: what the program itself gave,
    null where it gives none.
    """

    marks: tuple[tuple[str, bool], ...]
    why: str = ""
    group: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """What cases run on. models: null for the rules alone. settings: those of the conversations, without their data."""

    models: Models | None
    settings: Callable[[Path], Settings]


def judge(case: AnyCase, bench: Bench) -> CaseVerdict:
    """Run one case. Whatever it raises is a miss of that case, told by its name."""
    try:
        return _judged(case, bench)
    except Exception as error:
        return CaseVerdict((("right", False),), f"{type(error).__name__}: {error}")


def _judged(case: AnyCase, bench: Bench) -> CaseVerdict:
    match case:
        case RequestCase():
            return judge_request(case, bench.models)
        case DialogueCase():
            return judge_dialogue(case, bench.models)
        case SentenceCase():
            return judge_sentence(case)
        case ScriptCase():
            return judge_script(case)
        case CheckCase():
            return judge_check(case)
        case LogCase():
            return judge_log(case, bench.models)
        case PendingCase():
            return judge_pending(case)
        case QuestionCase():
            turn = ConversationTurn(say=case.ask, says=case.says, never=case.never, lines=case.lines)
            return judge_turns((turn,), bench)
        case ConversationCase():
            return judge_turns(case.turns, bench)


def judge_request(case: RequestCase, models: Models | None) -> CaseVerdict:
    """Fields, intent, and what is asked for; `once asked`: or right where a doubt that is told settles it."""
    from assistant.commands.extract import answer, reading_of, understand_one

    understood = understand_one(case.text, models=models)
    record = answer(understood)
    faults = request_faults(case, record)
    marks = [("right", not faults)]
    if case.intent in ASKING:
        doubts = reading_of(case.text, understood)["doubts"]
        marks.append(("right once asked", not faults or settled(case, record, doubts)))
    return CaseVerdict(tuple(marks), "; ".join(faults), case.intent or "")


def request_faults(case: RequestCase, record: Record) -> list[str]:
    faults = field_faults(wanted_fields(case), case.alt, record["fields"])
    if case.intent is not None and record["intent"] not in (case.intent, *case.alt.get("intent", ())):
        faults.append(f"intent: want {case.intent}, got {record['intent']}")
    if case.missing is not None and case.intent in ASKING and not asks_rightly(case, record["missing"]):
        faults.append(f"to ask: want {sorted(case.missing)}, got {sorted(record['missing'])}")
    return faults


def wanted_fields(case: RequestCase | ScriptCase) -> Record:
    if case.expect is not None:
        return case.expect
    return {**dict.fromkeys(REQUEST_FIELDS), **case.fields} if case.fields is not None else {}


def field_faults(want: Record, alt: Mapping[str, Sequence[Any]], got: Record) -> list[str]:
    return [
        f"{name}: want {value!r}, got {got.get(name)!r}"
        for name, value in want.items()
        if not any(same(name, right, got.get(name)) for right in (value, *alt.get(name, ())))
    ]


def asks_rightly(case: RequestCase, asked: Collection[str]) -> bool:
    want = set(case.missing or ())
    return want - set(case.missing_soft) <= set(asked) <= want


def settled(case: RequestCase, record: Record, doubts: Iterable[Record]) -> bool:
    """Whether the record is right once each doubt that holds the right reading is asked about."""
    fields, intent, want = dict(record["fields"]), record["intent"], wanted_fields(case)
    for doubt in doubts:
        name, readings = doubt["field"], (*doubt["readings"], None)
        if name == "intent":
            intent = case.intent if case.intent in readings else intent
        elif name in want:
            rights = (want[name], *case.alt.get(name, ()))
            fields[name] = next((r for r in readings if any(same(name, right, r) for right in rights)), fields[name])
    return not request_faults(case, {**record, "fields": fields, "intent": intent})


def judge_dialogue(case: DialogueCase, models: Models | None) -> CaseVerdict:
    """Every turn must be right."""
    from assistant.commands.extract import read_turns

    told = {name: [getattr(turn, name) for turn in case.turns] for name in ("asked", "options")}
    answers = read_turns({"turns": [turn.text for turn in case.turns], **told}, models)
    faults = [
        f"turn {number}: {fault}"
        for number, (turn, answer) in enumerate(zip(case.turns, answers, strict=True), 1)
        for fault in request_faults(turn, answer)
    ]
    return CaseVerdict((("right", not faults),), "; ".join(faults))


def judge_sentence(case: SentenceCase) -> CaseVerdict:
    """The act, and the topic of a question."""
    from graph.reading.reader import read_utterance
    from graph.reading.utterance import ThreadView

    known = dict(case.thread)
    act, _, topic = str(known.pop("last", "")).partition("/")
    read = read_utterance(case.text, ThreadView(last_act=act, last_topic=topic, **known)).main
    right = read.label in (case.label, *case.also)
    acts = {label.partition("/")[0] for label in (case.label, *case.also)}
    why = "" if right else f"want {case.label}, got {read.label}: {case.text[:80]}"
    return CaseVerdict(
        (("right", right), ("act", read.act in acts)), why, case.label.partition("/")[0], read.confidence
    )


def judge_script(case: ScriptCase) -> CaseVerdict:
    from assistant.commands.extract import script_record

    record = script_record({"id": case.id, "script": case.script})
    faults = field_faults(wanted_fields(case), case.alt, record["fields"])
    return CaseVerdict((("right", not faults),), "; ".join(faults))


def judge_check(case: CheckCase) -> CaseVerdict:
    """Every labelled rule must speak; of a good script nothing above a remark may be said."""
    from assistant.commands.check import judge as findings_of
    from assistant.commands.check import machine

    found = findings_of(case.script, "-", machine(case.machine, case.script).cluster)
    said = {one.rule for one in found if case.rules or one.severity != "info"}
    right = set(case.rules) <= said if case.rules else not said
    why = "" if right else f"want {', '.join(case.rules) or 'nothing'}, got {', '.join(sorted(said)) or 'nothing'}"
    return CaseVerdict((("right", right),), why, case.rules[0] if case.rules else "nothing to find")


def judge_log(case: LogCase, models: Models | None) -> CaseVerdict:
    """The cause; and the telling line, where it is labelled."""
    from assistant.commands.why import diagnosed
    from graph.debugging.log import from_text

    found = diagnosed([from_text(case.log)], models)
    right = found.cause in (case.cause, *case.also_accept)
    marks = [("cause", right)]
    if case.evidence.strip() and case.cause not in NO_LINE:
        marks.append(("telling line", shows_line(case, [(one.line, one.text) for one in found.evidence])))
    why = "" if right else f"want {case.cause}, got {found.cause}"
    return CaseVerdict(tuple(marks), why, case.cause or "", round(found.confidence, 2))


def shows_line(case: LogCase, evidence: Iterable[tuple[int, str]]) -> bool:
    """Whether something shown is the labelled line, holds it, or stands beside it."""
    want = case.evidence.strip()
    first = want.splitlines()[0]
    at = [number for number, line in enumerate(case.log.splitlines(), 1) if first in line]
    for line, text in evidence:
        shown = text.strip()
        if (shown and (shown in want or want in shown)) or any(abs(line - number) <= NEAR for number in at):
            return True
    return False


def judge_pending(case: PendingCase) -> CaseVerdict:
    from graph.usecases.explain_pending import explain_pending

    found = explain_pending(case.text)
    kind = found.kind in (case.kind, *case.also_accept)
    starts = case.kind in NOT_WAITING or found.starts == case.starts_by_itself
    why = f"want {case.kind}/{case.starts_by_itself}, got {found.kind}/{found.starts}" if not (kind and starts) else ""
    marks = [("right", kind and starts), ("class", kind), ("starts by itself", starts)]
    if case.says or case.never:
        told = [*found.says, *(f"{step.text} {step.command}" for step in (*found.change, *found.look))]
        faults = answer_faults(case, " ".join(told), ())
        marks.append(("says", not faults))
        why = "; ".join([*([why] if why else []), *faults])
    return CaseVerdict(tuple(marks), why, case.kind)


# A script of the person's own is in hand from the message on in which it came.
PASTED_SCRIPT = re.compile(r"^#!/.*", re.M | re.S)


def judge_turns(turns: Sequence[ConversationTurn], bench: Bench) -> CaseVerdict:
    """The turns through a session of its own; each answer held against what it must say."""
    from assistant.session import Session

    faults = []
    with tempfile.TemporaryDirectory() as folder:
        settings = bench.settings(Path(folder))
        settings.pasted.mkdir(parents=True, exist_ok=True)
        session = Session(settings, "case")
        script: list[str] = []
        for number, turn in enumerate(turns, 1):
            shown, written = asyncio.run(one_turn(session, turn.say))
            pasted = PASTED_SCRIPT.search(turn.say)
            script = (written or (pasted[0] if pasted else "")).splitlines() or script
            faults += [f"turn {number}: {fault}" for fault in answer_faults(turn, shown, script)]
    return CaseVerdict((("right", not faults),), "; ".join(faults))


async def one_turn(session: Any, words: str) -> tuple[str, str]:
    """The answer in Markdown, problems included, and the script that it holds, if any."""
    from assistant.drawing import markdown
    from assistant.events import Script

    events = [event async for event in session.send(words)]
    scripts = [event.made.bundle.script for event in events if isinstance(event, Script)]
    return "\n\n".join(map(markdown, events)), scripts[-1] if scripts else ""


def answer_faults(wanted: Expected, shown: str, script: Sequence[str]) -> list[str]:
    said = plain(shown)
    faults = [f"does not say {words!r}" for words in wanted.says if plain(words) not in said]
    faults += [f"says {words!r}" for words in wanted.never if plain(words) in said]
    faults += [f"no line {line!r} in the script" for line in wanted.lines if line not in script]
    return faults if shown.strip() else ["says nothing"]


def plain(words: str) -> str:
    """Without case and Markdown's marks: which words stand out is the door's business."""
    return re.sub(r"[`*]", "", words).lower()
