"""What each limit of Slurm's means for a job, put together from the parts of its word."""

from __future__ import annotations

from knowledge.schedulers.limit_words import LimitWord
from knowledge.schedulers.reason_types import ReasonRemedy, WaitReason

SET_ON = {"qos": "QOS", "account": "account"}
ALONE = "If this job alone asks for more than the limit it never starts"
QOS_LIMITS = (
    "sacctmgr -nP show qos format=name,grptres,grptresmins,maxtres,maxtresmins,maxwall,maxtrespu,maxjobspu,maxsubmitpu,"
    "maxtrespa,maxjobspa,mintres"
)
ASSOC_LIMITS = (
    "sacctmgr -nP show assoc where user=$USER format=account,user,partition,qos,grptres,grptresmins,grpjobs,maxtres,"
    "maxtresmins,maxjobs,maxsubmit,maxwall"
)
ASSOC_USE = "scontrol show assoc_mgr users=$USER flags=assoc"
OWN_JOBS = 'squeue -u $USER -t R -o "%i %q %a %D %b %M %l"'
SHORTER = "scontrol update jobid=<JOBID> TimeLimit=<SHORTER>"
OTHER_QOS = "scontrol update jobid=<JOBID> QOS=<OTHER_QOS>"
RUNNING = {
    "user": OWN_JOBS,
    "account": 'squeue -A <ACCOUNT> -t R -o "%i %u %D %b %M %l"',
    "qos": 'squeue -q <QOS> -t R -o "%i %u %D %b %M %l"',
}


def limit_reason(limit: LimitWord) -> WaitReason:
    """The meaning of a limit, put together from its parts."""
    shapes = {"minutes": minutes_reason, "run-minutes": run_minutes_reason, "minimum": minimum_reason}
    if limit.counts in shapes:
        return shapes[limit.counts](limit)
    if limit.whose in ("job", "node"):
        return request_reason(limit)
    return jobs_reason(limit) if "job" in limit.resource else held_reason(limit)


def limits_of(limit: LimitWord) -> str:
    return QOS_LIMITS if limit.set_on == "qos" else ASSOC_LIMITS


def held_reason(limit: LimitWord) -> WaitReason:
    """Running jobs hold together what is allowed: it goes away as they end."""
    whose, whom = {
        "user": ("your own running jobs hold", f"one user may have in the {SET_ON[limit.set_on]}"),
        "account": ("the running jobs of the whole account, colleagues' included, hold", "the account may have"),
    }.get(limit.whose, ("the running jobs of the whole QOS, of all its users, hold", "the QOS may have"))
    if limit.whose == "account" and limit.set_on == "qos":
        whom = "one account may have in the QOS"
    less = "less memory" if limit.resource in ("mem", "memory") else f"fewer {limit.noun.split(' (')[0]}"
    return WaitReason(
        word=limit.word,
        kind="limit-aggregate",
        starts="yes",
        says=f"{whose} together the most {limit.noun} that {whom}",
        look=(RUNNING[limit.whose], *((ASSOC_USE,) if limit.whose == "account" else ()), limits_of(limit)),
        do=(
            ReasonRemedy(
                text=f"it starts when enough of them end; {less}, or another {other(limit)}, starts it sooner"
            ),
        ),
        but=ALONE,
        ask=asked(limit),
    )


def jobs_reason(limit: LimitWord) -> WaitReason:
    """As many jobs run (or stand in the queue) as may."""
    jobs = "running jobs" if limit.resource == "jobs" else limit.noun
    where = "this QOS" if limit.set_on == "qos" else "this account"
    says = {
        "user": f"you already have as many {jobs} as {where} allows one user",
        "account": f"the whole account, colleagues included, has as many {jobs} as {where} allows",
    }.get(limit.whose, f"{where}, with all its users, has as many {jobs} as it may")
    return WaitReason(
        word=limit.word,
        kind="limit-aggregate",
        starts="yes",
        says=says,
        look=(RUNNING[limit.whose], limits_of(limit)),
        do=(ReasonRemedy(text="it starts when one of them ends; several runs put into one job count once"),),
        ask=asked(limit),
    )


def other(limit: LimitWord) -> str:
    return "account where you have one" if limit.set_on == "account" else "QOS where you have one"


def asked(limit: LimitWord) -> str:
    """Who can help besides."""
    return {"account": "colleagues of the project", "qos": "staff, who can raise the limit (for a course, say)"}.get(
        limit.whose, ""
    )


def request_reason(limit: LimitWord) -> WaitReason:
    """One job asks for more than is allowed: it never starts as it is."""
    place = SET_ON[limit.set_on]
    says = f"it asks for more {limit.noun} than the {place} allows one job"
    do: tuple[ReasonRemedy, ...] = (
        ReasonRemedy(text="ask for less, or take a QOS with a higher limit", command=OTHER_QOS),
    )
    if limit.whose == "node":
        says = f"it asks for more {limit.noun} on one node than the {place} allows"
        do = (ReasonRemedy(text="spread it over more nodes, or ask for less a node"), *do)
    elif limit.resource == "wallduration":
        says = f"its time is above what the {place} allows one job"
        lower = "scontrol update jobid=<JOBID> TimeLimit=<MAXTIME>"
        chain = "or a QOS for long jobs, or save a checkpoint and go on in a second job"
        do = (
            ReasonRemedy(text="lower the time to the limit", command=lower),
            ReasonRemedy(text=chain, command=OTHER_QOS),
        )
    elif limit.resource == "node":
        do = (ReasonRemedy(text="fewer nodes", command="scontrol update jobid=<JOBID> NumNodes=<N>-<N>"), *do)
    look = (limits_of(limit), 'scontrol show job <JOBID> | grep -E "ReqTRES|TimeLimit|QOS"')
    return WaitReason(word=limit.word, kind="limit-request", starts="no", says=says, look=look, do=do)


def minimum_reason(limit: LimitWord) -> WaitReason:
    """It asks for less than the QOS demands."""
    less = "less memory" if limit.resource in ("mem", "memory") else f"fewer {limit.noun}"
    do = ReasonRemedy(text="ask for at least the minimum (MinTRES), or take a QOS for small jobs", command=OTHER_QOS)
    says = f"it asks for {less} than the QOS demands of one job"
    return WaitReason(word=limit.word, kind="limit-request", starts="no", says=says, look=(QOS_LIMITS,), do=(do,))


def minutes_reason(limit: LimitWord) -> WaitReason:
    """A budget of resource x time, or the most that one job may use of it."""
    place = SET_ON[limit.set_on]
    if limit.whose == "job":
        says = f"its {limit.noun} x time is above what the {place} allows one job"
        do = ReasonRemedy(text="a shorter time or a smaller job, with checkpoints to go on from", command=SHORTER)
        look = (limits_of(limit),)
        return WaitReason(word=limit.word, kind="limit-request", starts="no", says=says, look=look, do=(do,))
    what = "wall-clock time" if limit.resource == "wall" else f"{limit.noun} x time"
    says = (
        f"the time budget of the {place} ({what}) is used up, or what is left is smaller than what this job could "
        "use (its size x its time limit); it starts only when that fits"
    )
    do = ReasonRemedy(text="a shorter time or fewer nodes, so that size x time fits what is left", command=SHORTER)
    return WaitReason(
        word=limit.word,
        kind="limit-budget",
        starts="depends",
        says=says,
        look=("sshare -l -A <ACCOUNT>", ASSOC_USE),
        do=(do,),
        ask="your PI, for a new budget or another account: with nothing left it never starts",
    )


def run_minutes_reason(limit: LimitWord) -> WaitReason:
    """Running jobs have too much time left x resource for this one to fit beside them."""
    owner = {"user": "your running jobs", "account": "the running jobs of the account"}.get(
        limit.whose, "the running jobs of the QOS"
    )
    says = (
        f"{owner} have together so much time left x {limit.noun} that this one does not fit now; that shrinks by "
        "itself as they run on"
    )
    do = ReasonRemedy(text="a shorter time or a smaller job fits sooner", command=SHORTER)
    look = (RUNNING.get(limit.whose, OWN_JOBS), limits_of(limit))
    return WaitReason(
        word=limit.word, kind="limit-aggregate", starts="depends", says=says, look=look, do=(do,), but=ALONE
    )
