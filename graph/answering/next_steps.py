"""`What do I do now?`: from where the conversation stands, with this machine's commands."""

from __future__ import annotations

from dataclasses import replace

from graph.answering.ask import Ask
from graph.answering.in_hand import InHand, in_hand
from graph.answering.job_deeds import explain_deed
from graph.answering.script import named_file
from graph.answering.site_days import AS_PROGRAM, tell_site
from graph.answering.situation import cite, list_steps, write_document
from graph.extraction.directives import is_placeholder
from knowledge.document import Document, Paragraph, Part, Sources, Steps
from knowledge.site import Site, site_of

BEGIN = (
    "Tell me the machine and your program, as in *train.py on Delta, 1 GPU, 2 hours*, and I write the script; or "
    "paste the "
    "log of a job that failed."
)
DOES = {"slurm": "sbatch {}", "pbs": "qsub {}", "lsf": "bsub < {}", "flux": "flux batch {}"}


def tell_next(ask: Ask) -> Document:
    """After a failure its cure and a new run; with a script the account, then the run; with a machine how to begin."""
    hand = in_hand(ask)
    if ask.report is not None and ask.report.fix:
        return after_failure(ask, hand)
    if hand is not None:
        return after_script(ask, hand)
    return walk(ask, ask.step) or write_document(BEGIN)


def start_path(ask: Ask) -> Document | None:
    """The way of somebody who has never been there: what it is in a sentence, and its first step."""
    return walk(ask, 0)


def walk(ask: Ask, done: int) -> Document | None:
    """The step of the way that comes after so many, with its command there. None: no machine is known."""
    whole = tell_site("site.start", ask.situation) if ask.machine else None
    if whole is None or ask.machine is None:
        return None
    steps = next(part.items for part in whole.parts if isinstance(part, Steps))
    names = ", ".join(step.text.partition(":")[0] for step in steps)
    at = min(done, len(steps) - 1)
    opening = f"{whole.parts[0].text.rstrip(':')}. The way: {names}." if not done else ""  # type: ignore[union-attr]
    more = "Say *next* when that is done." if at + 1 < len(steps) else "Paste its log if it fails, and I read it."
    return write_document(
        opening,
        f"**Step {at + 1} of {len(steps)}, on {ask.machine.title}:**",
        list_steps((steps[at].text, steps[at].command)),
        more,
        *(part for part in whole.parts if part == Paragraph(AS_PROGRAM)),
        "Your program and account in one line (*train.py, one GPU, 5 hours, account NAME*) and I write the script."
        if not done or at + 2 >= len(steps)
        else "",
        *(part for part in whole.parts if isinstance(part, Sources) and not done),
    )


def after_failure(ask: Ask, hand: InHand | None) -> Document:
    """Cure it, hand it in again, look at the new log."""
    assert ask.report is not None
    submit = submit_of(ask, hand)
    return write_document(
        "Three steps:",
        list_steps(
            (ask.report.fix[0], ""),
            ("hand it in again, from the newest checkpoint", submit),
            ("if it fails again, paste the new log here", ""),
        ),
        "" if hand else "With the job's script I make the change for you: paste it.",
    )


def submit_of(ask: Ask, hand: InHand | None) -> str:
    name = hand.name if hand else ask.situation.script
    scheduler = (hand.record.scheduler if hand else None) or (ask.machine.scheduler if ask.machine else "slurm")
    return ask.bundle.submit if ask.bundle else DOES.get(scheduler, "sbatch {}").format(name)


def after_script(ask: Ask, hand: InHand) -> Document:
    """The account first while it is a placeholder; then save, copy, try, submit, watch."""
    machine = hand.cluster or ask.machine
    site = site_of(machine.id) if machine else None
    missing = account_is_missing(hand)
    find = (
        f"One thing is left: your account. Find it on {machine.title}: {site.account.find_mine}"
        if site and machine
        else ("One thing is left: your account; your PI or the site's portal names it.")
    )
    form = (
        f"In the script it is `{site.account.form}`; say *account NAME* and I put it in."
        if site
        else "Say *account NAME*."
    )
    steps = list_steps(
        (f"save the script as `{hand.name}` and copy it next to {hand.entry} on the machine{copying(site)}", ""),
        ("hand it in there; it prints the job's number", submit_of(ask, hand)),
        *watching(ask, hand),
    )
    told: list[Part | str] = [find, form, "Then:"] if missing else ["The script is ready. Next:"]
    pages = (*site.account.sources[:2], *site.transfer.sources[:1]) if site else ()
    return write_document(
        *told,
        steps,
        "Paste what the job prints, or its log if it fails, and I read it.",
        cite(pages, site.as_of if site else ""),
    )


def account_is_missing(hand: InHand) -> bool:
    found = [hand.script.active.get(name) for name in ("account", "project", "bank", "group")]
    return any(one is not None and (is_placeholder(one.value) or one.value.startswith("YOUR_")) for one in found)


def copying(site: Site | None) -> str:
    return f" ({site.transfer.small})" if site else ""


def watching(ask: Ask, hand: InHand) -> list[tuple[str, str]]:
    """To see the job, and its output by the name that the script gives it."""
    told = explain_deed("watch", replace(ask.situation, cluster=hand.cluster or ask.machine))
    steps = [part.items[0] for part in told.parts if isinstance(part, Steps)] if told else []
    option = hand.script.active.get("output")
    follow = [("follow its output", f"tail -f {named_file(option.value, hand)}")] if option else []
    return [*((step.text, step.command) for step in steps), *follow]
