"""`How do I save before the time limit?`: how a job learns of its end in time, by scheduler."""

from __future__ import annotations

from graph.answering.asking import Ask
from graph.answering.fact_answer import FactAnswer, say
from knowledge.signatures.loader import library

CAUSE = "sched-time-limit"
# How the script hears of the end beforehand, and the page that says so.
WAYS = {
    "slurm": (
        "`B:` means the batch script: there `trap 'touch SAVE' USR1` catches the signal and leaves a file for your "
        "program to see, with the launcher in the background (`srun ... &`) and `wait` behind it, as bash runs a trap "
        "only once the command in front returns. Without `B:` the signal goes to the ranks, for a handler of your "
        "program",
        "https://slurm.schedmd.com/sbatch.html",
    ),
    "pbs": (
        "I know of no warning by PBS minutes before the end: let the program watch the clock and save some "
        "minutes before",
        "",
    ),
    "lsf": ("`#BSUB -wa USR1 -wt 5` sends USR1 5 minutes before the end", ""),
    "flux": ("`--signal=SIGUSR1@300s` sends SIGUSR1 5 minutes before the end", ""),
}
SAVED = (
    "At that moment save model, optimizer, scheduler and step, and now and then before; the next job loads the newest "
    "checkpoint as it starts"
)


def before_the_end(ask: Ask) -> FactAnswer:
    """The warning of this machine's scheduler, how the script catches it, and what goes on afterwards."""
    scheduler = ask.cluster.scheduler
    way, page = WAYS[scheduler]
    # What causes.yaml adds for the others is to ask for more time.
    warned = library().causes[CAUSE].by["slurm"] if scheduler == "slurm" else ()
    opening = f"A job on {ask.cluster.title} is stopped at its time limit, so it must save before"
    return say(ask.cluster, [opening, *warned, way, SAVED], [page])
