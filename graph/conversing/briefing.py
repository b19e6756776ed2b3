"""What a model is told of the thread: its state and not its history, small whatever its length."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import fields

from graph.conversing.hand import REMARK, cut, in_outline, in_short, lines_that_do, shortened
from graph.conversing.looking import pending_of, told_diagnosis
from graph.modelling.model import fenced
from graph.reading.message import Message
from graph.state import State
from knowledge.types import Diagnosis, Exchange, Grounds, JobRequest, LaunchPlan, Made, Paste, Said

# Letters of each part; halved, the least telling first, until the whole fits.
ROOM = {"script": 6000, "rules": 3000, "talk": 3000, "log": 1500, "message": 6000, "plan": 1500}
LEAST = 300
# Of the rules' answer: letters of a part in words, of a line of a script, and of a note to it.
MOST_PROSE, MOST_ROW, MOST_NOTE = 900, 140, 300
# Of a turn before the last one.
MOST_EARLIER = 900
NOTHING = "nothing said yet"
# What a model is not told of a script that was checked: it holds for every script.
STANDING = re.compile(r"^Checked\b|\bNot proved: ")
UNTOLD = frozenset({"heard", "setup", "variables", "patches"})


def brief(
    state: State, message: Message, ruled: State, as_text: Callable[[Said], str], fits: Callable[[str], bool]
) -> str:
    """The thread and the message as one text that fits. ruled: the state that the rules would leave."""
    room = dict(ROOM)
    while True:
        text = "\n\n".join(part for part in parts(state, message, ruled, as_text, room) if part)
        largest = max(room, key=lambda name: room[name])
        if fits(text) or room[largest] <= LEAST:
            return text
        room[largest] //= 2


def parts(
    state: State, message: Message, ruled: State, as_text: Callable[[Said], str], room: dict[str, int]
) -> list[str]:
    bundle, own, found = state.get("bundle"), state.get("own"), ruled.get("diagnosed") or state.get("diagnosed")
    logs = ruled.get("logs") or state.get("logs", ())
    open_ = pending_of(state)
    said = as_sent(message, state["text"]) or "(no words, only what came with them)"
    return [
        talk(state.get("talk", ()), (state.get("grounds") or Grounds()).pages, room["talk"]),
        f"JOB {told_request(state.get('request'))}" if state.get("request") else "",
        decided(state.get("plan"), room["plan"]) if bundle and not own else "",
        script(own or Paste(bundle.name, bundle.script), bool(own), room["script"])
        if bundle
        else "SCRIPT none in hand",
        revisions(state),
        f"PARKED JOBS {len(state['jobs'])}" if state.get("jobs") else "",
        f"OPEN FROM LAST ANSWER {open_}" if open_ else "",
        f"DIAGNOSIS of the log in hand\n{fenced(told_diagnosis(found))}" if found else "",
        "\n".join(log(one, room["log"]) for one in logs[:3]) if logs and message.logs else "",
        output(message, state, room["log"]),
        rules(ruled, as_text, room["rules"]),
        f"MESSAGE\n{fenced(cut(said, room['message']))}",
    ]


def as_sent(message: Message, text: str) -> str:
    """The person's words; where several files came, the message as it was sent, without what is shown in its place."""
    if len(message.scripts) < 2:
        return message.words
    shown = [(message.scripts[0], "(the script in hand)"), *((one, "(the log)") for one in message.logs)]
    for paste, instead in (*shown, *((one, "(the scheduler's output)") for one in message.outputs)):
        if paste.text.strip():
            text = text.replace(paste.text.strip(), instead)
    return text


def told_request(request: JobRequest | None) -> str:
    """The fields that were said, as FIELD=VALUE."""
    if request is None:
        return NOTHING
    names = [one.name for one in fields(JobRequest) if one.name not in UNTOLD]
    pairs = [(name, getattr(request, name)) for name in names]
    return "; ".join(f"{name}={in_short(value)}" for name, value in pairs if value not in (None, (), "")) or NOTHING


def decided(plan: LaunchPlan | None, most: int) -> str:
    """What was taken where nothing was said."""
    if plan is None:
        return ""
    told = [f"- {one.field} = {one.value}: {one.why}" for one in plan.assumptions]
    return cut("\n".join([f"DECIDED for {plan.title}, {plan.nodes} x {plan.ranks_per_node} ranks", *told]), most)


def script(paste: Paste, own: bool, most: int) -> str:
    """The script in hand with its line numbers."""
    lines = enumerate(paste.text.splitlines(), 1)
    rows = [f"{at} {row}" for at, row in lines if own or not REMARK.match(row)]
    whose = "the person's own" if own else "ours, without its comments"
    return f"SCRIPT IN HAND {paste.name}, {whose} (numbers are not part of it)\n{fenced(cut(chr(10).join(rows), most))}"


def revisions(state: State) -> str:
    """The versions of the script, by what tells them apart."""
    versions = state.get("revisions", ())
    if len(versions) < 2:
        return ""
    rows = [f"{at}. {short(one.request)}" for at, one in enumerate(versions, 1)][-8:]
    return "VERSIONS of the script, the last in hand: " + " | ".join(rows)


def short(request: JobRequest) -> str:
    values = (
        request.machine,
        request.strategy,
        request.queue,
        request.nodes and f"{request.nodes} nodes",
        request.walltime,
    )
    return " ".join(str(one) for one in values if one)


def log(paste: Paste, most: int) -> str:
    """A log by its beginning and end; the rest by log_lines."""
    if paste.text:
        return f"LOG {paste.name} ({len(paste.text.splitlines())} lines)\n{fenced(cut(paste.text, most))}"
    return f"LOG {paste.name}: attached; read it with log_lines"


def output(message: Message, state: State, most: int) -> str:
    """What a scheduler printed: now, or last."""
    text = "\n".join(one.text for one in message.outputs) or state.get("output", "")
    return f"SCHEDULER OUTPUT in hand\n{fenced(cut(text, most))}" if text else ""


def talk(turns: Sequence[Exchange], pages: Sequence[tuple[int, str]], most: int) -> str:
    """The last few turns, the newest whole, those before it shorter, and the pages that they cite."""
    told: list[str] = []
    for one in reversed(turns):
        left = most if not told else min(MOST_EARLIER, most - sum(map(len, told)))
        came = f"\n(with it came, shortened: {one.came})" if one.came else ""
        if left < LEAST:
            break
        told.insert(0, f"person: {shortened(one.said, left // 2)}{came}\nyou: {in_outline(one.answered, left)}")
    text = "\n".join(told)
    rows = [f"[{at}] {page}" for at, page in pages if f"[{at}]" in text]
    return "\n".join(["TALK before this message", fenced(text), *rows]) if told else ""


def rules(ruled: State, as_text: Callable[[Said], str], most: int, prose: int = MOST_PROSE) -> str:
    """What the rules would answer, in short: words cut, a script by its lines that do something."""
    shown = []
    for part in ruled.get("said", ()):
        if isinstance(part, Diagnosis):
            shown.append("[the diagnosis above, in full]")
        elif isinstance(part, Made) and part.diff:
            shown.append(f"[script changed]\n{part.diff}")
        elif isinstance(part, Made):
            rows = [f"assumed {one.field} = {one.value}: {one.why}" for one in part.assumptions]
            notes = [f"note: {cut(note, MOST_NOTE)}" for note in part.notes if not STANDING.search(note)]
            does = [row[:MOST_ROW] for row in lines_that_do(part.bundle.script)]
            shown.append("\n".join([f"[new script {part.bundle.name} for {part.title}]", *does, *rows, *notes]))
        else:
            shown.append(cut(as_text(part), prose))
    read = f"(job as they read it: {told_request(ruled.get('request'))})" if ruled.get("way") == "write" else ""
    return f"RULES would answer\n{fenced(cut(chr(10).join(filter(None, (read, *shown))), most))}"
