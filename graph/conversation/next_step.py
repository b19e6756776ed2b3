"""What was not understood is quoted, and what to do next is said from where the thread stands."""

from __future__ import annotations

import re

from graph.state import State
from knowledge.types import AskField, Assumption, OfferChoice, OfferEdit, Pending

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


WELCOME = "You are welcome. Should it wait long or fail, paste what it prints."
THANKS = re.compile(
    r"(?i)\b(?:thank(?:s| you| u)?|thx|ty|cheers|danke\w*|merci|gracias|grazie|obrigad[oa]|bedankt|tack|takk)\b"
    r"|\u8c22\u8c22|\u3042\u308a\u304c\u3068\u3046"
)
GOODBYE = "Until then. What was said here is kept: come back to it when you like."
BYE = re.compile(r"(?i)\b(?:bye|goodbye|tsch(?:ü|ue)ss|adi[oó]s|hasta luego|au revoir|arrivederci|see you|cya)\b")
OPEN = "Open is what I offered: {}. Say its number, *no*, or what you want in its place."
UNPLACED = "I did not place *{}*: say it in other words, or put it into the script yourself."
NOT_UNDERSTOOD = "I do not know what to make of *{}*."


def next_step(state: State) -> str:
    """What to do now."""
    pending, bundle, report = state.get("pending"), state.get("bundle"), state.get("diagnosed")
    if isinstance(pending, AskField):
        return ""
    if offers := offered_ways(pending):
        return OPEN.format("; ".join(f"{n}. {says}" for n, says in enumerate(offers, 1)))
    if bundle is not None:
        missing = any(isinstance(a, Assumption) and a.value.startswith("YOUR_") for a in state.get("told", ()))
        return ACCOUNT if missing else SUBMIT.format(name=bundle.name, submit=bundle.submit)
    if report is not None and report.fix:
        return REPORT.format(report.fix[0])
    if state.get("output"):
        return WAITING
    return BEGIN


def offered_ways(pending: Pending | None) -> tuple[str, ...]:
    """What was offered and is open still."""
    if isinstance(pending, OfferChoice):
        return tuple(one.says for one in pending.refusal.instead)
    return tuple(one.says for one in pending.offers) if isinstance(pending, OfferEdit) else ()


def not_understood(state: State) -> str:
    """The words that nothing was made of, and the next step."""
    return " ".join(filter(None, (NOT_UNDERSTOOD.format(quoted(state["words"])), next_step(state))))


def quoted(text: str) -> str:
    words = " ".join(text.split()).replace("*", "")
    return words if len(words) <= MOST_QUOTED else f"{words[:MOST_QUOTED]} ..."
