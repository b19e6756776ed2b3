"""A turn of the conversation: one message read in the light of what was said and asked before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from graph.extraction.sentences import choose
from graph.extraction.sentences.answers import answer, is_open, is_yes, settle_counts
from graph.extraction.sentences.changes import changes, rescaled, withdrawn
from graph.extraction.sentences.choose import SaidValue
from graph.extraction.sentences.intents import Signs, asked, decide, has, sentences
from graph.extraction.sentences.lexicon import fold
from graph.extraction.sentences.merge import merge
from graph.extraction.sentences.patterns import pattern
from graph.extraction.sentences.reading import SentenceReading, read
from knowledge.errors import InputError
from knowledge.types import Intent, JobRequest
from knowledge.word_lists import in_order

# A job script pasted into a message: read by the reader of scripts, which is loaded only then.


TAKEN = in_order("machine framework strategy nodes gpus_per_node walltime model entry account queue args")
WORDS = "the script"


def script_values(text: str) -> dict[str, SaidValue]:
    """The fields of a pasted script; empty where it cannot be read."""
    from graph.extraction.script_record import understand_script

    try:
        record = understand_script(text)
    except InputError:
        return {}
    values = {name: getattr(record, name) for name in TAKEN}
    return {name: SaidValue(value, WORDS) for name, value in values.items() if value not in (None, "")}


SILENT: frozenset[Intent] = frozenset(("question", "smalltalk", "other", "diagnose"))


@dataclass(frozen=True, slots=True)
class DialogueInput:
    """What `understand` is given."""

    text: str
    before: JobRequest | None
    asked: str | None
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The values of one turn by where they came from."""

    said: Mapping[str, SaidValue]
    answered: Mapping[str, SaidValue]
    quoted: Mapping[str, SaidValue]


def reply(turn: DialogueInput) -> tuple[Intent, JobRequest]:
    """The intent of a message, and the request after it."""
    before = turn.before or JobRequest()
    known = before != JobRequest()
    reading = read(turn.text, before)
    gone = [one for one in withdrawn(fold(reading.message.said), before) if one not in reading.values]
    reading = replace(reading, denied={**reading.denied, **{one: frozenset((getattr(before, one),)) for one in gone}})
    if _resets(reading):
        before, known = JobRequest(), False
    findings = find(reading, before, turn)
    intent = decide(_signs(reading, findings, turn, before, known))
    if known and _asks_and_states(reading, intent):
        reading = read(_statements(reading), before)
        findings = find(reading, before, turn)
        if findings.said or findings.answered:
            return "port" if reading.move else "generate", merge(
                before, findings.said, findings.answered, {}, reading.denied, turn.asked
            )
    if turn.asked == "source_machine" and "source_machine" in findings.said:
        intent = "port"
    if known and intent in SILENT:
        return intent, before
    if known and intent == "generate" and before.source_machine:
        intent = "port"
    findings = _fitting(intent, reading, findings)
    return intent, merge(before, findings.said, findings.answered, findings.quoted, reading.denied, turn.asked)


def find(reading: SentenceReading, before: JobRequest, turn: DialogueInput) -> Findings:
    """All values of a turn."""
    said: dict[str, SaidValue] = {}
    said |= changes(reading, before, turn.asked) if before != JobRequest() else rescaled(reading)
    changed = set(said)
    said = dict(reading.values) | said
    machine = str(said["machine"].value) if "machine" in said else before.machine
    if not changed & {"nodes", "gpus_per_node", "total_gpus"}:
        counts = settle_counts(
            reading.counts,
            reading.line,
            before,
            machine,
            turn.asked,
            not _asks(reading),
            "strategy" not in said and not _fails(reading),
        )
        said |= {name: value for name, value in counts.items() if name not in said}
        _by_degrees(reading, said)
    for name in () if reading.move else choose.undecided(reading.line, _asks(reading)):
        said.pop(name, None)
    if turn.asked == "source_machine" and "machine" in said:
        said.setdefault("source_machine", said.pop("machine"))
    answered = answer(reading, before, turn.asked, turn.options) if turn.asked and not changed else {}
    if answered.get("strategy", said.get("machine")) and "walltime" in said and said["walltime"].words.lower() == "3d":
        del said["walltime"]
    quoted = dict(reading.quoted)
    if reading.message.has_script:
        quoted = script_values(reading.message.quoted[-1]) | quoted
    return Findings(said, answered, quoted)


def _fails(reading: SentenceReading) -> bool:
    return has("failing", fold(reading.message.said))


def _by_degrees(reading: SentenceReading, said: dict[str, SaidValue]) -> None:
    """GPUs per node from the degrees of parallelism and the nodes, where nothing else tells them."""
    world = choose.world_size(fold(reading.message.said))
    nodes = said.get("nodes")
    if world and nodes and not said.keys() & {"gpus_per_node", "total_gpus"} and world % int(nodes.value) == 0:
        said["gpus_per_node"] = SaidValue(
            world // int(nodes.value), said["strategy"].words if "strategy" in said else nodes.words
        )


def _asks(reading: SentenceReading) -> bool:
    return any(asked(reading.message.said, reading.line))


def _resets(reading: SentenceReading) -> bool:
    return pattern("grammar.yaml", "changes", "reset").search(reading.line.canon) is not None


def _taken_back(reading: SentenceReading, before: JobRequest) -> frozenset[str]:
    """Fields whose value in the request so far is refused by this message."""
    back = {kind for kind, values in reading.denied.items() if getattr(before, kind, None) in values}
    return frozenset(
        back | ({"strategy"} if before.strategy == "3d" and reading.denied["strategy"] & {"tp", "pp"} else set())
    )


def _signs(reading: SentenceReading, findings: Findings, turn: DialogueInput, before: JobRequest, known: bool) -> Signs:
    folded = fold(reading.message.said)
    answers = bool(findings.answered) or bool(turn.asked and (is_yes(folded) or is_open(folded)))
    return Signs(
        said=reading.message.said,
        line=reading.line,
        printed=bool(reading.message.printed.strip()),
        has_script=reading.message.has_script,
        move=reading.move,
        fields=frozenset((*findings.said, *findings.answered, *findings.quoted)) | _taken_back(reading, before),
        in_dialogue=known or turn.asked is not None,
        answers=answers or bool(turn.asked and turn.asked in findings.said),
    )


def _asks_and_states(reading: SentenceReading, intent: Intent) -> bool:
    parts = asked(reading.message.said, reading.line)
    return intent in ("question", "generate", "port") and any(parts) and not all(parts)


def _statements(reading: SentenceReading) -> str:
    said, parts = reading.message.said, asked(reading.message.said, reading.line)
    return " ".join(said[a:b] for (a, b), asks in zip(sentences(said), parts, strict=True) if not asks)


def _fitting(intent: Intent, reading: SentenceReading, findings: Findings) -> Findings:
    """What a first message's intent lets stand: talk holds no request, a question no single GPU."""
    if intent == "smalltalk" or (intent == "other" and _is_refused(reading)):
        return Findings({}, {}, {})
    said = dict(findings.said)
    if intent in ("generate", "port"):
        said = _of_one_gpu(said)
    if intent in ("diagnose", "question"):
        said = _as_told(intent, reading, said)
    if intent not in ("port", "diagnose"):
        said.pop("source_machine", None)
    if intent == "port" and reading.message.has_script:
        return Findings(said, findings.answered, _portable(findings.quoted, said))
    return Findings(said, findings.answered, findings.quoted)


def _of_one_gpu(said: dict[str, SaidValue]) -> dict[str, SaidValue]:
    """One GPU in all is one node without a strategy, also where a question stands beside it."""
    total = said.get("total_gpus")
    if total is None or total.value != 1 or said.keys() & {"strategy", "nodes", "gpus_per_node"}:
        return said
    return said | dict.fromkeys(("nodes", "gpus_per_node"), total) | {"strategy": SaidValue("none", total.words)}


def _is_refused(reading: SentenceReading) -> bool:
    folded = fold(reading.message.said)
    return has("off_topic", folded) or (has("orders", folded) and "machine" not in reading.values)


def _as_told(intent: Intent, reading: SentenceReading, said: dict[str, SaidValue]) -> dict[str, SaidValue]:
    """In a failure or a question, GPUs alone say nothing of the job, and two strategies compared are none."""
    if "nodes" not in {c.field for c in reading.counts}:
        for name in ("total_gpus", "nodes") if any(c.field == "gpus" for c in reading.counts) else ():
            said.pop(name, None)
        if not any(c.field == "gpus_per_node" for c in reading.counts):
            said.pop("gpus_per_node", None)
    if said.get("strategy") and said["strategy"].value == "none":
        said.pop("strategy")
    if intent == "question":
        for kind in ("strategy", "framework"):
            if len({m.value for _, m in choose.meant(reading.line, kind)}) > 1:
                said.pop(kind, None)
                said.pop("framework", None)
    if intent == "diagnose":
        said.pop("walltime", None)
    return said


def _portable(quoted: Mapping[str, SaidValue], said: Mapping[str, Any]) -> dict[str, SaidValue]:
    """Of a script for another machine: the words of the message go first, and no name of the machine is its target."""
    out = {name: value for name, value in quoted.items() if name != "machine"}
    machine = quoted.get("machine")
    if machine and "source_machine" not in said and ("machine" not in said or said["machine"].value != machine.value):
        out["source_machine"] = machine
    return out
