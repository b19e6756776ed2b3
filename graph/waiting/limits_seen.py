"""Limits beside the request: the partition's, the machine's, a reservation's hours, a maintenance."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.waiting.amounts import request_of
from graph.waiting.budgets import LESS
from graph.waiting.case import Fact, WaitCase, WaitingNote
from graph.waiting.limits_said import needs_said
from graph.waiting.limits_told import limit_note
from graph.waiting.moments_said import Beginning, beginning_said, now_before
from graph.waiting.own_fields import with_room
from graph.waiting.spoken import listed, moment_of, seen_at, spoken_date
from graph.waiting.windows_seen import ahead, windows
from knowledge.cluster import Cluster
from knowledge.document import Step
from knowledge.schedulers.times import asked_time, printed_seconds, slurm_time, spoken_time


def partition_access(case: WaitCase) -> WaitingNote | None:
    """A QOS that the partition does not take: Slurm itself gives a reason of its nodes then."""
    rows = [row for row in case.rows("scontrol show partition") if row.get("PartitionName") in (case.job.queue, "")]
    if case.found.reason.word == "AccountNotAllowed":
        return account_access(case)
    if case.found.reason.word == "PartitionConfig" and (closed := group_access(case, rows)):
        return closed
    taken = rows[0].get("AllowQos", "ALL") if rows else "ALL"
    if (
        taken == "ALL"
        or not case.job.qos
        or case.job.qos in taken.split(",")
        or case.found.reason.kind == "limit-request"
    ):
        return None
    yours = {name for row in case.rows("sacctmgr") if "Account" in row for name in row.get("QOS", "").split(",")}
    first = next((name for name in taken.split(",") if name in yours), taken.split(",")[0])
    own = f"{first}, which you have" if first in yours else taken
    text = f"take a QOS of the partition ({own}), also in the script (`--qos={first}`)"
    do = Step(text, f"scontrol update jobid=<JOBID> QOS={first}")
    other = Step("or another partition", "scontrol update jobid=<JOBID> Partition=<OTHER>")
    says = f"its QOS `{case.job.qos}` is none that the partition {case.job.queue} takes ({taken})"
    most = printed_seconds(rows[0].get("MaxTime", ""))
    longest = f"{case.job.queue} takes at most {spoken_time(most)}." if most else ""
    return WaitingNote(longest, instead=says, kind="config", starts="no", do=(do, other), only=True)


# What `id`, `id -Gn` or `groups` print of oneself.
GROUPS = re.compile(r"(?m)\bgroups=(\S+)|^.{0,80}(?:\bid -\w*G\w*|[$%>#] *groups)\b.{0,80}\n(?:\w\S* : )?([\w.\- ]+)$")


def group_access(case: WaitCase, rows: Sequence[Mapping[str, str]]) -> WaitingNote | None:
    """The groups that the partition takes, beside those of the person."""
    allowed = next((row["AllowGroups"] for row in rows if "AllowGroups" in row), "ALL")
    if allowed == "ALL":
        return None
    taken, printed = allowed.split(","), GROUPS.search(case.text)
    own = re.findall(r"\((\w[^)]*)\)", printed[1]) if printed and printed[1] else printed[2].split() if printed else []
    says = f"The partition {case.job.queue} takes only members of {listed(taken)}"
    if not own:
        return WaitingNote(f"{says}: `id -Gn` prints your groups.")
    if inside := [name for name in own if name in taken]:
        return WaitingNote(f"{says}; you are in {listed(inside)}, so it is another of its rules.")
    other = Step("take another partition", "scontrol update jobid=<JOBID> Partition=<OTHER>")
    do = (other, Step(f"or ask to be taken into {' or '.join(taken)}, if the work belongs there"))
    return WaitingNote(f"{says}; you are in {listed(own)}, so in none of them.", do=do, only=True)


def account_access(case: WaitCase) -> WaitingNote | None:
    """The accounts that the partition takes, beside the one asked for and those that the person has."""
    allowed = next((row["AllowAccounts"] for row in case.rows("scontrol show partition") if "AllowAccounts" in row), "")
    taken = [name for name in allowed.split(",") if name not in ("", "ALL")]
    if not taken:
        return None
    said = re.search(r"(?:-A|--account)[ =](\S+?)[)\s,]", case.text + " ")
    asked = case.job.account or (said[1] if said else "")
    yours = [name for name in taken if name != asked and re.search(rf"(?m)^[^\S\n]*{re.escape(name)}\b", case.text)]
    who = f"; of these you have {listed(yours)}" if yours else ""
    first = yours[0] if yours else "<OTHER_ACCOUNT>"
    do = Step("an account that may, if the work belongs to it", f"scontrol update jobid=<JOBID> Account={first}")
    name = f"account {asked}" if asked else "its account"
    return WaitingNote(f"The partition takes {listed(taken)}, not {name}{who}.", do=(do,))


def machine_limits(case: WaitCase) -> WaitingNote | None:
    """What the machine's facts say of the request, where the machine is known."""
    # What the scheduler here says of the partition comes before a machine's facts: it may want more nodes, not fewer.
    if case.machine is None or (case.found.reason.word == "PartitionNodeLimit" and limit_note(case)):
        return None
    if case.found.reason.word in ("nodes-not-enough-total", "PartitionNodeLimit", "unsatisfiable"):
        return too_many_nodes(case, case.machine)
    if case.found.reason.word in ("no suitable hosts", "unsatisfiable"):
        return too_many_gpus(case, case.machine)
    return None


def asked_nodes(case: WaitCase) -> int | None:
    found = re.search(r"select[ =]+(\d+)|(?:-N|--nodes)[= ]*(\d+)|(\d+) nodes", case.text)
    return case.job.nodes or (int(next(n for n in found.groups() if n)) if found else None)


def too_many_nodes(case: WaitCase, machine: Cluster) -> WaitingNote | None:
    """The nodes asked for beside those that exist, and the most that a queue gives."""
    asked = asked_nodes(case)
    total = sum(node.count or 0 for node in machine.node_types if node.gpus.per_node)
    largest = max(machine.gpu_queues, key=lambda q: q.max_nodes or 0)
    if not asked or not total:
        return None
    exist = f"{machine.title} has {total} nodes with GPUs" + (
        f", so {asked} can never be given" if asked > total else f"; it asks for {asked}"
    )
    most = f"; {largest.id} takes at most {largest.max_nodes} in one job" if largest.max_nodes else ""
    do = (
        Step(f"at most {largest.max_nodes} nodes in {largest.id}; submit again", resize(machine, largest.max_nodes))
        if largest.max_nodes
        else None
    )
    says = f"{exist}{most} (facts of {machine.as_of})."
    return WaitingNote(says, {"N": str(largest.max_nodes or "")}, do=(do,) if do else (), only=bool(do))


def resize(machine: Cluster, nodes: int) -> str:
    return (
        f"#PBS -l select={nodes}"
        if machine.scheduler == "pbs"
        else f"#SBATCH --nodes={nodes}"
        if machine.scheduler == "slurm"
        else ""
    )


def too_many_gpus(case: WaitCase, machine: Cluster) -> WaitingNote | None:
    """GPUs asked of one host beside those that a host has."""
    found = re.search(r"num=(\d+)", case.text)
    has = max((node.gpus.per_node or 0 for node in machine.node_types), default=0)
    if not found or not has or int(found[1]) <= has:
        return None
    hosts = -(-int(found[1]) // has)
    do = Step(
        f"{has} GPUs a host on {hosts} hosts; submit again", f'#BSUB -n {hosts} -gpu "num={has}" -R "span[ptile=1]"'
    )
    return WaitingNote(
        f"It asks for {found[1]} GPUs on one host, and hosts of {machine.title} have {has}.",
        do=(do, Step(f"or `-nnodes {hosts}` with jsrun, as the site shows it")),
        only=True,
    )


def reservation_window(case: WaitCase) -> WaitingNote | None:
    """The hours of its reservation beside the time it asks for."""
    if case.found.reason.word != "Reservation":
        return None
    name = case.job.printed("Reservation")
    rows = [row for row in case.rows("scontrol show reservation") if not name or row.get("ReservationName") == name]
    if not rows:
        return WaitingNote(f"Its reservation is {name}.") if name and name != "(null)" else None
    row = rows[0]
    name, start, end = row.get("ReservationName", name), row.get("StartTime", ""), row.get("EndTime", "")
    begin, close = moment_of(start), moment_of(end)
    until = spoken_date(end)[-5:] if start[:10] == end[:10] else spoken_date(end)
    says, named = f"The reservation {name} lasts from {spoken_date(start)} to {until}.", {"RESERVATION": name}
    now = now_before(begin, case) if begin else None
    if not begin or not close:
        return WaitingNote(says, named)
    may = {key: row.get(key, "(null)").replace("(null)", "") for key in ("Users", "Accounts", "Groups")}
    own = {"Users": case.job.user.rstrip("+"), "Accounts": case.job.account.rstrip("+"), "Groups": ""}
    leave = Step("or leave the reservation", "scontrol update jobid=<JOBID> ReservationName=")
    # `Users=-bob`: all but these.
    denied = [own[key] for key, names in may.items() if own[key] and f"-{own[key]}" in names.split(",")]
    if denied:
        do = (Step(f"ask its owner to let {listed(denied)} in", ""), leave)
        return WaitingNote(f"{says} It leaves out {listed(denied)}.", named, starts="no", do=do, only=True)
    may = {key: names for key, names in may.items() if names and not names.startswith("-")}
    kept_for = [f"{key.lower()} {names}" for key, names in may.items()]
    inside = [own[key] for key, names in may.items() if own[key] and own[key] in names.split(",")]
    says += f" {listed(inside)} may use it." if inside else ""
    if inside and any(own[key] and own[key] not in names.split(",") for key, names in may.items()):
        return WaitingNote(f"{says} It is kept for {listed(kept_for)}: its owner tells whether both have to be.", named)
    if kept_for and not inside:
        says = f"{says} It is kept for {listed(kept_for)}: a job of anybody else never starts in it."
        # Outside of all that is named, with nothing left open.
        if not (now and now >= close) and all(own[key] for key in may):
            who = listed([own[key] for key in may])
            do = (Step(f"ask its owner to take {who} into it"), leave)
            return WaitingNote(f"{says} That leaves out this job, of {who}.", named, starts="no", do=do, only=True)
    if now and now >= close:
        return WaitingNote(f"{says} That is over.", named, starts="no")
    ahead = bool(now and now < begin) or (now is None and row.get("State") == "INACTIVE")
    opens = f" It begins in {spoken_time((begin - now).total_seconds())}." if now and now < begin else ""
    length = (close - max(begin, now or begin)).total_seconds()
    if not case.job.limit:
        fit = f"once it begins it starts by itself, if its time fits into these {spoken_time(length)}"
        return WaitingNote(
            f"{says}{opens} {fit.capitalize() if ahead else ''}".strip() + ("." if ahead else ""),
            named,
            starts="yes" if ahead else None,
        )
    if case.job.limit <= length:
        when = "when one of its nodes is free" if now and now >= begin else "when it begins and has a node free"
        return WaitingNote(
            f"{says}{opens} Its {spoken_time(case.job.limit)} fit into these {spoken_time(length)}: "
            f"it starts by itself {when}.",
            named,
            starts="yes",
        )
    do = (
        Step(
            f"ask for less than {spoken_time(length)}, as it may start a little later; then it starts there by itself",
            f"scontrol update jobid=<JOBID> TimeLimit={slurm_time(max(900.0, (length - SPARE) // 1800 * 1800))}",
        ),
        leave,
    )
    return WaitingNote(
        (
            f"{says} It asks for {spoken_time(case.job.limit)}, which do not "
            f"fit into {spoken_time(length)}: it never starts there as it is."
        ),
        named,
        starts="no",
        do=do,
        only=True,
    )


# A sentence that tells of a maintenance, where no reservation was pasted.
MAINTENANCE = re.compile(
    r"(?i)\b(?:mainten\w+|manuten\w+|mantenim\w+|onderhoud|downtime|dedicated time|wartung\w*|shutdown|outage)\b"
    r"|维护|メンテ|점검"
)


KEPT_FREE = ("not enough resources for whole duration", "reservation-or-top")


def maintenance(case: WaitCase) -> WaitingNote | None:
    """The maintenance that it would run into, and the time that ends before it."""
    helps = " ".join(one.command for one in case.found.reason.do)
    named = "<TIME_UNTIL_MAINTENANCE>" in helps or case.found.reason.word == "reservation"
    # Of others the reason itself has to speak of what comes: one that is far off keeps nothing from a short job.
    kept = case.found.reason.word in KEPT_FREE or case.found.reason.kind == "node"
    named = named or ("<SHORTER>" in helps and kept and next(windows(case), None) is not None)
    if not named and (case.job.phase != "waiting" or case.found.reason.of != "node"):
        return None
    begins = maintenance_begins(case)
    said = re.search(r"walltime (?:is )?(\d+ ?h(?:ours)?)", case.words)
    limit = case.job.limit or request_of(case).get("time") or asked_in_words(case, "time")
    if not named:
        return hidden_maintenance(case, begins, limit)
    if begins and begins.left < 0:
        return going_on(case, begins)
    asks = spoken_time(limit) if limit else said[1] if said else ""
    asked = f" Its {asks} would run into it." if asks and not (begins and begins.of_job) else ""
    if not begins:
        told: tuple[Fact, ...] = (Fact("time", parts=(("asked", in_hours(limit)),)),) if limit else ()
        return WaitingNote(asked.strip(), facts=told) if asked else None
    says, left, facts = f"{begins.what} {begins.words}.", begins.left, until_facts(begins, limit or 0.0)
    if not left or not limit:
        now = f" From {since_when(case)} until then {in_hours(left)} are left." if left else ""
        return add_to(f"{says}{asked}{now}", shortened(case, left) if left else WaitingNote(), facts)
    compared = compared_with(case, limit, left)
    if limit < left - SPARE:
        do = Step("nothing; a shorter time keeps that chance open for longer")
        chance = f"That still fits, if nodes are free for it within {in_hours(left - limit)}; else it starts after it."
        return WaitingNote(f"{says} {compared} {chance}", do=(do,), only=True, facts=facts)
    return add_to(f"{says} {compared}", shortened(case, left), facts)


def going_on(case: WaitCase, begins: Beginning) -> WaitingNote:
    """A maintenance that has begun: no length of a job helps before its end."""
    look = {"slurm": "scontrol show reservation", "pbs": "pbs_rstat -F", "lsf": "brsvs"}.get(case.job.scheduler, "")
    return WaitingNote(
        f"It has begun already: {begins.words.replace(' and ends ', ' to ')}. Until it is over no job starts on these "
        "nodes, however short, so a shorter time does not help now; then the order of the queue decides.",
        instead="a maintenance is going on now; it keeps its place in the queue and starts after that",
        do=(Step("nothing; whether the end has been moved is told there and on the site's status page", look),),
        only=True,
        facts=(Fact("maintenance", spoken_when(case)), Fact("goes-on")),
    )


def spoken_when(case: WaitCase) -> str:
    """Both ends of the window that is ahead, without words."""
    found = ahead(case)
    ends = (found[0].begins, found[0].ends) if found else ()
    return " - ".join(f"{end:%Y-%m-%d %H:%M}" for end in ends if end)


def add_to(says: str, note: WaitingNote, facts: tuple[Fact, ...]) -> WaitingNote:
    return replace(note, says=f"{says} {note.says}".strip(), facts=facts)


def shortened(case: WaitCase, left: float) -> WaitingNote:
    """What less time does for a job that has so many seconds: the time to ask for, or that none is of use.

    Never less than the run needs by the person's words: it would be stopped before its end.
    """
    needs, most, after = needs_said(case), left - max(SPARE, left / 10), "it starts by itself after that"
    most = most // 3600 * 3600 if most >= 4 * 3600 else most // 900 * 900 if most >= 3600 else most // 60 * 60
    if most < max(needs or 0.0, SPARE + 1):
        run = f"The {in_hours(needs)} that you say it needs do" if needs else "A shorter time does"
        no = f"{run} not fit before it with some time to start in: {after}."
        return WaitingNote(no, do=(Step("nothing: it starts after that"),), only=True)
    fits = min(with_room(needs), most) if needs else most
    fill = dict.fromkeys(("TIME_UNTIL_MAINTENANCE", "SHORTER"), asked_time(case.job.scheduler, fits))
    if needs:
        within = f"within {in_hours(left - fits)} and if nodes are free"
        return WaitingNote(
            f"With {in_hours(fits)} asked for it can still start before it, {within}; else {after}.", fill
        )
    soon = "if nodes are free soon (each hour of waiting takes one away)"
    return WaitingNote(f"Less than that may start before it, {soon}; else {after}.", fill)


def until_facts(begins: Beginning, limit: float) -> tuple[Fact, ...]:
    """When it begins, and the hours until then beside those asked for; 0 is not told."""
    short = limit - begins.left if begins.left else 0.0
    values = (("until", begins.left), ("asked", limit), ("short", short))
    when = begins.moment.isoformat(" ", "minutes") if begins.moment else begins.words
    label = "ahead" if begins.of_job else "maintenance"
    return (Fact(label, when, tuple((name, in_hours(value)) for name, value in values if value > 0)),)


def maintenance_begins(case: WaitCase) -> Beginning | None:
    """When it begins, by the reservation of the paste or by the person's words."""
    if found := ahead(case):
        window, left = found
        ends = f" and ends {spoken_date(window.ends.isoformat())}" if window.ends else ""
        kept = f"Nodes are kept for job {window.job}, which is planned to start" if window.job else window.what
        return Beginning(f"{spoken_date(window.begins.isoformat())}{ends}", window.begins, left, kept, bool(window.job))
    for line in re.split(r"\n|[;!?]|\.(?!\d)", case.words):
        told = beginning_said(line, case) if MAINTENANCE.search(line) else None
        if told:
            return told if told.moment is None else replace(told, words=spoken_date(told.moment.isoformat()))
    return None


def hidden_maintenance(case: WaitCase, begins: Beginning | None, limit: float | None) -> WaitingNote | None:
    """One that the reason does not name, and that comes before the job could end: it keeps nodes from it as well."""
    if not begins or not limit or not 0 < begins.left <= limit + SPARE:
        return None
    command = LESS.get((case.job.scheduler, "time"), "").format("<TIME_UNTIL_MAINTENANCE>") if case.job.id else ""
    do = Step("with a time that ends before the maintenance it may start before it", command)
    says = f"A maintenance begins {begins.words}. {compared_with(case, limit, begins.left)}"
    after = "so on nodes that it takes out this job can start only after it"
    facts = until_facts(begins, limit)
    less = shortened(case, begins.left)
    return replace(less, says=f"{says[:-1]}, {after}.", do=less.do or (do,), facts=facts)


def compared_with(case: WaitCase, limit: float, left: float) -> str:
    """The hours until then beside those asked for."""
    days = f" ({spoken_time(limit)})" if limit >= 86400 else ""
    short = f", {in_hours(limit - left)} too many" if limit > left else ""
    return (
        f"From {since_when(case)} until then {in_hours(left)} are left, and it asks for {in_hours(limit)}{days}{short}."
    )


def since_when(case: WaitCase) -> str:
    """When the paste was made, or `now` by the person's clock."""
    return spoken_date(seen_at(case)) or "now"


def asked_in_words(case: WaitCase, of: str) -> float | None:
    from graph.waiting.limits_said import amounts_asked

    return amounts_asked(case).get(of)


def in_hours(seconds: float) -> str:
    """`32 h`, with minutes where there are any: two lengths side by side are compared more easily so."""
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h" + (f" {minutes} min" if minutes else "")


# Seconds between the end of a shortened job and the maintenance.
SPARE = 600.0
