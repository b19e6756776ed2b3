"""What a job's own lines tell beside its reason: restarts, dates, holds, comments, its place by priority."""

from __future__ import annotations

import re

from graph.waiting.case import WaitCase, WaitingNote
from graph.waiting.spoken import date_of_epoch, moment_of, spoken_date
from knowledge.schedulers.reason_types import ReasonRemedy
from knowledge.schedulers.times import printed_seconds, spoken_time

ESTIMATE = (
    "That is an estimate: running jobs often end before their limits, which makes it earlier, and jobs of higher "
    "priority can move it back."
)


def restarts(case: WaitCase) -> WaitingNote | None:
    """Whether it has run before."""
    count = case.job.printed("Restarts") or case.job.printed("run_count")
    word = case.found.reason.word
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
        return (
            WaitingNote("It has not run before (Restarts=0), so its start time was given with `--begin`.")
            if word == "BeginTime"
            else None
        )
    field = "Restarts" if case.job.scheduler == "slurm" else "run_count"
    begun = f"It ran before and was put back {count} time{'s' if int(count) > 1 else ''} ({field}={count})"
    log = ReasonRemedy(
        text="read the log of the earlier run: why it was put back stands there",
        command=f"sacct -D -X -j {case.job.id} -o JobID,State,ExitCode,NodeList,Start,End",
    )
    if word == "BeginTime":
        return WaitingNote(
            f"{begun}; a job that is put back waits about two minutes, so `--begin` has nothing to do with it. "
            "It starts anew, or at its last checkpoint where the script goes on from one.",
            instead="it was put back into the queue after it had run, and may start again in about two minutes",
            do=(log,),
            only=True,
        )
    return WaitingNote(f"{begun}.", do=(log,) if case.job.scheduler == "slurm" else ())


def begin_time(case: WaitCase) -> WaitingNote | None:
    """Until when it waits for its own start time."""
    if epoch := case.found.named.get("epoch"):
        return WaitingNote(f"That is {date_of_epoch(float(epoch))}.")
    if clock := case.found.named.get("clock"):
        return WaitingNote(f"Its earliest start is {clock}.")
    script = re.search(r"--begin[= ](\d{4}-\d\d-\d\dT\S+)", case.text)
    start = case.job.start or case.job.printed("EligibleTime") or (script[1] if script else "")
    if case.found.reason.word == "BeginTime" and moment_of(start):
        return WaitingNote(f"Its earliest start is {spoken_date(start)}.")
    when = OWN_START.search(case.text)
    if when and case.found.reason.word == "start time":
        return WaitingNote(f"Its earliest start is {when[1] or when[2]}; from then on it is queued by itself.")
    return None


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
        return WaitingNote(f"Flux plans its start in about {spoken_eta(eta)}. {ESTIMATE}")
    waits = job.phase in ("waiting", "unknown") and case.found.reason.starts != "no"
    if not waits or case.found.reason.word in ("BeginTime", "Reservation"):
        return None
    if moment_of(job.start):
        where = f" on {job.where}" if job.where else ""
        return WaitingNote(f"The start planned for {job.id or 'it'} is {spoken_date(job.start)}{where}. {ESTIMATE}")
    if job.printed("START_TIME") == "N/A":
        return WaitingNote(f"For {job.id} there is no estimate yet: the backfill pass has not got that far.")
    return None


def spoken_eta(eta: str) -> str:
    """`3.2 hours` of `3.2h`."""
    units = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
    return f"{eta[:-1]} {units[eta[-1]]}" if eta[-1] in units else eta


def comments(case: WaitCase) -> WaitingNote | None:
    """What staff or the user wrote on the job."""
    if case.job.scheduler != "slurm":
        return None
    said = [(name, case.job.printed(name)) for name in ("AdminComment", "SystemComment", "Comment")]
    told = [f"{name} says: “{text}”." for name, text in said if text and text != "(null)"]
    return WaitingNote(" ".join(told)) if told else None


def since(case: WaitCase) -> WaitingNote | None:
    """How long it is in the queue, where that is printed."""
    if case.job.phase != "waiting":
        return None
    if case.job.submitted not in ("", "Unknown", "N/A"):
        return WaitingNote(f"It is in the queue since {spoken_date(case.job.submitted)}.")
    eligible = printed_seconds(case.job.printed("eligible_time"))
    return WaitingNote(f"It has waited {spoken_time(eligible)} (eligible_time).") if eligible else None


def missing_feature(case: WaitCase) -> WaitingNote | None:
    """The constraint that no node meets."""
    if case.found.reason.word == "resource requirements" and (wanted := case.job.printed("Requested Resources")):
        return WaitingNote(f'It asks for `-R "{wanted}"`.')
    asked = case.job.printed("Features")
    if case.found.reason.word != "BadConstraints" or asked in ("", "(null)"):
        return None
    partition = f" of {case.job.queue}" if case.job.queue else " of the partition"
    return WaitingNote(
        f"It asks for `{asked}` (Features): no node{partition} has that, or not together with the rest of the request.",
        fill={"FEATURE": "<FEATURE>"},
    )


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
        staff = ReasonRemedy(text="such a hold is for staff to release: write to support with the job id")
        return WaitingNote(
            f"It is {'an' if word == 'operator' else 'a'} {word} hold (Hold_Types = {types}){who}{when}.",
            do=(staff,),
            only=case.found.reason.freed_by == "user",
        )
    return WaitingNote(f"It is a user hold (Hold_Types = {types}){who}{when}.")


def priority_parts(case: WaitCase) -> WaitingNote | None:
    """What its priority is made of, and what the account's share says."""
    parts = []
    for row in case.rows("sprio"):
        if row.get("JOBID") in ("", case.job.id):
            total = number(row.get("PRIORITY", ""))
            largest = max(FACTORS, key=lambda name: number(row.get(name, "")))
            parts.append(
                f"Its priority is {row.get('PRIORITY')}: "
                + ", ".join(f"{row[n]} from {FACTORS[n]}" for n in FACTORS if n in row)
                + "."
            )
            if total and number(row.get(largest, "")) / total > 0.8:
                parts.append(f"Nearly all of it comes from {FACTORS[largest]}.")
            if total and "FAIRSHARE" in row and number(row["FAIRSHARE"]) / total < 0.1:
                parts.append("Fair-share gives it almost nothing: the account has used far more than its share lately.")
    for row in case.rows("sshare"):
        share = number(row.get("FairShare", ""))
        if row.get("FairShare") and row.get("User") and share < 0.2:
            used, owns = row.get("EffectvUsage", ""), row.get("NormShares", "")
            of = f" (its part of the use is {used}, its share {owns})" if used and owns else ""
            place = f"FairShare of {row['Account']} is {row['FairShare']}, where 1 is best and 0 is nothing"
            parts.append(f"{place}{of}; it recovers as old use decays.")
    return WaitingNote(" ".join(parts)) if parts else None


FACTORS = {
    "AGE": "waiting (AGE)",
    "FAIRSHARE": "fair-share",
    "JOBSIZE": "size",
    "QOS": "its QOS",
    "SITE": "the site",
    "ASSOC": "its account",
}


def number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
