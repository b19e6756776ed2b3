"""What a job's own lines tell beside its reason: restarts, dates, holds, comments, its place by priority."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from graph.waiting.amounts import request_of
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limits_said import needs_said
from graph.waiting.moments_said import now_before
from graph.waiting.spoken import date_of_epoch, listed, moment_of, running_job, seen_at, spoken_date, spoken_lines
from graph.waiting.words import tables
from knowledge.document import Step
from knowledge.schedulers.accounting import host_names
from knowledge.schedulers.slurm import state_name
from knowledge.schedulers.times import asked_time, printed_seconds, spoken_time

ESTIMATE = (
    "That is an estimate: running jobs often end before their limits, which makes it earlier, and jobs of higher "
    "priority can move it back."
)


def restarts(case: WaitCase) -> WaitingNote | None:
    """Whether it has run before."""
    count = case.job.printed("Restarts") or case.job.printed("run_count")
    word = case.found.reason.word
    if earlier := case.job.printed("EarlierState"):
        by = ", for a job of higher priority" if state_name(earlier) == "PREEMPTED" else ""
        when = f" {spoken_date(end)}" if moment_of(end := case.job.printed("EarlierEnd")) else ""
        runs = max(int(case.job.printed("EarlierRuns")), int(count) if count.isdigit() else 0)
        ran = f"It ran before, {runs} times: the last run" if runs > 1 else "It ran before: that run"
        on = f" on {nodes}" if re.search(r"\d", nodes := case.job.printed("EarlierNodes")) else ""
        code = case.job.printed("EarlierExit")
        code = f" (exit code {code})" if code not in ("", "0:0") else ""
        says = f"{ran}{on} ended{when} as {state_name(earlier)}{code}{by}, and it was put back into the queue. "
        says += "It starts anew, or at its last checkpoint where the script goes on from one."
        if word == "BeginTime":
            return WaitingNote(says, instead=PUT_BACK, do=stay_put(case), only=True)
        return WaitingNote(says)
    if word == "BeginTime" and not count and re.search(r"(?i)preempt|requeue|was running|ran before|again", case.words):
        return WaitingNote(
            "If it ran before and was put back (preempted, requeued), it waits about two minutes "
            "and `--begin` has nothing to do with it: `scontrol show job` tells Restarts."
        )
    if not count.isdigit() or word not in (
        "BeginTime",
        "JobHoldUser",
        "JobHeldAdmin",
        "JobHeldUser",
        "JobHoldMaxRequeue",
        "launch failed requeued held",
        "too-many-attempts",
        "Cleaning",
    ):
        return None
    if int(count) == 0:
        return never_ran(word)
    field = "Restarts" if case.job.scheduler == "slurm" else "run_count"
    if word == "too-many-attempts":
        return WaitingNote(f"PBS tried to start it {count} times (run_count={count}), and each start failed.")
    begun = f"It ran before and was put back {count} time{'s' if int(count) > 1 else ''} ({field}={count})"
    command = f"sacct -D -X -j {case.job.id} -o JobID,State,ExitCode,NodeList,Start,End"
    log = Step("read the log of the earlier run: why it was put back stands there", command)
    if word == "BeginTime":
        return WaitingNote(
            f"{begun}: {why_put_back(case)}. A job "
            "that is put back waits about two minutes, so `--begin` has nothing to do with it. "
            "It starts anew, or at its last checkpoint where the script goes on from one.",
            instead=PUT_BACK,
            do=(log, *stay_put(case)),
            only=True,
        )
    return WaitingNote(f"{begun}.", do=(log,) if case.job.scheduler == "slurm" else ())


PUT_BACK = (
    "it was put back into the queue after it had run, and may start again in about two minutes: Slurm lets such a job "
    "wait so long, `--begin` has nothing to do with it, and then it queues as any other"
)
# Places whose jobs give way to others, by the names that sites give them.
GIVES_WAY = re.compile(r"(?i)preempt|scav|spot|standby|low[-_]?prio|requeue|best[-_]?effort|killable|interruptible")


def preempted_in(case: WaitCase) -> str:
    """The partition or QOS in which others may take its nodes, by the printed PreemptMode or else by its name."""
    rows = [row for row in case.rows("scontrol show partition") if row.get("PreemptMode")]
    own = next((row for row in rows if row.get("PartitionName") in (case.job.queue, None)), {})
    mode, tiers = own.get("PreemptMode", ""), [number(row.get("PriorityTier", "")) for row in rows]
    # https://slurm.schedmd.com/preempt.html: only a partition of a higher PriorityTier takes nodes.
    if mode and mode != "OFF" and (len(rows) == 1 or max(tiers) > number(own.get("PriorityTier", ""))):
        return f"partition {case.job.queue} (PreemptMode={mode})"
    named = (("partition", case.job.queue), ("QOS", case.job.qos))
    return " and ".join(f"{what} {name}" for what, name in named if GIVES_WAY.search(name) and mode != "OFF")


def why_put_back(case: WaitCase) -> str:
    if place := preempted_in(case):
        higher = "of a partition with a higher PriorityTier" if "PreemptMode" in place else "of higher priority"
        return f"most likely preempted, since jobs of {place} give way to those {higher}"
    return "its node failed, a job of higher priority took it (preemption), or somebody requeued it"


def stay_put(case: WaitCase) -> tuple[Step, ...]:
    """What keeps it from being put back again, where it runs in a place whose jobs give way."""
    text = "a QOS or partition whose jobs are not preempted; else checkpoints to go on from"
    return (Step(text, "scontrol update jobid=<JOBID> QOS=<OTHER_QOS>"),) if preempted_in(case) else ()


def put_aside(case: WaitCase) -> WaitingNote | None:
    """Of a job that is suspended: that its partition suspends for jobs of higher priority."""
    place = preempted_in(case) if case.job.phase == "suspended" and case.job.scheduler == "slurm" else ""
    if "SUSPEND" not in place:
        return None
    # https://slurm.schedmd.com/preempt.html: SUSPEND stops it, and the gang scheduler resumes it later.
    return WaitingNote(
        f"Jobs of {place} are suspended for those of higher priority: it goes on by itself, where it stopped, when "
        "that job ends. Nothing is lost, and there is nothing to do; do not cancel it."
    )


def never_ran(word: str) -> WaitingNote | None:
    """What is ruled out by Restarts=0."""
    not_yet = "(it has not run before: Restarts=0)"
    if word == "BeginTime":
        says = f"its earliest start lies in the future; that was given with `--begin` {not_yet}"
        return WaitingNote(instead=says, facts=(Fact("by-begin"),))
    if word == "JobHeldUser":
        says = (
            f"it has a user hold: set by `scontrol hold` or `sbatch -H`, or by a coordinator of the account {not_yet}"
        )
        free = Step("release it (its owner or a coordinator can)", "scontrol release <JOBID>")
        return WaitingNote(instead=says, do=(free,), only=True, facts=(Fact("why JobHeldUser"),))
    return None


LAUNCH = re.compile(r"(?i)\b(?:launch|start|prolog)\w*\b")
SAME_NODE = re.compile(
    r"(?i)\b(?:(?:two|three|four|\d) times|each time|every time|always|again|"
    r"same node|both|all (?:three|\d)|(?:2nd|3rd|\d+th|second|third) time|"
    r"jedes ?mal|immer|toujours|chaque fois|siempre|sempre)\b"
)
NODE_NAME = re.compile(r"(?<![\w./-])((?=[a-z-]*\d)[a-z][a-z-]*\d[\w-]*)(?![\w/]|\.\w)")


def same_node_each_time(case: WaitCase) -> WaitingNote | None:
    """A launch that fails on one node again and again, by the words or by the earlier runs: that node is left out."""
    staff = case.found.reason.word == "JobHeldAdmin"
    leaves_out = "<NODE>" in " ".join(one.command for one in case.found.reason.do)
    if case.found.reason.kind != "hold" or not (leaves_out or (staff and LAUNCH.search(case.words))):
        return None
    earlier = [row.get("NodeList", "") for row in case.rows("sacct")] + [
        j.where for j in case.others if j.id == case.job.id
    ]
    # The rows of `sacct -D` beside the job's own block stand with its fields.
    earlier += [value for key, value in case.job.fields if key == "NodeList" and case.job.phase == "waiting"]
    earlier += [case.job.printed("EarlierNodes")]
    lines = [line for line in case.words.splitlines() if SAME_NODE.search(line)]
    named = [name for line in lines for name in NODE_NAME.findall(line)]
    often = [name for name in dict.fromkeys(earlier) if name and earlier.count(name) > 1]
    node = next(iter([*named, *often]), "")
    if not node:
        return last_nodes(earlier, bool(case.job.printed("EarlierNodes"))) if leaves_out else None
    leave = Step(f"leave {node} out before you release it", f"scontrol update jobid=<JOBID> ExcNodeList={node}")
    free = Step("then release it", "scontrol release <JOBID>")
    tell = Step(f"tell support that {node} fails at the start of jobs, with the job's id")
    if staff:
        return WaitingNote(f"As you say it, it failed each time on {node}: name that node to support.", do=(tell,))
    says = f"It failed each time on {node}: that node is the cause, and released as it is it may land there again."
    return WaitingNote(says, {"NODE": node}, do=(leave, free, tell), only=True)


def last_nodes(earlier: Sequence[str], told: bool) -> WaitingNote | None:
    """The nodes of the run before, which stand in place of `<NODE>`."""
    node = next((name for name in reversed(earlier) if re.search(r"\d", name)), "")
    return WaitingNote("" if told else f"The run before was on {node}.", {"NODE": node}) if node else None


PLACES = ("qstat -Q", "qstat -q", "bqueues", "scontrol show partition", "flux queue list", "sinfo")


NAMED_QOS = {
    "QOSUsageThreshold": "the account has fallen below the fair-share level that the QOS {} demands",
    "InvalidQOS": "the QOS `{}` that it names does not exist (look at its spelling), or is not yours",
    "QOSNotAllowed": "the QOS {} may not be used by this account or in this partition",
}


def named_qos(case: WaitCase) -> WaitingNote | None:
    """The QOS that is not met, or not there, by name."""
    says, qos = NAMED_QOS.get(case.found.reason.word, ""), case.job.qos
    # A sentence of Slurm's own says more.
    taken = any("AllowQos" in row for row in case.rows("scontrol show partition"))  # that tells which of the two it is
    if (
        not says
        or not qos
        or case.found.named
        or (taken and case.found.reason.word == "QOSNotAllowed")
        or " " in case.job.reason.replace("_", " ")
    ):
        return None
    return WaitingNote(instead=says.format(qos), facts=(Fact("names", f"QOS {qos}"),))


def place_seen(case: WaitCase) -> WaitingNote | None:
    """The queue or partition of the job, where its own lines do not tell it and the paste shows just one."""
    if case.job.queue:
        return None
    heads = ("Queue", "QUEUE_NAME", "PartitionName", "QUEUE", "PARTITION")
    names = {row[head].rstrip("*") for row in case.rows(*PLACES) for head in heads if row.get(head)}
    name = next(iter(names)) if len(names) == 1 else ""
    asked = re.search(
        r"(?:scontrol show part\w*[ =]|bqueues (?:-l )?|\bqueue[ =]|\bpartition[ =])([a-z][\w-]*)", case.text
    )
    name = name or (asked[1] if asked and not names else "")
    return WaitingNote(fill={"QUEUE": name, "PARTITION": name}) if name else None


def begin_time(case: WaitCase) -> WaitingNote | None:
    """Until when it waits for its own start time."""
    if epoch := case.found.named.get("epoch"):
        moment = datetime.fromtimestamp(float(epoch), UTC).replace(tzinfo=None)
        facts = (Fact("start", f"{moment.isoformat(' ', 'minutes')} UTC"),)
        return WaitingNote(f"That is {date_of_epoch(float(epoch))}{from_now(moment, case)}.", facts=facts)
    if clock := case.found.named.get("clock"):
        return WaitingNote(f"Its earliest start is {clock}.")
    script = re.search(r"--begin[= ](\d{4}-\d\d-\d\dT\S+)", case.text)
    if told := case.job.printed("Specified start time"):
        return WaitingNote(f"Its earliest start is {told}; from then on it is queued by itself.")
    start = case.job.start or case.job.printed("EligibleTime") or (script[1] if script else "")
    if case.found.reason.word == "BeginTime" and (begins := moment_of(start)):
        return own_start(case, begins, start)
    when = OWN_START.search(case.text)
    if when and case.found.reason.word == "start time":
        clock = when[1] or when[2]
        says = f"Its earliest start is {spoken_date(clock)}; from then on it is queued by itself."
        own = "an earliest start was set for it (`qsub -a`), and it waits for that: PBS shows it as W"
        own = own if case.job.scheduler == "pbs" else ""
        return WaitingNote(says, instead=own, facts=(Fact("start", clock),))
    return None


def queue_hours(case: WaitCase) -> WaitingNote | None:
    """The hours of its queue, and whether it can ever fit into them."""
    told = WINDOW.search(case.text) if case.found.reason.word in ("queue hours", "run window") else None
    if not told:
        return None
    hours = told[1].strip()
    says = f"The queue's hours are {hours} (DISPATCH_WINDOW or RUN_WINDOW)"
    daily = re.fullmatch(r"(\d?\d):(\d\d)-(\d?\d):(\d\d)", hours)
    if not daily or case.found.reason.word != "run window":
        return WaitingNote(f"{says}.")
    begin, end = (int(daily[n]) * 60 + int(daily[n + 1]) for n in (1, 3))
    length = ((end - begin) % 1440 or 1440) * 60.0
    if not case.job.limit or case.job.limit <= length:
        return WaitingNote(f"{says}: {spoken_time(length)} at most.", {"SHORTER": asked_time("lsf", length - MARGIN)})
    less = Step(
        "ask for less than that, as it may start later than it opens",
        f"bmod -W {asked_time('lsf', length - MARGIN)} <JOBID>",
    )
    other = Step("or another queue, for runs of that length", "bswitch <OTHER_QUEUE> <JOBID>")
    asked = f"it asks for {spoken_time(case.job.limit)}, which never fit"
    return WaitingNote(
        f"{says}: {spoken_time(length)} at most, and {asked}.",
        starts="no",
        kind="limit-request",
        do=(less, other),
        facts=(Fact("time", parts=(("asked", f"{case.job.limit / 3600:g} h"), ("limit", f"{length / 3600:g} h"))),),
        only=True,
    )


# Seconds that a job may start behind the moment at which it may.
MARGIN = 1800.0
# A start further off than this is a slip of the year more often than a plan.
FAR_DAYS = 200


def own_start(case: WaitCase, begins: datetime, printed: str) -> WaitingNote:
    """The start of `--begin`, how far off it is, and whether its year looks like a slip."""
    says = f"Its earliest start is {spoken_date(printed)}{from_now(begins, case)}.{next_day(case, begins)}"
    before = moment_of(seen_at(case)) or moment_of(case.job.submitted) or datetime.now()
    facts = (Fact("start", printed),)
    if (begins - before).days < FAR_DAYS:
        return WaitingNote(says, facts=facts)
    meant = begins.replace(year=before.year, day=min(begins.day, 28) if begins.month == 2 else begins.day)
    meant = meant if meant > before else meant.replace(year=before.year + 1)
    command = f"scontrol update jobid=<JOBID> StartTime={meant.isoformat()}"
    date = Step(f"the year is {begins.year}: if that is a slip, correct it", command)
    return WaitingNote(f"{says} Mind the year: that is {(begins - before).days} days off.", do=(date,), facts=facts)


BEGIN_CLOCK = re.compile(r"(?:--begin[= ]|\s-b ?)\"?(\d\d?:\d\d)(?::\d\d)?(?![\d:])")


def next_day(case: WaitCase, begins: datetime) -> str:
    """That a clock without a date had passed when it was handed in: Slurm takes the next day's then."""
    clock, given = BEGIN_CLOCK.search(case.text), moment_of(case.job.submitted)
    if not clock or not given or begins.date() <= given.date() or f"{begins:%H:%M}" != clock[1].zfill(5):
        return ""
    return (
        f" `{clock[0].strip()}` had passed when it was handed in ({given:%H:%M:%S}), so Slurm took the next day: leave "
        "it out for the next time, or write `--begin=now+2hours` or a date."
    )


def from_now(begins: datetime, case: WaitCase) -> str:
    """`, 3 days 22 h from then` where the paste tells when it was printed."""
    now = now_before(begins, case)
    seen = seen_at(case)
    when = "the scheduler's last look at it" if seen == case.job.printed("LastSchedEval") else "when this was printed"
    when = when if seen else "now"
    return f", {spoken_time((begins - now).total_seconds())} from {when}" if now and now < begins else ""


WINDOW = re.compile(r"(?m)^[^\S\n]*(?:DISPATCH|RUN)_WINDOWS?: *(\S.*)$")
# PBS's attribute, and a date behind the id in LSF's own columns (`-o "jobid specified_start_time"`).
OWN_START = re.compile(r"Execution_Time = (.+)|specified_start_time.*\n *\d+ +(\w{3} +\d+ \d\d:\d\d\S*)")


def deadline(case: WaitCase) -> WaitingNote | None:
    """The deadline beside the time asked for."""
    if case.found.reason.word != "DeadLine":
        return None
    said = re.search(r"--deadline[= ](\S+)", case.text)
    until = case.job.printed("Deadline") or (said[1] if said else "")
    asked = case.job.limit or printed_seconds(found[1] if (found := re.search(r"--time[= ](\S+)", case.text)) else "")
    if not until or until == "N/A":
        return None
    return WaitingNote(
        f"Its deadline is {spoken_date(until)}" + (f", and it asks for {spoken_time(asked)}." if asked else ".")
    )


def estimate(case: WaitCase) -> WaitingNote | None:
    """When the scheduler plans to start it, and what that is worth."""
    job = case.job
    if eta := case.found.named.get("eta"):
        when = "at any moment now" if eta == "now" else f"in about {spoken_eta(eta)}"
        since = "" if eta == "now" else " from when this was printed (not from its submission)"
        return WaitingNote(f"Flux plans its start {when}{since}. {ESTIMATE}")
    if case.found.reason.word == "sched" and any(one.reason.startswith("eta:") for one in case.others):
        return WaitingNote(
            "It has no estimate yet: Flux makes one only for jobs that are next. A smaller or shorter one may start "
            "before those (backfill)."
        )
    waits = job.phase in ("waiting", "unknown") and case.found.reason.starts != "no"
    if not waits or case.found.reason.word in ("BeginTime", "Reservation"):
        return None
    if moment_of(job.start) and is_over(case):
        return WaitingNote(
            f"The start that is printed, {spoken_date(job.start)}, is over: it is no plan any more (an earlier run's "
            "start, or an old estimate)."
        )
    if moment_of(job.start):
        where = f" on {job.where}" if job.where else ""
        start = moment_of(job.start)
        ahead = from_now(start, case) if start else ""
        there = on_its_nodes(case)
        day = f" ({start:%A})" if start else ""
        says = (
            f"The start planned for {job.id or 'it'} is {spoken_date(job.start)}{day}{where}{ahead}.{there} {ESTIMATE}"
        )
        return WaitingNote(says, facts=(Fact("planned", f"{job.start}{f' ({job.where})' if job.where else ''}"),))
    if job.printed("START_TIME") == "N/A" or re.search(r"\bN/A\b", spoken_lines(case.words)):
        return WaitingNote(
            f"For {job.id or 'it'} there is no estimate yet (N/A, which does not mean never): the backfill pass has "
            "not got that far."
        )
    return None


def on_its_nodes(case: WaitCase) -> str:
    """The running jobs of the paste on the nodes that it is planned on."""
    planned = set(host_names(case.job.where))
    there = [job for job in case.others if job.phase == "running" and planned & set(host_names(job.where))]
    names = [f"{running_job(job)}{f' of {job.user}' if job.user else ''}" for job in there]
    return f" There {listed(names)} {'runs' if len(there) == 1 else 'run'} now." if planned and there else ""


def is_over(case: WaitCase) -> bool:
    """Whether the printed start lies before something else that was printed of the same clock."""
    start = moment_of(case.job.start)
    later = (seen_at(case), case.job.submitted, case.job.printed("EligibleTime"))
    return any(start < moment for text in later if start and (moment := moment_of(text)))


def spoken_eta(eta: str) -> str:
    """`3.2 hours` of `3.2h`."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    return f"{eta[:-1]} {units[eta[-1]]}" if eta[-1] in units and eta[0].isdigit() else eta


def with_room(needs: float) -> float:
    """A fifth more than the run needs, in whole hours."""
    return -(-needs * 1.2 // 3600) * 3600


def needed_time(case: WaitCase) -> WaitingNote | None:
    """The time that the run needs by the person's words, with some room, as the shorter time to ask for."""
    needs, asked = needs_said(case), request_of(case).get("time")
    # Where a shorter time helps; before a maintenance what is left decides (limits_seen.py).
    helps = any("<SHORTER>" in one.command for one in case.found.reason.do)
    if not helps or not needs or not asked or case.job.phase not in ("waiting", "unknown"):
        return None
    room = with_room(needs)
    if room >= asked:
        return None
    says = f"By what you say it needs {spoken_time(needs)}: {spoken_time(room)} leaves some room."
    return WaitingNote(says, {"SHORTER": asked_time(case.job.scheduler, room)})


def comments(case: WaitCase) -> WaitingNote | None:
    """What staff or the user wrote on the job."""
    if case.job.scheduler != "slurm":
        return None
    said = [(name, case.job.printed(name)) for name in ("AdminComment", "SystemComment", "Comment")]
    told = [f"{name} says: “{text}”." for name, text in said if text and text != "(null)"]
    facts = tuple(Fact("comment", f"{name}: “{text}”") for name, text in said if text and text != "(null)")
    if not told:
        return None
    # Staff say there what to do: nobody has to ask for it.
    do = Step(
        "do what it says, then write to support with the job's id, who release it; unchanged it would do the same again"
    )
    by_staff = case.found.reason.freed_by == "staff" and told[0].startswith("AdminComment")
    return WaitingNote(" ".join(told), do=(do,) if by_staff else (), facts=facts, only=by_staff)


def since(case: WaitCase) -> WaitingNote | None:
    """How long it is in the queue, where that is printed."""
    if case.job.phase != "waiting":
        return None
    if case.job.submitted not in ("", "Unknown", "N/A"):
        # What ran in between was not in the queue all the time.
        ran = case.job.printed("Restarts") not in ("", "0") or case.job.printed("EarlierState")
        # https://slurm.schedmd.com/sacct.html: the submit time is reset when a job is requeued.
        end, begun = moment_of(case.job.printed("EarlierEnd")), moment_of(case.job.submitted)
        reset = case.job.scheduler == "slurm" and not (end and begun and begun < end)
        again = "was put back into the queue" if reset else "was handed in"
        return WaitingNote(f"It {again if ran else 'is in the queue since'} {spoken_date(case.job.submitted)}.")
    eligible = printed_seconds(case.job.printed("eligible_time"))
    return WaitingNote(f"It has waited {spoken_time(eligible)} (eligible_time).") if eligible else None


# When and by whom a job was stopped, as `bjobs -l` and Flux's events print it, and who handed it in.
STOPPED = re.compile(
    r"(?m)^(?P<lsf>\w{3} \w{3} +\d+ \d\d:\d\d:\d\d): Suspended by [^<\n]*<(?P<who>[^>\n]+)>|"
    r"^ *\[ *(?P<flux>\w{3} ?\d+ \d\d:\d\d)\] +urgency userid=(?P<uid>\d+) urgency=0\b"
)


def who_stopped(case: WaitCase) -> WaitingNote | None:
    """When it was held, and whether under the account of its owner."""
    found = STOPPED.search(case.text) if case.found.reason.kind == "hold" else None
    if not found:
        return None
    owner = re.search(r"\bsubmit userid=(\d+)", case.text)
    own = (found["who"] and found["who"] == case.job.user) or (owner and owner[1] == found["uid"])
    whose = ", the account that handed it in: yours, whoever typed it" if own else ""
    who = found["who"] or f"userid {found['uid']}"
    return WaitingNote(f"That was set {found['lsf'] or found['flux']} by {who}{whose}.")


def hold_of_pbs(case: WaitCase) -> WaitingNote | None:
    """Who holds a job of PBS, by its hold types, and who can free it."""
    types = case.job.printed("Hold_Types")
    job = case.job
    if job.scheduler != "pbs" or case.found.reason.kind != "hold" or not types or types == "n":
        return None
    who = f", set by {name}" if (name := case.found.named.get("who")) else ""
    when = f" on {found}" if (found := case.found.named.get("when")) else ""
    if "o" in types or "s" in types:
        word = "operator" if "o" in types else "system"
        staff = Step("such a hold is for staff to release: write to support with the job id")
        return WaitingNote(
            f"It is {'an' if word == 'operator' else 'a'} {word} hold (Hold_Types = {types}){who}{when}.",
            do=(staff,),
            only=case.found.reason.freed_by == "user",
            facts=(Fact("comment", f"Hold_Types = {types}"),),
        )
    facts = (Fact("comment", f"Hold_Types = {types}"),)
    how = "" if who or when else ", which `qhold` or `qsub -h` sets: yours, or one set in your name"
    return WaitingNote(f"It is a user hold (Hold_Types = {types}){who}{when}{how}.", facts=facts)


def priority_parts(case: WaitCase) -> WaitingNote | None:
    """What its priority is made of, and what the account's share says."""
    parts = []
    for row in case.rows("sprio"):
        if row.get("JOBID") in ("", case.job.id):
            total = number(row.get("PRIORITY", ""))
            rest = total - sum(number(row.get(name, "")) for name in FACTORS)
            largest = max(FACTORS, key=lambda name: number(row.get(name, "")))
            parts.append(
                f"Its priority is {row.get('PRIORITY')}: "
                + ", ".join(f"{row[n]} from {FACTORS[n]}" for n in FACTORS if n in row)
                + (f", {rest:g} from the rest (its partition, TRES, nice)." if rest >= 1 else ".")
            )
            if total and number(row.get(largest, "")) / total > 0.8:
                parts.append(f"Nearly all of it comes from {FACTORS[largest]}.")
            if total and "FAIRSHARE" in row and number(row["FAIRSHARE"]) / total < 0.1:
                parts.append(f"Fair-share gives it almost nothing: {why_little(case, number(row['FAIRSHARE']))}.")
    rows = case.rows("sshare")
    whole = {row["Account"]: row for row in rows if row.get("Account") and not row.get("User")}
    for row in rows:
        share = number(row.get("FairShare", ""))
        if row.get("FairShare") and row.get("User") and share < 0.2:
            # What a member has used of the account's use is another number than the account's part of the machine.
            of_all = whole.get(row["Account"], {} if whole else row)
            used, owns = of_all.get("EffectvUsage", ""), of_all.get("NormShares", "")
            of = f" (its part of the use is {used}, its share {owns})" if used and owns else ""
            place = f"FairShare of {row['Account']} is {row['FairShare']}, where 1 is best and 0 is nothing"
            others = [
                f"that of {name} is {one['EffectvUsage']} beside a share of {one.get('NormShares')}"
                for name, one in whole.items()
                if name != row["Account"] and one.get("EffectvUsage")
            ]
            beside = f" By comparison {listed(others, 3)}." if others else ""
            parts.append(f"{place}{of}; it recovers as old use decays.{beside}")
    return WaitingNote(" ".join(parts)) if parts else None


WEIGHTS = re.compile(r"(?m)^ *(JOBID .*)\n *Weights +([\d ]+)$")


def why_little(case: WaitCase, points: float) -> str:
    """Much use, or a small weight of the site: `sprio -w` tells which."""
    printed = WEIGHTS.search(case.text)
    numbers = printed[2].split() if printed else []
    weights = dict(zip(printed[1].split()[-len(numbers) :], numbers, strict=False)) if printed else {}
    weight = number(weights.get("FAIRSHARE", ""))
    others = [row for row in case.rows("sprio") if row.get("JOBID") not in ("", None, case.job.id)]
    most = max(others, key=lambda row: number(row.get("FAIRSHARE", "")), default={})
    if number(most.get("FAIRSHARE", "")) > 10 * points:
        return (
            f"{points:g} points where {most['JOBID']} has {most['FAIRSHARE']}, since the account has used more than "
            "its share lately; that recovers as past use decays"
        )
    if weight and points / weight < 0.1:
        return f"{points:g} of the {weight:g} that are possible, since the account has used more than its share lately"
    if weight:
        return f"the site gives at most {weight:g} for it"
    return "the account has used more than its share lately, or the site weighs it little (`sprio -w`, `sshare -U`)"


FACTORS: Mapping[str, str] = tables()["factors"]


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
