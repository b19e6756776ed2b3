"""What a model is told of the thread: its state and not its history, small whatever its length."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from graph.conversing.hand import REMARK, cut, in_outline, lines_that_do, names_of, scripts_in, shortened
from graph.conversing.job_told import NOTHING, decided, job_in_hand, told_request
from graph.conversing.looking import pending_of, told_diagnosis
from graph.modelling.model import fenced
from graph.reading.message import FENCE, Message
from graph.state import State
from knowledge.masking import hide
from knowledge.schedulers.outputs import scheduler_output
from knowledge.types import Diagnosis, Exchange, Grounds, JobRequest, Made, Paste, Said

# Letters of each part; halved, the least telling first, until the whole fits.
ROOM = {
    "script": 6000,
    "rules": 3000,
    "talk": 4000,
    "found": 1000,
    "log": 1500,
    "message": 6000,
    "plan": 1500,
    "parked": 2500,
    "files": 2500,
}
LEAST = 300
# Parked jobs that are shown with their script.
MOST_PARKED = 3
# Lines of a person's own script that is shown whole, whatever else has to be cut.
SHORT = 60
# Of the rules' answer: letters of a part in words, of a line of a script, and of a note to it.
MOST_PROSE, MOST_ROW, MOST_NOTE = 900, 140, 300
# Of the answer of a turn before the last one, and of the words to it.
MOST_EARLIER, MOST_ASKED = 500, 400
# Rows from which on a text may be what a scheduler printed in a form that nobody knows.
FEW_ROWS = 2
# What a model is not told of a script that was checked: it holds for every script.
STANDING = re.compile(r"^Checked\b|\bNot proved: ")


def brief(
    state: State, message: Message, ruled: State, as_text: Callable[[Said], str], fits: Callable[[str], bool]
) -> str:
    """The thread and the message as one text that fits. ruled: the state that the rules would leave."""
    room, own = dict(ROOM), state.get("own")
    is_short = bool(own) and len(own.text.splitlines()) <= SHORT and len(own.text) < room["script"]  # type: ignore[union-attr]
    while True:
        text = "\n\n".join(part for part in parts(state, message, ruled, as_text, room) if part)
        largest = max(room, key=lambda name: 0 if is_short and name == "script" else room[name])
        if fits(text) or room[largest] <= LEAST:
            return text
        room[largest] //= 2


def parts(
    state: State, message: Message, ruled: State, as_text: Callable[[Said], str], room: dict[str, int]
) -> list[str]:
    bundle, own, found = state.get("bundle"), state.get("own"), ruled.get("diagnosed") or state.get("diagnosed")
    logs = ruled.get("logs") or state.get("logs", ())
    open_ = pending_of(state)
    told = (state.get("request") or JobRequest()).machine or ""
    said = as_sent(message, state["text"], scripts_in(state)) or "(no words, only what came with them)"
    turns, facts = talk(state.get("talk", ()), room["talk"]), facts_found(state.get("talk", ()), room["found"], told)
    return [
        turns,
        facts,
        pages((state.get("grounds") or Grounds()).pages, f"{turns}\n{facts}"),
        f"JOB {told_request(job_in_hand(state))}" if state.get("request") else "",
        decided(state, room["plan"]),
        script(own or Paste(bundle.name, bundle.script), bool(own), room["script"])
        if bundle
        else "SCRIPT none in hand",
        f"BESIDE IT, by edit_script file: {', '.join(one.name for one in bundle.files)}"
        if bundle and bundle.files
        else "",
        revisions(state),
        parked(state, room["parked"]),
        side_files(state.get("files", ()), room["files"]),
        f"OPEN FROM LAST ANSWER {open_}" if open_ else "",
        f"DIAGNOSIS of the log in hand\n{fenced(told_diagnosis(found, whole=bool(message.logs)))}" if found else "",
        "\n".join(log(one, room["log"]) for one in logs[:3]) if logs and message.logs else "",
        output(state, room["log"]),
        rules(ruled, state, as_text, room["rules"]),
        f"MESSAGE\n{fenced(cut(said, room['message']))}",
    ]


def mark_among(marks: Sequence[str], told: Sequence[str]) -> str:
    """Of a row's marks that of the thing that goes on, else the first that is not told yet; empty where it has none."""
    if told and told[-1] in marks:
        return told[-1]
    return next((one for one in marks if one not in told), marks[0] if marks else "")


def marks_of(message: Message, shown: Mapping[str, str]) -> dict[str, list[str]]:
    """For each row of what came, the marks of the things in which it stands."""
    scripts = ((f"(the script {shown[one.text]})", (one,)) for one in message.scripts if one.text in shown)
    files = ((f"(the file {one.name})", (one,)) for one in message.files)
    came = (*scripts, *files, ("(the log)", message.logs))
    pasted = (*came, ("(the scheduler's output)", message.outputs))
    marks: dict[str, list[str]] = {}
    for mark, pastes in pasted:
        for row in (row.strip() for one in pastes for row in one.text.splitlines()):
            marks.setdefault(row, []).append(mark)
    return marks


def as_sent(message: Message, text: str, shown: Mapping[str, str]) -> str:
    """The message as it was sent, a mark in the place of each thing that is shown above; what may be the person's own
    is left in. shown: the scripts that are, by their text, with what each is called."""
    marks = marks_of(message, shown)
    own = {row.strip() for row in message.words.splitlines()}
    told: list[str] = []
    for row in text.splitlines():
        here, last = row.strip(), told[-1] if told else ""
        of = [] if here in own or FENCE.match(row) else marks.get(here, [])
        mark = mark_among(of, told)
        if mark and mark != last:
            told.append(mark)
        elif not mark and (here or not last.startswith("(the ")) and not FENCE.match(row):
            told.append(hide(row))
    whole = "\n".join((text, *told))  # words are told with their keys hidden
    more = [row for row in message.words.splitlines() if row.strip() and row.strip() not in whole]
    return "\n".join([*told, *(row for row in more if not typed_row(row, text))]).strip()


def typed_row(row: str, text: str) -> str:
    """The row of a text of which another is what was left once a quoted piece or a polite form was taken out of it;
    empty where there is none."""
    left = re.findall(r"\w+", row)
    for one in text.splitlines() if left else ():
        words = iter(re.findall(r"\w+", one))
        if all(word in words for word in left):
            return one
    return ""


def as_typed(words: str, text: str) -> str:
    """The person's words with each of their rows as it was typed."""
    rows = (row if row.strip() in text else hide(typed_row(row, text)) or row for row in words.splitlines())
    return "\n".join(rows)


def script(paste: Paste, own: bool, most: int) -> str:
    """The script in hand with its line numbers."""
    lines = enumerate(paste.text.splitlines(), 1)
    rows = [f"{at} {row}" for at, row in lines if own or not REMARK.match(row)]
    whose = "the person's own" if own else "ours, without its comments"
    return f"SCRIPT IN HAND {paste.name}, {whose} (numbers are not part of it)\n{fenced(cut(chr(10).join(rows), most))}"


def parked(state: State, most: int) -> str:
    """The other jobs of the thread by their numbers and files, the newest with their scripts."""
    jobs = state.get("jobs", ())
    each, told = most // max(1, min(len(jobs), MOST_PARKED)), list[str]()
    for at, (one, name) in enumerate(zip(jobs, names_of(state), strict=True), 1):
        newest = one.revisions[-1] if one.revisions else None
        if newest is None or newest.bundle is None:
            told.append(f"PARKED JOB {at}")
            continue
        rows = newest.own.text.strip() if newest.own else "\n".join(lines_that_do(newest.bundle.script))
        text = f"\n{fenced(cut(rows, each))}" if at > len(jobs) - MOST_PARKED else ""
        told.append(f"PARKED JOB {at}. {name}{text}")
    return "\n".join(told)


def side_files(files: Sequence[Paste], most: int) -> str:
    """What lies beside the scripts and was pasted, each shortened."""
    each = most // max(1, len(files))
    return "\n".join(f"FILE {one.name}, pasted\n{fenced(cut(one.text, each))}" for one in files)


def revisions(state: State) -> str:
    """The versions of the script, by what tells them apart."""
    versions = state.get("revisions", ())
    if len(versions) < 2:
        return ""
    told = [short(one.request) for one in versions]
    rows = [f"{at}. {'other lines' if at > 1 and one == told[at - 2] else one}" for at, one in enumerate(told, 1)][-8:]
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


def output(state: State, most: int) -> str:
    """What schedulers printed, now and before; words about it are in the talk."""
    text = state.get("output", "")
    if text.count("\n") < FEW_ROWS and not scheduler_output(text):
        return ""
    return f"SCHEDULER OUTPUT in hand, the newest last\n{fenced(cut(text, most))}" if text else ""


def talk(turns: Sequence[Exchange], most: int) -> str:
    """The last turn whole, of those before it the words and the first lines of the answer."""
    told: list[str] = []
    for at, one in enumerate(reversed(turns)):
        words, left = (most, most) if not at else (MOST_ASKED, min(MOST_EARLIER, most // 4))
        told.insert(0, f"person: {shortened(one.said, words)}\nyou: {in_outline(one.answered, left)}")
    return "\n".join(["TALK before this message", fenced("\n".join(told))]) if told else ""


def facts_found(turns: Sequence[Exchange], most: int, machine: str) -> str:
    """What tools told in the turns before, in short, the newest of each call, as much of it as there is room for.
    machine: the facts that are told anyway."""
    calls: dict[str, str] = {}
    known = re.compile(rf"cluster_facts {re.escape(machine)}(?:, (?:queues|nodes| )*)?:\n") if machine else None
    for text in (text for one in reversed(turns) for text in reversed(one.found)):
        if known and known.match(text):
            continue
        if sum(map(len, calls.values())) + len(text) <= most:
            calls.setdefault(text.partition("\n")[0], text)
    told = fenced("\n".join(reversed(calls.values())))
    return f"FOUND by tools in earlier turns, shortened (call again for the rest)\n{told}" if calls else ""


def pages(numbered: Sequence[tuple[int, str]], text: str) -> str:
    """The pages that a text cites."""
    return "\n".join(f"[{at}] {page}" for at, page in numbered if f"[{at}]" in text)


def rules(ruled: State, state: State, as_text: Callable[[Said], str], most: int, prose: int = MOST_PROSE) -> str:
    """What the rules would answer, in short: words cut, a script by its lines that do something, of the job that they
    read what is another than in the thread."""
    shown, said = list[str](), ruled.get("said", ())
    prose = max(prose, most - MOST_PROSE) if len(said) == 1 else prose
    for part in said:
        if isinstance(part, Diagnosis):
            continue  # it stands above
        if isinstance(part, Made) and part.diff:
            shown.append(f"[script changed]\n{part.diff}")
        elif isinstance(part, Made):
            rows = [f"assumed {one.field} = {one.value}: {one.why}" for one in part.assumptions]
            notes = [f"note: {cut(note, MOST_NOTE)}" for note in part.notes if not STANDING.search(note)]
            rows_that_do = lines_that_do(part.bundle.script)
            does = [f"{row[:MOST_ROW]} [...]" if len(row) > MOST_ROW else row for row in rows_that_do]
            beside = [f"[printed with it: {one.name}]\n{cut(one.text, MOST_NOTE)}" for one in part.bundle.files]
            head = f"[new script {part.bundle.name} for {part.title}]"
            shown.append("\n".join([head, *does, *rows, *notes, *beside]))
        else:
            shown.append(cut(as_text(part), prose))
    if not shown:
        return ""
    new = told_request(ruled.get("request"), state.get("request")) if ruled.get("way") == "write" else NOTHING
    read = f"({'they take' if state.get('bundle') else 'job as they read it'}: {new})" if new != NOTHING else ""
    return f"RULES would answer\n{fenced(cut(chr(10).join(filter(None, (read, *shown))), most))}"
