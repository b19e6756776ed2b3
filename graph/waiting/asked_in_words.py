"""What people ask or suppose beside a job, and the line that answers it."""

from __future__ import annotations

import re

from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.spoken import listed
from knowledge.schedulers.reason_types import WaitKind

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
# What is asked, for which kinds of reasons, and the answer.
ANSWERS: tuple[tuple[re.Pattern[str], tuple[WaitKind, ...], str], ...] = (
    (
        re.compile(
            r"(?i)\b(later|after me|unfair|overtak\w+|jump\w*|ahead of|before mine|passed|newer|benachteilig\w*|"
            r"ungerecht|injuste|ingiusto|injusto)\b|后来|先に"
        ),
        WAITS,
        "Jobs handed in later may start first: shorter or smaller ones fill gaps that delay no larger job (backfill), "
        "and those of accounts that used less lately stand higher (fair-share).",
    ),
    (
        re.compile(r"(?i)\bnormal\b"),
        ("wait", "node", "limit-aggregate"),
        "Yes, such a wait can be normal: on a full machine large or long jobs wait for hours or days.",
    ),
    (
        IDLE,
        ("wait",),
        "Nodes that look idle may be kept for a job that stands before it, or lack what it asks for.",
    ),
    (
        IDLE,
        ("limit-aggregate", *BLOCKED),
        "Free nodes do not help: they are not what it waits for.",
    ),
    (IDLE, ("node",), "Idle nodes are no sign of a fault: the job has to fit on them until what keeps them begins."),
    (FULL, BLOCKED, "That the queue is full is not the cause."),
    (BROKEN, (*WAITS, "dependency", "limit-aggregate"), "Nothing of it is broken."),
    (AGAIN, (*WAITS, "limit-aggregate", "dependency"), "Submitting it again does not help: it would lose its place."),
    (RAISE, BLOCKED, "A higher priority does not help."),
)
# Words of a trouble or a state that a job's name may hold.
TROUBLE = re.compile(r"(?i)fail|oom|error|hold|held|pend|dead|stuck|kill|hang|wait|debug_?me")
LONG = re.compile(
    r"(?i)(?<![\w:])(\d+(?:\.\d+)?) ?(?:h|hours?|hrs?|std|stunden|heures|horas?|ore|days?|tagen?|jours)\b"
)


def answers(case: WaitCase) -> WaitingNote | None:
    """The lines for what the words ask; a table pasted beside them asks nothing."""
    kind = case.found.reason.kind
    told = [line for asked, kinds, line in ANSWERS if kind in kinds and asked.search(case.words)]
    shown = case.rows("sinfo")
    told = [line for line in told if not (shown and line.startswith("Nodes that look idle"))]
    told += list(filter(None, (look(case) for look in (only_its_name, too_long, others_end, its_own_time))))
    return WaitingNote(" ".join(told)) if told else None


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
    return f"{said[0]} is too long for that: as a rule a process hangs on a node, often in its file system."


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
