"""What was not understood is quoted, and what to do next is said from where the thread stands."""

from __future__ import annotations

from graph.state import State
from knowledge.types import AskField, Assumption

MOST_QUOTED = 160
BEGIN = (
    "Tell me the machine and what you train, as in *train.py with DDP on Delta, 1 node*, and I write the script; or "
    "paste the log of a job that failed, with its script, and I mend it."
)
SUBMIT = (
    "The script is ready: save it as `{name}`, then `{submit}`. To change it say what, as in *8 nodes* or *6 hours*."
)
ACCOUNT = "One thing is left before it can go in: your account. Say *account NAME*."
REPORT = "For the failure above, the next thing to do: {}"
WAITING = (
    "Of the job above I can say more from all that its scheduler knows: paste `scontrol show job JOBID` (Slurm) or "
    "`qstat -f JOBID` (PBS)."
)
SEND_LOG = (
    "Show me the log and I find what failed first: paste it here (the last few hundred lines will often do), or name "
    "its file, as in *@slurm-123.out*."
)


NOT_UNDERSTOOD = "I do not know what to make of *{}*."


def next_step(state: State) -> str:
    """What to do now."""
    pending, bundle, report = state.get("pending"), state.get("bundle"), state.get("diagnosed")
    if isinstance(pending, AskField):
        return ""
    if bundle is not None:
        missing = any(isinstance(a, Assumption) and a.value.startswith("YOUR_") for a in state.get("told", ()))
        return ACCOUNT if missing else SUBMIT.format(name=bundle.name, submit=bundle.submit)
    if report is not None and report.fix:
        return REPORT.format(report.fix[0])
    if state.get("output"):
        return WAITING
    return BEGIN


def not_understood(state: State) -> str:
    """The words that nothing was made of, and the next step."""
    return " ".join(filter(None, (NOT_UNDERSTOOD.format(quoted(state["words"])), next_step(state))))


def quoted(text: str) -> str:
    words = " ".join(text.split()).replace("*", "")
    return words if len(words) <= MOST_QUOTED else f"{words[:MOST_QUOTED]} ..."
