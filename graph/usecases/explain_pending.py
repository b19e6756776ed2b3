"""Why a job does not start: what holds it, whether it starts by itself, and what helps. Values in, values out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from graph.waiting.case import Fact, WaitCase, WaitingNote, filled, known_values, open_names, parent_ids, to_put_in
from graph.waiting.elsewhere import own_names, would_take
from graph.waiting.ended import exit_note, use_note
from graph.waiting.evidence import not_told, notes_of, seen
from graph.waiting.in_language import answer_in, labels, spoken_facts
from graph.waiting.languages import language_of, verdict_in
from graph.waiting.limit_sum import limit_sum
from graph.waiting.limits_told import limit_note, too_large_for_a_node
from graph.waiting.machine_seen import machine_seen
from graph.waiting.meant import alike, is_anothers, jobs_meant, lister, named_by, read_jobs, speaker
from graph.waiting.no_job import refused, spoken_id, told_without_job
from graph.waiting.others_seen import one_by_one, own_beside, submit_room
from graph.waiting.own_lines import own_line
from graph.waiting.refused_request import hours_of_lsf, what_it_asked
from graph.waiting.script_change import script_diff, script_in
from graph.waiting.spoken import listed, moment_of, spoken_date, spoken_lines
from graph.waiting.verdict import reason_of
from graph.waiting.words import tables
from knowledge.cluster import Cluster
from knowledge.document import Diff, Document, Paragraph, Part, Step, Steps
from knowledge.schedulers.outputs import scheduler_output
from knowledge.schedulers.reason_types import Starts, WaitKind
from knowledge.schedulers.reasons import spoken_reason
from knowledge.schedulers.records import QueuedJob, SchedulerOutput
from knowledge.site import as_there

# More jobs than these are told by groups.
FEW = 3
# Characters of a person's words, and of what no scheduler prints, in which a reason is looked for.
MOST_WORDS = 60_000


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    """What holds a job, and what helps. starts is None where no job waits."""

    job: str
    kind: WaitKind
    starts: Starts | None
    reason: str
    says: tuple[str, ...]
    look: tuple[Step, ...]
    change: tuple[Step, ...]
    document: Document
    language: str = ""
    """The language of the document; empty: English."""


def explain_pending(
    text: str,
    outputs: Sequence[SchedulerOutput] | None = None,
    machine: Cluster | None = None,
    script: str = "",
) -> PendingAnswer:
    """What the pasted outputs and the words around them say of the job that is meant.

    `outputs` are those of the text (scheduler_output), where they have been read before; `machine` the machine of the
    conversation; `script` the job's script, where none stands in the text: the change is shown as a diff of it. What is
    not printed is asked for by the one command that prints it.
    """
    cases, meant = cases_of(text, outputs, machine)
    words = cases[0].words
    told = [with_diff(answer_of(case, words), script or script_in(words)) for case in cases[:FEW]]
    told = [with_alike(answer, case, meant, cases) for answer, case in zip(told, cases, strict=False)]
    order = sorted(told, key=lambda answer: answer.starts != "no" or answer.kind == "ended")
    order[-1] = with_rest(order[-1], cases[FEW:])
    return joined(order) if len(order) > 1 else order[0]


def cases_of(
    text: str, outputs: Sequence[SchedulerOutput] | None = None, machine: Cluster | None = None
) -> tuple[list[WaitCase], Sequence[QueuedJob]]:
    """The jobs that are told of, one for each reason, with what was pasted beside them; and all that are meant."""
    outputs = tuple(scheduler_output(text) if outputs is None else outputs)
    lines = text.split("\n")
    inside = {n for output in outputs for n in range(output.first, output.last + 1)}
    words = "\n".join(line for n, line in enumerate(lines) if n not in inside)[:MOST_WORDS]
    jobs = with_parts(read_jobs(outputs))
    meant = jobs_meant(jobs, words, text) if jobs else []
    machine = machine or machine_seen(text, jobs, outputs[0].scheduler if outputs else None)
    if not meant or only_refused(meant, outputs, words):
        return [told_without_job(outputs, words, text, machine, jobs)], ()
    if in_a_row := told_in_a_row(meant, words):
        jobs, meant = [*jobs, in_a_row], [in_a_row]
    who = speaker(jobs, spoken_lines(words), text, lister(outputs, text))
    if who and all(is_anothers(job, who, "") for job in meant):  # what it means for one's own
        meant += [job for job in jobs if job.phase == "waiting" and alike(job.user, who)]
    elif who and (mine := [job for job in meant if not is_anothers(job, who, "")]):
        meant = mine
    if len(meant) == 1 and not meant[0].id.strip():
        meant = [replace(meant[0], id=spoken_id(text, words))]
    meant = [with_run_limit(job, text) for job in meant] if len(meant) == 1 else meant
    silent = len(meant) == 1 and meant[0].phase in ("waiting", "unknown") and not meant[0].reason
    said = spoken_reason(words) if silent else None
    step = refused(outputs)
    step = step if step and step.reason.word == "step waits" else None
    why = ((job, step if step and step.named["job"] == job.id else said or reason_of(job)) for job in meant)
    cases = [WaitCase(job, found, (), outputs, words, text, machine) for job, found in why]
    # What stands beside a job is gathered only for those that are told of: a queue may hold 50,000.
    told = one_for_each(cases)
    for at, case in enumerate(told[:FEW]):
        others = tuple(job for job in jobs if job is not case.job)
        told[at] = replace(case, others=others, anothers=is_anothers(case.job, who, spoken_lines(words)))
    return told, meant


# An amount for each node, as Slurm prints it.
EACH_NODE = re.compile(r"\bgres/gpu:\S+")


def told_in_a_row(meant: Sequence[QueuedJob], words: str) -> QueuedJob | None:
    """The waiting job that the person tells of beside the running jobs of others: a line with its id and its reason."""
    if any(job.phase != "running" for job in meant) or named_by(meant, words, "id"):
        return None
    for line in words.splitlines() if (said := spoken_reason(words)) and said.limit else ():
        if said and said.limit and said.limit.word in line and (name := spoken_id(line, line)):
            each = EACH_NODE.search(line)
            fields = (("TRES_PER_NODE", each[0]),) if each else ()
            same = {job.qos for job in meant} if said.limit.set_on == "qos" else {""}
            return QueuedJob(
                "slurm", name, qos=same.pop() if len(same) == 1 else "", state="PD", phase="waiting",
                reason=said.limit.word, nodes=1 if each else None, fields=fields,
            )  # fmt: skip
    return None


# Below `bjobs`: `bqueues -l` prints that of the queue under the same word.
RUN_LIMIT = re.compile(r"\bbjobs [^\n]{0,200}\n\s*RUNLIMIT\s+(\d+(?:\.\d+)?) min")


def with_run_limit(job: QueuedJob, text: str) -> QueuedJob:
    """A job of LSF with its run limit, where that was cut out of `bjobs -l` by itself."""
    found = RUN_LIMIT.search(text) if job.scheduler == "lsf" and not job.limit else None
    return replace(job, limit=float(found[1]) * 60) if found else job


def with_parts(jobs: Sequence[QueuedJob]) -> list[QueuedJob]:
    """The parts of a heterogeneous job start together: one without a reason of its own waits for what another does."""
    reasons = {
        job.id.split("+")[0]: job.reason
        for job in jobs
        if "+" in job.id and job.phase == "waiting" and job.reason not in ("", "None")
    }
    return [
        replace(job, reason=reasons[base])
        if (base := job.id.split("+")[0]) in reasons and "+" in job.id and job.reason in ("", "None")
        else job
        for job in jobs
    ]


def only_refused(meant: Sequence[QueuedJob], outputs: Sequence[SchedulerOutput], words: str) -> bool:
    """Whether a submission was refused and no job waits: the jobs beside it run, and nobody asks about them."""
    asked = " ".join(one for one in re.split(r"(?<=[.?!\n])", spoken_lines(words)) if one.endswith("?"))
    if any(job.phase != "running" for job in meant) or named_by(meant, asked, "id"):
        return False
    told = refused(outputs)
    return (
        told is not None and told.reason.kind == "client-error" and told.reason.word not in ("unknown job", "refused")
    )


def with_alike(
    answer: PendingAnswer, told: WaitCase, meant: Sequence[QueuedJob], groups: Sequence[WaitCase]
) -> PendingAnswer:
    """The answer with the other jobs that wait for the same reason, which are not told of one by one."""
    heads = {id(one.job) for one in groups}
    alike = [
        job
        for job in meant
        if job.phase == "waiting" and id(job) not in heads and waits_alike(job, told.job) and job.id.strip()
    ]
    if not alike or told.job.phase != "waiting":
        return answer
    names = listed([job.id for job in alike], 8)
    sums = limit_sum(told) if answer.kind.startswith("limit-agg") else None
    closed = sums is not None and sums.limit is not None and sums.limit.most == 0
    if (
        answer.starts != told.found.reason.starts and answer.kind != "config" and not closed
    ):  # by what this one asks for
        word = told.found.reason.word
        says = f"Also held by `{word}`: {names}; what each asks for decides, name it to hear of it."
        return with_line(answer, says, [Fact("alike", ", ".join(job.id for job in alike[:8]))])
    return with_line(answer, *told_alike(answer, told, alike))


def told_alike(answer: PendingAnswer, told: WaitCase, alike: Sequence[QueuedJob]) -> tuple[str, list[Fact]]:
    """The others of the same reason, with their own planned starts, and whether they fit a limit only in turn."""
    says = f"{listed([job.id for job in alike], 8)} {'waits' if len(alike) == 1 else 'wait'} for the same reason."
    facts = [Fact("alike", ", ".join(job.id for job in alike[:8]))]
    planned = {job.id: job.start for job in alike if moment_of(job.start)} if answer.starts == "yes" else {}
    if planned:
        says += f" Planned: {listed([f'{one} for {spoken_date(start)}' for one, start in planned.items()], 8)}."
        facts.append(Fact("planned", ", ".join(f"{one}: {start}" for one, start in planned.items())))
    if answer.kind == "limit-aggregate" and (turns := one_by_one(told, alike)):
        return f"{says} {turns}", [*facts, Fact("in-turn")]
    return says, facts


def with_line(answer: PendingAnswer, says: str, facts: Sequence[Fact]) -> PendingAnswer:
    """The answer with one more line, in its own language."""
    line = spoken_facts(facts, labels()[answer.language]) if answer.language else says
    return replace(answer, says=(*answer.says, says), document=answer.document + Document((Paragraph(line),)))


def waits_alike(job: QueuedJob, told: QueuedJob) -> bool:
    """Whether both wait for the same, which of a dependency is the same condition."""
    return job.reason == told.reason and job.depends == told.depends


def with_rest(answer: PendingAnswer, rest: Sequence[WaitCase]) -> PendingAnswer:
    """The last answer with the jobs that are not told of, by id and reason."""
    if not rest:
        return answer
    parents = [listed(parent_ids(case.job.depends or case.job.reason)) for case in rest]
    whom = [f", behind {names}" if names else "" for names in parents]
    each = [f"{case.job.id} (`{case.found.reason.word}`{one})" for case, one in zip(rest, whom, strict=True)]
    says = f"Waiting for other reasons: {listed(each, 8)}; name one of them to hear of it."
    return with_line(answer, says, [Fact("other-reasons", ", ".join(each[:8]))])


def one_for_each(cases: Sequence[WaitCase]) -> list[WaitCase]:
    """Jobs that wait for the same reason are told once, those that never start first; of others only the first."""
    if not any(case.job.phase == "waiting" for case in cases):
        return list(cases[:1])
    groups: dict[str, WaitCase] = {}
    for case in cases:
        groups.setdefault(case.found.reason.word + case.found.reason.says + case.job.depends, case)
    return sorted(
        groups.values(), key=lambda case: case.found.reason.starts != "no" or case.found.reason.kind == "ended"
    )


def with_diff(answer: PendingAnswer, script: str) -> PendingAnswer:
    """The answer with its change as a diff of the script, where the script has the directive that it changes."""
    ready = [step.command for step in answer.change if not open_names(step.command)]
    diff = script_diff(script, ready) if script and answer.starts == "no" else ""
    if not diff:
        return answer
    told = Paragraph("The same change in the script, for the next time (or to submit it anew):")
    return replace(answer, document=answer.document + Document((told, Diff(diff, "script"))))


def joined(answers: Sequence[PendingAnswer]) -> PendingAnswer:
    """Several jobs in one answer; the first is that which needs somebody most."""
    first = answers[0]
    document = Document(())
    for answer in answers:
        document = document + answer.document
    return PendingAnswer(
        first.job,
        first.kind,
        first.starts,
        first.reason,
        tuple(line for answer in answers for line in answer.says),
        tuple(step for answer in answers for step in answer.look),
        tuple(step for answer in answers for step in answer.change),
        document,
    )


# What stands beside a submission that was refused.
REFUSED = (own_line, limit_note, too_large_for_a_node, hours_of_lsf, submit_room, would_take, own_names, own_beside)


def refusal_notes(case: WaitCase) -> list[WaitingNote]:
    """What stands beside a refused submission; without numbers beside it, what it asked for."""
    notes = list(seen(look(case) for look in REFUSED))
    asked = None if any(note.says and note.do for note in notes) else what_it_asked(case)
    return [*seen([asked]), *notes]


def answer_of(case: WaitCase, words: str) -> PendingAnswer:
    """The verdict, the evidence, and the steps, with the job's own values in the commands."""
    notes = notes_of(case) if case.found.reason.kind not in ("client-error", "no-job") else refusal_notes(case)
    reason = case.found.reason
    kind = next((note.kind for note in notes if note.kind), reason.kind)
    starts = next((note.starts for note in notes if note.starts), reason.starts)
    values = known_values(case.job, case.found.named) | {k: v for note in notes for k, v in note.fill.items() if v}
    says = [headline(case, notes, kind, starts, values), *(note.says for note in notes if note.says)]
    if kind == "ended":
        says += [told for told in (exit_note(case.job), use_note(case.job, case.others)) if told]
    says += closing(case, kind, starts)
    change = steps(remedies(case, notes), values, case.machine.id if case.machine else "")
    look = looks(case.text, reason.look, not_told(case, notes, kind), values, change)
    language = language_of(spoken_lines(words))
    staff = reason.freed_by == "staff" or (kind == "hold" and bool(set("os") & set(case.job.printed("Hold_Types"))))
    own = verdict_in(language, kind, starts, staff, reason.of)
    says = [own, *says] if own else says
    parts: list[Part] = [*([Paragraph(own)] if own else []), Paragraph(says[1 if own else 0])]
    more = says[2 if own else 1 :]
    parts += [Paragraph(" ".join(more))] if more else []
    parts += [Steps(change)] if change else []
    parts += [Paragraph("To look further:"), Steps(look)] if look else []
    waits = kind not in ("client-error", "no-job", "not-waiting")
    document = Document(tuple(parts))
    in_own = bool(own) and waits and kind != "ended" and reason.word != "unknown"
    if in_own:
        document = answer_in(language, own, case, notes, change, look, any(line == KEEP for line in says))
    return PendingAnswer(
        case.job.id.strip(),
        kind,
        starts if waits else None,
        reason.word,
        tuple(says),
        look,
        change,
        document,
        language if in_own else "",
    )


STARTS: Mapping[Starts, str] = {
    "yes": "It starts by itself.",
    "no": "It never starts by itself as it is.",
    "depends": "Whether it starts depends on that.",
}


def headline(
    case: WaitCase, notes: Sequence[WaitingNote], kind: WaitKind, starts: Starts, values: Mapping[str, str]
) -> str:
    """Who waits, for what, and whether it starts by itself: the answer in one paragraph."""
    says = filled(next((note.instead for note in notes if note.instead), case.found.reason.says), values)
    job = case.job
    shown = job.scheduler == "slurm" and case.found.reason.word[:1].isupper()
    word = f" (`{case.found.reason.word}`)" if shown else ""
    if case.found.cut:
        word = f' (the word is cut off; it is `{case.found.reason.word}`, `squeue -o "%r"` shows it whole)'
    who = f"**{job.id.strip()}{f' ({job.name})' if job.name else ''}**: " if job.id.strip() else ""
    if kind in NO_WAIT:
        return f"{who}{says}." if who else f"{says[0].upper()}{says[1:]}."
    but = case.found.reason.but
    end = ending_of(case, kind, starts)
    told = any(note.sure or (note.part == "parents" and note.says) for note in notes)
    if but and starts == case.found.reason.starts and not told:
        end = f"{end[:-1]}, {but}." if not but[0].isupper() else f"{end} {but}."
    return f"{who}{says}{word}. {end}" if who else f"{says[0].upper()}{says[1:]}{word}. {end}"


def ending_of(case: WaitCase, kind: WaitKind, starts: Starts) -> str:
    """Whether it starts by itself, in the words of its kind."""
    if kind == "ended":
        return NOT_WAITING
    if kind == "hold" and starts == "no":
        staff = case.found.reason.freed_by == "staff"
        return f"It does not start until {'staff release it' if staff else 'it is released'}."
    if kind == "limit-budget" and starts == "depends":
        return "It does not start by waiting alone."
    if kind == "dependency" and starts == "depends":
        return "It starts by itself once that is fulfilled."
    return STARTS[starts]


NOT_WAITING = "It does not wait, and does not start again unless it is submitted again."
NO_WAIT = ("not-waiting", "no-job", "client-error")


KEEP = "Leave it in the queue: it keeps its place, and a new submission would lose it."


def closing(case: WaitCase, kind: WaitKind, starts: Starts) -> list[str]:
    """What holds for every job of that kind."""
    if case.anothers:
        return []
    if kind in ("wait", "limit-aggregate", "node") and starts == "yes" and case.job.id.strip():
        return [KEEP]
    if kind == "hold" and case.found.reason.freed_by == "staff":
        return ["Do not submit it again before you know why it is held."]
    if kind == "not-waiting" and case.job.phase == "running" and case.found.reason.word != "step waits":
        file = next(
            filter(None, map(case.job.printed, ("StdOut", "standard_output", "Output_Path", "Output File"))), ""
        )
        found = f"Its output stands in {file}."
        return [found if file else OUTPUT[case.job.scheduler].replace("<JOBID>", case.job.id.strip() or "<JOBID>")]
    return []


OUTPUT: Mapping[str, str] = tables()["output"]


def remedies(case: WaitCase, notes: Sequence[WaitingNote]) -> list[Step]:
    """What helps: the evidence's own first, then the reason's, unless the evidence knows better."""
    own = [remedy for note in notes for remedy in note.do]
    rest = [] if any(note.only for note in notes) else list(case.found.reason.do)
    # The evidence's own way to the same command says more.
    commands = {remedy.command for remedy in own if remedy.command}
    targets = {changed(command) for command in commands}
    rest = [
        one for one in rest if not one.command or (one.command not in commands and changed(one.command) not in targets)
    ]
    alone = case.found.reason.kind == "limit-aggregate" and any(note.starts == "no" for note in notes)
    help_by = "your PI or support, for a higher limit" if alone else case.found.reason.ask
    asked = [Step(f"who can help: {help_by}")] if help_by else []
    if case.anothers and case.found.reason.kind not in ("ended", "not-waiting"):
        theirs = Step(f"it is a job of {case.job.user}: only {case.job.user} or staff can change it, ask there")
        return [theirs, *(one for one in (*own, *asked) if not one.command)]
    return [*own, *rest, *asked]


def changed(command: str) -> str:
    """What a command changes of a job (`scontrol update jobid=<JOBID> QOS`); itself where it changes none."""
    return command.partition("=<")[0] if command.count("=") < 2 else command.rpartition("=")[0]


def steps(remedies: Sequence[Step], values: Mapping[str, str], machine: str) -> tuple[Step, ...]:
    """The remedies with the job's values, their commands as the machine (its id, or empty) takes them."""
    told: set[str] = set()
    found: list[Step] = []
    for one in remedies:
        text, command = filled(one.text, values), filled(as_there(one.command, machine), values)
        open_ones = to_put_in(command, told)
        command = "" if any(command == step.command for step in found) else command
        found.append(Step(f"{text} ({open_ones})" if open_ones else text, command))
    return tuple(dict.fromkeys(found))


def looks(
    text: str, own: Sequence[str], untold: Sequence[str], values: Mapping[str, str], change: Sequence[Step]
) -> tuple[Step, ...]:
    """At most two commands to look with: the reason's own that are complete, then those that tell what is not told.

    What was run already stands in the text.
    """
    done, more = (
        [command for one in commands if (command := filled(one, values)).partition(" |")[0] not in text]
        for commands in (own, untold)
    )
    ready = [command for command in done if not open_names(command)] or done[:1]
    ready += [command for command in more if not open_names(command)]
    taken = {step.command for step in change}
    return tuple(Step("", command) for command in list(dict.fromkeys(ready))[:2] if command not in taken)
