"""What people ask or suppose beside a job, and the line that answers it."""

from __future__ import annotations

import re

from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.spoken import listed, spoken_lines
from knowledge.schedulers.reason_types import WaitKind
from knowledge.schedulers.times import spoken_time

WAITS: tuple[WaitKind, ...] = ("wait", "node")
BLOCKED: tuple[WaitKind, ...] = ("limit-request", "limit-budget", "dependency", "hold", "config")
IDLE = re.compile(
    r"(?i)\b((?<!state: )idle|free|empty|nothing is running|libres?|livres?|liber[eio]|frei\w*|vuot\w+|"
    r"woln\w+|ledig\w*)\b|свободн|空い|空闲|비어"
)
FULL = re.compile(
    r"(?i)\b(full|busy|crowded|congested|voll\w*|pien[ao]|chei[ao]|llen[ao]|plein\w*|satur\w+|drukke?|zatłoczon\w*)\b|"
    r"混|拥挤|забит|переполн|붐비|밀려"
)
BROKEN = re.compile(
    r"(?i)\b(broken|bug|error|fault|dead|kaputt|defekt|tot|cass[eé]e?|panne|roto|rotto|morto|quebrad\w|fejl)\b|"
    r"壊|坏|故障|エラー|バグ|버그|고장|오류|сломан|ошибк"
)
AGAIN = re.compile(
    r"(?i)\b(re-?submit\w*|submit (?:it |them )?again|neu (?:ab|ein)\w+|resoumet\w*|reenvi\w*|rinvi\w*|opnieuw)\b|"
    r"再提交|重新提交|再投入|заново"
)
RAISE = re.compile(r"\b([Pp]riorit\w*|btop|renice)\b")
# What is asked, for which kinds of reasons, the answer, and its label in other languages.
ANSWERS: tuple[tuple[re.Pattern[str], tuple[WaitKind, ...], str, str], ...] = (
    (
        re.compile(
            r"(?i)\b(later|after me|unfair|overtak\w+|jump\w*|ahead of|before mine|passed|newer|benachteilig\w*|"
            r"ungerecht|injuste|ingiusto|injusto)\b|后来|先に"
        ),
        WAITS,
        "Jobs handed in later may start first: shorter or smaller ones fill gaps that delay no larger job (backfill), "
        "and those of accounts that used less lately stand higher (fair-share).",
        "later-first",
    ),
    (
        re.compile(r"(?i)\bnormal\b"),
        ("wait", "node", "limit-aggregate"),
        "Yes, such a wait can be normal: on a full machine large or long jobs wait for hours or days.",
        "normal",
    ),
    (FULL, BLOCKED, "That the queue is full is not the cause.", "not-full"),
    (BROKEN, (*WAITS, "dependency", "limit-aggregate"), "Nothing of it is broken.", "not-broken"),
    (
        AGAIN,
        (*WAITS, "limit-aggregate", "dependency"),
        "Submitting it again does not help: it would lose its place.",
        "keep",
    ),
    (RAISE, BLOCKED, "A higher priority does not help.", "no-priority"),
)
# Words of a trouble or a state that a job's name may hold.
TROUBLE = re.compile(r"(?i)fail|oom|error|hold|held|pend|dead|stuck|kill|hang|wait|debug_?me")
LONG = re.compile(
    r"(?i)(?<![\w:])(?:\d+(?:\.\d+)? ?(?:h|hours?|hrs?|std|stunden|heures|horas?|ore|days?|tagen?|jours)|"
    r"(?:[2-9]\d|\d{3}) ?min\w*)\b"
)


def answers(case: WaitCase) -> WaitingNote | None:
    """The lines for what the words ask; a table pasted beside them asks nothing."""
    kind, said = case.found.reason.kind, spoken_lines(case.words)
    found = [(line, label) for asked, kinds, line, label in ANSWERS if kind in kinds and asked.search(said)]
    told, facts = [line for line, _ in found], [Fact(label) for _, label in found]
    if IDLE.search(said) and (idle := idle_nodes(case)):
        told.append(idle)
        facts += [Fact("free-no-help")] if idle == NO_HELP else []
    told += list(
        filter(None, (look(case) for look in (only_its_name, too_long, no_output_yet, others_end, its_own_time)))
    )
    whole = tuple(facts) if len(facts) == len(told) else ()
    return WaitingNote(" ".join(told), facts=whole) if told else None


NO_HELP = "Free nodes do not help: they are not what it waits for."


def idle_nodes(case: WaitCase) -> str:
    """What free nodes mean for it: by what the reason is about, not by the words that asked."""
    reason = case.found.reason
    if reason.kind in ("limit-aggregate", *BLOCKED) or (reason.kind == "wait" and reason.of not in ("", "node")):
        return NO_HELP
    if reason.kind == "node" and reason.starts == "yes":
        return "Idle nodes are no sign of a fault: the job has to fit on them until what keeps them begins."
    if reason.kind != "wait" or reason.of != "node" or case.rows("sinfo", "pbsnodes"):
        return ""
    return "Nodes that look idle may be kept for a job that stands before it, or lack what it asks for."


def only_its_name(case: WaitCase) -> str:
    """A job that runs or ends is called after a trouble: its name is taken for its state."""
    named = TROUBLE.search(case.job.name)
    if case.found.reason.kind != "not-waiting" or not named or named[0].lower() not in case.words.lower():
        return ""
    return f"`{case.job.name}` is only its name: nothing here shows such a trouble, and nobody holds it."


def too_long(case: WaitCase) -> str:
    """The end of a job that takes hours."""
    if case.job.phase != "ending" or not (said := LONG.search(case.words)):
        return ""
    where = f" on {case.job.where}" if case.job.where else " on a node"
    rest = (
        " Your next job does not wait for it, unless it needs that node or depends on it."
        if NEXT.search(case.words)
        else ""
    )
    return (
        f"{said[0]} is too long for that (a minute or two is usual): as a rule a process hangs{where}, often in its "
        f"file system; scancel does not help, staff have to look at the node.{rest}"
    )


NEXT = re.compile(r"(?i)\b(?:next|other|following|second|nächste\w*|prochain\w*|siguiente|próximo|prossimo)\b")
EMPTY = re.compile(
    r"(?i)\b(?:empty|nothing (?:in|is written|comes)|no output|0 bytes|leer|keine ausgabe|vide|aucune sortie|"
    r"vac[ií]o|vazio|vuoto|leeg|pust[ya])\b"
)


def no_output_yet(case: WaitCase) -> str:
    """A running job whose output is empty: how soon lines are to be expected."""
    if case.job.phase != "running" or not EMPTY.search(case.words):
        return ""
    soon = case.job.elapsed is not None and case.job.elapsed < SOON
    begun = f"After {spoken_time(case.job.elapsed)} an" if soon and case.job.elapsed is not None else "An"
    normal = "is normal" if soon else "may still be normal"
    return (
        f"{begun} empty file {normal}: modules and data are being loaded, and Python keeps its lines back "
        "(`python -u` or PYTHONUNBUFFERED=1 lets them through at once)."
    )


# Seconds in which loading a program and its data is nothing unusual.
SOON = 900.0


def reason_left_over(case: WaitCase) -> WaitingNote | None:
    """The reason that the accounting prints beside a job that is over, taken for one that holds it."""
    left = case.job.printed("Reason")
    if case.job.phase != "ended" or left in ("", "None") or case.job.scheduler != "slurm":
        return None
    if case.job.elapsed == 0 or (case.job.elapsed is None and case.job.state.startswith("CANC")):  # it never ran
        return None
    return WaitingNote(
        f"`{left}` holds nothing any more: that column keeps the last reason for which it waited before it started."
    )


def others_end(case: WaitCase) -> str:
    """Another job, of which the words suppose that its end helps."""
    ids = [job.id for job in case.others if job.phase == "running" and len(job.id) > 2 and job.id in case.words]
    if case.found.reason.kind not in ("limit-request", "config", "hold") or not ids:
        return ""
    return f"The end of {listed(ids)} changes nothing for it."


def its_own_time(case: WaitCase) -> str:
    """The time that it asks for, taken for the time that it waits (a column of Flux)."""
    asked = case.job.printed("TIME")
    waits = case.job.scheduler == "flux" and case.job.phase == "waiting" and len(asked) > 1
    return f"{asked} is the time that it asks for, not how long it waits." if waits and asked in case.words else ""
